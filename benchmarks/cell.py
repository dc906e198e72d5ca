"""Cell: the smallest piece of a benchmark that is run and kept — one method on one split of one data set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Cell:
    """`budget` says how much work it was, so that quick results are never taken for full ones."""

    data: str
    split: int
    method: str
    budget: str

    @property
    def key(self) -> str:
        """How `--only`, progress and folders name it."""
        return f"{self.data}/{self.split}/{self.method}/{self.budget}"


@dataclass(frozen=True, slots=True)
class Record:
    """A finished cell: what came of it, how long it took, and by which code and when."""

    cell: Cell
    outcome: Mapping[str, Any]
    seconds: float
    date: str
    code: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> Record:
        return cls(Cell(**found["cell"]), found["outcome"], found["seconds"], found["date"], found["code"])
