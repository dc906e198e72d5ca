"""Partition the values of a parameter, and the parameters of a block, so that no value is in two enumerations.

Several nodes are partitioned at once. Each value that any of them has is in exactly one enumeration, and this is known
by its *views*: which of the nodes have its values, and what requirements and conditions observe of them there. So
`svc | svc(gamma = 1)` is counted right, and requirements are evaluated without listing models.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from msl.space.enumerate.disjoint_sets import (
    Enumeration,
    Listed,
    Mapped,
    OrderedSet,
    PointSets,
    Power,
    Single,
    TooCostly,
    WorkLimit,
    disjoint_union,
    explore,
)
from msl.space.enumerate.node_facts import PIPELINE, elements_of, is_logarithmic, leaves_of, sort_of
from msl.space.enumerate.number_sets import RealInterval, cut_real, cut_whole, split_real, split_whole
from msl.space.evaluate_conditions import holds
from msl.space.formulas import Facts
from msl.space.lengths import length_beside, list_of, names_in
from msl.space.model_traits import (
    NO_TRAITS,
    WHOLE_VALUE,
    Abstraction,
    Params,
    PartTrait,
    Precision,
    Traits,
    kind_of,
    observed_params,
    sibling_precisions,
    within,
)
from msl.space.nodes import (
    BlockUse,
    Bool,
    Const,
    IntRange,
    Marked,
    Node,
    Param,
    Pipeline,
    RealRange,
    Sized,
    Symbol,
    Vector,
    steps_up,
)
from msl.space.values import (
    BlockType,
    BlockValue,
    PipelineValue,
    Step,
    SymbolValue,
    Value,
    pipeline_value,
    symbol_value,
)


class _Unseen:
    """A value that nothing observes."""


UNSEEN = _Unseen()
Appearance = Value | _Unseen
PrecisionItems = tuple[tuple[str, Precision], ...]


@dataclass(frozen=True, slots=True)
class View:
    """A node by its number among those partitioned at once, what is observed of its value, and the traits it adds."""

    of: int
    observed: Appearance
    kind: str
    traits: Traits


@dataclass(frozen=True, slots=True)
class Visibility:
    """How finely a value is observed: itself, and the parameters inside an alternative by their names."""

    precision: Precision | None = None
    within: PrecisionItems = ()
    #: The same by the names that an alternative has for itself alone.
    own: PrecisionItems = ()

    def of_param(self, name: str) -> Visibility:
        if not self.within:
            return _UNOBSERVED
        precisions = dict(self.within)
        return Visibility(precisions.get(name), self.within, tuple(within(precisions, name).items()))

    def inside(self, node: Symbol) -> PrecisionItems:
        """How finely the parameters of an alternative are observed."""
        return self.own if node.own else self.within


_UNOBSERVED = Visibility()


@dataclass(frozen=True, slots=True)
class _Siblings:
    """What is observed of the parameters that already have their values."""

    params: Params = ()
    kinds: tuple[str, ...] = ()

    def with_(self, name: str, view: View) -> _Siblings:
        if isinstance(view.observed, _Unseen):
            return self
        return _Siblings((*self.params, (name, view.observed)), (*self.kinds, view.kind))


Enumerations = dict[OrderedSet[View], Enumeration]
_Leaf = tuple[int, Node, Visibility]
#: The rows of steps of several nodes, by the numbers of the nodes that have each and the traits that it has there.
Rows = Callable[[tuple[Node, ...]], Mapping[OrderedSet[tuple[int, Traits]], Enumeration]]


class ValuePartition:
    """Partitions values for one abstraction; with `steps`, an open real has so many values.

    With `scales`, a number on a logarithmic scale differs from the same on a linear one: only for comparing spaces.
    """

    def __init__(
        self,
        abstraction: Abstraction,
        facts: Facts | None,
        steps: int | None,
        limit: WorkLimit,
        rows: Callable[[], Rows | None],
        scales: bool = False,
    ) -> None:
        self._rows = rows
        self._abstraction = abstraction
        self._facts = facts
        self._steps = steps
        self._limit = limit
        self._scales = scales
        self._done: dict[tuple[tuple[int, Visibility], ...], tuple[tuple[Node, ...], Enumerations]] = {}
        self._lists: dict[tuple[int, int], tuple[Node, Node]] = {}

    def blocks(self, uses: tuple[BlockUse, ...]) -> Enumerations:
        """The values of uses of one block."""
        return self.values(uses, (Visibility(),) * len(uses))

    def values(self, nodes: tuple[Node, ...], visibilities: tuple[Visibility, ...]) -> Enumerations:
        """The values of some nodes."""
        key = tuple((id(node), visibility) for node, visibility in zip(nodes, visibilities, strict=True))
        if key not in self._done:  # the nodes are kept with their result, so that no other node gets the same id
            self._done[key] = nodes, self._cut(nodes, visibilities)
        return self._done[key][1]

    def _cut(self, nodes: tuple[Node, ...], visibilities: tuple[Visibility, ...]) -> Enumerations:
        groups: dict[tuple[Any, ...], list[_Leaf]] = defaultdict(list)
        for number, (node, visibility) in enumerate(zip(nodes, visibilities, strict=True)):
            for leaf in leaves_of(node):
                sort = (*sort_of(leaf), "log") if self._scales and is_logarithmic(leaf) else sort_of(leaf)
                groups[sort].append((number, leaf, visibility))
        if PIPELINE in groups:  # a pipeline may come to a single block, which other leaves may be too
            for sort in [sort for sort in groups if sort[0] == "block"]:
                groups[PIPELINE].extend(groups.pop(sort))
        pieces: dict[OrderedSet[View], list[Enumeration]] = defaultdict(list)
        for sort, leaves in groups.items():
            for views, piece in self._group(sort, leaves).items():
                pieces[views].append(piece)
        return {views: disjoint_union(found) for views, found in pieces.items()}

    def _group(self, sort: tuple[Any, ...], leaves: list[_Leaf]) -> Enumerations:
        match sort[0]:
            case "int":
                return self._whole(leaves)
            case "real":
                return self._real(leaves)
            case "bool":
                return self._bool(leaves)
            case "block" | "symbol":
                return self._records(leaves)
            case "pipeline":
                return self._pipelines(leaves)
            case "tuple":
                return self._tuples(leaves, sort[1])
            case "regions":
                return {_alike(leaves, ()): self._regions(sort[1], sort[2])}
            case "formula":
                return {OrderedSet(_view(number, UNSEEN) for number, _, _ in leaves): Single(sort[1])}
        return {_alike(leaves, sort[1]): Single(sort[1])}

    # --- numbers ---

    def _whole(self, leaves: list[_Leaf]) -> Enumerations:
        ranges: list[tuple[Any, range]] = []
        for number, node, visibility in leaves:
            node = node if isinstance(node, IntRange) else IntRange(node.value, node.value)  # type: ignore[union-attr,arg-type]
            for observed, piece in cut_whole(node, visibility.precision):
                ranges.append((_view(number, UNSEEN if observed is None else observed), piece))
        return split_whole(ranges)  # type: ignore[return-value]

    def _real(self, leaves: list[_Leaf]) -> Enumerations:
        points: list[Any] = []
        intervals: list[tuple[Any, RealInterval]] = []
        for number, node, visibility in leaves:
            node = node if isinstance(node, RealRange) else RealRange(node.value, node.value)  # type: ignore[union-attr,arg-type]
            for observed, piece in cut_real(node, visibility.precision, self._steps):
                view = _view(number, UNSEEN if observed is None else observed)
                if isinstance(piece, RealInterval):
                    intervals.append((view, piece))
                else:
                    points.append((view, piece))
        return split_real(points, intervals)  # type: ignore[return-value]

    def _bool(self, leaves: list[_Leaf]) -> Enumerations:
        pieces: dict[OrderedSet[View], list[bool]] = defaultdict(list)
        for value in (False, True):
            holders = [leaf for leaf in leaves if isinstance(leaf[1], Bool) or leaf[1] == Const(value)]
            if holders:
                pieces[_alike(holders, value)].append(value)
        return {views: Listed(tuple(values)) for views, values in pieces.items()}

    def _regions(self, count: int, width: int) -> Enumeration:
        (coordinate,) = self.values((RealRange(0.0, 1.0),), (Visibility(),)).values()
        return PointSets(Power(coordinate, width), count)

    # --- lists ---

    def _tuples(self, leaves: list[_Leaf], size: int) -> Enumerations:
        """Lists of one length, element by element; their elements may be observed, the lists themselves are not."""
        if len(leaves) == 1 and isinstance(leaves[0][1], Vector):
            (element,) = self.values((leaves[0][1].element,), (Visibility(),)).values()
            return {_alike(leaves, ()): Power(element, size)}
        rows = [tuple(elements_of(node, size)) for _, node, _ in leaves]

        def step(state: tuple[int, OrderedSet[tuple[int, Traits]]]) -> tuple[Any, Iterable[tuple[Enumeration, Any]]]:
            place, holders = state
            if place == size:
                return holders, ()
            order = list(holders)
            pieces = self.values(tuple(rows[i][place] for i, _ in order), (Visibility(),) * len(order))
            return None, (
                (piece, (place + 1, OrderedSet((order[v.of][0], order[v.of][1] | v.traits) for v in views)))
                for views, piece in pieces.items()
            )

        start = (0, OrderedSet((i, NO_TRAITS) for i in range(len(rows))))
        pieces: dict[OrderedSet[View], list[Enumeration]] = defaultdict(list)
        for holders, paths in explore(start, step, self._limit).items():
            views = OrderedSet(
                _view(leaves[i][0], UNSEEN if leaves[i][2].precision is None else (), traits) for i, traits in holders
            )
            pieces[views].append(Mapped(paths, tuple))
        return {views: disjoint_union(found) for views, found in pieces.items()}

    # --- pipelines ---

    def _pipelines(self, leaves: list[_Leaf]) -> Enumerations:
        """Rows of steps; where the value is observed, so is the block that a row of one step is."""
        rows = [node.node if isinstance(node, Pipeline) else node for _, node, _ in leaves]
        seen = [visibility.precision is not None for _, _, visibility in leaves]
        nodes = tuple(Marked(WHOLE_VALUE, row) if is_seen else row for row, is_seen in zip(rows, seen, strict=True))
        blocks = {use.block.key: use.block for row in rows for use in steps_up(row) if isinstance(use, BlockUse)}
        chains_of_all = self._rows()
        assert chains_of_all is not None  # what asks for values is under way
        pieces: dict[OrderedSet[View], list[Enumeration]] = defaultdict(list)
        for signature, paths in chains_of_all(nodes).items():
            views = OrderedSet(
                _pipeline_view(leaves[i][0], traits, blocks) if seen[i] else _view(leaves[i][0], UNSEEN, traits)
                for i, traits in signature
            )
            pieces[views].append(Mapped(paths, _value_of_rows))
        return {views: disjoint_union(found) for views, found in pieces.items()}

    # --- blocks and alternatives with parameters ---

    def _records(self, leaves: list[_Leaf]) -> Enumerations:
        """Uses of one block, or alternatives of one name, parameter by parameter.

        Where several hold a value, it is made as the first would: under its name, in the order that it declares.
        """
        records = [_Record.of(node, visibility, self._abstraction, self._facts) for _, node, visibility in leaves]
        names = _common_order([record.node.params for record in records])

        def step(state: tuple[int, _Holders]) -> tuple[Any, Iterable[tuple[Enumeration | None, Any]]]:
            place, holders = state
            if place < len(names):
                return None, self._moves(names[place], place, records, holders)
            return OrderedSet(
                (i, records[i].view(leaves[i][0], seen.params, traits)) for i, seen, traits in holders
            ), ()

        start = (0, OrderedSet((i, _Siblings(), NO_TRAITS) for i in range(len(records))))
        pieces: dict[OrderedSet[View], list[Enumeration]] = defaultdict(list)
        for held, paths in explore(start, step, self._limit).items():
            pieces[OrderedSet(view for _, view in held)].append(Mapped(paths, records[min(i for i, _ in held)].make))
        return {views: disjoint_union(found) for views, found in pieces.items()}

    def _moves(
        self, name: str, place: int, records: list[_Record], holders: _Holders
    ) -> Iterator[tuple[Enumeration | None, Any]]:
        present: list[tuple[int, _Siblings, Traits]] = []
        absent: list[tuple[int, _Siblings, Traits]] = []
        found: list[Node] = []
        for holder in holders:
            record = records[holder[0]]
            node = record.params[name].node if record.has(name, holder[1].params) else None
            if isinstance(node, Sized):
                node = self._list(node, holder[1])
            if node is None:
                absent.append(holder)
            else:
                present.append(holder)
                found.append(node)
        if absent:
            yield None, (place + 1, OrderedSet(absent))
        if not present:
            return
        nodes = tuple(found)
        visibilities = tuple(records[i].visibility.of_param(name) for i, _, _ in present)
        for views, piece in self.values(nodes, visibilities).items():
            after = []
            for view in views:
                i, seen, traits = present[view.of]
                after.append((i, seen.with_(name, view), traits | view.traits))
            yield Mapped(piece, lambda value: (name, value)), (place + 1, OrderedSet(after))

    def _list(self, sized: Sized, seen: _Siblings) -> Node | None:
        """The list beside these siblings; of each length there is one, by which it is known."""
        length = length_beside(sized, dict(seen.params))
        if length is None:
            return None
        key = id(sized), length
        if key not in self._lists:
            self._lists[key] = sized, list_of(sized, length)
        return self._lists[key][1]


_Holders = OrderedSet[tuple[int, _Siblings, Traits]]


def _common_order(declared: list[tuple[Param, ...]]) -> list[str]:
    """An order of all parameters in which each comes after those that its condition may compare."""
    rows = [[param.name for param in params] for params in declared]
    if all(row == rows[0] for row in rows):
        return rows[0]
    for is_free in (False, True):  # first as declared; if the declarations differ, only as conditions need
        sorter: TopologicalSorter[str] = TopologicalSorter()
        for params, row in zip(declared, rows, strict=True):
            for place, param in enumerate(params):
                asks = param.condition is not None or isinstance(param.node, Sized)
                sorter.add(param.name, *(() if is_free and not asks else row[:place]))
        with suppress(CycleError):
            return list(sorter.static_order())
    raise TooCostly("the conditional parameters of a block are declared in different orders")


@dataclass(frozen=True, slots=True)
class _Record:
    """A block or an alternative being partitioned: its parameters, and how they are observed meanwhile and after."""

    node: BlockUse | Symbol
    params: Mapping[str, Param]
    outer: Visibility
    visibility: Visibility
    abstraction: Abstraction
    facts: Facts | None

    @classmethod
    def of(cls, node: Node, outer: Visibility, abstraction: Abstraction, facts: Facts | None) -> _Record:
        assert isinstance(node, BlockUse | Symbol)
        precisions = (
            dict(abstraction.precisions(node.block) or {}) if isinstance(node, BlockUse) else dict(outer.inside(node))
        )
        counted = [name for p in node.params if isinstance(p.node, Sized) for name in names_in(p.node.length)]
        conditions = [param.condition for param in node.params if param.condition is not None]
        if conditions or counted:
            for name, precision in sibling_precisions(conditions, facts, counted).items():
                precisions[name] = precision.joined(precisions.get(name))
        visibility = Visibility(None, tuple(sorted(precisions.items(), key=lambda item: item[0])))
        return cls(node, {param.name: param for param in node.params}, outer, visibility, abstraction, facts)

    def has(self, name: str, siblings: Params) -> bool:
        """Whether the parameter exists beside the siblings so far."""
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
        return symbol_value(self.node.name, ordered, self.node.own)

    def view(self, number: int, params: Params, traits: Traits) -> View:
        """What is observed once all parameters have their values."""
        if isinstance(self.node, BlockUse):
            precisions = self.abstraction.precisions(self.node.block)
            if precisions is not None:
                traits |= self.abstraction.block_traits(self.node.block, observed_params(params, precisions))
            observed: Appearance = UNSEEN if self.outer.precision is None else BlockValue(self.node.block, ())
            return _view(number, observed, traits)
        inner = observed_params(params, dict(self.outer.inside(self.node)))
        is_seen = self.outer.precision is not None or inner
        return _view(number, SymbolValue(self.node.name, inner, self.node.own) if is_seen else UNSEEN, traits)


# --- what a leaf is ------------------------------------------------------------------------------------


def _view(number: int, observed: Appearance, traits: Traits = NO_TRAITS) -> View:
    return View(number, observed, "" if isinstance(observed, _Unseen) else kind_of(observed), traits)


def _pipeline_view(number: int, traits: Traits, blocks: Mapping[tuple[str, str], BlockType]) -> View:
    """A view whose value is observed: the block that the row is, or that it is a pipeline."""
    (whole,) = (trait for trait in traits if isinstance(trait, PartTrait) and trait.mark == WHOLE_VALUE)
    is_block = isinstance(whole.outcome, tuple)
    observed = BlockValue(blocks[whole.outcome], ()) if is_block else PipelineValue(())  # type: ignore[index]
    return _view(number, observed, traits - {whole})


def _value_of_rows(rows: list[tuple[Step, ...]]) -> Value:
    return pipeline_value(tuple(step for row in rows for step in row))


def _alike(leaves: Iterable[_Leaf], value: Value) -> OrderedSet[View]:
    """The views of a value that is observed as itself wherever it is observed."""
    return OrderedSet(
        _view(number, UNSEEN if visibility.precision is None else value) for number, _, visibility in leaves
    )
