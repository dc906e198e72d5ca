"""Spell: models and spaces as MSL text — a model as an expression with nothing open, or as a file of its own."""

from __future__ import annotations

from collections.abc import Collection

from msl.space.condition import Condition, Requirement
from msl.space.node import Node, blocks_in
from msl.space.spell_condition import ConditionSpeller
from msl.space.spell_node import NodeSpeller
from msl.space.spell_word import BlockNames
from msl.space.truth import occurrences
from msl.space.value import Branches, Model, Step, Value

_WIDEST_LINE = 100


def spell_model(model: Model, ambiguous: Collection[str] = ()) -> str:
    """A model as an expression. Blocks are called `origin.name` where two in the model share a name, or a name is
    `ambiguous` for other reasons, such as a catalogue in use that declares it too."""
    return " >> ".join(_steps(model.steps, _names(model, ambiguous))) or "none"


def spell_model_file(model: Model, name: str = "model", ambiguous: Collection[str] = ()) -> str:
    """A model as a file that stands on its own: the edition, what it uses, and one chain."""
    names = _names(model, ambiguous)
    steps = _steps(model.steps, names) or ["none"]
    chain = f"chain {name} = {' >> '.join(steps)}"
    if len(chain) > _WIDEST_LINE:
        chain = f"chain {name} =\n  " + "\n  >> ".join(steps)
    header = f"msl 1\n{names.use()}\n" if names.origins else "msl 1\n"
    return f"{header}\n{chain}\n"


def spell_value(value: Value) -> str:
    """A value of a parameter."""
    return NodeSpeller(BlockNames()).value(value)


def spell_node(node: Node, *, parameters: bool = True, parts: bool = False, most: int | None = None) -> str:
    """A domain or a space. For people: without `parameters`, blocks are names alone, with `parts`, so are marked parts,
    and with `most`, long lists are cut."""
    names = BlockNames(blocks_in(node))
    return NodeSpeller(names, parameters=parameters, parts=parts, most=most).node(node)


def spell_condition(condition: Condition) -> str:
    return ConditionSpeller(BlockNames()).condition(condition)


def spell_requirement(requirement: Requirement) -> str:
    """A requirement as it was written, or spelt anew where that is not known."""
    if requirement.text:
        words = " ".join(requirement.text.split())
        return words if words.startswith("require ") else f"require {words}"
    return ConditionSpeller(BlockNames()).requirement(requirement)


def _names(model: Model, ambiguous: Collection[str]) -> BlockNames:
    return BlockNames([found.block for found in occurrences(model.steps)], ambiguous)


def _steps(steps: tuple[Step, ...], names: BlockNames) -> list[str]:
    return [_step(step, names) for step in steps]


def _step(step: Step, names: BlockNames) -> str:
    if not isinstance(step, Branches):
        return NodeSpeller(names).value(step)
    joined = " & ".join(_branch(branch, names) for branch in step.branches)
    return f"({joined})"


def _branch(steps: tuple[Step, ...], names: BlockNames) -> str:
    spelt = _steps(steps, names)
    return spelt[0] if len(spelt) == 1 else f"({' >> '.join(spelt)})"
