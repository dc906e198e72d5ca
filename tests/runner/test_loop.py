"""The loop of a run: what is evaluated and what is believed, when it stops, and how it comes back to where it was."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Generator, Iterable
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from search_cases import commissioned, write_classes

from msl.evaluate.outcome import Outcome
from msl.evaluate.racing import Margin
from msl.runner.loop import Progress, SearchResult, search
from msl.runner.reuse_or_evaluate import RunCounts
from msl.runner.session import RunRequest, start_or_resume
from msl.runner.time_limit import TimeLimit
from msl.search.base import Event, Observation, Query, Vector, ended
from msl.search.strategy_context import Setting, Strategy, StrategyFunction
from msl.store.evaluation import StoredFailure, StoredQuery
from msl.store.store import Store
from msl.workers.in_process import InProcessExecutor
from msl.workers.task import AnyTask, Job, Task

SPACE = "use sbm\nchain m = knn(k: int 1..4, weighting: uniform | inverse, rest = default)\n"
GOAL = "minimize error by cv(folds = 3)\n"
SWARM = SPACE + GOAL + "search pso(swarm = 4, iterations = 5)\n"


class Watched(InProcessExecutor):
    """Evaluates in this process and keeps what it was asked for."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.asked: list[Task] = []

    def arrivals(self, tasks: Iterable[AnyTask]) -> Generator[list[tuple[int, Outcome]], None, None]:
        wanted = [task for task in tasks if isinstance(task, Task)]
        self.asked += wanted
        return super().arrivals(wanted)


@dataclass(frozen=True)
class Done:
    """A run as far as it went: what came of it, what the store has of it, and what was evaluated for it."""

    run: str
    found: SearchResult
    asks: list[StoredQuery]
    evaluated: list[Task]
    progress: list[Progress]

    @property
    def losses(self) -> list[float]:
        return [one.loss for _, one in self.found.history]


def looped(
    request: RunRequest,
    folder: Path,
    *,
    limit: TimeLimit | None = None,
    stopped: Callable[[], bool] = lambda: False,
    terminated: Callable[[], bool] = lambda: False,
    only: Collection[int] | None = None,
) -> Done:
    """One run of the loop; a run in this folder that was interrupted goes on."""
    told: list[Progress] = []
    plan = request.plan
    with Store.open(folder) as store, Watched(plan.job) as executor:
        run, _ = start_or_resume(store, request)
        found = search(
            plan,
            store,
            run,
            executor,
            limit=limit,
            progress=told.append,
            stopped=stopped,
            terminated=terminated,
            only=only,
        )
        store.runs.end(run, "interrupted" if found.ending == "interrupted" else "finished", {})
        return Done(run, found, store.runs.queries(run), executor.asked, told)


def after(times: int) -> Callable[[], bool]:
    """Says no so many times less one, and then yes for ever."""
    asked = count(1)
    return lambda: next(asked) >= times


@pytest.fixture
def swarm(tmp_path: Path) -> RunRequest:
    return commissioned(tmp_path, SWARM, write_classes(tmp_path, 45))


def scripted(request: RunRequest, *batches: list[Query]) -> tuple[RunRequest, list[list[Observation]]]:
    """The same with a strategy that asks for these batches, and all that it is told."""
    heard: list[list[Observation]] = []

    def strategy(setting: Setting) -> Strategy:
        for number, batch in enumerate(batches):
            setting.note(Event("batch", {"number": number}))
            heard.append((yield batch))
            setting.note(Event("heard", {"losses": np.array([one.loss for one in heard[-1]])}))
        setting.note(ended("it has read its script"))

    return with_strategy(request, strategy), heard


def with_strategy(request: RunRequest, strategy: StrategyFunction) -> RunRequest:
    (stage,) = request.plan.stages
    plan = replace(request.plan, stages=(replace(stage, strategy=strategy, options={}),))
    return replace(request, plan=plan)


