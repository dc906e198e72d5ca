"""Cells of values: the values of a parameter, the parameters of a block, cut so that no value is in two cells.

Several nodes are cut at once. Each value that any of them holds is in exactly one cell, and a cell is known by its
*views*: which of the nodes hold its values, and what requirements and conditions see of them there. That is how
`svc | svc(gamma = 1)` is counted right, and a requirement is honoured without looking at every model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import repeat
from typing import Any

from msl.space.abstraction import (
    NO_TRAITS,
    Abstraction,
    Params,
    Precision,
    Traits,
    kind_of,
    observed_params,
    sibling_precisions,
)
from msl.space.enumerate.disjoint_sets import (
    Allowance,
    Cell,
    Listed,
    Made,
    Power,
    Single,
    Together,
    TooCostly,
    Units,
    explore,
    join,
)
from msl.space.enumerate.number_sets import Stretch, cut_real, cut_whole, split_real, split_whole
from msl.space.formulas import Facts, Formula
from msl.space.logic import holds
from msl.space.nodes import (
    BlockUse,
    Bool,
    Choice,
    Const,
    IntRange,
    Listing,
    Marked,
    Node,
    Param,
    RealRange,
    Regions,
    Symbol,
    Vector,
)
from msl.space.numbers import known
from msl.space.values import BlockValue, SymbolValue, Value, symbol_value


class _Unseen:
    """A value that nothing looks at."""


UNSEEN = _Unseen()
Appearance = Value | _Unseen
PrecisionItems = tuple[tuple[str, Precision], ...]


@dataclass(frozen=True, slots=True)
class View:
    """A node by its number among those cut at once, how a value of it looks, and what it adds to the traits."""

    of: int
    looks: Appearance
    kind: str
    traits: Traits


@dataclass(frozen=True, slots=True)
class Glass:
    """How a value is looked at: itself, and the parameters inside an alternative by their names."""

    precision: Precision | None = None
    within: PrecisionItems = ()

    def of_param(self, name: str) -> Glass:
        return Glass(dict(self.within).get(name), self.within)


@dataclass(frozen=True, slots=True)
class _Siblings:
    """How the parameters that already have their values look."""

    params: Params = ()
    kinds: tuple[str, ...] = ()

    def with_(self, name: str, view: View) -> _Siblings:
        if isinstance(view.looks, _Unseen):
            return self
        return _Siblings((*self.params, (name, view.looks)), (*self.kinds, view.kind))


Cells = dict[Together[View], Cell]
_Leaf = tuple[int, Node, Glass]


class ValueCutter:
    """Cuts values for one abstraction; `steps` tries an open real at so many values.

    With `scales`, a number on a logarithmic scale is another than the same on a linear one: for comparing alone.
    """

    def __init__(
        self,
        abstraction: Abstraction,
        facts: Facts | None,
        steps: int | None,
        allowance: Allowance,
        scales: bool = False,
    ) -> None:
        self._abstraction = abstraction
        self._facts = facts
        self._steps = steps
        self._allowance = allowance
        self._scales = scales
        self._done: dict[tuple[tuple[int, Glass], ...], tuple[tuple[Node, ...], Cells]] = {}

    def blocks(self, uses: tuple[BlockUse, ...]) -> Cells:
        """The values of uses of one block."""
        return self.values(uses, (Glass(),) * len(uses))

    def values(self, nodes: tuple[Node, ...], glasses: tuple[Glass, ...]) -> Cells:
        """The values of some nodes."""
        key = tuple((id(node), glass) for node, glass in zip(nodes, glasses, strict=True))
        if key not in self._done:  # beside the cells their nodes, so that no other node gets the same id
            self._done[key] = nodes, self._cut(nodes, glasses)
        return self._done[key][1]

    def _cut(self, nodes: tuple[Node, ...], glasses: tuple[Glass, ...]) -> Cells:
        groups: dict[tuple[Any, ...], list[_Leaf]] = defaultdict(list)
        for number, (node, glass) in enumerate(zip(nodes, glasses, strict=True)):
            for leaf in _leaves(node):
                sort = (*_sort(leaf), "log") if self._scales and _is_logarithmic(leaf) else _sort(leaf)
                groups[sort].append((number, leaf, glass))
        cells: dict[Together[View], list[Cell]] = defaultdict(list)
        for sort, leaves in groups.items():
            for views, cell in self._group(sort, leaves).items():
                cells[views].append(cell)
        return {views: join(found) for views, found in cells.items()}

    def _group(self, sort: tuple[Any, ...], leaves: list[_Leaf]) -> Cells:
        match sort[0]:
            case "int":
                return self._whole(leaves)
            case "real":
                return self._real(leaves)
            case "bool":
                return self._bool(leaves)
            case "block" | "symbol":
                return self._records(leaves)
            case "tuple":
                return self._tuples(leaves, sort[1])
            case "regions":
                return {_alike(leaves, ()): self._regions(sort[1], sort[2])}
            case "formula":
                return {Together(_view(number, UNSEEN) for number, _, _ in leaves): Single(sort[1])}
        return {_alike(leaves, sort[1]): Single(sort[1])}

    # --- numbers ---

    def _whole(self, leaves: list[_Leaf]) -> Cells:
        ranges: list[tuple[Any, range]] = []
        for number, node, glass in leaves:
            node = node if isinstance(node, IntRange) else IntRange(node.value, node.value)  # type: ignore[union-attr,arg-type]
            for looks, piece in cut_whole(node, glass.precision):
                ranges.append((_view(number, UNSEEN if looks is None else looks), piece))
        return split_whole(ranges)  # type: ignore[return-value]

    def _real(self, leaves: list[_Leaf]) -> Cells:
        points: list[Any] = []
        stretches: list[tuple[Any, Stretch]] = []
        for number, node, glass in leaves:
            node = node if isinstance(node, RealRange) else RealRange(node.value, node.value)  # type: ignore[union-attr,arg-type]
            for looks, piece in cut_real(node, glass.precision, self._steps):
                view = _view(number, UNSEEN if looks is None else looks)
                if isinstance(piece, Stretch):
                    stretches.append((view, piece))
                else:
                    points.append((view, piece))
        return split_real(points, stretches)  # type: ignore[return-value]

    def _bool(self, leaves: list[_Leaf]) -> Cells:
        cells: dict[Together[View], list[bool]] = defaultdict(list)
        for value in (False, True):
            holders = [leaf for leaf in leaves if isinstance(leaf[1], Bool) or leaf[1] == Const(value)]
            if holders:
                cells[_alike(holders, value)].append(value)
        return {views: Listed(tuple(values)) for views, values in cells.items()}

    def _regions(self, count: int, width: int) -> Cell:
        (coordinate,) = self.values((RealRange(0.0, 1.0),), (Glass(),)).values()
        return Units(Power(coordinate, width), count)

    # --- lists ---

    def _tuples(self, leaves: list[_Leaf], size: int) -> Cells:
        """Lists of one length, element by element; what they are made of may be in sight, they themselves are not."""
        if len(leaves) == 1 and isinstance(leaves[0][1], Vector):
            (element,) = self.values((leaves[0][1].element,), (Glass(),)).values()
            return {_alike(leaves, ()): Power(element, size)}
        rows = [tuple(_elements(node, size)) for _, node, _ in leaves]

        def step(state: tuple[int, Together[tuple[int, Traits]]]) -> tuple[Any, Iterable[tuple[Cell, Any]]]:
            place, holders = state
            if place == size:
                return holders, ()
            order = list(holders)
            cells = self.values(tuple(rows[i][place] for i, _ in order), (Glass(),) * len(order))
            return None, (
                (cell, (place + 1, Together((order[v.of][0], order[v.of][1] | v.traits) for v in views)))
                for views, cell in cells.items()
            )

        start = (0, Together((i, NO_TRAITS) for i in range(len(rows))))
        cells: dict[Together[View], list[Cell]] = defaultdict(list)
        for holders, trail in explore(start, step, self._allowance).items():
            views = Together(
                _view(leaves[i][0], UNSEEN if leaves[i][2].precision is None else (), traits) for i, traits in holders
            )
            cells[views].append(Made(trail, tuple))
        return {views: join(found) for views, found in cells.items()}

    # --- blocks and alternatives with parameters ---

    def _records(self, leaves: list[_Leaf]) -> Cells:
        """Uses of one block, or alternatives of one name, parameter by parameter.

        Where several hold a value, it is made as the first would: under its name, in the order that it declares.
        """
        records = [_Record.of(node, glass, self._abstraction, self._facts) for _, node, glass in leaves]
        names = _common_order([record.node.params for record in records])

        def step(state: tuple[int, _Holders]) -> tuple[Any, Iterable[tuple[Cell | None, Any]]]:
            place, holders = state
            if place < len(names):
                return None, self._moves(names[place], place, records, holders)
            return Together((i, records[i].view(leaves[i][0], seen.params, traits)) for i, seen, traits in holders), ()

        start = (0, Together((i, _Siblings(), NO_TRAITS) for i in range(len(records))))
        cells: dict[Together[View], list[Cell]] = defaultdict(list)
        for held, trail in explore(start, step, self._allowance).items():
            cells[Together(view for _, view in held)].append(Made(trail, records[min(i for i, _ in held)].make))
        return {views: join(found) for views, found in cells.items()}

    def _moves(
        self, name: str, place: int, records: list[_Record], holders: _Holders
    ) -> Iterator[tuple[Cell | None, Any]]:
        present: list[tuple[int, _Siblings, Traits]] = []
        absent: list[tuple[int, _Siblings, Traits]] = []
        for holder in holders:
            (present if records[holder[0]].has(name, holder[1].params) else absent).append(holder)
        if absent:
            yield None, (place + 1, Together(absent))
        if not present:
            return
        nodes = tuple(records[i].params[name].node for i, _, _ in present)
        glasses = tuple(records[i].glass.of_param(name) for i, _, _ in present)
        for views, cell in self.values(nodes, glasses).items():
            after = []
            for view in views:
                i, seen, traits = present[view.of]
                after.append((i, seen.with_(name, view), traits | view.traits))
            yield Made(cell, lambda value: (name, value)), (place + 1, Together(after))


_Holders = Together[tuple[int, _Siblings, Traits]]


def _common_order(declared: list[tuple[Param, ...]]) -> list[str]:
    """An order of all parameters in which each comes after those that its condition may ask about."""
    rows = [[param.name for param in params] for params in declared]
    if all(row == rows[0] for row in rows):
        return rows[0]
    for is_free in (False, True):  # first as declared; if the declarations differ, only as conditions need
        sorter: TopologicalSorter[str] = TopologicalSorter()
        for params, row in zip(declared, rows, strict=True):
            for place, param in enumerate(params):
                sorter.add(param.name, *(() if is_free and param.condition is None else row[:place]))
        with suppress(CycleError):
            return list(sorter.static_order())
    raise TooCostly("the conditional parameters of a block are declared in different orders")


@dataclass(frozen=True, slots=True)
class _Record:
    """A block or an alternative being cut: its parameters, and how they are looked at while and after."""

    node: BlockUse | Symbol
    params: Mapping[str, Param]
    outer: Glass
    glass: Glass
    abstraction: Abstraction
    facts: Facts | None

    @classmethod
    def of(cls, node: Node, outer: Glass, abstraction: Abstraction, facts: Facts | None) -> _Record:
        assert isinstance(node, BlockUse | Symbol)
        precisions = (
            dict(abstraction.precisions(node.block) or {}) if isinstance(node, BlockUse) else dict(outer.within)
        )
        for name, precision in sibling_precisions((param.condition for param in node.params), facts).items():
            precisions[name] = precision.joined(precisions.get(name))
        glass = Glass(None, tuple(sorted(precisions.items(), key=lambda item: item[0])))
        return cls(node, {param.name: param for param in node.params}, outer, glass, abstraction, facts)

    def has(self, name: str, siblings: Params) -> bool:
        """Whether there is such a parameter beside the siblings seen so far."""
        if name not in self.params:
            return False
        condition = self.params[name].condition
        return condition is None or holds(condition, dict(siblings), self.facts)

    def make(self, params: list[tuple[str, Value]]) -> Value:
        """The value with these parameters, in whatever order they come."""
        values = dict(params)
        ordered = tuple((name, values[name]) for name in self.params if name in values)
        if isinstance(self.node, BlockUse):
            return BlockValue(self.node.block, ordered)
        return symbol_value(self.node.name, ordered)

    def view(self, number: int, params: Params, traits: Traits) -> View:
        """What is left to see once all parameters have their values."""
        if isinstance(self.node, BlockUse):
            precisions = self.abstraction.precisions(self.node.block)
            if precisions is not None:
                traits |= self.abstraction.block_traits(self.node.block, observed_params(params, precisions))
            looks: Appearance = UNSEEN if self.outer.precision is None else BlockValue(self.node.block, ())
            return _view(number, looks, traits)
        inner = observed_params(params, dict(self.outer.within))
        is_seen = self.outer.precision is not None or inner
        return _view(number, SymbolValue(self.node.name, inner) if is_seen else UNSEEN, traits)


# --- what a leaf is ------------------------------------------------------------------------------------


def _leaves(node: Node) -> Iterator[Node]:
    """The alternatives of a value, without choices; values that are written out become nodes."""
    match node:
        case Choice(options=options):
            for option in options:
                yield from _leaves(option)
        case Marked(node=inner):
            yield from _leaves(inner)
        case Const(value=BlockValue(block=block, params=params)):
            yield BlockUse(block, _fixed(params))
        case Const(value=SymbolValue(name=name, params=params)):
            yield Symbol(name, _fixed(params))
        case Const(value=str() as name):
            yield Symbol(name)
        case Const(value=tuple() as items):
            yield Listing(tuple(Const(item) for item in items))
        case _:
            yield node


def _fixed(params: Params) -> tuple[Param, ...]:
    return tuple(Param(name, Const(value)) for name, value in params)


def _sort(leaf: Node) -> tuple[Any, ...]:
    """What two leaves must agree in to have a value in common."""
    match leaf:
        case IntRange():
            return ("int",)
        case RealRange():
            return ("real",)
        case Bool() | Const(value=bool()):
            return ("bool",)
        case Const(value=int()):
            return ("int",)
        case Const(value=float()):
            return ("real",)
        case Const(value=Formula() as formula):
            return "formula", formula
        case Const(value=value):
            return "plain", value
        case BlockUse(block=block):
            return "block", block
        case Symbol(name=name):
            return "symbol", name
        case Listing(elements=elements):
            return "tuple", len(elements)
        case Vector(size=size):
            return "tuple", known(size)
        case Regions(count=count, width=width):
            return "regions", known(count), known(width)
    raise TypeError(f"{type(leaf).__name__} is a step, not a value")


def _is_logarithmic(leaf: Node) -> bool:
    return isinstance(leaf, IntRange | RealRange) and leaf.log and leaf.low != leaf.high


def _elements(node: Node, size: int) -> Iterable[Node]:
    return repeat(node.element, size) if isinstance(node, Vector) else node.elements  # type: ignore[union-attr]


def _view(number: int, looks: Appearance, traits: Traits = NO_TRAITS) -> View:
    return View(number, looks, "" if isinstance(looks, _Unseen) else kind_of(looks), traits)


def _alike(leaves: Iterable[_Leaf], value: Value) -> Together[View]:
    """The views of a value that looks like this wherever it is looked at."""
    return Together(_view(number, UNSEEN if glass.precision is None else value) for number, _, glass in leaves)
