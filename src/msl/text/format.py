"""Format: the ways in which diagnostics can be written."""

from __future__ import annotations

from enum import StrEnum


class Format(StrEnum):
    """How diagnostics are written."""

    FULL = "full"
    SHORT = "short"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"

    @property
    def for_people(self) -> bool:
        return self in (Format.FULL, Format.SHORT)
