"""Count how often a search tried each alternative of a choice, among all models and among the best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from msl.runner.choose_winner import Candidate
from msl.runner.plan import Plan
from msl.space.column_selectors import ON
from msl.space.membership import Membership
from msl.space.membership_of_values import ABSENT
from msl.space.names_to_text import BlockNames, part_name
from msl.space.nodes import (
    Arrange,
    BlockUse,
    Choice,
    Empty,
    Marked,
    Node,
    Permute,
    Repeat,
    Subset,
    Union,
    rebuilt,
)
from msl.space.nodes import (
    Sequence as Row,
)
from msl.space.spec import Space
from msl.space.to_text import NodeWriter
from msl.space.values import BlockValue, Branches, Model, Step

_LONGEST_NAME = 40
_NONE = "none"


@dataclass(frozen=True, slots=True)
class ChoiceCount:
    """An alternative of a choice: how many models have it, its share of all models, and of the best quarter.

    The fields are keys of the summary of a run.
    """

    choice: str
    block: str
    asked: int
    share: float
    best_share: float


#: The names of a choice and of one of its alternatives.
_Taken = tuple[str, str]


def count_choices(plan: Plan, models: Iterable[Model], candidates: Sequence[Candidate]) -> list[ChoiceCount]:
    """The counts of every alternative of every choice between steps, in the order of the space.

    `models` are all that were evaluated, each once; the best quarter is that of the `candidates`.
    """
    reader = _Reader(plan.search_spaces[-1].codec.space)
    of_all = [reader.taken(model) for model in models]
    ranked = sorted(candidates, key=lambda one: (one.losses, one.complexity))
    best = [reader.taken(one.model) for one in ranked[: max(1, len(ranked) // 4)]]
    among_all, among_best = (Counter(taken for each in some for taken in each) for some in (of_all, best))
    return [
        ChoiceCount(
            choice=taken[0],
            block=taken[1],
            asked=among_all[taken],
            share=among_all[taken] / max(1, len(of_all)),
            best_share=among_best[taken] / max(1, len(best)),
        )
        for taken in reader.alternatives
    ]


class _Reader:
    """Finds the alternatives that a model consists of. Parameters do not matter, so each structure is read once."""

    def __init__(self, space: Space) -> None:
        self._root = rebuilt(space.root, _without_parameters)
        self._membership = Membership(Space(self._root, facts=space.facts))
        self._writer = NodeWriter(BlockNames(), parameters=False, parts=True, priors=False, most=_LONGEST_NAME)
        self._known: dict[Model, frozenset[_Taken]] = {}
        self.alternatives = tuple(dict.fromkeys(self._offered(self._root, None)))

    def taken(self, model: Model) -> frozenset[_Taken]:
        structure = Model(_without_values(model.steps))
        if structure not in self._known:
            self._known[structure] = frozenset(self._read(self._root, self._membership.derive(structure), None))
        return self._known[structure]

    def _offered(self, node: Node, part: str | None) -> Iterator[_Taken]:
        """Every alternative of the space."""
        match node:
            case Marked(mark=mark, node=inner):
                yield from self._offered(inner, part_name(mark))
            case Choice(options=below) | Subset(members=below) | Arrange(members=below):
                name = self._name(node, part)
                yield from ((name, label) for label in self._labels(below))
                if not isinstance(node, Choice):
                    yield name, _NONE
                for one in below:
                    yield from self._offered(one, None)
            case Row(steps=below) | Union(branches=below) | Permute(members=below):
                for one in below:
                    yield from self._offered(one, None)
            case Repeat(member=member):
                yield from self._offered(member, part)

    def _read(self, node: Node, tree: Any, part: str | None) -> Iterator[_Taken]:
        """The alternatives in a derivation of a model; see `msl.space.membership` for its form."""
        match node:
            case Marked(mark=mark, node=inner):
                yield from self._read(inner, tree, part_name(mark))
            case Choice(options=options):
                number, below = tree
                yield self._name(node, part), self._labels(options)[number]
                yield from self._read(options[number], below, None)
            case Subset(members=members):
                present = {number: below for number, below in enumerate(tree) if below is not ABSENT}
                yield from self._members(node, members, part, present)
            case Arrange(members=members):
                _, trees = tree
                yield from self._members(node, members, part, trees)
            case Permute(members=members):
                _, trees = tree
                for number, below in trees.items():
                    yield from self._read(members[number], below, None)
            case Row(steps=nodes) | Union(branches=nodes):
                for one, below in zip(nodes, tree, strict=True):
                    yield from self._read(one, below, None)
            case Repeat(member=member):
                for below in tree:
                    yield from self._read(member, below, part)

    def _members(
        self, node: Node, members: tuple[Node, ...], part: str | None, present: dict[int, Any]
    ) -> Iterator[_Taken]:
        name, labels = self._name(node, part), self._labels(members)
        if not present:
            yield name, _NONE
        for number, below in present.items():
            yield name, labels[number]
            yield from self._read(members[number], below, None)

    def _name(self, node: Node, part: str | None) -> str:
        """The name of a choice: the part that it is, `scale?` for the optional part `scale`, or else its text."""
        if part is not None:
            return part
        if isinstance(node, Choice):
            parts = {_part(one) for one in node.options if not isinstance(one, Empty)}
            if len(parts) == 1 and len(node.options) > 2 and (whole := parts.pop()) is not None:
                return f"{whole}?" if Empty() in node.options else whole
        return self._writer.node(node)

    def _labels(self, alternatives: tuple[Node, ...]) -> list[str]:
        """The names of alternatives: their part or blocks; if several are of one part, their blocks."""
        parts = Counter(_part(one) for one in alternatives)
        nodes = [one.node if isinstance(one, Marked) and parts[_part(one)] > 1 else one for one in alternatives]
        return [_NONE if isinstance(one, Empty) else self._writer.node(one) for one in nodes]


def _part(node: Node) -> str | None:
    return part_name(node.mark) if isinstance(node, Marked) else None


def _without_parameters(node: Node) -> Node:
    match node:
        case BlockUse(block=block) if block != ON:
            return BlockUse(block)
        case Marked(mark=mark, node=inner):
            return Marked(mark, inner)
    return node


def _without_values(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    return tuple(
        Branches(tuple(_without_values(branch) for branch in step.branches))
        if isinstance(step, Branches)
        else BlockValue(step.block, step.params if step.block == ON else ())
        for step in steps
    )
