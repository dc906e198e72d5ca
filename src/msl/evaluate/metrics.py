"""Compute metrics: one function per metric, on arrays, with weights of rows, and bounds of what is not yet known.

Outputs have one score per class, the largest of which is the prediction; for regression one number per row. Weights
let one pool hold rows that were scored several times. `catalogue/metrics.msl` declares each metric (`Metric`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import rankdata

from msl.blocks.base.block import Floats
from msl.blocks.base.chain import are_probabilities, probabilities
from msl.blocks.base.load import load_function, load_own_function
from msl.blocks.calibration import least_ber
from msl.evaluate.outcome import FitFigures, MetricFailed
from msl.space.spec import Combined, Interval, Loss, Measured, Metric, Weight

#: The cost of predicting each class (column) where each class is true (row).
Costs = tuple[tuple[float, ...], ...]


def score(metric: Metric, y: NDArray[Any], outputs: Floats, weights: Floats | None = None) -> float:
    """One metric of outputs against the truth. Raises MetricFailed."""
    if weights is None:
        weights = np.ones(len(y))
    truth = y if outputs.ndim == 2 else np.asarray(y, dtype=np.float64)
    if metric.takes == "outputs":
        value = _number(metric, _result(metric, metric.function, truth, outputs, weights))
    else:
        value = _number(metric, _of_predictions(metric, truth, _predictions(outputs), weights))
    if metric.declared_in is not None:
        _check_range(metric, value)
    return value


def _predictions(outputs: Floats) -> NDArray[Any]:
    return outputs.argmax(axis=1) if outputs.ndim == 2 else outputs


def _of_predictions(metric: Metric, y: NDArray[Any], predicted: NDArray[Any], weights: Floats) -> object:
    """The result of a function that takes predictions; without weights, a row that counts twice is there twice."""
    if metric.takes == "weighted_predictions":
        return _result(metric, metric.function, y, predicted, sample_weight=weights)
    if (weights == weights[:1]).all():
        return _result(metric, metric.function, y, predicted)
    times = np.rint(weights).astype(np.intp)
    if not np.array_equal(times, weights):
        raise MetricFailed(f"rows have weights, and the metric `{metric.name}` takes predictions alone")
    return _result(metric, metric.function, np.repeat(y, times), np.repeat(predicted, times))


def _check_range(metric: Metric, value: float) -> None:
    """Raises MetricFailed for a value outside the declared range: a race that relies on it could drop the winner."""
    slack = 1e-9 * max(1.0, abs(value))
    if value < metric.low - slack or value > metric.high + slack:
        raise MetricFailed(
            f"the metric `{metric.name}` returned {value:g}, and declares {metric.low:g} to {metric.high:g}"
        )


def row_terms(metric: Metric, y: NDArray[Any], outputs: Floats) -> Floats:
    """What each row adds to a metric that is additive over rows. Raises MetricFailed."""
    assert metric.row_function is not None
    given = outputs if metric.takes == "outputs" else _predictions(outputs)
    terms = np.asarray(_result(metric, metric.row_function, y, given))
    if terms.shape != (len(y),):
        raise MetricFailed(f"the row function of the metric `{metric.name}` did not return one number per row")
    return terms.astype(np.float64, copy=False)


def model_metric(metric: Metric, figures: FitFigures, n_features: int, n_fits: int | None = None) -> float:
    """One metric of the fitted models themselves: the mean over `n_fits`, of which those still to come count as 0."""
    return _number(metric, _result(metric, metric.function, figures, n_features, n_fits or len(figures.seconds)))


def _result(metric: Metric, target: str, *arguments: object, **keywords: object) -> object:
    function = load_function("metric", metric.name, target)
    try:
        return function(*arguments, **keywords, **dict(metric.options))
    except Exception as reason:  # it may be of any package: the evaluation has failed, not the run
        raise MetricFailed(f"the metric `{metric.name}` raised {type(reason).__name__}: {reason}") from reason


def _number(metric: Metric, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise MetricFailed(f"the metric `{metric.name}` returned {kind}, which is not a number") from None


def load_metric(metric: Metric, trusted: Collection[str] = ()) -> None:
    """Imports the functions of a metric. Raises CannotLoad, or BlockProblem for one that a spec declares."""
    if metric.declared_in is not None:
        name, options = metric.name.partition("(")[0], [option for option, _ in metric.options]
        weights = ["sample_weight"] if metric.takes == "weighted_predictions" else []
        values = 3 if metric.takes == "outputs" else 2
        load_own_function(name, metric.function, trusted, (values, [*weights, *options]))
        if metric.row_function is not None:
            load_own_function(name, metric.row_function, trusted, (2, options))
    load_function("metric", metric.name, metric.function)
    if metric.row_function is not None:
        load_function("metric", metric.name, metric.row_function)


# --- classification ---------------------------------------------------------------------------------------------------


def confusion(y: NDArray[Any], outputs: Floats, weights: Floats) -> Floats:
    """Total weight by true class (rows) and predicted class (columns)."""
    n_classes = outputs.shape[1]
    cells = y * n_classes + outputs.argmax(axis=1)
    counts: Floats = np.bincount(cells, weights, n_classes * n_classes).reshape(n_classes, n_classes)  # type: ignore[assignment]
    return counts


def ber(y: NDArray[Any], outputs: Floats, weights: Floats) -> float:
    counts = confusion(y, outputs, weights)
    totals = counts.sum(axis=1)
    present = totals > 0
    return float(np.mean(1.0 - counts.diagonal()[present] / totals[present]))


def ber_at_best_threshold(y: NDArray[Any], outputs: Floats, weights: Floats) -> float:
    """The lowest balanced error rate that one threshold for all rows gives; with more classes, one offset per class."""
    return least_ber(y, outputs, weights)


def error(y: NDArray[Any], outputs: Floats, weights: Floats) -> float:
    return float(weights[outputs.argmax(axis=1) != y].sum() / weights.sum())


def accuracy(y: NDArray[Any], outputs: Floats, weights: Floats) -> float:
    return float(weights[outputs.argmax(axis=1) == y].sum() / weights.sum())


def balanced_accuracy(y: NDArray[Any], outputs: Floats, weights: Floats) -> float:
    return 1.0 - ber(y, outputs, weights)


def brier(y: NDArray[Any], outputs: Floats, weights: Floats) -> float:
    return float((weights * brier_of_row(y, outputs)).sum() / weights.sum())


def ece(y: NDArray[Any], outputs: Floats, weights: Floats, bins: int) -> float:
    """A bin has its upper end and not its lower one; the first has both."""
    certain = probabilities(outputs)
    confidence, is_right = certain.max(axis=1), outputs.argmax(axis=1) == y
    place = np.clip(np.ceil(confidence * bins).astype(np.intp) - 1, 0, bins - 1)
    gaps = np.bincount(place, weights * (confidence - is_right), bins)
    return float(np.abs(gaps).sum() / weights.sum())


def logloss(y: NDArray[Any], outputs: Floats, weights: Floats) -> float:
    return float((weights * logloss_of_row(y, outputs)).sum() / weights.sum())


def balanced_logloss(y: NDArray[Any], outputs: Floats, weights: Floats) -> float:
    n_classes = outputs.shape[1]
    totals = np.bincount(y, weights, n_classes)
    losses = np.bincount(y, weights * logloss_of_row(y, outputs), n_classes)
    return float(np.mean(losses[totals > 0] / totals[totals > 0]))


def auc(y: NDArray[Any], outputs: Floats, weights: Floats) -> float:
    """With two classes that of the last one; with more the mean over classes against the rest."""
    n_classes = outputs.shape[1]
    if n_classes == 2:
        # Small probabilities would be lost in the rounding of the difference.
        scores = outputs[:, 1] if are_probabilities(outputs) else outputs[:, 1] - outputs[:, 0]
        return _binary_auc(y == 1, scores, weights)
    areas = [_binary_auc(y == c, outputs[:, c], weights) for c in range(n_classes) if 0 < (y == c).sum() < len(y)]
    return float(np.mean(areas)) if areas else float("nan")


def average_precision(y: NDArray[Any], outputs: Floats, weights: Floats) -> float:
    """With two classes that of the last one; with more the mean over classes against the rest."""
    n_classes = outputs.shape[1]
    if n_classes == 2:
        scores = outputs[:, 1] if are_probabilities(outputs) else outputs[:, 1] - outputs[:, 0]
        return _binary_precision(y == 1, scores, weights)
    found = [_binary_precision(y == c, outputs[:, c], weights) for c in range(n_classes) if (y == c).any()]
    return float(np.mean(found)) if found else float("nan")


def _binary_precision(positive: NDArray[np.bool_], scores: Floats, weights: Floats) -> float:
    """The precision at each threshold, weighted by the recall that it adds."""
    levels, place = np.unique(-scores, return_inverse=True)
    hits = np.bincount(place, weights * positive, len(levels))
    taken = np.cumsum(np.bincount(place, weights, len(levels)))
    if hits.sum() == 0.0:
        return float("nan")
    precise = np.divide(np.cumsum(hits), taken, out=np.zeros_like(taken), where=taken > 0.0)
    return float((hits * precise).sum() / hits.sum())


def _binary_auc(positive: NDArray[np.bool_], scores: Floats, weights: Floats) -> float:
    """The probability that a positive row outranks a negative one; ties count half."""
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


def precision(y: NDArray[Any], outputs: Floats, weights: Floats) -> float:
    """The mean over the classes that occur in the truth or in the predictions; 0 for one that is never predicted."""
    counts = confusion(y, outputs, weights)
    return _mean_share(counts, counts.sum(axis=0))


def recall(y: NDArray[Any], outputs: Floats, weights: Floats) -> float:
    """The mean over the classes that occur in the truth or in the predictions; 0 for one that does not occur."""
    counts = confusion(y, outputs, weights)
    return _mean_share(counts, counts.sum(axis=1))


def _mean_share(counts: Floats, totals: Floats) -> float:
    present = counts.sum(axis=0) + counts.sum(axis=1) > 0
    shares = np.divide(counts.diagonal(), totals, out=np.zeros_like(totals), where=totals > 0)
    return float(np.mean(shares[present]))


def positive_precision(y: NDArray[Any], outputs: Floats, weights: Floats) -> float:
    """That of the last class, which is the positive one; 0 where it is never predicted."""
    counts = confusion(y, outputs, weights)
    predicted = counts[:, -1].sum()
    return float(counts[-1, -1] / predicted) if predicted else 0.0


def positive_recall(y: NDArray[Any], outputs: Floats, weights: Floats) -> float:
    """That of the last class, which is the positive one; 0 where it does not occur."""
    counts = confusion(y, outputs, weights)
    true = counts[-1].sum()
    return float(counts[-1, -1] / true) if true else 0.0


def f1(y: NDArray[Any], outputs: Floats, weights: Floats) -> float:
    """The mean over the classes that occur in the truth or in the predictions."""
    counts = confusion(y, outputs, weights)
    right, predicted, true = counts.diagonal(), counts.sum(axis=0), counts.sum(axis=1)
    present = predicted + true > 0
    return float(np.mean(2 * right[present] / (predicted + true)[present]))


def f1_weighted(y: NDArray[Any], outputs: Floats, weights: Floats) -> float:
    counts = confusion(y, outputs, weights)
    right, predicted, true = counts.diagonal(), counts.sum(axis=0), counts.sum(axis=1)
    present = true > 0
    return float(np.average(2 * right[present] / (predicted + true)[present], weights=true[present]))


def kappa(y: NDArray[Any], outputs: Floats, weights: Floats, weighting: Any) -> float:
    counts = confusion(y, outputs, weights)
    present = counts.sum(axis=0) + counts.sum(axis=1) > 0
    counts = counts[np.ix_(present, present)]
    place = np.arange(len(counts))
    away = np.abs(place[:, None] - place)
    costs = {"equal": away > 0, "linear": away, "quadratic": away**2}[getattr(weighting, "name", weighting)]
    chance = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    expected = float((costs * chance).sum())
    return 1.0 - float((costs * counts).sum()) / expected if expected else 0.0


def positive_f1(y: NDArray[Any], outputs: Floats, weights: Floats) -> float:
    """That of the last class, which is the positive one; 0 where it neither occurs nor is predicted."""
    counts = confusion(y, outputs, weights)
    concerned = counts[:, -1].sum() + counts[-1].sum()
    return float(2 * counts[-1, -1] / concerned) if concerned else 0.0


def mcc(y: NDArray[Any], outputs: Floats, weights: Floats) -> float:
    counts = confusion(y, outputs, weights)
    total, predicted, true = counts.sum(), counts.sum(axis=0), counts.sum(axis=1)
    covariance = counts.trace() * total - predicted @ true
    spread = (total**2 - predicted @ predicted) * (total**2 - true @ true)
    return float(covariance / np.sqrt(spread)) if spread > 0 else 0.0


def cost(y: NDArray[Any], outputs: Floats, weights: Floats, costs: Costs) -> float:
    return float((confusion(y, outputs, weights) * np.asarray(costs)).sum() / weights.sum())


def exception_bits(y: NDArray[Any], outputs: Floats, weights: Floats) -> float:
    """Bits per row that tell the classes to someone who has the model: how many rows are exceptions, which, and their
    classes."""
    rows, exceptions = float(weights.sum()), float(weights[outputs.argmax(axis=1) != y].sum())
    which = gammaln(rows + 1.0) - gammaln(exceptions + 1.0) - gammaln(rows - exceptions + 1.0)
    others = max(outputs.shape[1] - 1, 1)
    bits = math.log2(rows + 1.0) + float(which) / math.log(2.0) + exceptions * math.log2(others)
    return bits / rows


# --- regression -------------------------------------------------------------------------------------------------------


def mse(y: Floats, outputs: Floats, weights: Floats) -> float:
    return float((weights * (y - outputs) ** 2).sum() / weights.sum())


def rmse(y: Floats, outputs: Floats, weights: Floats) -> float:
    return float(np.sqrt(mse(y, outputs, weights)))


def mae(y: Floats, outputs: Floats, weights: Floats) -> float:
    return float((weights * np.abs(y - outputs)).sum() / weights.sum())


def mape(y: Floats, outputs: Floats, weights: Floats) -> float:
    return float((weights * relative_absolute_error(y, outputs)).sum() / weights.sum())


def pinball(y: Floats, outputs: Floats, weights: Floats, quantile: float) -> float:
    return float((weights * pinball_error(y, outputs, quantile)).sum() / weights.sum())


def r2(y: Floats, outputs: Floats, weights: Floats) -> float:
    mean = (weights * y).sum() / weights.sum()
    spread, missed = (weights * (y - mean) ** 2).sum(), (weights * (y - outputs) ** 2).sum()
    if spread == 0.0:
        return 1.0 if missed == 0.0 else 0.0
    return float(1.0 - missed / spread)


def explained_variance(y: Floats, outputs: Floats, weights: Floats) -> float:
    return r2(y - np.average(y - outputs, weights=weights), outputs, weights)


def max_error(y: Floats, outputs: Floats, weights: Floats) -> float:
    return float(np.abs(y - outputs)[weights > 0].max())


def median_absolute_error(y: Floats, outputs: Floats, weights: Floats) -> float:
    """The mean of the lower and the upper median, as if a row that counts twice were there twice."""
    errors = np.abs(y - outputs)
    order = np.argsort(errors)
    errors, reached = errors[order], np.cumsum(weights[order])
    half, slack = 0.5 * reached[-1], 1e-12 * reached[-1]
    lower, upper = np.searchsorted(reached, [half - slack, half + slack])
    return float(0.5 * (errors[lower] + errors[min(upper, len(errors) - 1)]))


def msle(y: Floats, outputs: Floats, weights: Floats) -> float:
    return float((weights * squared_log_error(y, outputs)).sum() / weights.sum())


def rmsle(y: Floats, outputs: Floats, weights: Floats) -> float:
    return float(np.sqrt(msle(y, outputs, weights)))


# --- terms of single rows ---------------------------------------------------------------------------------------------


def wrong(y: NDArray[Any], outputs: Floats) -> Floats:
    return np.asarray(outputs.argmax(axis=1) != y, dtype=np.float64)


def right(y: NDArray[Any], outputs: Floats) -> Floats:
    return np.asarray(outputs.argmax(axis=1) == y, dtype=np.float64)


def brier_of_row(y: NDArray[Any], outputs: Floats) -> Floats:
    n_classes = outputs.shape[1]
    squares = np.square(probabilities(outputs) - np.eye(n_classes)[y]).sum(axis=1)
    return np.asarray(squares / 2.0 if n_classes == 2 else squares)


def logloss_of_row(y: NDArray[Any], outputs: Floats) -> Floats:
    certain = np.finfo(np.float64).eps
    return np.asarray(-np.log(np.clip(probabilities(outputs)[np.arange(len(y)), y], certain, 1.0 - certain)))


def cost_of_row(y: NDArray[Any], outputs: Floats, costs: Costs) -> Floats:
    return np.asarray(np.asarray(costs, dtype=np.float64)[y, outputs.argmax(axis=1)])


def squared_error(y: Floats, outputs: Floats) -> Floats:
    return np.asarray(np.square(y - outputs))


def absolute_error(y: Floats, outputs: Floats) -> Floats:
    return np.asarray(np.abs(y - outputs))


def squared_log_error(y: Floats, outputs: Floats) -> Floats:
    """NaN where a value is not above -1."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.square(np.log1p(y) - np.log1p(outputs))
    return np.where(np.isfinite(found), found, np.nan)


