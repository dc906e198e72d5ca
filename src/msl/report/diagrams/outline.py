"""Outline a space for drawing: stations, groups and labels, from which pictures and texts are made.

Alternatives that take the same parameters share a station, long lists are cut, and parts that would never end are left
out, so that the sketch stays small whatever the size of the space.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from msl.record import record
from msl.space.column_selectors import selector_of
from msl.space.condition_text import condition_to_text, requirement_to_text
from msl.space.names_to_text import name_to_text, part_name
from msl.space.nodes import (
    Arrange,
    BlockUse,
    Choice,
    Empty,
    Marked,
    Node,
    Param,
    Permute,
    Pipeline,
    Repeat,
    Sequence,
    Subset,
    Symbol,
    Union,
    steps_up,
)
from msl.space.spec import Space
from msl.space.to_text import is_single, node_to_text, selector_to_text

_MOST_ALTERNATIVES = 14
_MOST_SETTINGS = 10
_MOST_PIECES = 400
_DEEPEST = 40
_LONGEST_DOMAIN = 44


class Kind(StrEnum):
    """How the members of a group come together."""

    SEQUENCE = "sequence"
    CHOICE = "choice"
    OPTIONAL = "optional"
    UNION = "union"
    SUBSET = "subset"
    PERMUTE = "permute"
    ARRANGE = "arrange"
    REPEAT = "repeat"


@record
class Setting:
    """A parameter and what it may be; `depth` counts the alternatives that it belongs to."""

    name: str
    domain: str
    is_open: bool
    depth: int = 0

    @property
    def text(self) -> str:
        return f"{self.name}: {self.domain}" if self.is_open else f"{self.name} = {self.domain}"


@record
class Station:
    """A block, or several alternatives of one role that take the same parameters."""

    names: tuple[str, ...]
    role: str
    settings: tuple[Setting, ...] = ()
    left_out: int = 0
    part: str | None = None


@record
class More:
    """What is not shown: so many alternatives, or a depth without end."""

    text: str
    part: str | None = None


@record
class Group:
    """Members and how they come together; `label` says it in words. A group may take none of its members."""

    kind: Kind
    members: tuple[Piece, ...]
    label: str = ""
    part: str | None = None
    takes_none: bool = False


Piece = Station | More | Group
_NOTHING = Group(Kind.SEQUENCE, ())


@record
class Outline:
    """The sketch of a space: its pieces, and its requirements as text."""

    root: Piece
    requirements: tuple[str, ...] = ()


def space_to_outline(space: Space) -> Outline:
    root = _Sketch().piece(space.root)
    return Outline(More("none") if root == _NOTHING else root, tuple(map(requirement_to_text, space.requirements)))


@dataclass(slots=True)
class _Sketch:
    """Draws pieces while there is room for them."""

    left: int = field(default=_MOST_PIECES)

    def piece(self, node: Node, depth: int = 0) -> Piece:
        self.left -= 1
        if self.left < 0 or depth > _DEEPEST:
            return More("…")
        match node:
            case Marked(mark=mark, node=inner):
                return _named(self.piece(inner, depth + 1), part_name(mark))
            case BlockUse() if (selector := selector_of(node)) is not None:
                return Station((selector_to_text(selector),), node.block.role)
            case BlockUse(block=block, params=params):
                return _station((block.name,), block.role, params)
            case Sequence(steps=steps):
                return self._group(Kind.SEQUENCE, steps, depth)
            case Choice(options=options):
                return self._choice(list(options), depth)
            case Union(branches=branches):
                return self._group(Kind.UNION, branches, depth, "side by side, columns joined")
            case Subset(members=members):
                return self._group(Kind.SUBSET, members, depth, "any of these, in this order")
            case Permute(members=members):
                return self._group(Kind.PERMUTE, members, depth, "all of these, in any order")
            case Arrange(low=low, high=high, members=members):
                arranged = self._group(Kind.ARRANGE, members, depth, f"{_times(low, high)} of these, in any order")
                return replace(arranged, takes_none=low == 0) if isinstance(arranged, Group) else arranged
            case Repeat(low=low, high=high, member=member):
                times = "time" if high == 1 else "times"
                again = self.piece(member, depth + 1)
                if again == _NOTHING:
                    return _NOTHING
                return Group(Kind.REPEAT, (again,), f"{_times(low, high)} {times}", takes_none=low == 0)
        return _NOTHING

    def _group(self, kind: Kind, nodes: tuple[Node, ...], depth: int, label: str = "") -> Piece:
        members: list[Piece] = []
        for node in nodes:
            if self.left < 0:
                members.append(More("…"))
                break
            piece = self.piece(node, depth + 1)
            if piece == _NOTHING:
                continue
            inline = kind is Kind.SEQUENCE and isinstance(piece, Group) and piece.kind is kind and piece.part is None
            members.extend(piece.members if inline and isinstance(piece, Group) else (piece,))
        if not members:
            return _NOTHING
        if len(members) == 1 and kind not in (Kind.SUBSET, Kind.ARRANGE):
            return members[0]
        return Group(kind, tuple(members), label)

    def _choice(self, options: list[Node], depth: int) -> Piece:
        present, is_optional = _flattened(options)
        families: dict[object, list[BlockUse]] = {}
        for option in present:
            if isinstance(option, BlockUse):
                families.setdefault(_family(option), []).append(option)
        members: list[Piece] = []
        for option in present:
            if len(members) == _MOST_ALTERNATIVES - 1 and len(present) > _MOST_ALTERNATIVES:
                shown = sum(len(m.names) if isinstance(m, Station) else 1 for m in members)
                members.append(More(f"+ {len(present) - shown} more"))
                break
            if not isinstance(option, BlockUse):
                piece = self.piece(option, depth + 1)
                is_optional = is_optional or piece == _NOTHING
                members.extend([] if piece == _NOTHING else [piece])
            elif family := families.pop(_family(option), []):
                self.left -= 1
                members.append(_station(tuple(b.block.name for b in family), option.block.role, option.params))
        if not members:
            return _NOTHING
        whole = members[0] if len(members) == 1 else Group(Kind.CHOICE, tuple(members), f"one of {len(present)}")
        return Group(Kind.OPTIONAL, (whole,), "or nothing") if is_optional else whole


def _named(piece: Piece, part: str) -> Piece:
    if piece == _NOTHING:
        return piece
    return replace(piece, part=part) if piece.part is None else Group(Kind.SEQUENCE, (piece,), part=part)


def _flattened(options: list[Node]) -> tuple[list[Node], bool]:
    """Alternatives with nested choices opened, and whether nothing at all is one of them."""
    present: dict[int, Node] = {}
    is_optional = False
    pending = options[::-1]
    while pending:
        option = pending.pop()
        if isinstance(option, Choice):
            pending.extend(reversed(option.options))
        elif isinstance(option, Empty):
            is_optional = True
        else:
            present.setdefault(id(option), option)
    return list(present.values()), is_optional


def _family(use: BlockUse) -> object:
    """Alternatives of one family look the same but for their names."""
    return use.block.role, tuple(_settings(use.params))


def _station(names: tuple[str, ...], role: str, params: tuple[Param, ...]) -> Station:
    settings = tuple(_settings(params))
    if len(settings) <= _MOST_SETTINGS:
        return Station(names, role, settings)
    return Station(names, role, settings[: _MOST_SETTINGS - 1], len(settings) - _MOST_SETTINGS + 1)


def _settings(params: tuple[Param, ...], owner: str = "", depth: int = 0) -> Iterator[Setting]:
    for param in params:
        domain = node_to_text(param.node, parameters=False, most=_LONGEST_DOMAIN)
        if param.condition is not None:
            domain += f" if {condition_to_text(param.condition)}"
        is_open = not is_single(param.node)
        shown = f"best {domain}" if param.best and is_open else domain
        yield Setting(f"{owner}{name_to_text(param.name)}", shown, is_open, depth)
        options = _flattened(list(param.node.options))[0] if isinstance(param.node, Choice) else [param.node]
        for option in (inner for each in options for inner in _blocks_of(each)):
            if isinstance(option, Symbol | BlockUse) and depth < _DEEPEST:
                name = option.name if isinstance(option, Symbol) else option.block.name
                yield from _settings(option.params, f"{name_to_text(name)}.", depth + 1)


def _blocks_of(option: Node) -> Iterable[Node]:
    """The blocks of a pipeline that is a value, each once; any other alternative is itself."""
    if not isinstance(option, Pipeline):
        return (option,)
    return (node for node in steps_up(option.node) if isinstance(node, BlockUse))


def _times(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"
