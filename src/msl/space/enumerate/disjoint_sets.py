"""Cell: a set of values or words of which none is listed twice — how many, one at random, all in turn.

What a cell holds is never written out: a million numbers are a range, the words of an automaton are its edges. A real
that is open counts as one, and `reals` says how many such reals one member may hold.
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


class Cell(Protocol):
    """`weight` is how many members, `reals` the most open reals in one of them."""

    @property
    def weight(self) -> int: ...
    @property
    def reals(self) -> int: ...
    def draw(self, rng: Random) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...


class OpenReal(ValueError):
    """All values were asked for, and there is no end of them."""

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
    """Values in a row: a range, or a tuple."""

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
class Stretches:
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
class Joined:
    """Cells that have nothing in common, as one."""

    cells: tuple[Cell, ...]
    ends: tuple[int, ...]
    reals: int

    @property
    def weight(self) -> int:
        return self.ends[-1]

    def draw(self, rng: Random) -> Any:
        return self.cells[bisect_right(self.ends, rng.randrange(self.ends[-1]))].draw(rng)

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self.cells)


def join(cells: Iterable[Cell]) -> Cell:
    """Cells that have nothing in common, as one; there is at least one."""
    all_ = tuple(cells)
    if len(all_) == 1:
        return all_[0]
    return Joined(all_, tuple(accumulate(cell.weight for cell in all_)), max(cell.reals for cell in all_))


@dataclass(frozen=True, slots=True)
class Made:
    """What a function makes of the members of a cell; it makes no two the same."""

    inner: Cell
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
    """Tuples of `size` members, each free of the others."""

    inner: Cell
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
class Units:
    """Points in regions: a point or None for each, and at least one point."""

    point: Cell
    size: int

    @property
    def weight(self) -> int:
        return int((1 + self.point.weight) ** self.size) - 1

    @property
    def reals(self) -> int:
        return self.point.reals * self.size

    def draw(self, rng: Random) -> tuple[Any, ...]:
        either = join((Single(None), self.point))
        while True:
            units = tuple(either.draw(rng) for _ in range(self.size))
            if any(unit is not None for unit in units):
                return units

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        units = product(join((Single(None), self.point)), repeat=self.size)
        return (unit for unit in units if any(point is not None for point in unit))


@dataclass(slots=True, eq=False)
class Trail:
    """The words that lead from a start to one state of an automaton, letter by letter, as lists.

    The edges lead back: from which state, with which letters; None for a state that was entered without a letter.
    """

    weight: int = 0
    reals: int = 0
    edges: list[tuple[Trail, Cell | None]] = field(default_factory=list)

    def enter(self, before: Trail, letters: Cell | None) -> None:
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
        pending: list[Iterator[tuple[Trail, bool, Any]]] = [iter([(start, False, None)])]
        spelt: list[bool] = []
        while pending:
            step = next(pending[-1], None)
            if step is None:
                pending.pop()
                if spelt and spelt.pop():
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
            spelt.append(has_letter)
            pending.append(_steps(onward[id(state)]))

    def _onward(self) -> tuple[Trail, dict[int, list[tuple[Trail, Cell | None]]]]:
        onward: dict[int, list[tuple[Trail, Cell | None]]] = defaultdict(list)
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


def _steps(edges: list[tuple[Trail, Cell | None]]) -> Iterator[tuple[Trail, bool, Any]]:
    for state, letters in edges:
        if letters is None:
            yield state, False, None
        else:
            for letter in letters:
                yield state, True, letter


Item = TypeVar("Item", bound=Hashable)


class Together(Generic[Item]):
    """A set that keeps the order in which its members came, so that what is drawn or listed never depends on hashes."""

    __slots__ = ("_items", "_set")

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._items = tuple(dict.fromkeys(items))
        self._set = frozenset(self._items)

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Together) and self._set == other._set

    def __hash__(self) -> int:
        return hash(self._set)


class TooCostly(Exception):
    """An exact answer would take more steps than are allowed, or cannot be had by cutting; the text says why."""


@dataclass(slots=True)
class Allowance:
    """How much more work may be done, in ways to go on that are looked at."""

    work: int

    def spend(self, work: int = 1) -> None:
        self.work -= work
        if self.work < 0:
            raise TooCostly("the requirements and overlapping alternatives tell too many cases apart")


State = Hashable
Signature = Hashable
#: An edge is as much work as so many ways.
_EDGE = 10


def explore(
    start: State,
    step: Callable[[Any], tuple[Signature | None, Iterable[tuple[Cell | None, State]]]],
    allowance: Allowance,
) -> dict[Any, Trail]:
    """The words of an automaton without cycles, by the signature that they end with.

    `step` says what a word that ends in a state is (None: no word ends there) and where letters lead from it.
    """
    level: dict[State, Trail] = {start: Trail(weight=1)}
    finals: dict[Signature, Trail] = {}
    while level:
        following: dict[State, Trail] = {}
        for state, trail in level.items():
            signature, moves = step(state)
            if signature is not None:
                finals.setdefault(signature, Trail()).enter(trail, None)
            for letters, target in moves:
                allowance.spend(_EDGE)
                following.setdefault(target, Trail()).enter(trail, letters)
        level = following
    return finals
