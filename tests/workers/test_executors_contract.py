"""The contract of executors, kept by all of them: in process, local processes, and a Dask cluster."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from concurrent.futures import CancelledError, as_completed
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import executor_models as em
import numpy as np
import pytest

from msl.evaluate.evaluator import Evaluator
from msl.evaluate.final_fits import FitRequest, OutputsRequest
from msl.evaluate.outcome import EvaluationLog, Outcome
from msl.workers.executor import Executor, WorkerBug
from msl.workers.in_process import InProcessExecutor
from msl.workers.local import LocalExecutor, open_executor
from msl.workers.task import Limits, Task

pytest_plugins = ("executor_fixtures",)

LIMITS = Limits(each=5.0, memory=200_000_000)


@pytest.fixture(scope="module", params=["inprocess", "local", "dask"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def executor(kind: str, request: pytest.FixtureRequest) -> Iterator[Executor]:
    with opened(kind, request) as shared:
        yield shared


def opened(kind: str, request: pytest.FixtureRequest) -> Executor:
    if kind == "inprocess":
        return InProcessExecutor(em.job(LIMITS))
    if kind == "local":
        return LocalExecutor(em.job(LIMITS), 2, request.getfixturevalue("fork_server"))
    return open_executor(em.job(LIMITS), request.getfixturevalue("cluster").address)


def tasks() -> list[Task]:
    """Whole evaluations, some on shares of the rows in several turns, races lost and won."""
    whole = em.tasks(24)
    parts = [Task(whole[0].model, share=0.5, repeat=repeat) for repeat in range(3)]
    return [
        *(replace(task, cutoff=(0.05, 0.9)[place % 2]) if place % 5 == 3 else task for place, task in enumerate(whole)),
        *parts,
    ]


@pytest.fixture(scope="module")
def expected() -> list[Outcome]:
    """Without a cache, and each by an executor that has done nothing else."""
    job = replace(em.job(LIMITS), cache_bytes=0)
    return [InProcessExecutor(job).submit(task).result() for task in tasks()]


def comparable(outcome: Outcome) -> object:
    return outcome.losses, outcome.metrics, outcome.bound, outcome.complexity, outcome.failure, outcome.outputs


def test_a_bug_in_msl_is_no_failure_of_the_model(kind: str, request: pytest.FixtureRequest) -> None:
    """It comes through with its traceback, whatever process it is in; what estimators raise is a failure."""
    broken = Task(em.tasks(1)[0].model, share="half")  # type: ignore[arg-type]  # what no strategy can ask
    with opened(kind, request) as executor, pytest.raises((TypeError, WorkerBug), match="'str' and 'float'"):
        executor.submit(broken).result(timeout=60)


def test_the_reference_is_the_evaluator(expected: list[Outcome]) -> None:
    """Executors add nothing to it, but for blocks that draw from global state."""
    job = em.job()
    compared = 0
    for task, outcome in zip(tasks(), expected, strict=True):
        if "GlobalNoise" not in repr(task.model):
            evaluator = Evaluator(job.dataset, job.objectives, job.seed, keeps=job.keeps)
            assert comparable(evaluator.evaluate(task.model, task.cutoff, task.share, task.repeat)) == comparable(
                outcome
            )
            compared += 1
    assert compared > 10
    assert {outcome.outputs is None for outcome in expected} == {True, False}
    assert {outcome.bound for outcome in expected} == {True, False}
    assert len({outcome.losses for outcome in expected}) > 15


def test_outcomes_are_in_order_and_the_same_to_the_last_bit(executor: Executor, expected: list[Outcome]) -> None:
    found = list(executor.map(tasks()))
    assert [comparable(outcome) for outcome in found] == [comparable(outcome) for outcome in expected]


def test_outcomes_arrive_each_with_its_place(executor: Executor, expected: list[Outcome]) -> None:
    arrived = [each for some in executor.arrivals(tasks()) for each in some]
    assert sorted(place for place, _ in arrived) == list(range(len(expected)))
    assert all(comparable(outcome) == comparable(expected[place]) for place, outcome in arrived)


def test_an_outcome_does_not_wait_for_one_that_takes_longer(executor: Executor, kind: str) -> None:
    if kind == "inprocess":
        pytest.skip("one after the other")
    wanted = [em.faulty("hangs_in_c"), *em.tasks(4)]
    with closing(executor.arrivals(wanted)) as arrivals:
        seen: list[int] = []
        while len(seen) < 4:
            seen += [place for place, outcome in next(arrivals) if outcome.failure is None]
    assert sorted(seen) == [1, 2, 3, 4]
    # Nobody listens any more: what hangs is ended, and others get its place.
    assert all(outcome.failure is None for outcome in executor.map(em.tasks(4)))


def test_the_order_of_submission_does_not_matter(executor: Executor, expected: list[Outcome]) -> None:
    places = list(range(len(expected)))
    random.Random(1).shuffle(places)
    wanted = tasks()
    futures = {executor.submit(wanted[place]): place for place in places}
    for future in as_completed(futures):
        assert comparable(future.result()) == comparable(expected[futures[future]])


@pytest.mark.parametrize(
    ("what", "cause", "words"),
    [
        ("raises", "exception", "ValueError: the block is unwell"),
        ("raises_unspeakably", "exception", "Unspeakable"),
        ("raises_at_length", "exception", "woe"),
        ("exits", "exception", "SystemExit"),
        ("allocates_at_once", "memory", "allocate"),
    ],
)
def test_what_python_can_catch(executor: Executor, kind: str, what: str, cause: str, words: str) -> None:
    if kind == "inprocess" and cause == "memory":
        pytest.skip("nothing bounds the memory of this process")
    outcome = executor.submit(em.faulty(what)).result()
    assert outcome.losses == (math.inf,)
    assert outcome.failure is not None
    assert (outcome.failure.cause, outcome.failure.step) == (cause, "fault")
    assert words in outcome.failure.message
    assert len(outcome.failure.message) < 3_000
    assert outcome.failure.peak_memory is not None
    assert outcome.failure.peak_memory > 10_000_000


def test_outputs_that_are_not_numbers(executor: Executor) -> None:
    model = em.model(em.step("executor_faults:NotANumber", "learner"))
    outcome = executor.submit(Task(model)).result()
    assert outcome.losses == (math.inf,)
    assert outcome.failure is not None
    assert (outcome.failure.cause, outcome.failure.step) == ("not a number", "notanumber")


def test_floods(executor: Executor, capfd: pytest.CaptureFixture[str], kind: str) -> None:
    calm = executor.submit(em.sleeper(0.0)).result()
    for what in ("floods_warnings", "floods_terminal"):
        outcome = executor.submit(em.faulty(what)).result()
        assert outcome.losses == calm.losses
        assert len(outcome.warnings) <= 5
        assert sum(map(len, outcome.warnings)) < 20_000
    if kind != "inprocess":
        assert capfd.readouterr().out == ""


def test_hanging_is_ended(executor: Executor, kind: str) -> None:
    if kind == "inprocess":
        pytest.skip("nothing can be ended there")
    hanging = executor.submit(em.faulty("hangs_in_c"))
    others = executor.map(em.tasks(4))
    assert all(outcome.failure is None for outcome in others)
    outcome = hanging.result()
    assert outcome.losses == (math.inf,)
    assert outcome.failure is not None
    assert (outcome.failure.cause, outcome.failure.step) == ("timeout", "fault")
    assert outcome.effort.seconds >= 5.0


def test_a_late_outcome_is_a_timeout(kind: str, request: pytest.FixtureRequest) -> None:
    if kind == "dask":
        pytest.skip("what a Dask cluster does within a machine is what local processes do")
    job = em.job(Limits(each=0.1))
    local = kind == "local"
    with LocalExecutor(job, 1, request.getfixturevalue("fork_server")) if local else InProcessExecutor(job) as executor:
        outcome = executor.submit(em.sleeper(0.2)).result()
    assert outcome.failure is not None
    assert (outcome.failure.cause, outcome.failure.step) == ("timeout", "sleeper")


def test_the_callers_randomness_is_left_alone(executor: Executor) -> None:
    random.seed(5)
    np.random.seed(5)  # noqa: NPY002 - the global generators are what this is about
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    list(executor.map(em.tasks(4)))
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # noqa: NPY002


def test_waiting_tasks_can_be_cancelled(executor: Executor, kind: str) -> None:
    if kind == "inprocess":
        pytest.skip("nothing waits there")
    futures = [executor.submit(em.sleeper(0.1, marker)) for marker in range(8)]
    assert futures[-1].cancel()
    assert all(future.result().failure is None for future in futures[:-1])


def test_shutdown_waits(kind: str, request: pytest.FixtureRequest) -> None:
    if kind == "dask":
        pytest.skip("slow to open; this is seen with the test of a lost worker")
    executor = opened(kind, request)
    future = executor.submit(em.tasks(1)[0])
    executor.shutdown()
    assert future.done()
    assert future.result().failure is None
    with pytest.raises(RuntimeError, match="shut down"):
        executor.submit(em.tasks(1)[0])
    executor.shutdown()


def test_an_exception_ends_everything(executor: Executor, kind: str, tmp_path: Path) -> None:
    """The last test of each executor."""
    if kind == "inprocess":
        pytest.skip("an evaluation that was submitted has run there")
    log = tmp_path / "fits"
    futures = []

    def interrupted() -> None:
        with executor:
            futures.extend(executor.submit(em.sleeper(0.2, marker, str(log))) for marker in range(40))
            futures[0].result()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert all(future.done() for future in futures)
    with pytest.raises(CancelledError):
        futures[-1].result()
    evaluated = {line.split()[0] for line in log.read_text().splitlines()}
    assert 1 <= len(evaluated) < 40


def test_places_that_are_none() -> None:
    for on in ("somewhere", "dask://", "dask://host", "dask:host:1"):
        with pytest.raises(ValueError, match="dask://host:port"):
            open_executor(em.job(), on)
    with pytest.raises(ValueError, match="object is neither a client nor a cluster"):
        open_executor(em.job(), object())
    with pytest.raises(ValueError, match="at least 1"):
        open_executor(em.job(), "local", 0)
    with pytest.raises(ValueError, match="leave out `workers`"):
        open_executor(em.job(), "dask://host:1", 2)
    with pytest.raises(ValueError, match="larger than 0"):
        Limits(each=0)


# --- the last fits of a run -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def another(kind: str, request: pytest.FixtureRequest) -> Iterator[Executor]:
    with opened(kind, request) as executor:
        yield executor


def test_models_are_fitted_and_asked_as_in_this_process(another: Executor) -> None:
    job, model = em.job(LIMITS), em.tasks(1)[0].model
    rows = job.dataset.X[:7]
    fitter = job.final_fitter()
    fitted = another.submit(FitRequest(model, rows)).result().product
    expected = fitter.fitted(FitRequest(model, rows))
    assert fitted.outputs == pytest.approx(expected.outputs, abs=0)
    assert fitted.gives_probabilities == expected.gives_probabilities
    assert fitted.estimator.outputs(rows) == pytest.approx(expected.outputs, abs=0)
    request = OutputsRequest(model, job.objectives[0].estimate)
    held = another.submit(request).result().product
    for one, other in zip(held, fitter.outputs(request, EvaluationLog()), strict=True):
        assert one == pytest.approx(other, abs=0)


def test_a_fit_that_fails_is_an_outcome(another: Executor) -> None:
    outcome = another.submit(FitRequest(em.faulty("raise").model)).result()
    assert outcome.product is None
    assert outcome.failure is not None


def test_after_it_was_abandoned_an_executor_goes_on(kind: str, request: pytest.FixtureRequest) -> None:
    if kind == "inprocess":
        pytest.skip("what runs in this process cannot be ended")
    with opened(kind, request) as executor:
        hanging = [executor.submit(em.sleeper(600.0, marker)) for marker in range(6)]
        assert executor.width >= 1
        executor.submit(em.tasks(1)[0])
        executor.abandon(hanging)
        for future in hanging:
            with pytest.raises(CancelledError):
                future.result(timeout=60)
        assert executor.submit(em.tasks(1)[0]).result(timeout=60).failure is None