def at(k: int) -> Vector:
    """The point of the uniform vote of `k` neighbours."""
    return np.array([(k - 0.5) / 4, 0.25])


def test_the_points_of_these_tests_are_the_models_that_they_are_said_to_be(swarm: RunRequest) -> None:
    decode = swarm.plan.search_spaces[0].codec.model
    assert [dict(decode(at(k)).steps[0].params)["k"] for k in (1, 2, 3, 4)] == [1, 2, 3, 4]  # type: ignore[union-attr]


# --- a batch -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("beats", [(0.001, 0.9), (0.9, 0.001), (0.001, None), (None, 0.001), (0.9, None), (None, 0.9)])
def test_of_two_that_ask_for_one_model_the_one_that_wants_to_know_more_is_evaluated(
    swarm: RunRequest, tmp_path: Path, beats: tuple[float | None, float | None]
) -> None:
    """A race against 0.001 is lost in the first fold; what comes of it is no answer to who would hear of 0.9."""
    asks = [Query(at(2), cutoff=cutoff) for cutoff in beats]
    request, heard = scripted(swarm, asks)
    done = looped(request, tmp_path / "store")
    higher = max(beats, key=lambda cutoff: math.inf if cutoff is None else cutoff)
    rows = np.array([len(request.plan.table)])
    stops_at = None if higher is None else Margin.of(request.plan.objectives[0], rows).beyond(higher)
    assert [task.cutoff for task in done.evaluated] == [stops_at]
    assert done.found.ending == "finished"
    (told,) = heard
    assert 0.001 < told[0].loss == told[1].loss < 0.9, "both are told what the one evaluation came to"
    assert [one.bound for one in told] == [cutoff == 0.001 for cutoff in beats]
    assert [asked.cutoff for asked in done.asks] == list(beats)


def test_where_every_loss_counts_there_are_no_races(tmp_path: Path) -> None:
    """The vote of the best models needs to know who they are."""
    text = SWARM + "ensemble vote(top = 2)\n"
    request, heard = scripted(commissioned(tmp_path, text, write_classes(tmp_path, 45)), [Query(at(2), cutoff=0.001)])
    done = looped(request, tmp_path / "store")
    assert [task.cutoff for task in done.evaluated] == [None]
    assert [(one.bound, one.loss > 0.001) for one in heard[0]] == [(False, True)]


def test_a_model_is_evaluated_once_however_often_it_is_asked_for(swarm: RunRequest, tmp_path: Path) -> None:
    here, there = Query(at(1)), Query(at(4))
    request, heard = scripted(swarm, [here, there, here], [there, here])
    done = looped(request, tmp_path / "store")
    assert len(done.evaluated) == 2
    (one, two, again), later = heard
    assert (one.loss, again.loss) == (later[1].loss, later[1].loss)
    assert two.loss == later[0].loss != one.loss
    counts = done.found.evaluator.counts
    assert (counts.evaluations, counts.new, counts.reused, counts.repeats) == (5, 2, 3, 3)


def test_a_point_outside_the_space_is_told_to_be_infinitely_bad_and_costs_nothing(tmp_path: Path) -> None:
    text = SPACE + "require knn.k > 2\n" + GOAL + "search random(evaluations = 3)\n"
    request = commissioned(tmp_path, text, write_classes(tmp_path, 45))
    request, heard = scripted(request, [Query(at(1)), Query(at(3)), Query(at(2))])
    done = looped(request, tmp_path / "store")
    assert [one.loss for one in heard[0]] == [math.inf, done.losses[1], math.inf]
    assert [asked.key is None for asked in done.asks] == [True, False, True]
    assert (len(done.evaluated), done.found.evaluator.counts.outside) == (1, 2)


