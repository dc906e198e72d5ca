"""Watch: the clocks and the memory of workers, held against the limits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from time import monotonic

from msl.evaluate.executors.handle import Handle
from msl.evaluate.executors.pulse import Beat
from msl.evaluate.executors.task import Limits, is_limited
from msl.evaluate.executors.usage import held_bytes
from msl.evaluate.outcome import Failure

_LOOK = 0.05  # seconds between looks at the memory of workers, or at one that has not begun


class Watch:
    """Condemns workers whose evaluation has passed a limit, and sees to it that they end."""

    def __init__(self, limits: Limits, table_bytes: int) -> None:
        self._limits = limits
        self._table_bytes = table_bytes
        self._is_needed = limits != Limits()

    def look(self, handles: Iterable[Handle]) -> float | None:
        """The seconds until the next look has to come; None if there is no need for one."""
        soonest = min((self._look_at(handle) for handle in handles), default=math.inf)
        return None if soonest == math.inf else max(soonest, 0.0)

    def _look_at(self, handle: Handle) -> float:
        if handle.doom is not None:
            return handle.insist()
        if not self._is_needed or handle.is_idle:
            return math.inf
        beat = handle.beat()
        if beat.number not in handle.items:
            return _LOOK
        if not is_limited(handle.items[beat.number].task):
            return math.inf
        now, limits = monotonic(), self._limits
        each_left = math.inf if limits.each is None else beat.started + limits.each - now
        fit_left = math.inf if limits.fit is None else beat.step_started + limits.fit - now
        failure = None
        if each_left <= 0:
            failure = Failure("timeout", limits.each_message(), beat.step)
        elif fit_left <= 0:
            failure = Failure("timeout", limits.fit_message(), beat.step)
        elif limits.memory is not None and self._added_bytes(handle, beat) > limits.memory:
            failure = Failure("memory", limits.memory_message(), beat.step)
        if failure is None:
            return min(each_left, fit_left, math.inf if limits.memory is None else _LOOK)
        handle.condemn(beat.number, failure)
        return handle.insist()

    def _added_bytes(self, handle: Handle, beat: Beat) -> int:
        """What the evaluation holds for certain.

        The operating system keeps the limit for memory of the process itself. What it shares with others is counted
        here; where temporary files live in memory, the table is among it.
        """
        held = held_bytes(handle.pid)
        return 0 if held is None else held - beat.held - self._table_bytes
