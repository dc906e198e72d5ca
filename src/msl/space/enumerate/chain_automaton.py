"""Cells of words: the chains of a space as the words of an automaton, cut so that no chain is in two cells.

A letter is a step: a block with its parameters, or branches side by side. A state is the set of all ways to go on (the
subset construction), so two alternatives that begin alike are followed together, and a chain that can be come by in
two ways is counted once. Each way carries what requirements have seen so far.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from msl.space.abstraction import NO_TRAITS, Abstraction, Traits
from msl.space.enumerate.disjoint_sets import Allowance, Cell, Made, Single, Together, Trail, explore
from msl.space.enumerate.value_sets import Cells, ValueCutter
from msl.space.formulas import Facts
from msl.space.logic import Outcome
from msl.space.nodes import (
    Arrange,
    BlockUse,
    Choice,
    Empty,
    Listing,
    Marked,
    Node,
    Permute,
    Repeat,
    Sequence,
    Subset,
    Symbol,
    Union,
    bottom_up,
    children,
    steps_up,
)
from msl.space.values import BlockType, Branches, Step


@dataclass(frozen=True, slots=True, eq=False)
class _Rest:
    """What is still to come: a node or a sign, and then the rest; the end is a number. Equal rests are one object."""

    head: Any
    tail: _Rest | None


class _Close(NamedTuple):
    """The end of a part."""

    mark: str


class _EndOfBranches(NamedTuple):
    """The end of branches side by side, of which there must have been two."""


class _Nothing(NamedTuple):
    """What stands around branches that are spread: it must come to no step."""

    rest: _Rest


class _Way(NamedTuple):
    """One way to go on: what is to come, what was seen, the parts under way with what they came to so far.

    `spread` counts, up to two, the branches so far in each of the branchings that are under way.
    """

    rest: _Rest
    traits: Traits
    parts: tuple[tuple[str, Outcome], ...] = ()
    spread: tuple[int, ...] = ()

    def after(self, block: BlockType | None, traits: Traits, abstraction: Abstraction) -> _Way:
        """Past one letter, which is a block or (None) branches, and of which this was seen."""
        if not self.parts and not traits:
            return self
        parts = tuple((mark, abstraction.outcome_after(mark, outcome, block)) for mark, outcome in self.parts)
        return self._replace(traits=self._with(traits, abstraction), parts=parts)

    def _with(self, traits: Traits, abstraction: Abstraction) -> Traits:
        """Blocks are also seen inside each part that is under way."""
        found = self.traits | traits
        for mark, _ in self.parts:
            found |= abstraction.inside(mark, traits)
        return found


#: Nodes that are cut alone where they always come to as many steps.
_ROWS = Sequence | Choice | Marked
_START, _LONE, _UNDER_WAY = range(3)  # phases of a branch: empty so far, nothing but branches so far, else


class WordCutter:
    """Cuts the chains of a space; as models, or as structures, which are blocks and their order."""

    def __init__(
        self,
        abstraction: Abstraction,
        facts: Facts | None,
        allowance: Allowance,
        steps: int | None = None,
        structures: bool = False,
        scales: bool = False,
    ) -> None:
        self._abstraction = abstraction
        self._allowance = allowance
        self._structures = structures
        self._values = ValueCutter(abstraction, facts, steps, allowance, scales)
        self._rests: dict[Hashable, _Rest] = {}
        self._signs: dict[Hashable, Any] = {}
        self._next: dict[_Way, tuple[tuple[BlockUse | Union, _Way] | None, tuple[_Way, ...]]] = {}
        self._numbers: dict[int, tuple[Node, int]] = {}
        self._by_content: dict[Hashable, int] = {}
        self._words: dict[int, tuple[Node, dict[Together[Traits], Trail]]] = {}
        self._lengths: dict[int, tuple[Node, int | None]] = {}

    def words(self, node: Node) -> dict[Together[Traits], Trail]:
        """The chains of a node as lists of tuples of steps, by what is seen of each in the ways to come by it."""
        for row in self._rows(node):  # those inside first, so that nesting costs no stack
            self._words_of(row)
        return self._words_of(node)

    def words_of_all(self, nodes: tuple[Node, ...]) -> dict[Together[tuple[int, Traits]], Trail]:
        """The chains that any of some nodes has, by the numbers of those that have it and what each sees of it."""
        start = Together(_Way(self._rest(node, self._end(i)), NO_TRAITS) for i, node in enumerate(nodes))
        return explore((_UNDER_WAY, start), self._step, self._allowance)

    def _words_of(self, node: Node) -> dict[Together[Traits], Trail]:
        if id(node) not in self._words:
            start = Together((_Way(self._rest(node, self._end(0)), NO_TRAITS),))
            finals = explore((_UNDER_WAY, start), self._step, self._allowance)
            by_traits: dict[Together[Traits], Trail] = {}
            for signature, trail in finals.items():
                by_traits[Together(traits for _, traits in signature)] = trail
            self._words[id(node)] = node, by_traits
        return self._words[id(node)][1]

    def _rows(self, node: Node) -> Iterator[Node]:
        return (inner for inner in steps_up(node) if isinstance(inner, _ROWS) and self._length(inner))

    # --- one step of the automaton ---

    def _step(self, state: tuple[int, Together[_Way]]) -> tuple[Any, Iterable[tuple[Cell, Any]]]:
        phase, ways = state
        if phase == _UNDER_WAY and (row := self._common_row(ways)) is not None:
            return None, self._past_row(row, ways)
        ends, letters = self._expand(ways)
        signature = Together((way.rest.head, way.traits) for way in ends) if ends and phase == _UNDER_WAY else None
        return signature, self._moves(phase, letters)

    def _moves(self, phase: int, letters: list[tuple[BlockUse | Union, _Way]]) -> Iterator[tuple[Cell, Any]]:
        alike: dict[Hashable, dict[int, tuple[BlockUse | Union, list[_Way]]]] = defaultdict(dict)
        for letter, way in letters:
            kind = letter.block if isinstance(letter, BlockUse) else Union
            alike[kind].setdefault(id(letter), (letter, []))[1].append(way)
        for same, group in alike.items():
            nodes, ways = self._told_apart(group.values())
            phase_after = _LONE if same is Union and phase == _START else _UNDER_WAY
            for seen, cell in self._letters(nodes).items():
                after: list[_Way] = []
                for number, traits in seen:
                    node = nodes[number]
                    block = node.block if isinstance(node, BlockUse) else None
                    self._allowance.spend(len(ways[number]))
                    after.extend(way.after(block, traits, self._abstraction) for way in ways[number])
                yield Made(cell, _one_step), (phase_after, Together(after))

    def _told_apart(
        self, group: Collection[tuple[BlockUse | Union, list[_Way]]]
    ) -> tuple[tuple[BlockUse | Union, ...], list[list[_Way]]]:
        """Letters with the ways after each; those that are written alike, as in two uses of `any selector`, as one."""
        if len(group) == 1:
            ((letter, ways),) = group
            return (letter,), [ways]
        alike: dict[int, tuple[BlockUse | Union, list[_Way]]] = {}
        for letter, ways in group:
            alike.setdefault(self._number(letter), (letter, []))[1].extend(ways)
        return tuple(letter for letter, _ in alike.values()), [ways for _, ways in alike.values()]

    def _number(self, letter: Node) -> int:
        """The same for letters that are written alike; a piece that they share many times over is looked at once."""
        if id(letter) not in self._numbers:
            for node in bottom_up(letter):
                if id(node) not in self._numbers:
                    content = _own_words(node), *(self._numbers[id(child)][1] for child in children(node))
                    self._numbers[id(node)] = node, self._by_content.setdefault(content, len(self._by_content))
        return self._numbers[id(letter)][1]

    def _letters(self, nodes: tuple[Any, ...]) -> dict[Together[tuple[int, Traits]], Cell]:
        if isinstance(nodes[0], Union):
            return self._branches(nodes)
        cells: Cells = self._values.blocks(nodes)
        if self._structures:
            both = Together((view.of, view.traits) for views in cells for view in views)
            return {both: Single(nodes[0].block)}
        return {Together((view.of, view.traits) for view in views): cell for views, cell in cells.items()}

    # --- a row of fixed length that all ways have next is one letter ---

    def _common_row(self, ways: Together[_Way]) -> Node | None:
        """What all ways have next, if it is always as many steps: where it ends is then plain, and it is cut alone."""
        rests = {way.rest for way in ways}
        if len(rests) > 1 or any(way.parts for way in ways):
            return None
        (rest,) = rests
        if rest.tail is None or rest.tail.tail is None or not isinstance(rest.head, _ROWS):
            return None
        return rest.head if self._length(rest.head) else None

    def _past_row(self, row: Node, ways: Together[_Way]) -> Iterator[tuple[Cell, Any]]:
        for seen, trail in self._words_of(row).items():
            after = Together(
                way._replace(rest=way.rest.tail, traits=way.traits | traits)  # type: ignore[arg-type]  # not the end
                for way in ways
                for traits in seen
            )
            yield Made(trail, _one_row), (_UNDER_WAY, after)

    def _length(self, node: Node) -> int | None:
        """How many steps a node always comes to; None if that varies."""
        if id(node) not in self._lengths:
            for inner in steps_up(node):
                if id(inner) not in self._lengths:
                    below = [] if isinstance(inner, BlockUse) else [self._lengths[id(c)][1] for c in children(inner)]
                    self._lengths[id(inner)] = inner, _length(inner, below)
        return self._lengths[id(node)][1]

    # --- all ways to go on ---

    def _expand(self, ways: Iterable[_Way]) -> tuple[list[_Way], list[tuple[BlockUse | Union, _Way]]]:
        """The ways that are at an end, and the letters that can come next with the way after each."""
        ends: list[_Way] = []
        letters: list[tuple[BlockUse | Union, _Way]] = []
        waiting, met = list(ways)[::-1], set(ways)
        while waiting:
            way = waiting.pop()
            head, tail = way.rest.head, way.rest.tail
            if tail is None:
                ends.append(way)
                continue
            if way not in self._next:
                self._allowance.spend()
                onward = tuple(self._onward(head, tail, way))
                letter = (head, way._replace(rest=tail)) if isinstance(head, BlockUse | Union) else None
                self._next[way] = letter, onward
            letter, onward = self._next[way]
            if letter is not None:
                letters.append(letter)
            waiting.extend(_unmet(onward, met))
        return ends, letters

    def _onward(self, head: Any, tail: _Rest, way: _Way) -> Iterator[_Way]:
        match head:
            case Empty():
                yield way._replace(rest=tail)
            case Choice(options=options):
                yield from (way._replace(rest=self._rest(option, tail)) for option in options)
            case Sequence(steps=steps):
                for step in reversed(steps):
                    tail = self._rest(step, tail)
                yield way._replace(rest=tail)
            case Subset(members=members):
                for member in reversed(members):
                    tail = self._rest(self._optional(member), tail)
                yield way._replace(rest=tail)
            case Marked(mark=mark, node=inner) if self._abstraction.observes_part(mark):
                rest = self._rest(inner, self._rest(self._sign(_Close(mark)), tail))
                yield way._replace(rest=rest, parts=(*way.parts, (mark, None)))
            case Marked(node=inner):
                yield way._replace(rest=self._rest(inner, tail))
            case _Close(mark=mark):
                came = self._abstraction.part_traits(mark, way.parts[-1][1])
                yield way._replace(rest=tail, traits=way.traits | came, parts=way.parts[:-1])
            case Permute(members=members):
                yield from self._placed(len(members), len(members), members, tail, way)
            case Arrange(low=low, high=high, members=members):
                yield from self._placed(low, high, members, tail, way)
            case Repeat(low=low, high=high, member=member):
                if low <= 0:
                    yield way._replace(rest=tail)
                if high > 0:
                    again = self._again(Repeat, low - 1, high - 1, member)
                    yield way._replace(rest=self._rest(member, self._rest(again, tail)))
            case Union(branches=branches):
                yield from self._collapsed(branches, tail, way)

    def _placed(self, low: int, high: int, members: tuple[Node, ...], tail: _Rest, way: _Way) -> Iterator[_Way]:
        if low <= 0:
            yield way._replace(rest=tail)
        if high > 0:
            for i, member in enumerate(members):
                others = self._again(Arrange, low - 1, high - 1, members[:i] + members[i + 1 :])
                yield way._replace(rest=self._rest(member, self._rest(others, tail)))

    def _collapsed(self, branches: tuple[Node, ...], tail: _Rest, way: _Way) -> Iterator[_Way]:
        """Branches of which at most one has steps: it stands in the row, as if there were no branches."""
        empty = [self._empty_traits(branch) for branch in branches]
        for i, branch in enumerate(branches):
            traits = [way.traits]
            for found in empty[:i] + empty[i + 1 :]:
                traits = [one | other for one in traits for other in found]
            yield from (way._replace(rest=self._rest(branch, tail), traits=seen) for seen in dict.fromkeys(traits))

    def _empty_traits(self, node: Node) -> Together[Traits]:
        """What is seen of the ways in which a node comes to no step."""
        ends, _ = self._expand([_Way(self._rest(node, self._end(0)), NO_TRAITS)])
        return Together(way.traits for way in ends)

    # --- branches side by side: a word of words ---

    def _branches(self, unions: tuple[Union, ...]) -> dict[Together[tuple[int, Traits]], Cell]:
        """Two or more branches that have steps; a branch that is nothing but branches is spread into its own."""
        start = Together(_Way(self._row_of(union, self._end(i)), NO_TRAITS, (), (0,)) for i, union in enumerate(unions))
        finals = explore(start, self._branch_step, self._allowance)
        return {
            Together((way.rest.head, way.traits) for way in ends): Made(trail, _side_by_side)
            for ends, trail in finals.items()
        }

    def _row_of(self, union: Union, tail: _Rest) -> _Rest:
        rest = self._rest(self._sign(_EndOfBranches()), tail)
        for branch in reversed(union.branches):
            rest = self._rest(branch, rest)
        return rest

    def _branch_step(self, ways: Together[_Way]) -> tuple[Any, Iterable[tuple[Cell, Any]]]:
        ends, branches = self._expand_branches(ways)
        return Together(ends) if ends else None, self._branch_moves(branches)

    def _branch_moves(self, branches: list[tuple[Node, _Way]]) -> Iterator[tuple[Cell, Any]]:
        start = Together(_Way(self._rest(branch, self._end(i)), NO_TRAITS) for i, (branch, _) in enumerate(branches))
        if not start:
            return
        for signature, trail in explore((_START, start), self._step, self._allowance).items():
            after = []
            for i, traits in signature:
                way = branches[i][1].after(None, traits, self._abstraction)
                after.append(way._replace(spread=tuple(min(count + 1, 2) for count in way.spread)))
            yield Made(trail, _one_row), Together(after)

    def _expand_branches(self, ways: Iterable[_Way]) -> tuple[list[_Way], list[tuple[Node, _Way]]]:
        """The ways that are at an end, and the branches that can come next with the way after each."""
        ends: list[_Way] = []
        branches: list[tuple[Node, _Way]] = []
        waiting, met = list(ways)[::-1], set(ways)
        while waiting:
            way = waiting.pop()
            head, tail = way.rest.head, way.rest.tail
            if tail is None:
                ends.append(way)
                continue
            if not isinstance(head, _EndOfBranches | _Nothing):
                branches.append((head, way._replace(rest=tail)))
            waiting.extend(_unmet(self._onward_branches(head, tail, way), met))
        return ends, branches

    def _onward_branches(self, head: Any, tail: _Rest, way: _Way) -> Iterator[_Way]:
        if isinstance(head, _EndOfBranches):
            if way.spread[-1] == 2:
                yield way._replace(rest=tail, spread=way.spread[:-1])
            return
        around = head.rest if isinstance(head, _Nothing) else self._rest(head, self._end(0))
        ends, letters = self._expand([way._replace(rest=around, spread=())])
        for end in ends:
            yield end._replace(rest=tail, spread=way.spread)
        if isinstance(head, _Nothing):
            return
        for letter, after in letters:
            if isinstance(letter, Union):
                rest = self._row_of(letter, self._rest(self._sign(_Nothing(after.rest)), tail))
                parts = tuple((mark, False) for mark, _ in after.parts)
                yield after._replace(rest=rest, parts=parts, spread=(*way.spread, 0))

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


def _unmet(ways: Iterable[_Way], met: set[_Way]) -> list[_Way]:
    """Those that were not met before, the first last, where it is taken up next."""
    found = [way for way in dict.fromkeys(ways) if way not in met]
    met.update(found)
    return found[::-1]


def _length(node: Node, below: list[int | None]) -> int | None:
    """How many steps a node always comes to, given that of the nodes below; None if that varies or it is a value."""
    match node:
        case BlockUse():
            return 1
        case Empty():
            return 0
        case Marked():
            return below[0]
        case Choice():
            return below[0] if len(set(below)) == 1 else None
        case Sequence() | Permute():
            return None if None in below else sum(length for length in below if length is not None)
        case Union() if len(below) > 1 and None not in below and 0 not in below:
            return 1
    return None


def _own_words(node: Node) -> str:
    """How a node reads, apart from the nodes below it."""
    match node:
        case BlockUse(block=head, params=params) | Symbol(name=head, params=params):
            return repr((type(node), head, [(param.name, param.condition) for param in params]))
        case Repeat(low=low, high=high) | Arrange(low=low, high=high):
            return repr((type(node), low, high))
        case Marked(mark=mark):
            return repr((type(node), mark))
        case Listing() | Choice() | Sequence() | Union() | Subset() | Permute():
            return repr(type(node))
    return repr(node)


def _one_step(letter: Step) -> tuple[Step, ...]:
    return (letter,)


def _one_row(letters: list[tuple[Step, ...]]) -> tuple[Step, ...]:
    return tuple(step for letter in letters for step in letter)


def _side_by_side(branches: list[tuple[Step, ...]]) -> Branches:
    return Branches(tuple(branches))
