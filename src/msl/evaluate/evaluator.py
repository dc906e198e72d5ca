"""Evaluator: one model in, one outcome out. Whatever a model does, it never raises."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from sklearn import config_context

from msl.evaluate.diary import Diary, FitFigures
from msl.evaluate.fitting import Fitter
from msl.evaluate.generalised import Generalisation
from msl.evaluate.ground import Ground
from msl.evaluate.judge import Judge
from msl.evaluate.listening import Listener
from msl.evaluate.outcome import Effort, Failure, Outcome
from msl.evaluate.plan import Plan, Planner
from msl.evaluate.prefix_cache import CacheFigures, PrefixCache
from msl.evaluate.racing import LostRace, Race
from msl.evaluate.trial import Trial
from msl.evaluate.trials import Trials
from msl.evaluate.trouble import failure_of
from msl.evaluate.with_all_features import with_all_features
from msl.space.digest import model_digest
from msl.space.spec import Call, Objective, loss_value, measures_of
from msl.space.value import Model

DEFAULT_CACHE_BYTES = 256_000_000
#: Outcomes that are remembered; each is small.
_MOST_REMEMBERED = 100_000


@dataclass(frozen=True, slots=True)
class Request:
    """A model to judge.

    `beat` is the loss that would matter: at or above it, a bound will do. `share` is the share of the rows to judge on.
    `turn` tells evaluations of one model apart where each draws its own split.
    """

    model: Model
    beat: float | None = None
    share: float = 1.0
    turn: int = 0


@dataclass(slots=True)
class _Case:
    """One request under judgement."""

    request: Request
    digest: str
    diary: Diary
    figures: dict[Call, FitFigures]

    @property
    def stream(self) -> int:
        """A number that stands for the model, to draw its own splits from."""
        return int(self.digest[:15], 16)


class Evaluator:
    """Judges models of one search on one table. Not to be shared between threads."""

    def __init__(
        self,
        ground: Ground,
        objectives: tuple[Objective, ...],
        seed: int = 0,
        trusted: Collection[str] = (),
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        on_step: Callable[[str], None] | None = None,
    ) -> None:
        """Raises ValueError when this table cannot be split as the objectives ask. No `cache_bytes`, no caches.

        `on_step` is told the name of each block that starts work, before it does.
        """
        self._ground, self._objectives, self._trusted = ground, objectives, trusted
        self._trials = Trials(ground, (objective.estimate for objective in objectives), seed)
        self._planner = Planner(ground.columns, ground.task, seed, trusted)
        self._cache = PrefixCache(cache_bytes)
        self._judge = Judge(Fitter(ground, self._cache), keeps=cache_bytes > 0)
        self._is_fresh = any(map(self._trials.is_fresh, self._trials.estimates))
        self._remembers = cache_bytes > 0
        self._on_step = on_step
        self._memo: dict[Hashable, Outcome] = {}
        self._generalised: dict[Hashable, Generalisation] = {}
        self._errors_with_all: dict[Hashable, float] = {}

    @property
    def cache_figures(self) -> CacheFigures:
        return self._cache.figures()

    def evaluate(self, model: Model, beat: float | None = None, share: float = 1.0, turn: int = 0) -> Outcome:
        """The losses of a model; one that cannot be fitted or judged gives a failure, never an exception."""
        return self.evaluate_many([Request(model, beat, share, turn)])[0]

    def evaluate_many(self, requests: Sequence[Request]) -> list[Outcome]:
        """The outcome of each request, the same as one by one; siblings that can be judged together are."""
        with Listener() as listener, config_context(assume_finite=True, skip_parameter_validation=True):
            if len(requests) > 1:
                self._generalise_together(requests)
            outcomes = [self._outcome(request, listener) for request in requests]
        self._generalised.clear()
        return outcomes

    def _outcome(self, request: Request, listener: Listener) -> Outcome:
        start = perf_counter()
        case = _Case(request, model_digest(request.model), Diary(self._on_step), {})
        key = (case.digest, request.share, request.turn if self._is_fresh else 0)
        known = self._memo.get(key)
        if known is not None and _is_enough(known, request.beat):
            return replace(known, effort=Effort(perf_counter() - start, remembered=True))
        listener.forget()
        losses: tuple[float, ...] = (float("inf"),) * len(self._objectives)
        measures: dict[str, float] = {}
        failure = None
        is_bound = False
        try:
            measures, losses = self._losses(case)
        except LostRace as lost:
            losses, is_bound = (lost.bound,), True
        except (Exception, SystemExit) as reason:  # a block may raise anything: it is a row, not the end of the run
            failure = failure_of(reason, case.diary.step)
        if failure is None and not all(map(np.isfinite, losses)):
            failure = Failure("not a number", f"the loss is {losses}", case.diary.step)
            losses = (float("inf"),) * len(self._objectives)
        diary = case.diary
        effort = Effort(perf_counter() - start, diary.fits, diary.fits_saved, diary.folds_skipped)
        outcome = Outcome(losses, measures, self._complexity(case), is_bound, failure, effort, listener.told)
        if self._remembers and (failure is None or failure.cause != "memory"):
            self._remember(key, outcome)
        return outcome

    def _complexity(self, case: _Case) -> float:
        """The mean over the fits of the first estimate, as far as they went."""
        figures = case.figures.get(self._objectives[0].estimate)
        return figures.means(1)["complexity"] if figures is not None and figures.complexities else 0.0

    def _remember(self, key: Hashable, outcome: Outcome) -> None:
        if len(self._memo) >= _MOST_REMEMBERED:
            del self._memo[next(iter(self._memo))]
        self._memo[key] = outcome

    # --- measures and losses ---

    def _losses(self, case: _Case) -> tuple[dict[str, float], tuple[float, ...]]:
        plan = self._planner.plan(case.request.model)
        found = {estimate: self._measures(plan, estimate, case) for estimate in self._trials.estimates}
        values = [loss_value(objective.loss, found[objective.estimate]) for objective in self._objectives]
        losses = tuple(
            value if objective.minimize else -value for value, objective in zip(values, self._objectives, strict=True)
        )
        return _named(found), losses

    def _measures(self, plan: Plan, estimate: Call, case: _Case) -> dict[str, float]:
        """The measures that objectives need of one estimate."""
        request = case.request
        figures = case.figures[estimate] = FitFigures()
        trial = self._trials.trial(estimate, case.stream, request.share, request.turn)
        wanted = sorted({name for o in self._objectives if o.estimate == estimate for name in measures_of(o.loss)})
        if estimate.name == "gcv":
            start = perf_counter()
            judged = self._generalised.get((case.digest, trial.key))
            if judged is None or trial.key is None:
                judged = self._judge.generalised([plan], trial, case.diary)[0]
            return self._judge.generalised_measures(judged, wanted, figures, perf_counter() - start)
        unit = self._error_with_all(trial, case) if "relative_error" in wanted else 1.0
        race = None
        if request.beat is not None and len(self._objectives) == 1:
            n_features = self._ground.columns.n_columns
            race = Race(self._objectives[0], request.beat, trial, self._ground.n_classes, n_features, unit)
        found = self._judge.measures(plan, trial, wanted, case.diary, figures, race)
        if "relative_error" in found:
            found["relative_error"] /= unit
        return found

    def _error_with_all(self, trial: Trial, case: _Case) -> float:
        """The error of the same model with every feature, at least that of one row: less cannot be told from it."""
        model = with_all_features(case.request.model, self._ground.task, self._trusted)
        key = (model_digest(model), trial.key)
        if trial.key is None or key not in self._errors_with_all:
            found = self._judge.measures(
                self._planner.plan(model), trial, ["error"], case.diary, FitFigures(), race=None
            )
            self._errors_with_all[key] = max(found["error"], 1.0 / len(trial.pools[0].rows))
        return self._errors_with_all[key]

    def _generalise_together(self, requests: Sequence[Request]) -> None:
        """Judges siblings at once where an estimate allows; what goes wrong will go wrong again one by one."""
        shared = [e for e in self._trials.estimates if e.name == "gcv" and not self._trials.is_fresh(e)]
        for estimate in shared:
            for share in {request.share for request in requests}:
                trial = self._trials.trial(estimate, 0, share, 0)
                models = [request.model for request in requests if request.share == share]
                try:
                    plans = [self._planner.plan(model) for model in models]
                    judged = self._judge.generalised(plans, trial, Diary(self._on_step))
                except Exception:
                    continue
                for model, one in zip(models, judged, strict=True):
                    self._generalised[model_digest(model), trial.key] = one


def _is_enough(known: Outcome, beat: float | None) -> bool:
    """Whether a remembered outcome answers a request: a bound only says that a loss is not below it."""
    return not known.bound or (beat is not None and known.losses[0] >= beat)


def _named(found: dict[Call, dict[str, float]]) -> dict[str, float]:
    """All measures by name; one that two estimates give is named after the estimate the second time."""
    named: dict[str, float] = {}
    for estimate, measures in found.items():
        for name, value in measures.items():
            named[f"{name} by {estimate.name}" if name in named else name] = value
    return named
