"""Load an estimator safely from a skops file that is not trusted.

Loading runs no code that the file chooses: its types have to be classes of trusted packages, or one of the few
functions that estimators of scikit-learn keep. The links of trees are checked, because compiled code follows them
unchecked.
"""

from __future__ import annotations

import importlib
import io
import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from math import prod
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.tree._tree import Tree

from msl.blocks.public import PACKAGE, current_name
from msl.diagnostics.user_error import UserError

_PACKAGES = frozenset({"numpy", "scipy", "sklearn"})
_FUNCTIONS = frozenset(
    {
        "numpy.mean",
        "scipy._lib.array_api_compat.numpy._aliases.asarray",
        "sklearn.feature_selection._mutual_info.mutual_info_classif",
        "sklearn.feature_selection._mutual_info.mutual_info_regression",
        "sklearn.feature_selection._univariate_selection.chi2",
        "sklearn.feature_selection._univariate_selection.f_classif",
        "sklearn.feature_selection._univariate_selection.f_regression",
        "sklearn.metrics._classification.balanced_accuracy_score",
        "sklearn.utils.validation.check_array",
    }
)


#: Containers of the standard library that estimators keep; creating one calls no other code.
#: What a `partial` calls is a type or function of the file as any other, and has to be trusted as such.
_CONTAINERS = frozenset(
    {"collections.Counter", "collections.OrderedDict", "collections.defaultdict", "functools.partial"}
)


#: Classes of numpy and scipy that fitted estimators of scikit-learn keep, beside those that skops trusts itself.
_CLASSES = frozenset({"numpy.dtype", "scipy.interpolate._bsplines.BSpline"})
#: Parts of scikit-learn that belong to no estimator, and may open files.
_NOT_FOR_MODELS = frozenset({"conftest", "datasets", "externals", "tests", "_testing", "_test_common"})


class ModelFileError(UserError):
    """A saved model that cannot be used: what is wrong, and what to do."""


def load_estimator(content: bytes, name: str, trusted: Collection[str] = ()) -> Any:
    """The estimator in the bytes of a skops file; `name` is what messages call it."""
    import skops.io  # here, because it takes a second

    try:
        check_model_file(content)
        content = with_current_names(content)
        types = skops.io.get_untrusted_types(data=content)
    except Exception as reason:  # crafted bytes may raise anything
        raise _damaged(name, reason) from None
    untrusted = [each for each in types if not _is_trusted(each, trusted)]
    if untrusted:
        raise _untrusted(name, untrusted)
    try:
        estimator = skops.io.loads(content, trusted=types)
    except ModuleNotFoundError as lacking:  # the library of a boosting block
        message = f"{name} needs `{lacking.name}`, which is not installed"
        raise ModelFileError(
            message, "install it; `pip install 'msl-lang[boosting]'` brings the boosting libraries"
        ) from None
    except Exception as reason:  # a wrong state may raise anything
        raise _damaged(name, reason) from None
    try:
        for tree, width in _trees(estimator):
            _check_links(tree, width, name)
    except ModelFileError:
        raise
    except Exception as reason:  # what should be arrays may be anything
        raise _damaged(name, reason) from None
    return estimator


def _is_trusted(type_name: str, trusted: Collection[str]) -> bool:
    """Whether a name is that of a class in a trusted package. Modules of other packages are not imported."""
    if type_name in _FUNCTIONS or type_name in _CONTAINERS:
        return True
    module, _, attribute = type_name.rpartition(".")
    package = module.partition(".")[0]
    if not (_is_harmless(module, type_name) or package in trusted or module == PACKAGE) or "__" in module:
        return False
    try:
        return isinstance(getattr(importlib.import_module(module), attribute, None), type)
    except Exception:  # a name may belong to no module, or to one that cannot be imported
        return False


def _is_harmless(module: str, type_name: str) -> bool:
    """Whether creating an object of a class has no side effects; `numpy.memmap`, for example, writes to a file."""
    if type_name in _CLASSES or module.startswith("scipy.sparse._"):
        return True
    return module.startswith("sklearn.") and not _NOT_FOR_MODELS & set(module.split("."))


def _untrusted(name: str, types: list[str]) -> ModelFileError:
    shown = ", ".join(f"`{each}`" for each in types[:5]) + (f" and {len(types) - 5} more" if len(types) > 5 else "")
    packages = sorted({each.partition(".")[0] for each in types})
    known = _PACKAGES | {"msl"} | sys.stdlib_module_names  # a model needs none of their functions
    options = [f"--trust {package}" for package in packages if package not in known]
    help = "do not use it unless you know who wrote it"
    if options and len(options) == len(packages):
        help = f"if you trust their code, add `{' '.join(options)}`"
    return ModelFileError(f"{name} holds what no model of this package holds: {shown}", help)


def _damaged(name: str, reason: BaseException) -> ModelFileError:
    lines = str(reason).strip().splitlines() or [type(reason).__name__]
    return ModelFileError(f"{name} is damaged or no saved model: {lines[0]}", "run `msl run` again to train it anew")


# --- trees ------------------------------------------------------------------------------------------


_ANY_WIDTH = 2**31
#: Estimators that give other columns to the estimators in them than they get; those say how many by themselves.
_MAKERS_OF_COLUMNS = ("sklearn.pipeline", "sklearn.compose", "sklearn.ensemble._stacking")


