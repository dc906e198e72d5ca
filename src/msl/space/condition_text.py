"""Write requirements and conditions as MSL text, such as `require kpca.n <= 10 if learn is svc | none`."""

from __future__ import annotations

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
)
from msl.space.formulas import FUNCTIONS
from msl.space.names_to_text import BlockNames, computed_to_text, part_name
from msl.space.to_text import NodeWriter
from msl.space.values import BlockType


def condition_to_text(condition: Condition) -> str:
    return ConditionWriter(BlockNames()).condition(condition)


def requirement_to_text(requirement: Requirement) -> str:
    """A requirement as it was written, or written anew where that is not known."""
    if requirement.text:
        words = " ".join(requirement.text.split())
        return words if words.startswith("require ") else f"require {words}"
    return ConditionWriter(BlockNames()).requirement(requirement)


class ConditionWriter:
    """Writes conditions with one set of block names."""

    def __init__(self, names: BlockNames) -> None:
        self._names, self._values = names, NodeWriter(names)

    def requirement(self, requirement: Requirement) -> str:
        when = "" if requirement.when is None else f" if {self.condition(requirement.when)}"
        return f"require {self.condition(requirement.condition)}{when}"

    def condition(self, condition: Condition) -> str:
        match condition:
            case Present(block=block, mark=mark):
                return _path(mark, self._names.name(block))
            case PartIs(mark=mark, options=options):
                return (
                    f"{part_name(mark)} is {' | '.join('none' if o is None else self._names.name(o) for o in options)}"
                )
            case ValueIs(subject=subject, options=values):
                shown = (self._names.name(v) if isinstance(v, BlockType) else self._values.value(v) for v in values)
                return f"{self.term(subject)} is {' | '.join(shown)}"
            case Comparison(operator=sign, left=left, right=right):
                return f"{self.term(left)} {sign} {self.term(right)}"
            case IsTrue(term=term):
                return self.term(term)
            case Negation(item=item):
                return f"not {self._grouped(item, Present, IsTrue)}"
            case AllOf(items=items):
                return " and ".join(self._grouped(item, Present, IsTrue, Comparison, ValueIs, PartIs) for item in items)
            case AnyOf(items=items):
                return " or ".join(self._grouped(item, Present, IsTrue, Comparison, ValueIs, PartIs) for item in items)

    def _grouped(self, condition: Condition, *bare: type[Condition]) -> str:
        text = self.condition(condition)
        return text if isinstance(condition, bare) else f"({text})"

    def term(self, term: Term) -> str:
        match term:
            case Literal(value=value):
                return self._values.value(value)
            case FactTerm(name=name) | Sibling(name=name):
                return name
            case Parameter(block=block, name=name, mark=mark):
                return _path(mark, f"{self._names.name(block)}.{name}")
            case Computed(operation=operation, operands=operands):
                infix = [isinstance(o, Computed) and o.operation not in FUNCTIONS for o in operands]
                return computed_to_text(operation, [self.term(operand) for operand in operands], infix)


def _path(mark: str | None, rest: str) -> str:
    return rest if mark is None else f"{part_name(mark)}.{rest}"
