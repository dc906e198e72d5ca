"""Draw a space as a railway diagram: steps from left to right, alternatives stacked, optional ones bypassed."""

from __future__ import annotations

from itertools import pairwise

from msl.report.diagrams.outline import Group, Kind, More, Outline, Piece, Station
from msl.report.diagrams.shapes import (
    GAP,
    LABEL_LINE,
    Bypass,
    Frame,
    Labelled,
    Loop,
    MoreShape,
    Row,
    Shape,
    Stack,
    StationShape,
)
from msl.report.diagrams.svg import LABEL_SIZE, TITLE_SIZE, Picture, code_width, text_width

_MARGIN = 24.0
_WIDEST_ROW = 1480.0
_SWATCH = 10.0


def outline_to_svg(outline: Outline, title: str, *, widest: float = _WIDEST_ROW) -> str:
    """The picture of a sketch, with its requirements written below; a row wider than `widest` has a single step."""
    picture = Picture()
    rows = _rows(outline.root, widest)
    picture.text(_MARGIN, _MARGIN + TITLE_SIZE, title, "title")
    below = _draw_rows(picture, rows, _MARGIN + 3 * TITLE_SIZE)
    below = _draw_legend(picture, below)
    for text in outline.requirements:
        picture.spans(_MARGIN, below + TITLE_SIZE, (text, "name"))
        below += LABEL_LINE
    widths = [row.width + 2 * GAP for row in rows] + [code_width(text) for text in outline.requirements]
    width = max(*widths, text_width(title), _legend_width(picture))
    return picture.svg(width + 2 * _MARGIN, below + _MARGIN, title)


# --- shapes for pieces ----------------------------------------------------------------------------------


def _shape(piece: Piece) -> Shape:
    shape, label = _unnamed(piece), ""
    match piece:
        case Group(kind=Kind.CHOICE | Kind.UNION):
            label = piece.label
        case Group(kind=Kind.OPTIONAL, members=(Group(kind=Kind.CHOICE | Kind.UNION, part=None) as inner,)):
            shape, label = Bypass(_unnamed(inner)), f"{inner.label}, {piece.label}"
    return Labelled(shape, piece.part or "", label) if piece.part or label else shape


def _unnamed(piece: Piece) -> Shape:
    match piece:
        case Station():
            return StationShape.of(piece)
        case More():
            return MoreShape(piece)
        case Group(kind=kind, members=members, label=label):
            shapes = [_shape(member) for member in members]
            return _skippable(_group(kind, shapes, label), piece.takes_none)


def _group(kind: Kind, shapes: list[Shape], label: str) -> Shape:
    match kind:
        case Kind.SEQUENCE:
            return Row(tuple(shapes))
        case Kind.CHOICE:
            return Stack.of(shapes)
        case Kind.UNION:
            return Stack.of(shapes, joined=True)
        case Kind.OPTIONAL:
            return Bypass(shapes[0], label)
        case Kind.SUBSET:
            return Frame(Row(tuple(Bypass(shape) for shape in shapes)), label)
        case Kind.PERMUTE | Kind.ARRANGE:
            return Frame(Row(tuple(shapes), swaps=True), label)
        case Kind.REPEAT:
            return Loop(shapes[0], label)


def _skippable(shape: Shape, skips: bool) -> Shape:
    return Bypass(shape, "or nothing") if skips else shape


# --- the page -------------------------------------------------------------------------------------------


def _rows(root: Piece, widest: float) -> list[Row]:
    """The steps of the chain, in as many rows as it takes."""
    is_row = isinstance(root, Group) and root.kind is Kind.SEQUENCE and root.part is None
    shapes = [_shape(piece) for piece in (root.members if is_row and isinstance(root, Group) else (root,))]
    rows: list[list[Shape]] = [[]]
    for shape in shapes:
        if rows[-1] and Row((*rows[-1], shape)).width > widest:
            rows.append([])
        rows[-1].append(shape)
    return [Row(tuple(row)) for row in rows]


def _draw_rows(picture: Picture, rows: list[Row], top: float) -> float:
    """Draws the rows between the ends of the track; gives where the next thing may stand."""
    start, levels = _MARGIN + GAP, []
    for row in rows:
        row.draw(picture, start, top)
        levels.append((top + row.track, top + row.height))
        top += row.height + 2 * GAP
    picture.circle(_MARGIN + 5, levels[0][0], 5, "head")
    picture.line(_MARGIN + 10, levels[0][0], start, levels[0][0])
    for (row, (level, bottom)), (_, (following, _)) in pairwise(zip(rows, levels, strict=True)):
        _carry_over(picture, start + row.width, level, bottom + GAP, start, following)
    end = start + rows[-1].width
    picture.line(end, levels[-1][0], end + GAP - 10, levels[-1][0])
    picture.circle(end + GAP - 5, levels[-1][0], 5, "end")
    return top - GAP


def _carry_over(picture: Picture, x: float, y: float, between: float, start: float, level: float) -> None:
    """The track from the end of one row to the beginning of the next."""
    bend, out = 10, GAP / 2
    picture.path(
        f"M{x:.1f} {y:.1f}h{out - bend:.1f}q{bend} 0 {bend} {bend}V{between - bend:.1f}q0 {bend} {-bend} {bend}"
        f"H{start - out + bend:.1f}q{-bend} 0 {-bend} {bend}V{level - bend:.1f}q0 {bend} {bend} {bend}H{start:.1f}"
    )


def _draw_legend(picture: Picture, top: float) -> float:
    x = _MARGIN
    for role in picture.roles:
        picture.box(x, top, _SWATCH, _SWATCH, picture.role(role), radius=2)
        picture.text(x + _SWATCH + 5, top + _SWATCH - 1, role, "label")
        x += _legend_item_width(role)
    return top + LABEL_LINE + 4


def _legend_width(picture: Picture) -> float:
    return sum(map(_legend_item_width, picture.roles))


def _legend_item_width(role: str) -> float:
    return _SWATCH + text_width(role, LABEL_SIZE) + 24
