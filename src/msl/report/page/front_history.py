"""Front history: how much of the plane of objectives the front had won after each iteration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msl.report.page.figures import count, figure
from msl.report.page.html import Html
from msl.report.page.plot import Axis, Plot
from msl.report.page.record import Record
from msl.report.page.scale import Scale


def hypervolume_figure(record: Record, stage: int, fronts: Sequence[Mapping[str, Any]]) -> Html | None:
    """The hypervolume over the iterations; None for fewer than two of them."""
    if len(fronts) < 2:
        return None
    volumes = [(int(one["iteration"]), float(one["hypervolume"])) for one in fronts]
    plot = Plot(
        f"fronts-{stage}",
        "The hypervolume of the front",
        Axis("iteration", Scale(volumes[0][0], volumes[-1][0], say=lambda value: f"{value:,.0f}"), counts=True),
        Axis("hypervolume (higher is better)", Scale.of([volume for _, volume in volumes], zero=True)),
        height=200,
    )
    plot.line(volumes, "k1")
    for one, (iteration, volume) in zip(fronts, volumes, strict=True):
        models = count(len(one["front"]), "model")
        plot.hint((iteration, volume), f"iteration {iteration}: hypervolume {figure(volume)}, {models} on the front")
    first, last = fronts[0], fronts[-1]
    caption = (
        f"The front grew from {count(len(first['front']), 'model')} to {count(len(last['front']), 'model')}, and its "
        f"hypervolume from {figure(volumes[0][1])} to {figure(volumes[-1][1])}, measured from the worst values of the "
        f"first swarm."
    )
    return plot.figure(caption, caption)
