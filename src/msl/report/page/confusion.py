"""Confusion: which classes a classifier takes for which — a table for few classes, a map for many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msl.report.page.figures import figure, percent, shortened
from msl.report.page.html import Content, Html, tag
from msl.report.page.outcome import Judged
from msl.report.page.section import part
from msl.report.page.table import Cell, Column, folded, table

_MOST_IN_TABLE = 12
_MOST_IN_MAP = 400
_MOST_MISTAKES = 12
_MOST_CLASSES = 200
_LONGEST_NAME = 28
_SHADES = 10
_CELL = 10


def confusion_part(title: str, judged: Judged, name: str) -> Html:
    """The matrix, the mistakes that are made most, and how well each class is found."""
    rows = judged.confusion
    total, right = sum(map(sum, rows)), sum(row[place] for place, row in enumerate(rows))
    words = (
        f"{rows_in(right)} of {rows_in(total)} rows are classified right, {percent(right / total if total else None)}."
    )
    mistakes = _mistakes(judged)
    if mistakes:
        number, true, said = mistakes[0]
        words += f" The most frequent mistake: {rows_in(number)} of {true} taken for {said}."
    matrix: Content = None
    if len(judged.classes) <= _MOST_IN_TABLE:
        matrix = _matrix(judged)
    elif len(judged.classes) <= _MOST_IN_MAP:
        matrix = _map(judged, name, words)
    picture = tag("figure", matrix, tag("figcaption", words, _reading(judged)), class_="matrix")
    several = len(judged.classes) > _MOST_IN_TABLE and mistakes
    return part(title, picture, _mistake_table(mistakes) if several else None, _class_table(judged))


def _reading(judged: Judged) -> str:
    if len(judged.classes) <= _MOST_IN_TABLE:
        return (
            " Rows are the true classes, columns what the model said; a stronger colour is a larger share of the row."
        )
    return " From top to bottom the true classes, from left to right what the model said, in the order of the table."


def _matrix(judged: Judged) -> Html:
    """A table with shaded cells."""
    head = tag(
        "tr", tag("th", "true ↓  said →", scope="col"), [tag("th", _short(c), scope="col") for c in judged.classes]
    )
    body = [
        tag("tr", tag("th", _short(name), scope="row"), [_shaded(number, row) for number in row])
        for name, row in zip(judged.classes, judged.confusion, strict=True)
    ]
    inner = tag("table", tag("thead", head), tag("tbody", body), class_="confusion", aria_label="Confusion matrix")
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label="Confusion matrix")


def _shaded(number: float, row: Sequence[float]) -> Html:
    share = number / sum(row) if sum(row) else 0.0
    return tag("td", rows_in(number), class_=f"heat h{_shade(number, share)}", title=percent(share))


def _shade(number: float, share: float) -> int:
    """From 0 for nothing to 10 for all; a single row can still be seen."""
    return 0 if number == 0 else max(1, round(_SHADES * share))


def _map(judged: Judged, name: str, words: str) -> Html:
    """A picture with a small square for each pair of classes that occurs."""
    size = _CELL * len(judged.classes)
    return tag(
        "svg",
        tag("title", "Confusion of the classes", id=f"{name}-title"),
        tag("desc", words, id=f"{name}-desc"),
        tag("rect", width=size, height=size, class_="paper"),
        list(_squares(judged)),
        viewBox=f"0 0 {size} {size}",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
        class_="map",
    )


def _squares(judged: Judged) -> Iterator[Html]:
    few = len(judged.classes) <= 60
    for down, row in enumerate(judged.confusion):
        total = sum(row)
        for across, number in enumerate(row):
            if number:
                words = f"{judged.classes[down]} said to be {judged.classes[across]}: {rows_in(number)}"
                shade = _shade(number, number / total)
                yield tag(
                    "rect",
                    *([tag("title", words)] if few else []),
                    x=across * _CELL,
                    y=down * _CELL,
                    width=_CELL,
                    height=_CELL,
                    class_=f"{'wrong' if down != across else 'right'} h{shade}",
                )


def _mistakes(judged: Judged) -> list[tuple[float, str, str]]:
    """How often which class was taken for which other, from the most frequent."""
    found = [
        (number, judged.classes[down], judged.classes[across])
        for down, row in enumerate(judged.confusion)
        for across, number in enumerate(row)
        if number and down != across
    ]
    return sorted(found, key=lambda one: -one[0])


def _mistake_table(mistakes: list[tuple[float, str, str]]) -> Html:
    columns = [Column("rows", number=True), Column("true class"), Column("taken for")]
    rows: list[list[Cell | Content]] = [
        [Cell(rows_in(number), number), _short(true), _short(said)] for number, true, said in mistakes[:_MOST_MISTAKES]
    ]
    return folded("The most frequent mistakes", table(columns, rows, "Mistakes"))


def _class_table(judged: Judged) -> Html:
    columns = [Column("class"), *(Column(name, number=True) for name in ("rows", "found", "right when said"))]
    said = [sum(column) for column in zip(*judged.confusion, strict=True)]
    rows: list[tuple[float, list[Cell | Content]]] = []
    for place, (name, row) in enumerate(zip(judged.classes, judged.confusion, strict=True)):
        found = row[place] / sum(row) if sum(row) else None
        right = row[place] / said[place] if said[place] else None
        cells = [Cell(rows_in(sum(row)), sum(row)), Cell(percent(found), found), Cell(percent(right), right)]
        rows.append((-1.0 if found is None else found, [_short(name), *cells]))
    title = "Class by class"
    if len(rows) > _MOST_CLASSES:
        rows = sorted(rows, key=lambda one: one[0])[:_MOST_CLASSES]
        title = f"The {_MOST_CLASSES} classes that are found least"
    return folded(title, table(columns, [cells for _, cells in rows], "Classes"))


def rows_in(number: float) -> str:
    """How many rows; of weighted ones there may be a part."""
    return f"{number:,.0f}" if number == round(number) else figure(number)


def _short(name: str) -> str:
    return shortened(name, _LONGEST_NAME)
