"""Scoring: the measures of a model's outputs, all on arrays, all with weights of rows.

Outputs have one score a class, the largest of which is the prediction (one number a row for regression). Weights let
one pool hold rows that were judged several times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from msl.blocks.base.block import Floats
from msl.blocks.base.chain import are_probabilities, probabilities
from msl.space.spec import Combined, Loss, Measured, Weight


def score(measure: str, y: NDArray[Any], outputs: Floats, n_classes: int, weights: Floats | None = None) -> float:
    """One measure of outputs against the truth."""
    if weights is None:
        weights = np.ones(len(y))
    if n_classes:
        return _OF_CLASSES[measure](y, outputs, n_classes, weights)
    return _OF_NUMBERS[measure](np.asarray(y, dtype=np.float64), outputs, weights)


def confusion(y: NDArray[Any], outputs: Floats, n_classes: int, weights: Floats) -> Floats:
    """Weight of rows by true class (rows) and predicted class (columns)."""
    cells = y * n_classes + outputs.argmax(axis=1)
    counts: Floats = np.bincount(cells, weights, n_classes * n_classes).reshape(n_classes, n_classes)  # type: ignore[assignment]
    return counts


def _ber(y: NDArray[Any], outputs: Floats, n_classes: int, weights: Floats) -> float:
    counts = confusion(y, outputs, n_classes, weights)
    totals = counts.sum(axis=1)
    present = totals > 0
    return float(np.mean(1.0 - counts.diagonal()[present] / totals[present]))


def _error(y: NDArray[Any], outputs: Floats, n_classes: int, weights: Floats) -> float:
    return float(weights[outputs.argmax(axis=1) != y].sum() / weights.sum())


def _logloss(y: NDArray[Any], outputs: Floats, n_classes: int, weights: Floats) -> float:
    certain = np.finfo(np.float64).eps
    chosen = np.clip(probabilities(outputs)[np.arange(len(y)), y], certain, 1.0 - certain)
    return float(-(weights * np.log(chosen)).sum() / weights.sum())


def _auc(y: NDArray[Any], outputs: Floats, n_classes: int, weights: Floats) -> float:
    """Of two classes the usual one, for the last class; of more the mean over classes against the rest."""
    if n_classes == 2:
        # The difference would round away what small probabilities differ by.
        scores = outputs[:, 1] if are_probabilities(outputs) else outputs[:, 1] - outputs[:, 0]
        return _binary_auc(y == 1, scores, weights)
    areas = [_binary_auc(y == c, outputs[:, c], weights) for c in range(n_classes) if 0 < (y == c).sum() < len(y)]
    return float(np.mean(areas)) if areas else float("nan")


def _binary_auc(positive: NDArray[np.bool_], scores: Floats, weights: Floats) -> float:
    """The chance that a positive row outranks a negative one; half for ties."""
    if (weights == weights[0]).all():
        n_positive = int(positive.sum())
        n_negative = len(positive) - n_positive
        if not n_positive or not n_negative:
            return float("nan")
        ranks = rankdata(scores)
        return float((ranks[positive].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))
    levels, place = np.unique(scores, return_inverse=True)
    up = np.bincount(place, weights * positive, len(levels))
    down = np.bincount(place, weights * ~positive, len(levels))
    below = np.cumsum(down) - down
    total = up.sum() * down.sum()
    return float((up * (below + 0.5 * down)).sum() / total) if total else float("nan")


def _f1(y: NDArray[Any], outputs: Floats, n_classes: int, weights: Floats) -> float:
    """The mean over the classes that occur in the truth or in the predictions."""
    counts = confusion(y, outputs, n_classes, weights)
    right, predicted, true = counts.diagonal(), counts.sum(axis=0), counts.sum(axis=1)
    present = predicted + true > 0
    return float(np.mean(2 * right[present] / (predicted + true)[present]))


def _positive_f1(y: NDArray[Any], outputs: Floats, n_classes: int, weights: Floats) -> float:
    """That of the last class alone, which is the positive one; 0 where it neither occurs nor is predicted."""
    counts = confusion(y, outputs, n_classes, weights)
    concerned = counts[:, -1].sum() + counts[-1].sum()
    return float(2 * counts[-1, -1] / concerned) if concerned else 0.0


def _mcc(y: NDArray[Any], outputs: Floats, n_classes: int, weights: Floats) -> float:
    counts = confusion(y, outputs, n_classes, weights)
    total, predicted, true = counts.sum(), counts.sum(axis=0), counts.sum(axis=1)
    covariance = counts.trace() * total - predicted @ true
    spread = (total**2 - predicted @ predicted) * (total**2 - true @ true)
    return float(covariance / np.sqrt(spread)) if spread > 0 else 0.0


def _mse(y: Floats, outputs: Floats, weights: Floats) -> float:
    return float((weights * (y - outputs) ** 2).sum() / weights.sum())


def _r2(y: Floats, outputs: Floats, weights: Floats) -> float:
    mean = (weights * y).sum() / weights.sum()
    spread, missed = (weights * (y - mean) ** 2).sum(), (weights * (y - outputs) ** 2).sum()
    if spread == 0.0:
        return 1.0 if missed == 0.0 else 0.0
    return float(1.0 - missed / spread)


_OF_CLASSES: Mapping[str, Callable[[NDArray[Any], Floats, int, Floats], float]] = {
    "ber": _ber,
    "error": _error,
    "relative_error": _error,
    "logloss": _logloss,
    "auc": _auc,
    "f1": _f1,
    "positive_f1": _positive_f1,
    "mcc": _mcc,
}
_OF_NUMBERS: Mapping[str, Callable[[Floats, Floats, Floats], float]] = {
    "mse": _mse,
    "rmse": lambda y, outputs, weights: float(np.sqrt(_mse(y, outputs, weights))),
    "mae": lambda y, outputs, weights: float((weights * np.abs(y - outputs)).sum() / weights.sum()),
    "r2": _r2,
}


# --- Bounds: between which values an objective lies when its measures are only known to lie between some. -------------


Interval = tuple[float, float]

ANYTHING: Interval = (-math.inf, math.inf)
#: What a measure can be before anything is known; any other is a number of at least 0.
_LIMITS: Mapping[str, Interval] = {
    "ber": (0.0, 1.0),
    "error": (0.0, 1.0),
    "auc": (0.0, 1.0),
    "f1": (0.0, 1.0),
    "positive_f1": (0.0, 1.0),
    "mcc": (-1.0, 1.0),
    "r2": (-math.inf, 1.0),
}


def loss_bounds(loss: Loss, known: Mapping[str, Interval]) -> Interval:
    """The bounds of an objective, given those of measures; of others, what they can be at all."""
    match loss:
        case Measured(name=name):
            return known.get(name) or _LIMITS.get(name, (0.0, math.inf))
        case Weight(value=value):
            return (value, value)
        case Combined(operation=operation, operands=(left,)):
            low, high = loss_bounds(left, known)
            return (-high, -low) if operation == "-" else ANYTHING
        case Combined(operation=operation, operands=(left, right)):
            return _combined(operation, loss_bounds(left, known), loss_bounds(right, known))
    return ANYTHING


def _combined(operation: str, left: Interval, right: Interval) -> Interval:
    match operation:
        case "+":
            return (left[0] + right[0], left[1] + right[1])
        case "-":
            return (left[0] - right[1], left[1] - right[0])
        case "*":
            return _product(left, right)
        case "/" if right[0] > 0.0 or right[1] < 0.0:
            return _product(left, (1.0 / right[1], 1.0 / right[0]))
    return ANYTHING


def _product(left: Interval, right: Interval) -> Interval:
    # Nothing of what is boundless is nothing: a measure itself is always a number.
    corners = [0.0 if 0.0 in (a, b) else a * b for a in left for b in right]
    return (min(corners), max(corners))