def test_outcomes_are_stored_when_the_executor_breaks_within_a_batch(swarm: RunRequest, tmp_path: Path) -> None:
    class Broken(Exception):
        pass

    class Breaking(InProcessExecutor):
        def arrivals(self, tasks: Iterable[AnyTask]) -> Generator[list[tuple[int, Outcome]], None, None]:
            for place, arrived in enumerate(super().arrivals(tasks)):
                if place == 2:
                    raise Broken
                yield arrived

    request, heard = scripted(swarm, [Query(at(k)) for k in (1, 2, 3, 4)])
    with Store.open(tmp_path / "store") as store, Breaking(request.plan.job) as executor:
        run, _ = start_or_resume(store, request)
        with pytest.raises(Broken):
            search(request.plan, store, run, executor)
        assert (len(store.evaluations), store.runs.queries(run), heard) == (2, [], [])
        store.runs.end(run, "interrupted")
    again = looped(request, tmp_path / "store")
    assert (again.run, len(again.evaluated), len(again.found.history)) == (run, 2, 4)


def test_the_tally_is_that_of_the_evaluations_that_were_made(swarm: RunRequest, tmp_path: Path) -> None:
    request, _ = scripted(swarm, [Query(at(1)), Query(at(2))], [Query(at(2)), Query(at(3), cutoff=0.001)])
    done = looped(request, tmp_path / "store")
    made = _evaluations(done, tmp_path / "store")
    assert sum(one.folds_skipped for one in made) > 0
    counts = done.found.evaluator.counts
    assert counts.seconds == pytest.approx(sum(one.seconds for one in made))
    assert replace(counts, seconds=0.0) == RunCounts(
        evaluations=4,
        new=3,
        reused=1,
        repeats=1,
        fits=sum(one.fits for one in made),
        fits_saved=sum(one.fits_saved for one in made),
        folds_skipped=sum(one.folds_skipped for one in made),
    )


# --- the end -------------------------------------------------------------------------------------------------


def test_a_search_that_ends_by_itself_says_why(swarm: RunRequest, tmp_path: Path) -> None:
    request, heard = scripted(swarm, [Query(at(1))], [Query(at(2))])
    done = looped(request, tmp_path / "store")
    assert (done.found.ending, done.found.why) == ("finished", "it has read its script")
    assert [len(batch) for batch in heard] == [1, 1]
    assert [(asked.position, asked.batch, asked.losses) for asked in done.asks] == [
        (0, 0, heard[0][0].losses),
        (1, 1, heard[1][0].losses),
    ]


def test_events_are_stored_in_order_and_numbered(swarm: RunRequest, tmp_path: Path) -> None:
    request, heard = scripted(swarm, [Query(at(1))], [Query(at(2))])
    done = looped(request, tmp_path / "store")
    with Store.open(tmp_path / "store", read_only=True) as store:
        events = [event for event in store.runs.events(done.run) if event.position is not None]
    assert [(event.position, event.kind) for event in events] == list(
        enumerate(["batch", "heard", "batch", "heard", "end"])
    )
    assert [event.kind for event in done.found.events] == [event.kind for event in events]
    assert events[3].figures == {"losses": [heard[1][0].loss], "stage": 0}


def test_figures_of_events_are_stored_as_json_knows_them(swarm: RunRequest, tmp_path: Path) -> None:
    figures = {
        "count": 3,
        "whole": np.int64(4),
        "real": np.float64(0.5),
        "yes": True,
        "none": None,
        "rows": np.array([[1.5], [np.inf]]),
        "by": {2: (np.float64(0.25), "text")},
        "path": Path("somewhere"),
    }

    def strategy(setting: Setting) -> Strategy:
        setting.note(Event("it", figures))
        yield [Query(at(1))]

    done = looped(with_strategy(swarm, strategy), tmp_path / "store")
    with Store.open(tmp_path / "store", read_only=True) as store:
        (event,) = store.runs.events(done.run)
    assert json.dumps(event.figures, sort_keys=True) == (
        '{"by": {"2": [0.25, "text"]}, "count": 3, "none": null, "path": "somewhere", "real": 0.5, '
        '"rows": [[1.5], [Infinity]], "stage": 0, "whole": 4, "yes": true}'
    )


