"""Conditions of requirements and of conditional parameters, as data; `evaluate_conditions` evaluates them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msl.record import record
from msl.space.values import BlockType, Value

# --- terms: what is compared ------------------------------------------------------------------------


@record
class Literal:
    """A value that was written."""

    value: Value


@record
class FactTerm:
    """`n_samples` and its like."""

    name: str


@record
class Parameter:
    """A parameter of an occurrence of a block; `mark` limits it to the occurrences inside one part."""

    block: BlockType
    name: str
    mark: str | None = None

    @property
    def owner(self) -> tuple[tuple[str, str], str | None]:
        return self.block.key, self.mark


@record
class Sibling:
    """Another parameter of the same block, in the condition of a parameter."""

    name: str


@record
class Computed:
    """Arithmetic or a function of terms."""

    operation: str
    operands: tuple[Term, ...]


Term = Literal | FactTerm | Parameter | Sibling | Computed


# --- conditions: what is true or not ----------------------------------------------------------------


@record
class Present:
    """The model contains the block (inside the marked part, where one is named)."""

    block: BlockType
    mark: str | None = None


@record
class PartIs:
    """The marked part is exactly one of these blocks, or has no step where None is listed."""

    mark: str
    options: tuple[BlockType | None, ...]


@record
class ValueIs:
    """The parameter's value is one of these: literals, names of alternatives, blocks, or None."""

    subject: Term
    options: tuple[Value | BlockType, ...]


@record
class Comparison:
    """`left <= right`"""

    operator: str
    left: Term
    right: Term


@record
class IsTrue:
    """A parameter that is itself yes or no."""

    term: Term


@record
class AllOf:
    """`a and b`"""

    items: tuple[Condition, ...]


@record
class AnyOf:
    """`a or b`"""

    items: tuple[Condition, ...]


@record
class Negation:
    """`not a`"""

    item: Condition


Condition = Present | PartIs | ValueIs | Comparison | IsTrue | AllOf | AnyOf | Negation


@record
class Requirement:
    """A model is rejected only when `when` is true (or absent) and `condition` is false. `text` is as written."""

    condition: Condition
    when: Condition | None = None
    text: str = ""


def atoms(condition: Condition) -> Iterator[Condition]:
    """The tests and comparisons in a condition, without `and`, `or` and `not`."""
    match condition:
        case AllOf(items=items) | AnyOf(items=items):
            for item in items:
                yield from atoms(item)
        case Negation(item=item):
            yield from atoms(item)
        case _:
            yield condition


def terms(condition: Condition) -> Iterator[Term]:
    """Every term that a condition compares, nested ones included."""
    for atom in atoms(condition):
        match atom:
            case Comparison(left=left, right=right):
                yield from nested_terms(left)
                yield from nested_terms(right)
            case ValueIs(subject=term) | IsTrue(term=term):
                yield from nested_terms(term)


def nested_terms(term: Term) -> Iterator[Term]:
    """A term and the terms that it is computed from."""
    yield term
    if isinstance(term, Computed):
        for operand in term.operands:
            yield from nested_terms(operand)


def marks(requirement: Requirement) -> set[str]:
    """The parts that a requirement mentions."""
    found: set[str] = set()
    for condition in (requirement.condition, requirement.when):
        if condition is not None:
            found |= {term.mark for term in terms(condition) if isinstance(term, Parameter) and term.mark is not None}
            found |= set(_part_marks(condition))
    return found


def observed_settings(requirements: Iterable[Requirement]) -> frozenset[str]:
    """The parts of which requirements name a parameter."""
    conditions = (c for r in requirements for c in (r.condition, r.when) if c is not None)
    found = (term.block for c in conditions for term in terms(c) if isinstance(term, Parameter))
    return frozenset(block.origin for block in found if block.role == "part")


def _part_marks(condition: Condition) -> Iterator[str]:
    for atom in atoms(condition):
        match atom:
            case PartIs(mark=mark) | Present(mark=str(mark)):
                yield mark
