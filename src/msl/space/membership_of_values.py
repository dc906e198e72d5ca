"""Test whether the parameters of a block can have given values, and find their derivation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from msl.space.evaluate_conditions import Outcome, holds
from msl.space.formulas import Facts, Formula
from msl.space.lengths import length_beside, list_beside
from msl.space.model_traits import NO_TRAITS, Abstraction, Params, Traits, observed_params
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
    Pipeline,
    RealRange,
    Regions,
    Sized,
    Symbol,
    Vector,
)
from msl.space.numbers import ends, known, level_count, level_value, tidy, whole_numbers
from msl.space.values import BlockValue, Branches, PipelineValue, Step, SymbolValue, Value, symbol_value


class _Absent:
    """The tree of what is left out."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


class Mismatch(Exception):
    """A value that is not in its domain; `depth` is how near the reason is to it."""

    def __init__(self, text: str, depth: int) -> None:
        super().__init__(text)
        self.depth = depth


@dataclass(frozen=True, slots=True)
class Reading:
    """A value as the space has it (blocks by the names used there), its traits, and its tree."""

    value: Value
    traits: Traits
    tree: Any


_State = tuple[Params, Traits, tuple[Any, ...]]
#: Reads steps against a node: what they come to (one block, or anything else), their traits and their tree, each way.
StepReader = Callable[[Node, BlockValue | PipelineValue], Iterable[tuple[Outcome, Traits, Any]]]


class ValueReader:
    """Reads values against nodes. If it `rounds`, an open real need not be on the grid of its range, nor be written as
    a real: `1` is a value of `real 0..2`, but beside `1` itself it is not meant."""

    def __init__(self, abstraction: Abstraction, facts: Facts | None, rounds: bool, steps: StepReader) -> None:
        self._abstraction = abstraction
        self._facts = facts
        self._rounds = rounds
        self._steps = steps

    def read(self, use: BlockUse, value: BlockValue) -> list[Reading]:
        """All derivations of this block from a use of it, as far as they differ; raises Mismatch."""
        precisions = self._abstraction.precisions(use.block)
        readings = []
        for params, traits, tree in self._params(use.params, value.params, use.block.name):
            if precisions is not None:
                traits |= self._abstraction.block_traits(use.block, observed_params(params, precisions))
            readings.append(Reading(BlockValue(use.block, params), traits, tree))
        return readings

    # --- parameters ---

    def _params(self, params: tuple[Param, ...], given: Params, owner: str) -> list[_State]:
        values = dict(given)
        states: list[_State] = [((), NO_TRAITS, ())]
        for param in params:
            states = _distinct(onward for state in states for onward in self._param(param, values, state))
            if not states:
                raise self._why_not(param, values, owner)
        unknown = sorted(values.keys() - {param.name for param in params})
        if unknown:
            raise Mismatch(f"`{owner}` has no parameter `{unknown[0]}` in this space", 1)
        return states

    def _param(self, param: Param, given: dict[str, Value], state: _State) -> Iterator[_State]:
        before, traits, trees = state
        exists = param.condition is None or holds(param.condition, dict(before), self._facts)
        node = list_beside(param.node, dict(before)) if isinstance(param.node, Sized) else param.node
        exists = exists and node is not None
        if exists != (param.name in given):
            return
        if not exists or node is None:
            yield before, traits, (*trees, ABSENT)
            return
        for reading in self._values(node, given[param.name]):
            yield (*before, (param.name, reading.value)), traits | reading.traits, (*trees, reading.tree)

    def _why_not(self, param: Param, given: dict[str, Value], owner: str) -> Mismatch:
        if param.name not in given:
            return Mismatch(f"`{owner}` lacks its parameter `{param.name}`", 1)
        value = given[param.name]
        if isinstance(param.node, Sized) and isinstance(value, tuple):
            length = length_beside(param.node, given)
            if length is not None and length != len(value):
                return Mismatch(f"`{owner}.{param.name}` has {len(value)} elements, but needs {length} here", 2)
        if self._values(param.node, value):
            return Mismatch(f"`{owner}.{param.name}` does not exist beside these values of its siblings", 1)
        return Mismatch(f"`{owner}.{param.name} = {_shown(value)}` is outside its domain in this space", 2)

    # --- values ---

    def _values(self, node: Node, value: Value) -> list[Reading]:
        found: dict[Any, Reading] = {}
        for reading in self._read(node, value):
            found.setdefault((_names(reading.value), reading.traits), reading)
        return list(found.values())

    def _read(self, node: Node, value: Value) -> Iterator[Reading]:
        match node:
            case Const(value=own) if not isinstance(own, Formula):
                if _typed(own) == _typed(value):
                    yield Reading(own, self._abstraction.traits_of_value(own), None)
            case IntRange():
                if type(value) is int and value in whole_numbers(node):
                    yield Reading(value, NO_TRAITS, value)
            case RealRange():
                if (real := _real(node, value, self._rounds)) is not None:
                    yield Reading(real, NO_TRAITS, real)
            case Bool():
                if isinstance(value, bool):
                    yield Reading(value, NO_TRAITS, value)
            case Choice(options=options):
                for number, option in enumerate(options):
                    for reading in self._values(option, value):
                        yield Reading(reading.value, reading.traits, (number, reading.tree))
            case Marked(node=inner):
                yield from self._values(inner, value)
            case Symbol():
                yield from self._symbol(node, value)
            case BlockUse(block=block) if isinstance(value, BlockValue) and value.block == block:
                with suppress(Mismatch):  # inside a value, what does not fit is one alternative fewer
                    yield from self.read(node, value)
            case Pipeline(node=inner) if isinstance(value, BlockValue | PipelineValue):
                for outcome, traits, tree in self._steps(inner, value):
                    yield Reading(_as_named(value, outcome), traits, tree)
            case Regions(count=count, width=width) if isinstance(value, tuple):
                if _is_placed(value, int(known(count)), int(known(width))):
                    yield Reading(value, NO_TRAITS, value)
            case Vector() if isinstance(value, tuple):
                yield from self._vector(node, value)
            case Listing(elements=elements) if isinstance(value, tuple) and len(elements) == len(value):
                yield from self._listing(elements, value)

    def _symbol(self, node: Symbol, value: Value) -> Iterator[Reading]:
        name, own = (value.name, value.own) if isinstance(value, SymbolValue) else (value, False)
        if name != node.name or own != node.own:
            return
        given = value.params if isinstance(value, SymbolValue) else ()
        with suppress(Mismatch):
            for found, traits, tree in self._params(node.params, given, node.name):
                yield Reading(symbol_value(node.name, found, node.own), traits, tree)

    def _vector(self, node: Vector, value: tuple[Value, ...]) -> Iterator[Reading]:
        if len(value) != known(node.size):
            return
        elements = [next(self._read(node.element, item), None) for item in value]
        found = tuple(reading.value for reading in elements if reading is not None)
        if len(found) == len(value):
            yield Reading(found, NO_TRAITS, found)

    def _listing(self, nodes: tuple[Node, ...], value: tuple[Value, ...]) -> Iterator[Reading]:
        readings = [Reading((), NO_TRAITS, ())]
        for node, item in zip(nodes, value, strict=True):
            readings = [
                Reading((*so_far.value, more.value), so_far.traits | more.traits, (*so_far.tree, more.tree))  # type: ignore[misc]
                for so_far in readings
                for more in self._values(node, item)
            ]
        yield from readings


