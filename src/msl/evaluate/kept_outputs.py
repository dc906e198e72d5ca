"""Pack the outputs that a model was judged by into few bytes, and unpack them: what a store keeps of an evaluation.

Of classes only what the metrics need is packed. `classes` are the predicted ones, where metrics need no more; otherwise
the probabilities of two classes are one number per row, their log odds, and all other outputs are packed as they are.
Numbers have 32 bits, unless the rounding would change a prediction or be seen beside the spread of the outputs. Row
places are not packed, because the splits follow from the request; their checksum is.

Packed outputs may come from a stranger: unpacking runs no code, and takes no more memory than the splits say.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Floats
from msl.blocks.base.chain import are_probabilities
from msl.evaluate.resampling import Resampling
from msl.space.spec import Objective, metrics_of

#: What of the outputs is kept: nothing, the predicted classes (and numbers), or all.
Keeps = Literal["nothing", "classes", "all"]

_FORMAT = 1
_HEAD = struct.Struct("<BH")  # the format, and the number of estimates
_PART = struct.Struct("<BBHIIQ")  # how it is packed, bytes of a number, columns, pools, checksum of the rows, rows
_CLASSES, _ODDS, _SCORES, _NUMBERS = 1, 2, 3, 4
#: How far rounding may move a number, in units of the spread of all.
_UNSEEN = 1e-6
#: Quick, because the compression takes a worker's time; better compression saves little of what looks like noise.
_LEVEL = 1


class BadPackedOutputs(ValueError):
    """Packed outputs that are damaged, crafted, or not of these splits."""


def needed_outputs(objectives: Sequence[Objective], for_votes: bool) -> Keeps:
    """What has to be kept to compute the metrics of the objectives, and `for_votes` the outputs of ensembles."""
    metrics = [
        metric
        for objective in objectives
        if objective.estimate.held_out is not None
        for metric in metrics_of(objective.loss)
        if not metric.of_model
    ]
    if not metrics:
        return "nothing"
    is_by_class = all(metric.from_confusion or metric.takes != "outputs" for metric in metrics)
    return "classes" if is_by_class and not for_votes else "all"


# --- packing ----------------------------------------------------------------------------------------------------------


def pack_outputs(judged: Sequence[tuple[Resampling, Sequence[Floats]]], keeps: Keeps) -> bytes:
    """The outputs of each pool of each estimate."""
    parts, contents = [], []
    for resampling, outputs in judged:
        kind, values = _packable(np.concatenate(outputs), keeps)
        columns = 1 if values.ndim == 1 else values.shape[1]
        rows = sum(len(pool) for pool in outputs)
        parts.append(_PART.pack(kind, values.itemsize, columns, len(outputs), _checksum_of_rows(resampling), rows))
        contents.append(_by_significance(values))
    return _HEAD.pack(_FORMAT, len(parts)) + b"".join(parts) + zlib.compress(b"".join(contents), _LEVEL)


def _packable(outputs: Floats, keeps: Keeps) -> tuple[int, NDArray[Any]]:
    if outputs.ndim == 1:
        rounded = outputs.astype(np.float32)
        spread = float(np.std(outputs))
        is_close = bool(np.all(np.abs(rounded - outputs) <= _UNSEEN * spread))
        return _NUMBERS, rounded if is_close else outputs.astype(np.float64)
    predicted = outputs.argmax(axis=1)
    if keeps == "classes":
        return _CLASSES, predicted.astype(np.uint8 if outputs.shape[1] <= 256 else np.uint32)
    if outputs.shape[1] == 2 and are_probabilities(outputs):
        with np.errstate(divide="ignore"):
            odds = np.log(outputs[:, 1]) - np.log(outputs[:, 0])
        odds = odds.astype(np.float32)
        if np.array_equal(odds > 0.0, predicted == 1):
            return _ODDS, odds
    scores = outputs.astype(np.float32)
    is_same = np.array_equal(scores.argmax(axis=1), predicted) and bool(np.isfinite(scores).all())
    return _SCORES, scores if is_same else outputs.astype(np.float64)


def _by_significance(values: NDArray[Any]) -> bytes:
    """The first bytes of all numbers, then the second ones, …: those that hold the exponents are much the same."""
    flat = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<"), copy=False).reshape(-1)
    return flat.view(np.uint8).reshape(-1, values.itemsize).T.tobytes()


def _checksum_of_rows(resampling: Resampling) -> int:
    checksum = 0
    for pool in resampling.pools:
        checksum = zlib.crc32(np.asarray(pool.rows, dtype="<i8").tobytes(), checksum)
    return checksum


# --- unpacking --------------------------------------------------------------------------------------------------------


def unpack_outputs(packed: bytes, resamplings: Sequence[Resampling], n_classes: int) -> list[tuple[Floats, ...]]:
    """The outputs of each pool of each estimate, as they were scored: for predicted classes, 1 for the class and 0 for
    the others. Raises BadPackedOutputs."""
    parts, compressed = _parts(packed)
    if len(parts) != len(resamplings):
        raise BadPackedOutputs(f"outputs of {len(parts)} estimates, not of {len(resamplings)}")
    dtypes = []
    for (kind, size, columns, pools, checksum, rows), resampling in zip(parts, resamplings, strict=True):
        wanted = sum(len(pool.rows) for pool in resampling.pools)
        if (pools, rows, checksum) != (len(resampling.pools), wanted, _checksum_of_rows(resampling)):
            raise BadPackedOutputs("they are of other rows than those of the splits")
        if columns != (n_classes if kind == _SCORES else 1) or (kind == _NUMBERS) != (not n_classes):
            raise BadPackedOutputs("they are not of the classes of the table")
        dtypes.append(_dtype(kind, size))
    content = _decompressed(compressed, sum(part[1] * part[2] * part[5] for part in parts))
    found, start = [], 0
    for (kind, size, columns, _, _, rows), resampling, dtype in zip(parts, resamplings, dtypes, strict=True):
        end = start + size * columns * rows
        flat = np.frombuffer(content[start:end], np.uint8).reshape(size, -1).T.copy().view(dtype).reshape(-1)
        outputs = _as_scored(kind, flat.reshape(rows, columns) if kind == _SCORES else flat, n_classes)
        ends = np.cumsum([len(pool.rows) for pool in resampling.pools])[:-1]
        found.append(tuple(np.split(outputs, ends)))
        start = end
    return found


def only_classes(packed: bytes) -> bool:
    """Whether of some estimate the predicted classes alone are kept."""
    parts, _ = _parts(packed)
    return any(kind == _CLASSES for kind, *_ in parts)


def check_packed(packed: bytes) -> None:
    """Raises BadPackedOutputs for what cannot be unpacked whatever the splits are."""
    parts, compressed = _parts(packed)
    for kind, size, *_ in parts:
        _dtype(kind, size)
    expected = sum(size * columns * rows for _, size, columns, _, _, rows in parts)
    stream, seen = zlib.decompressobj(), 0
    try:
        while not stream.eof and seen <= expected:
            piece = stream.decompress(compressed, 1 << 20)
            if not piece and not stream.unconsumed_tail:
                break
            seen, compressed = seen + len(piece), stream.unconsumed_tail
    except zlib.error as reason:
        raise BadPackedOutputs(str(reason)) from None
    if seen != expected or not stream.eof:
        raise BadPackedOutputs("they have another length than they say")


def _parts(packed: bytes) -> tuple[list[tuple[int, int, int, int, int, int]], bytes]:
    if not isinstance(packed, bytes) or len(packed) < _HEAD.size:
        raise BadPackedOutputs("they are too short")
    version, count = _HEAD.unpack_from(packed)
    end = _HEAD.size + count * _PART.size
    if version != _FORMAT or len(packed) < end:
        raise BadPackedOutputs("they are of an unknown format")
    return list(_PART.iter_unpack(packed[_HEAD.size : end])), packed[end:]


def _dtype(kind: int, size: int) -> np.dtype[Any]:
    sizes = {_CLASSES: {1: "u1", 4: "<u4"}, _ODDS: {4: "<f4"}}.get(kind, {4: "<f4", 8: "<f8"})
    if kind not in (_CLASSES, _ODDS, _SCORES, _NUMBERS) or size not in sizes:
        raise BadPackedOutputs("they are of an unknown kind")
    return np.dtype(sizes[size])


def _decompressed(compressed: bytes, length: int) -> bytes:
    try:
        stream = zlib.decompressobj()
        content = stream.decompress(compressed, length + 1)
    except zlib.error as reason:
        raise BadPackedOutputs(str(reason)) from None
    if len(content) != length or stream.unconsumed_tail:
        raise BadPackedOutputs("they have another length than they say")
    return content


def _as_scored(kind: int, values: NDArray[Any], n_classes: int) -> Floats:
    if kind == _CLASSES:
        if values.size and int(values.max()) >= n_classes:
            raise BadPackedOutputs("they have a class that the table does not have")
        return np.asarray(np.eye(n_classes)[values])
    found = values.astype(np.float64)
    if kind == _ODDS:
        with np.errstate(over="ignore"):
            found = np.column_stack([1.0 / (1.0 + np.exp(found)), 1.0 / (1.0 + np.exp(-found))])
    if np.isnan(found).any():
        raise BadPackedOutputs("they have values that are not numbers")
    return np.asarray(found)
