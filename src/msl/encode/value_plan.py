"""Plan: how values are read from the dimensions of the cube, and written to them.

A plan follows a node of the space and knows its slots. `read` takes some rows of the cube to a column; `write` takes
the tree of a derivation (`msl.space.membership`) to shares in a vector.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from msl.encode.columns import Column, Cube, Kept, Looked, Made, Picked, Plain, Rows, Same, Scaled, Sparse
from msl.encode.layout import Meaning
from msl.encode.priors import Steer
from msl.encode.scale import Scale, Steps
from msl.space.conditions import Condition, Sibling, terms
from msl.space.evaluate_conditions import holds
from msl.space.formulas import Facts, Formula, depends_on
from msl.space.lengths import length_beside
from msl.space.membership_of_values import ABSENT
from msl.space.model_traits import Params
from msl.space.nodes import Choice, Computed, Const, Node, Sized
from msl.space.part_parameters import put_in
from msl.space.values import BlockType, BlockValue, pipeline_value, symbol_value

T = TypeVar("T")


class DecodePlan(Protocol):
    def read(self, cube: Cube, rows: Rows) -> Column: ...
    def write(self, tree: Any, vector: list[float]) -> None: ...


class DimensionPlan(Protocol):
    """A plan with dimensions of its own: what they mean, and the shares of the values next to one."""

    @property
    def meaning(self) -> Meaning: ...
    def near(self, share: float, step: float) -> list[float]: ...


# --- without parameters -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fixed:
    """A value, or steps, with nothing open."""

    value: Any

    def read(self, cube: Cube, rows: Rows) -> Column:
        return Same(self.value, len(rows))

    def write(self, tree: Any, vector: list[float]) -> None:
        """Nothing is open, so nothing is written."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number, or yes or no."""

    slot: int
    scale: Scale
    meaning: Meaning
    steer: Steer | None = None
    #: Whether a condition of another parameter depends on it.
    is_asked: bool = False

    def values(self, cube: Cube, rows: Rows) -> NDArray[Any]:
        cube.readers[self.slot] = self
        return cube.read(self.slot, rows, self.scale)

    def read(self, cube: Cube, rows: Rows) -> Column:
        if self.steer is not None:
            cube.steer(slice(self.slot, self.slot + 1), rows, self.steer)
        if self.scale.levels is None:  # nothing is written back, so the value can wait
            cube.readers[self.slot] = self
            return Scaled(self.scale, cube.take(self.slot, rows))
        return Plain(self.values(cube, rows))

    def write(self, tree: Any, vector: list[float]) -> None:
        vector[self.slot] = self.scale.share(tree)

    def near(self, share: float, step: float) -> list[float]:
        return self.scale.near(share, step)


@dataclass(frozen=True, slots=True)
class Numbers:
    """As many numbers as a vector is long."""

    slot: int
    size: int
    scale: Scale
    meaning: Meaning
    steer: Steer | None = None

    def read(self, cube: Cube, rows: Rows) -> Column:
        if self.steer is not None:
            cube.steer(slice(self.slot, self.slot + self.size), rows, self.steer)
        cube.readers.update(zip(range(self.slot, self.slot + self.size), repeat(self)))
        if self.scale.levels is None:
            return Scaled(self.scale, cube.take(slice(self.slot, self.slot + self.size), rows))
        return Plain(cube.read_many(self.slot, self.size, rows, self.scale))

    def write(self, tree: Any, vector: list[float]) -> None:
        vector[self.slot : self.slot + self.size] = [self.scale.share(value) for value in tree]

    def near(self, share: float, step: float) -> list[float]:
        return self.scale.near(share, step)


@dataclass(frozen=True, slots=True)
class Units:
    """Units in regions: for each whether it is on, and its place. Where all are off, the first is on."""

    units: tuple[tuple[Number, Numbers], ...]

    def read(self, cube: Cube, rows: Rows) -> Column:
        flags = np.array([on.values(cube, rows) for on, _ in self.units])
        all_off = ~flags.any(axis=0)
        first, _ = self.units[0]
        cube.write_back(first.slot, rows[all_off], first.scale.share(True))
        flags[0, all_off] = True
        columns = []
        for (_, place), flag in zip(self.units, flags, strict=True):
            places = np.flatnonzero(flag)
            columns.append(Sparse(place.read(cube, rows[places]), places, len(rows), None))
        return Made(_rows_of, tuple(columns), len(rows))

    def write(self, tree: Any, vector: list[float]) -> None:
        for (on, place), point in zip(self.units, tree, strict=True):
            on.write(point is not None, vector)
            if point is not None:
                place.write(point, vector)


@dataclass(frozen=True, slots=True)
class Listed:
    """A list, element by element."""

    elements: tuple[DecodePlan, ...]

    def read(self, cube: Cube, rows: Rows) -> Column:
        return Made(_rows_of, tuple(element.read(cube, rows) for element in self.elements), len(rows))

    def write(self, tree: Any, vector: list[float]) -> None:
        for element, inner in zip(self.elements, tree, strict=True):
            element.write(inner, vector)


