"""Repeats: what to say of a search that mostly asked for models that it knew already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Fewer proposals tell nothing about a search.
_FEWEST = 20


def repeats_words(result: Mapping[str, Any]) -> str | None:
    """How many proposals were repeats and what helps, if they were more than half; None also for older runs."""
    repeats, evaluations = int(result.get("repeats") or 0), int(result.get("evaluations") or 0)
    if evaluations < _FEWEST or 2 * repeats <= evaluations:
        return None
    told = f"{repeats:,} of {evaluations:,} proposals were repeats"
    if str(result.get("ending", "")).endswith("models were evaluated"):
        return f"{told}: the space has no more models"
    return (
        f"{told}; `auto` asks for each model once, a swarm does better with `floor = 2, restart = 1`, "
        "and a larger space gives it more to find"
    )
