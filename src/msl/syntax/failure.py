"""Failure: where reading a statement stopped."""

from __future__ import annotations

from msl.text.record import record


@record
class Failure:
    """Where reading a statement stopped: the index of the token that did not fit, and what would have."""

    index: int
    accepted: frozenset[str]

    @property
    def complete_before(self) -> bool:
        """Whether what was read so far is a statement."""
        return "$END" in self.accepted
