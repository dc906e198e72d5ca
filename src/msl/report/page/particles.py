"""Particles: the way of each particle of a swarm, a line each, over the iterations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from msl.report.page.figures import beyond_words, count, figure
from msl.report.page.html import Html
from msl.report.page.plot import Axis, Plot
from msl.report.page.record import Record
from msl.report.page.scale import Scale
from msl.report.page.thin import MOST_DOTS
from msl.report.page.trace import value_spread

#: More lines than this are not told apart by their colours.
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
        f"{count(len(ways), 'particle')} over {count(last, 'iteration')}; particle {leader + 1} came to the best "
        f"{goal.name}, {figure(_best(ways[leader], goal.minimize))}."
    )
    caption += f" {beyond_words(spread.beyond)}" if spread.beyond else ""
    return plot.figure(caption, f"{caption} Lines are broken where a model has no value.")


def _ways(record: Record, iterations: Sequence[Mapping[str, Any]]) -> list[Way]:
    """What each particle came to, iteration by iteration; without those that failed."""
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
