"""Generations: how large the models of a genetic algorithm are, on average and those that it would answer with."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from msl.report.page.figures import figure
from msl.report.page.html import Html
from msl.report.page.plot import Axis, Plot
from msl.report.page.record import Record
from msl.report.page.scale import Scale


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
