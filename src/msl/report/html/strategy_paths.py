"""Plots of how a strategy moves: particles of a swarm, sweeps of pattern search, generations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from msl.report.html.axes import MOST_DOTS, Scale
from msl.report.html.markup import Cell, Column, Html, beyond_words, count, figure, folded, joined, sentence, table
from msl.report.html.plot import Axis, Plot
from msl.report.html.run_record import Record
from msl.report.html.search_plot import value_spread

#: More lines than this cannot be distinguished by colour.
_COLOURED = 8
Way = list[tuple[int, float]]


def particles_figure(record: Record, stage: int, iterations: Sequence[Mapping[str, Any]]) -> Html | None:
    """The swarm of a stage; None for fewer than two iterations, which make no line."""
    ways = _ways(record, iterations)
    if len(iterations) < 2 or not any(len(way) > 1 for way in ways):
        return None
    goal = record.goal
    spread = value_spread([value for way in ways for _, value in way], goal)
    last = int(iterations[-1]["iteration"])
    plot = Plot(
        f"particles-{stage}",
        "The particles",
        Axis("iteration", Scale(0, last, say=lambda value: f"{value:,.0f}"), counts=True),
        Axis(goal.name, spread.scale),
    )
    leader = _leader(ways, goal.minimize)
    few = len(ways) <= _COLOURED
    for number, way in sorted(enumerate(ways), key=lambda one: one[0] == leader):
        style = f"k{number + 1}" if few else "k1" if number == leader else "k0"
        for piece in _pieces(way):
            plot.line(piece, style, more="" if number == leader else "thin")
    if few:
        for number in range(len(ways)):
            plot.key("line", f"k{number + 1}", f"particle {number + 1}")
    else:
        plot.key("line", "k1", f"particle {leader + 1}, which found the best")
        plot.key("line", "k0", "the others")
    vertices = [(number, *vertex) for number, way in enumerate(ways) for vertex in way]
    for number, iteration, value in vertices[:: max(1, math.ceil(len(vertices) / MOST_DOTS))]:
        plot.hint((iteration, value), f"particle {number + 1}, iteration {iteration}: {goal.name} {figure(value)}")
    caption = (
        f"{count(len(ways), 'particle')} over {count(last, 'iteration')}; particle {leader + 1} found the best "
        f"{goal.name}, {figure(_best(ways[leader], goal.minimize))}."
    )
    caption += f" {beyond_words(spread.beyond)}" if spread.beyond else ""
    return plot.figure(caption, f"{caption} Lines are broken where a model has no value.")


def _ways(record: Record, iterations: Sequence[Mapping[str, Any]]) -> list[Way]:
    """The values of each particle by iteration, without failures."""
    number = max(len(figures["losses"]) for figures in iterations)
    ways: list[Way] = [[] for _ in range(number)]
    for figures in iterations:
        for particle, loss in enumerate(figures["losses"]):
            if loss is not None and math.isfinite(loss):
                ways[particle].append((int(figures["iteration"]), record.goal.value(float(loss))))
    return ways


def _pieces(way: Way) -> list[Way]:
    """The stretches without a gap; a single place becomes a short line."""
    numbered = groupby(enumerate(way), key=lambda one: one[1][0] - one[0])
    pieces = [[vertex for _, vertex in group] for _, group in numbered]
    return [piece if len(piece) > 1 else piece * 2 for piece in pieces]


def _best(way: Way, minimize: bool) -> float:
    values = [value for _, value in way]
    return min(values) if minimize else max(values)


def _leader(ways: list[Way], minimize: bool) -> int:
    places = [place for place, way in enumerate(ways) if way]
    best = {place: _best(ways[place], minimize) for place in places}
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