def _trees(root: Any) -> Iterator[tuple[Any, int]]:
    """Every tree in an estimator, with the number of columns of its input."""
    pending, seen = [(root, _ANY_WIDTH)], set()
    while pending:
        each, width = pending.pop()
        if (id(each), width) in seen or isinstance(each, str | bytes | int | float | type(None)):
            continue
        seen.add((id(each), width))
        if isinstance(each, Tree | TreePredictor):
            yield each, width
            continue
        if type(each).__module__.startswith(_MAKERS_OF_COLUMNS):
            width = _ANY_WIDTH
        elif type(each).__module__.startswith("sklearn."):  # a chain's steps may make more columns than it is given
            known = getattr(each, "n_features_in_", width)
            width = min(width, known) if isinstance(known, int) else width
        pending.extend((inner, width) for inner in _children(each))


def _children(each: Any) -> Iterable[Any]:
    """The objects that an object holds."""
    if isinstance(each, np.ndarray):
        return each.ravel().tolist() if each.dtype == object else ()
    if isinstance(each, Mapping):
        return each.values()
    if isinstance(each, list | tuple | set | frozenset):
        return each
    return vars(each).values() if hasattr(each, "__dict__") else ()


def _check_links(tree: Tree | TreePredictor, width: int, name: str) -> None:
    """Refuses a tree with links that lead outside or upwards, or with a column that its input does not have."""
    if isinstance(tree, Tree):
        left, right, feature = tree.children_left, tree.children_right, tree.feature
        inner, width = left != -1, min(width, tree.n_features)
    else:
        left, right, feature = tree.nodes["left"], tree.nodes["right"], tree.nodes["feature_idx"]
        inner = tree.nodes["is_leaf"] == 0
    links = np.column_stack([left, right])[inner].astype(np.int64)
    leads_downwards = (links > np.flatnonzero(inner)[:, None]).all() and (links < len(inner)).all()
    columns = feature[inner]
    if not leads_downwards or (columns < 0).any() or (columns >= width).any():
        raise _damaged(name, ValueError("the links of a tree do not make a tree"))


# --- The bytes of a skops file, checked before they are used. ---------------------------------------------------------
#
# A small file may still use up all memory or time: by compression, by an array that claims to be larger than its bytes,
# or by parts that contain each other. Files that MSL writes have none of these.


_SCHEMA = "schema.json"
#: The most bytes of a sparse matrix after decompression; scipy compresses them.
_MOST_UNPACKED = 500_000_000


class MalformedModelFile(ValueError):
    """A file that skops has not written; the message says what is wrong with it."""


def check_model_file(content: bytes) -> None:
    """Raises MalformedModelFile, or whatever reading raises, for a file that skops has not written."""
    with ZipFile(io.BytesIO(content)) as archive:
        files = {entry.filename: entry for entry in archive.infolist()}
        if any(entry.compress_type != ZIP_STORED for entry in files.values()):
            raise MalformedModelFile("it is packed, which saved models are not")
        if sum(entry.file_size for entry in archive.infolist()) > len(content):
            raise MalformedModelFile("its parts overlap")
        schema = json.loads(archive.read(_SCHEMA))
        named = _named_files(schema)
        # Nodes with the same id are read once, from any of their files: count the largest.
        largest: dict[int, int] = {}
        for place, (identity, name) in enumerate(named):
            key = identity or -1 - place
            largest[key] = max(largest.get(key, 0), files[name].file_size)
        if sum(largest.values()) > 2 * len(content):
            raise MalformedModelFile("it holds the same array too often")
        for name in {name for _, name in named}:
            if name.endswith(".npy"):
                _check_array(archive.read(name))
            elif name.endswith(".npz"):
                _check_packed_arrays(archive.read(name))


def with_current_names(content: bytes) -> bytes:
    """The file with the current names of the classes of our blocks."""
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
    """Replaces old names of classes in a schema by the current ones; returns whether there were any."""
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
    """The files that the nodes of a schema name, with the ids of the nodes; nodes that contain each other are refused.

    An object that is used several times is written each time, with the same id. If all nodes with one id have the same
    size, following ids can neither loop nor lead to more than the file contains.
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
                raise MalformedModelFile("an id is no number")
            if isinstance(part.get("file"), str):
                files.append((identity, part["file"]))
            pending.extend((inner, len(counts)) for inner in part.values())
            ids.append(identity)
            counts.append(1)
            parents.append(parent)
    for place in range(len(counts) - 1, -1, -1):  # children come after their parents
        if parents[place] >= 0:
            counts[parents[place]] += counts[place]
    sizes: dict[int, int] = {}
    for identity, count in zip(ids, counts, strict=True):
        if identity and sizes.setdefault(identity, count) != count:
            raise MalformedModelFile("two of its parts claim to be one")
    return files


def _check_array(part: bytes) -> None:
    """Refuses an array whose number of bytes does not fit its shape."""
    stream = io.BytesIO(part)
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    count = prod(int(length) for length in shape)
    if dtype.hasobject or count * dtype.itemsize != len(part) - stream.tell() or (count and not dtype.itemsize):
        raise MalformedModelFile("an array does not have the bytes of its shape")


def _check_packed_arrays(part: bytes) -> None:
    with ZipFile(io.BytesIO(part)) as archive:
        entries = archive.infolist()
        if sum(entry.file_size for entry in entries) > _MOST_UNPACKED:
            raise MalformedModelFile("a sparse matrix is too large")
        for entry in entries:
            _check_array(archive.read(entry))
