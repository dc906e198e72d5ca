"""Evaluator: one model in, one outcome out. Whatever a model does, it never raises."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter

from sklearn import config_context

from msl.evaluate.case import Case, Request
from msl.evaluate.diary import Diary
from msl.evaluate.fitting import Fitter
from msl.evaluate.ground import Ground
from msl.evaluate.judge import Judge
from msl.evaluate.listening import Listener
from msl.evaluate.losses import Losses
from msl.evaluate.outcome import Effort, Failure, Outcome
from msl.evaluate.prefix_cache import CacheFigures, PrefixCache
from msl.evaluate.racing import LostRace
from msl.evaluate.trouble import failure_of
from msl.space.spec import Objective, measures_of
from msl.space.value import Model

__all__ = ["DEFAULT_CACHE_BYTES", "Evaluator", "Request"]

DEFAULT_CACHE_BYTES = 256_000_000
#: Outcomes that are remembered; each is small.
_MOST_REMEMBERED = 100_000


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
        """Raises ValueError when this table cannot be split as the objectives ask. No `cache_bytes`, no caches; none
        either where the time of a fit is an objective, which must not depend on what was fitted before.

        `on_step` is told the name of each block that starts work, before it does.
        """
        measured = {name for objective in objectives for name in measures_of(objective.loss)}
        if "fit_time" in measured:
            cache_bytes = 0
        self._n_objectives, self._on_step = len(objectives), on_step
        self._cache = PrefixCache(cache_bytes, lent=(ground.X, ground.y))
        judge = Judge(Fitter(ground, self._cache), keeps=cache_bytes > 0, weighs_all="complexity" in measured)
        self._losses = Losses(ground, objectives, seed, trusted, judge)
        self._remembers = cache_bytes > 0
        self._memo: dict[Hashable, Outcome] = {}

    @property
    def cache_figures(self) -> CacheFigures:
        return self._cache.figures()

    def evaluate(self, model: Model, beat: float | None = None, share: float = 1.0, turn: int = 0) -> Outcome:
        """The losses of a model; one that cannot be fitted or judged gives a failure, never an exception."""
        return self.evaluate_many([Request(model, beat, share, turn)])[0]

    def evaluate_many(self, requests: Sequence[Request]) -> list[Outcome]:
        """The outcome of each request, the same as one by one; siblings that can be judged together are."""
        with Listener() as listener, config_context(assume_finite=True, skip_parameter_validation=True):
            cases = [Case.of(request, Diary(self._on_step)) for request in requests]
            if len(cases) > 1:
                self._losses.generalise([case for case in cases if self._known(case) is None])
            return [self._outcome(case, listener) for case in cases]

    def _outcome(self, case: Case, listener: Listener) -> Outcome:
        start = perf_counter()
        known = self._known(case)
        if known is not None:
            return replace(known, effort=Effort(perf_counter() - start, remembered=True))
        listener.forget()
        losses, measures, is_bound, failure = self._nothing(), dict[str, float](), False, None
        try:
            measures, losses = self._losses.of(case)
        except LostRace as lost:
            losses, is_bound = (lost.bound,), True
        except (Exception, SystemExit) as reason:  # a block may raise anything: it is a row, not the end of the run
            failure = failure_of(reason, case.diary.step)
        if failure is None and not all(map(math.isfinite, losses)):
            failure = Failure("not a number", _why_not_finite(measures, losses), case.diary.step)
            losses = self._nothing()
        diary = case.diary
        effort = Effort(perf_counter() - start, diary.fits, diary.fits_saved, diary.folds_skipped)
        size = self._losses.complexity(case)
        outcome = Outcome(losses, measures, size, is_bound, failure, effort, listener.told)
        if self._remembers and (failure is None or failure.cause != "memory"):
            self._remember(self._key(case), outcome)
        return outcome

    def _nothing(self) -> tuple[float, ...]:
        """The losses of a model that has none."""
        return (math.inf,) * self._n_objectives

    # --- what was judged before ---

    def _key(self, case: Case) -> Hashable:
        return case.digest, case.request.share, case.request.turn

    def _known(self, case: Case) -> Outcome | None:
        """The remembered outcome, if it answers the request: a bound only says that a loss is not below it."""
        known = self._memo.get(self._key(case))
        if known is None or not known.bound:
            return known
        beat = case.request.beat
        return known if beat is not None and known.losses[0] >= beat else None

    def _remember(self, key: Hashable, outcome: Outcome) -> None:
        if len(self._memo) >= _MOST_REMEMBERED:
            del self._memo[next(iter(self._memo))]
        self._memo[key] = outcome


def _why_not_finite(measures: Mapping[str, float], losses: tuple[float, ...]) -> str:
    """What made a loss infinite or not a number, as far as the measures show it."""
    names = [f"`{name}`" for name, value in measures.items() if not math.isfinite(value)]
    if measures.get("complexity") == math.inf:
        return "`complexity` is not known of a class that is not ours and has no method `complexity`"
    if not names:
        return f"the loss is {', '.join(map(str, losses))}"
    one_class = "; they may all be of one class" if any(name.startswith("`auc") for name in names) else ""
    return f"{' and '.join(names)} cannot be told of the rows that are judged{one_class}"
