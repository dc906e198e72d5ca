"""The pool's side of a worker process: hand it tasks, read its heartbeat, end it."""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from multiprocessing import Pipe
from time import monotonic

from msl.evaluate.outcome import Failure
from msl.workers.executor import PendingTask
from msl.workers.fork_server import ForkServer, WorkerEnd
from msl.workers.measure_memory import is_exiting
from msl.workers.shared_arrays import unnamed_file
from msl.workers.task import foreign_modules, is_limited
from msl.workers.worker import Heartbeat, WorkerState

_GRACE = 0.25  # seconds between SIGTERM and SIGKILL


@dataclass(slots=True, eq=False)
class WorkItem(PendingTask):
    """A task in the queue.

    One that is `alone` is the first of a new process, in a group of its own. Nothing else runs beside one that is
    `suspect`: it was running when a process was killed from outside, perhaps because of it. `modules` hold the classes
    of its model; `foreign` are the third-party ones among them, whose code may leave anything behind in its process, so
    that the process runs no other evaluation before or after.
    """

    encoded: bytes = b""
    modules: frozenset[str] = frozenset()
    is_alone: bool = False
    is_suspect: bool = False
    times_lost: int = 0
    foreign: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.foreign = foreign_modules(self.modules)

    @property
    def has_own_process(self) -> bool:
        return self.is_alone or bool(self.foreign)

    @property
    def is_single(self) -> bool:
        """Whether it is sent alone: final fits of a run take long enough by themselves."""
        return self.has_own_process or not is_limited(self.task)


@dataclass(frozen=True, slots=True)
class Termination:
    """Why a process is being ended: the evaluation that exceeded a limit, and its failure."""

    number: int
    failure: Failure
    kill_at: float


class WorkerHandle:
    """Starts a worker, hands it tasks under numbers that grow from 1, and ends it."""

    def __init__(self, fork_server: ForkServer, job_descriptor: int, modules: frozenset[str] = frozenset()) -> None:
        """`modules` are imported before the worker starts."""
        self._fork_server = fork_server
        #: Whether it is for a single evaluation with third-party code.
        self.is_single_use = bool(foreign_modules(modules))
        self.connection, theirs = Pipe()
        with unnamed_file() as page, theirs:
            self._heartbeat = Heartbeat(page.fileno())
            self.pid = fork_server.start([theirs.fileno(), page.fileno(), job_descriptor], modules)
        #: Becomes readable when the process ends, even if a fork of it keeps the connection open.
        self.end_descriptor: int | None = None
        with contextlib.suppress(AttributeError, OSError):
            self.end_descriptor = os.pidfd_open(self.pid)
        self.items: dict[int, WorkItem] = {}
        self.termination: Termination | None = None
        self._handed = 0

    @property
    def is_idle(self) -> bool:
        return not self.items and self.termination is None

    @property
    def is_fresh(self) -> bool:
        return self._handed == 0

    @property
    def had_single_task(self) -> bool:
        """Whether the process was given one evaluation only, which is then to blame for what happens."""
        return self._handed == 1

    def hand(self, items: Iterable[WorkItem]) -> None:
        group = []
        for item in items:
            self._handed += 1
            self.items[self._handed] = item
            group.append((self._handed, item.encoded))
        # If the worker has died meanwhile, its items are still unanswered when its end is noticed.
        with contextlib.suppress(OSError):
            self.connection.send_bytes(pickle.dumps(group))

    def state(self) -> WorkerState:
        return self._heartbeat.read()

    def terminate(self, number: int, failure: Failure) -> None:
        """Sends SIGTERM; `kill_if_due` does the rest."""
        self.termination = Termination(number, failure, monotonic() + _GRACE)
        self._signal(signal.SIGTERM)

    def kill_if_due(self) -> float:
        """Kills a process that SIGTERM has not ended in time. The seconds until this has to be called again."""
        assert self.termination is not None
        left = self.termination.kill_at - monotonic()
        if left > 0:
            return left
        self._signal(signal.SIGKILL)
        return _GRACE

    def end(self, *, is_dying: bool = False) -> WorkerEnd:
        """Ends the process and all that it has started. One that is dying gets a moment to exit by itself."""
        is_forced = False
        if is_dying and self.end_descriptor is not None:
            while not (is_over := bool(select.select([self.end_descriptor], [], [], _GRACE)[0])):
                if not is_exiting(self.pid):  # freeing much memory may take long
                    break
            is_forced = not is_over
        self._signal(signal.SIGKILL)
        try:
            return replace(self._fork_server.reap(self.pid), is_forced=is_forced)
        finally:
            self.connection.close()
            self._heartbeat.close()
            if self.end_descriptor is not None:
                os.close(self.end_descriptor)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)
