"""Plots with two axes as SVG that stretch to any width while letters, dots and lines keep their size.

The drawing area is the whole of the SVG, in shares of its width and height; ticks stand around it. Curves live in an
inner SVG of 1000 by 1000 that is stretched to fit, and whose strokes are not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeVar

from msl.report.diagrams.svg import tenths
from msl.report.html.markup import Content, Html, count, data_block, figure, joined, tag

#: Times the least value, from where on logarithms show more.
_WIDE = 30
#: How wide a letter of a tick's label is, and the room for all of them on the narrowest screen, in pixels.
_LETTER, _GAP, _NARROWEST = 7.0, 14.0, 250.0


@dataclass(frozen=True, slots=True)
class Tick:
    place: float
    label: str


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from `low` to `high`, evenly or by their logarithms; `say` writes a tick's label, else it is a figure."""

    low: float
    high: float
    log: bool = False
    say: Callable[[float], str] | None = None

    @classmethod
    def of(
        cls,
        values: Iterable[float],
        *,
        log: bool = False,
        zero: bool = False,
        round_ends: bool = True,
        say: Callable[[float], str] | None = None,
    ) -> Scale:
        """Wide enough for these values and, with `zero`, from there; with `round_ends`, from tick to tick."""
        known = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
        low, high = min(known), max(known)
        low = min(low, 0.0) if zero else low
        if log:
            low, high = (low, high) if low < high else (low / 2, high * 2)
            return cls(low / 1.1, high * 1.1, True, say) if round_ends else cls(low, high, True, say)
        if high - low <= max(1e-12 * max(abs(low), abs(high)), 1e-280):
            margin = abs(low) / 10 or 1.0
            low, high = low - (0 if zero and low == 0 else margin), high + margin
        if round_ends:
            step = _round_step((high - low) / 5)
            low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
        return cls(low, high, False, say)

    def place(self, value: float) -> float:
        """From 0 at the low end to 1 at the high one; what lies beyond is put at the end."""
        if self.log:
            share = math.log(max(value, 1e-300) / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return min(max(share, 0.0), 1.0)

    def ticks(self, most: int = 6, *, whole: bool = False, fitting: bool = False) -> list[Tick]:
        """At most so many; of `whole` numbers alone where they count things; `fitting` side by side on a phone."""
        ticks: list[Tick] = []
        for number in range(most, 1, -1):
            values = _decades(self.low, self.high, number) if self.log else _even(self.low, self.high, number, whole)
            say = self.say or _telling_apart(values)
            ticks = [Tick(self.place(value), say(value)) for value in values]
            if not fitting or sum(len(tick.label) * _LETTER + _GAP for tick in ticks) <= _NARROWEST:
                break
        return ticks


def is_wide(values: Iterable[float]) -> bool:
    """Whether positive values spread over so many orders of magnitude that a logarithmic axis is needed."""
    known = sorted(value for value in values if math.isfinite(value))
    if not known or known[0] <= 0:
        return False
    return known[min(int(0.9 * len(known)), len(known) - 1)] / known[0] > _WIDE


def _telling_apart(values: list[float]) -> Callable[[float], str]:
    """Figures with as many digits as neighbours need to differ, and no more than usual where they do not."""
    steps = [after - before for before, after in pairwise(values)]
    digits = math.ceil(math.log10(max(map(abs, values)) / min(steps))) + 2 if steps else 4
    return lambda value: figure(value, max(digits, 4))


def _round_step(rough: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))


def _even(low: float, high: float, most: int, whole: bool) -> list[float]:
    step = _round_step((high - low) / most)
    step = max(step, 1.0) if whole else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def _decades(low: float, high: float, most: int) -> list[float]:
    """Powers of ten; where they are few, twice and five times these as well; where they are many, every second…"""
    for factors in ((1, 2, 5), (1, 3), (1,)):
        values = [factor * 10.0**power for power in _powers(low, high) for factor in factors]
        inside = [value for value in values if low <= value <= high]
        if len(inside) <= most:
            return inside or [low, high]
    every = math.ceil(len(inside) / most)
    return inside[::every]


def _powers(low: float, high: float) -> range:
    return range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)


# --- Thinning: fewer dots where they overlap, so that the page of a long run stays small ------------------------------


T = TypeVar("T")
_COLUMNS, _ROWS = 480, 120
MOST_DOTS = 4000


def thinned(
    dots: Sequence[T],
    place: Callable[[T], tuple[float, float]],
    keep: Callable[[T], bool] = lambda dot: False,
    most: int = MOST_DOTS,
) -> list[T]:
    """All dots if they are few, else the first of each small area, evenly over the sequence; some are always kept.

    `place` gives where a dot lies, both from 0 to 1.
    """
    if len(dots) <= most:
        return list(dots)
    seen: set[tuple[int, int]] = set()
    chosen: list[T] = []
    for dot in dots:
        x, y = place(dot)
        area = int(x * _COLUMNS), int(y * _ROWS)
        if keep(dot) or area not in seen:
            chosen.append(dot)
        seen.add(area)
    kept = sum(map(keep, chosen))
    if len(chosen) <= most or kept >= most:
        return chosen
    every = (len(chosen) - kept) / (most - kept)
    left, threshold = [], 0.0
    passed = 0
    for dot in chosen:
        if keep(dot):
            left.append(dot)
            continue
        if passed >= threshold:
            left.append(dot)
            threshold += every
        passed += 1
    return left


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
        return tenths(self.x.scale.place(x) * _SIZE)

    def _down(self, y: float) -> str:
        return tenths((1 - self.y.scale.place(y)) * _SIZE)

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
    y = f"{tenths(100 - 100 * tick.place)}%"
    return joined(
        [
            tag("line", x1="0", x2="100%", y1=y, y2=y, class_="grid"),
            tag("text", tick.label, x="-8", y=y, dy="0.32em", class_="tick end"),
        ]
    )


def _upright(tick: Tick) -> Html:
    x = f"{tenths(100 * tick.place)}%"
    return joined(
        [
            tag("line", x1=x, x2=x, y1="0", y2="100%", class_="grid"),
            tag("text", tick.label, x=x, y="100%", dy="1.55em", class_="tick middle"),
        ]
    )


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
