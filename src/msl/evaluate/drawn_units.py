"""Draw rows with replacement, as whole units, add up what draws tell, and turn an estimate into an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, norm

from msl.blocks.base.block import Floats
from msl.evaluate.dataset import Dataset
from msl.evaluate.drawn_losses import DrawnLosses

_TAIL = 0.025
#: The most blocks that an order is cut into: rows that follow each other are drawn together.
_MOST_BLOCKS = 100
#: The draws of an estimate, and the most rows of all of them together: a draw of more rows tells more.
_DRAWS, _FEWEST_DRAWS = 1_000, 100
#: Where metrics are computed draw by draw: the estimate then varies by about a tenth of its standard error.
_SLOW_DRAWS = 300
#: The most products of a row, a model and a draw: for metrics of which many are computed at once, and for others.
_MOST_PRODUCTS, _MOST_SLOW_PRODUCTS = 20_000_000_000, 12_000_000_000
#: Of the slow ones, those for each second of a run's time limit: about a twentieth of it.
_SLOW_PER_SECOND = 16_000_000
_MOST_ROWS = 20_000_000


def number_of_draws(rows: int, models: int, is_quick: bool, limit: float | None) -> int:
    """In how many draws the best of so many models is chosen anew; `limit` are the seconds that the run may take."""
    most: float = _MOST_PRODUCTS
    if not is_quick:
        most = _MOST_SLOW_PRODUCTS if limit is None else min(_MOST_SLOW_PRODUCTS, _SLOW_PER_SECOND * limit)
    wanted = _DRAWS if is_quick else _SLOW_DRAWS
    return int(np.clip(min(most // max(1, models), _MOST_ROWS) // max(1, rows), _FEWEST_DRAWS, wanted))


@dataclass(frozen=True, slots=True, eq=False)
class DrawnUnits:
    """What is drawn: rows within their classes, whole groups, or blocks of rows that follow each other in time."""

    of_row: NDArray[np.intp]
    strata: NDArray[np.intp]
    words: str = ""

    @classmethod
    def of(cls, dataset: Dataset, rows: NDArray[np.intp]) -> DrawnUnits:
        population = dataset.population
        if population.groups is not None:
            names, unit = np.unique(population.groups[rows], return_inverse=True)
            return cls(unit, np.zeros(len(names), dtype=np.intp), "whole groups were drawn")
        if population.order is not None:
            moments, place = np.unique(population.order[rows], return_inverse=True)
            blocks = int(min(len(moments), max(2, min(_MOST_BLOCKS, round(2.0 * np.sqrt(len(moments)))))))
            unit = place * blocks // len(moments)
            words = f"{blocks} blocks of rows that follow each other were drawn"
            return cls(unit, np.zeros(blocks, dtype=np.intp), words)
        strata = dataset.y[rows] if dataset.n_classes else np.zeros(len(rows), dtype=np.intp)
        return cls(np.arange(len(rows)), strata.astype(np.intp))

    def draw(self, count: int, rng: np.random.Generator) -> NDArray[np.float32]:
        """How often each unit is drawn, one line per draw."""
        times = np.zeros((count, len(self.strata)), dtype=np.float32)
        for stratum in np.unique(self.strata):
            own = np.flatnonzero(self.strata == stratum)
            for line in times:
                line[own] = np.bincount(rng.integers(0, len(own), len(own)), minlength=len(own))
        return times

    def centred(self, values: Floats) -> Floats:
        """Values of units as differences from the mean of their stratum."""
        means = np.asarray(np.bincount(self.strata, values) / np.maximum(np.bincount(self.strata), 1))
        return np.asarray(values - means[self.strata])

    def sums(self, values: Floats) -> Floats:
        """Values of rows, summed over those of a unit."""
        return np.asarray(np.bincount(self.of_row, values, len(self.strata)), dtype=np.float64)


class Tally:
    """What the draws of one choice add up to, for one objective."""

    def __init__(self, n_units: int, n_rows: int) -> None:
        self.left_out: list[float] = []
        self.whole: list[float] = []
        self.with_choice = np.zeros(n_units)
        self.times = np.zeros(n_units)
        self.pull = np.zeros(n_rows)
        self.absent = np.zeros(n_rows)


class Ranking:
    """What the models in the first places of each draw are worth on the rows left out."""

    def __init__(self, places: int) -> None:
        self._sums, self._known = np.zeros(places), np.zeros(places)

    def add(self, inside: Floats, absent: NDArray[np.float32], losses: DrawnLosses) -> None:
        """Ranks by the losses on the rows drawn, which are infinite for models that cannot be near the best."""
        order = np.argsort(inside, axis=0, kind="stable")[: len(self._sums)]
        listed = np.unique(order)
        outside = np.full(inside.shape, np.nan)
        outside[listed] = losses.values(listed, absent)
        worth = np.take_along_axis(outside, order, axis=0)
        known = np.isfinite(worth) & np.isfinite(np.take_along_axis(inside, order, axis=0))
        self._sums += np.where(known, worth, 0.0).sum(axis=1)
        self._known += known.sum(axis=1)

    def values(self, minimize: bool) -> tuple[float, ...]:
        """Of the first places that every draw has filled."""
        places = int(np.argmin(np.append(self._known == self._known[0], False))) if self._known[0] else 0
        found = self._sums[:places] / self._known[:places]
        return tuple((found if minimize else -found).tolist())


def interval_of_loss(
    value: float, error: float, bounds: tuple[float, float], rows: int, looks: int = 1
) -> tuple[float, float]:
    """The 95 % interval of a loss, or of whichever of several losses is kept. `rows` are those that tell how rare a
    mistake can be, where none was made."""
    low, high = bounds
    tail = _TAIL / looks
    if not np.isfinite(high - low):
        wide = float(norm.isf(tail)) * error
        return max(low, value - wide), min(high, value + wide)
    share = min(1.0, max(0.0, (value - low) / (high - low)))
    spread = error / (high - low)
    size = share * (1.0 - share) / spread**2 if spread > 0.0 and 0.0 < share < 1.0 else float(rows)
    size = min(size, 1e9)
    first, last = (float(beta.ppf(end, size * share + 0.5, size * (1.0 - share) + 0.5)) for end in (tail, 1.0 - tail))
    return min(value, low + first * (high - low)), max(value, low + last * (high - low))
