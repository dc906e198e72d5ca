"""Losses: from a model to one number an objective, through the measures that the objectives are made of."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from time import perf_counter

from msl.evaluate.case import Case
from msl.evaluate.diary import FitFigures
from msl.evaluate.ground import Ground
from msl.evaluate.judge import Judge
from msl.evaluate.plan import Planner
from msl.evaluate.racing import Race
from msl.evaluate.trial import Trial
from msl.evaluate.trials import Trials
from msl.evaluate.with_all_features import with_all_features
from msl.space.digest import model_digest
from msl.space.spec import Call, Objective, loss_value, measures_of


class Losses:
    """The objectives of one search on one table."""

    def __init__(
        self, ground: Ground, objectives: tuple[Objective, ...], seed: int, trusted: Collection[str], judge: Judge
    ) -> None:
        """Raises ValueError when the table cannot be split as the objectives ask."""
        self._ground, self._objectives, self._trusted, self._judge = ground, objectives, trusted, judge
        self._trials = Trials(ground, (objective.estimate for objective in objectives), seed)
        self._planner = Planner(ground.columns, ground.task, seed, trusted)
        self._errors_with_all: dict[Hashable, float] = {}
        self._wanted: dict[Call, list[str]] = {}
        for objective in objectives:
            wanted = self._wanted.setdefault(objective.estimate, [])
            wanted.extend(name for name in measures_of(objective.loss) if name not in wanted)

    def of(self, case: Case) -> tuple[dict[str, float], tuple[float, ...]]:
        """The measures of a model and its losses; raises LostRace, or whatever a block raises."""
        found = {estimate: self._measures(estimate, case) for estimate in self._trials.estimates}
        losses = []
        for objective in self._objectives:
            value = loss_value(objective.loss, found[objective.estimate])
            losses.append(value if objective.minimize else -value)
        return _named(found), tuple(losses)

    def complexity(self, case: Case) -> float:
        """That of the first estimate's models, as far as they were weighed."""
        figures = case.figures.get(self._objectives[0].estimate)
        return 0.0 if figures is None else figures.complexity

    def generalise(self, cases: Sequence[Case]) -> None:
        """Judges siblings together where an estimate allows; what goes wrong here goes wrong again one by one."""
        for estimate in self._trials.estimates:
            if estimate.name != "gcv" or self._trials.is_fresh(estimate):
                continue
            judged: dict[tuple[float, int], list[Case]] = {}
            for case in cases:
                judged.setdefault((case.request.share, case.request.turn), []).append(case)
            for siblings in judged.values():
                self._generalise(estimate, siblings)

    def _generalise(self, estimate: Call, cases: Sequence[Case]) -> None:
        trial = self._trials.trial(estimate, 0, cases[0].request.share, cases[0].request.turn)
        try:
            plans = [case.plan(self._planner) for case in cases]
            judged = self._judge.generalised(plans, trial, cases[0].diary)
        except Exception:
            return
        for case, one in zip(cases, judged, strict=True):
            case.generalised[estimate] = one

    def _measures(self, estimate: Call, case: Case) -> dict[str, float]:
        """The measures that objectives need of one estimate."""
        request, wanted = case.request, self._wanted[estimate]
        figures = case.figures[estimate] = FitFigures()
        plan = case.plan(self._planner)
        trial = self._trials.trial(estimate, case.stream, request.share, request.turn)
        if estimate.name == "gcv":
            start = perf_counter()
            one = case.generalised.get(estimate) or self._judge.generalised([plan], trial, case.diary)[0]
            return self._judge.generalised_measures(one, wanted, figures, perf_counter() - start)
        unit = self._error_with_all(trial, case) if "relative_error" in wanted else 1.0
        race = None
        if request.beat is not None and len(self._objectives) == 1:
            n_features = self._ground.columns.n_columns
            race = Race(self._objectives[0], request.beat, trial, self._ground.n_classes, n_features, unit)
        found = self._judge.measures(plan, trial, wanted, case.diary, figures, race)
        if "relative_error" in found:
            found["relative_error"] /= unit
        return found

    def _error_with_all(self, trial: Trial, case: Case) -> float:
        """The error of the same model with every feature, at least that of one row: less cannot be told from it."""
        model = with_all_features(case.request.model, self._ground.task, self._trusted)
        # Of later turns there may be as many as evaluations, and each is asked for once.
        key = None if trial.key is None or case.request.turn else (model_digest(model), trial.key)
        if key is not None and key in self._errors_with_all:
            return self._errors_with_all[key]
        plan = self._planner.plan(model)
        found = self._judge.measures(plan, trial, ["error"], case.diary, FitFigures(), race=None)
        error = max(found["error"], 1.0 / len(trial.pools[0].rows))
        if key is not None:
            self._errors_with_all[key] = error
        return error


def _named(found: dict[Call, dict[str, float]]) -> dict[str, float]:
    """All measures by name; one that two estimates give is named after the estimate the second time."""
    named: dict[str, float] = {}
    for estimate, measures in found.items():
        for name, value in measures.items():
            named[f"{name} by {estimate.name}" if name in named else name] = value
    return named
