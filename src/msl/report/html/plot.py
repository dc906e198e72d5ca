"""Plots with two axes as SVG that stretch to any width while letters, dots and lines keep their size.

The drawing area is the whole of the SVG, in shares of its width and height; ticks stand around it. Curves live in an
inner SVG of 1000 by 1000 that is stretched to fit, and whose strokes are not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from msl.report.html.axes import Scale, Tick
from msl.report.html.markup import Content, Html, count, data_block, figure, joined, tag

Point = tuple[float, float]
Shape = Literal["dot", "square", "line", "area"]
_SIZE = 1000


@dataclass(frozen=True, slots=True)
class Axis:
    """What a direction means: its label, its scale, and its ticks where they are not the scale's own."""

    label: str
    scale: Scale
    counts: bool = False
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Key:
    """A line of the legend: what a shape in a colour means."""

    shape: Shape
    colour: str
    label: str


class Plot:
    """Layers in the order in which they are drawn; `name` is the picture's own within the page."""

    def __init__(self, name: str, title: str, x: Axis, y: Axis, *, height: int = 260, style: str = "") -> None:
        self.name, self.title, self.x, self.y, self.height = name, title, x, y, height
        self._style = style
        self._layers: list[Html] = []
        self._keys: list[Key] = []
        self._hints: list[tuple[float, float, str]] = []

    # --- layers ---

    def dots(self, points: Iterable[Point], colour: str, shape: Shape = "dot", *, more: str = "") -> None:
        """One path for all of them: strokes of no length with round or square ends."""
        commands = "".join(f"M{self._at(point)}h0" for point in points)
        self._path(commands, f"{shape} {colour} {more}")

    def line(self, points: Sequence[Point], colour: str, *, more: str = "") -> None:
        self._path("M" + "L".join(map(self._at, points)) if points else "", f"line {colour} {more}")

    def steps(self, points: Sequence[Point], end: float, colour: str) -> None:
        """A step line that keeps its height until the next point, and ends at `end`."""
        if not points:
            return
        commands = f"M{self._at(points[0])}"
        for x, y in points[1:]:
            commands += f"H{self._across(x)}V{self._down(y)}"
        self._path(commands + f"H{self._across(end)}", f"line {colour}")

    def bars(self, bars: Iterable[tuple[float, float, float]], colour: str) -> None:
        """From one place to another, so high; all in one path."""
        commands = "".join(
            f"M{self._across(start)} {_SIZE}V{self._down(height)}H{self._across(end)}V{_SIZE}z"
            for start, end, height in bars
        )
        self._path(commands, f"area {colour}")

    def upright(self, x: float, more: str = "") -> None:
        """A thin line from top to bottom."""
        self._path(f"M{self._across(x)} 0V{_SIZE}", f"rule {more}")

    def key(self, shape: Shape, colour: str, label: str) -> None:
        self._keys.append(Key(shape, colour, label))

    def hint(self, point: Point, words: str) -> None:
        """The text shown when the pointer or a key gets near a point."""
        x, y = point
        self._hints.append((round(self.x.scale.place(x), 4), round(1 - self.y.scale.place(y), 4), words))

    # --- the picture ---

    def figure(self, caption: Content | Iterable[Content], description: str) -> Html:
        """The picture with its legend and a caption."""
        y_ticks = _named(self.y) or self.y.scale.ticks(6, whole=self.y.counts)
        x_ticks = _named(self.x) or self.x.scale.ticks(7, whole=self.x.counts, fitting=True)
        widest = max((len(tick.label) for tick in y_ticks), default=1)
        inner = tag("svg", *self._layers, viewBox=f"0 0 {_SIZE} {_SIZE}", preserveAspectRatio="none", class_="curves")
        picture = tag(
            "svg",
            tag("title", self.title, id=f"{self.name}-title"),
            tag("desc", description, id=f"{self.name}-desc"),
            [_level(tick) for tick in y_ticks],
            [_upright(tick) for tick in x_ticks],
            tag("line", x1="0", x2="100%", y1="100%", y2="100%", class_="base"),
            inner,
            tag("circle", r="7", class_="focus") if self._hints else None,
            width="100%",
            height=self.height,
            role="img",
            aria_labelledby=f"{self.name}-title {self.name}-desc",
            tabindex="0" if self._hints else None,
        )
        return tag(
            "figure",
            tag("div", self.y.label, class_="y-label"),
            tag("div", picture, class_=f"plot left{min(max(widest, 2), 16)}"),
            tag("div", self.x.label, class_="x-label"),
            legend(self._keys),
            tag("figcaption", caption),
            data_block({"points": self._hints}, "hints") if self._hints else None,
            class_=f"chart {self._style}".strip(),
        )

    # --- places ---

    def _path(self, commands: str, style: str) -> None:
        if commands:
            self._layers.append(tag("path", d=commands, class_=style.strip()))

    def _across(self, x: float) -> str:
        return _number(self.x.scale.place(x) * _SIZE)

    def _down(self, y: float) -> str:
        return _number((1 - self.y.scale.place(y)) * _SIZE)

    def _at(self, point: Point) -> str:
        return f"{self._across(point[0])} {self._down(point[1])}"


def legend(keys: Sequence[Key]) -> Html | None:
    if not keys:
        return None
    return tag("ul", [tag("li", _swatch(key), key.label) for key in keys], class_="legend")


def _swatch(key: Key) -> Html:
    """A small sample of the shape, hidden from screen readers: the label is read."""
    commands = {"dot": "M10 6h0", "square": "M10 6h0", "line": "M1 6h18", "area": "M3 1h14v10h-14z"}[key.shape]
    sample = tag("path", d=commands, class_=f"{key.shape} {key.colour}")
    return tag("svg", sample, width=20, height=12, aria_hidden="true", class_="swatch")


def _named(axis: Axis) -> list[Tick]:
    """Ticks at 0, 1, 2, … with names instead of values."""
    return [Tick(axis.scale.place(place), name) for place, name in enumerate(axis.names)]


def _level(tick: Tick) -> Html:
    y = f"{_number(100 - 100 * tick.place)}%"
    return joined(
        [
            tag("line", x1="0", x2="100%", y1=y, y2=y, class_="grid"),
            tag("text", tick.label, x="-8", y=y, dy="0.32em", class_="tick end"),
        ]
    )


def _upright(tick: Tick) -> Html:
    x = f"{_number(100 * tick.place)}%"
    return joined(
        [
            tag("line", x1=x, x2=x, y1="0", y2="100%", class_="grid"),
            tag("text", tick.label, x=x, y="100%", dy="1.55em", class_="tick middle"),
        ]
    )


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


# --- Histograms -------------------------------------------------------------------------------------------------------


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