def test_a_strategy_need_not_say_anything(swarm: RunRequest, tmp_path: Path) -> None:
    def strategy(setting: Setting) -> Strategy:
        yield [Query(at(1))]

    done = looped(with_strategy(swarm, strategy), tmp_path / "store")
    assert (done.found.ending, done.found.why, done.found.events) == ("finished", "", [])


def test_progress_is_told_after_each_outcome_and_each_batch(swarm: RunRequest, tmp_path: Path) -> None:
    request, _ = scripted(swarm, [Query(at(k)) for k in (1, 2)], [Query(at(k)) for k in (2, 3)])
    done = looped(request, tmp_path / "store")
    assert [(one.done, one.wanted, one.evaluations) for one in done.progress] == [
        (1, 2, 0),
        (2, 2, 0),
        (0, 0, 2),
        (1, 1, 2),
        (0, 0, 4),
    ]
    assert done.progress[2].best == (min(done.losses[:2]),)
    assert done.progress[-1].best == (min(done.losses),)


def test_when_the_time_is_up_what_has_arrived_counts(swarm: RunRequest, tmp_path: Path) -> None:
    """There is no time at all here: one answer is waited for, so that there is something to go by."""
    request, heard = scripted(swarm, [Query(at(k)) for k in (1, 2, 3)], [Query(at(4))])
    done = looped(request, tmp_path / "store", limit=TimeLimit(0.0))
    assert (done.found.ending, len(done.evaluated), len(done.found.history)) == ("time", 3, 1)
    assert [asked.position for asked in done.asks] == [0]
    assert heard == [], "a strategy hears of whole batches only"


def test_when_the_time_is_up_no_other_batch_is_begun(swarm: RunRequest, tmp_path: Path) -> None:
    request, heard = scripted(swarm, [Query(at(1))], [Query(at(2))])
    done = looped(request, tmp_path / "store", limit=TimeLimit(0.0))
    assert (done.found.ending, len(done.evaluated)) == ("time", 1)
    assert [len(batch) for batch in heard] == [1]


def test_one_answer_is_waited_for_however_late_it_is(swarm: RunRequest, tmp_path: Path) -> None:
    """Those who wait are woken now and then, also before anything has arrived."""

    class Woken(InProcessExecutor):
        def arrivals(self, tasks: Iterable[AnyTask]) -> Generator[list[tuple[int, Outcome]], None, None]:
            for arrived in super().arrivals(tasks):
                yield []
                yield arrived

    request, _ = scripted(swarm, [Query(at(1)), Query(at(2))])
    with Store.open(tmp_path / "store") as store, Woken(request.plan.job) as executor:
        run, _ = start_or_resume(store, request)
        found = search(request.plan, store, run, executor, limit=TimeLimit(0.0))
    assert (found.ending, len(found.history)) == ("time", 1)


def test_it_is_stopped_between_batches(swarm: RunRequest, tmp_path: Path) -> None:
    done = looped(swarm, tmp_path / "store", stopped=after(2))
    assert (done.found.ending, len(done.found.history), len(done.asks)) == ("interrupted", 8, 8)


def test_it_is_terminated_within_a_batch(swarm: RunRequest, tmp_path: Path) -> None:
    request, _ = scripted(swarm, [Query(at(k)) for k in (1, 2, 3, 4)])
    done = looped(request, tmp_path / "store", terminated=after(2))
    assert (done.found.ending, len(done.found.history)) == ("interrupted", 2)


def test_a_strategy_hears_of_the_batch_after_which_it_is_stopped(swarm: RunRequest, tmp_path: Path) -> None:
    request, heard = scripted(swarm, [Query(at(1))], [Query(at(2))])
    looped(request, tmp_path / "store", stopped=lambda: True)
    assert [len(batch) for batch in heard] == [1]