def relative_absolute_error(y: Floats, outputs: Floats) -> Floats:
    return np.asarray(np.abs(y - outputs) / np.maximum(np.abs(y), np.finfo(np.float64).eps))


def pinball_error(y: Floats, outputs: Floats, quantile: float) -> Floats:
    return np.asarray(np.maximum(quantile * (y - outputs), (quantile - 1.0) * (y - outputs)))


# --- the fitted model itself ------------------------------------------------------------------------------------------


def features(figures: FitFigures, n_features: int, n_fits: int) -> float:
    return sum(figures.features) / n_fits


def feature_share(figures: FitFigures, n_features: int, n_fits: int) -> float:
    return features(figures, n_features, n_fits) / n_features


def complexity(figures: FitFigures, n_features: int, n_fits: int) -> float:
    return sum(figures.complexities) / n_fits


def model_bits(figures: FitFigures, n_features: int, n_fits: int, rows: int) -> float:
    """Bits per row that tell the model: half the logarithm of the number of rows for each number in it."""
    return 0.5 * complexity(figures, n_features, n_fits) * math.log2(rows) / rows


def fit_time(figures: FitFigures, n_features: int, n_fits: int) -> float:
    return sum(figures.seconds) / n_fits


def model_bytes(figures: FitFigures, n_features: int, n_fits: int) -> float:
    return float(figures.whole.size)


def predict_time(figures: FitFigures, n_features: int, n_fits: int, batch: int) -> float:
    return figures.whole.seconds[batch]


# --- bounds of an objective whose metrics are only known to lie in intervals ------------------------------------------

ANYTHING: Interval = (-math.inf, math.inf)


def loss_bounds(loss: Loss, known: Mapping[str, Interval]) -> Interval:
    """The bounds of an objective, given those of some metrics by name; of the others, their ranges."""
    match loss:
        case Measured(metric=metric):
            return known.get(metric.name, metric.range)
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
    # 0 · ∞ is 0 here: a metric itself is always finite.
    corners = [0.0 if 0.0 in (a, b) else a * b for a in left for b in right]
    return (min(corners), max(corners))
