"""Sweeps: how the steps of pattern search shrink, and which sweeps moved it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msl.report.page.figures import count, figure
from msl.report.page.html import Html, joined
from msl.report.page.plot import Axis, Plot
from msl.report.page.record import Record
from msl.report.page.scale import Scale
from msl.report.page.section import sentence
from msl.report.page.table import Cell, Column, folded, table


def sweeps_figure(record: Record, stage: int, sweeps: Sequence[Mapping[str, Any]]) -> Html | None:
    """The step of each sweep as a picture, and the sweeps as a table."""
    moved = [one for one in sweeps if one["moved"]]
    tried = sum(int(one["tried"]) for one in sweeps)
    caption = (
        f"{count(len(sweeps), 'sweep')} tried {count(tried, 'step')} from {figure(sweeps[0]['step'])} down to "
        f"{figure(sweeps[-1]['step'])} of each gene's range; {count(len(moved), 'sweep')} found something better."
    )
    shown = _table(record, sweeps)
    if len(sweeps) < 3:
        return joined([shown, sentence(caption)])
    steps = [float(one["step"]) for one in sweeps]
    plot = Plot(
        f"sweeps-{stage}",
        "The steps of pattern search",
        Axis("sweep", Scale(1, len(sweeps), say=lambda value: f"{value:.0f}"), counts=True),
        Axis("step", Scale.of(steps, log=True)),
        height=200,
    )
    plot.line([(int(one["sweep"]), float(one["step"])) for one in sweeps], "k0", more="thin")
    for is_moved, colour, label in ((True, "k1", "found a better model"), (False, "k0", "found none")):
        here = [one for one in sweeps if bool(one["moved"]) is is_moved]
        if here:
            plot.dots([(int(one["sweep"]), float(one["step"])) for one in here], colour, more="big")
            plot.key("dot", colour, label)
    for one in sweeps:
        best = figure(_best(record, one))
        words = f"sweep {one['sweep']}: step {figure(one['step'])}, {count(one['tried'], 'try', 'tries')}, best {best}"
        plot.hint((int(one["sweep"]), float(one["step"])), words)
    return joined([plot.figure(caption, caption), folded("The sweeps as a table", shown)])


def _table(record: Record, sweeps: Sequence[Mapping[str, Any]]) -> Html:
    columns = [Column(name, number=name != "moved") for name in ("sweep", "step", "tried", "moved", record.goal.name)]
    rows = [
        [
            Cell(str(one["sweep"]), one["sweep"]),
            Cell(figure(one["step"]), one["step"]),
            Cell(f"{one['tried']:,}", one["tried"]),
            "yes" if one["moved"] else "no",
            Cell(figure(_best(record, one)), _best(record, one)),
        ]
        for one in sweeps
    ]
    return table(columns, rows, "Sweeps")


def _best(record: Record, sweep: Mapping[str, Any]) -> float:
    return record.goal.value(float(sweep["best"]))
