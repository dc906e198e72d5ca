"""Compute a metric of many models on many draws of the rows at once, from their outputs: nothing is fitted.

A draw says how often each row counts. Sums over rows of all models in all draws are one product of two matrices, so
metrics that are means over rows, or follow from the counts of a confusion matrix, take little time. The area under the
ROC curve is computed draw by draw from outputs that were sorted once; any other metric is called for each of both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from msl.blocks.base.block import Floats
from msl.blocks.base.chain import are_probabilities, probabilities
from msl.evaluate.metrics import row_terms, score
from msl.evaluate.resampling import Resampling
from msl.space.spec import Metric

#: The units that rows are dealt to where the influence of single rows would take too long.
_UNITS = 64
_LOGLOSS, _AUC, _R2 = "msl.evaluate:logloss", "msl.evaluate:auc", "msl.evaluate:r2"


# --- the outputs of many models, row by row ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class PoolOfModels:
    """One pool of a resampling: the outputs of each model for the rows `y`, classes as codes where only they are known.

    `present` says for each model which of the rows it was scored on; None for all.
    """

    share: float
    y: NDArray[Any]
    weights: Floats
    n_classes: int
    outputs: list[NDArray[Any]]
    present: list[NDArray[np.bool_] | None]

    def scored(self, model: int) -> Floats:
        """The outputs of a model as metrics take them."""
        found = self.outputs[model]
        if self.n_classes and found.ndim == 1:
            return np.asarray(np.eye(self.n_classes)[found])
        return np.asarray(found, dtype=np.float64)

    def predicted(self, model: int) -> NDArray[Any]:
        found = self.outputs[model]
        return found if found.ndim == 1 else found.argmax(axis=1)

    def mass(self, model: int) -> Floats:
        """The weight of each row for a model: 0 for one that it was not scored on."""
        present = self.present[model]
        return self.weights if present is None else self.weights * present

    def masses(self) -> NDArray[np.float32]:
        """Those of all models, or a single line where they are the same."""
        if all(one is None for one in self.present):
            return self.weights[np.newaxis].astype(np.float32)
        return np.array([self.mass(model) for model in range(len(self.outputs))], dtype=np.float32)


def pools_of_models(
    rows: NDArray[np.intp],
    y: NDArray[Any],
    n_classes: int,
    judged: Sequence[tuple[Resampling, Sequence[NDArray[Any]]]],
    share: float = 1.0,
) -> list[PoolOfModels]:
    """The pools of models whose outputs have the order of their own splits, put into the order of the table's `rows`.

    No pool may score a row several times. `share` is what all of them count together.
    """
    place = np.full(int(rows.max()) + 1, -1, dtype=np.intp)
    place[rows] = np.arange(len(rows))
    pools = []
    for number, first in enumerate(judged[0][0].pools):
        weights = np.ones(len(rows))
        outputs, present = [], []
        for resampling, given in judged:
            pool = resampling.pools[number]
            values = given[number]
            if pool.weights is not None:
                weights[place[pool.rows]] = pool.weights
            aligned = np.zeros((len(rows), *values.shape[1:]), dtype=values.dtype)
            aligned[place[pool.rows]] = values
            seen = None
            if len(pool.rows) < len(rows):
                seen = np.zeros(len(rows), dtype=np.bool_)
                seen[place[pool.rows]] = True
            outputs.append(aligned)
            present.append(seen)
        pools.append(PoolOfModels(share * first.share, y[rows], weights, n_classes, outputs, present))
    return pools


# --- one metric of all models -----------------------------------------------------------------------------------------


class MetricOfPool:
    """A metric in one pool. `values` are those of some models (rows) in some draws (columns); `influence` is what a
    little more weight of each row adds to that of one model."""

    is_quick = True

    def __init__(self, metric: Metric, pool: PoolOfModels) -> None:
        self._metric, self._pool = metric, pool

    def values(self, models: NDArray[np.intp], times: NDArray[np.float32]) -> Floats:
        raise NotImplementedError

    def influence(self, model: int) -> Floats:
        """By finite differences, for units of rows; the rows of a unit share what it adds. A function of predictions
        alone knows no weights but whole numbers, so that it gets the rows of a unit twice."""
        step = 1.0 if self._metric.takes == "predictions" else 0.01
        mass = self._pool.mass(model)
        seen = np.flatnonzero(mass > 0.0)
        outputs, y, own = self._pool.scored(model)[seen], self._pool.y[seen], mass[seen]
        units = np.random.default_rng(0).permutation(len(seen)) % min(len(seen), _UNITS)
        before = score(self._metric, y, outputs, own)
        found = np.zeros(len(mass))
        for unit in range(int(units.max()) + 1):
            inside = units == unit
            moved = score(self._metric, y, outputs, own * np.where(inside, 1.0 + step, 1.0)) - before
            found[seen[inside]] = moved / step / inside.sum()
        return found


class _Additive(MetricOfPool):
    """Means over rows, means over classes of these, and roots of means."""

    def __init__(self, metric: Metric, pool: PoolOfModels) -> None:
        super().__init__(metric, pool)
        lines = [self._of_rows(model) * pool.mass(model) for model in range(len(pool.outputs))]
        self._terms = np.array(lines, dtype=np.float32)
        self._masses = pool.masses()
        by_class = metric.additive_over_rows == "class_mean"
        kinds = np.unique(pool.y) if by_class else [None]
        self._columns = [slice(None) if kind is None else np.flatnonzero(pool.y == kind) for kind in kinds]

    def _of_rows(self, model: int) -> Floats:
        seen = self._pool.mass(model) > 0.0
        found = np.zeros(len(seen))
        outputs, y = self._pool.scored(model)[seen], self._pool.y[seen]
        if is_logloss(self._metric):
            certain = np.finfo(np.float64).eps
            chosen = probabilities(outputs)[np.arange(len(outputs)), y]
            found[seen] = -np.log(np.clip(chosen, certain, 1.0 - certain))
        else:
            found[seen] = row_terms(self._metric, y, outputs)
        return found

    def values(self, models: NDArray[np.intp], times: NDArray[np.float32]) -> Floats:
        total: Any = 0.0
        present: Any = 0.0
        is_all = np.array_equal(models, np.arange(len(self._terms)))  # most often, and nothing has to be copied
        terms = self._terms if is_all else self._terms[models]
        masses = self._masses if len(self._masses) == 1 else self._masses[models]
        for columns in self._columns:
            drawn = times[:, columns].T
            sums = (terms[:, columns] @ drawn).astype(np.float64)
            weights = (masses[:, columns] @ drawn).astype(np.float64)
            with np.errstate(invalid="ignore", divide="ignore"):
                total = total + np.where(weights > 0.0, sums / weights, 0.0)
            present = present + (weights > 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(present > 0, total / present, np.nan)
        return np.sqrt(mean) if self._metric.additive_over_rows == "root_mean" else mean

    def influence(self, model: int) -> Floats:
        mass = self._pool.mass(model)
        terms = np.divide(self._terms[model], mass, out=np.zeros(len(mass)), where=mass > 0.0)
        found = np.zeros(len(mass))
        value = 0.0
        for columns in self._columns:
            weight = mass[columns].sum()
            if weight > 0.0:
                mean = (terms[columns] * mass[columns]).sum() / weight
                found[columns] = mass[columns] * (terms[columns] - mean) / weight / len(self._columns)
                value += mean / len(self._columns)
        if self._metric.additive_over_rows == "root_mean":
            return found / (2.0 * np.sqrt(value)) if value > 0.0 else found
        return found


class _OfCounts(MetricOfPool):
    """Metrics that depend only on how often each class was predicted as which."""

    def __init__(self, metric: Metric, pool: PoolOfModels) -> None:
        super().__init__(metric, pool)
        self._codes = np.array([pool.predicted(model) for model in range(len(pool.outputs))])
        self._masses = pool.masses()
        self._of_all = _OF_COUNTS.get(metric.function)
        self.is_quick = self._of_all is not None
        k = pool.n_classes
        self._cell_y, self._cell_outputs = np.repeat(np.arange(k), k), np.tile(np.eye(k), (k, 1))

    def values(self, models: NDArray[np.intp], times: NDArray[np.float32]) -> Floats:
        k = self._pool.n_classes
        counts = np.zeros((len(models), len(times), k, k))
        masses = self._masses if len(self._masses) == 1 else self._masses[models]
        for true in range(k):
            columns = np.flatnonzero(self._pool.y == true)
            drawn = times[:, columns].T
            codes = self._codes[np.ix_(models, columns)]
            for other in range(k):
                counts[:, :, true, other] = ((codes == other) * masses[:, columns]) @ drawn
        if self._of_all is not None:
            return self._of_all(counts)
        flat = counts.reshape(-1, k * k)
        return np.array([self._of_cells(cells) for cells in flat]).reshape(len(models), len(times))

    def _of_cells(self, cells: Floats) -> float:
        return score(self._metric, self._cell_y, self._cell_outputs, cells) if cells.any() else float("nan")

    def influence(self, model: int) -> Floats:
        k, mass = self._pool.n_classes, self._pool.mass(model)
        cell = self._pool.y * k + self._codes[model]
        counts = np.bincount(cell, mass, k * k).astype(np.float64)
        before, step = self._of_cells(counts), 1e-4 * counts.sum()
        slopes = np.array([(self._of_cells(counts + step * one) - before) / step for one in np.eye(k * k)])
        return np.asarray(mass * slopes[cell])


class _Auc(MetricOfPool):
    """The area under the ROC curve, of two classes or the mean over each against the rest."""

    is_quick = False

    def _scores(self, model: int) -> list[tuple[NDArray[np.bool_], Floats]]:
        """The positive rows and the score, for each curve."""
        pool, outputs = self._pool, self._pool.scored(model)
        if pool.n_classes == 2:
            one = (
                outputs[:, 1]
                if are_probabilities(outputs[self._pool.mass(model) > 0.0])
                else outputs[:, 1] - outputs[:, 0]
            )
            return [(pool.y == 1, one)]
        return [(pool.y == c, outputs[:, c]) for c in range(pool.n_classes) if 0 < (pool.y == c).sum() < len(pool.y)]

    def values(self, models: NDArray[np.intp], times: NDArray[np.float32]) -> Floats:
        found = np.full((len(models), len(times)), np.nan)
        drawn = np.ascontiguousarray(times.T)
        weighted = drawn if np.all(self._pool.weights == 1.0) else drawn * self._pool.weights[:, np.newaxis]
        for place, model in enumerate(models):
            present = self._pool.present[int(model)]
            own = weighted if present is None else weighted * present[:, np.newaxis]
            own = own.astype(np.float32, copy=False)
            areas = [_areas(positive, scores, own) for positive, scores in self._scores(int(model))]
            if areas:
                known = ~np.isnan(areas)
                with np.errstate(invalid="ignore"):
                    found[place] = np.where(known, areas, 0.0).sum(axis=0) / known.sum(axis=0)
        return found

    def influence(self, model: int) -> Floats:
        mass = self._pool.mass(model)
        found = np.zeros(len(mass))
        curves = self._scores(model)
        for positive, scores in curves:
            found += _placements(positive, scores, mass) / len(curves)
        return found


def _areas(positive: NDArray[np.bool_], scores: Floats, drawn: NDArray[np.float32]) -> Floats:
    """The area in each draw; `drawn` has a line of weights for each row, which is quick to pick and to add up."""
    up, down = np.flatnonzero(positive), np.flatnonzero(~positive)
    down = down[np.argsort(scores[down], kind="stable")]
    below = np.zeros((len(down) + 1, drawn.shape[1]), dtype=np.float32)
    np.cumsum(drawn[down], axis=0, out=below[1:])
    first, last = (np.searchsorted(scores[down], scores[up], side) for side in ("left", "right"))
    weights = drawn[up]
    beaten = np.einsum("ij,ij->j", weights, below[first])
    if (tied := first != last).any():
        more = np.einsum("ij,ij->j", weights[tied], below[last[tied]] - below[first[tied]])
        beaten = beaten + 0.5 * more
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(beaten / (weights.sum(axis=0, dtype=np.float64) * below[-1]), dtype=np.float64)


def _placements(positive: NDArray[np.bool_], scores: Floats, mass: Floats) -> Floats:
    """What the weight of each row adds to the area: how its score is placed among those of the other class (DeLong)."""
    seen = mass > 0.0
    found = np.zeros(len(scores))
    up, down = positive & seen, ~positive & seen
    if not up.any() or not down.any():
        return found
    ranks = rankdata(scores[seen])
    all_ranks = np.zeros(len(scores))
    all_ranks[seen] = ranks
    n_up, n_down = up.sum(), down.sum()
    of_up = (all_ranks[up] - rankdata(scores[up])) / n_down
    of_down = 1.0 - (all_ranks[down] - rankdata(scores[down])) / n_up
    area = of_up.mean()
    found[up], found[down] = (of_up - area) / n_up, (of_down - area) / n_down
    return found


class _R2Metric(MetricOfPool):
    """The share of the spread that is explained, from the sums of squares."""

    def __init__(self, metric: Metric, pool: PoolOfModels) -> None:
        super().__init__(metric, pool)
        self._masses = pool.masses()
        middle = pool.y.mean()
        self._y = pool.y - middle
        lines = [np.square(pool.y - pool.scored(model)) * pool.mass(model) for model in range(len(pool.outputs))]
        self._squares = np.array(lines, dtype=np.float32)

    def values(self, models: NDArray[np.intp], times: NDArray[np.float32]) -> Floats:
        masses = self._masses if len(self._masses) == 1 else self._masses[models]
        drawn = times.T
        missed = (self._squares[models] @ drawn).astype(np.float64)
        weight = (masses @ drawn).astype(np.float64)
        first, second = (masses * self._y) @ drawn, (masses * self._y**2) @ drawn
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = second - first**2 / weight
            return np.where(spread > 0.0, 1.0 - missed / spread, np.nan)


class _Called(MetricOfPool):
    """Any other metric: called for each model and draw."""

    is_quick = False

    def values(self, models: NDArray[np.intp], times: NDArray[np.float32]) -> Floats:
        found = np.full((len(models), len(times)), np.nan)
        for place, model in enumerate(models):
            outputs, mass = self._pool.scored(int(model)), self._pool.mass(int(model))
            for number, one in enumerate(times):
                weights = one * mass
                seen = weights > 0.0
                if seen.any():
                    found[place, number] = score(self._metric, self._pool.y[seen], outputs[seen], weights[seen])
        return found


def metric_of_pool(metric: Metric, pool: PoolOfModels) -> MetricOfPool:
    if metric.additive_over_rows is not None or is_logloss(metric):
        return _Additive(metric, pool)
    if metric.from_confusion:
        return _OfCounts(metric, pool)
    kind = {_AUC: _Auc, _R2: _R2Metric}.get(metric.function, _Called)
    return kind(metric, pool)


def is_logloss(metric: Metric) -> bool:
    """Whether it is a mean of terms of rows that take probabilities, not any scores."""
    return metric.function == _LOGLOSS


def is_area(metric: Metric) -> bool:
    """Whether it is the area under the ROC curve."""
    return metric.function == _AUC


def are_quick_to_draw(metric: Metric) -> bool:
    """Whether many draws of many models take little time."""
    if metric.additive_over_rows is not None or is_logloss(metric):
        return True
    return metric.function in _OF_COUNTS if metric.from_confusion else metric.function == _R2


def has_exact_influence(metric: Metric) -> bool:
    """Whether what a row adds is known in closed form."""
    return metric.additive_over_rows is not None or is_logloss(metric) or is_area(metric) or metric.from_confusion


def mean_over_rows(terms: Floats, y: NDArray[Any], weights: Floats, kind: str | None) -> Floats:
    """The mean of each line of terms, over classes first or under a root where the metric says so."""
    columns = [np.flatnonzero(y == one) for one in np.unique(y)] if kind == "class_mean" else [slice(None)]
    means = [terms[:, own] @ weights[own] / weights[own].sum() for own in columns]
    mean = np.asarray(np.mean(means, axis=0))
    return np.sqrt(mean) if kind == "root_mean" else mean


# --- metrics of many confusion matrices -------------------------------------------------------------------------------


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros(np.broadcast_shapes(above.shape, below.shape)), where=below > 0.0)


def _mean_of_present(values: Floats, present: NDArray[np.bool_]) -> Floats:
    return _ratio((values * present).sum(axis=-1), present.sum(axis=-1).astype(np.float64))


def _by_class(counts: Floats) -> tuple[Floats, Floats, Floats]:
    """Rows of each class that are predicted as it, are predicted as it wrongly or not, and are of it."""
    return np.diagonal(counts, axis1=-2, axis2=-1), counts.sum(axis=-2), counts.sum(axis=-1)


def _precision(counts: Floats) -> Floats:
    right, predicted, true = _by_class(counts)
    return _mean_of_present(_ratio(right, predicted), predicted + true > 0)


def _recall(counts: Floats) -> Floats:
    right, predicted, true = _by_class(counts)
    return _mean_of_present(_ratio(right, true), predicted + true > 0)


def _f1(counts: Floats) -> Floats:
    right, predicted, true = _by_class(counts)
    return _mean_of_present(_ratio(2.0 * right, predicted + true), predicted + true > 0)


def _mcc(counts: Floats) -> Floats:
    right, predicted, true = _by_class(counts)
    total = true.sum(axis=-1)
    covariance = right.sum(axis=-1) * total - (predicted * true).sum(axis=-1)
    spread = (total**2 - (predicted**2).sum(axis=-1)) * (total**2 - (true**2).sum(axis=-1))
    return _ratio(covariance, np.sqrt(np.maximum(spread, 0.0)))


def _of_last(which: int) -> Callable[[Floats], Floats]:
    """Precision, recall or F1 of the last class."""

    def value(counts: Floats) -> Floats:
        right, predicted, true = (one[..., -1] for one in _by_class(counts))
        return _ratio(*((right, predicted), (right, true), (2.0 * right, predicted + true))[which])

    return value


def metric_of_counts(metric: Metric, counts: Floats) -> Floats:
    """A metric of each of several confusion matrices."""
    of_all = _OF_COUNTS.get(metric.function)
    if of_all is not None:
        return of_all(counts)
    k = counts.shape[-1]
    y, outputs = np.repeat(np.arange(k), k), np.tile(np.eye(k), (k, 1))
    return np.array([score(metric, y, outputs, one.ravel()) if one.any() else np.nan for one in counts])


_OF_COUNTS: Mapping[str, Callable[[Floats], Floats]] = {
    "msl.evaluate:precision": _precision,
    "msl.evaluate:recall": _recall,
    "msl.evaluate:f1": _f1,
    "msl.evaluate:mcc": _mcc,
    "msl.evaluate:positive_precision": _of_last(0),
    "msl.evaluate:positive_recall": _of_last(1),
    "msl.evaluate:positive_f1": _of_last(2),
}
