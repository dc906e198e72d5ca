"""Codec: between models of a space and vectors of the unit cube, both ways, many at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from msl.encode.batch import Batch
from msl.encode.compile import compile_space
from msl.encode.cube import Cube, all_rows, as_vectors
from msl.encode.layout import Encoding, Gene, Group, Layout, Meaning
from msl.encode.plan import GenePlan, Plan
from msl.space.derive import Deriver, NotInSpace
from msl.space.space import Space
from msl.space.value import Model
from msl.space.watch import Watch

#: What `encode` puts where the model has nothing to say.
_UNUSED = 0.5


def space_to_layout(space: Space, encoding: Encoding = "shared") -> Layout:
    """What the dimensions of a space mean; without a table, as far as no table is needed."""
    return compile_space(space, encoding).layout


def space_to_codec(space: Space, encoding: Encoding = "shared") -> Codec:
    """The codec of a space that has been resolved against a table, or needs none."""
    compiled = compile_space(space, encoding)
    if compiled.plan is None:
        raise ValueError("bounds of this space depend on the table: resolve it against one first")
    return Codec(Space(compiled.root, space.requirements, space.facts), compiled.layout, compiled.plan)


class Codec:
    """Made by `space_to_codec`."""

    def __init__(self, space: Space, layout: Layout, plan: Plan) -> None:
        self.space = space
        self.layout = layout
        self._plan = plan
        self._watch = Watch(space.requirements, space.facts)
        self._deriver = Deriver(space, self._watch)

    @property
    def dimensions(self) -> int:
        assert self.layout.dimensions is not None
        return self.layout.dimensions

    @property
    def genes(self) -> tuple[Gene, ...]:
        return self.layout.genes

    @property
    def groups(self) -> tuple[Group, ...]:
        return self.layout.groups

    def decode(self, vectors: ArrayLike) -> Batch:
        """The models of some vectors, one a row. Whatever the numbers: they are clipped, and what is no number is ½."""
        cube = Cube(as_vectors(vectors, self.dimensions))
        column = self._plan.read(cube, all_rows(cube.size))
        return Batch(self._watch, cube, column)

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
        vector = [_UNUSED] * self.dimensions
        self._plan.write(self._deriver.derive(model), vector)
        return np.array(vector, dtype=np.float64)

    def meanings(self, vector: ArrayLike) -> tuple[Meaning | None, ...]:
        """What each dimension means at one point; None where it has no effect."""
        readers = self.readers(vector)
        return tuple(readers[slot].meaning if slot in readers else None for slot in range(self.dimensions))

    def readers(self, vector: ArrayLike) -> dict[int, GenePlan]:
        """The plans behind the dimensions that have an effect at one point."""
        cube = Cube(as_vectors(np.asarray(vector, dtype=np.float64)[None, :], self.dimensions))
        self._plan.read(cube, all_rows(1))
        active = cube.active[0]
        return {slot: plan for slot, plan in sorted(cube.readers.items()) if active[slot]}
