"""The last fits of a run on its executor: as many at once as there are workers, as long as there is time.

Nothing is begun that cannot be expected to end in time, and what is not done when the time is up is ended, except for
what the run cannot do without.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait

from msl.engine.final_costs import FinalCosts, fit_factor
from msl.engine.loop import Search
from msl.engine.plan import Plan
from msl.engine.time_limit import TimeLimit
from msl.engine.verdict import Candidate
from msl.evaluate.executors.executor import Executor
from msl.evaluate.executors.task import AnyTask
from msl.evaluate.outcome import Outcome
from msl.space.value import Model


class FinalTasks:
    """`on_done` hears how many tasks are done, and of how many that are known of."""

    def __init__(
        self,
        executor: Executor,
        limit: TimeLimit,
        costs: FinalCosts,
        on_done: Callable[[int, int], None] = lambda done, wanted: None,
    ) -> None:
        self._executor, self.limit, self.costs, self._on_done = executor, limit, costs, on_done
        self._done = self._wanted = 0

    def run(self, tasks: Sequence[AnyTask], needed: int = 0) -> list[Outcome | None]:
        """The outcomes in the order of the tasks; None for those that were not begun, or not done in time.

        The first `needed` are waited for however long they take.
        """
        found: list[Outcome | None] = [None] * len(tasks)
        running: dict[Future[Outcome], int] = {}
        places = iter(range(len(tasks)))
        self._wanted += len(tasks)
        self._on_done(self._done, self._wanted)
        is_over = False
        while True:
            while not is_over and len(running) < self._executor.width:
                place = next(places, None)
                if place is None:
                    break
                if place < needed or self.costs.of(tasks[place]) <= self.limit.left:
                    running[self._executor.submit(tasks[place])] = place
                else:
                    self._count()
            if not running:
                return found
            is_needed = any(place < needed for place in running.values())
            timeout = None if is_needed or self.limit.seconds is None else self.limit.left
            done, _ = wait(running, timeout, FIRST_COMPLETED)
            for future in done:
                found[running.pop(future)] = _outcome(future)
                self._count()
            if not done:  # the time is up
                is_over = True
                self._executor.abandon(list(running))
                for future in list(running):
                    found[running.pop(future)] = _outcome(future)

    def affordable(self, candidates: Sequence[Candidate], share: float = 1.0) -> list[Candidate]:
        """Those that can be judged again and fitted in a share of the time left, the first before the others; one that
        takes too long is passed over for those after it."""
        left = self.limit.left * share * self._executor.width
        found = []
        for candidate in candidates:
            cost = self.costs.of_member(candidate.model)
            if cost <= left:
                left -= cost
                found.append(candidate)
        return found

    def _count(self) -> None:
        self._done += 1
        self._on_done(self._done, self._wanted)


def _outcome(future: Future[Outcome]) -> Outcome | None:
    try:
        return future.result(timeout=0)
    except (CancelledError, TimeoutError):
        return None


def final_costs(plan: Plan, found: Search) -> FinalCosts:
    """What the last fits of a search may take."""
    seconds: dict[Model, float] = {}
    for model, evaluation in found.answers.met.values():
        if evaluation.question.share == 1.0:
            seconds[model] = max(seconds.get(model, 0.0), evaluation.seconds)
    return FinalCosts(seconds, fit_factor(plan))
