"""Test whether a model is in a space: how the space derives it (options, orders, values), or why it cannot.

The answer is a tree of plain data that follows the nodes of the space:

| node | what the tree holds |
| --- | --- |
| number, yes or no, vector, regions | the value |
| fixed value, no step | None |
| block or alternative | a tree for each parameter, `ABSENT` where the parameter does not exist |
| list, sequence, branches | a tree for each element, step, branch |
| choice | the number of the option, and its tree |
| subset | a tree for each member, `ABSENT` where it is left out |
| permute, arrange | the members' numbers in their order, and a tree for each of them by its number |
| repeat | a tree for each time |
| pipeline as a value | the tree inside |
| part | the tree inside; with parameters, a value for each of them, and the tree inside |

All derivations are followed side by side, and those with the same traits are merged, so that the work does not grow
with their number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from msl.space.conditions import Requirement
from msl.space.evaluate_conditions import Outcome, joined_outcome
from msl.space.formulas import Facts
from msl.space.membership_of_values import ABSENT, Mismatch, ValueReader
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
)
from msl.space.part_parameters import Setting, awaits, fixed, put_in, settings, variable
from msl.space.spec import Space
from msl.space.values import BlockValue, Branches, Model, PipelineValue, Step, steps_of_value

Tree = Any
Word = tuple[Step, ...]
_EMPTY_WORD: Final[Word] = ()


class NotInSpace(ValueError):
    """A model that is not in the space: why, and the requirement that it breaks if that is the reason."""

    def __init__(self, reason: str, requirement: Requirement | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.requirement = requirement


def requirement_broken(requirement: Requirement) -> NotInSpace:
    """A point of the space's structure that one of its requirements rejects."""
    return NotInSpace(f"it breaks the requirement `{requirement.text or 'without text'}`", requirement)


class Membership:
    """Tests models for membership in one space, and finds their derivations."""

    def __init__(self, space: Space, abstraction: Abstraction | None = None) -> None:
        self._space = space
        self._abstraction = Abstraction(space.requirements, space.facts) if abstraction is None else abstraction
        self._settings = _Settings(self._abstraction)

    def derive(self, model: Model) -> Tree:
        """The tree of a model that meets all requirements; raises NotInSpace with the reason if there is none.

        Ranges may overlap and round differently: a derivation that takes every number as it is is preferred to one that
        rounds, or that takes a whole number for a real.
        """
        try:
            return self._derive(model, rounds=False)
        except NotInSpace as reason:
            if reason.requirement is not None:
                raise
            return self._derive(model, rounds=True)

    def _derive(self, model: Model, rounds: bool) -> Tree:
        reading = _Reading(self._abstraction, self._space.facts, rounds, model, self._settings)
        read = reading.steps(self._space.root, model.steps, 0)
        ways = [way for way in read if way.end == len(model.steps)]
        if not ways:
            raise NotInSpace(reading.mismatch(model, max((way.end for way in read), default=-1)))
        verdicts = [self._abstraction.first_broken(way.traits) for way in ways]
        if None not in verdicts:
            assert verdicts[0] is not None
            raise requirement_broken(verdicts[0])
        return ways[verdicts.index(None)].tree


class _Settings:
    """Parts with their parameters fixed, made when they are first read; kept, so that no other node gets their ids."""

    def __init__(self, abstraction: Abstraction) -> None:
        self._abstraction = abstraction
        self._found: dict[int, tuple[Marked, list[tuple[Setting, Marked, Traits]]]] = {}

    def of(self, part: Marked) -> list[tuple[Setting, Marked, Traits]]:
        """Each combination of values, the part at it, and what requirements see of the values."""
        if id(part) not in self._found:
            self._found[id(part)] = part, [] if awaits(part) else [self._at(part, one) for one in settings(part)]
        return self._found[id(part)][1]

    def _at(self, part: Marked, setting: Setting) -> tuple[Setting, Marked, Traits]:
        names = [variable(part.mark, param.name) for param in part.params]
        steps = put_in(part.node, dict(zip(names, setting, strict=True)))
        traits = self._abstraction.setting_traits(replace(part, params=fixed(part, setting)))
        return setting, Marked(part.mark, steps), traits


