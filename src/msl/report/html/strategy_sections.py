"""The search section of the page: what each strategy reported, such as arms, levels and rungs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import median
from typing import Any

from msl.report.html.markup import (
    UNKNOWN,
    Cell,
    Column,
    Content,
    Html,
    Section,
    count,
    difference,
    figure,
    joined,
    listed,
    part,
    percent,
    section,
    sentence,
    share_bar,
    shortened,
    table,
    tag,
)
from msl.report.html.model_view import coloured
from msl.report.html.pareto_front import hypervolume_figure
from msl.report.html.quality import confirmed_table
from msl.report.html.run_record import Record
from msl.report.html.search_plot import improvements_table, trace_figure
from msl.report.html.strategy_paths import generations_figure, particles_figure, sweeps_figure

# --- Arms of the automatic search -------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Arm:
    batches: int = 0
    evaluations: int = 0
    improved: int = 0
    gained: float = 0.0


def arms_table(record: Record, stage: int, batches: Sequence[Mapping[str, Any]]) -> Html | None:
    """A row for each arm."""
    arms: dict[str, _Arm] = {}
    best: float | None = None
    for batch in batches:
        arm = arms.setdefault(str(batch["arm"]), _Arm())
        arm.batches += 1
        arm.evaluations += len(batch["losses"])
        now = float(batch["best"])
        if best is not None and isfinite(best) and now < best:
            arm.improved += 1
            arm.gained += best - now
        best = now
    total = sum(arm.evaluations for arm in arms.values())
    columns = [
        Column("arm"),
        Column(""),
        Column("share", number=True),
        Column("evaluations", number=True),
        Column("times better", number=True),
        Column(f"gain in {record.goal.name}", number=True),
    ]
    rows: list[list[Cell | Content]] = [
        [
            name,
            share_bar(arm.evaluations / total, "k1"),
            Cell(percent(arm.evaluations / total), arm.evaluations),
            Cell(f"{arm.evaluations:,}", arm.evaluations),
            Cell(str(arm.improved), arm.improved),
            Cell(difference(-arm.gained if record.goal.minimize else arm.gained), arm.gained),
        ]
        for name, arm in sorted(arms.items(), key=lambda one: -one[1].evaluations)
    ]
    useful = max(arms, key=lambda name: arms[name].gained)
    words = f"{count(total, 'evaluation')} in {count(len(batches), 'batch', 'batches')}"
    return joined(
        [
            table(columns, rows, "Arms of the automatic search"),
            sentence(f"{words}; {useful} improved the best most after the start."),
        ]
    )


# --- Levels of best-first search, as the paper prints them ------------------------------------------------------------


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


# --- Rungs of successive halving --------------------------------------------------------------------------------------


def rungs_table(record: Record, stage: int, rungs: Sequence[Mapping[str, Any]]) -> Html | None:
    """A row for each rung, in the order of climbing."""
    goal = record.goal
    names = ("rung", "share of the rows", "models", f"best {goal.name}", f"median {goal.name}", "failed")
    rows = []
    for number, rung in enumerate(rungs, 1):
        values = [goal.value(float(loss)) for loss in rung["losses"] if loss is not None and math.isfinite(loss)]
        best = (min if goal.minimize else max)(values, default=None)
        middle = median(values) if values else None
        failed = len(rung["losses"]) - len(values)
        rows.append(
            [
                Cell(str(number), number),
                Cell(percent(rung["share"]), rung["share"]),
                Cell(f"{len(rung['losses']):,}", len(rung["losses"])),
                Cell(figure(best) if best is not None else UNKNOWN, best),
                Cell(figure(middle) if middle is not None else UNKNOWN, middle),
                Cell(f"{failed:,}", failed),
            ]
        )
    whole = sum(len(rung["losses"]) for rung in rungs if rung["share"] == 1.0)
    words = f"{count(whole, 'model')} reached all rows. Values on different shares of the rows cannot be compared."
    return joined([table([Column(name, number=True) for name in names], rows, "Rungs"), sentence(words)])


# --- The section of the page ------------------------------------------------------------------------------------------


Told = Sequence[Mapping[str, Any]]

#: For each kind of event: what it is called on the page, and how its figures are shown.
_KINDS: dict[str, tuple[str, Callable[[Record, int, Told], Html | None]]] = {
    "iteration": ("Particles", particles_figure),
    "sweep": ("Sweeps of pattern search", sweeps_figure),
    "level": ("Levels of best-first search", levels_tables),
    "generation": ("Generations", generations_figure),
    "front": ("The front as it grew", hypervolume_figure),
    "arm": ("Arms", arms_table),
    "rung": ("Rungs of successive halving", rungs_table),
    "confirmed": ("Finalists on new splits", confirmed_table),
}


def search_section(record: Record) -> Section | None:
    """The trace of the whole search, then what is special to its strategies."""
    if not record.trials:
        return None
    return section(
        "search", "The search", trace_figure(record), improvements_table(record), _parts(record), _ends(record)
    )


def _parts(record: Record) -> list[Content]:
    parts: list[Content] = []
    for kind, (title, show) in _KINDS.items():
        told: dict[int, list[Mapping[str, Any]]] = {}
        for stage, figures in record.told(kind):
            told.setdefault(stage, []).append(figures)
        for stage, figures_of_stage in told.items():
            shown = show(record, stage, figures_of_stage)
            if shown is not None:
                several = len(record.plan.strategies) > 1
                parts.append(part(f"{title}: {record.strategy(stage)}" if several else title, shown))
    return parts


def _ends(record: Record) -> Html | None:
    """Why each strategy ended."""
    ends = [(stage, str(figures["why"])) for stage, figures in record.told("end") if figures.get("why")]
    if not ends:
        return None
    if len(record.plan.strategies) == 1:
        return sentence(f"The search ended because {ends[-1][1]}.")
    return sentence(" ".join(f"{record.strategy(stage)} ended because {why}." for stage, why in ends))
