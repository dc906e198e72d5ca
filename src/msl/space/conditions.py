"""Condition: what a requirement or a conditional parameter asks, with three answers: true, false, undefined (None)."""

from __future__ import annotations

from collections.abc import Iterator

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
    """What the marked part came to is exactly one of these blocks, or nothing where None is listed."""

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


def terms(condition: Condition) -> Iterator[Term]:
    """Every term that a condition compares, nested ones included."""
    match condition:
        case AllOf(items=items) | AnyOf(items=items):
            for item in items:
                yield from terms(item)
        case Negation(item=item):
            yield from terms(item)
        case Comparison(left=left, right=right):
            yield from _nested(left)
            yield from _nested(right)
        case ValueIs(subject=term) | IsTrue(term=term):
            yield from _nested(term)


def _nested(term: Term) -> Iterator[Term]:
    yield term
    if isinstance(term, Computed):
        for operand in term.operands:
            yield from _nested(operand)


def marks(requirement: Requirement) -> set[str]:
    """The parts that a requirement speaks of."""
    found: set[str] = set()
    for condition in (requirement.condition, requirement.when):
        if condition is not None:
            found |= {term.mark for term in terms(condition) if isinstance(term, Parameter) and term.mark is not None}
            found |= set(_part_marks(condition))
    return found


def _part_marks(condition: Condition) -> Iterator[str]:
    match condition:
        case AllOf(items=items) | AnyOf(items=items):
            for item in items:
                yield from _part_marks(item)
        case Negation(item=item):
            yield from _part_marks(item)
        case PartIs(mark=mark):
            yield mark
        case Present(mark=str(mark)):
            yield mark
