"""Compile: a space laid out on the dimensions of the unit cube — where each choice and each parameter has its slot.

A choice comes before what its options need. With the `shared` encoding the options of one choice use the same slots,
each from the first on, as many as the largest needs; with `separate`, every parameter has a slot of its own. Without a
table a layout is as good as it can be; plans need one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from msl.diagnostics.user_error import UserError
from msl.encode.layout import Encoding, Kind, Layout, Meaning, layout_of, shaped
from msl.encode.priors import Steer, needs_table, prior_of, weights_of
from msl.encode.scale import Scale, Steps, scale_of
from msl.encode.step_plan import Arranged, Fork, Part, Row, SetPart, Some, Times, arrangement_count
from msl.encode.value_plan import (
    DecodePlan,
    Derived,
    Fixed,
    Lengthened,
    Listed,
    Maker,
    Number,
    Numbers,
    ParamPlan,
    Pick,
    PickFixed,
    Piped,
    Record,
    Units,
    asked_siblings,
    block_maker,
    step_maker,
    symbol_maker,
)
from msl.record import paused_collector
from msl.space.conditions import marks, observed_settings
from msl.space.evaluate_conditions import holds
from msl.space.formulas import FACTS, Amount, Formula, depends_on
from msl.space.lengths import most_elements, names_in, with_known_lengths
from msl.space.names_to_text import BlockNames, part_name
from msl.space.nodes import (
    Arrange,
    BlockUse,
    Bool,
    Choice,
    Computed,
    Const,
    Empty,
    IntRange,
    Listing,
    Marked,
    Node,
    Param,
    Permute,
    Pipeline,
    RealRange,
    Regions,
    Repeat,
    Sequence,
    Sized,
    Subset,
    Symbol,
    Union,
    Vector,
    bottom_up,
    children,
    follows_table,
    is_ordered,
)
from msl.space.part_parameters import variable, without_open_reals
from msl.space.spec import Space
from msl.space.to_text import NodeWriter
from msl.space.values import part_as_block, pipeline_value

#: Beyond this, slots are given out for something that is no longer meant.
MOST_DIMENSIONS = 1_000_000
#: How deep choices and branches may nest once rows and choices inside their like are one.
MOST_NESTED = 150
_LONGEST_LABEL = 48


@dataclass(frozen=True, slots=True)
class Compiled:
    """A space in the shape that was laid out, its layout, and the plan; None while bounds depend on the table."""

    root: Node
    layout: Layout
    plan: DecodePlan | None
    #: Whether priors or weights steer its draws.
    is_steered: bool


@paused_collector()
def compile_space(space: Space, encoding: Encoding) -> Compiled:
    """Lays a space out; raises ValueError where it does not fit the cube."""
    if encoding not in ("shared", "separate"):
        raise UserError(f"an encoding is `shared` or `separate`, not {encoding!r}")
    root = shaped(without_open_reals(space.root, observed_settings(space.requirements)))
    if (depth := _depth(root)) > MOST_NESTED:
        raise UserError(f"choices and branches nest {depth} deep; {MOST_NESTED} is the most that can be encoded")
    compiler = _Compiler(space, encoding)
    plan, end = compiler.steps(root, 0, _Place())
    layout = layout_of(encoding, end, compiler.meanings, compiler.labels)
    return Compiled(root, layout, None if compiler.follows_table else plan, compiler.is_steered)


def _depth(root: Node) -> int:
    depths: dict[int, int] = {}
    for node in bottom_up(root):
        depths[id(node)] = 1 + max((depths[id(child)] for child in children(node)), default=0)
    return depths[id(root)]


Slot = int | None  # None after something whose width the table decides
_UNKNOWN = Fixed(None)  # stands where a plan needs the table


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in a space a node stands.

    Its path, for people and in full; the alternative, and which time where it is repeated; the group and its label.
    """

    path: tuple[str, ...] = ()
    full: tuple[str, ...] = ()
    alternative: str = ""
    time: str = ""
    group: int | None = None
    label: str = ""

    def under(self, name: str) -> _Place:
        return replace(self, path=(*self.path, name), full=(*self.full, name))

    @property
    def names(self) -> frozenset[str]:
        """Every stretch of the path: `select.ftest.fmax` is also found as `ftest.fmax`, `fmax`, `ftest`, `select`."""
        return frozenset(
            ".".join(path[i:j])
            for path in (self.path, self.full)
            for i in range(len(path))
            for j in range(i + 1, len(path) + 1)
        )


