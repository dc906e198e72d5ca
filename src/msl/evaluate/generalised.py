"""Generalised: models judged by generalised cross-validation, p · SSE / (p - m)², from one fit on all rows.

m is the effective number of parameters: the trace of the matrix that turns targets into outputs. Only learners whose
outputs are linear in the targets have one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge

from msl.blocks.base import Block, Floats, GeneralisedTable
from msl.blocks.complexity import learner_complexity
from msl.blocks.problem import BlockProblem
from msl.evaluate.diary import Diary
from msl.evaluate.fitting import Fitter, features_seen
from msl.evaluate.plan import Plan
from msl.evaluate.stages import Fold, Stage, Way

#: Those of scikit-learn's learners whose outputs are linear in the targets.
_LINEAR = (LinearRegression, Ridge, KernelRidge)


@dataclass(frozen=True, slots=True)
class Generalisation:
    """The score of a model, as a mean squared error, and the figures of its fit."""

    score: float
    complexity: float
    features: float


class Generaliser:
    """Judges models on all rows of a fold, siblings together."""

    def __init__(self, fitter: Fitter) -> None:
        self._fitter = fitter

    def judge(self, plans: Sequence[Plan], fold: Fold, diary: Diary) -> list[Generalisation]:
        """One for each plan; whether others are judged with it changes no number."""
        siblings: dict[tuple[str, type], list[int]] = defaultdict(list)
        learners: list[Any] = []
        ways: list[Way] = []
        start = self._fitter.start(fold)
        for place, plan in enumerate(plans):
            diary.at(plan.learner.name)
            if plan.after:
                message = f"`gcv` cannot judge what `{plan.after[0].name}` makes of the outputs"
                raise BlockProblem("MSL405", message, "use another estimate, such as `cv`", plan.after[0].name)
            learners.append(plan.learner.estimator())
            ways.append(self._fitter.way(plan.before, fold, diary, start))
            siblings[ways[-1].end.identity, type(learners[-1])].append(place)
        judged: dict[int, Generalisation] = {}
        for places in siblings.values():
            plan, stage = plans[places[0]], ways[places[0]].end
            diary.at(plan.learner.name)
            together = self._siblings([learners[place] for place in places], plan, stage, fold, diary)
            features = float(features_seen(None, stage.sources))
            for place, (score, own) in zip(places, together, strict=True):
                judged[place] = Generalisation(score, ways[place].complexity + own, features)
        return [judged[place] for place in range(len(plans))]

    def _siblings(
        self, learners: list[Any], plan: Plan, stage: Stage, fold: Fold, diary: Diary
    ) -> list[tuple[float, float]]:
        """The score and the complexity of learners of one class on the same rows."""
        diary.fits += len(learners)
        table = self._table(learners[0], stage, fold)
        if table is not None:
            scores, sizes = table.gcv(learners).tolist(), table.complexities(learners).tolist()
            return list(zip(scores, sizes, strict=True))
        if isinstance(learners[0], _LINEAR):
            return [(linear_gcv(learner, stage.X, fold.y), learner_complexity(learner)) for learner in learners]
        message = f"`gcv` needs a learner that is linear in its targets, and `{plan.learner.name}` is not known to be"
        raise BlockProblem("MSL405", message, "use another estimate, such as `cv`", plan.learner.name)

    def _table(self, learner: Any, stage: Stage, fold: Fold) -> GeneralisedTable | None:
        if not isinstance(learner, Block):
            return None
        key = fold.key_of(stage.identity, "gcv", type(learner).__qualname__)
        n_classes = self._fitter.ground.n_classes
        return self._fitter.cache.get(
            key,
            lambda: learner.generalised_table(stage.X, fold.y, n_classes, self._fitter.laid_out(learner, stage)),
            shared=(stage.X, fold.y),
        ).value


def linear_gcv(learner: Any, X: Floats, y: Floats) -> float:
    """GCV of a learner that takes several targets at once: fitted on the unit vectors, it gives its own matrix."""
    rows = len(X)
    errors = np.square(y - np.asarray(learner.fit(X, y).predict(X)).reshape(rows)).sum()
    freedom = rows - np.trace(clone(learner).fit(X, np.eye(rows)).predict(X))
    return float(rows * errors / freedom**2) if freedom > 1e-9 * rows else float("inf")