@dataclass(frozen=True, slots=True)
class Piped:
    """Steps as a value."""

    steps: DecodePlan

    def read(self, cube: Cube, rows: Rows) -> Column:
        return Made(_pipelines, (self.steps.read(cube, rows),), len(rows))

    def write(self, tree: Any, vector: list[float]) -> None:
        self.steps.write(tree, vector)


def _pipelines(rows: list[Any]) -> list[Any]:
    return list(map(pipeline_value, rows))


@dataclass(frozen=True, slots=True)
class Lengthened:
    """A list whose length differs from row to row: as many plans as the longest has elements, the first in use."""

    elements: tuple[DecodePlan, ...]

    def read(self, cube: Cube, rows: Rows) -> Column:
        raise TypeError("the length of a list is known beside its siblings alone")

    def read_lengths(self, cube: Cube, rows: Rows, lengths: NDArray[np.int64]) -> Column:
        """The lists of these lengths; where one is negative, there is none."""
        columns: list[Column] = [Plain(lengths)]
        for number, element in enumerate(self.elements):
            places = np.flatnonzero(lengths > number)
            column = Same(ABSENT, 0) if len(places) == 0 else element.read(cube, rows[places])
            columns.append(Sparse(column, places, len(rows), ABSENT))
        return Made(_cut_rows, tuple(columns), len(rows))

    def write(self, tree: Any, vector: list[float]) -> None:
        for element, inner in zip(self.elements, tree, strict=False):
            element.write(inner, vector)


def _cut_rows(lengths: list[int], *columns: list[Any]) -> list[Any]:
    rows = zip(*columns, strict=True) if columns else repeat((), len(lengths))
    return [ABSENT if n < 0 else row[:n] for n, row in zip(lengths, rows, strict=True)]


def _rows_of(*columns: list[Any]) -> list[tuple[Any, ...]]:
    return list(zip(*columns, strict=True))


@dataclass(frozen=True, slots=True)
class Derived:
    """A value that follows from the parameters of a part, which were read before it."""

    formula: Formula
    within: Node
    path: str

    def read(self, cube: Cube, rows: Rows) -> Column:
        places: dict[Any, int] = {}
        table: list[Any] = []
        names = [name for name in cube.variables if depends_on(self.formula, (name,))]
        columns = [cube.variables[name][rows] for name in names]
        found = np.empty(len(rows), dtype=np.int64)
        for place, values in enumerate(zip(*columns, strict=True)):
            key = tuple((type(value), value) for value in values)
            if key not in places:
                places[key] = len(table)
                table.append(self._value(dict(zip(names, values, strict=True))))
            found[place] = places[key]
        for place, value in enumerate(table):
            if isinstance(value, Choice):
                reason = f"{self.path} comes to a value outside its domain"
                cube.outside.update(dict.fromkeys(rows[found == place].tolist(), reason))
        return Looked(tuple(value.value if isinstance(value, Const) else None for value in table), found)

    def _value(self, values: dict[str, Any]) -> Node:
        return put_in(Computed(self.formula, self.within), values)

    def write(self, tree: Any, vector: list[float]) -> None:
        """The dimensions are those of the parameters."""


# --- one of several -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pick:
    """One of several options, each with a plan of its own."""

    slot: int
    options: tuple[DecodePlan, ...]
    scale: Steps
    meaning: Meaning
    steer: Steer | None = None

    def read(self, cube: Cube, rows: Rows) -> Column:
        if self.steer is not None:
            cube.steer(slice(self.slot, self.slot + 1), rows, self.steer)
        cube.readers[self.slot] = self
        chosen = cube.read(self.slot, rows, self.scale)
        small = chosen.astype(np.int16) if len(self.options) < 2**15 else chosen  # sorted by radix, many times as fast
        order = np.argsort(small, kind="stable")
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        by_option = rows[order]
        columns, ends, start = [], [], 0
        for option, end in zip(self.options, np.cumsum(np.bincount(chosen, minlength=len(self.options))), strict=True):
            if end > start:
                columns.append(option.read(cube, by_option[start:end]))
                ends.append(int(end))
            start = end
        return Picked(tuple(columns), tuple(ends), places)

    def write(self, tree: Any, vector: list[float]) -> None:
        number, inner = tree
        vector[self.slot] = self.scale.share(number)
        self.options[number].write(inner, vector)

    def near(self, share: float, step: float) -> list[float]:
        here = self.scale.level(share)
        return [self.scale.share(other) for other in range(self.scale.levels) if other != here]


