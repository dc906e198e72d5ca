"""Grouping: how many small evaluations travel together, so that the way there costs less than the work."""

from __future__ import annotations


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
