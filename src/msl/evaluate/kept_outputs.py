"""Pack the outputs that a model was judged by into few bytes, and unpack them: what a store keeps of an evaluation.

Of classes only what the metrics need is packed. `classes` are the predicted ones, where metrics need no more; otherwise
the probabilities of two classes are one number per row, their log odds, and all other outputs are packed as they are.
Row places are not packed, because the splits follow from the request; their checksum is.

Up to `_EXACT` numbers have 32 bits, unless the rounding would change a prediction or be seen beside the spread of the
outputs. Of more, as much is kept as an estimate from so many rows can tell: one or two bytes of each. Log odds and
scores are rounded to about a hundredth of their spread, more coarsely far out, and of numbers the residual is rounded,
to a thirty-second of an octave. What is added before rounding is subtracted again (dither), so that the error of a row
does not depend on its output: ties do not arise, and means, ranks and medians over rows stay where they were. Predicted
classes are never changed. Metrics move by less than a twentieth of their standard error.

Packed outputs may come from a stranger: unpacking runs no code, and takes no more memory than the splits say.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Floats
from msl.blocks.base.chain import are_probabilities, shares
from msl.evaluate.resampling import Resampling
from msl.space.spec import Objective, metrics_of

#: What of the outputs is kept: nothing, the predicted classes (and numbers), or all.
Keeps = Literal["nothing", "classes", "all"]

_FORMAT = 1
_HEAD = struct.Struct("<BH")  # the format, and the number of estimates
_PART = struct.Struct("<BBHIIQ")  # how it is packed, bytes of a number, columns, pools, checksum of the rows, rows
_CLASSES, _ODDS, _SCORES, _NUMBERS = 1, 2, 3, 4
#: Rounded ones: log odds of two classes, half the difference of two scores whose sum is constant, log odds or scores of
#: each class, and residuals; and log odds of two classes of which few are distinct.
_ODDS_CODES, _DIFFERENCE_CODES, _LOGIT_CODES, _SCORE_CODES, _RESIDUAL_CODES, _ODDS_TABLE = 5, 6, 7, 8, 9, 10
_BY_COLUMN = (_SCORES, _LOGIT_CODES, _SCORE_CODES)
#: How many numbers are kept without visible rounding, and how many distinct ones a table has.
_EXACT, _DISTINCT = 1_000, 256
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
        kind, head, values = _packable(np.concatenate(outputs), keeps, resampling)
        columns = 1 if values.ndim == 1 else values.shape[1]
        rows = sum(len(pool) for pool in outputs)
        parts.append(_PART.pack(kind, values.itemsize, columns, len(outputs), _checksum_of_rows(resampling), rows))
        contents.append(head + _by_significance(values))
    return _HEAD.pack(_FORMAT, len(parts)) + b"".join(parts) + zlib.compress(b"".join(contents), _LEVEL)


#: How outputs are packed, what stands before the numbers, and these.
_Packed = tuple[int, bytes, NDArray[Any]]


def _packable(outputs: Floats, keeps: Keeps, resampling: Resampling) -> _Packed:
    if outputs.ndim == 1:
        rounded = _residual_codes(outputs, _true_values(resampling)) if len(outputs) > _EXACT else None
        return rounded or (_NUMBERS, b"", _as_single(outputs))
    predicted = outputs.argmax(axis=1)
    if keeps == "classes":
        return _CLASSES, b"", predicted.astype(np.uint8 if outputs.shape[1] <= 256 else np.uint32)
    if outputs.shape[1] == 2:
        found = _of_two_classes(outputs, predicted)
    else:
        found = _of_classes(outputs, predicted) if outputs.size > _EXACT else None
    if found is not None:
        return found
    scores = outputs.astype(np.float32)
    is_same = np.array_equal(scores.argmax(axis=1), predicted) and bool(np.isfinite(scores).all())
    return _SCORES, b"", scores if is_same else outputs.astype(np.float64)


def _as_single(outputs: Floats) -> NDArray[Any]:
    """Numbers of 32 bits, unless that can be seen."""
    rounded = outputs.astype(np.float32)
    spread = float(np.std(outputs))
    is_close = bool(np.all(np.abs(rounded - outputs) <= _UNSEEN * spread))
    return rounded if is_close else outputs.astype(np.float64)


def _of_two_classes(outputs: Floats, predicted: NDArray[np.intp]) -> _Packed | None:
    """One number for each row, where two say no more."""
    if not are_probabilities(outputs):
        total = outputs.sum(axis=1)
        if len(outputs) <= _EXACT or np.ptp(total) > _UNSEEN * np.std(outputs):
            return None
        found = _codes(0.5 * (outputs[:, 1] - outputs[:, 0]), lambda each: each > 0.0, predicted == 1)
        return found and (_DIFFERENCE_CODES, struct.pack("<d", float(total[0])) + found[0], found[1])
    with np.errstate(divide="ignore"):
        odds = (np.log(outputs[:, 1]) - np.log(outputs[:, 0])).astype(np.float32)
    if not np.array_equal(odds > 0.0, predicted == 1):
        return None
    if len(odds) <= _EXACT:
        return _ODDS, b"", odds
    distinct, places = np.unique(odds, return_inverse=True)
    if len(distinct) <= _DISTINCT:
        table = np.zeros(_DISTINCT, dtype="<f4")
        table[: len(distinct)] = distinct
        return _ODDS_TABLE, table.tobytes(), places.astype(np.uint8)
    found = _codes(odds.astype(np.float64), lambda each: each > 0.0, predicted == 1)
    return (_ODDS_CODES, *found) if found else (_ODDS, b"", odds)


def _of_classes(outputs: Floats, predicted: NDArray[np.intp]) -> _Packed | None:
    if not are_probabilities(outputs):
        found = _codes(outputs, lambda each: each.argmax(axis=1), predicted)
        return found and (_SCORE_CODES, *found)
    with np.errstate(divide="ignore"):
        odds = np.log(outputs) - np.log1p(-outputs)
    found = _codes(odds, lambda each: each.argmax(axis=1), predicted)
    return found and (_LOGIT_CODES, *found)


def _true_values(resampling: Resampling) -> Floats:
    return np.concatenate([np.asarray(pool.y, dtype=np.float64) for pool in resampling.pools])


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
        is_number = kind in (_NUMBERS, _RESIDUAL_CODES)
        if columns != (n_classes if kind in _BY_COLUMN else 1) or is_number != (not n_classes):
            raise BadPackedOutputs("they are not of the classes of the table")
        dtypes.append(_dtype(kind, size))
    content = _decompressed(compressed, sum(map(_length, parts)))
    found, start = [], 0
    for part, resampling, dtype in zip(parts, resamplings, dtypes, strict=True):
        kind, size, columns, _, _, rows = part
        first, end = start + _HEADS.get(kind, 0), start + _length(part)
        flat = np.frombuffer(content[first:end], np.uint8).reshape(size, -1).T.copy().view(dtype).reshape(-1)
        values = flat.reshape(rows, columns) if kind in _BY_COLUMN else flat
        with np.errstate(all="ignore"):
            outputs = _as_scored(kind, content[start:first], values, n_classes, resampling)
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
    expected = sum(map(_length, parts))
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


def _length(part: tuple[int, int, int, int, int, int]) -> int:
    """The bytes of a part before compression."""
    kind, size, columns, _, _, rows = part
    return _HEADS.get(kind, 0) + size * columns * rows


def _dtype(kind: int, size: int) -> np.dtype[Any]:
    sizes = _SIZES.get(kind, {})
    if size not in sizes:
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


def _as_scored(kind: int, head: bytes, values: NDArray[Any], n_classes: int, resampling: Resampling) -> Floats:
    if kind == _CLASSES:
        if values.size and int(values.max()) >= n_classes:
            raise BadPackedOutputs("they have a class that the table does not have")
        return np.asarray(np.eye(n_classes)[values])
    if kind == _RESIDUAL_CODES:
        found = _true_values(resampling) - _residuals(head, values)
    elif kind == _ODDS_TABLE:
        found = np.frombuffer(head, "<f4").astype(np.float64)[values]
    elif kind == _DIFFERENCE_CODES:
        half, (total,) = _decoded(head[_TOTAL:], values), struct.unpack("<d", head[:_TOTAL])
        found = np.column_stack([0.5 * total - half, 0.5 * total + half])
    elif kind in (_ODDS_CODES, _LOGIT_CODES, _SCORE_CODES):
        found = _decoded(head, values)
    else:
        found = values.astype(np.float64)
    if kind in (_ODDS, _ODDS_CODES, _ODDS_TABLE):
        found = np.column_stack([1.0 / (1.0 + np.exp(found)), 1.0 / (1.0 + np.exp(-found))])
    if kind == _LOGIT_CODES:
        found = shares(1.0 / (1.0 + np.exp(-found)))
    if np.isnan(found).any():
        raise BadPackedOutputs("they have values that are not numbers")
    return np.asarray(found)


# --- rounding to about a byte -----------------------------------------------------------------------------------------

#: The middle and the scale of the values, the length of a step, and the lowest code.
_CODED = struct.Struct("<dddi")
_TOTAL = 8
#: The steps in the middle nine tenths of values, at least and so that none is longer than this.
_STEPS, _LONGEST = 128, 0.125
#: Places beside the lowest and the highest code: one for what is infinite, the others for mending predictions.
_SPARE = 4
#: The steps of an octave, and the steps from the smallest residual to the largest.
_OF_OCTAVE, _LEVELS = 32, 32_766
#: The largest residual.
_RESIDUAL = struct.Struct("<d")

#: The bytes before the numbers, and the types of these.
_HEADS = {
    _ODDS_CODES: _CODED.size,
    _DIFFERENCE_CODES: _TOTAL + _CODED.size,
    _LOGIT_CODES: _CODED.size,
    _SCORE_CODES: _CODED.size,
    _RESIDUAL_CODES: _RESIDUAL.size,
    _ODDS_TABLE: 4 * _DISTINCT,
}
_FLOATS, _CODES = {4: "<f4", 8: "<f8"}, {1: "u1", 2: "<u2"}
_SIZES = {
    _CLASSES: {1: "u1", 4: "<u4"},
    _ODDS: {4: "<f4"},
    _SCORES: _FLOATS,
    _NUMBERS: _FLOATS,
    _ODDS_CODES: _CODES,
    _DIFFERENCE_CODES: _CODES,
    _LOGIT_CODES: _CODES,
    _SCORE_CODES: _CODES,
    _RESIDUAL_CODES: {2: "<u2"},
    _ODDS_TABLE: {1: "u1"},
}


def _dither(shape: tuple[int, ...]) -> Floats:
    """Numbers from -1/2 to 1/2 that are spread evenly, the same for all models: multiples of the golden ratio."""
    multiples = np.arange(int(np.prod(shape))) * 0.6180339887498949
    return np.asarray((multiples % 1.0 - 0.5).reshape(shape))


def _codes(values: Floats, predict: Callable[[Floats], Any], predicted: Any) -> tuple[bytes, NDArray[Any]] | None:
    """Values of log odds or scores rounded to steps, which become longer far from the middle; None where they have no
    spread, or are spread too far. The lowest and the highest code are those of what is infinite."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return None
    low, middle, high = (float(each) for each in np.quantile(finite, (0.05, 0.5, 0.95)))
    scale = 0.5 * (high - low)
    if not scale > 0.0:
        return None
    step = min(2.0 / _STEPS, _LONGEST / scale)
    with np.errstate(all="ignore"):
        exact = np.where(np.isfinite(values), np.arcsinh((values - middle) / scale) / step, 0.0)
    places = exact + _dither(values.shape)
    if np.abs(places).max() > 30_000:
        return None
    steps = np.rint(places).astype(np.int64)
    lowest = int(steps.min()) - _SPARE
    most = int(steps.max()) - lowest + _SPARE
    dtype = np.uint8 if most <= np.iinfo(np.uint8).max else np.uint16
    codes = np.where(np.isfinite(values), steps - lowest, np.where(values > 0.0, np.iinfo(dtype).max, 0)).astype(dtype)
    head = _CODED.pack(middle, scale, step, lowest)
    return _mended(head, codes, predict, predicted)


