"""Executor: the contract that every place to run evaluations keeps.

- `submit` never raises because of what a model does: whatever happens to an evaluation is its `Outcome`, and one that
  came to nothing has infinite losses and a `Failure`. A future's exception means that the executor itself is broken.
- The losses of a task depend on the task and the job alone: not on the executor, the number of workers, the order of
  completion, what ran before in the same process, or what a cache holds.
- After `shutdown`, or the end of the `with` block, no process, thread or file is left behind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from types import TracebackType
from typing import Self

from msl.evaluate.executors.task import AnyTask
from msl.evaluate.outcome import Outcome


class Executor(ABC):
    """Like `concurrent.futures.Executor`, but what is submitted is a task, not a function."""

    @abstractmethod
    def submit(self, task: AnyTask) -> Future[Outcome]:
        """Starts an evaluation, or puts it in the queue."""

    @property
    def width(self) -> int:
        """How many tasks can run at once."""
        return 1

    def abandon(self) -> None:  # noqa: B027  (what runs in this process cannot be ended)
        """Cancels what waits and ends what runs, as far as that can be ended; further tasks may follow.

        The futures of what has ended this way are cancelled, or raise `CancelledError`.
        """

    @abstractmethod
    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more tasks. With `cancel_futures` those that wait are cancelled, and those that run are ended."""

    def map(self, tasks: Iterable[AnyTask]) -> Iterator[Outcome]:
        """The outcomes in the order of the tasks, all of which are submitted at once."""
        futures = [self.submit(task) for task in tasks]
        return self._in_order(futures)

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
