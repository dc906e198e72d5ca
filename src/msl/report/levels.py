"""Levels: the trace of best-first search as a table, as Duch and Grudzinski print it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol


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
