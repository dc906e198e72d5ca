"""Arms: which strategies the automatic search gave its evaluations to, and what they gained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from msl.report.page.figures import count, difference, percent
from msl.report.page.html import Content, Html, joined
from msl.report.page.record import Record
from msl.report.page.section import sentence, share_bar
from msl.report.page.table import Cell, Column, table


@dataclass(slots=True)
class _Arm:
    batches: int = 0
    evaluations: int = 0
    improved: int = 0
    gained: float = 0.0


def arms_table(record: Record, stage: int, batches: Sequence[Mapping[str, Any]]) -> Html | None:
    """A row for each arm."""
    arms: dict[str, _Arm] = {}
    best: float | None = None
    for batch in batches:
        arm = arms.setdefault(str(batch["arm"]), _Arm())
        arm.batches += 1
        arm.evaluations += len(batch["losses"])
        now = float(batch["best"])
        if best is not None and isfinite(best) and now < best:
            arm.improved += 1
            arm.gained += best - now
        best = now
    total = sum(arm.evaluations for arm in arms.values())
    columns = [
        Column("arm"),
        Column(""),
        Column("share", number=True),
        Column("evaluations", number=True),
        Column("times better", number=True),
        Column(f"gain in {record.goal.name}", number=True),
    ]
    rows: list[list[Cell | Content]] = [
        [
            name,
            share_bar(arm.evaluations / total, "k1"),
            Cell(percent(arm.evaluations / total), arm.evaluations),
            Cell(f"{arm.evaluations:,}", arm.evaluations),
            Cell(str(arm.improved), arm.improved),
            Cell(difference(-arm.gained if record.goal.minimize else arm.gained), arm.gained),
        ]
        for name, arm in sorted(arms.items(), key=lambda one: -one[1].evaluations)
    ]
    useful = max(arms, key=lambda name: arms[name].gained)
    words = f"{count(total, 'evaluation')} in {count(len(batches), 'batch', 'batches')}"
    return joined(
        [
            table(columns, rows, "Arms of the automatic search"),
            sentence(f"{words}; {useful} gained most after the start."),
        ]
    )
