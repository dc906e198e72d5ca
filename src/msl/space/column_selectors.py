"""Columns of the table by name, pattern and kind: what `on numbers (…)` and `on [age, "income_*"] (…)` select.

In a space and in a model, `on columns (steps)` is a step that keeps the columns, followed by the steps: what follows
sees these columns alone, wherever the parentheses end. So everything that is true of steps is true of it. A selector
is a word, which is a kind of columns or `rest`, or a sorted tuple of names and patterns.

`rest` is what the other branches of the same `&` leave: the columns that none of them names at its start.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from msl.space.nodes import BlockUse, Const, Node, Param, can_be_empty, children
from msl.space.nodes import Sequence as Row
from msl.space.values import BlockType, BlockValue, Branches, Step

Selector = str | tuple[str, ...]

#: The kinds of columns; those of dates and of text are the numbers that are made of them, and the symbols of ordered
#: columns stand for their places in the order.
KINDS = ("numbers", "symbols", "ordered", "dates", "text")
REST = "rest"

#: The block behind `on`. Its name is no declaration's, so that no `use` is needed for it.
ON = BlockType("on", "msl", "transformer", None, "msl.blocks:TableColumns")
_PARAMETER = "columns"


def on_columns(selector: Selector) -> BlockUse:
    """The step that keeps the selected columns."""
    return BlockUse(ON, (Param(_PARAMETER, Const(selector)),))


def selector_of(step: Node | Step) -> Selector | None:
    """The selector of a step that selects columns; None for any other step."""
    if isinstance(step, BlockUse) and step.block == ON:
        node = step.params[0].node
        assert isinstance(node, Const)
        return _selector(node.value)
    if isinstance(step, BlockValue) and step.block == ON:
        return _selector(step.params[0][1])
    return None


def at_positions(positions: Iterable[int]) -> BlockValue:
    """The step for one table, where a selector is the positions of its columns."""
    return BlockValue(ON, ((_PARAMETER, tuple(positions)),))


def _selector(value: object) -> Selector:
    assert isinstance(value, str | tuple)
    return value


# --- the columns of a table -------------------------------------------------------------------------------------------


def is_pattern(entry: str) -> bool:
    """Whether an entry of a list stands for all names of a form: `*` is any text, `?` any character."""
    return "*" in entry or "?" in entry


def matching(entry: str, names: Sequence[str]) -> list[str]:
    """The columns that an entry of a list means: the one of that name, those made of it, or all that fit a pattern."""
    if entry in names:
        return [entry]
    if made := [name for name in names if name.startswith(f"{entry}: ")]:
        return made
    if not is_pattern(entry):
        return []
    form = re.compile("".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in entry), re.DOTALL)
    return [name for name in names if form.fullmatch(name)]


def selected(
    selector: Selector,
    names: Sequence[str],
    symbolic: Collection[str],
    dates: Collection[str] = (),
    texts: Collection[str] = (),
    ordered: Collection[str] = (),
) -> list[str]:
    """The columns of a table that a selector other than `rest` means, in the order of the table."""
    if isinstance(selector, str):
        kinds = {"symbols": symbolic, "dates": dates, "text": texts, "ordered": ordered}
        if selector == "numbers":
            return [name for name in names if not any(name in others for others in kinds.values())]
        return [name for name in names if name in kinds.get(selector, ())]
    wanted = {name for entry in selector for name in matching(entry, names)}
    return [name for name in names if name in wanted]


# --- what a branch names at its start ---------------------------------------------------------------------------------


def named_first(steps: tuple[Step, ...]) -> Iterator[Selector]:
    """The selectors at the start of a branch of a model; those of branches that it starts with."""
    if not steps:
        return
    if isinstance(steps[0], Branches):
        for branch in steps[0].branches:
            yield from named_first(branch)
    elif (selector := selector_of(steps[0])) is not None:
        yield selector


def first_blocks(root: Node) -> list[BlockUse]:
    """The blocks that may be the first of their branch in a model: those that see the input of a space."""
    found: dict[int, BlockUse] = {}
    met: set[int] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if id(node) in met:
            continue
        met.add(id(node))
        if isinstance(node, BlockUse):
            found[id(node)] = node
        elif isinstance(node, Row):
            pending.extend(reversed(_up_to_first(node.steps)))
        else:
            pending.extend(reversed(list(children(node))))
    return list(found.values())


def _up_to_first(steps: tuple[Node, ...]) -> list[Node]:
    """The steps that may come first: those before and including the first that is always there."""
    first: list[Node] = []
    for step in steps:
        first.append(step)
        if not can_be_empty(step):
            break
    return first
