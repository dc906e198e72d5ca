"""Truth: whether a model meets a requirement, in three values — true, false, and undefined (None).

A parameter of an absent block is undefined, and so is `none` against a number. A model is rejected only when the `if`
is true and the condition is false, for any way of binding the paths to occurrences.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any, Final

from msl.record import record
from msl.space.conditions import (
    AllOf,
    AnyOf,
    Comparison,
    Computed,
    Condition,
    FactTerm,
    IsTrue,
    Literal,
    Negation,
    Parameter,
    PartIs,
    Present,
    Requirement,
    Sibling,
    Term,
    ValueIs,
    terms,
)
from msl.space.formulas import Facts, apply
from msl.space.values import BlockType, BlockValue, Branches, Model, Step, SymbolValue, Value

Owner = tuple[tuple[str, str], str | None]
Truth = bool | None

_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class _Undefined:
    """The value of a parameter that is not there."""


UNDEFINED: Final = _Undefined()


@record
class Derivation:
    """A model and how the space came to it: what each marked part became, once for every time it was used."""

    model: Model
    parts: tuple[tuple[str, tuple[Step, ...]], ...] = ()


def broken(requirements: Iterable[Requirement], derivation: Derivation, facts: Facts | None) -> Requirement | None:
    """The first requirement that a model breaks, or None. Without facts, what depends on them is undefined."""
    for requirement in requirements:
        if any(_rejects(requirement, world) for world in _worlds(requirement, derivation, facts)):
            return requirement
    return None


def holds(condition: Condition, siblings: Mapping[str, Value], facts: Facts | None = None) -> bool:
    """Whether a conditional parameter exists beside these siblings: only a true condition makes it exist."""
    return _truth(condition, _World(Derivation(Model(())), facts, {}, siblings)) is True


def constant(term: Term, facts: Facts | None) -> object:
    """What a term without parameters comes to; `UNDEFINED` where it needs a table that is not there."""
    return _value(term, _World(Derivation(Model(())), facts, {}, {}))


@record
class _World:
    """All that a condition can be asked about: the model, the table, and which occurrence each path means."""

    derivation: Derivation
    facts: Facts | None
    bound: Mapping[Owner, BlockValue]
    siblings: Mapping[str, Value]


def _rejects(requirement: Requirement, world: _World) -> bool:
    if requirement.when is not None and _truth(requirement.when, world) is not True:
        return False
    return _truth(requirement.condition, world) is False


def _worlds(requirement: Requirement, derivation: Derivation, facts: Facts | None) -> Iterator[_World]:
    conditions = [c for c in (requirement.condition, requirement.when) if c is not None]
    owners = {term.owner: None for c in conditions for term in terms(c) if isinstance(term, Parameter)}
    candidates = [[(owner, found) for found in _matching(owner, derivation)] for owner in owners]
    for binding in product(*(options for options in candidates if options)):
        yield _World(derivation, facts, dict(binding), {})


def _matching(owner: Owner, derivation: Derivation) -> list[BlockValue]:
    key, mark = owner
    return [found for found in _within(derivation, mark) if found.block.key == key]


def _within(derivation: Derivation, mark: str | None) -> Iterator[BlockValue]:
    if mark is None:
        yield from occurrences(derivation.model.steps)
    else:
        for part, steps in derivation.parts:
            if part == mark:
                yield from occurrences(steps)


def occurrences(steps: Iterable[Step]) -> Iterator[BlockValue]:
    """Every block of some steps: the steps themselves, those in branches, and blocks that are parameters."""
    for step in steps:
        if isinstance(step, Branches):
            for branch in step.branches:
                yield from occurrences(branch)
        else:
            yield step
            for _, value in step.params:
                yield from blocks_in(value)


def blocks_in(value: Value) -> Iterator[BlockValue]:
    """Every block of a value: the value itself, and those that are parameters or elements of it."""
    if isinstance(value, BlockValue):
        yield from occurrences((value,))
    elif isinstance(value, SymbolValue):
        for _, inner in value.params:
            yield from blocks_in(inner)
    elif isinstance(value, tuple):
        for inner in value:
            yield from blocks_in(inner)


def parameter(params: Iterable[tuple[str, Value]], name: str) -> Value | _Undefined:
    """A parameter by name; those of a chosen alternative are the block's own."""
    for key, value in params:
        if key == name:
            return value
        if isinstance(value, SymbolValue):
            inner = parameter(value.params, name)
            if not isinstance(inner, _Undefined):
                return inner
    return UNDEFINED


