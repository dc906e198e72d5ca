"""Plans that decode steps: in sequence, in any order, side by side, repeated.

The objects of their columns are tuples of steps; the empty tuple is no step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from msl.encode.columns import Beside, Column, Cube, InOrder, InRow, Kept, Rows, Same, Sparse
from msl.encode.layout import Meaning
from msl.encode.scale import Steps
from msl.encode.value_plan import DecodePlan, Fixed, Number, ParamPlan, Pick, PickFixed
from msl.space.membership_of_values import ABSENT
from msl.space.values import BlockType, BlockValue


@dataclass(frozen=True, slots=True)
class Row:
    """Steps one after the other."""

    steps: tuple[DecodePlan, ...]

    def read(self, cube: Cube, rows: Rows) -> Column:
        return InRow(tuple(step.read(cube, rows) for step in self.steps))

    def write(self, tree: Any, vector: list[float]) -> None:
        for step, inner in zip(self.steps, tree, strict=True):
            step.write(inner, vector)


@dataclass(frozen=True, slots=True)
class Fork:
    """Branches side by side."""

    branches: tuple[DecodePlan, ...]

    def read(self, cube: Cube, rows: Rows) -> Column:
        return Beside(tuple(branch.read(cube, rows) for branch in self.branches))

    def write(self, tree: Any, vector: list[float]) -> None:
        for branch, inner in zip(self.branches, tree, strict=True):
            branch.write(inner, vector)


@dataclass(frozen=True, slots=True)
class Part:
    """A part that requirements refer to: its steps are kept for them."""

    mark: str
    plan: DecodePlan

    def read(self, cube: Cube, rows: Rows) -> Column:
        column = Kept(self.plan.read(cube, rows))
        cube.parts.append((self.mark, rows, column))
        return column

    def write(self, tree: Any, vector: list[float]) -> None:
        self.plan.write(tree, vector)


@dataclass(frozen=True, slots=True)
class SetPart:
    """A part with parameters: their values are read first; `block` is what requirements that name them see."""

    params: tuple[ParamPlan, ...]
    plan: DecodePlan
    block: BlockType | None

    def read(self, cube: Cube, rows: Rows) -> Column:
        for param in self.params:
            values = np.empty(cube.size, dtype=object)
            objects = np.empty(len(rows), dtype=object)
            objects[:] = param.plan.read(cube, rows).objects()
            values[rows] = objects
            cube.variables[param.name] = values
        if self.block is not None:
            names = [param.name.rpartition(".")[2] for param in self.params]
            columns = [cube.variables[param.name] for param in self.params]
            for row in rows.tolist():
                setting = tuple((name, column[row]) for name, column in zip(names, columns, strict=True))
                cube.settings.setdefault(row, []).append(BlockValue(self.block, setting))
        return self.plan.read(cube, rows)

    def write(self, tree: Any, vector: list[float]) -> None:
        setting, inner = tree
        for param, value in zip(self.params, setting, strict=True):
            param.plan.write(tree_of(param.plan, value), vector)
        self.plan.write(inner, vector)


def tree_of(plan: DecodePlan, value: Any) -> Any:
    """The derivation of a value from the plan of its domain."""
    match plan:
        case PickFixed(table=table):
            return next(n for n, own in enumerate(table) if own == value and type(own) is type(value)), None
        case Pick(options=options):
            return next((n, tree_of(option, value)) for n, option in enumerate(options) if _takes(option, value))
    return value


def _takes(plan: DecodePlan, value: Any) -> bool:
    match plan:
        case Fixed(value=own):
            return type(own) is type(value) and bool(own == value)
        case Number(scale=scale):
            if isinstance(value, bool) or not isinstance(value, int | float):
                return isinstance(value, bool) and plan.meaning.kind == "bool"
            return plan.meaning.kind != "bool" and bool(scale.read(np.array([scale.share(value)]))[0][0] == value)
    return False


@dataclass(frozen=True, slots=True)
class Some:
    """Any of the members. The level in binary, read from the left, says which are there: 100 is the first alone."""

    slot: int
    members: tuple[DecodePlan, ...]
    scale: Steps
    meaning: Meaning

    def read(self, cube: Cube, rows: Rows) -> Column:
        cube.readers[self.slot] = self
        chosen = cube.read(self.slot, rows, self.scale)
        bits = zip(self._bits(), self.members, strict=True)
        return InRow(tuple(_where(member, cube, rows, chosen & bit > 0) for bit, member in bits))

    def write(self, tree: Any, vector: list[float]) -> None:
        present = (bit for bit, inner in zip(self._bits(), tree, strict=True) if inner is not ABSENT)
        vector[self.slot] = self.scale.share(sum(present))
        for member, inner in zip(self.members, tree, strict=True):
            if inner is not ABSENT:
                member.write(inner, vector)

    def near(self, share: float, step: float) -> list[float]:
        """One member more or fewer."""
        level = self.scale.level(share)
        return [self.scale.share(level ^ bit) for bit in self._bits()]

    def _bits(self) -> list[int]:
        return [1 << place for place in reversed(range(len(self.members)))]


@dataclass(frozen=True, slots=True)
class Arranged:
    """`low` to `high` of the members in an order; all of them where both are their number."""

    slot: int
    members: tuple[DecodePlan, ...]
    low: int
    high: int
    scale: Steps
    meaning: Meaning

    @property
    def takes_all(self) -> bool:
        return self.low == len(self.members)

    def read(self, cube: Cube, rows: Rows) -> Column:
        cube.readers[self.slot] = self
        levels = cube.read(self.slot, rows, self.scale)
        if self.takes_all:
            columns = tuple(member.read(cube, rows) for member in self.members)
            present = np.sum([~column.empty() for column in columns], axis=0)
            cube.put_out_of_use(self.slot, rows[present < 2])  # one member has no order
        else:
            met, places = np.unique(levels, return_inverse=True)
            taken = np.zeros((len(met), len(self.members)), dtype=bool)
            for place, level in enumerate(met):
                taken[place, list(self._order(int(level)))] = True
            members = enumerate(self.members)
            columns = tuple(_where(member, cube, rows, taken[places, number]) for number, member in members)
        return InOrder(columns, levels, self._order)

    def _order(self, level: int) -> tuple[int, ...]:
        return arrangement(level, len(self.members), self.low, self.high)

    def write(self, tree: Any, vector: list[float]) -> None:
        order, trees = tree
        vector[self.slot] = self.scale.share(arrangement_number(order, len(self.members), self.low))
        for number, inner in trees.items():
            self.members[number].write(inner, vector)

    def near(self, share: float, step: float) -> list[float]:
        """Two members exchanged, one more at the end or one fewer."""
        order = self._order(self.scale.level(share))
        found = []
        for i, j in combinations(range(len(order)), 2):
            other = list(order)
            other[i], other[j] = other[j], other[i]
            found.append(tuple(other))
        if len(order) < self.high:
            found.extend((*order, member) for member in range(len(self.members)) if member not in order)
        if len(order) > self.low:
            found.extend(order[:i] + order[i + 1 :] for i in range(len(order)))
        return [self.scale.share(arrangement_number(row, len(self.members), self.low)) for row in found]


@dataclass(frozen=True, slots=True)
class Times:
    """How often a member is repeated."""

    slot: int
    low: int
    copies: tuple[DecodePlan, ...]
    scale: Steps
    meaning: Meaning

    def read(self, cube: Cube, rows: Rows) -> Column:
        cube.readers[self.slot] = self
        times = self.low + cube.read(self.slot, rows, self.scale)
        copies = enumerate(self.copies)
        return InRow(tuple(_where(copy, cube, rows, times > number) for number, copy in copies))

    def write(self, tree: Any, vector: list[float]) -> None:
        vector[self.slot] = self.scale.share(len(tree) - self.low)
        for copy, inner in zip(self.copies, tree, strict=False):
            copy.write(inner, vector)

    def near(self, share: float, step: float) -> list[float]:
        return self.scale.near(share, step)


def _where(plan: DecodePlan, cube: Cube, rows: Rows, flags: Any) -> Column:
    """A plan for those rows that have it; the others have no step."""
    places = np.flatnonzero(flags)
    if len(places) == len(rows):
        return plan.read(cube, rows)
    if len(places) == 0:
        return Same((), len(rows))
    return Sparse(plan.read(cube, rows[places]), places, len(rows), ())


# --- arrangements by their number, and back ---


def arrangement_count(members: int, low: int, high: int) -> int:
    """The number of arrangements of `low` to `high` of the members."""
    return sum(math.perm(members, size) for size in range(low, high + 1))


def arrangement(number: int, members: int, low: int, high: int) -> tuple[int, ...]:
    """The arrangement with this number: short ones first, then in lexicographic order."""
    for size in range(low, high + 1):
        if number < math.perm(members, size):
            return _row(number, members, size)
        number -= math.perm(members, size)
    raise ValueError("there are not so many arrangements")


def arrangement_number(row: tuple[int, ...], members: int, low: int) -> int:
    """The number of an arrangement."""
    number = sum(math.perm(members, size) for size in range(low, len(row)))
    left = list(range(members))
    for place, member in enumerate(row):
        number += left.index(member) * math.perm(members - place - 1, len(row) - place - 1)
        left.remove(member)
    return number


def _row(number: int, members: int, size: int) -> tuple[int, ...]:
    left, row = list(range(members)), []
    for place in range(size):
        which, number = divmod(number, math.perm(members - place - 1, size - place - 1))
        row.append(left.pop(which))
    return tuple(row)
