"""Spending: how many evaluations the stages of a search ask for, and which of them a budget leaves too few for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msl.check.report import Report
from msl.space.space import Space
from msl.space.spec import Stage
from msl.syntax import ast
from msl.text.source import Source

_SWARMS = frozenset({"pso", "bpso", "nspso", "cmdpso"})
_COUNTED = frozenset({"random", "halving", "auto"})


def warn_of_starved(
    search: ast.Search, stages: tuple[Stage, ...], evaluations: int, space: Space, source: Source, report: Report
) -> None:
    """Warns of the first stage that never runs within the budget, or of a confirmation that it cuts short."""
    if _starved(stages, evaluations, None) is None:
        return
    found = _starved(stages, evaluations, _size(space))  # counting models may take a while
    if found is not None:
        place, message, help = found
        report.warning("MSL235", source, search.stages[place].span, message, "", help)


def _starved(stages: tuple[Stage, ...], evaluations: int, size: int | None) -> tuple[int, str, str] | None:
    """The place of the stage that gets too little, what to say of it, and what to do."""
    left = evaluations
    for place, stage in enumerate(stages):
        name, wanted = stage.call.name, _asked(stage, size)
        enough = f"allow more, as in `budget(evaluations = {evaluations - left + wanted:_})`"
        if place and left <= 0:
            message = f"`{name}` never runs: what comes before it uses all of `evaluations = {evaluations:_}`"
            return place, message, f"{enough}, or let the others ask for fewer" if wanted else "allow more evaluations"
        if name == "confirm" and left < wanted:
            repeats = int(dict(stage.call.options)["repeats"])  # type: ignore[arg-type]
            whole = left * repeats // wanted
            what = f"{whole} of {repeats} repeats" if whole else "not even one repeat"
            message = f"`confirm` asks for {wanted:_} evaluations, and the budget leaves it {left:_}: {what}"
            return place, message, f"{enough}, or confirm fewer"
        left -= wanted
    return None


def _asked(stage: Stage, size: int | None) -> int:
    """How many evaluations a strategy asks for at least; 0 where it may end at any time.

    One that has met every model of a space ends, so that it asks for no more than there are.
    """
    options: Mapping[str, Any] = dict(stage.call.options)
    name = stage.call.name
    if name == "confirm":
        top = int(options["top"])
        return (top if size is None else min(top, size)) * int(options["repeats"])
    if name in _COUNTED:
        least = int(options["evaluations"])
    elif name in _SWARMS and options.get("stall") is None:
        least = int(options["swarm"]) * (int(options["iterations"]) + 1)
    elif name == "occam_ga":  # at most half of a generation lives on without being asked for again
        least = int(options["population"]) + int(options["generations"]) * (int(options["population"]) // 2)
    else:
        return 0
    return least if size is None else min(least, size)


def _size(space: Space) -> int | None:
    """How many models there are; None where that is not known before the table is."""
    from msl.space.count import count

    found = count(space)
    return found.models if found.exact else None
