"""Models: the set of models of a space, each once — how many, one at random, all in turn — without listing them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from msl.space.cell import Allowance, Cell, TooCostly, join
from msl.space.cell_word import WordCutter
from msl.space.space import Space
from msl.space.value import Model, Step
from msl.space.watch import Watch

#: How much work may be done to tell cases apart before an exact answer is given up: some seconds.
MOST_WORK = 1_000_000


class Models:
    """The distinct models of a resolved space. Raises TooCostly where telling them apart takes too long.

    With `steps`, open reals take so many values, evenly on their scale. Without requirements (`free`), the models of
    the structure alone.
    """

    def __init__(self, space: Space, steps: int | None = None, free: bool = False, work: int = MOST_WORK) -> None:
        self._cell = accepted(space, steps, free, False, work)

    @property
    def number(self) -> int:
        """How many; an open real counts as one."""
        return 0 if self._cell is None else self._cell.weight

    @property
    def reals(self) -> int:
        """The most open reals that one model has; with any, there are infinitely many models."""
        return 0 if self._cell is None else self._cell.reals

    def draw(self, rng: Random) -> Model:
        """One of them, each as likely; an open real is uniform on its scale."""
        if self._cell is None:
            raise ValueError("the space is empty: no model meets its requirements")
        return Model(_steps(self._cell.draw(rng)))

    def __iter__(self) -> Iterator[Model]:
        """All of them; the last step of a chain changes fastest. An open real raises OpenReal."""
        if self._cell is not None:
            yield from (Model(_steps(word)) for word in self._cell)


def accepted(space: Space, steps: int | None, free: bool, structures: bool, work: int) -> Cell | None:
    """The chains of a space that meet its requirements as one cell, None if there are none."""
    watch = Watch(() if free else space.requirements, space.facts)
    try:
        words = WordCutter(watch, space.facts, Allowance(work), steps, structures).words(space.root)
    except RecursionError:
        raise TooCostly("branches or parameters nest too deep") from None
    kept = [cell for seen, cell in words.items() if any(watch.verdict(sights) is None for sights in seen)]
    return join(kept) if kept else None


def _steps(letters: list[tuple[Step, ...]]) -> tuple[Step, ...]:
    return tuple(step for letter in letters for step in letter)
