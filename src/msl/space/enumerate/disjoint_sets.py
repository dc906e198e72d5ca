"""Enumerations: sets that can be counted, drawn from and listed, with no member twice, and without writing them out.

They are leaves (one value, a range, open intervals of reals), disjoint unions, images, powers, and `Paths`: the words
that lead to one state of an automaton, kept as its edges. An open real counts as one value; `reals` is the number of
open reals in one member. `explore` runs an automaton without cycles, state by state.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, chain, product
from random import Random
from typing import Any, Generic, Protocol, TypeVar

from msl.space.nodes import RealRange
from msl.space.numbers import between, level_count, level_value, tidy


class Enumeration(Protocol):
    """A set without duplicates. `weight` is the number of members, `reals` the most open reals in one of them."""

    @property
    def weight(self) -> int: ...
    @property
    def reals(self) -> int: ...
    def draw(self, rng: Random) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...


class OpenReal(ValueError):
    """All values of an open real were requested."""

    def __init__(self, text: str = "a real is open: say in how many steps it is to be tried") -> None:
        super().__init__(text)


@dataclass(frozen=True, slots=True)
class Single:
    """One value."""

    value: Any
    weight: int = 1
    reals: int = 0

    def draw(self, rng: Random) -> Any:
        return self.value

    def __iter__(self) -> Iterator[Any]:
        yield self.value


@dataclass(frozen=True, slots=True)
class Listed:
    """Listed values: a range, or a tuple."""

    values: range | tuple[Any, ...]
    reals: int = 0

    @property
    def weight(self) -> int:
        return len(self.values)

    def draw(self, rng: Random) -> Any:
        return self.values[rng.randrange(len(self.values))]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)


@dataclass(frozen=True, slots=True)
class Levels:
    """The values of a stepped range of reals."""

    node: RealRange
    reals: int = 0

    @property
    def weight(self) -> int:
        return level_count(self.node) or 0

    def draw(self, rng: Random) -> float:
        return level_value(self.node, rng.randrange(self.weight))

    def __iter__(self) -> Iterator[float]:
        return (level_value(self.node, level) for level in range(self.weight))


@dataclass(frozen=True, slots=True)
class RealIntervals:
    """Open reals, in one range or several that do not overlap; uniform on their scale, each as likely as it is long."""

    ranges: tuple[RealRange, ...]
    weight: int = 1
    reals: int = 1

    def draw(self, rng: Random) -> float:
        lengths = [between(node, 1.0) - between(node, 0.0) for node in self.ranges]
        node = self.ranges[0] if len(self.ranges) == 1 else rng.choices(self.ranges, lengths)[0]
        return tidy(node, between(node, rng.random()))

    def __iter__(self) -> Iterator[float]:
        raise OpenReal


@dataclass(frozen=True, slots=True)
class DisjointUnion:
    """The union of enumerations that have no member in common."""

    parts: tuple[Enumeration, ...]
    ends: tuple[int, ...]
    reals: int

    @property
    def weight(self) -> int:
        return self.ends[-1]

    def draw(self, rng: Random) -> Any:
        return self.parts[bisect_right(self.ends, rng.randrange(self.ends[-1]))].draw(rng)

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self.parts)


def disjoint_union(parts: Iterable[Enumeration]) -> Enumeration:
    """The union of one or more enumerations that have no member in common."""
    all_ = tuple(parts)
    if len(all_) == 1:
        return all_[0]
    return DisjointUnion(all_, tuple(accumulate(part.weight for part in all_)), max(part.reals for part in all_))


@dataclass(frozen=True, slots=True)
class Mapped:
    """The image of an enumeration under a function that maps no two members to the same."""

    inner: Enumeration
    make: Callable[[Any], Any]

    @property
    def weight(self) -> int:
        return self.inner.weight

    @property
    def reals(self) -> int:
        return self.inner.reals

    def draw(self, rng: Random) -> Any:
        return self.make(self.inner.draw(rng))

    def __iter__(self) -> Iterator[Any]:
        return map(self.make, self.inner)


@dataclass(frozen=True, slots=True)
class Power:
    """Tuples of `size` members, independent of each other."""

    inner: Enumeration
    size: int

    @property
    def weight(self) -> int:
        return int(self.inner.weight**self.size)

    @property
    def reals(self) -> int:
        return self.inner.reals * self.size

    def draw(self, rng: Random) -> tuple[Any, ...]:
        return tuple(self.inner.draw(rng) for _ in range(self.size))

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return product(self.inner, repeat=self.size)


@dataclass(frozen=True, slots=True)
class PointSets:
    """Points in regions: a point or None for each, and at least one point."""

    point: Enumeration
    size: int

    @property
    def weight(self) -> int:
        return int((1 + self.point.weight) ** self.size) - 1

    @property
    def reals(self) -> int:
        return self.point.reals * self.size

    def draw(self, rng: Random) -> tuple[Any, ...]:
        either = disjoint_union((Single(None), self.point))
        while True:
            units = tuple(either.draw(rng) for _ in range(self.size))
            if any(unit is not None for unit in units):
                return units

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        units = product(disjoint_union((Single(None), self.point)), repeat=self.size)
        return (unit for unit in units if any(point is not None for point in unit))


@dataclass(slots=True, eq=False)
class Paths:
    """The words that lead from the start to one state of an automaton, as lists of letters.

    The edges lead back: from which state, with which letters; None where no letter was read.
    """

    weight: int = 0
    reals: int = 0
    edges: list[tuple[Paths, Enumeration | None]] = field(default_factory=list)

    def enter(self, before: Paths, letters: Enumeration | None) -> None:
        self.edges.append((before, letters))
        self.weight += before.weight * (1 if letters is None else letters.weight)
        self.reals = max(self.reals, before.reals + (0 if letters is None else letters.reals))

    def draw(self, rng: Random) -> list[Any]:
        word, state = [], self
        while state.edges:
            lot = rng.randrange(state.weight)
            for before, letters in state.edges:
                lot -= before.weight * (1 if letters is None else letters.weight)
                if lot < 0:
                    break
            if letters is not None:
                word.append(letters.draw(rng))
            state = before
        word.reverse()
        return word

    def __iter__(self) -> Iterator[list[Any]]:
        """Depth first along the edges turned round, so that the last letter changes fastest; without recursion."""
        start, onward = self._onward()
        word: list[Any] = []
        pending: list[Iterator[tuple[Paths, bool, Any]]] = [iter([(start, False, None)])]
        has_letters: list[bool] = []
        while pending:
            step = next(pending[-1], None)
            if step is None:
                pending.pop()
                if has_letters and has_letters.pop():
                    word.pop()
                continue
            state, has_letter, letter = step
            if has_letter:
                word.append(letter)
            if state is self:
                yield list(word)
                if has_letter:
                    word.pop()
                continue
            has_letters.append(has_letter)
            pending.append(_steps(onward[id(state)]))

    def _onward(self) -> tuple[Paths, dict[int, list[tuple[Paths, Enumeration | None]]]]:
        onward: dict[int, list[tuple[Paths, Enumeration | None]]] = defaultdict(list)
        met, waiting = {id(self)}, [self]
        start = self
        while waiting:
            state = waiting.pop()
            if not state.edges:
                start = state
            for before, letters in state.edges:
                onward[id(before)].append((state, letters))
                if id(before) not in met:
                    met.add(id(before))
                    waiting.append(before)
        return start, onward


def _steps(edges: list[tuple[Paths, Enumeration | None]]) -> Iterator[tuple[Paths, bool, Any]]:
    for state, letters in edges:
        if letters is None:
            yield state, False, None
        else:
            for letter in letters:
                yield state, True, letter


Item = TypeVar("Item", bound=Hashable)


class OrderedSet(Generic[Item]):
    """A set that keeps the order of insertion, so that what is drawn or listed never depends on hashes."""

    __slots__ = ("_items", "_set")

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._items = tuple(dict.fromkeys(items))
        self._set = frozenset(self._items)

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OrderedSet) and self._set == other._set

    def __hash__(self) -> int:
        return hash(self._set)


class TooCostly(Exception):
    """An exact answer would take more work than is allowed, or cannot be found this way; the text says why."""


@dataclass(slots=True)
class WorkLimit:
    """How much more work may be done, in positions of the automaton."""

    work: int

    def spend(self, work: int = 1) -> None:
        self.work -= work
        if self.work < 0:
            raise TooCostly("the requirements and overlapping alternatives tell too many cases apart")


State = Hashable
Signature = Hashable
#: An edge is as much work as so many positions.
_EDGE = 10


def explore(
    start: State,
    step: Callable[[Any], tuple[Signature | None, Iterable[tuple[Enumeration | None, State]]]],
    limit: WorkLimit,
) -> dict[Any, Paths]:
    """The words of an automaton without cycles, by the signature that they end with.

    `step` returns the signature of words that end in a state (None: no word ends there) and the edges from it.
    """
    level: dict[State, Paths] = {start: Paths(weight=1)}
    finals: dict[Signature, Paths] = {}
    while level:
        following: dict[State, Paths] = {}
        for state, paths in level.items():
            signature, moves = step(state)
            if signature is not None:
                finals.setdefault(signature, Paths()).enter(paths, None)
            for letters, target in moves:
                limit.spend(_EDGE)
                following.setdefault(target, Paths()).enter(paths, letters)
        level = following
    return finals
