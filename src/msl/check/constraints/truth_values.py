"""Find which truth values a condition may take, from the domains of the parameters that it compares.

The connectives are those of `space/evaluate_conditions`, on sets of truth values; comparisons here are on intervals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Protocol

from msl.record import record
from msl.space.conditions import (
    Comparison,
    Computed,
    Condition,
    FactTerm,
    IsTrue,
    Literal,
    Parameter,
    PartIs,
    Present,
    Sibling,
    Term,
    ValueIs,
)
from msl.space.evaluate_conditions import CERTAIN, Truths, truths
from msl.space.formulas import FACTS, Facts, limits
from msl.space.nodes import BlockUse, Bool, Const, Node, Symbol, bounds, is_whole

ANYTHING: Truths = frozenset({True, False, None})
UNDEFINED = CERTAIN[None]
_OPEN = object()
_NOWHERE = (math.nan, math.nan)


class Domains(Protocol):
    """What may be compared: the domains of parameters, and which blocks and parts are there."""

    def options(self, term: Parameter | Sibling) -> Iterable[Node]:
        """Everything that the parameter may be where it exists."""

    def may_lack(self, term: Parameter | Sibling) -> bool:
        """Whether the parameter may be undefined."""

    def presence(self, condition: Present | PartIs) -> Truths: ...


@record
class DomainEvaluator:
    """Evaluates conditions over domains, for one table or for any."""

    domains: Domains
    facts: Facts | None = None

    def truths(self, condition: Condition) -> Truths:
        """All truth values that the condition may take; one that is missing is certain to be impossible."""
        return truths(condition, self._atom)

    def _atom(self, condition: Condition) -> Truths:
        match condition:
            case Present() | PartIs():
                return self.domains.presence(condition)
            case ValueIs(subject=Parameter() | Sibling() as subject, options=options):
                return self._value_is(subject, options)
            case Comparison(operator=operator, left=left, right=right):
                return self._compared(operator, left, right)
            case IsTrue(term=Parameter() | Sibling() as term):
                return self._is_true(term)
        return ANYTHING

    def _is_true(self, term: Parameter | Sibling) -> Truths:
        found: set[bool | None] = set(self._lack(term))
        for option in self.domains.options(term):
            if isinstance(option, Const) and isinstance(option.value, bool):
                found.add(option.value)
            else:
                found |= {True, False} if isinstance(option, Bool) else {None}
        return frozenset(found)

    def _value_is(self, subject: Parameter | Sibling, wanted: tuple[object, ...]) -> Truths:
        answers: set[bool | None] = set(self._lack(subject))
        keys = [getattr(option, "key", option) for option in wanted]
        for option in self.domains.options(subject):
            value = _identity(option)
            if value is not _OPEN:
                answers.add(any(value == key and isinstance(value, bool) == isinstance(key, bool) for key in keys))
            else:
                answers |= _is_in_range(option, keys)
        return frozenset(answers)

    def _lack(self, term: Parameter | Sibling) -> Truths:
        return UNDEFINED if self.domains.may_lack(term) else frozenset()

    def _compared(self, operator: str, left: Term, right: Term) -> Truths:
        undefined = self._undefined(left) | self._undefined(right)
        (low1, high1), (low2, high2) = self._interval(left), self._interval(right)
        if math.isnan(low1) or math.isnan(low2):
            return undefined if self._never_there(left) or self._never_there(right) else ANYTHING
        same = low1 == high1 == low2 == high2
        meet = low1 <= high2 and low2 <= high1 and not self._never_equal(left, right)
        match operator:
            case "<":
                possible = _either(low1 < high2, high1 >= low2)
            case "<=":
                possible = _either(low1 <= high2, high1 > low2)
            case ">":
                possible = _either(high1 > low2, low1 <= high2)
            case ">=":
                possible = _either(high1 >= low2, low1 < high2)
            case "==":
                possible = _either(meet, not same)
            case _:
                possible = _either(not same, meet)
        return possible | undefined

    def _never_there(self, term: Term) -> bool:
        return isinstance(term, Parameter | Sibling) and not list(self.domains.options(term))

    def _never_equal(self, left: Term, right: Term) -> bool:
        """A whole number against a fraction."""
        for one, other in ((left, right), (right, left)):
            if not (isinstance(one, Literal) and isinstance(other, Parameter | Sibling)):
                continue
            if isinstance(one.value, float) and not one.value.is_integer():
                return all(is_whole(option) for option in self.domains.options(other))
        return False

    def _undefined(self, term: Term) -> Truths:
        match term:
            case Parameter() | Sibling():
                numeric = all(_span(option) is not None for option in self.domains.options(term))
                return self._lack(term) | (frozenset() if numeric else UNDEFINED)
            case Computed(operands=operands):
                divides = term.operation in ("/", "sqrt", "log", "^")
                below = [self._undefined(operand) for operand in operands]
                return frozenset().union(*below, UNDEFINED if divides else frozenset())
        return frozenset()

    def _interval(self, term: Term) -> tuple[float, float]:
        """Between which values a term lies; not a number where it has none."""
        match term:
            case Literal(value=value):
                is_number = isinstance(value, int | float) and not isinstance(value, bool)
                return (float(value), float(value)) if is_number else _NOWHERE  # type: ignore[arg-type]
            case FactTerm(name=name):
                if self.facts is None:
                    return float(FACTS[name]), math.inf
                value = float(getattr(self.facts, name))
                return value, value
            case Parameter() | Sibling():
                spans = [span for option in self.domains.options(term) if (span := _span(option)) is not None]
                return (min(low for low, _ in spans), max(high for _, high in spans)) if spans else _NOWHERE
        return -math.inf, math.inf


def _identity(option: Node) -> object:
    match option:
        case Const(value=value):
            return value
        case Symbol(name=name):
            return name
        case BlockUse(block=block):
            return block.key
    return _OPEN


def _is_in_range(option: Node, wanted: list[object]) -> Truths:
    """Whether an open option can be one of some values, and something else."""
    span = _span(option)
    if span is None:
        return frozenset({True, False})
    numbers = [value for value in wanted if isinstance(value, int | float) and not isinstance(value, bool)]
    if is_whole(option):
        numbers = [value for value in numbers if value == int(value)]
    inside = any(span[0] <= value <= span[1] for value in numbers)
    return _either(inside, not (inside and span[0] == span[1]))


def _span(option: Node) -> tuple[float, float] | None:
    ends = bounds(option)
    return None if ends is None else (limits(ends[0])[0], limits(ends[1])[1])


def _either(may_hold: bool, may_fail: bool) -> Truths:
    return frozenset({True} if may_hold else set()) | frozenset({False} if may_fail else set())
