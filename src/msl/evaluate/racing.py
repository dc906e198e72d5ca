"""Stop an evaluation once it cannot win: bounds of a loss while its folds come in.

Racing is lossless. An evaluation is stopped only if its loss would be at least the cutoff whatever the remaining folds
bring, so that the verdict of the search is the same. What a metric can still become follows from its range.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from msl.blocks.base.block import Floats
from msl.evaluate.metrics import loss_bounds, model_metric, row_terms
from msl.evaluate.outcome import FitFigures
from msl.evaluate.resampling import OutputPool, Resampling
from msl.space.spec import Interval, Metric, Objective, metrics_of

#: Sums in another order differ in the last digits; a race only ends when it is lost by more than that.
_SLACK = 1e-12


#: Standard errors by which a model may be worse than the best and still be the best on rows that are drawn.
_STILL_CHOSEN = 2.0


@dataclass(frozen=True, slots=True)
class Margin:
    """How far above its cutoff a loss may be for the model to be evaluated to the end all the same.

    The search has no use for such a model, but what is said of its winner has: on other rows of the kind, as the
    corrected estimate draws them, this model may have won. Were it cut short, it could not be chosen there, and the
    estimate would be too good. A loss that is a mean over rows with values in a range has, with a mean of L, a variance
    of at most (L - low)(high - L) (Bhatia and Davis, 2000); where there is no upper end, a spread like L is assumed.
    """

    low: float
    high: float
    rows: float

    @classmethod
    def of(cls, objective: Objective, counts: Floats, groups: int | None = None) -> Margin:
        """`counts` are the rows of each class, or of all in regression; rows of a group count as one."""
        low, high = loss_bounds(objective.loss, {})
        if not objective.minimize:
            low, high = -high, -low
        present = counts[counts > 0]
        rows = float(present.sum())
        if any(metric.additive_over_rows == "class_mean" for metric in metrics_of(objective.loss)):
            rows = len(present) ** 2 / float((1.0 / present).sum())  # the smallest class says least
        return cls(low, high, rows if groups is None else min(rows, groups))

    def beyond(self, cutoff: float) -> float:
        """The cutoff with the margin."""
        above, below = cutoff - self.low, self.high - cutoff
        if not (math.isfinite(above) and above > 0.0 and self.rows >= 1.0):
            return cutoff
        variance = above * below if math.isfinite(below) else above**2
        return cutoff + _STILL_CHOSEN * math.sqrt(max(0.0, variance) / self.rows)


class LostRace(Exception):
    """The loss is at least `bound`, whatever the remaining folds bring."""

    def __init__(self, bound: float) -> None:
        super().__init__(f"at least {bound}")
        self.bound = bound


class Race:
    """One objective while its outputs come in, fold by fold, against a cutoff."""

    def __init__(
        self,
        objective: Objective,
        cutoff: float,
        resampling: Resampling,
        n_classes: int,
        n_features: int,
        units: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        """`units` are the divisors of metrics that are relative to another model, by their names."""
        self._objective, self._cutoff = objective, cutoff
        additive = [metric for metric in metrics_of(objective.loss) if metric.additive_over_rows is not None]
        self._of_models = [metric for metric in additive if metric.of_model]
        self._sums = [
            _MetricSums(metric, resampling, n_classes, units.get(metric.name, 1.0))
            for metric in additive
            if not metric.of_model
        ]
        self._n_fits, self._n_features = len(resampling.splits), n_features

    def add(self, pool: int, outputs: Floats, figures: FitFigures) -> None:
        """Takes the outputs of the next rows of a pool, and the figures of the fits so far. Raises LostRace when the
        remaining folds cannot matter."""
        for sums in self._sums:
            sums.add(pool, outputs)
        known = {sums.metric.name: sums.bounds() for sums in self._sums}
        known |= {metric.name: self._bounds(metric, figures) for metric in self._of_models}
        low, high = loss_bounds(self._objective.loss, known)
        bound = low if self._objective.minimize else -high
        bound -= _SLACK * abs(bound)
        if bound >= self._cutoff:
            raise LostRace(bound)

    def _bounds(self, metric: Metric, figures: FitFigures) -> Interval:
        """A mean over fits, of which some are still to come."""
        so_far = model_metric(metric, figures, self._n_features, self._n_fits)
        left = 1.0 - len(figures.seconds) / self._n_fits
        return so_far + _times(left, metric.low), so_far + _times(left, metric.high)


class _MetricSums:
    """What the rows so far add to one metric, pool by pool."""

    def __init__(self, metric: Metric, resampling: Resampling, n_classes: int, unit: float) -> None:
        self.metric, self._unit = metric, unit
        by_class = n_classes if metric.additive_over_rows == "class_mean" else 0
        self._pools = [_PoolSum(metric, pool, by_class) for pool in resampling.pools]
        self._shares = [pool.share for pool in resampling.pools]

    def add(self, pool: int, outputs: Floats) -> None:
        self._pools[pool].add(outputs)

    def bounds(self) -> Interval:
        """The metric if every row still to come had the least or the largest value of the range."""
        low, high = (_times(self._unit, end) for end in self.metric.range)
        return self._value(low), self._value(high)

    def _value(self, end: float) -> float:
        if self.metric.additive_over_rows == "root_mean":
            means = [math.sqrt(max(0.0, pool.mean(end * end if end > 0.0 else 0.0))) for pool in self._pools]
        else:
            means = [pool.mean(end) for pool in self._pools]
        return sum(share * mean for share, mean in zip(self._shares, means, strict=True)) / self._unit


class _PoolSum:
    """The terms of the rows of a pool, summed class by class where classes count the same."""

    def __init__(self, metric: Metric, pool: OutputPool, n_classes: int) -> None:
        self._metric, self._pool, self._n_classes, self._seen = metric, pool, n_classes, 0
        self._weights = np.ones(len(pool.y)) if pool.weights is None else pool.weights
        self._totals = self._by_class(self._weights, slice(None))
        self._added = np.zeros_like(self._totals)

    def _by_class(self, values: Floats, rows: slice) -> Floats:
        if not self._n_classes:
            return np.array([values.sum()])
        return np.asarray(np.bincount(self._pool.y[rows], values, self._n_classes), dtype=np.float64)

    def add(self, outputs: Floats) -> None:
        rows = slice(self._seen, self._seen + len(outputs))
        self._seen = rows.stop
        terms = row_terms(self._metric, self._pool.y[rows], outputs) * self._weights[rows]
        self._added += self._by_class(terms, rows)

    def mean(self, end: float) -> float:
        """The mean over all rows if those still to come had the term `end`."""
        present = self._totals > 0
        added = self._added
        if end != 0.0 and self._seen < len(self._pool.y):
            left = self._by_class(self._weights[self._seen :], slice(self._seen, None))
            added = added + np.where(left > 0.0, end * np.where(left > 0.0, left, 1.0), 0.0)
        return float((added[present] / self._totals[present]).mean())


def _times(factor: float, end: float) -> float:
    """0 · ∞ is 0 here: nothing is left to come."""
    return factor * end if factor else 0.0