def _truth(condition: Condition, world: _World) -> Truth:
    match condition:
        case Present(block=block, mark=mark):
            return any(found.block.key == block.key for found in _within(world.derivation, mark))
        case PartIs(mark=mark, options=options):
            return _part_is(mark, options, world.derivation)
        case ValueIs(subject=subject, options=options):
            value = _value(subject, world)
            return None if isinstance(value, _Undefined) else any(_same(value, option) for option in options)
        case IsTrue(term=term):
            value = _value(term, world)
            return value if isinstance(value, bool) else None
        case Comparison(operator=sign, left=left, right=right):
            return _compared(sign, _value(left, world), _value(right, world))
        case AllOf(items=items):
            truths = [_truth(item, world) for item in items]
            return False if False in truths else None if None in truths else True
        case AnyOf(items=items):
            truths = [_truth(item, world) for item in items]
            return True if True in truths else None if None in truths else False
        case Negation(item=item):
            truth = _truth(item, world)
            return None if truth is None else not truth


def _part_is(mark: str, options: tuple[BlockType | None, ...], derivation: Derivation) -> bool:
    became = [steps for part, steps in derivation.parts if part == mark]
    if not became:
        return None in options  # a part that is not on this path adds no step
    return all(_is_one_of(steps, options) for steps in became)


def _is_one_of(steps: tuple[Step, ...], options: tuple[BlockType | None, ...]) -> bool:
    if not steps:
        return None in options
    only = steps[0] if len(steps) == 1 else None
    return isinstance(only, BlockValue) and any(o is not None and o.key == only.block.key for o in options)


def _value(term: Term, world: _World) -> Value | _Undefined:
    match term:
        case Literal(value=value):
            return value
        case FactTerm(name=name):
            return UNDEFINED if world.facts is None else getattr(world.facts, name)
        case Sibling(name=name):
            return parameter(world.siblings.items(), name)
        case Parameter(name=name):
            owner = world.bound.get(term.owner)
            return UNDEFINED if owner is None else parameter(owner.params, name)
        case Computed(operation=operation, operands=operands):
            values = [_value(operand, world) for operand in operands]
            if not all(_is_number(value) for value in values):
                return UNDEFINED
            try:
                result = apply(operation, values)  # type: ignore[arg-type]
            except (ArithmeticError, ValueError):
                return UNDEFINED
            return result  # type: ignore[return-value]  # a Fraction compares exactly and goes no further


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool)


def _compared(sign: str, left: Value | _Undefined, right: Value | _Undefined) -> Truth:
    if isinstance(left, _Undefined) or isinstance(right, _Undefined):
        return None
    if sign in ("==", "!="):
        if (left is None) != (right is None) and (_is_number(left) or _is_number(right)):
            return None
        return _same(left, right) is (sign == "==")
    if not (_is_number(left) and _is_number(right)):
        return None
    return _COMPARE[sign](left, right)


def _same(value: Value, option: Value | BlockType) -> bool:
    """Whether a value is this option: a block by its name, an alternative by its name, anything else by equality."""
    if isinstance(option, BlockType):
        return isinstance(value, BlockValue) and value.block.key == option.key
    if isinstance(value, SymbolValue):
        return value.name == option
    if isinstance(value, bool) != isinstance(option, bool):
        return False
    return value == option