def test_who_is_stopped_has_not_finished_though_nothing_was_left_to_ask(swarm: RunRequest, tmp_path: Path) -> None:
    request, _ = scripted(swarm, [Query(at(1))])
    done = looped(request, tmp_path / "store", stopped=lambda: True)
    assert (done.found.ending, done.found.why, done.found.events[-1].kind) == ("interrupted", "", "end")


# --- back to where it was ------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["stopped", "terminated"])
def test_on_its_way_back_to_where_it_was_a_run_is_not_stopped(swarm: RunRequest, tmp_path: Path, how: str) -> None:
    """Whoever presses Ctrl-C during a replay would else be shown less than the interrupted run had found."""
    first = looped(swarm, tmp_path / "store", stopped=after(3))
    assert len(first.asks) == 12
    asked_to_end = {"stopped": (lambda: True, lambda: False), "terminated": (lambda: False, lambda: True)}
    stopped, terminated = asked_to_end[how]
    again = looped(swarm, tmp_path / "store", stopped=stopped, terminated=terminated)
    assert (again.run, again.found.ending) == (first.run, "interrupted")
    assert [one.evaluations for one in again.progress] == [4, 8, 12], "batch by batch to where it was, and no further"
    assert (again.losses, again.asks, again.evaluated) == (first.losses, first.asks, [])


def test_a_replay_ends_at_the_very_batch_to_which_the_run_had_come(swarm: RunRequest, tmp_path: Path) -> None:
    request, heard = scripted(swarm, *([Query(at(k))] for k in (1, 2, 3, 4)))
    first = looped(request, tmp_path / "store", stopped=after(3))
    assert len(heard) == 3
    again = looped(request, tmp_path / "store", stopped=lambda: True)
    assert (len(heard), again.asks) == (6, first.asks)


def test_a_replay_that_has_to_evaluate_again_is_not_cut_within_a_batch(swarm: RunRequest, tmp_path: Path) -> None:
    """What a run was told is stored beside the evaluations, which may have been lost since."""
    batches = [Query(at(1)), Query(at(2))], [Query(at(3)), Query(at(4))]
    request, _ = scripted(swarm, *batches, [Query(at(1))])
    first = looped(request, tmp_path / "store", stopped=after(2))
    with Store.open(tmp_path / "store") as store, store.database.transaction() as connection:
        connection.execute("DELETE FROM evaluations")
    again = looped(request, tmp_path / "store", terminated=lambda: True)
    assert (again.found.ending, again.losses, again.asks) == ("interrupted", first.losses, first.asks)
    assert len(again.evaluated) == 4


def test_a_run_that_goes_on_ends_as_one_never_interrupted(swarm: RunRequest, tmp_path: Path) -> None:
    whole = looped(swarm, tmp_path / "whole")
    looped(swarm, tmp_path / "cut", stopped=after(2))
    again = looped(swarm, tmp_path / "cut")
    assert (again.asks, again.losses, again.found.why) == (whole.asks, whole.losses, whole.found.why)
    assert len(again.evaluated) < len(whole.evaluated)


def test_what_a_run_was_told_is_told_again_though_more_is_known_by_now(swarm: RunRequest, tmp_path: Path) -> None:
    """Its race was lost at a bound; since then another run has found the exact loss, which would lead elsewhere."""
    asks = [Query(at(2), cutoff=0.001)]
    request, heard = scripted(swarm, asks, [Query(at(1))])
    first = looped(request, tmp_path / "store", stopped=lambda: True)
    (bound,) = heard[0]
    assert bound.bound
    text = SPACE + GOAL + "search random(evaluations = 8)\n"
    other, exact = scripted(commissioned(tmp_path, text, tmp_path / "classes.csv"), [Query(at(2))])
    looped(other, tmp_path / "store")
    assert exact[0][0].loss > bound.loss
    again = looped(request, tmp_path / "store")
    assert again.run == first.run
    assert again.losses[0] == bound.loss
    assert heard[1][0].bound