@dataclass(frozen=True, slots=True)
class PickFixed:
    """One of several values, or rows of steps, with nothing open in any of them."""

    slot: int
    table: tuple[Any, ...]
    scale: Steps
    meaning: Meaning
    steer: Steer | None = None

    def read(self, cube: Cube, rows: Rows) -> Column:
        if self.steer is not None:
            cube.steer(slice(self.slot, self.slot + 1), rows, self.steer)
        cube.readers[self.slot] = self
        return Looked(self.table, cube.read(self.slot, rows, self.scale))

    def write(self, tree: Any, vector: list[float]) -> None:
        vector[self.slot] = self.scale.share(tree[0])

    def near(self, share: float, step: float) -> list[float]:
        if self.meaning.kind == "ordered":
            return self.scale.near(share, step)
        here = self.scale.level(share)
        return [self.scale.share(other) for other in range(self.scale.levels) if other != here]


# --- blocks and alternatives with parameters ----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ParamPlan:
    """A parameter; where it has a condition, or a length by its siblings, `asks` are those that may decide it."""

    name: str
    plan: DecodePlan
    condition: Condition | None
    asks: tuple[str, ...] = ()
    sized: Sized | None = None

    @property
    def depends(self) -> bool:
        return self.condition is not None or self.sized is not None


def asked_siblings(condition: Condition) -> set[str]:
    """The parameters that a condition compares."""
    return {term.name for term in terms(condition) if isinstance(term, Sibling)}


@dataclass(frozen=True, slots=True)
class Record:
    """Parameters one after the other; those whose condition is not true are left out."""

    make_all: Maker
    params: tuple[ParamPlan, ...]
    facts: Facts | None

    def read(self, cube: Cube, rows: Rows) -> Column:
        columns: dict[str, Column] = {}
        for param in self.params:
            if isinstance(param.plan, Lengthened):
                lengths = self._lengths(param, columns, len(rows))
                columns[param.name] = Kept(param.plan.read_lengths(cube, rows, lengths))
            elif param.condition is None:
                columns[param.name] = Kept(param.plan.read(cube, rows))
            else:
                places = self._where(param, columns, len(rows))
                column = Same(ABSENT, 0) if len(places) == 0 else param.plan.read(cube, rows[places])
                columns[param.name] = Kept(Sparse(column, places, len(rows), ABSENT))
        return Made(self._objects, tuple(columns.values()), len(rows))

    def _where(self, param: ParamPlan, siblings: dict[str, Column], size: int) -> Rows:
        """The rows in which a conditional parameter exists."""
        assert param.condition is not None
        condition = param.condition
        decided = self._decided(param, siblings, size, lambda present: holds(condition, present, self.facts))
        return np.array([place for place, exists in enumerate(decided) if exists], dtype=np.intp)

    def _lengths(self, param: ParamPlan, siblings: dict[str, Column], size: int) -> NDArray[np.int64]:
        """How many elements a list has in each row, -1 where it does not exist."""
        assert param.sized is not None
        sized, condition = param.sized, param.condition

        def length(present: dict[str, Any]) -> int:
            if condition is not None and not holds(condition, present, self.facts):
                return -1
            found = length_beside(sized, present)
            return -1 if found is None else found

        return np.array(self._decided(param, siblings, size, length), dtype=np.int64)

    def _decided(
        self, param: ParamPlan, siblings: dict[str, Column], size: int, decide: Callable[[dict[str, Any]], T]
    ) -> list[T]:
        """What siblings decide in each row; rows with like siblings are decided once."""
        decided: dict[Any, T] = {}
        found = []
        columns = [siblings[name].objects() for name in param.asks]
        for values in zip(*columns, strict=True) if columns else [()] * size:
            key = tuple((type(value), value) for value in values)
            if key not in decided:
                decided[key] = decide({n: v for n, v in zip(param.asks, values, strict=True) if v is not ABSENT})
            found.append(decided[key])
        return found

    def _objects(self, *columns: list[Any]) -> list[Any]:
        named = [zip(repeat(param.name), values) for param, values in zip(self.params, columns, strict=True)]
        rows = zip(*named, strict=True)
        if not any(param.depends for param in self.params):
            return self.make_all(rows)
        return self.make_all(tuple(pair for pair in row if pair[1] is not ABSENT) for row in rows)

    def write(self, tree: Any, vector: list[float]) -> None:
        for param, inner in zip(self.params, tree, strict=True):
            if inner is not ABSENT:
                param.plan.write(inner, vector)


Maker = Callable[[Iterable[Params]], list[Any]]


def block_maker(block: BlockType) -> Maker:
    """Blocks with these parameters."""
    return lambda rows: list(map(partial(BlockValue, block), rows))


def step_maker(block: BlockType) -> Maker:
    """Rows of one step each."""
    return lambda rows: list(zip(map(partial(BlockValue, block), rows)))


def symbol_maker(name: str, own: bool) -> Maker:
    """Alternatives of one name with these parameters."""
    return lambda rows: list(map(partial(symbol_value, name, own=own), rows))
