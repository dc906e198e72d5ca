"""Pending: a task that somebody waits for."""

from __future__ import annotations

import contextlib
from concurrent.futures import CancelledError, Future, InvalidStateError
from dataclasses import dataclass, field

from msl.evaluate.executors.task import AnyTask
from msl.evaluate.outcome import Outcome


@dataclass(slots=True, eq=False)
class Pending:
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
