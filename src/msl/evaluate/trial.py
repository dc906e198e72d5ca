"""Trial: the splits that a model goes through for one estimate, and how its outputs there become one figure."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base import Floats
from msl.evaluate.population import Rows
from msl.evaluate.scoring import score
from msl.evaluate.splits import Splits, SplitsByUnit
from msl.space.spec import Call

#: What the training error counts in the .632 bootstrap, and what the error on rows that a resample lacks.
_TRAINING, _LACKING = 0.368, 0.632


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Rows whose outputs are scored together; `share` is what their score counts. `weights` are those of the rows."""

    share: float
    rows: Rows
    y: NDArray[Any]
    weights: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """`key` names the splits in caches; it is None for splits that one evaluation alone meets."""

    estimate: Call
    splits: Splits
    pools: tuple[Pool, ...]
    key: Hashable | None

    @classmethod
    def of(cls, estimate: Call, splits: Splits, y: NDArray[Any], key: Hashable | None) -> Trial:
        by_pool: dict[int, list[Rows]] = {}
        for split in splits:
            by_pool.setdefault(split.pool, []).append(split.test)
        judged = [np.concatenate(by_pool[pool]) for pool in sorted(by_pool)]
        if estimate.name == "bootstrap632":
            pools = _bootstrap_pools(judged, y)
        else:
            pools = tuple(Pool(1.0 / len(judged), rows, y[rows]) for rows in judged)
        return cls(estimate, splits, pools, key)

    @property
    def is_by_row(self) -> bool:
        """Whether every row is judged by a model of all others."""
        return isinstance(self.splits, SplitsByUnit) and len(self.splits) == len(self.pools[0].rows)

    def fold_key(self, position: int) -> Hashable | None:
        return None if self.key is None else (self.key, position)

    def score(self, measure: str, outputs: Sequence[Floats], n_classes: int) -> float:
        """One measure, from the outputs of each pool."""
        return sum(
            pool.share * score(measure, pool.y, given, n_classes, pool.weights)
            for pool, given in zip(self.pools, outputs, strict=True)
        )


def joined(trials: Sequence[Trial]) -> Trial:
    """Several trials of one estimate as one, whose score is the mean of theirs."""
    if len(trials) == 1:
        return trials[0]
    pools = [replace(pool, share=pool.share / len(trials)) for trial in trials for pool in trial.pools]
    return Trial(trials[0].estimate, [split for trial in trials for split in trial.splits], tuple(pools), None)


def _bootstrap_pools(judged: list[Rows], y: NDArray[Any]) -> tuple[Pool, ...]:
    """All rows under the model of all rows, and each row under the resamples that lack it, which count as one row."""
    everything, *lacking = judged
    if not lacking:
        return (Pool(1.0, everything, y[everything]),)
    rows = lacking[0]
    weights = 1.0 / np.bincount(rows)[rows]
    return Pool(_TRAINING, everything, y[everything]), Pool(_LACKING, rows, y[rows], weights)
