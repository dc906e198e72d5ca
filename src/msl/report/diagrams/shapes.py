"""The shapes of a railway diagram; each is measured first and drawn later.

A shape has a track through it, from its left side to its right side, `track` below its top. Measures are kept once
known (which slots would not allow): each level asks the one below more than once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Protocol

from msl.report.diagrams.outline import More, Setting, Station
from msl.report.diagrams.svg import LABEL_SIZE, TITLE_SIZE, Picture, code_width, text_width

GAP = 30.0  # of track between two steps
_RAIL = 30.0  # of track at either side of a stack
_BEND = 10.0  # radius of a curve
_SPACE = 12.0  # between two alternatives
_PAD = 12.0
_TITLE_LINE, _TEXT_LINE, LABEL_LINE = 18.0, 15.0, 18.0
_INDENT = 10.0
_ACCENT = 4.0
_WIDEST_TITLE = 250.0
_SKIP, _BARE_SKIP = 26.0, 16.0  # room for a track above or below, with and without words on it


class Shape(Protocol):
    """What all shapes can tell and do."""

    @property
    def width(self) -> float: ...
    @property
    def height(self) -> float: ...
    @property
    def track(self) -> float: ...

    def draw(self, picture: Picture, x: float, y: float) -> None: ...


# --- stations -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StationShape:
    """A box with names and, in small type, parameters."""

    station: Station
    titles: tuple[str, ...]
    width: float

    @classmethod
    def of(cls, station: Station) -> StationShape:
        titles = _title_lines(station.names)
        widths = [text_width(title) for title in titles]
        widths += [setting.depth * _INDENT + code_width(setting.text) for setting in station.settings]
        return cls(station, titles, max(widths) + 2 * _PAD + _ACCENT)

    @cached_property
    def height(self) -> float:
        lines = len(self.station.settings) + (self.station.left_out > 0)
        return len(self.titles) * _TITLE_LINE + lines * _TEXT_LINE + _PAD + (4 if lines else 0)

    @cached_property
    def track(self) -> float:
        return self.height / 2

    def draw(self, picture: Picture, x: float, y: float) -> None:
        picture.box(x, y, self.width, self.height, "box")
        picture.box(x, y, _ACCENT, self.height, picture.role(self.station.role), radius=2)
        _head(picture, x, y + self.track)
        left, baseline = x + _PAD + _ACCENT, y + _PAD / 2
        for title in self.titles:
            baseline += _TITLE_LINE
            picture.text(left, baseline - 4, title, "title")
        baseline += 2
        for setting in self.station.settings:
            baseline += _TEXT_LINE
            picture.spans(left + setting.depth * _INDENT, baseline - 3, *_spans(setting))
        if self.station.left_out:
            picture.spans(left, baseline + _TEXT_LINE - 3, (f"+ {self.station.left_out} more", "fixed"))


def _title_lines(names: tuple[str, ...]) -> tuple[str, ...]:
    lines = [names[0]]
    for name in names[1:]:
        longer = f"{lines[-1]} | {name}"
        if text_width(longer) <= _WIDEST_TITLE:
            lines[-1] = longer
        else:
            lines[-1] += " |"
            lines.append(name)
    return tuple(lines)


def _spans(setting: Setting) -> tuple[tuple[str, str], ...]:
    if not setting.is_open:
        return ((setting.text, "fixed"),)
    return (f"{setting.name}: ", "name"), (setting.domain, "domain")


@dataclass(frozen=True)
class MoreShape:
    """A box for what is not shown."""

    more: More

    @cached_property
    def width(self) -> float:
        return text_width(self.more.text) + 2 * _PAD

    @cached_property
    def height(self) -> float:
        return _TITLE_LINE + _PAD

    @cached_property
    def track(self) -> float:
        return self.height / 2

    def draw(self, picture: Picture, x: float, y: float) -> None:
        picture.box(x, y, self.width, self.height, "frame")
        picture.text(x + _PAD, y + _PAD / 2 + _TITLE_LINE - 4, self.more.text, "label")


# --- one after the other ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """Shapes from left to right, their tracks in one line; with `swaps`, in any order."""

    shapes: tuple[Shape, ...]
    swaps: bool = False

    @cached_property
    def width(self) -> float:
        return sum(shape.width for shape in self.shapes) + GAP * max(0, len(self.shapes) - 1)

    @cached_property
    def height(self) -> float:
        return self.track + max((shape.height - shape.track for shape in self.shapes), default=0.0)

    @cached_property
    def track(self) -> float:
        return max((shape.track for shape in self.shapes), default=0.0)

    def draw(self, picture: Picture, x: float, y: float) -> None:
        level = y + self.track
        starts = list(accumulate((shape.width + GAP for shape in self.shapes), initial=x))
        for shape, start in zip(self.shapes, starts, strict=False):
            shape.draw(picture, start, level - shape.track)
        for following in starts[1:-1]:
            picture.line(following - GAP, level, following, level)
            if self.swaps:
                _swap_sign(picture, following - GAP / 2, level)


def _swap_sign(picture: Picture, x: float, y: float) -> None:
    """Two arrows, one each way, above the track."""
    for shift, way in ((-9, 1), (-15, -1)):
        picture.path(f"M{x - 7 * way:.1f} {y + shift:.1f}h{14 * way}m{-4 * way} -3l{4 * way} 3l{-4 * way} 3")


# --- one of several, or side by side --------------------------------------------------------------------


@dataclass(frozen=True)
class Stack:
    """Alternatives one above the other; with `joined`, branches that all are passed, between two bars."""

    shapes: tuple[Shape, ...]
    joined: bool = False

    @classmethod
    def of(cls, shapes: list[Shape], joined: bool = False) -> Stack:
        """Stations in a stack are all as wide as the widest."""
        widest = max((shape.width for shape in shapes if isinstance(shape, StationShape)), default=0.0)
        return cls(tuple(replace(s, width=widest) if isinstance(s, StationShape) else s for s in shapes), joined)

    @cached_property
    def _inner_width(self) -> float:
        return max(shape.width for shape in self.shapes)

    @cached_property
    def width(self) -> float:
        return self._inner_width + 2 * _RAIL

    @cached_property
    def height(self) -> float:
        return sum(shape.height for shape in self.shapes) + _SPACE * (len(self.shapes) - 1)

    @cached_property
    def _tops(self) -> list[float]:
        return list(accumulate((shape.height + _SPACE for shape in self.shapes[:-1]), initial=0.0))

    @cached_property
    def _tracks(self) -> list[float]:
        return [top + shape.track for top, shape in zip(self._tops, self.shapes, strict=True)]

    @cached_property
    def track(self) -> float:
        """Half way between the first and the last; straight into an alternative that is almost there."""
        tracks = self._tracks
        middle = (tracks[0] + tracks[-1]) / 2
        nearest = min(tracks, key=lambda track: abs(track - middle))
        return nearest if abs(nearest - middle) < 2 * _BEND else middle

    def draw(self, picture: Picture, x: float, y: float) -> None:
        level, right = y + self.track, x + self.width
        for shape, top, track in zip(self.shapes, self._tops, self._tracks, strict=True):
            shape.draw(picture, x + _RAIL, y + top)
            end = x + _RAIL + shape.width
            if self.joined:
                picture.line(x + _RAIL / 2, y + track, x + _RAIL, y + track)
                picture.line(end, y + track, right - _RAIL / 2, y + track)
            else:
                _switch(picture, x, level, x + _RAIL, y + track)
                picture.line(end, y + track, right - _RAIL, y + track)
                _switch(picture, right - _RAIL, y + track, right, level)
        if self.joined:
            first, last = y + self._tracks[0] - 6, y + self._tracks[-1] + 6
            for start, bar in ((x, x + _RAIL / 2), (right - _RAIL / 2, right - _RAIL / 2)):
                picture.line(bar, first, bar, last, "bar")
                picture.line(start, level, start + _RAIL / 2, level)


def _switch(picture: Picture, x1: float, y1: float, x2: float, y2: float, style: str = "track") -> None:
    """A track from one level to another: across, round a bend, up or down, round a bend, across."""
    rise = y2 - y1
    if abs(rise) < 0.5:
        picture.line(x1, y1, x2, y2, style)
        return
    middle, bend = (x1 + x2) / 2, min(_BEND, abs(rise) / 2)
    repeat = bend if rise > 0 else -bend
    picture.path(
        f"M{x1:.1f} {y1:.1f}H{middle - bend:.1f}q{bend:.1f} 0 {bend:.1f} {repeat:.1f}"
        f"V{y2 - repeat:.1f}q0 {repeat:.1f} {bend:.1f} {repeat:.1f}H{x2:.1f}",
        style,
    )


# --- around another shape -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bypass:
    """A shape that can be passed by: a dashed track above it."""

    shape: Shape
    label: str = ""

    @cached_property
    def width(self) -> float:
        return max(self.shape.width, text_width(self.label, LABEL_SIZE)) + 2 * _RAIL

    @cached_property
    def height(self) -> float:
        return self.shape.height + self._skip

    @cached_property
    def track(self) -> float:
        return self.shape.track + self._skip

    @cached_property
    def _skip(self) -> float:
        return _SKIP if self.label else _BARE_SKIP

    def draw(self, picture: Picture, x: float, y: float) -> None:
        level, above, right = y + self.track, y + self._skip - 9, x + self.width
        inset = (self.width - self.shape.width) / 2
        picture.line(x, level, x + inset, level)
        self.shape.draw(picture, x + inset, y + self._skip)
        picture.line(right - inset, level, right, level)
        _switch(picture, x, level, x + _RAIL, above, "skip")
        picture.line(x + _RAIL, above, right - _RAIL, above, "skip")
        _switch(picture, right - _RAIL, above, right, level, "skip")
        if self.label:
            picture.text(x + _RAIL, above - 5, self.label, "label")


@dataclass(frozen=True)
class Loop:
    """A shape that can be passed again: a track back below it."""

    shape: Shape
    label: str

    @cached_property
    def width(self) -> float:
        return max(self.shape.width, text_width(self.label, LABEL_SIZE)) + 2 * _RAIL

    @cached_property
    def height(self) -> float:
        return self.shape.height + _SKIP

    @cached_property
    def track(self) -> float:
        return self.shape.track

    def draw(self, picture: Picture, x: float, y: float) -> None:
        level, below, right = y + self.track, y + self.shape.height + _SPACE - 2, x + self.width
        inset = (self.width - self.shape.width) / 2
        picture.line(x, level, x + inset, level)
        self.shape.draw(picture, x + inset, y)
        picture.line(right - inset, level, right, level)
        picture.path(
            f"M{right - inset:.1f} {level:.1f}h{inset / 2 - _BEND:.1f}q{_BEND} 0 {_BEND} {_BEND}V{below - _BEND:.1f}"
            f"q0 {_BEND} {-_BEND} {_BEND}H{x + inset / 2 + _BEND:.1f}q{-_BEND} 0 {-_BEND} {-_BEND}"
            f"V{level + _BEND:.1f}q0 {-_BEND} {_BEND} {-_BEND}"
        )
        middle = x + self.width / 2
        picture.path(f"M{middle + 4:.1f} {below - 4:.1f}l-7 4l7 4z", "head")
        picture.text(x + _RAIL, below + LABEL_SIZE + 2, self.label, "label")


@dataclass(frozen=True)
class Frame:
    """A dotted frame with words on it that say what happens inside."""

    shape: Shape
    label: str

    @cached_property
    def width(self) -> float:
        return max(self.shape.width, text_width(self.label, LABEL_SIZE)) + 2 * _PAD

    @cached_property
    def height(self) -> float:
        return self.shape.height + LABEL_LINE + 2 * _PAD

    @cached_property
    def track(self) -> float:
        return self.shape.track + LABEL_LINE + _PAD

    def draw(self, picture: Picture, x: float, y: float) -> None:
        inset = (self.width - self.shape.width) / 2
        level = y + self.track
        picture.box(x, y, self.width, self.height, "frame", radius=10)
        picture.text(x + _PAD, y + _PAD + LABEL_SIZE - 2, self.label, "label")
        picture.line(x, level, x + inset, level)
        self.shape.draw(picture, x + inset, y + LABEL_LINE + _PAD)
        picture.line(x + self.width - inset, level, x + self.width, level)


@dataclass(frozen=True)
class Labelled:
    """A shape with the name of its part, and words about it, above."""

    shape: Shape
    part: str
    label: str

    @cached_property
    def _text_width(self) -> float:
        return text_width(self.part) + text_width(self.label, LABEL_SIZE) + _PAD

    @cached_property
    def width(self) -> float:
        return max(self.shape.width, self._text_width)

    @cached_property
    def height(self) -> float:
        return self.shape.height + LABEL_LINE

    @cached_property
    def track(self) -> float:
        return self.shape.track + LABEL_LINE

    def draw(self, picture: Picture, x: float, y: float) -> None:
        inset = (self.width - self.shape.width) / 2
        level = y + self.track
        picture.line(x, level, x + inset, level)
        self.shape.draw(picture, x + inset, y + LABEL_LINE)
        picture.line(x + self.width - inset, level, x + self.width, level)
        has_rails = isinstance(self.shape, Stack | Bypass | Loop)
        left = x + (_RAIL if has_rails and self._text_width + _RAIL <= self.width else 0.0)
        if self.part:
            picture.text(left, y + TITLE_SIZE - 2, self.part, "part")
            left += text_width(self.part) + _PAD / 2
        if self.label:
            picture.text(left, y + TITLE_SIZE - 2, self.label, "label")


def _head(picture: Picture, x: float, y: float) -> None:
    """The arrow with which a track arrives."""
    picture.path(f"M{x - 7:.1f} {y - 4:.1f}l7 4l-7 4z", "head")
