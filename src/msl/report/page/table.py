"""Table: rows under sortable headings, in a box that scrolls by itself when a screen is narrow."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msl.report.page.html import Content, Html, tag


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
    """Something that opens when it is asked for."""
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
