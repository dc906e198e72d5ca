"""Batch: the models of some vectors — each a model, or why it is not in the space — built when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np

from msl.encode.column import Column, Flags
from msl.encode.cube import Cube
from msl.encode.scale import Shares
from msl.space.derive import NotInSpace, requirement_broken
from msl.space.truth import Derivation
from msl.space.value import Model, Step
from msl.space.watch import Watch

Outcome = Model | NotInSpace


class Batch(Sequence[Outcome]):
    """One outcome for each row.

    The arithmetic is done once for all rows. Objects are built one by one as they are indexed, or for all rows in one
    go by `models` or by iterating, which takes less time for each.
    """

    def __init__(self, watch: Watch, cube: Cube, column: Column) -> None:
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
        if not self._watch:
            return np.ones(len(self), dtype=bool)
        return np.array([isinstance(outcome, Model) for outcome in self.models()], dtype=bool)

    def _judged(self, models: list[Model]) -> list[Outcome]:
        parts: list[list[tuple[str, tuple[Step, ...]]]] = [[] for _ in models]
        for mark, rows, steps in self._cube.parts:
            for row, came_to in zip(rows.tolist(), steps.objects(), strict=True):
                parts[row].append((mark, came_to))
        return [self._verdict(model, tuple(found)) for model, found in zip(models, parts, strict=True)]

    def _one(self, row: int) -> Outcome:
        model = Model(self._column.at(row))
        if not self._watch:
            return model
        parts = []
        for mark, rows, steps in self._cube.parts:
            place = int(np.searchsorted(rows, row))
            if place < len(rows) and rows[place] == row:
                parts.append((mark, steps.at(place)))
        return self._verdict(model, tuple(parts))

    def _verdict(self, model: Model, parts: tuple[tuple[str, tuple[Step, ...]], ...]) -> Outcome:
        broken = self._watch.verdict(self._watch.sights(Derivation(model, parts)))
        return model if broken is None else requirement_broken(broken)
