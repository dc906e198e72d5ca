"""Interrupts: Ctrl-C once asks a run to stop after its batch; twice ends it at once, with all that is stored kept."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupts:
    """While entered, hears Ctrl-C; `on_first` is called at the first one."""

    def __init__(self, on_first: Callable[[], None]) -> None:
        self._on_first = on_first
        self._asked = False
        self._before: Any = None

    def asked(self) -> bool:
        """Whether the run is to stop after its batch."""
        return self._asked

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        # After a second one the process is about to end; a third must not disturb how it tidies up.
        if kind is not KeyboardInterrupt:
            signal.signal(signal.SIGINT, self._before)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            raise KeyboardInterrupt
        self._asked = True
        self._on_first()
