"""Evaluations that bring down their process, and what a run makes of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import executor_models as em
import numpy as np
import pytest
from executor_processes import none_alive, wait_until
from sklearn.datasets import make_regression

from msl.check.names.scoring_declarations import metric_named
from msl.evaluate.dataset import Dataset
from msl.evaluate.outcome import Failure, Outcome
from msl.space.spec import Estimate, Measured, Objective
from msl.workers.fork_server import ForkServer
from msl.workers.in_process import InProcessExecutor
from msl.workers.local import LocalExecutor
from msl.workers.task import Job, Limits, Task

pytest_plugins = ("executor_fixtures",)

LIMITS = Limits(each=20.0, memory=150_000_000)


@pytest.fixture(scope="module")
def executor(fork_server: ForkServer) -> Iterator[LocalExecutor]:
    with LocalExecutor(em.job(LIMITS), 2, fork_server) as shared:
        yield shared


def failure_of(outcome: Outcome) -> Failure:
    assert outcome.losses == (math.inf,)
    assert outcome.failure is not None
    return outcome.failure


@pytest.mark.parametrize(
    ("what", "cause", "words"),
    [
        ("segfaults", "crash", "SIGSEGV"),
        ("aborts", "crash", "SIGABRT"),
        ("exits_hard", "exit", "status 7"),
        ("closes_everything", "crash", "closed its connection"),
        ("forks_and_dies", "exit", "status 3"),
        ("allocates_in_bits", "memory", "memory"),  # the system refuses it, or the watch sees it, whichever is first
        ("allocates_shared", "memory", "more memory than 150 MB"),
        ("complains_unpicklably", "unpicklable", "these words stay here"),
    ],
)
def test_causes(executor: LocalExecutor, what: str, cause: str, words: str) -> None:
    failure = failure_of(executor.submit(em.faulty(what)).result())
    assert (failure.cause, failure.step) == (cause, "fault")
    assert words in failure.message
    assert failure.peak_memory is not None
    assert failure.peak_memory > 10_000_000
    assert executor.submit(em.tasks(1)[0]).result().failure is None


def test_peak_memory_is_that_of_the_evaluation(executor: LocalExecutor) -> None:
    full = failure_of(executor.submit(em.faulty("allocates_in_bits", 1)).result())
    light = failure_of(executor.submit(em.faulty("raises")).result())
    assert full.peak_memory is not None
    assert light.peak_memory is not None
    assert full.peak_memory - light.peak_memory > 100_000_000


def test_a_death_costs_only_its_evaluation(executor: LocalExecutor) -> None:
    """Many small evaluations travel in groups; in several, one brings down all."""
    tasks = em.tasks(80)
    deadly = {30: "segfaults", 31: "exits_hard", 60: "aborts"}
    for place, what in deadly.items():
        tasks[place] = em.faulty(what, marker=1)
    with InProcessExecutor(em.job()) as reference:
        expected = [
            None if place in deadly else reference.submit(task).result().losses for place, task in enumerate(tasks)
        ]
    outcomes = list(executor.map(tasks))
    assert [None if place in deadly else found.losses for place, found in enumerate(outcomes)] == expected
    assert {failure_of(outcomes[place]).cause for place in deadly} == {"crash", "exit"}


def test_what_ran_before_decides_about_no_model(fork_server: ForkServer) -> None:
    """Each would crash in a process where another ran before; none does in one of its own."""
    tasks = [Task(em.model(em.step("executor_faults:SecondThoughts", marker=m), em.learner())) for m in range(4)]
    with LocalExecutor(em.job(), 1, fork_server) as executor:
        assert [outcome.failure for outcome in executor.map(tasks)] == [None] * 4


def test_one_block_has_its_own_limit(fork_server: ForkServer) -> None:
    """Three folds of half a second each are within the limit of a block; one of a hundred is not."""
    with LocalExecutor(em.job(Limits(fit=5.0)), 2, fork_server) as executor:
        long = executor.submit(em.sleeper(100.0))
        assert executor.submit(em.sleeper(0.5)).result().failure is None
        failure = failure_of(long.result())
    assert (failure.cause, failure.step, failure.message) == ("timeout", "sleeper", "one block took longer than 5 s")


def test_a_lost_nursery_is_replaced(fork_server: ForkServer) -> None:
    """Whatever kills the process that starts workers; and an evaluation that does it again and again is found."""
    with LocalExecutor(em.job(), 2, fork_server) as executor:
        killer = executor.submit(em.faulty("kills_server"))
        others = list(executor.map(em.tasks(6)))
        failure = failure_of(killer.result())
        assert (failure.cause, failure.step) == ("crash", "fault")
    with InProcessExecutor(em.job()) as reference:
        assert [found.losses for found in others] == [found.losses for found in reference.map(em.tasks(6))]


def test_siblings_judged_together_are_told_apart(fork_server: ForkServer) -> None:
    """Generalised cross-validation judges a group at once; a death in it is one evaluation's all the same."""
    job = regression_job()
    tasks = [ridge(penalty) for penalty in range(1, 41)]
    with InProcessExecutor(replace(job, cache_bytes=0)) as reference:
        expected = [reference.submit(task).result().losses for task in tasks]
        assert [outcome.losses for outcome in reference.map(tasks)] == expected
    assert all(map(math.isfinite, (loss for losses in expected for loss in losses)))
    with LocalExecutor(job, 1, fork_server) as executor:
        executor.submit(tasks[0]).result()
        mixed = [*tasks[:20], em.faulty("aborts"), *tasks[20:]]
        outcomes = list(executor.map(mixed))
    assert failure_of(outcomes.pop(20)).cause == "crash"
    assert [outcome.losses for outcome in outcomes] == expected


def regression_job() -> Job:
    X, y = make_regression(80, 5, noise=20.0, random_state=0)
    gcv = Estimate("gcv", "msl.evaluate:gcv", (("subsample", 1.0), ("shuffle", False)), held_out=None, shortcut="gcv")
    dataset = Dataset.of_arrays(np.ascontiguousarray(X), y, 0)
    return Job(dataset, (Objective("mse", Measured("mse", metric_named("mse")), gcv),), 3, ("executor_faults",))


def ridge(penalty: int) -> Task:
    return Task(em.model(em.step("sklearn.linear_model:Ridge", "learner", alpha=float(penalty))))


def test_a_child_of_a_block_ends_with_it(executor: LocalExecutor, tmp_path: Path) -> None:
    note = tmp_path / "child"
    fault = em.step("executor_faults:Fault", what="forks_and_dies", note=str(note))
    executor.submit(Task(em.model(fault, em.learner()))).result()
    wait_until(none_alive([int(note.read_text())]))