#: Lays out a node from a slot on.
_Inner = Callable[[Node, Slot, _Place], tuple[DecodePlan, Slot]]


class _Compiler:
    def __init__(self, space: Space, encoding: Encoding) -> None:
        self._facts = space.facts
        self._shares_slots = encoding == "shared"
        self._marks = frozenset(mark for requirement in space.requirements for mark in marks(requirement))
        self._observed = observed_settings(space.requirements)
        self._speller = NodeWriter(BlockNames(), parameters=False, most=_LONGEST_LABEL)
        self._texts: dict[int, str] = {}
        self.meanings: list[Meaning] = []
        self.labels: list[str] = []
        self.follows_table = False
        self.is_steered = False

    # --- steps ---

    def steps(self, node: Node, slot: Slot, place: _Place) -> tuple[DecodePlan, Slot]:
        """The plan of a step, and the first slot after it."""
        match node:
            case Empty():
                return Fixed(()), slot
            case BlockUse(block=block, params=params):
                inside = self._grouped(place, node).under(block.name)
                return self._record(params, slot, inside, step_maker(block))
            case Marked(params=params) if params:
                return self._part(node, slot, place)
            case Marked(mark=mark, node=inner):
                named = part_name(mark)
                plan, end = self.steps(inner, slot, replace(place.under(named), label=named))
                return (Part(mark, plan) if mark in self._marks else plan), end
            case Choice(options=options):
                part = _common_part(options)
                inside = self._grouped(replace(place, label=part or place.label), node)
                return self._choice(node, slot, inside, self.steps, part)
            case Sequence(steps=below) | Union(branches=below):
                plans, end = self._one_by_one(below, slot, replace(place, label=""))
                return (Row(plans) if isinstance(node, Sequence) else Fork(plans)), end
            case Subset(members=members):
                return self._subset(node, members, slot, self._grouped(place, node))
            case Permute(members=members):
                return self._arranged(node, len(members), len(members), members, slot, place)
            case Arrange(low=low, high=high, members=members):
                return self._arranged(node, low, high, members, slot, place)
            case Repeat():
                return self._repeated(node, slot, place)
        raise TypeError(f"{type(node).__name__} is a value, not a step")

    def _one_by_one(self, nodes: tuple[Node, ...], slot: Slot, place: _Place) -> tuple[tuple[DecodePlan, ...], Slot]:
        plans = []
        for node in nodes:
            plan, slot = self.steps(node, slot, place)
            plans.append(plan)
        return tuple(plans), slot

    def _part(self, part: Marked, slot: Slot, place: _Place) -> tuple[DecodePlan, Slot]:
        """A part with parameters: each has its dimension, before those of the steps that use its value."""
        named = part_name(part.mark)
        own = self._grouped(replace(place.under(named), label=named), part)
        params: list[ParamPlan] = []
        for param in part.params:
            plan, slot = self.value(param.node, slot, own.under(param.name))
            if isinstance(plan, Number) and plan.steer is not None:
                plan = replace(plan, is_asked=True)  # other values follow from it
            params.append(ParamPlan(variable(part.mark, param.name), plan, None))
        inner, end = self.steps(part.node, slot, replace(own, group=place.group, label=named))
        inner = Part(part.mark, inner) if part.mark in self._marks else inner
        block = part_as_block(part.mark) if part.mark in self._observed else None
        return SetPart(tuple(params), inner, block), end

    def _subset(self, node: Node, members: tuple[Node, ...], slot: Slot, place: _Place) -> tuple[DecodePlan, Slot]:
        levels = 2 ** len(members)
        meaning = self._meaning(slot, place, "subset", self._text(node), levels)
        plans, end = self._one_by_one(members, _after(slot), place)
        return self._with_slot(slot, lambda at: Some(at, plans, Steps(levels), meaning)), end

    def _arranged(
        self, node: Node, low: int, high: int, members: tuple[Node, ...], slot: Slot, place: _Place
    ) -> tuple[DecodePlan, Slot]:
        levels = arrangement_count(len(members), low, high)
        kind: Kind = "order" if low == len(members) else "arrangement"
        own = self._grouped(replace(place, label=place.label or f"{kind} of {self._text(node)}"), node)
        meaning = self._meaning(slot, own, kind, self._text(node), levels)
        plans, end = self._one_by_one(members, _after(slot), replace(place, label=""))
        return self._with_slot(slot, lambda at: Arranged(at, plans, low, high, Steps(levels), meaning)), end

    def _repeated(self, node: Repeat, slot: Slot, place: _Place) -> tuple[DecodePlan, Slot]:
        start, levels = slot, node.high - node.low + 1
        if levels > 1:
            own = self._grouped(replace(place, label=place.label or f"count of {self._text(node.member)}"), node)
            counts = (node.low - 0.5, node.high + 0.5)
            meaning = self._meaning(slot, own, "count", f"{node.low}..{node.high}", levels, ends=counts)
            slot = _after(slot)
        plans = []
        for time in range(node.high):
            copy = replace(place, label="", time=f"time {time + 1}")
            plan, slot = self.steps(node.member, slot, copy)
            plans.append(plan)
        if levels == 1:
            return Row(tuple(plans)), slot
        return self._with_slot(start, lambda at: Times(at, node.low, tuple(plans), Steps(levels), meaning)), slot

    # --- values ---

    def value(self, node: Node, slot: Slot, place: _Place) -> tuple[DecodePlan, Slot]:
        """The plan of a value, and the first slot after it."""
        match node:
            case Const(value=Formula()):
                self.follows_table = True
                return _UNKNOWN, slot
            case Const(value=value):
                return Fixed(value), slot
            case Computed(formula=formula, within=within):
                if depends_on(formula, FACTS) or any(map(follows_table, bottom_up(within))):
                    self.follows_table = True
                    return _UNKNOWN, slot
                return Derived(formula, within, f"`{'.'.join(place.path[-2:])}`"), slot
            case IntRange() | RealRange() | Bool():
                meaning, scale = self._number(node, slot, 1, place)
                steer = self._steer(node, scale)
                return self._with_slot(slot, lambda at: Number(at, scale, meaning, steer), scale), _after(slot)
            case Vector(size=size, element=element):
                return self._vector(size, element, slot, place)
            case Regions(count=count, width=width):
                return self._regions(count, width, slot, place)
            case Listing(elements=elements):
                plans = []
                for item in elements:
                    plan, slot = self.value(item, slot, place)
                    plans.append(plan)
                if all(isinstance(plan, Fixed) for plan in plans):
                    return Fixed(tuple(plan.value for plan in plans)), slot  # type: ignore[attr-defined]
                return Listed(tuple(plans)), slot
            case Symbol(name=name, params=params, own=own):
                path = place.path if own else place.path[:-1]
                inside = replace(place, path=path, full=(*place.full, name))
                return self._record(params, slot, inside, symbol_maker(name, own))
            case BlockUse(block=block, params=params):
                return self._record(params, slot, place.under(block.name), block_maker(block))
            case Pipeline(node=inner):
                plan, end = self.steps(inner, slot, replace(place, label=""))
                return (Fixed(pipeline_value(plan.value)) if isinstance(plan, Fixed) else Piped(plan)), end
            case Choice():
                return self._choice(node, slot, place, self.value)
            case Marked(node=inner):
                return self.value(inner, slot, place)
        raise TypeError(f"{type(node).__name__} is a step, not a value")

    def _number(self, node: IntRange | RealRange | Bool, slot: Slot, width: Slot, place: _Place) -> tuple[Meaning, Any]:
        match node:
            case Bool():
                kind: Kind = "bool"
            case IntRange():
                kind = "int"
            case _:
                kind = "real"
        is_known = isinstance(node, Bool) or not (isinstance(node.low, Formula) or isinstance(node.high, Formula))
        self.follows_table = self.follows_table or (not isinstance(node, Bool) and needs_table(node))
        scale: Scale | None = None
        if is_known:
            scale = self._scale(node, place)
        self.follows_table = self.follows_table or not is_known
        line: Literal["", "linear", "log"] = "" if isinstance(node, Bool) else "log" if node.log else "linear"
        levels, ends = (None, None) if scale is None else (scale.levels, scale.ends)
        return self._meaning(slot, place, kind, self._text(node), levels, line, width, ends=ends), scale

    def _steer(self, node: IntRange | RealRange | Bool, scale: Scale | None) -> Steer | None:
        steer = None if scale is None or isinstance(node, Bool) else prior_of(node, scale)
        self.is_steered = self.is_steered or steer is not None
        return steer

    def _scale(self, node: IntRange | RealRange | Bool, place: _Place) -> Scale:
        try:
            return scale_of(node)
        except UserError as error:
            raise UserError(f"`{'.'.join(place.path)}`: {error}") from None

    def _vector(self, size: Amount, element: Any, slot: Slot, place: _Place) -> tuple[DecodePlan, Slot]:
        width = None if isinstance(size, Formula) else int(size)
        self.follows_table = self.follows_table or width is None
        if isinstance(element, Const):
            self.follows_table = self.follows_table or isinstance(element.value, Formula)
            return (_UNKNOWN if width is None else Fixed((element.value,) * width)), slot
        meaning, scale = self._number(element, slot, width, place)
        if width is None or scale is None:
            return _UNKNOWN, _after(slot, width)
        steer = self._steer(element, scale)
        return self._with_slot(slot, lambda at: Numbers(at, width, scale, meaning, steer), scale), _after(slot, width)

    def _regions(self, count: Amount, width: Amount, slot: Slot, place: _Place) -> tuple[DecodePlan, Slot]:
        many = 1 if isinstance(count, Formula) else int(count)  # one stands for all in a table of what it means
        wide = None if isinstance(width, Formula) else int(width)
        units = []
        for number in range(many):
            unit = replace(place, path=(*place.path[:-1], f"{place.path[-1]}[{number + 1}]"))
            on = self._meaning(slot, unit, "unit", "off | on", 2, unit=number, ends=scale_of(Bool()).ends)
            where = self._meaning(
                _after(slot), unit, "place", "real 0..1", None, "linear", wide, number, ends=(0.0, 1.0)
            )
            if slot is not None and wide is not None:
                places = Numbers(slot + 1, wide, scale_of(RealRange(0.0, 1.0)), where)
                units.append((Number(slot, scale_of(Bool()), on), places))
            slot = _after(_after(slot), wide)
        if isinstance(count, Formula) or wide is None:
            self.follows_table = True
            return _UNKNOWN, None
        return Units(tuple(units)), slot

    # --- choices and parameters ---

    def _choice(
        self, node: Choice, slot: Slot, place: _Place, inner: _Inner, part: str = ""
    ) -> tuple[DecodePlan, Slot]:
        levels, steer = len(node.options), weights_of(node)
        self.is_steered = self.is_steered or steer is not None
        own = place.under(part) if part else place
        kind: Kind = "ordered" if is_ordered(node) else "choice"
        options = tuple("none" if isinstance(option, Empty) else self._text(option) for option in node.options)
        meaning = self._meaning(slot, own, kind, self._text(node), levels, options=options)
        plans: list[DecodePlan] = []
        start = end = _after(slot)
        for option in node.options:
            here = replace(place, alternative=self._text(option))
            plan, after = inner(option, start if self._shares_slots else end, here)
            plans.append(plan)
            end = None if end is None or after is None else max(end, after)
        if all(isinstance(plan, Fixed) for plan in plans):
            table = tuple(plan.value for plan in plans)  # type: ignore[attr-defined]
            return self._with_slot(slot, lambda at: PickFixed(at, table, Steps(levels), meaning, steer)), end
        return self._with_slot(slot, lambda at: Pick(at, tuple(plans), Steps(levels), meaning, steer)), end

    def _record(self, params: tuple[Param, ...], slot: Slot, place: _Place, make_all: Maker) -> tuple[DecodePlan, Slot]:
        plans: list[ParamPlan] = []
        for position, param in enumerate(params := with_known_lengths(params)):
            sized = param.node if isinstance(param.node, Sized) else None
            if sized is None:
                plan, slot = self.value(param.node, slot, place.under(param.name))
            else:
                plan, slot = self._sized(sized, params[:position], slot, place.under(param.name))
            asks: tuple[str, ...] = ()
            if param.condition is not None or sized is not None:
                names = set() if param.condition is None else asked_siblings(param.condition)
                names |= set() if sized is None else names_in(sized.length)
                asks = tuple(p.name for p in params[:position] if _is_asked(p, names))
            plans.append(ParamPlan(param.name, plan, param.condition, asks, sized))
        if all(isinstance(param.plan, Fixed) for param in plans):
            return Fixed(make_all([self._fixed(plans)])[0]), slot
        asked = {name for param in plans for name in param.asks}
        for number, one in enumerate(plans):
            if one.name in asked and isinstance(one.plan, Number) and one.plan.steer is not None:
                plans[number] = replace(one, plan=replace(one.plan, is_asked=True))
        return Record(make_all, tuple(plans), self._facts), slot

    def _sized(self, node: Sized, siblings: tuple[Param, ...], slot: Slot, place: _Place) -> tuple[DecodePlan, Slot]:
        """As many elements as the longest list has; those that a shorter one lacks are out of use."""
        plans = []
        for number in range(most_elements(node, siblings)):
            element = replace(place, path=(*place.path[:-1], f"{place.path[-1]}[{number + 1}]"))
            plan, slot = self.value(node.element, slot, element)
            plans.append(plan)
        return Lengthened(tuple(plans)), slot

    def _fixed(self, params: list[ParamPlan]) -> tuple[tuple[str, Any], ...]:
        found: dict[str, Any] = {}
        for param in params:
            if param.condition is None or holds(param.condition, found, self._facts):
                found[param.name] = param.plan.value  # type: ignore[attr-defined]
        return tuple(found.items())

    # --- slots, meanings and groups ---

    def _meaning(
        self,
        slot: Slot,
        place: _Place,
        kind: Kind,
        range_: str,
        levels: int | None,
        scale: Literal["", "linear", "log"] = "",
        width: Slot = 1,
        unit: int | None = None,
        ends: tuple[float, float] | None = None,
        options: tuple[str, ...] = (),
    ) -> Meaning:
        if slot is not None and slot + (width or 0) > MOST_DIMENSIONS:
            raise UserError(f"the space has more than {MOST_DIMENSIONS:,} dimensions")
        path = ".".join(place.path) or place.label or range_
        assert place.group is not None
        alternative = ", ".join(filter(None, (place.alternative, place.time)))
        if ends is None and kind in ("choice", "ordered", "subset", "order", "arrangement") and levels is not None:
            ends = (0.5, levels + 0.5)  # options are counted from 1
        meaning = Meaning(
            slot,
            width,
            alternative,
            path,
            kind,
            range_,
            scale,
            levels,
            place.group,
            place.names,
            unit,
            ends,
            options,
        )
        self.meanings.append(meaning)
        return meaning

    def _with_slot(self, slot: Slot, plan: Callable[[int], DecodePlan], *needs: object) -> DecodePlan:
        return _UNKNOWN if slot is None or None in needs else plan(slot)

    def _grouped(self, place: _Place, node: Node) -> _Place:
        """The place inside a group: that of the step around it, or a new one."""
        if place.group is not None:
            return place
        self.labels.append(place.label or self._text(node))
        return replace(place, group=len(self.labels) - 1)

    def _text(self, node: Node) -> str:
        if isinstance(node, BlockUse):
            return node.block.name
        if id(node) not in self._texts:  # nodes live as long as the root, so an id stays its own
            self._texts[id(node)] = self._speller.node(node)
        return self._texts[id(node)]


def _after(slot: Slot, width: Slot = 1) -> Slot:
    return None if slot is None or width is None else slot + width


def _common_part(options: tuple[Node, ...]) -> str:
    """The part that a choice is, or would be if it had no empty option; each option then stands in it by itself."""
    names = {part_name(o.mark) if isinstance(o, Marked) else "" for o in options if not isinstance(o, Empty)}
    return names.pop() if len(names) == 1 else ""


def _is_asked(param: Param, names: set[str]) -> bool:
    """Whether a sibling is named, or something inside its value."""
    inside = any(name.startswith(f"{param.name}.") for name in names)
    return param.name in names or inside or _holds_any(param.node, names)


def _holds_any(node: Node, names: set[str]) -> bool:
    """Whether an alternative of a value has a parameter of one of these names."""
    match node:
        case Choice(options=options):
            return any(_holds_any(option, names) for option in options)
        case Symbol(params=params):
            return any(param.name in names or _holds_any(param.node, names) for param in params)
    return False
