"""The time that a run may take, from its first moment to its last line."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from time import monotonic


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """`seconds` is the budget, None for no limit; `started` is when it began, on the clock of `monotonic`."""

    seconds: float | None = None
    started: float = field(default_factory=monotonic)

    @property
    def elapsed(self) -> float:
        return monotonic() - self.started

    @property
    def left(self) -> float:
        """Seconds until the time is up; never less than none."""
        return math.inf if self.seconds is None else max(0.0, self.seconds - self.elapsed)
