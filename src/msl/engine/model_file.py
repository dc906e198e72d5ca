"""Model file: whether the bytes of a skops file are what skops writes, looked at before anything is made of them.

A file that a stranger has written may be small and still ask for all memory or all time: compressed a thousandfold, an
array that says it is larger than its bytes, parts that hold each other over and over. Files of ours have none of this.
"""

from __future__ import annotations

import io
import json
from math import prod
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np

from msl.blocks.public import current_name

_SCHEMA = "schema.json"
#: Sparse matrices are packed by scipy: so many bytes may they have when unpacked.
_MOST_UNPACKED = 500_000_000


class OddFile(ValueError):
    """What is wrong with a file."""


def check_model_file(content: bytes) -> None:
    """Raises OddFile, or whatever reading raises, for a file that skops has not written."""
    with ZipFile(io.BytesIO(content)) as archive:
        files = {entry.filename: entry for entry in archive.infolist()}
        if any(entry.compress_type != ZIP_STORED for entry in files.values()):
            raise OddFile("it is packed, which saved models are not")
        if sum(entry.file_size for entry in archive.infolist()) > len(content):
            raise OddFile("its parts overlap")
        schema = json.loads(archive.read(_SCHEMA))
        named = _named_files(schema)
        # What has an id is read once, whichever of the files that are named with it.
        largest: dict[int, int] = {}
        for place, (identity, name) in enumerate(named):
            key = identity or -1 - place
            largest[key] = max(largest.get(key, 0), files[name].file_size)
        if sum(largest.values()) > 2 * len(content):
            raise OddFile("it holds the same array too often")
        for name in {name for _, name in named}:
            if name.endswith(".npy"):
                _check_array(archive.read(name))
            elif name.endswith(".npz"):
                _check_packed_arrays(archive.read(name))


def with_current_names(content: bytes) -> bytes:
    """The file with the classes of our blocks by the names that they have today."""
    with ZipFile(io.BytesIO(content)) as archive:
        schema = json.loads(archive.read(_SCHEMA))
        if not _rename_classes(schema):
            return content
        renamed = io.BytesIO()
        with ZipFile(renamed, "w", ZIP_STORED) as written:
            for entry in archive.infolist():
                part = json.dumps(schema).encode() if entry.filename == _SCHEMA else archive.read(entry)
                written.writestr(entry.filename, part)
        return renamed.getvalue()


def _rename_classes(schema: Any) -> bool:
    """Puts today's names into a schema; whether any was another one."""
    any_renamed, pending = False, [schema]
    while pending:
        part = pending.pop()
        pending.extend(part if isinstance(part, list) else part.values() if isinstance(part, dict) else ())
        if isinstance(part, dict) and {"__module__", "__class__"} <= part.keys():
            before = str(part["__module__"]), str(part["__class__"])
            part["__module__"], part["__class__"] = now = current_name(*before)
            any_renamed |= now != before
    return any_renamed


def _named_files(schema: Any) -> list[tuple[int | None, str]]:
    """The files that nodes name, with the ids of the nodes; nodes that hold one another are refused.

    An object that is held at several places is written at each of them, with one id. Where all that has one id is of
    one size, following ids instead of what is written leads neither in circles nor to more than there is.
    """
    files: list[tuple[int | None, str]] = []
    ids: list[int | None] = []
    counts: list[int] = []
    parents: list[int] = []
    pending: list[tuple[Any, int]] = [(schema, -1)]
    while pending:
        part, parent = pending.pop()
        if isinstance(part, list):
            pending.extend((inner, parent) for inner in part)
        elif isinstance(part, dict):
            identity = part.get("__id__")
            if identity is not None and (not isinstance(identity, int) or identity < 0):
                raise OddFile("an id is no number")
            if isinstance(part.get("file"), str):
                files.append((identity, part["file"]))
            pending.extend((inner, len(counts)) for inner in part.values())
            ids.append(identity)
            counts.append(1)
            parents.append(parent)
    for place in range(len(counts) - 1, -1, -1):  # what is inside comes after what it is inside of
        if parents[place] >= 0:
            counts[parents[place]] += counts[place]
    sizes: dict[int, int] = {}
    for identity, count in zip(ids, counts, strict=True):
        if identity and sizes.setdefault(identity, count) != count:
            raise OddFile("two of its parts claim to be one")
    return files


def _check_array(part: bytes) -> None:
    """Refuses an array whose bytes are not those of its shape."""
    stream = io.BytesIO(part)
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    count = prod(int(length) for length in shape)
    if dtype.hasobject or count * dtype.itemsize != len(part) - stream.tell() or (count and not dtype.itemsize):
        raise OddFile("an array does not have the bytes of its shape")


def _check_packed_arrays(part: bytes) -> None:
    with ZipFile(io.BytesIO(part)) as archive:
        entries = archive.infolist()
        if sum(entry.file_size for entry in entries) > _MOST_UNPACKED:
            raise OddFile("a sparse matrix is too large")
        for entry in entries:
            _check_array(archive.read(entry))