def _mended(
    head: bytes, codes: NDArray[Any], predict: Callable[[Floats], Any], predicted: Any
) -> tuple[bytes, NDArray[Any]] | None:
    """The codes with a step more or less where rounding has changed a prediction; None if that does not help."""
    for _ in range(_SPARE):
        wrong = np.flatnonzero(predict(_decoded(head, codes)) != predicted)
        if not len(wrong):
            return head, codes
        if codes.ndim == 1:
            codes[wrong] = np.where(predicted[wrong], codes[wrong] + 1, codes[wrong] - 1)
        else:
            codes[wrong, predicted[wrong]] += 1
    return None


def _decoded(head: bytes, codes: NDArray[Any]) -> Floats:
    middle, scale, step, lowest = _CODED.unpack(head)
    places = codes.astype(np.float64) + lowest - _dither(codes.shape)
    with np.errstate(all="ignore"):
        found = middle + scale * np.sinh(places * step)
    found[codes == 0] = -np.inf
    found[codes == np.iinfo(codes.dtype).max] = np.inf
    return np.asarray(found)


def _residual_codes(outputs: Floats, truth: Floats) -> _Packed | None:
    """The sizes of residuals rounded in octaves, and their signs, where nothing is infinite or zero everywhere."""
    residuals = truth - outputs
    sizes = np.abs(residuals)
    largest = float(sizes.max())
    if not np.isfinite(largest) or largest <= 0.0:
        return None
    with np.errstate(divide="ignore"):
        places = (np.log2(sizes) - np.log2(largest)) * _OF_OCTAVE + _dither(sizes.shape)
    levels = np.where(places < 1 - _LEVELS, 0, np.rint(np.maximum(places, -_LEVELS)) + _LEVELS).astype(np.int64)
    return _RESIDUAL_CODES, _RESIDUAL.pack(largest), (2 * levels + (residuals < 0.0)).astype(np.uint16)


def _residuals(head: bytes, codes: NDArray[Any]) -> Floats:
    (largest,) = _RESIDUAL.unpack(head)
    levels = (codes >> 1).astype(np.int64)
    half = np.log(2.0) / _OF_OCTAVE / 2.0
    unbiased = np.sqrt(2.0 * half / np.sinh(2.0 * half))  # so that squares have the right mean
    sizes = largest * unbiased * np.exp2((levels - float(_LEVELS) - _dither(levels.shape)) / _OF_OCTAVE)
    return np.where(levels == 0, 0.0, np.where(codes & 1, -sizes, sizes))
