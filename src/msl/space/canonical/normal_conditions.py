"""What a requirement forbids, in one form: negations at the leaves, the rest sorted and merged.

A model is rejected exactly when "`if` and not condition" is true. So `require a if b` forbids `b and not a`, and so
does `require a or not b`. Only whether that is true matters, and once negations stand at the leaves, a leaf that is
undefined can do no more than one that is false: both are dropped in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from msl.record import record
from msl.space.canonical.content_hash import Entries, Key
from msl.space.canonical.normal_numbers import computed_key, number_key
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
from msl.space.evaluate_conditions import holds
from msl.space.formulas import Facts
from msl.space.part_parameters import variable
from msl.space.values import BlockType, BlockValue, Branches, PipelineValue, Step, SymbolValue, Value

#: How a sign reads when both sides change places, and when it is denied.
_MIRRORED = {">": "<", ">=": "<="}
_DENIED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


@record
class Naming:
    """What stands for the names that requirements use: parts by their marks, and blocks that only a name tells apart.

    A part or block that is not listed here needs no name.
    """

    marks: Mapping[str, str]
    blocks: Mapping[tuple[str, str], str]
    #: The parameters of parts, by the names that formulas have for them.
    variables: Mapping[str, str] = field(default_factory=dict)

    def parameter(self, block: BlockType, name: str) -> str:
        """A parameter of a block, or of a part as a block."""
        return self.variables.get(variable(block.origin, name), name) if block.role == "part" else name


@record
class Vocabulary:
    """What is there to be spoken of: the blocks and marks of a space, and the table's facts where they are known."""

    blocks: frozenset[tuple[str, str]] = frozenset()
    marks: frozenset[str] = frozenset()
    facts: Facts | None = None


def block_identity(block: BlockType) -> tuple[str, str | None, str]:
    """What makes two blocks the same block; parts are told apart by what they are."""
    return block.role, block.task, "" if block.role == "part" else block.target


class Conditions:
    """Puts the conditions of one space into their normal form; True and False stand for what needs no form."""

    def __init__(self, entries: Entries, naming: Naming, dataset: Vocabulary) -> None:
        self._entries, self._naming, self._ground = entries, naming, dataset

    def forbidden(self, requirement: Requirement) -> frozenset[Key]:
        """Everything that a requirement forbids; one that can never be broken forbids nothing."""
        broken: Condition = Negation(requirement.condition)
        if requirement.when is not None:
            broken = AllOf((requirement.when, broken))
        match self.key(broken):
            case False:
                return frozenset()
            case True:
                return frozenset({self._entries.add("always")})
            case key:
                return frozenset(self._entries.pieces(key, "any"))

    def key(self, condition: Condition, denied: bool = False) -> Key | bool:
        match condition:
            case Negation(item=item):
                return self.key(item, not denied)
            case AllOf(items=items) | AnyOf(items=items):
                keys = [self.key(item, denied) for item in items]
                return self._joined("all" if isinstance(condition, AllOf) != denied else "any", keys)
            case ValueIs(subject=subject, options=options):
                keys = [self._leaf(ValueIs(subject, (option,)), denied) for option in options]
                return self._joined("all" if denied else "any", keys)
        return self._leaf(condition, denied)

    def _joined(self, word: str, keys: Iterable[Key | bool]) -> Key | bool:
        decisive = word == "any"  # a true item decides `any`, a false one `all`
        distinct: set[Key] = set()
        for key in keys:
            if key is decisive:
                return decisive
            if not isinstance(key, bool):
                distinct.update(self._entries.pieces(key, word))
        if not distinct:
            return not decisive
        return distinct.pop() if len(distinct) == 1 else self._entries.add(word, *sorted(distinct))

    def _leaf(self, condition: Condition, denied: bool) -> Key | bool:
        if any(self._is_undefined(term) for term in terms(condition)):
            return False
        if self._is_settled(condition):
            return holds(Negation(condition) if denied else condition, {}, self._ground.facts)
        match condition:
            case Present(block=block, mark=mark):
                if block.key not in self._ground.blocks or (mark is not None and mark not in self._ground.marks):
                    return denied
                return self._denied(self._entries.add("present", self._block(block), self._mark(mark)), denied)
            case PartIs(mark=mark, options=options):
                if mark not in self._ground.marks:
                    return (None in options) is not denied
                return self._part_is(mark, options, denied)
            case ValueIs(subject=subject, options=(BlockType() as block,)):
                if block.key not in self._ground.blocks and not denied:
                    return False
                return self._denied(self._entries.add("value", self.term(subject), self._block(block)), denied)
            case ValueIs(subject=subject, options=(option,)):
                value = self._value(option)  # type: ignore[arg-type]  # the case above took the blocks
                return self._denied(self._entries.add("value", self.term(subject), value), denied)
            case IsTrue(term=term):
                return self._denied(self._entries.add("true", self.term(term)), denied)
            case Comparison():
                return self._comparison(condition, denied)
        raise TypeError(f"{type(condition).__name__} is no leaf of a condition")

    def _denied(self, key: Key, denied: bool) -> Key:
        return self._entries.add("not", key) if denied else key

    def _part_is(self, mark: str, options: tuple[BlockType | None, ...], denied: bool) -> Key | bool:
        possible = [o for o in options if o is None or o.key in self._ground.blocks]
        if not possible:
            return denied
        # Not an `or` of single tests: a part that is used twice may be one thing here and another there.
        keys = sorted({self._entries.add("none") if o is None else self._block(o) for o in possible})
        return self._denied(self._entries.add("part_is", self._mark(mark), *keys), denied)

    def _comparison(self, comparison: Comparison, denied: bool) -> Key:
        sign = _DENIED[comparison.operator] if denied else comparison.operator
        left, right = self._side(comparison.left), self._side(comparison.right)
        if sign in _MIRRORED:
            sign, left, right = _MIRRORED[sign], right, left
        elif sign in ("==", "!="):
            left, right = sorted((left, right))
        return self._entries.add("compare", sign, left, right)

    def _side(self, term: Term) -> Key:
        return self._value(term.value) if isinstance(term, Literal) else self.term(term)

    # --- terms ---

    def term(self, term: Term) -> Key:
        match term:
            case Literal(value=value):
                return value_key(self._entries, value, self._naming)
            case FactTerm(name=name):
                if self._ground.facts is None:
                    return self._entries.add("fact", name)
                return number_key(self._entries, getattr(self._ground.facts, name))
            case Sibling(name=name):
                return self._entries.add("sibling", name)
            case Parameter(block=block, name=name, mark=mark):
                own = self._naming.parameter(block, name)
                return self._entries.add("parameter", self._block(block), own, self._mark(mark))
            case Computed(operation=operation, operands=operands):
                return computed_key(self._entries, operation, [self.term(operand) for operand in operands])

    def _value(self, value: Value) -> Key:
        """A value that something is compared with: there, 1 and 1.0 are the same number."""
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return value_key(self._entries, value, self._naming)

    def _block(self, block: BlockType) -> Key:
        name = self._naming.blocks.get(block.key)
        if name is not None:
            return self._entries.add("named", name)
        return self._entries.add("block_type", *block_identity(block))

    def _mark(self, mark: str | None) -> str | None:
        return None if mark is None else self._naming.marks.get(mark, "")  # one without a name is dropped again

    def _is_undefined(self, term: Term) -> bool:
        """Whether nothing in the space can give the term a value."""
        if not isinstance(term, Parameter):
            return False
        if term.mark is not None and term.mark not in self._ground.marks:
            return True
        return term.block.key not in self._ground.blocks

    def _is_settled(self, condition: Condition) -> bool:
        """Whether a leaf compares nothing but constants."""
        known = (Literal, Computed) if self._ground.facts is None else (Literal, Computed, FactTerm)
        found = list(terms(condition))
        return bool(found) and all(isinstance(term, known) for term in found)


