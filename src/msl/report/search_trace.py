"""The events that the strategies of a run reported, as tables: one line per iteration, sweep or level."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from statistics import median
from typing import Any, Protocol

from msl.report.text_tables import aligned, shown
from msl.space.spec import Measured, Objective

#: Figures that are losses, whose sign is changed where the objective is maximised.
_LOSSES = ("best", "losses")


def trace_to_text(events: Iterable[Traced], objective: Objective | None = None) -> str:
    """A table for each strategy; how each ended is a line below it. `objective` is the one whose losses they are."""
    maximised = objective is not None and not objective.minimize
    tables = []
    for (stage, kind), group in groupby(events, key=lambda event: (event.figures.get("stage", 0), event.kind)):
        own = list(group)
        if kind == "end":
            tables += [f"ended: {event.figures.get('why', '')}\n" for event in own]
        elif kind == "level":
            tables.append(f"{_heading(stage, kind)}{levels_table(own, _score(objective))}\n")
        else:
            tables.append(_heading(stage, kind) + _table(own, maximised))
    return "\n".join(tables)


def _heading(stage: int, kind: str) -> str:
    return f"stage {stage + 1}: one line per {kind}\n"


def _score(objective: Objective | None) -> Callable[[float], str]:
    """Losses in the sign of the objective; an error as accuracy, as the paper prints it."""
    if (
        objective is not None
        and isinstance(objective.loss, Measured)
        and objective.loss.metric.complement == "accuracy"
    ):
        return accuracy
    maximised = objective is not None and not objective.minimize
    return lambda loss: shown(-loss if maximised else loss)


def _table(events: Sequence[Traced], maximised: bool) -> str:
    """The figures of events of one kind; a third party's strategy may report any."""
    rows = [_cells(event.figures, maximised) for event in events]
    names = list(dict.fromkeys(name for row in rows for name in row))
    texts = [[row.get(name, "-") for name in names] for row in rows]
    is_number = [all(_is_number(row[column]) for row in texts) for column in range(len(names))]
    return aligned([names, *texts], right=[column for column, number in enumerate(is_number) if number])


def _cells(figures: Mapping[str, Any], maximised: bool) -> dict[str, str]:
    cells: dict[str, str] = {}
    for name, figure in figures.items():
        if name in ("stage", "reference", "found_at"):
            continue
        if name == "losses":
            cells |= _spread([-one if maximised else one for one in figure])
        elif name == "front":
            cells["front"] = shown(len(figure))
        elif name in _LOSSES and isinstance(figure, int | float):
            cells[name] = shown(-float(figure) if maximised else float(figure))
        else:
            cells[name] = shown(figure)
    return cells


def _spread(values: Sequence[float]) -> dict[str, str]:
    """How many models there were, how many of them failed or lie outside the space, and the range of the others."""
    judged = [value for value in values if math.isfinite(value)]
    ends = (min(judged), median(judged), max(judged)) if judged else (None, None, None)
    names = ("lowest", "median", "highest")
    return {
        "models": shown(len(values)),
        "invalid": shown(len(values) - len(judged)),
        **{name: shown(end) for name, end in zip(names, ends, strict=True)},
    }


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "").replace("-", "0", 1) or "0")
    except ValueError:
        return False
    return True


# --- Best-first search, as Duch and Grudzinski print it ---------------------------------------------------------------


class Traced(Protocol):
    """An event of a search, as it happens or as the store keeps it."""

    @property
    def kind(self) -> str: ...

    @property
    def figures(self) -> Mapping[str, Any]: ...


def accuracy(loss: float) -> str:
    """An error rate as the paper gives it: the share of rows that are right, in per cent."""
    return f"{100 * (1 - loss):.1f}"


def levels_table(events: Iterable[Traced], score: Callable[[float], str] = accuracy) -> str:
    """Level, channel, score and chosen values; a star marks what the next level starts from.

    Events of other kinds are passed over, and so a trace without best-first search gives an empty text.
    """
    rows: list[tuple[str, str, str, str]] = []
    for event in events:
        if event.kind != "level":
            continue
        level, tried = str(event.figures["level"]), event.figures["rows"]
        if not tried:
            rows.append((level, "ref", score(event.figures["best"]), ""))
        for row in tried:
            channel = " + ".join(["ref", *row["reference"], row["channel"]])
            rows.append((level, channel, score(row["loss"]) + ("*" if row["opened"] else ""), row["values"]))
    if not rows:
        return ""
    rows.insert(0, ("level", "channel", "score", "values"))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join("  ".join([*map(str.ljust, row[:3], widths), row[3]]).rstrip() for row in rows)
