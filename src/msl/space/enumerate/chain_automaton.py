"""The chains of a space as the words of an automaton, so that each chain is counted, drawn and listed once.

A letter is a step: a block with its parameters, or branches side by side. A state is the set of all positions that the
letters so far can lead to (the subset construction): two alternatives that begin alike are followed together, and a
chain that the space contains twice is one word. Each position carries the traits of the steps so far, by which
requirements are evaluated at the end. Enumerations of letters label the edges; they have no letter in common.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakMethod

from msl.space.enumerate.disjoint_sets import Enumeration, Mapped, OrderedSet, Paths, Single, WorkLimit, explore
from msl.space.enumerate.node_facts import NodeFacts
from msl.space.enumerate.value_sets import Enumerations, ValuePartition
from msl.space.evaluate_conditions import Outcome
from msl.space.formulas import Facts
from msl.space.model_traits import NO_TRAITS, Abstraction, Traits
from msl.space.nodes import (
    Arrange,
    BlockUse,
    Choice,
    Empty,
    Marked,
    Node,
    Permute,
    Repeat,
    Sequence,
    Subset,
    Union,
    steps_up,
)
from msl.space.values import BlockType, Branches, Step


@dataclass(frozen=True, slots=True, eq=False)
class _Rest:
    """What is still to come: a node or a sign, then the rest of it. The end is a number. Equal rests are one object."""

    head: Any
    tail: _Rest | None


class _EndOfPart(NamedTuple):
    """The end of a part."""

    mark: str


class _EndOfBranches(NamedTuple):
    """The end of branches side by side, of which there must have been two."""


class _MustBeEmpty(NamedTuple):
    """What surrounds branches that are spread into those around them: it must have no step."""

    rest: _Rest


class _Position(NamedTuple):
    """A position of the automaton: what is to come, the traits so far, and the open parts with their outcomes so far.

    `spread` counts, up to two, the branches so far in each of the branchings that are open.
    """

    rest: _Rest
    traits: Traits
    parts: tuple[tuple[str, Outcome], ...] = ()
    spread: tuple[int, ...] = ()

    def after(self, block: BlockType | None, traits: Traits, abstraction: Abstraction) -> _Position:
        """The position after one letter, a block or (None) branches, with its traits."""
        if not self.parts and not traits:
            return self
        parts = tuple((mark, abstraction.outcome_after(mark, outcome, block)) for mark, outcome in self.parts)
        return self._replace(traits=self._with(traits, abstraction), parts=parts)

    def _with(self, traits: Traits, abstraction: Abstraction) -> Traits:
        """Blocks are also inside each part that is open."""
        found = self.traits | traits
        for mark, _ in self.parts:
            found |= abstraction.inside(mark, traits)
        return found


#: Nodes that get an automaton of their own where the number of their steps is fixed.
_ROWS = Sequence | Choice | Marked
_START, _LONE, _UNDER_WAY = range(3)  # phases of a branch: empty so far, nothing but branches so far, else


class ChainAutomaton:
    """Enumerates the chains of a space, as models or as structures, which are blocks and their order."""

    def __init__(
        self,
        abstraction: Abstraction,
        facts: Facts | None,
        limit: WorkLimit,
        steps: int | None = None,
        structures: bool = False,
        scales: bool = False,
    ) -> None:
        self._abstraction = abstraction
        self._limit = limit
        self._structures = structures
        rows = WeakMethod(self.chains_of_all)  # without a cycle, all that was enumerated is freed at once
        self._values = ValuePartition(abstraction, facts, steps, limit, rows, scales)
        self._rests: dict[Hashable, _Rest] = {}
        self._signs: dict[Hashable, Any] = {}
        self._next: dict[_Position, tuple[tuple[BlockUse | Union, _Position] | None, tuple[_Position, ...]]] = {}
        self._facts = NodeFacts()
        self._chains: dict[int, tuple[Node, dict[OrderedSet[Traits], Paths]]] = {}

    def chains(self, node: Node) -> dict[OrderedSet[Traits], Paths]:
        """The chains of a node as lists of tuples of steps, by the traits that each has in the ways to derive it."""
        for row in self._rows(node):  # those inside first, so that nesting costs no stack
            self._chains_of(row)
        return self._chains_of(node)

    def chains_of_all(self, nodes: tuple[Node, ...]) -> dict[OrderedSet[tuple[int, Traits]], Paths]:
        """The chains of several nodes, by the numbers of the nodes that have each and the traits it has there."""
        start = OrderedSet(_Position(self._rest(node, self._end(i)), NO_TRAITS) for i, node in enumerate(nodes))
        return explore((_UNDER_WAY, start), self._step, self._limit)

    def _chains_of(self, node: Node) -> dict[OrderedSet[Traits], Paths]:
        if id(node) not in self._chains:
            start = OrderedSet((_Position(self._rest(node, self._end(0)), NO_TRAITS),))
            finals = explore((_UNDER_WAY, start), self._step, self._limit)
            by_traits: dict[OrderedSet[Traits], Paths] = {}
            for signature, paths in finals.items():
                by_traits[OrderedSet(traits for _, traits in signature)] = paths
            self._chains[id(node)] = node, by_traits
        return self._chains[id(node)][1]

    def _rows(self, node: Node) -> Iterator[Node]:
        return (inner for inner in steps_up(node) if isinstance(inner, _ROWS) and self._facts.length(inner))

    # --- one step of the automaton ---

    def _step(self, state: tuple[int, OrderedSet[_Position]]) -> tuple[Any, Iterable[tuple[Enumeration, Any]]]:
        phase, positions = state
        if phase == _UNDER_WAY and (row := self._common_row(positions)) is not None:
            return None, self._past_row(row, positions)
        ends, letters = self._expand(positions)
        signature = (
            OrderedSet((position.rest.head, position.traits) for position in ends)
            if ends and phase == _UNDER_WAY
            else None
        )
        return signature, self._moves(phase, letters)

    def _moves(
        self, phase: int, letters: list[tuple[BlockUse | Union, _Position]]
    ) -> Iterator[tuple[Enumeration, Any]]:
        alike: dict[Hashable, dict[int, tuple[BlockUse | Union, list[_Position]]]] = defaultdict(dict)
        for letter, position in letters:
            kind = letter.block if isinstance(letter, BlockUse) else Union
            alike[kind].setdefault(id(letter), (letter, []))[1].append(position)
        for same, group in alike.items():
            nodes, positions = self._told_apart(group.values())
            phase_after = _LONE if same is Union and phase == _START else _UNDER_WAY
            for seen, piece in self._letters(nodes).items():
                after: list[_Position] = []
                for number, traits in seen:
                    node = nodes[number]
                    block = node.block if isinstance(node, BlockUse) else None
                    self._limit.spend(len(positions[number]))
                    after.extend(position.after(block, traits, self._abstraction) for position in positions[number])
                yield Mapped(piece, _one_step), (phase_after, OrderedSet(after))

    def _told_apart(
        self, group: Collection[tuple[BlockUse | Union, list[_Position]]]
    ) -> tuple[tuple[BlockUse | Union, ...], list[list[_Position]]]:
        """Letters with the positions after each; those written alike, as in two uses of `any selector`, as one."""
        if len(group) == 1:
            ((letter, positions),) = group
            return (letter,), [positions]
        alike: dict[int, tuple[BlockUse | Union, list[_Position]]] = {}
        for letter, positions in group:
            alike.setdefault(self._facts.number(letter), (letter, []))[1].extend(positions)
        return tuple(letter for letter, _ in alike.values()), [positions for _, positions in alike.values()]

    def _letters(self, nodes: tuple[Any, ...]) -> dict[OrderedSet[tuple[int, Traits]], Enumeration]:
        if isinstance(nodes[0], Union):
            return self._branches(nodes)
        pieces: Enumerations = self._values.blocks(nodes)
        if self._structures:
            both = OrderedSet((view.of, view.traits) for views in pieces for view in views)
            return {both: Single(nodes[0].block)} if both else {}  # a block without values is in no structure
        return {OrderedSet((view.of, view.traits) for view in views): piece for views, piece in pieces.items()}

    # --- a row of fixed length that all positions have next is one letter ---

    def _common_row(self, positions: OrderedSet[_Position]) -> Node | None:
        """What all positions have next, if its number of steps is fixed: it then gets an automaton of its own."""
        rests = {position.rest for position in positions}
        if len(rests) > 1 or any(position.parts for position in positions):
            return None
        (rest,) = rests
        if rest.tail is None or rest.tail.tail is None or not isinstance(rest.head, _ROWS):
            return None
        return rest.head if self._facts.length(rest.head) else None

    def _past_row(self, row: Node, positions: OrderedSet[_Position]) -> Iterator[tuple[Enumeration, Any]]:
        for seen, paths in self._chains_of(row).items():
            after = OrderedSet(
                position._replace(rest=position.rest.tail, traits=position.traits | traits)  # type: ignore[arg-type]  # not the end
                for position in positions
                for traits in seen
            )
            yield Mapped(paths, one_row), (_UNDER_WAY, after)

    # --- moves without a letter ---

    def _expand(
        self, positions: Iterable[_Position]
    ) -> tuple[list[_Position], list[tuple[BlockUse | Union, _Position]]]:
        """The positions that are at an end, and the letters that can come next with the position after each."""
        ends: list[_Position] = []
        letters: list[tuple[BlockUse | Union, _Position]] = []
        waiting, met = list(positions)[::-1], set(positions)
        while waiting:
            position = waiting.pop()
            head, tail = position.rest.head, position.rest.tail
            if tail is None:
                ends.append(position)
                continue
            if position not in self._next:
                self._limit.spend()
                onward = tuple(self._onward(head, tail, position))
                letter = (head, position._replace(rest=tail)) if isinstance(head, BlockUse | Union) else None
                self._next[position] = letter, onward
            letter, onward = self._next[position]
            if letter is not None:
                letters.append(letter)
            waiting.extend(_unmet(onward, met))
        return ends, letters

    def _onward(self, head: Any, tail: _Rest, position: _Position) -> Iterator[_Position]:
        match head:
            case Empty():
                yield position._replace(rest=tail)
            case Choice(options=options):
                yield from (position._replace(rest=self._rest(option, tail)) for option in options)
            case Sequence(steps=steps):
                for step in reversed(steps):
                    tail = self._rest(step, tail)
                yield position._replace(rest=tail)
            case Subset(members=members):
                for member in reversed(members):
                    tail = self._rest(self._optional(member), tail)
                yield position._replace(rest=tail)
            case Marked(mark=mark, node=inner, params=params) if params:
                seen = position.traits | self._abstraction.setting_traits(head)
                yield position._replace(rest=self._rest(self._plain_part(mark, inner), tail), traits=seen)
            case Marked(mark=mark, node=inner) if self._abstraction.observes_part(mark):
                rest = self._rest(inner, self._rest(self._sign(_EndOfPart(mark)), tail))
                yield position._replace(rest=rest, parts=(*position.parts, (mark, None)))
            case Marked(node=inner):
                yield position._replace(rest=self._rest(inner, tail))
            case _EndOfPart(mark=mark):
                outcome = self._abstraction.part_traits(mark, position.parts[-1][1])
                yield position._replace(rest=tail, traits=position.traits | outcome, parts=position.parts[:-1])
            case Permute(members=members):
                yield from self._placed(len(members), len(members), members, tail, position)
            case Arrange(low=low, high=high, members=members):
                yield from self._placed(low, high, members, tail, position)
            case Repeat(low=low, high=high, member=member):
                if low <= 0:
                    yield position._replace(rest=tail)
                if high > 0:
                    again = self._again(Repeat, low - 1, high - 1, member)
                    yield position._replace(rest=self._rest(member, self._rest(again, tail)))
            case Union(branches=branches):
                yield from self._collapsed(branches, tail, position)

    def _placed(
        self, low: int, high: int, members: tuple[Node, ...], tail: _Rest, position: _Position
    ) -> Iterator[_Position]:
        if low <= 0:
            yield position._replace(rest=tail)
        if high > 0:
            for i, member in enumerate(members):
                others = self._again(Arrange, low - 1, high - 1, members[:i] + members[i + 1 :])
                yield position._replace(rest=self._rest(member, self._rest(others, tail)))

    def _collapsed(self, branches: tuple[Node, ...], tail: _Rest, position: _Position) -> Iterator[_Position]:
        """Branches of which at most one has steps: its steps stand in the row, as if there were no branches."""
        empty = [self._empty_traits(branch) for branch in branches]
        for i, branch in enumerate(branches):
            traits = [position.traits]
            for found in empty[:i] + empty[i + 1 :]:
                traits = [one | other for one in traits for other in found]
            yield from (position._replace(rest=self._rest(branch, tail), traits=seen) for seen in dict.fromkeys(traits))

    def _empty_traits(self, node: Node) -> OrderedSet[Traits]:
        """The traits of each way in which a node has no step."""
        ends, _ = self._expand([_Position(self._rest(node, self._end(0)), NO_TRAITS)])
        return OrderedSet(position.traits for position in ends)

    # --- branches side by side: a word whose letters are chains ---

    def _branches(self, unions: tuple[Union, ...]) -> dict[OrderedSet[tuple[int, Traits]], Enumeration]:
        """Two or more branches that have steps; a branch that is nothing but branches is spread into its own."""
        start = OrderedSet(
            _Position(self._row_of(union, self._end(i)), NO_TRAITS, (), (0,)) for i, union in enumerate(unions)
        )
        finals = explore(start, self._branch_step, self._limit)
        return {
            OrderedSet((position.rest.head, position.traits) for position in ends): Mapped(paths, _side_by_side)
            for ends, paths in finals.items()
        }

    def _row_of(self, union: Union, tail: _Rest) -> _Rest:
        rest = self._rest(self._sign(_EndOfBranches()), tail)
        for branch in reversed(union.branches):
            rest = self._rest(branch, rest)
        return rest

    def _branch_step(self, positions: OrderedSet[_Position]) -> tuple[Any, Iterable[tuple[Enumeration, Any]]]:
        ends, branches = self._expand_branches(positions)
        return OrderedSet(ends) if ends else None, self._branch_moves(branches)

    def _branch_moves(self, branches: list[tuple[Node, _Position]]) -> Iterator[tuple[Enumeration, Any]]:
        start = OrderedSet(
            _Position(self._rest(branch, self._end(i)), NO_TRAITS) for i, (branch, _) in enumerate(branches)
        )
        if not start:
            return
        for signature, paths in explore((_START, start), self._step, self._limit).items():
            after = []
            for i, traits in signature:
                position = branches[i][1].after(None, traits, self._abstraction)
                after.append(position._replace(spread=tuple(min(count + 1, 2) for count in position.spread)))
            yield Mapped(paths, one_row), OrderedSet(after)

    def _expand_branches(self, positions: Iterable[_Position]) -> tuple[list[_Position], list[tuple[Node, _Position]]]:
        """The positions that are at an end, and the branches that can come next with the position after each."""
        ends: list[_Position] = []
        branches: list[tuple[Node, _Position]] = []
        waiting, met = list(positions)[::-1], set(positions)
        while waiting:
            position = waiting.pop()
            head, tail = position.rest.head, position.rest.tail
            if tail is None:
                ends.append(position)
                continue
            if not isinstance(head, _EndOfBranches | _MustBeEmpty):
                branches.append((head, position._replace(rest=tail)))
            waiting.extend(_unmet(self._onward_branches(head, tail, position), met))
        return ends, branches

    def _onward_branches(self, head: Any, tail: _Rest, position: _Position) -> Iterator[_Position]:
        if isinstance(head, _EndOfBranches):
            if position.spread[-1] == 2:
                yield position._replace(rest=tail, spread=position.spread[:-1])
            return
        around = head.rest if isinstance(head, _MustBeEmpty) else self._rest(head, self._end(0))
        ends, letters = self._expand([position._replace(rest=around, spread=())])
        for end in ends:
            yield end._replace(rest=tail, spread=position.spread)
        if isinstance(head, _MustBeEmpty):
            return
        for letter, after in letters:
            if isinstance(letter, Union):
                rest = self._row_of(letter, self._rest(self._sign(_MustBeEmpty(after.rest)), tail))
                parts = tuple((mark, False) for mark, _ in after.parts)
                yield after._replace(rest=rest, parts=parts, spread=(*position.spread, 0))

    # --- one object for each rest and each sign ---

    def _end(self, number: int) -> _Rest:
        return self._rests.setdefault(number, _Rest(number, None))

    def _rest(self, head: Any, tail: _Rest) -> _Rest:
        key = id(head), id(tail)
        if key not in self._rests:
            self._rests[key] = _Rest(head, tail)
        return self._rests[key]

    def _sign(self, sign: Any) -> Any:
        return self._signs.setdefault((type(sign), sign), sign)

    def _plain_part(self, mark: str, inner: Node) -> Node:
        """A part without its parameters, once their values are seen."""
        key = "part", mark, id(inner)
        if key not in self._signs:
            self._signs[key] = Marked(mark, inner)
        return self._signs[key]  # type: ignore[no-any-return]

    def _optional(self, member: Node) -> Node:
        key = "optional", id(member)
        if key not in self._signs:
            self._signs[key] = Choice((member, Empty()))
        return self._signs[key]  # type: ignore[no-any-return]

    def _again(self, kind: Any, low: int, high: int, members: Any) -> Node:
        """What is left of a repetition or an arrangement after one member."""
        ids = tuple(map(id, members)) if isinstance(members, tuple) else id(members)
        key = kind, max(low, 0), high, ids
        if key not in self._signs:
            self._signs[key] = kind(max(low, 0), high, members)
        return self._signs[key]  # type: ignore[no-any-return]


def _unmet(positions: Iterable[_Position], met: set[_Position]) -> list[_Position]:
    """Those that were not met before, the first last, since the last is taken first."""
    found = [position for position in dict.fromkeys(positions) if position not in met]
    met.update(found)
    return found[::-1]


def _one_step(letter: Step) -> tuple[Step, ...]:
    return (letter,)


def one_row(letters: list[tuple[Step, ...]]) -> tuple[Step, ...]:
    """The steps of all letters, one after the other."""
    return tuple(step for letter in letters for step in letter)


def _side_by_side(branches: list[tuple[Step, ...]]) -> Branches:
    return Branches(tuple(branches))
