"""Histogram: how values spread, as bars over even stretches of their scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from msl.report.page.figures import count, figure
from msl.report.page.html import Html
from msl.report.page.plot import Axis, Plot
from msl.report.page.scale import Scale

_MOST_BINS = 36


def histogram(
    name: str,
    title: str,
    values: Sequence[float],
    across: str,
    up: str,
    caption: str,
    *,
    log: bool = False,
    say: Callable[[float], str] = figure,
) -> Html:
    """Bars whose height is how many values lie in a stretch; by logarithms with `log`."""
    scale = Scale.of(values, log=log, say=say)
    bins = min(max(round(2 * len(values) ** (1 / 3)), 5), _MOST_BINS)
    numbers = [0] * bins
    for value in values:
        numbers[min(int(scale.place(value) * bins), bins - 1)] += 1
    edges = [_edge(scale, place / bins) for place in range(bins + 1)]
    y = Scale.of(numbers, zero=True, say=lambda value: f"{value:,.0f}")
    plot = Plot(name, title, Axis(across, scale), Axis(up, y, counts=True), height=180)
    plot.bars(((edges[i], edges[i + 1], float(number)) for i, number in enumerate(numbers) if number), "k1")
    for place, number in enumerate(numbers):
        if number:
            middle = _edge(scale, (place + 0.5) / bins)
            words = f"{say(edges[place])} to {say(edges[place + 1])}: {count(number, up.removesuffix('s'))}"
            plot.hint((middle, float(number)), words)
    return plot.figure(caption, caption)


def _edge(scale: Scale, share: float) -> float:
    if scale.log:
        return scale.low * math.exp(share * math.log(scale.high / scale.low))
    return scale.low + share * (scale.high - scale.low)
