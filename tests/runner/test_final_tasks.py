"""The last fits of a run keep to the time that is left, and what a run cannot do without is waited for."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from search_cases import SPACE, commissioned, write_classes

from msl.evaluate.final_fits import FitRequest
from msl.evaluate.outcome import Outcome
from msl.runner.choose_winner import Candidate
from msl.runner.confidence_intervals import interval_work
from msl.runner.time_limit import ClosingTime, FinalCosts, FinalTasks, TimeLimit, TimeReserve, fit_factor
from msl.space.values import Model
from msl.store.evaluation import Evaluation, EvaluationInputs
from msl.workers.executor import Executor


class Clock:
    """Time that passes only when a task takes it."""

    now = 1000.0

    def __call__(self) -> float:
        return Clock.now


class Slow(Executor):
    """Each task takes its seconds of the clock; one that takes for ever is done when it is abandoned."""

    width = 1  # type: ignore[assignment]

    def __init__(self, seconds: dict[Any, float]) -> None:
        self.seconds, self.begun, self.abandoned, self._running = seconds, [], 0, []

    def submit(self, task: Any) -> Future[Outcome]:
        future: Future[Outcome] = Future()
        self.begun.append(task.model)
        if self.seconds[task.model] == float("inf"):
            future.set_running_or_notify_cancel()
            self._running.append(future)
        else:
            Clock.now += self.seconds[task.model]
            future.set_result(Outcome((), product=task.model))
        return future

    def abandon(self, futures: list[Future[Outcome]]) -> None:
        from concurrent.futures import CancelledError

        self.abandoned += 1
        for future in futures:
            future.set_exception(CancelledError())

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        pass


MODELS = [Model(()), *(Model((place,)) for place in range(1, 6))]  # type: ignore[arg-type]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("msl.runner.time_limit.monotonic", Clock())


def tasks_of(executor: Slow, limit: float | None, expected: dict[Any, float] | None = None) -> FinalTasks:
    costs = FinalCosts(expected or executor.seconds, 1.0)
    return FinalTasks(executor, TimeLimit(limit, Clock.now), costs)


def products(outcomes: list[Outcome | None]) -> list[Any]:
    return [None if outcome is None else outcome.product for outcome in outcomes]


def test_without_a_limit_everything_is_done(clock: None) -> None:
    executor = Slow(dict.fromkeys(MODELS, 100.0))
    assert products(tasks_of(executor, None).run([FitRequest(model) for model in MODELS])) == MODELS


def test_nothing_is_begun_that_cannot_end_in_time(clock: None) -> None:
    executor = Slow(dict(zip(MODELS, (2.0, 50.0, 2.0, 2.0, 2.0, 2.0), strict=True)))
    found = products(tasks_of(executor, 7.0).run([FitRequest(model) for model in MODELS]))
    assert found == [MODELS[0], None, MODELS[2], MODELS[3], None, None]
    assert executor.abandoned == 0


def test_what_is_needed_is_waited_for_however_long_it_takes(clock: None) -> None:
    executor = Slow(dict.fromkeys(MODELS, 30.0))
    found = products(tasks_of(executor, 7.0).run([FitRequest(model) for model in MODELS], needed=1))
    assert found == [MODELS[0], *[None] * 5]


def test_what_takes_longer_than_expected_is_ended_when_the_time_is_up() -> None:
    """On the real clock, which is what futures are waited for by."""
    executor = Slow({MODELS[0]: 0.0, MODELS[1]: float("inf"), MODELS[2]: 0.0})
    tasks = FinalTasks(executor, TimeLimit(0.2), FinalCosts(dict.fromkeys(MODELS, 0.01), 1.0))
    found = products(tasks.run([FitRequest(model) for model in MODELS[:3]]))
    assert found == [MODELS[0], None, None]
    assert executor.abandoned == 1


def test_members_are_as_many_as_there_is_time_for(clock: None) -> None:
    executor = Slow({**dict.fromkeys(MODELS, 1.0), MODELS[1]: 50.0})
    candidates = [Candidate(model, (place / 10,), 1.0) for place, model in enumerate(MODELS)]
    found = tasks_of(executor, 10.0).affordable(candidates, 0.8)
    assert found == [candidates[0], *candidates[2:4]], "each is judged again and fitted, with some caution"
    assert tasks_of(executor, None).affordable(candidates) == candidates
    assert tasks_of(executor, 0.0).affordable(candidates) == []


def test_progress_counts_up_to_what_is_wanted(clock: None) -> None:
    heard: list[tuple[int, int]] = []
    executor = Slow(dict.fromkeys(MODELS, 4.0))
    costs = FinalCosts(executor.seconds, 1.0)
    tasks = FinalTasks(executor, TimeLimit(9.0, Clock.now), costs, lambda *figures: heard.append(figures))
    tasks.run([FitRequest(model) for model in MODELS])
    assert heard[0] == (0, 6)
    assert heard[-1] == (6, 6)
    assert [done for done, _ in heard] == sorted(done for done, _ in heard)


def judged(loss: float, seconds: float, **more: Any) -> Evaluation:
    question = EvaluationInputs(model=f"{loss} {seconds}", versions="", data="", protocol="", seed=0, **more)
    return Evaluation(question, "m", (loss,), seconds=seconds)


def test_the_search_leaves_time_for_its_best_models(tmp_path: Path) -> None:
    text = f"{SPACE}minimize ber by cv(folds = 3)\nsearch grid\nensemble vote(top = 3)\nbudget(time = 100s)\n"
    plan = commissioned(tmp_path, text, write_classes(tmp_path)).plan
    told = ClosingTime(plan, 100.0).seconds(1)
    reserve = TimeReserve(plan, 1)
    assert reserve.seconds == 0.0
    reserve.add(judged(0.5, 1.0))
    alone = reserve.seconds
    assert alone == pytest.approx(1.3 * (1.5 + 1.0) + told, abs=0.02), "a fit, an evaluation, one on halves"
    reserve.add(judged(0.5, 1.0))
    reserve.add(judged(0.9, 50.0, share=0.5))
    assert reserve.seconds == alone, "what is known already, and what was judged on some rows, is no member"
    for place in range(5):
        reserve.add(judged(0.4 - place / 100, 2.0))
    assert reserve.seconds == pytest.approx(1.3 * (3 * 1.5 + 1.0) * 2.0 + told, abs=0.1), "the three best, 2 s each"
    reserve.add(judged(0.1, 30.0))
    assert reserve.seconds > 1.3 * 1.5 * 30.0


def test_the_time_of_a_fit_follows_from_the_rows_it_has(tmp_path: Path) -> None:
    text = f"{SPACE}minimize ber by {{}}\nsearch grid\n"
    table = write_classes(tmp_path)
    factors = {
        estimate: fit_factor(commissioned(tmp_path, text.format(estimate), table).plan)
        for estimate in ("holdout(0.25)", "cv(folds = 3)", "cv(folds = 5)", "cv(folds = 10)", "loo()")
    }
    assert list(factors.values()) == pytest.approx([4 / 3, 0.5, 0.25, 0.25, 0.5], abs=0.03)


def test_what_is_not_done_is_not_reserved_for(tmp_path: Path) -> None:
    """With one model there is no ensemble to choose; rows are drawn for metrics that are not counts; and of members
    that are chosen among all models the dearest need not be fitted."""
    text = f"{SPACE}minimize ber by cv(folds = 3)\nsearch grid\nensemble greedy()\nbudget(time = 100s)\n"
    path = write_classes(tmp_path, rows=3_000)
    counted = ClosingTime(commissioned(tmp_path, text, path).plan, 100.0)
    drawn = ClosingTime(commissioned(tmp_path, text.replace("ber", "logloss"), path).plan, 100.0)
    called = ClosingTime(commissioned(tmp_path, text.replace("minimize ber", "maximize kappa"), path).plan, 100.0)
    assert counted.seconds(2) > counted.seconds(1) + 0.1, "two can be an ensemble"
    assert counted.seconds(9) > counted.seconds(2)
    assert drawn.seconds(1) - counted.seconds(1) == pytest.approx(2 * 7e-8 * 1_000 * 3_000, rel=0.01)
    assert called.seconds(9) > counted.seconds(9) + 0.5
    plan = commissioned(tmp_path, text.replace("100s", "1000s"), path).plan
    reserve, closing = TimeReserve(plan, 2), ClosingTime(plan, 1000.0)
    for place in range(6):
        reserve.add(judged(0.1 + place / 100, 10.0))
    assert reserve.seconds - closing.seconds(6) < 1.3 * (10.0 + 5 * 0.5 * 10.0)
    held = commissioned(tmp_path, text.replace("ber by cv(folds = 3)", "logloss by holdout(0.25)"), path).plan
    slow = commissioned(tmp_path, text.replace("ber", "logloss"), path).plan
    assert interval_work(held) < 0.3 * interval_work(slow)


def test_without_a_budget_of_time_nothing_is_reserved(tmp_path: Path) -> None:
    plan = commissioned(tmp_path, f"{SPACE}search grid\n", write_classes(tmp_path)).plan
    reserve = TimeReserve(plan, 1)
    reserve.add(judged(0.5, 100.0))
    assert reserve.seconds == 0.0
