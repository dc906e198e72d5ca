"""Interrupts: Ctrl-C once asks a run to stop after its batch; twice ends it at once, with all that is stored kept.

SIGTERM, which a scheduler sends some seconds before it kills, asks a run to stop now: what has arrived counts, what is
under way is given up, and the best is still told. A second one ends it at once.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """While entered, hears Ctrl-C and SIGTERM; `on_interrupt` is called at the first Ctrl-C."""

    def __init__(self, on_interrupt: Callable[[], None], on_terminate: Callable[[], None] = lambda: None) -> None:
        self._on_interrupt, self._on_terminate = on_interrupt, on_terminate
        self._asked = self._terminated = False
        self._before: dict[signal.Signals, Any] = {}

    def asked(self) -> bool:
        """Whether the run is to stop after its batch."""
        return self._asked

    def terminated(self) -> bool:
        """Whether the run is to stop now."""
        return self._terminated

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            if number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN:  # whoever ignores it means it
                self._before[number] = signal.signal(number, self._hear)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        # After a second one the process is about to end; a third must not disturb how it tidies up.
        if kind is not KeyboardInterrupt:
            for number, before in self._before.items():
                signal.signal(number, before)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        is_repeated = self._terminated or (self._asked and number == signal.SIGINT)
        if is_repeated:
            for each in self._before:
                signal.signal(each, signal.SIG_IGN)
            raise KeyboardInterrupt
        self._asked = True
        if number == signal.SIGTERM:
            self._terminated = True
            self._on_terminate()
        else:
            self._on_interrupt()
