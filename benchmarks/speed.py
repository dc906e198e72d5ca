"""Speed: every ratio that the project promises, measured against its reference, with its target beside it.

Each part is measured and kept on its own, since a machine is seldom idle for as long as all of them take. Of a part
that was measured both in full and quickly, the full figures are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.cell import Cell, Record
from benchmarks.journal import Journal
from benchmarks.provenance import PEERS, code_digest, environment, today
from benchmarks.report import Claim, Entry, Report, Table, made_by

#: The modules that measure, each with `measure(quick)` that gives (name, figure, target, unit).
MODULES = ("language", "decode_speed", "blocks", "evaluator", "executors", "faults", "kept_outputs")
#: The parts of `strategies`, which take from seconds to hours; those on the Hermite curve are not for a quick run.
STRATEGY_PARTS = ("swarms", "fronts", "adaptive", "occam", "cost")
NOT_QUICK = "strategies.occam"
GROWTH = "growth"
PARTS = (*MODULES, *(f"strategies.{part}" for part in STRATEGY_PARTS), GROWTH)
FULL, QUICK = "full", "quick"
#: Units of figures that are better when larger; of all others the target is the most that is allowed.
_LARGER = ("faster", "times as", "at least", "per second", "efficiency", "saved", "won")


def measure_speed(quick: bool, only: str, store: Path, say: Callable[[str], None]) -> None:
    """Measures every part whose name has the text `only`, one after another, and writes each down when it is done."""
    journal = Journal(store / "speed.jsonl")
    for part in PARTS:
        if only not in part or (quick and part == NOT_QUICK):
            continue
        say(f"speed: {part}")
        start = perf_counter()
        try:
            outcome = _measured(part, quick)
        except ImportError as missing:
            say(f"speed: {part} needs what is not installed: {missing}")
            continue
        seconds = perf_counter() - start
        cell = Cell(part, 0, "speed", QUICK if quick else FULL)
        journal.write(Record(cell, outcome, round(seconds, 2), today(), code_digest(), environment()))


def _measured(part: str, quick: bool) -> dict[str, Any]:
    module, _, section = part.partition(".")
    measuring: Any = import_module(f"benchmarks.{module}")
    if part == GROWTH:
        curves = measuring.measure_growth(quick)
        return {"curves": [[one.what, list(one.sizes), list(one.seconds), one.slope] for one in curves]}
    figures = measuring.PARTS[section](quick, None) if section else measuring.measure(quick)
    return {"figures": [list(figure) for figure in figures]}


def speed_report(records: Sequence[Record]) -> Report:
    """All parts that were ever measured, the full figures where there are some."""
    by_part = {record.cell.data: record for record in sorted(records, key=lambda one: one.cell.budget == FULL)}
    known = [by_part[part] for part in PARTS if part in by_part]
    rows = [_row(record, figure) for record in known for figure in record.outcome.get("figures", ())]
    tables = [Table("Ratios", ("of", "what", "seen", "target", "unit", "met", "sizes"), tuple(rows))]
    if GROWTH in by_part:
        tables.append(_growth(by_part[GROWTH]))
    met = [row[5] for row in rows if row[5] is not None]
    claim = Claim("every ratio is met", met.count("no") == 0 if met else None, f"{met.count('yes')} of {len(met)}")
    return Report("speed", "Speed", _ran(known), tuple(tables), (claim,), made_by(known, PEERS))


def _row(record: Record, figure: Sequence[Any]) -> tuple[Entry, ...]:
    name, seen, target, unit = figure
    sizes = record.cell.budget
    if target is None:
        return record.cell.data, name, float(seen), None, unit, None, sizes
    larger = any(word in unit for word in _LARGER)
    met = seen >= target if larger else seen <= target
    return record.cell.data, name, float(seen), float(target), unit, "yes" if met else "no", sizes


def _growth(record: Record) -> Table:
    rows = []
    for what, sizes, seconds, slope in record.outcome["curves"]:
        listed = ", ".join(f"{size:,}" for size in sizes)
        times = ", ".join(f"{1000 * one:.3g}" for one in seconds)
        rows.append((what, listed, times, slope))
    note = "A slope of 1 is growth in proportion, of 0 none; −1 is what workers can gain at best."
    return Table("Growth", ("of", "sizes", "milliseconds", "slope"), tuple(rows), (note,))


def _ran(known: Sequence[Record]) -> str:
    full = [record.cell.data for record in known if record.cell.budget == FULL]
    quick = [record.cell.data for record in known if record.cell.budget == QUICK]
    return (
        f"In full: {', '.join(full) or 'nothing'}. With few repeats and small sizes (quick): "
        f"{', '.join(quick) or 'nothing'}. Figures are ratios, each taken against its reference in the same run."
    )
