"""Watch: what the requirements of a space can see of a model, so that all else about it can be forgotten.

A model is judged by its *sights*: which of the blocks that requirements name it contains and where, with the values of
the parameters that they name, and what each part that they ask about came to. Two models with the same sights meet or
break the same requirements, which is what lets a count carry sights in place of models, and a decoder judge once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeGuard

from msl.space.conditions import (
    AllOf,
    AnyOf,
    Comparison,
    Computed,
    Condition,
    IsTrue,
    Negation,
    Parameter,
    PartIs,
    Present,
    Requirement,
    Sibling,
    Term,
    ValueIs,
)
from msl.space.formulas import Facts
from msl.space.logic import Derivation, blocks_in, broken, constant, occurrences
from msl.space.values import BlockType, BlockValue, Branches, Model, Step, SymbolValue, Value

Key = tuple[str, str]
Params = tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class Lens:
    """How closely a number is looked at: only where it lies between the cuts, or every value for itself."""

    cuts: frozenset[int | float | Fraction] = frozenset()
    every: bool = False

    def joined(self, other: Lens | None) -> Lens:
        return self if other is None else Lens(self.cuts | other.cuts, self.every or other.every)


#: Names of parameters and how closely each is looked at.
Lenses = Mapping[str, Lens]


@dataclass(frozen=True, slots=True)
class Seen:
    """A block of the model, inside the part `mark` or anywhere, with what is looked at of its parameters.

    `kinds` tells 1 from true and from 1.0, which are equal to Python.
    """

    mark: str | None
    block: Key
    params: Params
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Came:
    """What one use of a part came to: no step (None), one block that is asked for, or something else (False)."""

    mark: str
    outcome: Outcome


Outcome = Key | bool | None
Sights = frozenset[Seen | Came]
NO_SIGHTS: Sights = frozenset()


class Watch:
    """What some requirements look at, and their verdict on what they see.

    What `others` look at is seen too, and not judged: so two watches can see the same and judge by their own.
    """

    def __init__(
        self, requirements: Iterable[Requirement], facts: Facts | None, others: Iterable[Requirement] = ()
    ) -> None:
        self.requirements = tuple(requirements)
        self._facts = facts
        self._types: dict[Key, BlockType] = {}
        self._lenses: dict[Key, dict[str, Lens]] = {}
        self._asked: dict[str, set[Key]] = {}
        self._marks: set[str] = set()
        self._verdicts: dict[Sights, Requirement | None] = {}
        conditions = [c for r in (*self.requirements, *others) for c in (r.condition, r.when) if c is not None]
        for condition in conditions:
            self._look(condition)
        for parameter, lens in _lenses(conditions, facts):
            if isinstance(parameter, Parameter):
                lenses = self._watched(parameter.block, parameter.mark)
                lenses[parameter.name] = lens.joined(lenses.get(parameter.name))
        self._judged = tuple(_with_parts_apart(requirement) for requirement in self.requirements)

    def __bool__(self) -> bool:
        return bool(self.requirements)

    def _watched(self, block: BlockType, mark: str | None) -> dict[str, Lens]:
        self._types[block.key] = block
        if mark is not None:
            self._marks.add(mark)
        return self._lenses.setdefault(block.key, {})

    def _look(self, condition: Condition) -> None:
        for atom in _atoms(condition):
            if isinstance(atom, Present):
                self._watched(atom.block, atom.mark)
            elif isinstance(atom, PartIs):
                self._marks.add(atom.mark)
                self._asked.setdefault(atom.mark, set()).update(o.key for o in atom.options if o is not None)
                self._types.update({option.key: option for option in atom.options if option is not None})

    # --- what is looked at ---

    def lenses(self, block: BlockType) -> Lenses | None:
        """The parameters of a block that are looked at; None for a block that no requirement names."""
        return self._lenses.get(block.key)

    def watches(self, mark: str) -> bool:
        """Whether a requirement speaks of this part."""
        return mark in self._marks

    def outcome(self, mark: str, before: Outcome, step: BlockType | None) -> Outcome:
        """What a part has come to after one more step; None stands for branches side by side."""
        return self.asked(mark, step.key) if before is None and step is not None else False

    def asked(self, mark: str, block: Key) -> Outcome:
        """What a part is said to have come to when it came to this block alone."""
        return block if block in self._asked.get(mark, ()) else False

    def seen(self, block: BlockType, params: Params) -> Sights:
        """The sight of a block with what is looked at of its parameters."""
        if block.key not in self._lenses:
            return NO_SIGHTS
        return frozenset({Seen(None, block.key, params, tuple(kind_of(value) for _, value in params))})

    def blocks_inside(self, mark: str, sights: Sights) -> Sights:
        """The blocks that are seen anywhere, as seen inside this part."""
        return frozenset(
            replace(sight, mark=mark) for sight in sights if isinstance(sight, Seen) and sight.mark is None
        )

    def came_to(self, mark: str, outcome: Outcome) -> Sights:
        """The sight of what a part came to, if anything asks."""
        return frozenset({Came(mark, outcome)}) if mark in self._asked else NO_SIGHTS

    # --- models as they are ---

    def sights(self, derivation: Derivation) -> Sights:
        """What is seen of one model."""
        if not self.requirements:
            return NO_SIGHTS
        sights = self._of_blocks(occurrences(derivation.model.steps))
        for mark, steps in derivation.parts:
            if mark in self._marks:
                outcome: Outcome = None
                for step in steps:
                    outcome = self.outcome(mark, outcome, None if isinstance(step, Branches) else step.block)
                sights |= self.blocks_inside(mark, self._of_blocks(occurrences(steps))) | self.came_to(mark, outcome)
        return sights

    def sights_of_value(self, value: Value) -> Sights:
        """What is seen of the blocks in a value."""
        return self._of_blocks(blocks_in(value)) if self._lenses else NO_SIGHTS

    def _of_blocks(self, blocks: Iterable[BlockValue]) -> Sights:
        found: Sights = NO_SIGHTS
        for value in blocks:
            lenses = self._lenses.get(value.block.key)
            if lenses is not None:
                found |= self.seen(value.block, looked_at(value.params, lenses))
        return found

    # --- the verdict ---

    def verdict(self, sights: Sights) -> Requirement | None:
        """The first requirement that models with these sights break, or None."""
        if sights not in self._verdicts:
            self._verdicts[sights] = self._broken(sights)
        return self._verdicts[sights]

    def _broken(self, sights: Sights) -> Requirement | None:
        everywhere: list[Step] = []
        parts: list[tuple[str, tuple[Step, ...]]] = []
        for sight in sights:
            if isinstance(sight, Seen):
                step = BlockValue(self._types[sight.block], sight.params)
                if sight.mark is None:
                    everywhere.append(step)
                else:
                    parts.append((sight.mark, (step,)))
            else:
                parts.append((_apart(sight.mark), self._steps_of(sight.outcome)))
        derivation = Derivation(Model(tuple(everywhere)), tuple(parts))
        found = broken(self._judged, derivation, self._facts)
        return None if found is None else self.requirements[self._judged.index(found)]

    def _steps_of(self, outcome: Outcome) -> tuple[Step, ...]:
        if outcome is None:
            return ()
        return (Branches(()),) if isinstance(outcome, bool) else (BlockValue(self._types[outcome], ()),)


def sibling_lenses(conditions: Iterable[Condition | None], facts: Facts | None) -> dict[str, Lens]:
    """What the conditions of parameters look at among their siblings."""
    found: dict[str, Lens] = {}
    for term, lens in _lenses([condition for condition in conditions if condition is not None], facts):
        if isinstance(term, Sibling):
            found[term.name] = lens.joined(found.get(term.name))
    return found


def looked_at(params: Params, lenses: Lenses) -> Params:
    """Those parameters that are looked at, and the alternatives that hold such parameters."""
    found: list[tuple[str, Value]] = []
    for name, value in params:
        if isinstance(value, SymbolValue):
            inner = looked_at(value.params, lenses)
            if name in lenses or inner:
                found.append((name, SymbolValue(value.name, inner)))
        elif name in lenses:
            found.append((name, BlockValue(value.block, ()) if isinstance(value, BlockValue) else value))
    return tuple(found)


def kind_of(value: Value) -> str:
    """What tells apart values that are equal to Python: 1 from true, and a block from another name of its class."""
    if isinstance(value, BlockValue):
        return ":".join(value.block.key)
    if isinstance(value, SymbolValue):
        return "/".join((value.name, *(kind_of(inner) for _, inner in value.params)))
    return type(value).__name__


def _apart(mark: str) -> str:
    """The name under which outcomes of a part are judged, so that they do not mix with the blocks inside it."""
    return f"outcome of {mark}"


def _with_parts_apart(requirement: Requirement) -> Requirement:
    when = None if requirement.when is None else _renamed(requirement.when)
    return replace(requirement, condition=_renamed(requirement.condition), when=when)


def _renamed(condition: Condition) -> Condition:
    match condition:
        case PartIs(mark=mark):
            return replace(condition, mark=_apart(mark))
        case AllOf(items=items) | AnyOf(items=items):
            return replace(condition, items=tuple(map(_renamed, items)))
        case Negation(item=item):
            return Negation(_renamed(item))
    return condition


def _atoms(condition: Condition) -> Iterator[Condition]:
    match condition:
        case AllOf(items=items) | AnyOf(items=items):
            for item in items:
                yield from _atoms(item)
        case Negation(item=item):
            yield from _atoms(item)
        case _:
            yield condition


def _lenses(conditions: Iterable[Condition], facts: Facts | None) -> Iterator[tuple[Parameter | Sibling, Lens]]:
    """Each parameter that is looked at, as closely as each comparison needs."""
    for condition in conditions:
        for atom in _atoms(condition):
            match atom:
                case ValueIs(subject=Parameter() | Sibling() as term, options=options):
                    yield term, Lens(frozenset(option for option in options if _is_number(option)))
                case ValueIs(subject=term) | IsTrue(term=Computed() as term):
                    yield from ((inner, Lens(every=True)) for inner in _open_terms(term))
                case IsTrue(term=Parameter() | Sibling() as term):
                    yield term, Lens()
                case Comparison(left=left, right=right):
                    yield from _compared(left, right, facts)
                    yield from _compared(right, left, facts)


def _compared(term: Term, other: Term, facts: Facts | None) -> Iterator[tuple[Parameter | Sibling, Lens]]:
    if isinstance(term, Parameter | Sibling) and next(_open_terms(other), None) is None:
        limit = constant(other, facts)
        yield term, Lens(frozenset({limit}) if _is_number(limit) else frozenset())
    else:
        yield from ((inner, Lens(every=True)) for inner in _open_terms(term))


def _open_terms(term: Term) -> Iterator[Parameter | Sibling]:
    if isinstance(term, Parameter | Sibling):
        yield term
    elif isinstance(term, Computed):
        for operand in term.operands:
            yield from _open_terms(operand)


def _is_number(value: object) -> TypeGuard[int | float | Fraction]:
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool)
