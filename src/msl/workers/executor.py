"""Executor: the contract that every place to run evaluations keeps.

- `submit` never raises because of what a model does: whatever happens to an evaluation is its `Outcome`, and one that
  came to nothing has infinite losses and a `Failure`. A future's exception means that the executor itself is broken
  (`WorkersLost`), or that msl has a bug.
- The losses of a task depend on the task and the job alone: not on the executor, the number of workers, the order of
  completion, what ran before in the same process, or what a cache holds.
- Outcomes are heard of as they arrive (`arrivals`), or in the order of the tasks (`map`).
- After `shutdown`, or the end of the `with` block, no process, thread or file is left behind.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Future, InvalidStateError
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Self

from msl.diagnostics.user_error import UserError
from msl.evaluate.outcome import Outcome
from msl.workers.task import AnyTask

#: Seconds after which a caller that waits for outcomes is given the chance to look at other things.
_LOOK = 0.2


class WorkersLost(UserError, BrokenExecutor):
    """Evaluations cannot go on, for a reason outside msl: the machine or the cluster has no workers for them."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "what is evaluated is stored, and the same command goes on from there")

    def __str__(self) -> str:
        return self.message


class WorkerBug(BrokenExecutor):
    """A bug in msl that a worker ran into; the message is the traceback from there."""


class Executor(ABC):
    """Like `concurrent.futures.Executor`, but what is submitted is a task, not a function."""

    @abstractmethod
    def submit(self, task: AnyTask) -> Future[Outcome]:
        """Starts an evaluation, or puts it in the queue."""

    @property
    def width(self) -> int:
        """How many tasks can run at once."""
        return 1

    @abstractmethod
    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more tasks. With `cancel_futures` those that wait are cancelled, and those that run are ended."""

    def map(self, tasks: Iterable[AnyTask]) -> Iterator[Outcome]:
        """The outcomes in the order of the tasks, all of which are submitted at once."""
        futures = [self.submit(task) for task in tasks]
        return self._in_order(futures)

    def arrivals(self, tasks: Iterable[AnyTask]) -> Generator[list[tuple[int, Outcome]], None, None]:
        """Outcomes in the order of their arrival, each with the place of its task.

        Those that arrived together are in one list. When nothing arrives for a moment the list is empty.
        Whoever stops listening ends what is still under way.
        """
        futures = [self.submit(task) for task in tasks]
        return self._as_they_arrive(futures)

    def _as_they_arrive(self, futures: list[Future[Outcome]]) -> Generator[list[tuple[int, Outcome]], None, None]:
        done: SimpleQueue[tuple[int, Future[Outcome]]] = SimpleQueue()
        left = len(futures)
        try:
            for place, future in enumerate(futures):
                future.add_done_callback(partial(_put, done, place))
            while left:
                arrived = _taken(done)
                yield [(place, future.result()) for place, future in arrived if not _is_broken(future)]
                for _, future in arrived:
                    future.result()  # raises what has broken the executor, after all that arrived is handed over
                left -= len(arrived)
        finally:
            if left:
                self.abandon(futures)

    def abandon(self, futures: list[Future[Outcome]]) -> None:
        """Gives up what was submitted, also what runs where it can be ended; new tasks may follow."""
        for future in futures:
            future.cancel()

    def _in_order(self, futures: list[Future[Outcome]]) -> Iterator[Outcome]:
        try:
            for future in futures:
                yield future.result()
        finally:
            for future in futures:
                future.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Waits for what was submitted; after an exception, such as Ctrl-C, ends it at once."""
        self.shutdown(cancel_futures=kind is not None)


def _is_broken(future: Future[Outcome]) -> bool:
    return future.cancelled() or future.exception() is not None


def _put(done: SimpleQueue[tuple[int, Future[Outcome]]], place: int, future: Future[Outcome]) -> None:
    done.put((place, future))


def _taken(done: SimpleQueue[tuple[int, Future[Outcome]]]) -> list[tuple[int, Future[Outcome]]]:
    """All that is in a queue; nothing, if nothing comes for a moment."""
    found = []
    try:
        found.append(done.get(timeout=_LOOK))
        while True:
            found.append(done.get_nowait())
    except Empty:
        return found


# --- Grouping: how many small evaluations travel together, so that the way there costs less than the work. ------------


class Grouping:
    """Learns how long evaluations take. Groups change when outcomes arrive, never what they are."""

    def __init__(self, seconds: float) -> None:
        """`seconds` is how long a group should take."""
        self._seconds = seconds
        self._mean: float | None = None

    def learn(self, seconds: float) -> None:
        """Takes note of an evaluation; the last twenty or so count."""
        self._mean = seconds if self._mean is None else 0.95 * self._mean + 0.05 * seconds

    def size(self, waiting: int, workers: int) -> int:
        """How many of those that wait go next; what is left is enough for the other workers, twice."""
        if self._mean is None:
            return 1
        fair = -(-waiting // (2 * workers))
        worthwhile = int(self._seconds / max(self._mean, 1e-6))
        return max(1, min(fair, worthwhile))


# --- Pending: a task that somebody waits for. -------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class PendingTask:
    """The future can be cancelled until the task is taken up."""

    task: AnyTask
    future: Future[Outcome] = field(default_factory=Future)

    def take_up(self) -> bool:
        """Whether it is still wanted; from now on it can no longer be cancelled."""
        return self.future.running() or self.future.set_running_or_notify_cancel()

    def give_up(self, reason: BaseException | None) -> None:
        """There will be no outcome: for a reason, or because it is cancelled."""
        if reason is None and self.future.cancel():
            return
        with contextlib.suppress(InvalidStateError):  # whoever waits for it may have cancelled it just now
            self.future.set_exception(reason or CancelledError())
