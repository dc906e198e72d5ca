"""Run: one search from beginning to end — what was asked for, who works on it, how it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from msl.runs.process import Process

Status = Literal["running", "finished", "interrupted", "failed"]


@dataclass(frozen=True, slots=True)
class Digests:
    """Which space, which table, how models are judged and searched; `run` is of all of it together, seed included."""

    space: str
    run: str
    data: str
    evaluation: str
    search: str


@dataclass(frozen=True, slots=True)
class Order:
    """What a run is to do.

    `sources` holds the text of every file it reads under the name the spec uses for it; `spec` is the main one's.
    `options` and `versions` are kept for the reports.
    """

    name: str
    spec: str
    sources: Mapping[str, str]
    digests: Digests
    seed: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.spec not in self.sources:
            raise ValueError(f"the text of the spec `{self.spec}` is not among the sources")


@dataclass(frozen=True, slots=True)
class Run:
    """A run as the store knows it; `sources` are read apart.

    `status` is what it is now: a run that says it is going on, but whose process is gone, is interrupted. `seen` is
    when it last wrote something; `result` is whatever it was finished with.
    """

    id: str
    name: str
    spec: str
    digests: Digests
    seed: int
    versions: Mapping[str, str]
    options: Mapping[str, Any]
    status: Status
    started: datetime
    ended: datetime | None
    seen: datetime
    process: Process
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a run, and its figures.

    What the strategy tells has a `position`, counted from 0, and happens again in a replay. What befell the run itself
    (it was resumed, its time was up) has none.
    """

    kind: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    position: int | None = None
    #: The store's: it fills it in.
    at: datetime | None = None
