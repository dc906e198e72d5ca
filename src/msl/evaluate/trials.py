"""Trials: the splits that each evaluation meets — the same for all models, or drawn afresh for each."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from msl.evaluate.estimates import ESTIMATES, check_estimate
from msl.evaluate.ground import Ground
from msl.evaluate.population import Rows
from msl.evaluate.splits import Split, Splits, SplitsByUnit
from msl.evaluate.trial import Trial
from msl.space.spec import Call

# What random numbers are for, so that no two uses of one seed draw the same.
_SPLITS, _OWN, _ROWS = 1, 2, 3
#: Trials of later turns that are kept at once: a batch is of one turn, or every evaluation of it of its own.
_MOST_TURNS = 16


class Trials:
    """Draws splits for the estimates of one search on one table."""

    def __init__(self, ground: Ground, estimates: Iterable[Call], seed: int) -> None:
        """Raises ValueError for an estimate that this table cannot give."""
        self._ground, self._seed = ground, seed
        self.estimates = tuple(dict.fromkeys(estimates))
        for estimate in self.estimates:
            check_estimate(estimate, ground.population)
        # Two views of one fit: beside a holdout, `gcv` judges the part that the holdout leaves to fit on.
        holdouts = [estimate for estimate in self.estimates if estimate.name == "holdout"]
        self._holdout = holdouts[0] if len(holdouts) == 1 else None
        self._shared: dict[Hashable, Trial] = {}
        self._later: dict[Hashable, Trial] = {}
        for estimate in self.estimates:
            if not self.is_fresh(estimate):
                self.trial(estimate, 0, 1.0, 0)

    def is_fresh(self, estimate: Call) -> bool:
        """Whether each evaluation draws splits of its own."""
        source = self._source(estimate)
        return bool(source["shuffle"]) or float(source["subsample"]) < 1.0  # type: ignore[arg-type]

    def _source(self, estimate: Call) -> Call:
        """The estimate whose splits this one uses."""
        return self._holdout if estimate.name == "gcv" and self._holdout is not None else estimate

    def trial(self, estimate: Call, stream: int, share: float, turn: int) -> Trial:
        """The trial of one evaluation: `stream` stands for the model, `share` is the share of rows to judge on.

        Turn 0 has the splits that all models meet, a later turn splits of its own, again the same for all models.
        """
        if self.is_fresh(estimate):
            return self._own(estimate, stream, share, turn)
        kept = self._later if turn else self._shared
        key = (estimate, share, turn)
        if key not in kept:
            if len(self._later) >= _MOST_TURNS * len(self.estimates):
                del self._later[next(iter(self._later))]
            again = [turn] if turn else []
            rows = None
            if share < 1.0:
                rows = self._ground.population.subsample(share, np.random.default_rng([self._seed, _ROWS, *again]))
            splits = self._splits(estimate, rows, np.random.default_rng([self._seed, _SPLITS, *again]))
            name = (estimate.name, self.estimates.index(estimate), share, turn)
            kept[key] = Trial.of(estimate, splits, self._ground.y, name)
        return kept[key]

    def _own(self, estimate: Call, stream: int, share: float, turn: int) -> Trial:
        rng = np.random.default_rng([self._seed, _OWN, stream, turn])
        part = float(self._source(estimate)["subsample"]) * share  # type: ignore[arg-type]
        rows = self._ground.population.subsample(part, rng) if part < 1.0 else None
        return Trial.of(estimate, self._splits(estimate, rows, rng), self._ground.y, None)

    def _splits(self, estimate: Call, rows: Rows | None, rng: np.random.Generator) -> Splits:
        population = self._ground.population if rows is None else self._ground.population.part(rows)
        source = self._source(estimate)
        splits = ESTIMATES[source.name](population, dict(source.options), rng)
        if source is not estimate:
            splits = [Split(split.train, split.train) for split in splits]
        if isinstance(splits, SplitsByUnit):
            return splits.of(rows)
        usable = [split for split in splits if len(split.train) and len(split.test)]
        if not usable:
            raise ValueError(
                f"`{estimate.name}` finds no rows to fit on and to judge by at once; "
                "look at `groups` and `order`, or use another estimate"
            )
        return usable if rows is None else [split.of(rows) for split in usable]
