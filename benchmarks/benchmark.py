"""Benchmark: the cells that make it up, how one is worked, and how the finished ones become a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.cell import Cell, Record
from benchmarks.report import Report


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where a cell finds its data, and a folder of its own for what it may need again after a stop."""

    data: Path
    folder: Path


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A table of a paper, or a comparison.

    `cells` gives them in the order of work, balanced, so that a benchmark that is stopped has figures for every data
    set; with `quick` a small part with small budgets. `reduced` is for protocols that take days as they are printed:
    smaller budgets and fewer repeats, but enough of both to judge every claim by. `report` takes whatever is finished.
    A cell that `can_work` denies needs a package that is not installed: it is left for another machine.
    """

    name: str
    cells: Callable[[bool], Sequence[Cell]]
    work: Callable[[Cell, Workplace], Mapping[str, Any]]
    report: Callable[[Sequence[Record]], Report]
    reduced: Callable[[], Sequence[Cell]] | None = None
    can_work: Callable[[Cell], bool] = lambda cell: True

    def protocols(self) -> Iterator[Sequence[Cell]]:
        """The cells of each, the fullest first."""
        yield self.cells(False)
        if self.reduced is not None:
            yield self.reduced()
        yield self.cells(True)
