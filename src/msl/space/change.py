"""Change: one difference between two spaces, as data; every rendering starts from it."""

from __future__ import annotations

from enum import StrEnum

from msl.text.record import record


class Kind(StrEnum):
    """What happened. `changed` is for what none of the others names."""

    ADDED = "added"
    REMOVED = "removed"
    WIDENED = "widened"
    NARROWED = "narrowed"
    RESCALED = "rescaled"
    RESTEPPED = "restepped"
    FIXED = "fixed"
    OPENED = "opened"
    MOVED = "moved"
    CHANGED = "changed"
    CONDITION_CHANGED = "condition changed"
    REQUIREMENT_ADDED = "requirement added"
    REQUIREMENT_REMOVED = "requirement removed"
    DEFAULT_CHANGED = "default changed"


@record
class Change:
    """Where a space differs and how it read before and after; `detail` is what was added or removed, or says more."""

    kind: Kind
    path: tuple[str, ...]
    old_text: str = ""
    new_text: str = ""
    detail: str = ""

    @property
    def counts(self) -> bool:
        """Whether the set of models differs: a default is where a search starts, not what it searches."""
        return self.kind is not Kind.DEFAULT_CHANGED

    @property
    def where(self) -> str:
        return " > ".join(self.path)
