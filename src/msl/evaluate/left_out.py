"""Left out: leave-one-out without refits, for learners that offer it."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from sklearn.utils import get_tags

from msl.blocks.base import Block, Floats, LeaveOneOutTable
from msl.blocks.outputs import checked_outputs
from msl.evaluate.diary import Diary, FitFigures
from msl.evaluate.fitting import Fitter
from msl.evaluate.plan import Plan, PlannedStep
from msl.evaluate.splits import Split
from msl.evaluate.stages import Fold, Stage
from msl.evaluate.trial import Trial

#: What a learner may keep of a table, such as the distances between all rows feature by feature. It never depends on
#: the cache, since sums in another order may differ in their last digits.
_MEMORY = 1 << 28


class LeaveOneOuts:
    """Judges row by row in one go: exact only where no step before the learner looks at the rows left out."""

    def __init__(self, fitter: Fitter, keeps: bool) -> None:
        self._fitter, self._keeps = fitter, keeps
        self._kept: tuple[Any, LeaveOneOutTable | None] | None = None

    def outputs(self, plan: Plan, trial: Trial, diary: Diary, figures: FitFigures) -> Floats | None:
        """The outputs for all rows, in their order; None when each fold has to be fitted."""
        if plan.after or not all(map(self._is_row_by_row, plan.before)):
            return None
        diary.at(plan.learner.name)
        learner = plan.learner.estimator()
        if not isinstance(learner, Block) or _family(learner) is _family(Block()):
            return None
        rows = trial.pools[0].rows
        start = perf_counter()
        # One row to judge on, since some steps refuse none at all.
        fold = self._fitter.fold(Split(rows, rows[:1]), None if trial.key is None else (trial.key, "all"))
        way = self._fitter.way(plan.before, fold, diary)
        diary.at(plan.learner.name)
        table = self._table(plan, trial, learner, way.end, fold)
        if table is None or not table.serves(learner):
            return None
        left = table.left_out(learner)
        diary.fits_saved += len(rows)
        figures.add(left.features, way.complexity + left.complexity, (perf_counter() - start) / len(rows))
        return checked_outputs(left.outputs, len(rows), self._fitter.ground.n_classes)

    def _table(self, plan: Plan, trial: Trial, learner: Block, stage: Stage, fold: Fold) -> LeaveOneOutTable | None:
        """What siblings share. Only that of the last siblings is kept: it may be large."""
        key = (trial.key, stage.identity, _family(learner))
        if self._kept is not None and self._kept[0] == key:
            return self._kept[1]
        # Behind other steps the table is another one for almost every model, and not worth much memory.
        memory = 0 if plan.before else _MEMORY
        table = learner.leave_one_out_table(stage.X, fold.y, self._fitter.ground.n_classes, memory)
        if self._keeps and trial.key is not None and not plan.before:
            self._kept = (key, table)
        return table

    def _is_row_by_row(self, planned: PlannedStep) -> bool:
        if planned.branches:
            return all(self._is_row_by_row(inner) for branch in planned.branches for inner in branch)
        estimator = planned.estimator()
        return estimator.row_by_row if isinstance(estimator, Block) else not _requires_fit(estimator)


def _family(learner: Block) -> Any:
    """Blocks that make their tables in the same way are siblings, whatever their classes."""
    return getattr(type(learner).leave_one_out_table, "__func__", None)


def _requires_fit(estimator: Any) -> bool:
    try:
        return bool(get_tags(estimator).requires_fit)
    except Exception:  # a class that is no scikit-learn estimator says nothing of itself
        return True
