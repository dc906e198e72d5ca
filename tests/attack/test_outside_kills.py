"""Workers, fork servers and branches killed from outside at random moments: nothing is different for it."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import executor_models as em
import pytest
from executor_processes import children, is_alive, none_alive, wait_until

from msl.workers.fork_server import ForkServer
from msl.workers.in_process import InProcessExecutor
from msl.workers.local import LocalExecutor
from msl.workers.task import Task

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")


@contextmanager
def killing(
    victims: Callable[[], set[int]], seconds: float, most: int, number: int = signal.SIGKILL
) -> Iterator[list[int]]:
    """Kills one of the victims of the moment now and then, so many times at most; tells whom."""
    killed: list[int] = []
    is_over = Event()
    chance = random.Random(3)

    def kill() -> None:
        while len(killed) < most and not is_over.wait(chance.uniform(0.2, 1.8) * seconds):
            for victim in chance.sample(sorted(victims()), 1) if victims() else ():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(victim, number)
                    killed.append(victim)

    thread = Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        is_over.set()
        thread.join()


def own_tasks(count: int, log: str) -> list[Task]:
    """Models of scikit-learn and, every fourth, of elsewhere, which take a moment."""
    trees = [
        em.step("sklearn.ensemble:RandomForestClassifier", "learner", n_estimators=8, max_depth=1 + number)
        for number in range(count)
    ]
    return [
        em.sleeper(0.02, number, log) if number % 4 == 3 else Task(em.model(tree)) for number, tree in enumerate(trees)
    ]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=lambda number: number.name)
def test_killed_workers_change_nothing(tmp_path: Path, number: signal.Signals) -> None:
    tasks = own_tasks(36, str(tmp_path / "log"))
    with InProcessExecutor(em.job()) as reference:
        expected = [outcome.losses for outcome in reference.map(tasks)]
    with LocalExecutor(em.job(), 2) as executor:
        executor.submit(tasks[0]).result()
        with killing(lambda: set(executor.worker_pids()), 0.15, 9, number) as killed:
            outcomes = list(executor.map(tasks))
    assert killed
    assert [outcome.failure for outcome in outcomes] == [None] * len(tasks)
    assert [outcome.losses for outcome in outcomes] == expected


def test_killed_servers_change_nothing(tmp_path: Path) -> None:
    """The fork server, its branches and all workers, also while they start."""
    tasks = own_tasks(24, str(tmp_path / "log"))
    with InProcessExecutor(em.job()) as reference:
        expected = [outcome.losses for outcome in reference.map(tasks)]
    with ForkServer() as fork_server, LocalExecutor(em.job(), 2, fork_server) as executor:
        os.kill(fork_server.pid, signal.SIGKILL)  # before it could say a word
        executor.submit(tasks[0]).result()
        outcomes = []
        with killing(lambda: {fork_server.pid, *children(fork_server.pid)}, 0.5, 3) as killed:
            while not outcomes or not killed:  # a quick machine is done before anything is killed
                outcomes = list(executor.map(tasks))
    assert [(outcome.failure, outcome.losses) for outcome in outcomes] == [(None, losses) for losses in expected]


def test_the_first_evaluation_of_a_new_worker(tmp_path: Path) -> None:
    """Killed as soon as it has begun, several times in a row: this is not believed of it."""
    log = tmp_path / "log"
    with LocalExecutor(em.job(), 1) as executor:
        future = executor.submit(em.sleeper(1.0, 0, str(log)))
        victims: set[int] = set()
        for _ in range(5):
            wait_until(lambda: bool(begun(log) - victims))
            (victim,) = begun(log) - victims
            victims.add(victim)
            os.kill(victim, signal.SIGKILL)
        assert future.result().failure is None
    assert len(begun(log)) == 6


def begun(log: Path) -> set[int]:
    return {int(line.split()[1]) for line in log.read_text().splitlines()} if log.exists() else set()


def test_one_that_kills_itself_is_found(tmp_path: Path) -> None:
    """In the end, and the others go on."""
    with LocalExecutor(em.job(), 2) as executor:
        killer = executor.submit(em.faulty("kills_itself"))
        others = list(executor.map(em.tasks(4)))
        failure = killer.result().failure
    assert all(outcome.failure is None for outcome in others)
    assert failure is not None
    assert (failure.cause, failure.step) == ("crash", "fault")
    assert "SIGKILL" in failure.message


# --- what a block has started ---


def daemon(note: Path) -> Task:
    fault = em.step("executor_faults:Fault", what="starts_daemon", note=str(note))
    return Task(em.model(fault, em.learner()))


def test_a_daemon_ends_with_its_evaluation(tmp_path: Path) -> None:
    """One that has left its process group, its session and its parent."""
    with LocalExecutor(em.job(), 1) as executor:
        assert executor.submit(daemon(tmp_path / "note")).result().failure is None
        assert len(noted(tmp_path / "note")) == 3  # one a fold
        wait_until(none_alive(noted(tmp_path / "note")))


WORKERS = str(Path(__file__).parents[1] / "workers")
PROGRAM = """
import sys, time
import executor_models as em
from msl.workers.local import LocalExecutor
from msl.workers.fork_server import ForkServer
from msl.workers.task import Task

fault = em.step("executor_faults:Fault", what="starts_daemon_and_sleeps", note=sys.argv[1])
with ForkServer() as fork_server, LocalExecutor(em.job(), 1, fork_server) as executor:
    future = executor.submit(Task(em.model(fault, em.learner())))
    while not executor.worker_pids():
        time.sleep(0.01)
    print(fork_server.pid, *executor.worker_pids(), flush=True)
    future.result()
"""


@pytest.mark.parametrize("who", ["worker", "server", "program"])
def test_a_daemon_ends_with_whoever_is_killed(tmp_path: Path, who: str) -> None:
    note = tmp_path / "note"
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(note)], cwd=WORKERS, stdout=subprocess.PIPE, text=True
    ) as program:
        try:
            assert program.stdout is not None
            server, worker = map(int, program.stdout.readline().split())
            wait_until(lambda: bool(noted(note)))
            (daemon, *_) = noted(note)
            assert is_alive(daemon)
            os.kill({"worker": worker, "server": server, "program": program.pid}[who], signal.SIGKILL)
            wait_until(none_alive([daemon]))
        finally:
            program.kill()
    wait_until(none_alive(noted(note)))


def noted(note: Path) -> list[int]:
    return [int(line) for line in note.read_text().split()] if note.exists() else []
