"""Level table: best-first search as the paper prints it — each level, the channels tried, and which one was opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msl.report.page.figures import count, difference, figure, shortened
from msl.report.page.html import Content, Html, joined, tag
from msl.report.page.msl_code import coloured
from msl.report.page.record import Record
from msl.report.page.section import listed, sentence
from msl.report.page.table import Cell, Column, table

_LONGEST_VALUES = 300


def levels_tables(record: Record, stage: int, levels: Sequence[Mapping[str, Any]]) -> Html | None:
    """One table of all levels; a star marks what the next level starts from."""
    goal = record.goal
    columns = [
        Column("level", number=True),
        Column("channels"),
        Column(goal.name, number=True),
        Column("gain", number=True),
        Column("complexity", number=True),
        Column("values", wide=True),
    ]
    rows: list[list[Cell | Content]] = []
    opened: list[str] = []
    for level in levels:
        number = int(level["level"])
        if not level["rows"]:
            start = goal.value(float(level["best"]))
            rows.append([Cell(str(number), number), "the start", Cell(figure(start), start), "", "", ""])
        for row in level["rows"]:
            rows.append(_row(record, number, row))
            opened += [f"{row['channel']} ({figure(goal.value(float(row['loss'])))})"] * bool(row["opened"])
    path = f"Opened in turn: {listed(opened)}." if opened else "No channel was worth opening."
    last = int(levels[-1]["level"])
    words = f"{count(last, 'level')} of channels were tried. {path} A star marks what the next level starts from."
    return joined([table(columns, rows, "Levels of best-first search"), sentence(words)])


def _row(record: Record, level: int, row: Mapping[str, Any]) -> list[Cell | Content]:
    value = record.goal.value(float(row["loss"]))
    channels = " + ".join([*row["reference"], row["channel"]])
    star = " ★" if row["opened"] else ""
    name: Content = tag("strong", channels, star) if row["opened"] else channels
    return [
        Cell(str(level), level),
        name,
        Cell(figure(value), value),
        Cell(difference(float(row["gain"])), row["gain"]),
        Cell(figure(row["complexity"]), row["complexity"]),
        coloured(shortened(str(row["values"]), _LONGEST_VALUES)),
    ]