def value_key(entries: Entries, value: Value, naming: Naming) -> Key:
    """A value with its kind: 1, 1.0, true and "1" all differ."""
    match value:
        case None:
            return entries.add("nothing")
        case bool():
            return entries.add("bool", value)
        case int() | float():
            return number_key(entries, value)
        case str():
            return entries.add("text", value)
        case tuple():
            return entries.add("list", *(value_key(entries, item, naming) for item in value))
        case SymbolValue(name=name, params=params, own=own):
            return symbol_key(entries, name, _fixed(entries, params, naming), own)
        case BlockValue(block=block, params=params):
            return block_key(entries, block, _fixed(entries, params, naming), naming)
        case PipelineValue(steps=steps):
            return entries.add(
                "pipeline", _row_key(entries, "sequence", [_step_key(entries, s, naming) for s in steps])
            )


def _step_key(entries: Entries, step: Step, naming: Naming) -> Key:
    if not isinstance(step, Branches):
        return value_key(entries, step, naming)
    rows = ([_step_key(entries, inner, naming) for inner in branch] for branch in step.branches)
    return _row_key(entries, "union", [_row_key(entries, "sequence", row) for row in rows])


def _row_key(entries: Entries, word: str, keys: list[Key]) -> Key:
    if not keys:
        return entries.add("empty")
    return keys[0] if len(keys) == 1 else entries.add(word, *keys)


def symbol_key(entries: Entries, name: str, params: list[Key], own: bool = False) -> Key:
    """An alternative; without parameters it is its name and nothing more, unless these would be its own."""
    if own:
        return entries.add("own", name, *params)
    return entries.add("symbol", name, *params) if params else entries.add("text", name)


def block_key(entries: Entries, block: BlockType, params: list[Key], naming: Naming) -> Key:
    return entries.add("block", *block_identity(block), naming.blocks.get(block.key), *params)


def _fixed(entries: Entries, params: tuple[tuple[str, Value], ...], naming: Naming) -> list[Key]:
    return [
        entries.add("param", name, value_key(entries, value, naming), None) for name, value in sorted(params, key=_name)
    ]


def _name(param: tuple[str, Value]) -> str:
    return param[0]
