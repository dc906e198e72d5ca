"""Judge: a planned model and the splits of an estimate in, its measures out."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from msl.blocks.base import Floats
from msl.evaluate.diary import Diary, FitFigures
from msl.evaluate.fitting import Fitter
from msl.evaluate.generalised import Generalisation, Generaliser
from msl.evaluate.left_out import LeaveOneOuts
from msl.evaluate.plan import Plan
from msl.evaluate.racing import LostRace, Race
from msl.evaluate.trial import Trial
from msl.space.measure import MEASURES


class Judge:
    """Judges models on one table; `weighs_all` says that the complexity of every fit counts."""

    def __init__(self, fitter: Fitter, keeps: bool, weighs_all: bool) -> None:
        self._fitter, self._weighs_all = fitter, weighs_all
        self._left_out = LeaveOneOuts(fitter, keeps)
        self._generaliser = Generaliser(fitter)

    def measures(
        self, plan: Plan, trial: Trial, wanted: Collection[str], diary: Diary, figures: FitFigures, race: Race | None
    ) -> dict[str, float]:
        """The measures that are asked for; raises LostRace when a race makes the rest superfluous.

        `relative_error` comes as the error itself: only the caller knows that of the model with all features.
        """
        of_outputs = [name for name in wanted if not MEASURES[name].of_model]
        outputs = self.outputs(plan, trial, diary, figures, race)
        found = {name: trial.score(name, outputs, self._fitter.ground.n_classes) for name in of_outputs}
        return found | self._of_fits(figures, wanted)

    def generalised(self, plans: Sequence[Plan], trial: Trial, diary: Diary) -> list[Generalisation]:
        """Generalised cross-validation of models, which may be siblings."""
        fold = self._fitter.fold(trial.splits[0], trial.fold_key(0))
        return self._generaliser.judge(plans, fold, diary)

    def generalised_measures(
        self, judged: Generalisation, wanted: Collection[str], figures: FitFigures, seconds: float
    ) -> dict[str, float]:
        """The measures that are asked for, out of a generalised cross-validation."""
        figures.add(judged.features, judged.complexity, seconds)
        errors = {"mse": judged.score, "rmse": float(np.sqrt(judged.score))}
        return {name: errors[name] for name in wanted if name in errors} | self._of_fits(figures, wanted)

    def outputs(
        self, plan: Plan, trial: Trial, diary: Diary, figures: FitFigures, race: Race | None = None
    ) -> list[Floats]:
        """The outputs of each pool, in the order of its rows; raises LostRace when a race makes them superfluous."""
        if trial.is_by_row and (left_out := self._left_out.outputs(plan, trial, diary, figures)) is not None:
            return [left_out]
        outputs: list[list[Floats]] = [[] for _ in trial.pools]
        for position, split in enumerate(trial.splits):
            # Unless it is an objective, complexity only tells equals apart, for which that of one fit will do.
            is_weighed = self._weighs_all or position == 0
            fold = self._fitter.fold(split, trial.fold_key(position), is_weighed)
            outputs[split.pool].append(self._fitter.outputs(plan, fold, diary, figures))
            left = len(trial.splits) - position - 1
            if race is not None and left:
                try:
                    race.add(split.pool, outputs[split.pool][-1], figures)
                except LostRace:
                    diary.folds_skipped += left
                    raise
        return [np.concatenate(pool) for pool in outputs]

    def _of_fits(self, figures: FitFigures, wanted: Collection[str]) -> dict[str, float]:
        known = figures.means(self._fitter.ground.columns.n_columns)
        return {name: value for name, value in known.items() if name in wanted}