class _Match(NamedTuple):
    """A node matched from some place of a word up to `end`; `outcome` is that of a part around it."""

    end: int
    outcome: Outcome
    traits: Traits
    tree: Tree


def _merged(ways: Iterable[_Match]) -> list[_Match]:
    """The first of those that end at the same place with the same outcome and traits."""
    found: dict[Any, _Match] = {}
    for way in ways:
        found.setdefault(way[:3], way)
    return list(found.values())


class _Reading:
    """One model being read. Words are told apart by identity, so each is kept as long as the reading."""

    def __init__(
        self, abstraction: Abstraction, facts: Facts | None, rounds: bool, model: Model, settings: _Settings
    ) -> None:
        self._abstraction = abstraction
        self._settings = settings
        self._values = ValueReader(abstraction, facts, rounds, self._pipeline)
        self._words: dict[int, Word] = {}
        self._top = model.steps
        self._place = 0
        self._done: dict[tuple[int, int, int], list[_Match]] = {}
        self._runs: dict[tuple[int, int, int], Word] = {}
        self._wanted: dict[int, dict[str, None]] = {}
        self._mismatch: tuple[int, int, str] | None = None

    def steps(self, node: Node, word: Word, start: int) -> list[_Match]:
        """All ways to read a node from this place on, as far as they differ."""
        key = id(node), id(word), start
        if key not in self._done:
            if word is self._top:
                self._place = start
            self._done[key] = _merged(self._read(node, word, start))
        return self._done[key]

    def _read(self, node: Node, word: Word, start: int) -> Iterator[_Match]:
        match node:
            case Empty():
                yield _Match(start, None, NO_TRAITS, None)
            case BlockUse():
                yield from self._block(node, word, start)
            case Choice(options=options):
                for number, option in enumerate(options):
                    yield from (way._replace(tree=(number, way.tree)) for way in self.steps(option, word, start))
            case Sequence(steps=steps):
                yield from self._row([[step] for step in steps], word, start)
            case Subset(members=members):
                yield from self._row([[member, None] for member in members], word, start)
            case Repeat(low=low, high=high, member=member):
                yield from self._repeated(low, high, member, word, start)
            case Permute(members=members):
                yield from self._placed(len(members), len(members), members, word, start)
            case Arrange(low=low, high=high, members=members):
                yield from self._placed(low, high, members, word, start)
            case Marked(params=params) if params:
                yield from self._set(node, word, start)
            case Marked(mark=mark, node=inner):
                ways = self.steps(inner, word, start)
                if self._abstraction.observes_part(mark):
                    ways = [way._replace(traits=way.traits | self._inside(mark, way)) for way in ways]
                yield from ways
            case Union(branches=branches):
                if start < len(word) and isinstance(step := word[start], Branches):
                    yield from self._side_by_side(branches, step.branches, start + 1)
                yield from self._collapsed(branches, word, start)
            case _:
                raise TypeError(f"{type(node).__name__} is a value, not a step")

    def _pipeline(self, node: Node, value: BlockValue | PipelineValue) -> Iterator[tuple[Outcome, Traits, Tree]]:
        """All ways to read a value as a whole row of steps."""
        word = self._words.setdefault(id(value), steps_of_value(value))
        for way in self.steps(node, word, 0):
            if way.end == len(word):
                yield way.outcome, way.traits, way.tree

    def _set(self, part: Marked, word: Word, start: int) -> Iterator[_Match]:
        """A part with parameters, at each combination of their values."""
        for setting, at_setting, traits in self._settings.of(part):
            for way in self.steps(at_setting, word, start):
                yield way._replace(traits=way.traits | traits, tree=(setting, way.tree))

    def _inside(self, mark: str, way: _Match) -> Traits:
        outcome = self._abstraction.outcome(mark, way.outcome)
        return self._abstraction.inside(mark, way.traits) | self._abstraction.part_traits(mark, outcome)

    # --- blocks ---

    def _block(self, use: BlockUse, word: Word, start: int) -> Iterator[_Match]:
        self._wanted.setdefault(self._at(word, start), {})[use.block.name] = None
        if start == len(word):
            return
        step = word[start]
        if not isinstance(step, BlockValue) or step.block != use.block:
            return
        try:
            readings = self._values.read(use, step)
        except Mismatch as mismatch:
            self._note(self._at(word, start), mismatch)
            return
        for reading in readings:
            yield _Match(start + 1, use.block.key, reading.traits, reading.tree)

    def _at(self, word: Word, start: int) -> int:
        return start if word is self._top else self._place

    def _note(self, place: int, mismatch: Mismatch) -> None:
        if self._mismatch is None or (place, mismatch.depth) > self._mismatch[:2]:
            self._mismatch = place, mismatch.depth, str(mismatch)

    def mismatch(self, model: Model, end: int) -> str:
        """The best reason why no way was found: the one that came farthest. `end` is where the space could end."""
        farthest = max(self._wanted, default=-1)
        if farthest < end < len(model.steps):
            return f"step {end + 1} is {_shown(model.steps[end])}, and the space ends before it"
        if self._mismatch is not None and self._mismatch[0] >= farthest:
            return self._mismatch[2]
        wanted = ", ".join(f"`{name}`" for name in self._wanted.get(farthest, ())) or "nothing"
        if max(farthest, 0) >= len(model.steps):
            return f"the model ends after {len(model.steps)} steps, and the space goes on with {wanted}"
        return f"step {farthest + 1} is {_shown(model.steps[farthest])}, and the space has {wanted} there"

    # --- rows ---

    def _row(self, slots: list[list[Node | None]], word: Word, start: int) -> Iterator[_Match]:
        """One slot after the other; None among what a slot may hold leaves it out."""
        ways = [_Match(start, None, NO_TRAITS, ())]
        for slot in slots:
            ways = _merged(onward for way in ways for node in slot for onward in self._one_more(way, node, word))
        for way in ways:
            yield way._replace(tree=_row_of(way.tree))

    def _one_more(self, way: _Match, node: Node | None, word: Word) -> Iterator[_Match]:
        if node is None:
            yield way._replace(tree=(way.tree, ABSENT))
            return
        for next_ in self.steps(node, word, way.end):
            outcome = joined_outcome(way.outcome, next_.outcome)
            yield _Match(next_.end, outcome, way.traits | next_.traits, (way.tree, next_.tree))

    def _repeated(self, low: int, high: int, member: Node, word: Word, start: int) -> Iterator[_Match]:
        ways = [_Match(start, None, NO_TRAITS, ())]
        for times in range(high + 1):
            if times >= low:
                for way in ways:
                    yield way._replace(tree=_row_of(way.tree))
            ways = _merged(onward for way in ways for onward in self._one_more(way, member, word))
            if not ways:
                return

    # --- any order ---

    def _placed(self, low: int, high: int, members: tuple[Node, ...], word: Word, start: int) -> Iterator[_Match]:
        """Members with steps are placed one after the other; those without steps have no place of their own."""
        states = {(frozenset[int](), start, None, NO_TRAITS): _Placed((), {})}
        while states:
            following: dict[Any, _Placed] = {}
            for (used, end, outcome, traits), placed in states.items():
                yield from self._filled_up(low, high, members, word, _Match(end, outcome, traits, placed))
                if len(used) == high:
                    continue
                for number in sorted(set(range(len(members))) - used):
                    for way in self.steps(members[number], word, end):
                        if way.end > end:
                            key = used | {number}, way.end, joined_outcome(outcome, way.outcome), traits | way.traits
                            following.setdefault(key, placed.with_(number, way.tree))
            states = following

    def _filled_up(self, low: int, high: int, members: tuple[Node, ...], word: Word, way: _Match) -> Iterator[_Match]:
        """With as many members without steps as are still wanted."""
        placed: _Placed = way.tree
        fillings: dict[tuple[int, Traits], _Placed] = {(len(placed.order), way.traits): placed}
        for number, member in enumerate(members):
            if number in placed.trees:
                continue
            more: dict[tuple[int, Traits], _Placed] = {}
            for (count, traits), filling in fillings.items():
                if count + len(members) - number > low:
                    more.setdefault((count, traits), filling)
                if count < high:
                    for empty in self.steps(member, word, way.end):
                        if empty.end == way.end:
                            more.setdefault((count + 1, traits | empty.traits), filling.with_empty(number, empty.tree))
            fillings = more
        for (count, traits), filling in fillings.items():
            if low <= count <= high:
                yield _Match(way.end, way.outcome, traits, (filling.order, filling.trees))

    # --- branches ---

    def _collapsed(self, branches: tuple[Node, ...], word: Word, start: int) -> Iterator[_Match]:
        """Branches of which at most one has steps."""
        empty = [[way for way in self.steps(branch, word, start) if way.end == start] for branch in branches]
        for number, branch in enumerate(branches):
            ways = [_Match(start, None, NO_TRAITS, ())]
            for other in range(len(branches)):
                found = self.steps(branch, word, start) if other == number else empty[other]
                ways = _merged(
                    _Match(
                        max(way.end, more.end),
                        joined_outcome(way.outcome, more.outcome),
                        way.traits | more.traits,
                        (way.tree, more.tree),
                    )
                    for way in ways
                    for more in found
                )
            for way in ways:
                yield way._replace(tree=_row_of(way.tree))

    def _side_by_side(self, nodes: tuple[Node, ...], branches: tuple[Word, ...], end: int) -> Iterator[_Match]:
        """Two nodes or more with steps; one that is nothing but branches takes several."""
        states: dict[tuple[int, int, Traits], Tree] = {(0, 0, NO_TRAITS): ()}
        for node in nodes:
            following: dict[tuple[int, int, Traits], Tree] = {}
            for (place, count, traits), tree in states.items():
                for after, way in self._one_branch(node, branches, place):
                    key = after, min(count + (after > place), 2), traits | way.traits
                    following.setdefault(key, (tree, way.tree))
            states = following
        for (place, count, traits), tree in states.items():
            if place == len(branches) and count == 2:
                yield _Match(end, False, traits, _row_of(tree))

    def _one_branch(self, node: Node, branches: tuple[Word, ...], place: int) -> Iterator[tuple[int, _Match]]:
        for way in self.steps(node, _EMPTY_WORD, 0):
            yield place, way
        if place < len(branches):
            word = branches[place]
            yield from ((place + 1, way) for way in self.steps(node, word, 0) if way.end == len(word))
        for after in range(place + 2, len(branches) + 1):
            if after - place < len(branches):
                run = self._run(branches, place, after)
                yield from ((after, way) for way in self.steps(node, run, 0) if way.end == 1)

    def _run(self, branches: tuple[Word, ...], start: int, end: int) -> Word:
        return self._runs.setdefault((id(branches), start, end), (Branches(branches[start:end]),))


def _shown(step: Step) -> str:
    return f"`{step.block.name}`" if isinstance(step, BlockValue) else "branches"


class _Placed(NamedTuple):
    """Members placed so far: their order, and their trees."""

    order: tuple[int, ...]
    trees: dict[int, Tree]

    def with_(self, number: int, tree: Tree) -> _Placed:
        return _Placed((*self.order, number), {**self.trees, number: tree})

    def with_empty(self, number: int, tree: Tree) -> _Placed:
        """A member without steps stands before the first with a higher number: the lowest of equal orders."""
        place = next((i for i, other in enumerate(self.order) if other > number), len(self.order))
        return _Placed((*self.order[:place], number, *self.order[place:]), {**self.trees, number: tree})


def _row_of(nested: Any) -> tuple[Tree, ...]:
    """((((), a), b), c) as (a, b, c): rows grow by one link a step, and are written out once."""
    row = []
    while nested != ():
        nested, last = nested
        row.append(last)
    row.reverse()
    return tuple(row)
