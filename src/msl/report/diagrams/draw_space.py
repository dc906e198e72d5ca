"""Draw a space as a tree of text lines, or as a railway diagram in SVG."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from msl.record import record
from msl.report.diagrams.outline import Group, Kind, More, Outline, Piece, Station, space_to_outline
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
from msl.space.spec import Space

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


_NARROWEST = 24


@record
class _Signs:
    """What the branches of the tree are drawn with."""

    branch: str
    last: str
    bar: str


_UNICODE = _Signs("├─ ", "└─ ", "│  ")
_ASCII = _Signs("|- ", "`- ", "|  ")
_BLANK = "   "


def outline_to_tree(outline: Outline, title: str, width: int, ascii_only: bool) -> str:
    """Lines no longer than `width` where words allow it; without `…` and box-drawing signs for `ascii_only`."""
    signs = _ASCII if ascii_only else _UNICODE
    root = outline.root
    pieces = root.members if isinstance(root, Group) and root.kind is Kind.SEQUENCE and root.part is None else (root,)
    lines = [title, *_members(pieces, signs, "", width)]
    lines += [line for text in outline.requirements for line in _filled([text], "", "", _BLANK, width)]
    text = "".join(f"{line.rstrip()}\n" for line in lines)
    return text.replace("…", "...") if ascii_only else text


def _members(pieces: tuple[Piece, ...], signs: _Signs, indent: str, width: int) -> Iterator[str]:
    for position, piece in enumerate(pieces, 1):
        is_last = position == len(pieces)
        yield from _piece(
            piece,
            signs,
            indent + (signs.last if is_last else signs.branch),
            indent + (_BLANK if is_last else signs.bar),
            width,
        )


def _piece(piece: Piece, signs: _Signs, first: str, rest: str, width: int, after: str = "") -> Iterator[str]:
    """A piece below the sign that leads to it; `after` is said of it by what stands around it."""
    part = f"{piece.part}: " if piece.part is not None else ""
    match piece:
        case More(text=text):
            yield f"{first}{part}{text}{after}"
        case Station(names=names, settings=settings, left_out=left_out):
            yield from _filled(names, f"{first}{part}", " | ", rest + _BLANK, width, after)
            texts = [setting.text for setting in settings] + ([f"+ {left_out} more"] if left_out else [])
            yield from _filled(texts, f"{rest}{_BLANK}", ", ", f"{rest}{_BLANK}", width)
        case Group(kind=Kind.OPTIONAL, members=(member,)):
            inner_part = part if member.part is None else ""
            yield from _piece(member, signs, first + inner_part, rest, width, ", or nothing" + after)
        case Group(members=members, label=label):
            yield f"{first}{part}{label or 'in sequence'}{after}"
            yield from _members(members, signs, rest, width)


def _filled(words: Iterable[str], first: str, between: str, rest: str, width: int, after: str = "") -> Iterator[str]:
    """Words in lines, each line as full as it can be; a word is never broken."""
    line, is_empty = first, True
    room = max(width, len(rest) + _NARROWEST)
    for word in words:
        if not is_empty and len(line) + len(between) + len(word) > room:
            yield line + between.rstrip()
            line, is_empty = rest, True
        line += word if is_empty else between + word
        is_empty = False
    if not is_empty:
        yield line + after


# --- Drawing a space, as SVG or as text -------------------------------------------------------------------------------


def space_to_svg(space: Space, *, title: str = "model") -> str:
    """The space as a railway diagram: light or dark as the reader's system is, without scripts or outside files."""
    return outline_to_svg(space_to_outline(space), title)


def space_to_tree(space: Space, *, title: str = "model", width: int = 100, ascii_only: bool = False) -> str:
    """The space as a tree of lines; `ascii_only` for terminals that know nothing else."""
    return outline_to_tree(space_to_outline(space), title, width, ascii_only)
