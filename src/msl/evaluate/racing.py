"""Racing: a loss that can only grow as folds come in, so that a lost race ends early with the same verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from msl.blocks.base.block import Floats
from msl.evaluate.metrics import Interval, loss_bounds
from msl.evaluate.outcome import FitFigures
from msl.evaluate.resampling import OutputPool, Resampling
from msl.space.spec import Objective, measures_of

#: Sums in another order differ in the last digits; a race is only called when it is lost for certain.
_SLACK = 1e-12


def _wrong(y: Floats, outputs: Floats) -> Floats:
    return np.asarray(outputs.argmax(axis=1) != y, dtype=np.float64)


#: Measures that are means over rows, or roots of them, and what each row adds.
_ADDED_BY_ROW: Mapping[str, Callable[[Floats, Floats], Floats]] = {
    "ber": _wrong,
    "error": _wrong,
    "relative_error": _wrong,
    "mse": lambda y, outputs: np.square(y - outputs),
    "rmse": lambda y, outputs: np.square(y - outputs),
    "mae": lambda y, outputs: np.abs(y - outputs),
}


class LostRace(Exception):
    """The loss is at least `bound`, whatever is still to come."""

    def __init__(self, bound: float) -> None:
        super().__init__(f"at least {bound}")
        self.bound = bound


class Race:
    """One objective while its outputs come in, fold by fold, against a loss that is to be beaten."""

    def __init__(
        self,
        objective: Objective,
        cutoff: float,
        trial: Resampling,
        n_classes: int,
        n_features: int,
        error_with_all: float,
    ) -> None:
        """`error_with_all` is what `relative_error` divides by."""
        self._objective, self._beat = objective, cutoff
        names = [name for name in measures_of(objective.loss) if name in _ADDED_BY_ROW]
        self._sums = {name: [_Sum(pool, n_classes if name == "ber" else 0) for pool in trial.pools] for name in names}
        self._unit = {"relative_error": error_with_all}
        self._n_fits, self._n_features = len(trial.splits), n_features
        self._shares = [pool.share for pool in trial.pools]

    def add(self, pool: int, outputs: Floats, figures: FitFigures) -> None:
        """Takes the outputs of the next rows of a pool, and the figures of the fits so far; raises LostRace when the
        rest cannot matter."""
        for name, sums in self._sums.items():
            sums[pool].add(_ADDED_BY_ROW[name], outputs)
        known = {name: self._bounds(name) for name in self._sums}
        known |= {name: (low, float("inf")) for name, low in figures.means(self._n_features, self._n_fits).items()}
        low, high = loss_bounds(self._objective.loss, known)
        bound = low if self._objective.minimize else -high
        bound -= _SLACK * abs(bound)
        if bound >= self._beat:
            raise LostRace(bound)

    def _bounds(self, name: str) -> Interval:
        """A measure if every row still to come were right, and no upper bound."""
        means = [sums.mean() for sums in self._sums[name]]
        if name == "rmse":
            means = [mean**0.5 for mean in means]
        low = sum(share * mean for share, mean in zip(self._shares, means, strict=True))
        return low / self._unit.get(name, 1.0), float("inf")


class _Sum:
    """What the rows of a pool have added so far, class by class where classes count the same."""

    def __init__(self, pool: OutputPool, n_classes: int) -> None:
        self._pool, self._n_classes, self._seen = pool, n_classes, 0
        weights = np.ones(len(pool.y)) if pool.weights is None else pool.weights
        self._weights = weights
        self._totals = self._by_class(weights, slice(None))
        self._added = np.zeros_like(self._totals)

    def _by_class(self, values: Floats, rows: slice) -> Floats:
        if not self._n_classes:
            return np.array([values.sum()])
        return np.asarray(np.bincount(self._pool.y[rows], values, self._n_classes), dtype=np.float64)

    def add(self, added_by_row: Callable[[Floats, Floats], Floats], outputs: Floats) -> None:
        rows = slice(self._seen, self._seen + len(outputs))
        self._seen = rows.stop
        added = added_by_row(self._pool.y[rows], outputs) * self._weights[rows]
        self._added += self._by_class(added, rows)

    def mean(self) -> float:
        present = self._totals > 0
        return float((self._added[present] / self._totals[present]).mean())
