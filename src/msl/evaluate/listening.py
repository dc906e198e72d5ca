"""Listening: the warnings that an evaluation raises, heard and cut short however many they are."""

from __future__ import annotations

import warnings
from types import TracebackType
from typing import Any, Self

#: Different warnings that are worth telling.
_MOST = 5
_LONGEST = 300


class Listener:
    """While entered, hears every warning and keeps the first few different ones."""

    def __init__(self) -> None:
        self._heard: dict[str, None] = {}
        self._guard = warnings.catch_warnings()

    @property
    def told(self) -> tuple[str, ...]:
        return tuple(self._heard)

    def forget(self) -> None:
        self._heard.clear()

    def __enter__(self) -> Self:
        self._guard.__enter__()
        # "once" would keep a register of every message ever heard.
        warnings.simplefilter("always")
        warnings.showwarning = self._hear  # type: ignore[assignment]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, reason: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._guard.__exit__(kind, reason, trace)

    def _hear(self, message: Warning | str, *where: Any) -> None:
        if len(self._heard) < _MOST:
            self._heard.setdefault(str(message)[:_LONGEST])
