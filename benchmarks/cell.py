"""Cell: the smallest piece of a benchmark that is run and kept — one method on one split of one data set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

#: The machine and the versions that something was run with.
Environment = Mapping[str, str]


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
    """A finished cell: what came of it, how long it took, by which code and when, and with what it was run.

    The environment is the same for many records, so the journal keeps it apart from them.
    """

    cell: Cell
    outcome: Mapping[str, Any]
    seconds: float
    date: str
    code: str
    environment: Environment = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        found = asdict(self)
        del found["environment"]
        return found

    @classmethod
    def of_json(cls, found: Mapping[str, Any], environment: Environment) -> Record:
        cell = Cell(**found["cell"])
        return cls(cell, found["outcome"], found["seconds"], found["date"], found["code"], environment)
