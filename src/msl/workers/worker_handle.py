"""Handle: a worker process as its keeper sees it."""

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
from msl.workers.memory_usage import is_exiting
from msl.workers.shared_arrays import unnamed_file
from msl.workers.task import foreign_modules, is_limited
from msl.workers.worker import Beat, Heartbeat

_GRACE = 0.25  # seconds between the request to end and the end


@dataclass(slots=True, eq=False)
class WorkItem(PendingTask):
    """A task in the queue.

    One that is `alone` is to be the first of a new process, and to have no mates. Nothing else is to run beside one
    that is `suspect`: it was running when a process was lost that nobody of us has ended, perhaps because of it.
    `modules` hold the classes of its model, `foreign` are those from elsewhere: their code may leave anything behind
    in its process, which is then neither one that another evaluation has been in, nor one that another will be in.
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
        """Whether it travels without mates: what a run asks of its last models takes long enough by itself."""
        return self.has_own_process or not is_limited(self.task)


@dataclass(frozen=True, slots=True)
class Doom:
    """Why a process is being ended: the evaluation that passed a limit, and what is said of it."""

    number: int
    failure: Failure
    kill_at: float


class WorkerHandle:
    """Starts a worker, hands it tasks under numbers that grow from 1, and ends it."""

    def __init__(self, nursery: ForkServer, job_descriptor: int, modules: frozenset[str] = frozenset()) -> None:
        """`modules` are those of the models to come."""
        self._nursery = nursery
        #: Whether it is for one evaluation only, whose code is from elsewhere.
        self.is_for_one = bool(foreign_modules(modules))
        self.connection, theirs = Pipe()
        with unnamed_file() as page, theirs:
            self._pulse = Heartbeat(page.fileno())
            self.pid = nursery.start([theirs.fileno(), page.fileno(), job_descriptor], modules)
        #: Becomes readable when the process ends, even if something that it forked keeps the connection open.
        self.end_descriptor: int | None = None
        with contextlib.suppress(AttributeError, OSError):
            self.end_descriptor = os.pidfd_open(self.pid)
        self.items: dict[int, WorkItem] = {}
        self.doom: Doom | None = None
        self._handed = 0

    @property
    def is_idle(self) -> bool:
        return not self.items and self.doom is None

    @property
    def is_fresh(self) -> bool:
        return self._handed == 0

    @property
    def has_one_only(self) -> bool:
        """Whether all that the process was ever given is one evaluation, which then answers for what happens."""
        return self._handed == 1

    def hand(self, items: Iterable[WorkItem]) -> None:
        group = []
        for item in items:
            self._handed += 1
            self.items[self._handed] = item
            group.append((self._handed, item.encoded))
        # A worker that has died meanwhile shows when its end is noticed, with its items unanswered.
        with contextlib.suppress(OSError):
            self.connection.send_bytes(pickle.dumps(group))

    def cutoff(self) -> Beat:
        return self._pulse.read()

    def condemn(self, number: int, failure: Failure) -> None:
        """Asks the process to end; see `insist`."""
        self.doom = Doom(number, failure, monotonic() + _GRACE)
        self._signal(signal.SIGTERM)

    def insist(self) -> float:
        """Ends a condemned process that has not ended by itself. The seconds until this has to be called again."""
        assert self.doom is not None
        left = self.doom.kill_at - monotonic()
        if left > 0:
            return left
        self._signal(signal.SIGKILL)
        return _GRACE

    def end(self, *, is_dying: bool = False) -> WorkerEnd:
        """Ends the process and all that it has started. One that is dying is given a moment to do it its own way."""
        is_forced = False
        if is_dying and self.end_descriptor is not None:
            while not (is_over := bool(select.select([self.end_descriptor], [], [], _GRACE)[0])):
                if not is_exiting(self.pid):  # one with much memory may take long
                    break
            is_forced = not is_over
        self._signal(signal.SIGKILL)
        try:
            return replace(self._nursery.reap(self.pid), is_forced=is_forced)
        finally:
            self.connection.close()
            self._pulse.close()
            if self.end_descriptor is not None:
                os.close(self.end_descriptor)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)
