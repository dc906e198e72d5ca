"""Abstract models to what requirements can tell apart, so that everything else about them can be ignored.

A model is reduced to its *traits*: the named blocks that it contains and where, with the values of their named
parameters, and the outcome of each part that is tested. Models with the same traits meet or break the same
requirements. Counting and enumeration therefore carry traits in place of models, decoding evaluates requirements once
for each set of traits, and `msl check` finds the sets of traits that occur in a space at all (without the values of
parameters, for which it has intervals: `check/constraints`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from msl.space.conditions import (
    Comparison,
    Computed,
    Condition,
    IsTrue,
    Parameter,
    PartIs,
    Present,
    Requirement,
    Sibling,
    Term,
    ValueIs,
    atoms,
    nested_terms,
    observed_settings,
    terms,
)
from msl.space.evaluate_conditions import (
    Derivation,
    Key,
    Outcome,
    blocks_in,
    broken,
    constant,
    is_exact_number,
    joined_outcome,
    occurrences,
    outcome_of,
)
from msl.space.formulas import Facts
from msl.space.nodes import Const, Marked
from msl.space.values import BlockType, BlockValue, PipelineValue, SymbolValue, Value, part_as_block

Params = tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class Precision:
    """How finely the values of a parameter are told apart: only by the thresholds they lie between, or every one."""

    thresholds: frozenset[int | float | Fraction] = frozenset()
    every_value: bool = False

    def joined(self, other: Precision | None) -> Precision:
        if other is None:
            return self
        return Precision(self.thresholds | other.thresholds, self.every_value or other.every_value)


#: Names of parameters with the precision that each needs.
Precisions = Mapping[str, Precision]


@dataclass(frozen=True, slots=True)
class BlockTrait:
    """The model contains a block, inside the part `mark` or anywhere, with these values of its observed parameters.

    `kinds` tells apart 1, 1.0 and true, which are equal in Python.
    """

    mark: str | None
    block: Key
    params: Params = ()
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PartTrait:
    """The outcome of one use of a part: no step (None), one block that is tested for, or anything else (False)."""

    mark: str
    outcome: Outcome


Traits = frozenset[BlockTrait | PartTrait]
NO_TRAITS: Traits = frozenset()
#: The mark of a part around a whole pipeline that is a value: its outcome is what conditions see of the value.
WHOLE_VALUE = ""


class Abstraction:
    """What some requirements observe of a model, and which of them models with given traits break.

    What `others` observe is part of the traits too, without being evaluated: two abstractions can so share their
    traits and evaluate each its own requirements. Without `values`, the traits are which of the named blocks are
    there: no parameter is observed, and every block that a requirement names is.
    """

    def __init__(
        self,
        requirements: Iterable[Requirement],
        facts: Facts | None,
        others: Iterable[Requirement] = (),
        values: bool = True,
    ) -> None:
        self.requirements = tuple(requirements)
        #: Every block that is named, in the order of their first mention.
        self.blocks: dict[Key, BlockType] = {}
        #: The parts that are named, with the blocks that are named inside each.
        self.parts: dict[str, set[Key]] = {}
        self._facts = facts
        self._precisions: dict[Key, dict[str, Precision]] = {}
        self._tested: dict[str, set[Key]] = {}
        self._broken: dict[Traits, Requirement | None] = {}
        others = tuple(others)
        conditions = [c for r in (*self.requirements, *others) for c in (r.condition, r.when) if c is not None]
        for condition in conditions:
            self._observe(condition, values)
        for parameter, precision in _precisions(conditions, facts) if values else ():
            if isinstance(parameter, Parameter):
                own = self._precisions[parameter.block.key]
                own[parameter.name] = precision.joined(own.get(parameter.name))
        #: The parts whose parameters a requirement names.
        self.observed_settings = observed_settings((*self.requirements, *others))

    def __bool__(self) -> bool:
        return bool(self.requirements)

    def _observe(self, condition: Condition, values: bool) -> None:
        for atom in atoms(condition):
            match atom:
                case Present(block=block, mark=mark):
                    self._observe_block(block, mark)
                case PartIs(mark=mark, options=options):
                    blocks = {option.key: option for option in options if option is not None}
                    self.blocks |= blocks
                    self.parts.setdefault(mark, set())
                    self._tested.setdefault(mark, set()).update(blocks)
                    for key in () if values else blocks:
                        self._precisions.setdefault(key, {})
                case _:
                    for term in terms(atom):
                        if isinstance(term, Parameter):
                            self._observe_block(term.block, term.mark)

    def _observe_block(self, block: BlockType, mark: str | None) -> None:
        self.blocks[block.key] = block
        self._precisions.setdefault(block.key, {})
        if mark is not None:
            self.parts.setdefault(mark, set()).add(block.key)

    # --- what is observed ---

    def precisions(self, block: BlockType) -> Precisions | None:
        """The observed parameters of a block; None for a block that is not observed."""
        return self._precisions.get(block.key)

    def observes_part(self, mark: str) -> bool:
        """Whether a requirement names this part."""
        return mark in self.parts or mark == WHOLE_VALUE

    def setting_traits(self, part: Marked) -> Traits:
        """The traits of a part at these values of its parameters."""
        values = tuple((param.name, param.node.value) for param in part.params if isinstance(param.node, Const))
        return self._of_blocks((BlockValue(part_as_block(part.mark), values),))  # type: ignore[arg-type]

    # --- traits of pieces of a model ---

    def block_traits(self, block: BlockType, params: Params) -> Traits:
        """The trait of a block with its observed parameters."""
        if block.key not in self._precisions:
            return NO_TRAITS
        return frozenset({BlockTrait(None, block.key, params, tuple(kind_of(value) for _, value in params))})

    def traits_of_value(self, value: Value) -> Traits:
        """The traits of the blocks in a value."""
        return self._of_blocks(blocks_in(value)) if self._precisions else NO_TRAITS

    def _of_blocks(self, blocks: Iterable[BlockValue]) -> Traits:
        found: Traits = NO_TRAITS
        for value in blocks:
            precisions = self._precisions.get(value.block.key)
            if precisions is not None:
                found |= self.block_traits(value.block, observed_params(value.params, precisions))
        return found

    def inside(self, mark: str, traits: Traits) -> Traits:
        """The traits of blocks as those of blocks inside this part, as far as they are named there."""
        named = self.parts.get(mark, set())
        return frozenset(
            replace(trait, mark=mark)
            for trait in traits
            if isinstance(trait, BlockTrait) and trait.mark is None and trait.block in named
        )

    def outcome_after(self, mark: str, before: Outcome, step: BlockType | None) -> Outcome:
        """The outcome of a part after one more step; None stands for branches side by side."""
        return joined_outcome(before, False if step is None else self.outcome(mark, step.key))

    def outcome(self, mark: str, outcome: Outcome) -> Outcome:
        """An outcome of this part as far as it is told apart: a block that is not tested for is anything else."""
        if mark == WHOLE_VALUE:
            return outcome
        return False if isinstance(outcome, tuple) and outcome not in self._tested.get(mark, ()) else outcome

    def part_traits(self, mark: str, outcome: Outcome) -> Traits:
        """The trait of the outcome of a part, if that is tested."""
        return frozenset({PartTrait(mark, outcome)}) if mark in self._tested or mark == WHOLE_VALUE else NO_TRAITS

    # --- whole models ---

    def traits(self, derivation: Derivation) -> Traits:
        """The traits of one model."""
        if not self.requirements:
            return NO_TRAITS
        traits = self._of_blocks(occurrences(derivation.model.steps)) | self._of_blocks(derivation.settings)
        for mark, steps in derivation.parts:
            if mark in self.parts:
                outcome = self.outcome(mark, outcome_of(steps))
                traits |= self.inside(mark, self._of_blocks(occurrences(steps))) | self.part_traits(mark, outcome)
        return traits

    def contents(self, traits: Traits) -> TraitContents:
        """What conditions find in models with these traits."""
        blocks: dict[str | None, list[BlockValue]] = {}
        outcomes: dict[str, list[Outcome]] = {}
        for trait in traits:
            if isinstance(trait, BlockTrait):
                blocks.setdefault(trait.mark, []).append(BlockValue(self.blocks[trait.block], trait.params))
            else:
                outcomes.setdefault(trait.mark, []).append(trait.outcome)
        return TraitContents(blocks, outcomes)

    def first_broken(self, traits: Traits) -> Requirement | None:
        """The first requirement that models with these traits break, or None."""
        if traits not in self._broken:
            self._broken[traits] = broken(self.requirements, self.contents(traits), self._facts)
        return self._broken[traits]


@dataclass(frozen=True, slots=True)
class TraitContents:
    """The blocks and the outcomes of parts that models with the same traits have in common."""

    by_part: Mapping[str | None, list[BlockValue]]
    by_mark: Mapping[str, list[Outcome]]

    def blocks(self, mark: str | None) -> list[BlockValue]:
        return self.by_part.get(mark, [])

    def outcomes(self, mark: str) -> list[Outcome]:
        return self.by_mark.get(mark, [])


def sibling_precisions(
    conditions: Iterable[Condition | None], facts: Facts | None, counted: Iterable[str] = ()
) -> dict[str, Precision]:
    """What the conditions of parameters observe of their siblings; every value of those that count elements."""
    found = dict.fromkeys(counted, Precision(every_value=True))
    for term, precision in _precisions([condition for condition in conditions if condition is not None], facts):
        if isinstance(term, Sibling):
            found[term.name] = precision.joined(found.get(term.name))
    return found


def observed_params(params: Params, precisions: Precisions) -> Params:
    """The parameters that are observed, and the alternatives that hold such parameters."""
    found: list[tuple[str, Value]] = []
    for name, value in params:
        if isinstance(value, SymbolValue):
            inner = observed_params(value.params, within(precisions, name) if value.own else precisions)
            if name in precisions or inner:
                found.append((name, SymbolValue(value.name, inner, value.own)))
        elif name in precisions:
            found.append((name, outline_of(value)))
    return tuple(found)


def outline_of(value: Value) -> Value:
    """A value as far as conditions tell it apart: which block it is, that it is a pipeline, or the value itself."""
    if isinstance(value, BlockValue):
        return BlockValue(value.block, ())
    return PipelineValue(()) if isinstance(value, PipelineValue) else value


def within(precisions: Precisions, name: str) -> Precisions:
    """Of parameters by their paths, those inside the value of one parameter."""
    return {path[len(name) + 1 :]: found for path, found in precisions.items() if path.startswith(f"{name}.")}


def kind_of(value: Value) -> str:
    """What tells apart values that are equal in Python: 1 and true, a block and another name of its class."""
    if isinstance(value, BlockValue):
        return ":".join(value.block.key)
    if isinstance(value, SymbolValue):
        return "/".join((value.name, *(kind_of(inner) for _, inner in value.params)))
    return type(value).__name__


# --- the precision that a comparison needs ---


def _precisions(
    conditions: Iterable[Condition], facts: Facts | None
) -> Iterator[tuple[Parameter | Sibling, Precision]]:
    """Each parameter in some conditions, once for each comparison, with the precision that this needs."""
    for condition in conditions:
        for atom in atoms(condition):
            match atom:
                case ValueIs(subject=Parameter() | Sibling() as term, options=options):
                    yield term, Precision(frozenset(option for option in options if is_exact_number(option)))
                case ValueIs(subject=term) | IsTrue(term=Computed() as term):
                    yield from ((inner, Precision(every_value=True)) for inner in _parameters(term))
                case IsTrue(term=Parameter() | Sibling() as term):
                    yield term, Precision()
                case Comparison(left=left, right=right):
                    yield from _compared(left, right, facts)
                    yield from _compared(right, left, facts)


def _compared(term: Term, other: Term, facts: Facts | None) -> Iterator[tuple[Parameter | Sibling, Precision]]:
    if isinstance(term, Parameter | Sibling) and next(_parameters(other), None) is None:
        limit = constant(other, facts)
        yield term, Precision(frozenset({limit}) if is_exact_number(limit) else frozenset())
    else:
        yield from ((inner, Precision(every_value=True)) for inner in _parameters(term))


def _parameters(term: Term) -> Iterator[Parameter | Sibling]:
    return (inner for inner in nested_terms(term) if isinstance(inner, Parameter | Sibling))