def _as_named(value: BlockValue | PipelineValue, outcome: Outcome) -> Value:
    """A block under the name that the space has for it there."""
    if not isinstance(value, BlockValue) or not isinstance(outcome, tuple):
        return value
    origin, name = outcome
    return replace(value, block=replace(value.block, origin=origin, name=name))


def _distinct(states: Iterable[_State]) -> list[_State]:
    found: dict[Any, _State] = {}
    for state in states:
        found.setdefault((tuple(_names(value) for _, value in state[0]), state[1]), state)
    return list(found.values())


def _names(value: Value) -> Any:
    """The names under which the blocks of a value are known, by which alone equal values can differ."""
    match value:
        case BlockValue(block=block, params=params):
            return block.key, tuple(_names(inner) for _, inner in params)
        case SymbolValue(params=params):
            return tuple(_names(inner) for _, inner in params)
        case PipelineValue(steps=steps):
            return _of_steps(steps, _names)
        case tuple():
            return tuple(map(_names, value))
    return None


def _of_steps(steps: tuple[Step, ...], of_block: Callable[[Value], Any]) -> Any:
    """What each block of some steps comes to, in their structure."""
    return tuple(
        ("branches", *(_of_steps(branch, of_block) for branch in step.branches))
        if isinstance(step, Branches)
        else of_block(step)
        for step in steps
    )


def _typed(value: Any) -> Any:
    """A value such that 1, 1.0 and true differ."""
    match value:
        case BlockValue(block=block, params=params):
            return block, frozenset((name, _typed(inner)) for name, inner in params)
        case SymbolValue(name=name, params=params, own=own) if params or own:
            return name, own, frozenset((key, _typed(inner)) for key, inner in params)
        case SymbolValue(name=name):
            return _typed(name)
        case PipelineValue(steps=steps):
            return PipelineValue, _of_steps(steps, _typed)
        case tuple():
            return tuple(map(_typed, value))
    return type(value), value


def _real(node: RealRange, value: Value, rounds: bool) -> float | None:
    """The real that a value is in a range; a whole number is one too where nothing takes it as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float if rounds else float):
        return None
    low, high = ends(node)
    if not low <= value <= high:
        return None
    if level_count(node) is None:
        return float(value) if rounds or tidy(node, value) == value else None
    if low == high or node.step is None:
        return low
    level = round((value - low) / node.step)
    nearest = level_value(node, level)
    return nearest if abs(nearest - value) <= 1e-9 * node.step else None


def _is_placed(value: tuple[Value, ...], count: int, width: int) -> bool:
    if len(value) != count or all(unit is None for unit in value):
        return False
    return all(unit is None or (isinstance(unit, tuple) and len(unit) == width and _in_cube(unit)) for unit in value)


def _in_cube(point: tuple[Value, ...]) -> bool:
    return all(isinstance(x, int | float) and not isinstance(x, bool) and 0 <= x <= 1 for x in point)


def _shown(value: Value) -> str:
    match value:
        case BlockValue(block=block):
            return block.name
        case SymbolValue(name=name):
            return name
        case PipelineValue(steps=steps):
            return " >> ".join("…" if isinstance(step, Branches) else step.block.name for step in steps)
        case tuple():
            return f"[{', '.join(map(_shown, value))}]"
        case bool():
            return "true" if value else "false"
        case None:
            return "none"
    return str(value)
