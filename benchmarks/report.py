"""Report: what a benchmark came to — its tables, and for each claim whether it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.cell import Record
from benchmarks.provenance import MACHINE, PACKAGES

Entry = str | float | int | None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of figures under their columns; a figure that is not there is None."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that is to be shown. `holds` is None while there is too little to judge it by."""

    text: str
    holds: bool | None
    seen: str


@dataclass(frozen=True, slots=True)
class Report:
    """The whole of one benchmark. `ran` says in words exactly what was run."""

    name: str
    title: str
    ran: str
    tables: tuple[Table, ...]
    claims: tuple[Claim, ...] = ()
    made: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def made_by(records: Sequence[Record], peers: Sequence[str] = ()) -> dict[str, Any]:
    """The days, the states of the code, the machines and the versions that the records come from."""
    return {
        "days": sorted({record.date for record in records}),
        "code": sorted({record.code for record in records}),
        "cells": len(records),
        "hours": round(sum(record.seconds for record in records) / 3600, 2),
        "versions": {
            name: found for name in ("python", "msl", *PACKAGES, *peers) if (found := _environments(records, name))
        },
        "machine": _environments(records, MACHINE),
    }


def _environments(records: Sequence[Record], name: str) -> str:
    """What the records were run with, all that there was of it."""
    return " and ".join(sorted({record.environment[name] for record in records if name in record.environment}))


def origins(records: Iterable[Record]) -> str:
    """How many splits of which kind the records are of: published by the collection, or drawn with its sizes."""
    kinds = {(record.cell.data, record.cell.split): record.outcome.get("origin", "drawn") for record in records}
    counts = Counter(kinds.values())
    return f"{counts['published']} published, {counts['drawn']} drawn with the published sizes"
