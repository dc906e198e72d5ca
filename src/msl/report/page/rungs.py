"""Rungs: how many models successive halving judged on which share of the rows, and how good they were."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from msl.report.page.figures import UNKNOWN, count, figure, percent
from msl.report.page.html import Html, joined
from msl.report.page.record import Record
from msl.report.page.section import sentence
from msl.report.page.table import Cell, Column, table


def rungs_table(record: Record, stage: int, rungs: Sequence[Mapping[str, Any]]) -> Html | None:
    """A row for each rung, in the order of climbing."""
    goal = record.goal
    names = ("rung", "share of the rows", "models", f"best {goal.name}", f"median {goal.name}", "failed")
    rows = []
    for number, rung in enumerate(rungs, 1):
        values = [goal.value(float(loss)) for loss in rung["losses"] if loss is not None and math.isfinite(loss)]
        best = (min if goal.minimize else max)(values, default=None)
        middle = median(values) if values else None
        failed = len(rung["losses"]) - len(values)
        rows.append(
            [
                Cell(str(number), number),
                Cell(percent(rung["share"]), rung["share"]),
                Cell(f"{len(rung['losses']):,}", len(rung["losses"])),
                Cell(figure(best) if best is not None else UNKNOWN, best),
                Cell(figure(middle) if middle is not None else UNKNOWN, middle),
                Cell(f"{failed:,}", failed),
            ]
        )
    whole = sum(len(rung["losses"]) for rung in rungs if rung["share"] == 1.0)
    words = f"{count(whole, 'model')} came to be judged on all rows. Values on different shares do not compare."
    return joined([table([Column(name, number=True) for name in names], rows, "Rungs"), sentence(words)])
