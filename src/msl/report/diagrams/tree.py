"""Draw a space as a tree of text lines, and choose between tree and SVG."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msl.record import record
from msl.report.diagrams.outline import Group, Kind, More, Outline, Piece, Station, space_to_outline
from msl.report.diagrams.railway import outline_to_svg
from msl.space.spec import Space

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
