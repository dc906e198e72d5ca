"""The search section of the page: what each strategy reported, such as arms, levels and rungs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
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
    beyond_words,
    count,
    difference,
    figure,
    folded,
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
from msl.report.html.plot import MOST_DOTS, Axis, Plot, Scale
from msl.report.html.quality import confirmed_table
from msl.report.html.run_record import Record
from msl.report.html.search_plot import improvements_table, trace_figure, value_spread

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


# --- How a strategy moves ---------------------------------------------------------------------------------------------


EventFigures = Sequence[Mapping[str, Any]]
#: More lines than this cannot be distinguished by colour.
_COLOURED = 8
#: The values of one particle, each with its iteration.
Trajectory = list[tuple[int, float]]


def particles_figure(record: Record, stage: int, iterations: Sequence[Mapping[str, Any]]) -> Html | None:
    """The swarm of a stage; None for fewer than two iterations, which make no line."""
    trajectories = _trajectories(record, iterations)
    if len(iterations) < 2 or not any(len(trajectory) > 1 for trajectory in trajectories):
        return None
    goal = record.goal
    spread = value_spread([value for trajectory in trajectories for _, value in trajectory], goal)
    last = int(iterations[-1]["iteration"])
    plot = Plot(
        f"particles-{stage}",
        "The particles",
        Axis("iteration", Scale(0, last, say=lambda value: f"{value:,.0f}"), counts=True),
        Axis(goal.name, spread.scale),
    )
    leader = _leader(trajectories, goal.minimize)
    few = len(trajectories) <= _COLOURED
    for number, trajectory in sorted(enumerate(trajectories), key=lambda one: one[0] == leader):
        style = f"k{number + 1}" if few else "k1" if number == leader else "k0"
        for piece in _pieces(trajectory):
            plot.line(piece, style, more="" if number == leader else "thin")
    if few:
        for number in range(len(trajectories)):
            plot.key("line", f"k{number + 1}", f"particle {number + 1}")
    else:
        plot.key("line", "k1", f"particle {leader + 1}, which found the best")
        plot.key("line", "k0", "the others")
    vertices = [(number, *vertex) for number, trajectory in enumerate(trajectories) for vertex in trajectory]
    for number, iteration, value in vertices[:: max(1, math.ceil(len(vertices) / MOST_DOTS))]:
        plot.hint((iteration, value), f"particle {number + 1}, iteration {iteration}: {goal.name} {figure(value)}")
    caption = (
        f"{count(len(trajectories), 'particle')} over {count(last, 'iteration')}; particle {leader + 1} found the best "
        f"{goal.name}, {figure(_best(trajectories[leader], goal.minimize))}."
    )
    caption += f" {beyond_words(spread.beyond)}" if spread.beyond else ""
    return plot.figure(caption, f"{caption} Lines are broken where a model has no value.")


def _trajectories(record: Record, iterations: Sequence[Mapping[str, Any]]) -> list[Trajectory]:
    """The values of each particle by iteration, without failures."""
    number = max(len(figures["losses"]) for figures in iterations)
    trajectories: list[Trajectory] = [[] for _ in range(number)]
    for figures in iterations:
        for particle, loss in enumerate(figures["losses"]):
            if loss is not None and math.isfinite(loss):
                trajectories[particle].append((int(figures["iteration"]), record.goal.value(float(loss))))
    return trajectories


def _pieces(trajectory: Trajectory) -> list[Trajectory]:
    """The stretches without a gap; a single place becomes a short line."""
    numbered = groupby(enumerate(trajectory), key=lambda one: one[1][0] - one[0])
    pieces = [[vertex for _, vertex in group] for _, group in numbered]
    return [piece if len(piece) > 1 else piece * 2 for piece in pieces]


def _best(trajectory: Trajectory, minimize: bool) -> float:
    values = [value for _, value in trajectory]
    return min(values) if minimize else max(values)


def _leader(trajectories: list[Trajectory], minimize: bool) -> int:
    places = [place for place, trajectory in enumerate(trajectories) if trajectory]
    best = {place: _best(trajectories[place], minimize) for place in places}
    return min(places, key=lambda place: best[place] if minimize else -best[place])


# --- Sweeps of pattern search -----------------------------------------------------------------------------------------


def sweeps_figure(record: Record, stage: int, sweeps: Sequence[Mapping[str, Any]]) -> Html | None:
    """The step of each sweep as a picture, and the sweeps as a table."""
    moved = [one for one in sweeps if one["moved"]]
    tried = sum(int(one["tried"]) for one in sweeps)
    caption = (
        f"{count(len(sweeps), 'sweep')} tried {count(tried, 'step')} from {figure(sweeps[0]['step'])} down to "
        f"{figure(sweeps[-1]['step'])} of each dimension's range; {count(len(moved), 'sweep')} found something better."
    )
    shown = _table(record, sweeps)
    if len(sweeps) < 3:
        return joined([shown, sentence(caption)])
    steps = [float(one["step"]) for one in sweeps]
    plot = Plot(
        f"sweeps-{stage}",
        "The steps of pattern search",
        Axis("sweep", Scale(1, len(sweeps), say=lambda value: f"{value:.0f}"), counts=True),
        Axis("step", Scale.of(steps, log=True)),
        height=200,
    )
    plot.line([(int(one["sweep"]), float(one["step"])) for one in sweeps], "k0", more="thin")
    for is_moved, colour, label in ((True, "k1", "found a better model"), (False, "k0", "found none")):
        here = [one for one in sweeps if bool(one["moved"]) is is_moved]
        if here:
            plot.dots([(int(one["sweep"]), float(one["step"])) for one in here], colour, more="big")
            plot.key("dot", colour, label)
    for one in sweeps:
        best = figure(_best_sweep(record, one))
        words = f"sweep {one['sweep']}: step {figure(one['step'])}, {count(one['tried'], 'try', 'tries')}, best {best}"
        plot.hint((int(one["sweep"]), float(one["step"])), words)
    return joined([plot.figure(caption, caption), folded("The sweeps as a table", shown)])


def _table(record: Record, sweeps: Sequence[Mapping[str, Any]]) -> Html:
    columns = [Column(name, number=name != "moved") for name in ("sweep", "step", "tried", "moved", record.goal.name)]
    rows = [
        [
            Cell(str(one["sweep"]), one["sweep"]),
            Cell(figure(one["step"]), one["step"]),
            Cell(f"{one['tried']:,}", one["tried"]),
            "yes" if one["moved"] else "no",
            Cell(figure(_best_sweep(record, one)), _best_sweep(record, one)),
        ]
        for one in sweeps
    ]
    return table(columns, rows, "Sweeps")


def _best_sweep(record: Record, sweep: Mapping[str, Any]) -> float:
    return record.goal.value(float(sweep["best"]))


# --- Generations of a genetic algorithm -------------------------------------------------------------------------------


def generations_figure(record: Record, stage: int, generations: Sequence[Mapping[str, Any]]) -> Html | None:
    """Units by generation, as the paper shows them."""
    means = [
        (int(one["generation"]), float(one["mean_units"]))
        for one in generations
        if one.get("mean_units") is not None and math.isfinite(one["mean_units"])
    ]
    chosen = [(int(one["generation"]), float(units)) for one in generations for units in one["units"]]
    if len(means) < 2:
        return None
    last = int(generations[-1]["generation"])
    plot = Plot(
        f"generations-{stage}",
        "Units by generation",
        Axis("generation", Scale(0, last, say=lambda value: f"{value:,.0f}"), counts=True),
        Axis("units (complexity)", Scale.of([units for _, units in means + chosen], zero=True)),
    )
    plot.line(means, "k0")
    plot.dots(chosen, "k1")
    plot.key("line", "k0", "mean of the population")
    plot.key("dot", "k1", "chosen by Occam elitism")
    for one in generations:
        number, goal = int(one["generation"]), record.goal
        best = f"best {goal.name} {figure(goal.value(float(one['best'])))}"
        for units in one["units"]:
            words = f"generation {number}: {figure(units)} units, mean {figure(one['mean_units'])}\n{best}"
            plot.hint((number, float(units)), f"{words}, {one['feasible']} models with a value")
    ends = f"The mean of the population went from {figure(means[0][1])} to {figure(means[-1][1])} units"
    kept = f"; the last one chosen has {figure(chosen[-1][1])}" if chosen else ""
    caption = f"{ends} in {last} generations{kept}."
    return plot.figure(caption, caption)


# --- All kinds of events ----------------------------------------------------------------------------------------------


#: For each kind of event: what it is called on the page, and how its figures are shown.
_KINDS: dict[str, tuple[str, Callable[[Record, int, EventFigures], Html | None]]] = {
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
        by_stage: dict[int, list[Mapping[str, Any]]] = {}
        for stage, figures in record.figures_of(kind):
            by_stage.setdefault(stage, []).append(figures)
        for stage, figures_of_stage in by_stage.items():
            shown = show(record, stage, figures_of_stage)
            if shown is not None:
                several = len(record.plan.strategies) > 1
                parts.append(part(f"{title}: {record.strategy(stage)}" if several else title, shown))
    return parts


def _ends(record: Record) -> Html | None:
    """Why each strategy ended."""
    ends = [(stage, str(figures["why"])) for stage, figures in record.figures_of("end") if figures.get("why")]
    if not ends:
        return None
    if len(record.plan.strategies) == 1:
        return sentence(f"The search ended because {ends[-1][1]}.")
    return sentence(" ".join(f"{record.strategy(stage)} ended because {why}." for stage, why in ends))
