"""Confirmed: what the best models of a search came to on new splits, beside what they were found at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msl.report.page.figures import UNKNOWN, count, figure
from msl.report.page.html import Html, joined
from msl.report.page.record import Record
from msl.report.page.section import sentence
from msl.report.page.table import Cell, Column, table

#: Finalists that are shown.
_MOST = 12


def confirmed_table(record: Record, stage: int, turns: Sequence[Mapping[str, Any]]) -> Html | None:
    """A row for each of the best finalists after the last turn."""
    goal, last = record.goal, turns[-1]
    rows = []
    for place, (loss, found) in enumerate(zip(last["losses"][:_MOST], last["found_at"], strict=False), 1):
        shown = [None if one is None else goal.value(float(one)) for one in (loss, found)]
        cells = [Cell(UNKNOWN if one is None else figure(one), one) for one in shown]
        rows.append([Cell(str(place), place), *cells])
    names = ("place", f"{goal.name} on new splits", f"{goal.name} when found")
    words = f"{count(len(last['losses']), 'model')} judged again in {count(len(turns), 'turn')}; the mean decides."
    return joined([table([Column(name, number=True) for name in names], rows, "Finalists"), sentence(words)])
