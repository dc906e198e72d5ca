"""Boosting blocks as the estimators of their libraries, for exported files that need no `msl`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msl.blocks.learners.boosting import Boosting
from msl.blocks.learners.boosting_libraries import CatBoostClassifier, CatBoostRegressor


@dataclass(frozen=True)
class SymbolsAsWords:
    """The step before CatBoost: symbols at these places become texts, since it takes no others."""

    places: list[int]


def plain_learner(chain: Any) -> tuple[list[Any], Any, Mapping[str, Any]]:
    """The steps of a chain, its learner as an estimator of another package, and what its `fit` takes beside rows and
    targets."""
    steps, learner = list(chain.steps), chain.learner
    if not isinstance(learner, Boosting):
        return steps, learner, {}
    if hasattr(learner, "merge_"):
        steps.append(learner.merge_)
    if isinstance(learner, CatBoostClassifier | CatBoostRegressor) and learner.symbols:
        steps.append(SymbolsAsWords(learner.symbols))
    return steps, *learner.plain()


def needs_more_than_rows(chain: Any) -> bool:
    """Whether the plain form of a model takes more in `fit` than rows and targets, or a function of its file."""
    steps, _, beside = plain_learner(chain)
    return bool(beside) or any(isinstance(step, SymbolsAsWords) for step in steps)
