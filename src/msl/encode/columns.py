"""Read vectors dimension by dimension, and build the objects of many models from columns of values."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from msl.diagnostics.user_error import UserError
from msl.encode.scale import Scale, Shares, Values
from msl.space.values import BlockValue, side_by_side

if TYPE_CHECKING:
    from msl.encode.priors import Steer
    from msl.encode.value_plan import DimensionPlan


class Cube:
    """Vectors as columns, read one dimension at a time, with their rounded values and which of them were used."""

    def __init__(self, vectors: NDArray[np.float64]) -> None:
        self._shares = np.maximum(vectors.T, 0.0, order="C")
        np.minimum(self._shares, 1.0, out=self._shares)
        self._shares[np.isnan(self._shares)] = 0.5
        self._snapped = self._shares.copy()
        self._active = np.zeros(self._shares.shape, dtype=bool)
        self.size = len(vectors)
        #: What each use of a part that requirements speak of came to: its mark, for which rows, and the steps.
        self.parts: list[tuple[str, Rows, Kept]] = []
        #: The values of the parameters of parts that were read last, by row.
        self.variables: dict[str, NDArray[np.object_]] = {}
        #: The settings of parts that requirements speak of, by row, and the rows that are no model, with the reason.
        self.settings: dict[int, list[BlockValue]] = {}
        self.outside: dict[int, str] = {}
        #: Which plan read which dimension; only the last row's where they differ.
        self.readers: dict[int, DimensionPlan] = {}
        #: The shares that priors and weights still have to steer, dimension by dimension; None if draws are done.
        self.fresh: Flags | None = None

    @property
    def shares(self) -> Shares:
        """The vectors as they are: clipped, and steered where they were fresh."""
        return np.ascontiguousarray(self._shares.T)

    def steer(self, slots: slice, rows: Rows, steer: Steer) -> None:
        """Moves the fresh shares of some dimensions and rows to where a prior draws them."""
        if self.fresh is None:
            return
        places = np.ix_(np.arange(slots.start, slots.stop), rows)
        shares = self._shares[places]
        self._shares[places] = self._snapped[places] = np.where(self.fresh[places], steer(shares), shares)

    @property
    def snapped(self) -> Shares:
        return np.ascontiguousarray(self._snapped.T)

    @property
    def active(self) -> Flags:
        return np.ascontiguousarray(self._active.T)

    def take(self, slots: int | slice, rows: Rows) -> Shares:
        """The shares of one dimension, or of several side by side, for some rows, marked as used."""
        if len(rows) == self.size:
            self._active[slots] = True
            return self._shares[slots].T
        self._active[slots, rows] = True
        return self._shares[slots][..., rows].T

    def read(self, slot: int, rows: Rows, scale: Scale) -> Values:
        """The values of one dimension for some rows, written back and marked as used."""
        if len(rows) == self.size:
            values, self._snapped[slot] = scale.read(self._shares[slot])
            self._active[slot] = True
        else:
            values, self._snapped[slot, rows] = scale.read(self._shares[slot, rows])
            self._active[slot, rows] = True
        return values

    def read_many(self, first: int, width: int, rows: Rows, scale: Scale) -> Values:
        """The same for dimensions side by side on one scale: a row of values for each row."""
        block = slice(first, first + width)
        if len(rows) == self.size:
            values, self._snapped[block] = scale.read(self._shares[block])
            self._active[block] = True
        else:
            values, self._snapped[block, rows] = scale.read(self._shares[block][:, rows])
            self._active[block, rows] = True
        return values.T

    def write_back(self, slot: int, rows: Rows, share: float) -> None:
        """Replaces the share that was read."""
        self._snapped[slot, rows] = share

    def put_out_of_use(self, slot: int, rows: Rows) -> None:
        """Marks a dimension as without effect, with its value as it was."""
        self._active[slot, rows] = False
        self._snapped[slot, rows] = self._shares[slot, rows]


def all_rows(size: int) -> Rows:
    return np.arange(size, dtype=np.intp)


def as_vectors(vectors: ArrayLike, n_dimensions: int) -> NDArray[np.float64]:
    """Vectors as an array of one row each; raises ValueError if they do not have that many dimensions."""
    array = np.asarray(vectors, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != n_dimensions:
        raise UserError(f"vectors of this space have {n_dimensions} dimensions, and these have the shape {array.shape}")
    return array


# --- columns ---
#
# A column is one part of many models: numbers, blocks, sequences of steps. A batch of vectors is read part by part for
# all rows, and the objects of a part are built at once, on demand, from those of the parts inside it.


Rows = NDArray[np.intp]
Flags = NDArray[np.bool_]


class Column(Protocol):
    """Values, or tuples of steps; for steps, `empty` says which tuples have none."""

    def objects(self) -> list[Any]:
        """The objects of all rows."""
        ...

    def at(self, row: int) -> Any:
        """The object of one row."""
        ...

    def empty(self) -> Flags: ...


@dataclass(frozen=True, slots=True)
class Same:
    """One object for all rows."""

    value: Any
    size: int

    def objects(self) -> list[Any]:
        return [self.value] * self.size

    def at(self, row: int) -> Any:
        return self.value

    def empty(self) -> Flags:
        return np.full(self.size, self.value == ())


@dataclass(frozen=True, slots=True)
class Plain:
    """Numbers, or rows of them."""

    values: NDArray[Any]

    def objects(self) -> list[Any]:
        return _values(self.values)

    def at(self, row: int) -> Any:
        return _values(self.values[row : row + 1])[0]

    def empty(self) -> Flags:
        raise TypeError("numbers are not steps")


class Scaled:
    """Continuous reals, or rows of them, computed for all rows when the first one is needed."""

    __slots__ = ("_scale", "_shares", "_values")

    def __init__(self, scale: Scale, shares: Shares) -> None:
        self._scale = scale
        self._shares = shares
        self._values: NDArray[Any] | None = None

    def _computed(self) -> NDArray[Any]:
        if self._values is None:
            self._values = self._scale.read(self._shares)[0]
        return self._values

    def objects(self) -> list[Any]:
        return _values(self._computed())

    def at(self, row: int) -> Any:
        return _values(self._computed()[row : row + 1])[0]

    def empty(self) -> Flags:
        raise TypeError("numbers are not steps")


@dataclass(frozen=True, slots=True)
class Looked:
    """Objects from a table, by index."""

    table: tuple[Any, ...]
    places: NDArray[np.int64]

    def objects(self) -> list[Any]:
        table = self.table
        return [table[place] for place in self.places.tolist()]

    def at(self, row: int) -> Any:
        return self.table[self.places[row]]

    def empty(self) -> Flags:
        return np.array([value == () for value in self.table])[self.places]


@dataclass(frozen=True, slots=True)
class Made:
    """Objects that a function makes from the lists of objects of other columns."""

    make: Callable[..., list[Any]]
    parts: tuple[Column, ...]
    size: int

    def objects(self) -> list[Any]:
        return self.make(*(part.objects() for part in self.parts))

    def at(self, row: int) -> Any:
        return self.make(*([part.at(row)] for part in self.parts))[0]

    def empty(self) -> Flags:
        return np.zeros(self.size, dtype=bool)


@dataclass(frozen=True, slots=True)
class Picked:
    """Each row from one of several columns; `places` are indices into their concatenated objects."""

    columns: tuple[Column, ...]
    ends: tuple[int, ...]
    places: Rows

    def objects(self) -> list[Any]:
        if len(self.columns) == 1:
            return self.columns[0].objects()
        joined = list(chain.from_iterable(column.objects() for column in self.columns))
        return [joined[place] for place in self.places.tolist()]

    def at(self, row: int) -> Any:
        place = int(self.places[row])
        number = bisect_right(self.ends, place)
        return self.columns[number].at(place - (self.ends[number - 1] if number else 0))

    def empty(self) -> Flags:
        flags = [column.empty() for column in self.columns]
        return np.concatenate(flags)[self.places] if flags else np.zeros(0, dtype=bool)


@dataclass(frozen=True, slots=True)
class Sparse:
    """A column for some of the rows, whose indices are `rows`; the others have the `missing` object."""

    column: Column
    rows: Rows
    size: int
    missing: Any

    def objects(self) -> list[Any]:
        found = [self.missing] * self.size
        for place, value in zip(self.rows.tolist(), self.column.objects(), strict=True):
            found[place] = value
        return found

    def at(self, row: int) -> Any:
        place = int(np.searchsorted(self.rows, row))
        return self.column.at(place) if place < len(self.rows) and self.rows[place] == row else self.missing

    def empty(self) -> Flags:
        flags = np.ones(self.size, dtype=bool)
        flags[self.rows] = self.column.empty()
        return flags


@dataclass(frozen=True, slots=True)
class InRow:
    """Steps one after the other."""

    columns: tuple[Column, ...]

    def objects(self) -> list[Any]:
        rows = [column.objects() for column in self.columns]
        if len(rows) == 2:
            return [a + b for a, b in zip(*rows, strict=True)]
        if len(rows) == 3:
            return [a + b + c for a, b, c in zip(*rows, strict=True)]
        return [tuple(chain.from_iterable(row)) for row in zip(*rows, strict=True)]

    def at(self, row: int) -> Any:
        return tuple(chain.from_iterable([column.at(row) for column in self.columns]))

    def empty(self) -> Flags:
        return _all_empty(self.columns)


@dataclass(frozen=True, slots=True)
class InOrder:
    """Steps in a different order for each row: `order` gives the columns for the number of the row."""

    columns: tuple[Column, ...]
    numbers: NDArray[np.int64]
    order: Callable[[int], tuple[int, ...]]

    def objects(self) -> list[Any]:
        members = [column.objects() for column in self.columns]
        numbers = self.numbers.tolist()
        orders = {number: self.order(number) for number in set(numbers)}
        return [
            tuple(chain.from_iterable([members[member][row] for member in orders[number]]))
            for row, number in enumerate(numbers)
        ]

    def at(self, row: int) -> Any:
        order = self.order(int(self.numbers[row]))
        return tuple(chain.from_iterable([self.columns[member].at(row) for member in order]))

    def empty(self) -> Flags:
        return _all_empty(self.columns)


@dataclass(frozen=True, slots=True)
class Beside:
    """Branches side by side."""

    columns: tuple[Column, ...]

    def objects(self) -> list[Any]:
        return [side_by_side(row) for row in zip(*(column.objects() for column in self.columns), strict=True)]

    def at(self, row: int) -> Any:
        return side_by_side([column.at(row) for column in self.columns])

    def empty(self) -> Flags:
        return _all_empty(self.columns)


class Kept:
    """A column whose objects are needed more than once."""

    __slots__ = ("_column", "_objects")

    def __init__(self, column: Column) -> None:
        self._column = column
        self._objects: list[Any] | None = None

    def objects(self) -> list[Any]:
        if self._objects is None:
            self._objects = self._column.objects()
        return self._objects

    def at(self, row: int) -> Any:
        return self._column.at(row) if self._objects is None else self._objects[row]

    def empty(self) -> Flags:
        return self._column.empty()


def _values(values: NDArray[Any]) -> list[Any]:
    plain: list[Any] = values.tolist()
    return plain if values.ndim == 1 else list(map(tuple, plain))


def _all_empty(columns: tuple[Column, ...]) -> Flags:
    flags = columns[0].empty()
    for column in columns[1:]:
        flags = flags & column.empty()
    return flags
