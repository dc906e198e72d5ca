"""The processes of a local executor: the same results for any number, one table for all, and none left behind."""

from __future__ import annotations

import gc
import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import executor_models as em
import numpy as np
import pytest
from executor_processes import children, none_alive, smaps, wait_until

from msl.evaluate.dataset import Dataset
from msl.evaluate.outcome import Outcome
from msl.space.spec import Objective
from msl.workers.fork_server import ForkServer, ForkServerError
from msl.workers.in_process import InProcessExecutor
from msl.workers.local import LocalExecutor
from msl.workers.shared_arrays import SharedArrays
from msl.workers.task import Job, Task

pytest_plugins = ("executor_fixtures",)


def test_any_number_of_workers_gives_the_same(fork_server: ForkServer) -> None:
    """With and without caches, in any order of submission, and so of completion."""
    tasks = em.tasks(40)
    with InProcessExecutor(em.job(cache_bytes=0)) as executor:
        expected = [told(outcome) for outcome in executor.map(tasks)]
    for workers, cache_bytes in ((1, 10_000_000), (2, 0), (4, 10_000_000)):
        places = list(range(len(tasks)))
        random.Random(workers).shuffle(places)
        with LocalExecutor(em.job(cache_bytes=cache_bytes), workers, fork_server) as executor:
            futures = {place: executor.submit(tasks[place]) for place in places}
            assert [told(futures[place].result()) for place in range(len(tasks))] == expected
            # Code from elsewhere has processes of its own, beside those that are at rest meanwhile.
            assert 1 <= len(executor.worker_pids()) <= 2 * workers


def told(outcome: Outcome) -> object:
    return outcome.losses, outcome.metrics, outcome.complexity, outcome.failure


def test_workers_share_one_table(fork_server: ForkServer) -> None:
    """Four workers at rest hold the table once, all together, beside what they hold without a table."""
    without = held_by_workers(em.job(cache_bytes=0), fork_server)
    rng = np.random.default_rng(0)
    dataset = Dataset.of_arrays(rng.normal(size=(8_000, 600)), rng.integers(0, 2, 8_000), 2)
    size = dataset.X.nbytes
    with_table = held_by_workers(replace(em.job(cache_bytes=0), dataset=dataset), fork_server)
    # A worker that had a copy would hold it for itself. What is wider beside the table, such as its splits, is small.
    grown = [held - before for held, before in zip(with_table["private"], without["private"], strict=True)]
    assert max(grown) < 0.5 * size
    assert sum(with_table["proportional"]) - sum(without["proportional"]) < 2 * size
    assert sum(with_table["resident"]) - sum(without["resident"]) > 3.9 * size  # all have looked at all of it


def held_by_workers(job: Job, fork_server: ForkServer) -> dict[str, list[int]]:
    """The memory of each worker of a kind, from the smallest."""
    with LocalExecutor(job, 4, fork_server) as executor:
        del job
        # All at once, so that each finds the workers before it at work.
        scaler = em.step("sklearn.preprocessing:StandardScaler")
        futures = [executor.submit(Task(em.model(scaler, em.learner(kind)))) for kind in (0, 1, 3, 4)]
        assert all(future.result().failure is None for future in futures)
        pids = executor.worker_pids()
        assert len(pids) == 4
        gc.collect()
        return {
            "private": sorted(smaps(pid, "Private_Clean", "Private_Dirty") for pid in pids),
            "proportional": sorted(smaps(pid, "Pss") for pid in pids),
            "resident": sorted(smaps(pid, "Rss") for pid in pids),
        }


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_are_bounded(fork_server: ForkServer, threads: int) -> None:
    with LocalExecutor(replace(em.job(), threads=threads), 1, fork_server) as executor:
        outcome = executor.submit(Task(em.model(em.step("executor_faults:Threads", "learner")))).result()
    assert outcome.failure is not None
    assert outcome.failure.message == f"ValueError: threads: [{threads}]"


def test_the_nursery_forks_without_threads(fork_server: ForkServer) -> None:
    """A lock that another thread holds at the moment of a fork would stay locked for ever."""
    with LocalExecutor(em.job(), 1, fork_server) as executor:
        executor.submit(em.tasks(1)[0]).result()
    names = [(task / "comm").read_text() for task in Path(f"/proc/{fork_server.pid}/task").iterdir()]
    # Importing polars starts threads that only tidy up after polars and its allocator, which sees to forks itself.
    assert len([name for name in names if not name.startswith(("jemalloc", "polars"))]) == 1


PROGRAM = """
import signal, time
import executor_models as em
from msl.workers.local import LocalExecutor

signal.signal(signal.SIGINT, signal.default_int_handler)  # tests may run where Ctrl-C is ignored
with LocalExecutor(em.job(), 2) as executor:
    executor.submit(em.tasks(1)[0]).result()
    futures = [executor.submit(em.faulty("hangs_in_c", marker)) for marker in range(2)]
    while len(executor.worker_pids()) < 3:  # one is at rest
        time.sleep(0.01)
    print("ready", flush=True)
    futures[0].result()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_when_the_program_is_killed(number: signal.Signals) -> None:
    """While its workers are at something that never ends, and hear nothing."""
    here = str(Path(__file__).parent)
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        below = children(program.pid)
        program.send_signal(number)
        assert len(below) == 5  # the fork server, its branch with their module, a worker at rest, and these two
        program.wait()
        wait_until(none_alive(below))
        assert program.stderr is not None
        assert program.returncode == -number
        assert number == signal.SIGKILL or "KeyboardInterrupt" in program.stderr.read()


def test_a_nursery_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["/nowhere"])
    with LocalExecutor(em.job(), 1) as executor, pytest.raises(ForkServerError, match="No module named 'msl'"):
        executor.submit(em.tasks(1)[0]).result()
    with pytest.raises(RuntimeError):
        executor.submit(em.tasks(1)[0])


def test_a_job_that_cannot_be_done_is_refused() -> None:
    bad = replace(em.CV, options=(("folds", 1), *em.CV.options[1:]))
    job = replace(em.job(), objectives=(Objective("ber", em.BER.loss, bad),))
    with pytest.raises(ValueError, match="`cv` finds no rows"):
        LocalExecutor(job)


def test_a_mapped_job_is_the_job() -> None:
    job = em.job()
    mapped = SharedArrays.of(job)
    duplicate = mapped.duplicate()
    mapped.close()
    value = duplicate.value
    duplicate.close()
    assert (value.dataset.X == job.dataset.X).all()
    assert (value.dataset.y == job.dataset.y).all()
    assert (value.objectives, value.limits, value.trusted) == (job.objectives, job.limits, job.trusted)
    assert not value.dataset.X.flags.writeable
    assert not value.dataset.X.flags.owndata