def test_to_repeat_a_cut_run_only_the_positions_with_answers_are_asked(swarm: RunRequest, tmp_path: Path) -> None:
    done = looped(swarm, tmp_path / "store", only=[0, 1, 2, 3, 5])
    assert [asked.position for asked in done.asks] == [0, 1, 2, 3, 5]
    assert done.found.ending == "interrupted"


def test_to_repeat_a_cut_run_no_batch_is_begun_after_the_last_answer(swarm: RunRequest, tmp_path: Path) -> None:
    request, heard = scripted(swarm, *([Query(at(k))] for k in (1, 2, 3, 4)))
    done = looped(request, tmp_path / "store", only=[0, 1])
    assert (len(heard), done.progress[-1].evaluations) == (2, 2)
    assert [one.done for one in done.progress] == [1, 0, 1, 0], "told after each outcome and each batch"


# --- what is believed ----------------------------------------------------------------------------------------


def test_a_timeout_of_a_run_with_other_limits_is_not_believed(swarm: RunRequest, tmp_path: Path) -> None:
    """Nothing is done within a nanosecond; without that limit, every model can be judged."""
    hasty = commissioned(tmp_path, SWARM + "budget(each = 0.000000001s)\n", tmp_path / "classes.csv")
    assert hasty.plan.digests == swarm.plan.digests, "limits are no part of what an evaluation is known by"
    late = looped(hasty, tmp_path / "store")
    assert set(late.losses) == {math.inf}
    with Store.open(tmp_path / "store", read_only=True) as store:
        causes = {one.failure.cause for one in store.evaluations.failures(late.run) if one.failure is not None}
    assert causes == {"timeout"}
    assert late.found.evaluator.counts.failures == len({asked.key for asked in late.asks})
    done = looped(swarm, tmp_path / "store")
    assert done.run != late.run
    assert math.inf not in done.losses
    assert done.asks == looped(swarm, tmp_path / "untouched").asks


def test_a_run_stands_by_the_timeouts_that_it_was_told(swarm: RunRequest, tmp_path: Path) -> None:
    """Its strategy has built on them; to take them back would lead it elsewhere."""
    hasty = commissioned(tmp_path, SWARM + "budget(each = 0.000000001s)\n", tmp_path / "classes.csv")
    late = looped(hasty, tmp_path / "store", stopped=lambda: True)
    assert set(late.losses) == {math.inf}
    again = looped(swarm, tmp_path / "store")
    assert again.run == late.run
    assert again.losses[:4] == late.losses
    told = {asked.key for asked in late.asks}
    assert all(asked.losses == (math.inf,) for asked in again.asks if asked.key in told)


@pytest.mark.parametrize("cause", ["timeout", "memory", "crash", "exit", "exception"])
@pytest.mark.parametrize("whose", ["its own", "another's"])
def test_which_stored_failures_are_believed(swarm: RunRequest, tmp_path: Path, cause: str, whose: str) -> None:
    """Limits may differ between runs, so those hit are a run's own affair, and a crash may come from outside. What a
    model did wrong itself it would do again."""
    request, _ = scripted(swarm, [Query(at(2))])
    (known,) = _evaluations(looped(request, tmp_path / "elsewhere"), tmp_path / "elsewhere")
    failure = replace(known, losses=(math.inf,), metrics={}, failure=StoredFailure(cause, "as it is told"))
    with Store.open(tmp_path / "store") as store:
        maker, _ = start_or_resume(store, request)
        store.record(maker, [failure])
        store.runs.end(maker, "interrupted" if whose == "its own" else "finished", {})
    done = looped(request, tmp_path / "store")
    assert (done.run == maker) == (whose == "its own")
    believed = {"exception"} if whose == "another's" else {"exception", "timeout", "memory", "exit"}
    assert (done.losses == [math.inf], done.evaluated == []) == (cause in believed, cause in believed)


def _evaluations(done: Done, folder: Path) -> list[Any]:
    with Store.open(folder, read_only=True) as store:
        return list(store.evaluations.read(asked.key for asked in done.asks if asked.key is not None).values())
