"""Requirements: those that can never hold, always hold, or speak of blocks that are nowhere.

Each atom of a condition has a set of truths it may take over the space, found from the domains; connectives combine the
sets as if atoms were independent. That can only add truths, so "never" and "always" are certain when they are said.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import Enum

from msl.space.condition import (
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
    Term,
    ValueIs,
)
from msl.space.facts import Facts
from msl.space.formula import FACTS, limits
from msl.space.node import (
    Arrange,
    BlockUse,
    Choice,
    Const,
    IntRange,
    Marked,
    Node,
    Permute,
    RealRange,
    Repeat,
    Sequence,
    Symbol,
    Union,
    children,
)
from msl.text.record import record

Key = tuple[str, str]
Truths = frozenset[bool | None]


class Verdict(Enum):
    """What can be said of a requirement whatever the model."""

    NEVER = "no model meets it"
    ALWAYS = "every model meets it"
    ABSENT = "it speaks of a block that is not in the space"
    KILLS = "no model with the block meets it"


@record
class Finding:
    verdict: Verdict
    block: str | None = None


class Survey:
    """What blocks stand in a space, where they are certain, and what their parameters may be."""

    def __init__(self, root: Node, facts: Facts | None) -> None:
        self.facts = facts
        self.uses: dict[Key, list[BlockUse]] = {}
        self._collect(root)
        self.certain = _Certain().keys(root)

    def _collect(self, root: Node) -> None:
        seen: set[int] = set()
        todo = [root]
        while todo:
            node = todo.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, BlockUse):
                self.uses.setdefault(node.block.key, []).append(node)
            todo.extend(children(node))

    def judge(self, requirement: Requirement) -> Finding | None:
        """A certain verdict on a requirement, or None."""
        absent = [name for key, name in _mentioned(requirement) if key not in self.uses]
        if absent:
            return Finding(Verdict.ABSENT, absent[0])
        when: Truths = frozenset({True}) if requirement.when is None else self.truths(requirement.when)
        condition = self.truths(requirement.condition)
        if False not in condition or True not in when:
            return Finding(Verdict.ALWAYS)
        if condition == {False} and when == {True}:
            return Finding(Verdict.NEVER)
        if condition == {False, None} and when == {True}:
            names = [name for key, name in _mentioned(requirement) if key not in self.certain]
            return Finding(Verdict.KILLS, names[0]) if len(set(names)) == 1 else None
        return None

    def truths(self, condition: Condition) -> Truths:
        match condition:
            case Present(block=block, mark=None):
                return frozenset({True}) if block.key in self.certain else frozenset({True, False})
            case Present() | PartIs():
                return frozenset({True, False})
            case ValueIs(subject=Parameter() as subject, options=options):
                return self._value_is(subject, options)
            case Comparison(operator=operator, left=left, right=right):
                return self._compared(operator, left, right)
            case AllOf(items=items):
                return _combined([self.truths(item) for item in items], False)
            case AnyOf(items=items):
                return _combined([self.truths(item) for item in items], True)
            case Negation(item=item):
                return frozenset(None if truth is None else not truth for truth in self.truths(item))
            case IsTrue(term=Parameter() as term):
                values = {o.value if isinstance(o, Const) else None for o in self._options(term)}
                known = {v for v in values if isinstance(v, bool)}
                return frozenset(known or {True, False}) | self._maybe_undefined(term)
        return frozenset({True, False, None})

    def _maybe_undefined(self, term: Parameter) -> Truths:
        always = term.block.key in self.certain and all(
            any(param.name == term.name and param.condition is None for param in use.params)
            for use in self.uses[term.block.key]
        )
        return frozenset() if always else frozenset({None})

    def _options(self, term: Parameter) -> list[Node]:
        """Every option that the parameter has in some occurrence."""
        found: list[Node] = []
        for use in self.uses.get(term.block.key, []):
            for node in _param_nodes(use, term.name):
                found.extend(node.options if isinstance(node, Choice) else (node,))
        return found

    def _value_is(self, subject: Parameter, options: tuple[object, ...]) -> Truths:
        answers: set[bool | None] = set(self._maybe_undefined(subject))
        for option in self._options(subject):
            name = _option_name(option)
            if name is _OPEN:
                answers |= {True, False}
            else:
                wanted = [getattr(o, "key", o) for o in options]
                answers.add(any(name == w and isinstance(name, bool) == isinstance(w, bool) for w in wanted))
        return frozenset(answers)

    def _compared(self, operator: str, left: Term, right: Term) -> Truths:
        undefined: Truths = frozenset()
        for term in (left, right):
            undefined |= self._undefined(term)
        (low1, high1), (low2, high2) = self._interval(left), self._interval(right)
        if math.isnan(low1) or math.isnan(low2):
            return frozenset({True, False, None})
        match operator:
            case "<":
                possible = _ordered(low1 < high2, high1 >= low2)
            case "<=":
                possible = _ordered(low1 <= high2, high1 > low2)
            case ">":
                possible = _ordered(high1 > low2, low1 <= high2)
            case ">=":
                possible = _ordered(high1 >= low2, low1 < high2)
            case "==":
                same = low1 == high1 == low2 == high2
                possible = _ordered(low1 <= high2 and low2 <= high1, not same)
            case _:
                same = low1 == high1 == low2 == high2
                possible = _ordered(not same, low1 <= high2 and low2 <= high1)
        return possible | undefined

    def _undefined(self, term: Term) -> Truths:
        match term:
            case Parameter():
                numeric = all(isinstance(o, IntRange | RealRange) or _is_number(o) for o in self._options(term))
                return self._maybe_undefined(term) | (frozenset() if numeric else frozenset({None}))
            case Computed():
                return frozenset({None})
            case FactTerm():
                return frozenset() if self.facts is not None else frozenset({None})
        return frozenset()

    def _interval(self, term: Term) -> tuple[float, float]:
        """Between which values a term lies; not a number where it has none."""
        nowhere = (math.nan, math.nan)
        match term:
            case Literal(value=value):
                return (float(value), float(value)) if isinstance(value, int | float) else nowhere
            case FactTerm(name=name):
                if self.facts is None:
                    return float(FACTS[name]), math.inf
                value = float(getattr(self.facts, name))
                return value, value
            case Parameter():
                spans = [span for o in self._options(term) if (span := _span(o)) is not None]
                return (min(low for low, _ in spans), max(high for _, high in spans)) if spans else nowhere
        return -math.inf, math.inf


class _Certain:
    """The blocks that every model of a node contains."""

    def __init__(self) -> None:
        self._done: dict[int, tuple[Node, frozenset[Key]]] = {}

    def keys(self, node: Node) -> frozenset[Key]:
        if id(node) not in self._done:
            self._done[id(node)] = (node, self._found(node))
        return self._done[id(node)][1]

    def _found(self, node: Node) -> frozenset[Key]:
        match node:
            case BlockUse(block=block, params=params):
                inner = [self.keys(param.node) for param in params if param.condition is None]
                return frozenset({block.key}).union(*inner)
            case Choice(options=options):
                return frozenset.intersection(*(self.keys(option) for option in options))
            case Sequence(steps=below) | Union(branches=below) | Permute(members=below):
                return frozenset().union(*(self.keys(child) for child in below))
            case Arrange(low=low, members=members) if low == len(members):
                return frozenset().union(*(self.keys(member) for member in members))
            case Repeat(low=low, member=member) if low > 0:
                return self.keys(member)
            case Marked(node=inner_node):
                return self.keys(inner_node)
        return frozenset()


_OPEN = object()


def _option_name(option: Node) -> object:
    match option:
        case Const(value=value):
            return value
        case Symbol(name=name):
            return name
        case BlockUse(block=block):
            return block.key
    return _OPEN


def _span(option: Node) -> tuple[float, float] | None:
    match option:
        case IntRange(low=low, high=high) | RealRange(low=low, high=high):
            return limits(low)[0], limits(high)[1]
        case Const(value=int() | float() as value) if not isinstance(value, bool):
            return float(value), float(value)
    return None


def _is_number(option: Node) -> bool:
    return isinstance(option, Const) and isinstance(option.value, int | float) and not isinstance(option.value, bool)


def _param_nodes(use: BlockUse, name: str) -> Iterator[Node]:
    for param in use.params:
        if param.name == name:
            yield param.node
        for option in param.node.options if isinstance(param.node, Choice) else (param.node,):
            if isinstance(option, Symbol):
                yield from (inner.node for inner in option.params if inner.name == name)


def _mentioned(requirement: Requirement) -> Iterator[tuple[Key, str]]:
    """The blocks whose parameters or presence a requirement speaks of."""
    for condition in (requirement.when, requirement.condition):
        if condition is not None:
            yield from _blocks(condition)


def _blocks(condition: Condition) -> Iterator[tuple[Key, str]]:
    match condition:
        case Present(block=block):
            yield block.key, block.name
        case AllOf(items=items) | AnyOf(items=items):
            for item in items:
                yield from _blocks(item)
        case Negation(item=item):
            yield from _blocks(item)
        case Comparison(left=left, right=right):
            yield from _term_blocks(left)
            yield from _term_blocks(right)
        case ValueIs(subject=term) | IsTrue(term=term):
            yield from _term_blocks(term)


def _term_blocks(term: Term) -> Iterator[tuple[Key, str]]:
    if isinstance(term, Parameter):
        yield term.block.key, term.block.name
    elif isinstance(term, Computed):
        for operand in term.operands:
            yield from _term_blocks(operand)


def _ordered(may_hold: bool, may_fail: bool) -> Truths:
    return frozenset({True} if may_hold else set()) | frozenset({False} if may_fail else set())


def _combined(sets: list[Truths], decisive: bool) -> Truths:
    """The truths of `and` (decided by one False) or `or` (decided by one True)."""
    result: set[bool | None] = set()
    if any(decisive in truths for truths in sets):
        result.add(decisive)
    if all((not decisive) in truths for truths in sets):
        result.add(not decisive)
    if any(None in truths for truths in sets) and all(truths - {decisive} for truths in sets):
        result.add(None)
    return frozenset(result)
