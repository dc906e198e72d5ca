"""Normal nodes: each node of a space as a plain entry in which spellings that mean the same set have become one.

Entries name their pieces by key, so a piece that is used in many places is looked at once and the work grows with the
number of nodes, not with the number of paths through them.
"""

from __future__ import annotations

from collections.abc import Iterable

from msl.space.condition import Condition
from msl.space.entries import Entries, Key
from msl.space.formula import Amount, Formula
from msl.space.node import (
    Arrange,
    BlockUse,
    Bool,
    Choice,
    Const,
    Empty,
    IntRange,
    Listing,
    Marked,
    Node,
    Param,
    Permute,
    RealRange,
    Regions,
    Repeat,
    Sequence,
    Subset,
    Symbol,
    Union,
    Vector,
    bottom_up,
)
from msl.space.normal_condition import Conditions, Ground, Naming, block_key, symbol_key, value_key
from msl.space.normal_merge import merge_records
from msl.space.normal_number import amount_key, int_range_key, merge_numbers, real_range_key
from msl.space.value import Value

#: Steps are put into one row up to this many. Beyond, nesting is kept: no two spaces become equal by it, and parts that
#: double each other forty times over stay small.
_LONGEST_ROW = 4_096
_SCALARS = frozenset("nothing bool int real text".split())

ANONYMOUS = Naming({}, {})


class Nodes:
    """Gives the nodes of one space their keys.

    With `defaults`, declared defaults count too, and alternatives that could be one are left as they are.
    """

    def __init__(
        self, entries: Entries, naming: Naming = ANONYMOUS, ground: Ground | None = None, *, defaults: bool = False
    ) -> None:
        self.entries, self._naming, self._defaults = entries, naming, defaults
        self._conditions = Conditions(entries, naming, ground or Ground())
        self._done: dict[int, tuple[Node, Key]] = {}  # keeps the node, so its id stays its own
        self._empty = entries.add("empty")

    def key(self, node: Node) -> Key:
        """Equal for two nodes that mean the same."""
        if id(node) not in self._done:
            for current in bottom_up(node):
                if id(current) not in self._done:
                    self._done[id(current)] = (current, self._normal(current))
        return self._known(node)

    def united(self, nodes: Iterable[Node]) -> Key:
        """The key of a choice of nodes."""
        return self._choice([self.key(node) for node in nodes])

    def _known(self, node: Node) -> Key:
        return self._done[id(node)][1]

    def _all_known(self, nodes: tuple[Node, ...]) -> list[Key]:
        return [self._known(node) for node in nodes]

    def _normal(self, node: Node) -> Key:
        add = self.entries.add
        match node:
            case Const(value=value):
                return self._value(value)
            case IntRange():
                return int_range_key(self.entries, node)
            case RealRange():
                return real_range_key(self.entries, node)
            case Bool():
                return self._choice([add("bool", False), add("bool", True)])
            case Vector(size=size, element=element):
                return self._vector(size, self.key(element))
            case Regions(count=count, width=width):
                return add("regions", amount_key(self.entries, count), amount_key(self.entries, width))
            case Listing(elements=elements):
                return add("list", *self._all_known(elements))
            case Symbol(name=name, params=params):
                return symbol_key(self.entries, name, self._params(params))
            case BlockUse(block=block, params=params):
                return block_key(self.entries, block, self._params(params), self._naming)
            case Marked(mark=mark, node=inner):
                name_of_part = self._naming.marks.get(mark)
                return self._known(inner) if name_of_part is None else add("mark", name_of_part, self._known(inner))
            case Empty():
                return self._empty
            case Choice(options=options):
                return self._choice(self._all_known(options))
            case Sequence(steps=steps):
                return self._row("sequence", self._all_known(steps))
            case Union(branches=branches):
                return self._row("union", self._all_known(branches))
            case Subset(members=members):
                return self._row("sequence", [self._optional(key) for key in self._all_known(members)])
            case Permute(members=members):
                return self._permute(self._all_known(members))
            case Arrange(low=low, high=high, members=members):
                return self._arrange(low, high, self._all_known(members))
            case Repeat(low=low, high=high, member=member):
                return self._repeat(low, high, self._known(member))

    def _vector(self, size: Amount, element: Key) -> Key:
        if isinstance(size, int) and self.entries.kind(element) in _SCALARS:
            return self.entries.add("list", *[element] * size)
        return self.entries.add("vector", amount_key(self.entries, size), element)

    # --- parameters ---

    def _params(self, params: tuple[Param, ...]) -> list[Key]:
        keys = [self._param(param) for param in sorted(params, key=lambda param: param.name)]
        return [key for key in keys if key is not None]

    def _param(self, param: Param) -> Key | None:
        """A parameter; None for one whose condition can never be true."""
        condition = None if param.condition is None else self.condition(param.condition)
        if condition is False:
            return None
        described: list[str | None] = [self._known(param.node), None if condition is True else condition]
        if self._defaults and param.has_default:
            described.append(self._value(param.default))
        return self.entries.add("param", param.name, *described)

    def _value(self, value: Value | Formula) -> Key:
        if isinstance(value, Formula):
            return amount_key(self.entries, value)
        return value_key(self.entries, value, self._naming)

    def condition(self, condition: Condition) -> Key | bool:
        return self._conditions.key(condition)

    # --- how steps and values combine ---

    def _choice(self, options: list[Key]) -> Key:
        flat = dict.fromkeys(piece for key in options for piece in self.entries.pieces(key, "choice"))
        distinct = set(merge_numbers(self.entries, list(flat)))
        if len(distinct) > 1 and not self._defaults:
            distinct = set(merge_records(self.entries, list(distinct), self._choice))
        return distinct.pop() if len(distinct) == 1 else self.entries.add("choice", *sorted(distinct))

    def _optional(self, key: Key) -> Key:
        return self._choice([key, self._empty])

    def _row(self, word: str, keys: list[Key]) -> Key:
        """Steps or branches in their order, nested ones put in place, empty ones left out."""
        present = [key for key in keys if key != self._empty]
        rows = [self.entries.pieces(key, word) for key in present]
        flat = [piece for row in rows for piece in row] if sum(map(len, rows)) <= _LONGEST_ROW else present
        if not flat:
            return self._empty
        return flat[0] if len(flat) == 1 else self.entries.add(word, *flat)

    def _permute(self, keys: list[Key]) -> Key:
        present = sorted(key for key in keys if key != self._empty)
        if len(set(present)) <= 1:
            return self._row("sequence", present)
        return self.entries.add("permute", *present)

    def _arrange(self, low: int, high: int, keys: list[Key]) -> Key:
        present = sorted(key for key in keys if key != self._empty)
        low, high = max(0, low - (len(keys) - len(present))), min(high, len(present))
        if high <= 0:
            return self._empty
        if low <= 0:
            return self._optional(self._arrange(1, high, present))
        if low >= len(present):
            return self._permute(present)
        if high == 1:
            return self._choice(present)
        return self.entries.add("arrange", low, high, *present)

    def _repeat(self, low: int, high: int, key: Key) -> Key:
        if high <= 0 or key == self._empty:
            return self._empty
        if low <= 0:
            return self._optional(self._repeat(1, high, key))
        if low == high <= _LONGEST_ROW:
            return self._row("sequence", [key] * low)
        return self.entries.add("repeat", low, high, key)
