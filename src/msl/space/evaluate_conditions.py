"""Evaluate conditions in three-valued logic: true, false, and undefined (None).

A parameter of an absent block is undefined, and so is `none` against a number. A model is rejected only when the `if`
is true and the condition is false, for some assignment of the paths to occurrences of their blocks.

`truths` is the one evaluator of `and`, `or` and `not`. It works on sets of truth values: a model gives every comparison
one truth value, a domain of values may give it several.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any, Final, Protocol, TypeGuard

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
from msl.space.values import BlockType, BlockValue, Branches, Model, PipelineValue, Step, SymbolValue, Value

Key = tuple[str, str]
Owner = tuple[Key, str | None]
Truth = bool | None
#: The truth values that a condition may have.
Truths = frozenset[Truth]
#: The steps of a part as far as conditions tell them apart: none (None), one block, or anything else (False).
Outcome = Key | bool | None

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


class Contents(Protocol):
    """What `require` can ask of a model, or of all models that requirements cannot tell apart."""

    def blocks(self, mark: str | None) -> Iterable[BlockValue]:
        """The blocks of the model, or of one of its parts."""

    def outcomes(self, mark: str) -> list[Outcome]:
        """The outcome of each use of a part; empty where the part is not used."""


@record
class Derivation:
    """A model and how the space produced it: the steps of each marked part, once for every time it was used.

    `settings` are the uses of parts with parameters, as `part_as_block` has them.
    """

    model: Model
    parts: tuple[tuple[str, tuple[Step, ...]], ...] = ()
    settings: tuple[BlockValue, ...] = ()

    def blocks(self, mark: str | None) -> Iterator[BlockValue]:
        if mark is None:
            yield from occurrences(self.model.steps)
            yield from self.settings
        else:
            for part, steps in self.parts:
                if part == mark:
                    yield from occurrences(steps)

    def outcomes(self, mark: str) -> list[Outcome]:
        return [outcome_of(steps) for part, steps in self.parts if part == mark]


_NOTHING = Derivation(Model(()))


def outcome_of(steps: tuple[Step, ...]) -> Outcome:
    """The outcome of a part with these steps."""
    if len(steps) != 1:
        return False if steps else None
    return steps[0].block.key if isinstance(steps[0], BlockValue) else False


def joined_outcome(first: Outcome, second: Outcome) -> Outcome:
    """The outcome of two rows of steps, one after the other."""
    if first is None:
        return second
    return first if second is None else False


def broken(requirements: Iterable[Requirement], contents: Contents, facts: Facts | None) -> Requirement | None:
    """The first requirement that a model breaks, or None. Without facts, what depends on them is undefined."""
    for requirement in requirements:
        if any(_rejects(requirement, world) for world in _worlds(requirement, contents, facts)):
            return requirement
    return None


def holds(condition: Condition, siblings: Mapping[str, Value], facts: Facts | None = None) -> bool:
    """Whether a conditional parameter exists beside these siblings: only a true condition makes it exist."""
    return truths(condition, _World(_NOTHING, facts, {}, siblings).truths) == CERTAIN[True]


def constant(term: Term, facts: Facts | None) -> object:
    """The value of a term without parameters; `UNDEFINED` where it needs a table that is not there."""
    return _value(term, _World(_NOTHING, facts, {}, {}))


def term_beside(term: Term, siblings: Mapping[str, Value]) -> Value | _Undefined:
    """The value of a term beside these siblings."""
    return _value(term, _World(_NOTHING, None, {}, siblings))


def presence(condition: Present | PartIs, contents: Contents) -> bool:
    """Whether a block is there, or a part is one of the listed blocks."""
    if isinstance(condition, Present):
        return any(found.block.key == condition.block.key for found in contents.blocks(condition.mark))
    options = {None if option is None else option.key for option in condition.options}
    outcomes = contents.outcomes(condition.mark) or [None]  # a part that is not on this path adds no step
    return all(outcome in options for outcome in outcomes)


# --- and, or, not ---


#: The set of one truth value.
CERTAIN: Mapping[Truth, Truths] = {truth: frozenset({truth}) for truth in (True, False, None)}
_NOT: Mapping[Truth, Truth] = {True: False, False: True, None: None}


def truths(condition: Condition, atom: Callable[[Condition], Truths]) -> Truths:
    """The truth values that a condition may have, given those of the comparisons and tests in it.

    Operands are taken to be independent of each other. That can only add truth values, so one that is missing from
    the result is certain to be impossible.
    """
    match condition:
        case AllOf(items=items):
            return _connected([truths(item, atom) for item in items], decisive=False)
        case AnyOf(items=items):
            return _connected([truths(item, atom) for item in items], decisive=True)
        case Negation(item=item):
            return frozenset(_NOT[truth] for truth in truths(item, atom))
    return atom(condition)


def _connected(operands: list[Truths], decisive: bool) -> Truths:
    """The truth values of `and`, which one False decides, or of `or`, which one True decides."""
    result: set[Truth] = set()
    if any(decisive in operand for operand in operands):
        result.add(decisive)
    if all((not decisive) in operand for operand in operands):
        result.add(not decisive)
    if any(None in operand for operand in operands) and all(operand - {decisive} for operand in operands):
        result.add(None)
    return frozenset(result)


# --- one model ---


@record
class _World:
    """One model and table, and the occurrence that each path means."""

    contents: Contents
    facts: Facts | None
    bound: Mapping[Owner, BlockValue]
    siblings: Mapping[str, Value]

    def truths(self, atom: Condition) -> Truths:
        return CERTAIN[_truth(atom, self)]


def _rejects(requirement: Requirement, world: _World) -> bool:
    if requirement.when is not None and truths(requirement.when, world.truths) != CERTAIN[True]:
        return False
    return truths(requirement.condition, world.truths) == CERTAIN[False]


def _worlds(requirement: Requirement, contents: Contents, facts: Facts | None) -> Iterator[_World]:
    conditions = [c for c in (requirement.condition, requirement.when) if c is not None]
    owners = {term.owner: None for c in conditions for term in terms(c) if isinstance(term, Parameter)}
    candidates = [[(owner, found) for found in _matching(owner, contents)] for owner in owners]
    for binding in product(*(options for options in candidates if options)):
        yield _World(contents, facts, dict(binding), {})


def _matching(owner: Owner, contents: Contents) -> list[BlockValue]:
    key, mark = owner
    return [found for found in contents.blocks(mark) if found.block.key == key]


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
    elif isinstance(value, PipelineValue):
        yield from occurrences(value.steps)
    elif isinstance(value, SymbolValue):
        for _, inner in value.params:
            yield from blocks_in(inner)
    elif isinstance(value, tuple):
        for inner in value:
            yield from blocks_in(inner)


def parameter(params: Iterable[tuple[str, Value]], name: str) -> Value | _Undefined:
    """A parameter by name; those of a chosen alternative are the block's own, unless they are reached through it."""
    for key, value in params:
        if key == name:
            return value
        if isinstance(value, SymbolValue):
            if value.own and not name.startswith(f"{key}."):
                continue
            inner = parameter(value.params, name[len(key) + 1 :] if value.own else name)
            if not isinstance(inner, _Undefined):
                return inner
    return UNDEFINED


