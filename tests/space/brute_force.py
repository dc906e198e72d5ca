"""Brute force: every model of a small space by plain enumeration, as data that tells 1 from 1.0 and from true."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import islice, permutations, product
from typing import TypeVar

from hypothesis import reject

from msl.space.conditions import Computed as ComputedTerm
from msl.space.conditions import Literal, Sibling
from msl.space.evaluate_conditions import Derivation, broken, holds
from msl.space.formulas import Formula
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
    Repeat,
    Sequence,
    Sized,
    Subset,
    Symbol,
    Union,
    Vector,
)
from msl.space.spec import Space
from msl.space.values import BlockValue, Branches, Model, PipelineValue, Step, SymbolValue, Value, part_as_block

Parts = tuple[tuple[str, tuple[Step, ...]], ...]
Way = tuple[tuple[Step, ...], Parts]
Setting = tuple[tuple[str, Value], ...]
#: A value, or all parameters, and the parts inside them.
With = tuple[Value, Parts]


#: The values of the parameters of the parts around a node.
At = Mapping[str, object]
#: How finely an open real is tried out.
FINE = 60
#: Spaces with more ways than this to put a model together are not for brute force, which lists them all.
MOST_WAYS = 20_000
_Listed = TypeVar("_Listed")


def _is_setting(step: Step) -> bool:
    return isinstance(step, BlockValue) and step.block.role == "part"


def all_models(space: Space) -> frozenset[object]:
    """The models of a space, each as typed plain data. A generated space that has too many is passed over."""
    found = set()
    for steps, entries in _few(_ways(space.root, {})):
        settings = tuple(step for _, row in entries for step in row if _is_setting(step))
        parts = tuple((mark, row) for mark, row in entries if not any(map(_is_setting, row)))
        derivation = Derivation(Model(steps), parts, settings)  # type: ignore[arg-type]
        if broken(space.requirements, derivation, space.facts) is None:
            found.add(typed_steps(steps))
    return frozenset(found)


def _few(found: Iterator[_Listed]) -> list[_Listed]:
    listed = list(islice(found, MOST_WAYS + 1))
    if len(listed) > MOST_WAYS:
        reject()
    return listed


def _ways(node: Node, at: At) -> Iterator[Way]:
    match node:
        case Empty():
            yield (), ()
        case BlockUse(block=block):
            yield from (((BlockValue(block, params),), parts) for params, parts in _settings(node.params, at))
        case Marked(mark=mark, node=inner, params=params) if params:
            for values in product(*(_few(_values(param.node, at)) for param in params)):
                pairs = tuple((param.name, value) for param, (value, _) in zip(params, values, strict=True))
                inside = {**at, **{f"{mark}.{name}": value for name, value in pairs}}
                own = (mark, (BlockValue(part_as_block(mark), pairs),))
                for steps, parts in _ways(inner, inside):
                    yield steps, (*parts, (mark, steps), own)
        case Marked(mark=mark, node=inner):
            yield from ((steps, (*parts, (mark, steps))) for steps, parts in _ways(inner, at))
        case Choice(options=options):
            for option in options:
                yield from _ways(option, at)
        case Sequence(steps=steps):
            yield from _rows(steps, at)
        case Subset(members=members):
            for bits in product((False, True), repeat=len(members)):
                yield from _rows(tuple(m for m, bit in zip(members, bits, strict=True) if bit), at)
        case Permute(members=members):
            for order in permutations(members):
                yield from _rows(order, at)
        case Arrange(low=low, high=high, members=members):
            for count in range(low, high + 1):
                for chosen in permutations(members, count):
                    yield from _rows(chosen, at)
        case Repeat(low=low, high=high, member=member):
            for count in range(low, high + 1):
                yield from _rows((member,) * count, at)
        case Union(branches=branches):
            for ways in product(*(_few(_ways(branch, at)) for branch in branches)):
                yield _joined([steps for steps, _ in ways if steps]), tuple(p for _, parts in ways for p in parts)
        case _:
            raise TypeError(f"{node} is no step")


def _rows(nodes: tuple[Node, ...], at: At) -> Iterator[Way]:
    for ways in product(*(_few(_ways(node, at)) for node in nodes)):
        yield tuple(step for steps, _ in ways for step in steps), tuple(p for _, parts in ways for p in parts)


def _joined(branches: list[tuple[Step, ...]]) -> tuple[Step, ...]:
    if len(branches) < 2:
        return branches[0] if branches else ()
    flat = []
    for branch in branches:
        only = branch[0] if len(branch) == 1 else None
        flat.extend(only.branches if isinstance(only, Branches) else (branch,))
    return (Branches(tuple(flat)),)


def _settings(params: tuple[Param, ...], at: At) -> Iterator[tuple[Setting, Parts]]:
    def extended(chosen: Setting, parts: Parts, rest: tuple[Param, ...]) -> Iterator[tuple[Setting, Parts]]:
        if not rest:
            yield chosen, parts
            return
        first = rest[0]
        if first.condition is not None and not holds(first.condition, dict(chosen)):
            yield from extended(chosen, parts, rest[1:])
            return
        node = _of_its_length(first.node, dict(chosen))
        if node is None:
            yield from extended(chosen, parts, rest[1:])
            return
        for value, inside in _values(node, at):
            yield from extended((*chosen, (first.name, value)), (*parts, *inside), rest[1:])

    yield from extended((), (), params)


def _lists(elements: list[Node], at: At) -> Iterator[With]:
    for values in product(*(_few(_values(element, at)) for element in elements)):
        yield tuple(value for value, _ in values), tuple(part for _, parts in values for part in parts)


def _of_its_length(node: Node, siblings: dict[str, Value]) -> Node | None:
    """A list with the length that its siblings give; None if the one that decides is not there."""
    if not isinstance(node, Sized):
        return node
    match node.length:
        case Sibling(name=name):
            more = 0
        case ComputedTerm(operation="+", operands=(Sibling(name=name), Literal(value=int(more)))):
            pass
    count = siblings.get(name)
    return Listing((node.element,) * (count + more)) if isinstance(count, int) else None


def _values(node: Node, at: At) -> Iterator[With]:
    match node:
        case Const(value=value):
            yield value, ()  # type: ignore[misc]  # no formulas here
        case IntRange(low=int(low), high=int(high), step=step):
            yield from ((value, ()) for value in range(low, high + 1, step))
        case RealRange(low=low, high=high) if low == high:
            yield float(low), ()  # type: ignore[arg-type]
        case RealRange(low=low, high=high, step=None):  # only where values between these make no difference
            yield from ((float(low + (high - low) * i / FINE), ()) for i in range(FINE + 1))  # type: ignore[operator]
        case RealRange(low=low, high=high, step=float(step)):
            count = round((high - low) / step) + 1  # type: ignore[operator,arg-type]
            yield from ((low + i * step, ()) for i in range(count))  # type: ignore[operator,misc]
        case Computed(formula=formula, within=within):
            value = _formula(formula, at)
            yield from dict.fromkeys(own for own in _values(within, {}) if _is(own[0], value))
        case Bool():
            yield from ((False, ()), (True, ()))
        case Pipeline(node=inner):
            for steps, parts in _ways(inner, at):
                only = steps[0] if len(steps) == 1 else None
                yield only if isinstance(only, BlockValue) else PipelineValue(steps), parts
        case Choice(options=options):
            for option in options:
                yield from _values(option, at)
        case Listing(elements=elements):
            yield from _lists(list(elements), at)
        case Vector(size=int(size), element=element):
            yield from _lists([element] * size, at)
        case Symbol(name=name, params=params, own=own):
            yield from ((SymbolValue(name, fixed, own), parts) for fixed, parts in _settings(params, at))
        case BlockUse(block=block, params=params):
            yield from ((BlockValue(block, fixed), parts) for fixed, parts in _settings(params, at))
        case _:
            raise TypeError(f"{node} has no list of values")


def _is(own: Value, value: object) -> bool:
    """Whether a computed value is this one of a domain, in whatever kind of number."""
    if isinstance(own, bool) or isinstance(value, bool) or not isinstance(own, int | float):
        return type(own) is type(value) and own == value
    return isinstance(value, int | float | Fraction) and abs(own - value) < 1e-12


def _formula(amount: object, at: At) -> object:
    if not isinstance(amount, Formula):
        return amount
    if not amount.operands:
        return at[amount.operation]
    values = [_formula(operand, at) for operand in amount.operands]
    if any(isinstance(value, bool) or not isinstance(value, int | float | Fraction) for value in values):
        return NotImplemented  # there is no such number, and so no model
    if amount.operation == "/" and values[1] == 0:
        return NotImplemented
    if amount.operation == "^":
        return _power(*values)
    if amount.operation in "+-*/":
        sign = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}[amount.operation]
        return sign(*map(Fraction, values))  # type: ignore[no-any-return,arg-type]
    return {"floor": math.floor, "ceil": math.ceil, "min": min, "max": max}[amount.operation](*values)  # type: ignore[operator]


def _power(base: object, exponent: object) -> object:
    """Whole exponents are exact, of negative ones too; others are those of floats."""
    assert isinstance(base, int | float | Fraction)
    assert isinstance(exponent, int | float | Fraction)
    if exponent == int(exponent):
        return NotImplemented if base == 0 and exponent < 0 else Fraction(base) ** int(exponent)
    return float(base) ** float(exponent)


def typed_steps(steps: tuple[Step, ...]) -> object:
    return tuple(_typed_step(step) for step in steps)


def _typed_step(step: Step) -> object:
    if isinstance(step, Branches):
        return ("branches", *(typed_steps(branch) for branch in step.branches))
    return _typed(step)


def _typed(value: Value) -> object:
    match value:
        case BlockValue(block=block, params=params):
            return (block.role, block.task, block.target, frozenset((name, _typed(v)) for name, v in params))
        case SymbolValue(name=name, params=params, own=True):
            return ("own", name, frozenset((key, _typed(v)) for key, v in params))
        case SymbolValue(name=name, params=params) if params:
            return ("symbol", name, frozenset((key, _typed(v)) for key, v in params))
        case SymbolValue(name=name):
            return ("str", name)
        case PipelineValue(steps=steps):
            return ("pipeline", typed_steps(steps))
        case tuple():
            return ("list", *map(_typed, value))
    return (type(value).__name__, value)
