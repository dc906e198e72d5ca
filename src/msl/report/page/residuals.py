"""Residuals: what a regression said against what was true, and how far off it was."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median

from msl.report.page.figures import count, figure
from msl.report.page.histogram import histogram
from msl.report.page.html import Html
from msl.report.page.outcome import Judged
from msl.report.page.plot import Axis, Plot
from msl.report.page.scale import Scale
from msl.report.page.section import part
from msl.report.page.thin import thinned

_MOST_DOTS = 2500


def residuals_part(title: str, judged: Judged, name: str, target: str) -> Html | None:
    """Two pictures: said against true, and how the differences spread."""
    pairs = [
        (true, said)
        for true, said in zip(judged.actual, judged.predicted, strict=True)
        if math.isfinite(true) and math.isfinite(said)
    ]
    if not pairs:
        return None
    residuals = [said - true for true, said in pairs]
    off = sorted(map(abs, residuals))
    mean = f"On average {figure(fmean(off))} off, half of the rows by at most {figure(median(off))}"
    caption = f"{mean}, the worst by {figure(off[-1])}; r² is {_r2(pairs)} on these {count(len(pairs), 'row')}."
    spread = histogram(
        f"{name}-residuals",
        "Residuals",
        residuals,
        "said minus true",
        "rows",
        f"The model says {_lean(residuals)}; nine in ten rows lie between {_nine_in_ten(residuals)}.",
    )
    return part(title, _picture(pairs, name, target, caption), spread)


def _picture(pairs: Sequence[tuple[float, float]], name: str, target: str, caption: str) -> Html:
    scale = Scale.of([value for pair in pairs for value in pair])
    plot = Plot(
        f"{name}-said",
        "Said against true",
        Axis(f"true {target}", scale),
        Axis(f"said {target}", scale),
        height=400,
        style="even",
    )
    plot.line([(scale.low, scale.low), (scale.high, scale.high)], "k0", more="thin")
    drawn = thinned(pairs, lambda pair: (scale.place(pair[0]), scale.place(pair[1])), most=_MOST_DOTS)
    plot.dots(drawn, "k1", more="soft")
    plot.key("dot", "k1", "a row")
    plot.key("line", "k0", "said what is true")
    for true, said in drawn:
        plot.hint((true, said), f"true {figure(true)}, said {figure(said)}")
    caption += f" {len(drawn):,} of {count(len(pairs), 'row')} are drawn." if len(drawn) < len(pairs) else ""
    return plot.figure(caption, caption)


def _r2(pairs: Sequence[tuple[float, float]]) -> str:
    mean = fmean(true for true, _ in pairs)
    total = sum((true - mean) ** 2 for true, _ in pairs)
    return figure(1 - sum((said - true) ** 2 for true, said in pairs) / total, 3) if total else figure(None)


def _lean(residuals: Sequence[float]) -> str:
    mean = fmean(residuals)
    return f"{figure(abs(mean), 3)} too {'much' if mean > 0 else 'little'} on average"


def _nine_in_ten(residuals: Sequence[float]) -> str:
    ordered = sorted(residuals)
    low, high = ordered[int(0.05 * (len(ordered) - 1))], ordered[math.ceil(0.95 * (len(ordered) - 1))]
    return f"{figure(low, 3)} and {figure(high, 3)}"