def _truth(atom: Condition, world: _World) -> Truth:
    match atom:
        case Present() | PartIs():
            return presence(atom, world.contents)
        case ValueIs(subject=subject, options=options):
            value = _value(subject, world)
            return None if isinstance(value, _Undefined) else any(_same(value, option) for option in options)
        case IsTrue(term=term):
            value = _value(term, world)
            return value if isinstance(value, bool) else None
        case Comparison(operator=sign, left=left, right=right):
            return _compared(sign, _value(left, world), _value(right, world))
    raise TypeError(f"{type(atom).__name__} is made of other conditions")


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
            if not all(is_exact_number(value) for value in values):
                return UNDEFINED
            try:
                result = apply(operation, values)  # type: ignore[arg-type]
            except (ArithmeticError, ValueError):
                return UNDEFINED
            return result  # type: ignore[return-value]  # a Fraction compares exactly and goes no further


def is_exact_number(value: object) -> TypeGuard[int | float | Fraction]:
    """Whether a value is a number, or a fraction that arithmetic has led to."""
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool)


def _compared(sign: str, left: Value | _Undefined, right: Value | _Undefined) -> Truth:
    if isinstance(left, _Undefined) or isinstance(right, _Undefined):
        return None
    if sign in ("==", "!="):
        if (left is None) != (right is None) and (is_exact_number(left) or is_exact_number(right)):
            return None
        return _same(left, right) is (sign == "==")
    if not (is_exact_number(left) and is_exact_number(right)):
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
