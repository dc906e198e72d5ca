"""Leave-one-out and generalised cross-validation from one fit, for learners that can do so."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from sklearn.utils import get_tags

from msl.blocks.base.block import Block, Floats, GcvTable, LooTable
from msl.blocks.base.check_outputs import checked_outputs
from msl.blocks.base.complexity import learner_complexity
from msl.blocks.base.load import BlockProblem, estimator_code
from msl.blocks.base.row_weights import counts_rows
from msl.evaluate.fit import LINEAR, Fitter, as_taken, features_seen, linear_gcv
from msl.evaluate.model_plan import Fold, FoldData, ModelPlan, PlannedStep, PrefixResult
from msl.evaluate.outcome import EvaluationLog, FitFigures
from msl.evaluate.resampling import Resampling
from msl.evaluate.splits import Split

#: The bytes that a learner may use for a table, such as the distances between all rows per feature. It does not depend
#: on the size of the cache, since sums in another order may differ in their last digits.
_MEMORY = 1 << 28


class LooShortcut:
    """Leave-one-out outputs without refits: exact only where no step before the learner uses the row left out."""

    def __init__(self, fitter: Fitter, keeps: bool) -> None:
        self._fitter, self._keeps = fitter, keeps
        self._kept: tuple[Any, LooTable | None] | None = None

    def outputs(
        self, plan: ModelPlan, resampling: Resampling, log: EvaluationLog, figures: FitFigures
    ) -> Floats | None:
        """The outputs for all rows, in their order; None when each fold has to be fitted."""
        if plan.after or not all(map(self._is_row_by_row, plan.before)):
            return None
        log.at(plan.learner.name)
        learner = plan.learner.estimator()
        if not isinstance(learner, Block) or _family(learner) is _family(Block()):
            return None
        if counts_rows(learner, self._fitter.dataset.weights):  # the tables count all rows the same
            return None
        rows = resampling.pools[0].rows
        start = perf_counter()
        # One test row, since some steps refuse an empty table.
        fold = self._fitter.fold(Split(rows, rows[:1]), None if resampling.key is None else (resampling.key, "all"))
        prefix = self._fitter.prefix(plan.before, fold, log)
        log.at(plan.learner.name)
        table = self._table(plan, resampling, learner, as_taken(learner, prefix.end), fold)
        with estimator_code:
            if table is None or not table.serves(learner):
                return None
            loo = table.loo(learner)
        log.fits_saved += len(rows)
        figures.add(loo.features, prefix.complexity + loo.complexity, (perf_counter() - start) / len(rows))
        return checked_outputs(loo.outputs, len(rows), self._fitter.dataset.n_classes)

    def _table(
        self, plan: ModelPlan, resampling: Resampling, learner: Block, stage: FoldData, fold: Fold
    ) -> LooTable | None:
        """The table that learners of one family share. Only the last one is kept, since it may be large."""
        key = (resampling.key, stage.identity, _family(learner))
        if self._kept is not None and self._kept[0] == key:
            return self._kept[1]
        # After other steps almost every model has a table of its own, which is not worth much memory.
        memory = 0 if plan.before else _MEMORY
        with estimator_code:
            table = learner.loo_table(stage.X, fold.y, self._fitter.dataset.n_classes, memory)
        if self._keeps and resampling.key is not None and not plan.before:
            self._kept = (key, table)
        return table

    def _is_row_by_row(self, planned: PlannedStep) -> bool:
        if planned.branches:
            return all(self._is_row_by_row(inner) for branch in planned.branches for inner in branch)
        estimator = planned.estimator()
        return estimator.row_by_row if isinstance(estimator, Block) else not _requires_fit(estimator)


def _family(learner: Block) -> Any:
    """Blocks that make their tables by the same method are one family, whatever their classes."""
    return getattr(type(learner).loo_table, "__func__", None)


def _requires_fit(estimator: Any) -> bool:
    try:
        return bool(get_tags(estimator).requires_fit)
    except Exception:  # a class that is not a scikit-learn estimator has no tags
        return True


# --- generalised cross-validation, from one fit on all rows -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GcvResult:
    """The score of a model, as a mean squared error, and the figures of its fit."""

    score: float
    complexity: float
    features: float


class GcvShortcut:
    """GCV of models on the training rows of a fold; those with the same class of learner share work."""

    def __init__(self, fitter: Fitter) -> None:
        self._fitter = fitter

    def results(self, plans: Sequence[ModelPlan], fold: Fold, log: EvaluationLog) -> list[GcvResult]:
        """One for each plan; other plans beside it do not change a result."""
        siblings: dict[tuple[str, type], list[int]] = defaultdict(list)
        learners: list[Any] = []
        prefixes: list[PrefixResult] = []
        start = self._fitter.start(fold)
        for place, plan in enumerate(plans):
            log.at(plan.learner.name)
            refuse_posts(plan)
            learners.append(plan.learner.estimator())
            prefixes.append(self._fitter.prefix(plan.before, fold, log, start))
            siblings[prefixes[-1].end.identity, type(learners[-1])].append(place)
        found: dict[int, GcvResult] = {}
        for places in siblings.values():
            plan, stage = plans[places[0]], as_taken(learners[places[0]], prefixes[places[0]].end)
            log.at(plan.learner.name)
            scored = self._siblings([learners[place] for place in places], plan, stage, fold, log)
            features = float(features_seen(None, stage.sources))
            for place, (score, own) in zip(places, scored, strict=True):
                found[place] = GcvResult(score, prefixes[place].complexity + own, features)
        return [found[place] for place in range(len(plans))]

    def _siblings(
        self, learners: list[Any], plan: ModelPlan, stage: FoldData, fold: Fold, log: EvaluationLog
    ) -> list[tuple[float, float]]:
        """The score and the complexity of learners of one class on the same rows."""
        log.fits += len(learners)
        table = self._table(learners[0], stage, fold)
        with estimator_code:
            if table is not None:
                scores, sizes = table.gcv(learners).tolist(), table.complexities(learners).tolist()
                return list(zip(scores, sizes, strict=True))
            if isinstance(learners[0], LINEAR):
                fitted = [learner.fit(stage.X, fold.y) for learner in learners]
                return [(linear_gcv(learner, stage.X, fold.y), learner_complexity(learner)) for learner in fitted]
        raise not_linear(plan)

    def _table(self, learner: Any, stage: FoldData, fold: Fold) -> GcvTable | None:
        if not isinstance(learner, Block):
            return None
        key = fold.key_of(stage.identity, "gcv", type(learner).__qualname__)
        n_classes = self._fitter.dataset.n_classes

        def made() -> GcvTable | None:
            laid_out = self._fitter.laid_out(learner, stage)
            with estimator_code:
                return learner.gcv_table(stage.X, fold.y, n_classes, laid_out)

        return self._fitter.cache.get(key, made, shared=(stage.X, fold.y)).value


def refuse_posts(plan: ModelPlan) -> None:
    """Raises BlockProblem for a model whose outputs are changed after its learner."""
    if plan.after:
        message = f"`gcv` cannot estimate what `{plan.after[0].name}` makes of the outputs"
        raise BlockProblem("MSL405", message, "use another estimate, such as `cv`", plan.after[0].name)


def not_linear(plan: ModelPlan) -> BlockProblem:
    message = f"`gcv` needs a learner that is linear in its targets, and `{plan.learner.name}` is not known to be"
    return BlockProblem("MSL405", message, "use another estimate, such as `cv`", plan.learner.name)
