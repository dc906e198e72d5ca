"""Split outputs: what a model says of one part of the rows when it is fitted on another, as an evaluation would."""

from __future__ import annotations

from collections.abc import Collection

from sklearn import config_context

from msl.blocks.base import Floats
from msl.evaluate.diary import Diary, FitFigures
from msl.evaluate.fitting import Fitter
from msl.evaluate.ground import Ground
from msl.evaluate.plan import Planner
from msl.evaluate.prefix_cache import PrefixCache
from msl.evaluate.splits import Split
from msl.space.value import Model


class SplitOutputs:
    """Fits models on splits of one table, and keeps nothing of them."""

    def __init__(self, ground: Ground, seed: int, trusted: Collection[str]) -> None:
        self._fitter = Fitter(ground, PrefixCache(0))
        self._planner = Planner(ground.columns, ground.task, seed, trusted)

    def of(self, model: Model, split: Split) -> Floats:
        """Raises whatever a block raises."""
        with config_context(assume_finite=True, skip_parameter_validation=True):
            plan = self._planner.plan(model)
            return self._fitter.outputs(plan, self._fitter.fold(split, None), Diary(), FitFigures())
