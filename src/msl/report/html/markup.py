"""HTML elements with escaping built in: no text of a user can become markup or script."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Any

from msl.diagnostics.terminal import shown

#: Elements of SVG that hold nothing are closed at once; so are those of HTML that may hold nothing.
_EMPTY = frozenset("br col hr img meta source circle line path rect use".split())


class Html(str):
    """Markup that is safe as it stands. Every other text is escaped when it is put into some."""

    __slots__ = ()


Content = Html | str | int | None
NOTHING = Html("")


def text(content: Content) -> Html:
    """A text as markup; characters that would steer or reorder the line are shown, not obeyed."""
    if content is None:
        return NOTHING
    if isinstance(content, Html):
        return content
    return Html(escape(_printable(str(content))))


def tag(name: str, /, *content: Content | Iterable[Content], **attributes: str | float | bool | None) -> Html:
    """An element. `class_` stands for `class`, and `_` in other attributes for `-`; None and False leave one out."""
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _EMPTY and not content:
        return Html(f"<{name}{written}/>")
    return Html(f"<{name}{written}>{joined(content)}</{name}>")


def joined(content: Iterable[Content | Iterable[Content]]) -> Html:
    """Pieces one after the other; a list among them stands for its own pieces."""
    return Html("".join(text(one) if isinstance(one, str | int | None) else joined(one) for one in content))


def data_block(content: Any, kind: str) -> Html:
    """Data for the page's own script, in a form that no browser runs."""
    written = json.dumps(content, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return Html(f'<script type="application/json" class="{kind}">{written.replace("<", chr(92) + "u003c")}</script>')


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.removesuffix("_").replace("_", "-")
    if value is True:
        return f" {name}"
    return f' {name}="{escape(_printable(str(value)))}"'


def _printable(content: str) -> str:
    if content.isascii() and content.isprintable():
        return content
    return "".join(letter if letter in "\n\t" else shown(letter) for letter in content)


# --- Numbers, shares, times and dates as text -------------------------------------------------------------------------


MINUS = "−"
UNKNOWN = "–"


def figure(value: float | None, digits: int = 4) -> str:
    """A number with so many significant digits; large ones in groups of three."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e9 or size < 1e-4:
        mantissa, _, exponent = f"{value:.{max(digits - 2, 0)}e}".partition("e")
        return _signed(f"{_trimmed(mantissa)}e{int(exponent)}")
    decimals = max(digits - 1 - math.floor(math.log10(size)), 0)
    return _signed(_trimmed(f"{value:,.{decimals}f}"))


def difference(value: float) -> str:
    """A number with its sign, also a plus."""
    return f"+{figure(value)}" if value > 0 else figure(value)


def count(number: int, one: str, many: str = "") -> str:
    """So many of something: `1 model`, `1,204 models`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def beyond_words(number: int) -> str:
    """What happened to values that an axis does not reach; nothing for none of them."""
    are = "is" if number == 1 else "are"
    return f"{count(number, 'value')} beyond the axis {are} drawn at its end." if number else ""


def percent(share: float | None) -> str:
    if share is None or not math.isfinite(share):
        return UNKNOWN
    value = 100 * share
    return f"{value:.0f} %" if value >= 9.95 or value == 0 else f"{value:.1f} %"


def duration(seconds: float | None) -> str:
    """A time in the unit that people would use."""
    if seconds is None or not math.isfinite(seconds):
        return UNKNOWN
    if seconds < 0.9995:
        return f"{figure(seconds * 1000, 2)} ms"
    if seconds < 100:
        return f"{figure(seconds, 3)} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min" if hours else f"{minutes} min {rest} s"


def moment(at: datetime) -> str:
    at = at.astimezone(UTC)
    return f"{at.day} {at:%B %Y, %H:%M} UTC"


def shortened(words: str, most: int) -> str:
    """A text, cut where it is longer than `most` characters."""
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"


def _trimmed(digits: str) -> str:
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _signed(digits: str) -> str:
    return digits.replace("-", MINUS)


# --- Sections and captions --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page; `name` is where links lead to."""

    name: str
    title: str
    body: Html

    def html(self) -> Html:
        heading = tag("h2", tag("a", self.title, href=f"#{self.name}"))
        return tag("section", heading, self.body, id=self.name)


def section(name: str, title: str, *content: Content | Iterable[Content]) -> Section:
    return Section(name, title, tag("div", *content))


def part(title: str, *content: Content | Iterable[Content]) -> Html:
    """A smaller heading within a section."""
    return tag("div", tag("h3", title), *content, class_="part")


def sentence(*words: Content) -> Html:
    """A caption below a table."""
    return tag("p", *words, class_="caption")


def code(words: str) -> Html:
    return tag("code", words)


def listed(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def share_bar(share: float, colour: str) -> Html:
    """A bar as long as a share of the room for it."""
    length = f"{100 * min(max(share, 0.0), 1.0):.1f}%"
    inner = tag("rect", width=length, height="100%", rx="2", class_=f"area {colour}")
    return tag("svg", inner, class_="bar", width="100%", height="9", aria_hidden="true")


# --- Sortable tables --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Column:
    """A heading; `number` aligns to the right, `wide` may break its words over several lines."""

    heading: str
    number: bool = False
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell shows and, where that does not sort by itself, the number that it stands for."""

    content: Content
    value: float | None = None


def table(
    columns: Sequence[Column],
    rows: Iterable[Sequence[Cell | Content]],
    label: str,
    *,
    sorts: bool = True,
    style: str = "",
) -> Html:
    """A table with its label for those who hear it; the first cell of each row names the row."""
    listed = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    sorts = sorts and len(listed) > 1
    head = tag("tr", [_heading(column, sorts) for column in columns])
    body = [tag("tr", [_cell(cell, column) for cell, column in zip(row, columns, strict=True)]) for row in listed]
    inner = tag(
        "table",
        tag("thead", head),
        tag("tbody", body),
        class_=f"{style} {'sorts' * sorts}".strip() or None,
        aria_label=label,
    )
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=label)


def definitions(pairs: Iterable[tuple[str, Content]]) -> Html:
    """Names and what they stand for."""
    return tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs], class_="pairs")


def folded(summary: str, *content: Content | Iterable[Content]) -> Html:
    """Content that is folded until the reader opens it."""
    return tag("details", tag("summary", summary), *content)


def _heading(column: Column, sorts: bool) -> Html:
    if not column.heading:
        return tag("td")
    inner: Content = tag("button", column.heading, type="button") if sorts else column.heading
    return tag("th", inner, scope="col", class_=_style(column))


def _cell(cell: Cell, column: Column) -> Html:
    value = cell.value if cell.value is not None and math.isfinite(cell.value) else None
    return tag("td", cell.content, class_=_style(column), data_value=None if value is None else repr(float(value)))


def _style(column: Column) -> str | None:
    return " ".join(["number"] * column.number + ["wide"] * column.wide) or None
