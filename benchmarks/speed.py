"""Speed: every ratio that the project promises, measured against its reference, with its target beside it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from time import perf_counter
from typing import Any

from benchmarks.growth import Curve, measure_growth
from benchmarks.provenance import code_digest, machine, today, versions
from benchmarks.report import Claim, Entry, Report, Table

#: The modules that measure, each with `measure(quick)` that gives (name, figure, target, unit).
MODULES = ("language", "decode_speed", "blocks", "evaluator", "executors", "strategies", "faults")
#: Units of figures that are better when larger; of all others the target is the most that is allowed.
_LARGER = ("faster", "times as", "at least", "per second", "efficiency", "saved", "won")

Figure = tuple[str, float, float | None, str]


def measure_speed(quick: bool, only: str, say: Callable[[str], None]) -> Report:
    """Runs every module whose name has the text `only` (and `growth`), one after another."""
    start = perf_counter()
    rows: list[tuple[Entry, ...]] = []
    notes: list[str] = []
    for name in MODULES:
        if only in name:
            say(f"speed: {name}")
            found = _figures(name, quick)
            if isinstance(found, str):
                notes.append(found)
            else:
                rows += [_row(name, figure) for figure in found]
    tables = [Table("Ratios", ("of", "what", "seen", "target", "unit", "met"), tuple(rows), tuple(notes))]
    if only in "growth":
        say("speed: growth")
        tables.append(_growth(measure_growth(quick)))
    seconds = perf_counter() - start
    met = [row[5] for row in rows if row[5] is not None]
    claim = Claim("every ratio is met", met.count("no") == 0 if met else None, f"{met.count('yes')} of {len(met)}")
    return Report("speed", "Speed", _ran(quick, seconds), tuple(tables), (claim,), _made(len(rows), seconds))


def _figures(name: str, quick: bool) -> list[Figure] | str:
    """What a module measured, or why it has nothing."""
    try:
        measure: Any = getattr(import_module(f"benchmarks.{name}"), "measure", None)
        if measure is None:
            return f"`benchmarks/{name}.py` is a script of its own: it has no `measure`."
        return list(measure(quick))
    except ImportError as missing:
        return f"`benchmarks/{name}.py` needs what is not installed: {missing}."


def _row(module: str, figure: Figure) -> tuple[Entry, ...]:
    name, seen, target, unit = figure
    if target is None:
        return module, name, float(seen), None, unit, None
    larger = any(word in unit for word in _LARGER)
    met = seen >= target if larger else seen <= target
    return module, name, float(seen), float(target), unit, "yes" if met else "no"


def _growth(curves: list[Curve]) -> Table:
    rows = []
    for curve in curves:
        sizes = ", ".join(f"{size:,}" for size in curve.sizes)
        times = ", ".join(f"{1000 * one:.3g}" for one in curve.seconds)
        rows.append((curve.what, sizes, times, curve.slope))
    note = "A slope of 1 is growth in proportion, of 0 none; −1 is what workers can gain at best."
    return Table("Growth", ("of", "sizes", "milliseconds", "slope"), tuple(rows), (note,))


def _ran(quick: bool, seconds: float) -> str:
    kind = "Few repeats and small sizes (quick)" if quick else "All repeats"
    return f"{kind}; figures are ratios taken in one run, on a machine that others may use too; {seconds:.0f} s in all."


def _made(figures: int, seconds: float) -> dict[str, Any]:
    return {
        "days": [today()],
        "code": [code_digest()],
        "cells": figures,
        "hours": round(seconds / 3600, 2),
        "versions": versions(),
        "machine": machine(),
    }
