"""Codec: between models of a space and vectors of the unit cube, both ways, many at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from msl.diagnostics.user_error import UserError
from msl.encode.columns import Column, Cube, Flags, all_rows, as_vectors
from msl.encode.compile import compile_space
from msl.encode.layout import Dimension, Encoding, Group, Layout, Meaning
from msl.encode.scale import Shares
from msl.encode.value_plan import DecodePlan, DimensionPlan
from msl.space.evaluate_conditions import Derivation
from msl.space.membership import Membership, NotInSpace, requirement_broken
from msl.space.model_traits import Abstraction
from msl.space.spec import Space
from msl.space.values import Model, Step

#: What `encode` puts where the model has nothing to say.
_UNUSED = 0.5


class NeedsTable(UserError):
    """A space whose bounds depend on a table, and no table is given."""


def space_to_layout(space: Space, encoding: Encoding = "shared") -> Layout:
    """What the dimensions of a space mean; without a table, as far as no table is needed."""
    return compile_space(space, encoding).layout


def space_to_codec(space: Space, encoding: Encoding = "shared") -> Codec:
    """The codec of a space that has been resolved against a table, or needs none."""
    compiled = compile_space(space, encoding)
    if compiled.plan is None:
        raise NeedsTable("bounds of this space depend on the table: resolve it against one first")
    whole = Space(compiled.root, space.requirements, space.facts)
    return Codec(whole, compiled.layout, compiled.plan, compiled.is_steered)


class Codec:
    """Made by `space_to_codec`."""

    def __init__(self, space: Space, layout: Layout, plan: DecodePlan, is_steered: bool = False) -> None:
        #: Whether priors or weights steer draws.
        self.is_steered = is_steered
        self.space = space
        self.layout = layout
        self._plan = plan
        self._watch = Abstraction(space.requirements, space.facts)
        self._deriver = Membership(space, self._watch)

    @property
    def n_dimensions(self) -> int:
        assert self.layout.n_dimensions is not None
        return self.layout.n_dimensions

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        return self.layout.dimensions

    @property
    def groups(self) -> tuple[Group, ...]:
        return self.layout.groups

    def decode(self, vectors: ArrayLike) -> Batch:
        """The models of some vectors, one a row. Whatever the numbers: they are clipped, and what is no number is ½."""
        cube = Cube(as_vectors(vectors, self.n_dimensions))
        column = self._plan.read(cube, all_rows(cube.size))
        return Batch(self._watch, cube, column)

    def steered(self, vectors: ArrayLike, fresh: Flags | None = None) -> Shares:
        """Uniform vectors as the priors and weights of the space would draw them.

        `fresh` says which of the numbers are drawn; the others, such as those that a mutation left, stay as they are.
        """
        array = as_vectors(vectors, self.n_dimensions)
        if not self.is_steered:
            return array
        cube = Cube(array)
        cube.fresh = np.ones(array.T.shape, dtype=bool) if fresh is None else np.ascontiguousarray(fresh.T)
        self._plan.read(cube, all_rows(cube.size))
        return cube.shares

    def without_requirements(self) -> Codec:
        """The codec of the same cube for all models of the structure."""
        return Codec(Space(self.space.root, (), self.space.facts), self.layout, self._plan, self.is_steered)

    def model(self, vector: ArrayLike) -> Model:
        """The model of one vector; raises NotInSpace if a requirement rejects it."""
        found = self.decode(np.asarray(vector, dtype=np.float64)[None, :])[0]
        if isinstance(found, NotInSpace):
            raise found
        return found

    def encode(self, model: Model) -> NDArray[np.float64]:
        """The vector of a model, as decoding writes it back; dimensions that it says nothing about are ½.

        Raises NotInSpace with the reason if the model is not in the space. A real with more than twelve digits that
        matter is rounded, as decoding would.
        """
        vector = [_UNUSED] * self.n_dimensions
        self._plan.write(self._deriver.derive(model), vector)
        return np.array(vector, dtype=np.float64)

    def meanings(self, vector: ArrayLike) -> tuple[Meaning | None, ...]:
        """What each dimension means at one point; None where it has no effect."""
        readers = self.readers(vector)
        return tuple(readers[slot].meaning if slot in readers else None for slot in range(self.n_dimensions))

    def readers(self, vector: ArrayLike) -> dict[int, DimensionPlan]:
        """The plans behind the dimensions that have an effect at one point."""
        cube = Cube(as_vectors(np.asarray(vector, dtype=np.float64)[None, :], self.n_dimensions))
        self._plan.read(cube, all_rows(1))
        active = cube.active[0]
        return {slot: plan for slot, plan in sorted(cube.readers.items()) if active[slot]}


# --- Batch: the models of some vectors — each a model, or why it is not in the space — built when they are asked for.


Outcome = Model | NotInSpace


class Batch(Sequence[Outcome]):
    """One outcome for each row.

    The arithmetic is done once for all rows. Objects are built one by one as they are indexed, or for all rows in one
    go by `models` or by iterating, which takes less time for each.
    """

    def __init__(self, watch: Abstraction, cube: Cube, column: Column) -> None:
        self._watch = watch
        self._cube = cube
        self._column = column
        self._all: list[Outcome] | None = None
        self._some: dict[int, Outcome] = {}

    def __len__(self) -> int:
        return self._cube.size

    @property
    def snapped(self) -> Shares:
        """The vectors clipped and rounded: those of the same models, with unused dimensions as they were."""
        return self._cube.snapped

    @property
    def active(self) -> Flags:
        """Which dimensions have an effect in which row."""
        return self._cube.active

    def models(self) -> list[Outcome]:
        """All outcomes."""
        if self._all is None:
            models = list(map(Model, self._column.objects()))
            self._all = self._judged(models) if self._watch else list(models)
            for row, reason in self._cube.outside.items():
                self._all[row] = NotInSpace(reason)
        return self._all

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.models())

    @overload
    def __getitem__(self, index: int) -> Outcome: ...
    @overload
    def __getitem__(self, index: slice) -> list[Outcome]: ...
    def __getitem__(self, index: int | slice) -> Outcome | list[Outcome]:
        if isinstance(index, slice):
            return self.models()[index]
        row = range(len(self))[index]
        if self._all is not None:
            return self._all[row]
        if row not in self._some:
            self._some[row] = self._one(row)
        return self._some[row]

    def feasible(self) -> Flags:
        """Which rows are models of the space."""
        if not self._watch and not self._cube.outside:
            return np.ones(len(self), dtype=bool)
        return np.array([isinstance(outcome, Model) for outcome in self.models()], dtype=bool)

    def _judged(self, models: list[Model]) -> list[Outcome]:
        parts: list[list[tuple[str, tuple[Step, ...]]]] = [[] for _ in models]
        for mark, rows, steps in self._cube.parts:
            for row, came_to in zip(rows.tolist(), steps.objects(), strict=True):
                parts[row].append((mark, came_to))
        return [
            self._verdict(row, model, tuple(found))
            for row, (model, found) in enumerate(zip(models, parts, strict=True))
        ]

    def _one(self, row: int) -> Outcome:
        if row in self._cube.outside:
            return NotInSpace(self._cube.outside[row])
        model = Model(self._column.at(row))
        if not self._watch:
            return model
        parts = []
        for mark, rows, steps in self._cube.parts:
            place = int(np.searchsorted(rows, row))
            if place < len(rows) and rows[place] == row:
                parts.append((mark, steps.at(place)))
        return self._verdict(row, model, tuple(parts))

    def _verdict(self, row: int, model: Model, parts: tuple[tuple[str, tuple[Step, ...]], ...]) -> Outcome:
        settings = tuple(self._cube.settings.get(row, ()))
        broken = self._watch.first_broken(self._watch.traits(Derivation(model, parts, settings)))
        return model if broken is None else requirement_broken(broken)
