"""Clock: the time of day as the store writes it, given from outside so that tests can set it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)


def moment_to_text(moment: datetime) -> str:
    """A moment in UTC with microseconds; such texts sort as the moments do."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def text_to_moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
