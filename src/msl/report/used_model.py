"""Which model of a run predicts, its best model or its ensemble, and the figures of that one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class UsedModel:
    """What `predict` and `export` take: its estimate with intervals, and what it came to on a test table."""

    is_ensemble: bool
    words: str
    objectives: Mapping[str, float | None] = field(default_factory=dict)
    interval: Mapping[str, Any] = field(default_factory=dict)
    test: Mapping[str, float | None] = field(default_factory=dict)
    gap: Mapping[str, float | None] = field(default_factory=dict)


def used_model(result: Mapping[str, Any]) -> UsedModel:
    """From the record of a run; one made before there was a choice used its ensemble where it had one."""
    members = len(result.get("ensemble") or ())
    used = result.get("used") or {"model": "ensemble" if members > 1 else "best", "why": ""}
    why = f": {used['why']}" if used.get("why") else ""
    if used.get("model") != "ensemble":
        words = "the best model alone" if members else "the best model"
        figures = (result.get(name) or {} for name in ("objectives", "interval", "test", "gap"))
        return UsedModel(False, f"{words}{why}", *figures)
    softly = "soft vote" if result.get("voting") == "soft" else "vote"
    words = f"the {softly} of {members} models{why}"
    judged, tested = result.get("ensemble_objectives") or {}, result.get("ensemble_test") or {}
    gap = {
        name: value - judged[name]
        for name, value in tested.items()
        if value is not None and judged.get(name) is not None
    }
    return UsedModel(True, words, judged, result.get("ensemble_interval") or {}, tested, gap)
