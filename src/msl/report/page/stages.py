"""Stages: what each strategy told of its own way — particles, sweeps, levels, generations, fronts, arms, finalists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msl.report.page.arms import arms_table
from msl.report.page.confirmed import confirmed_table
from msl.report.page.front_history import hypervolume_figure
from msl.report.page.generations import generations_figure
from msl.report.page.html import Content, Html
from msl.report.page.level_table import levels_tables
from msl.report.page.particles import particles_figure
from msl.report.page.record import Record
from msl.report.page.rungs import rungs_table
from msl.report.page.section import Section, part, section, sentence
from msl.report.page.sweeps import sweeps_figure
from msl.report.page.trace import improvements_table, trace_figure

Told = Sequence[Mapping[str, Any]]

#: For each kind of event: what it is called on the page, and how its figures are shown.
_KINDS: dict[str, tuple[str, Callable[[Record, int, Told], Html | None]]] = {
    "iteration": ("Particles", particles_figure),
    "sweep": ("Sweeps of pattern search", sweeps_figure),
    "level": ("Levels of best-first search", levels_tables),
    "generation": ("Generations", generations_figure),
    "front": ("The front as it grew", hypervolume_figure),
    "arm": ("Arms", arms_table),
    "rung": ("Rungs of successive halving", rungs_table),
    "confirmed": ("Confirmed", confirmed_table),
}


def search_section(record: Record) -> Section | None:
    """The trace of the whole search, then what is special to its strategies."""
    if not record.trials:
        return None
    return section(
        "search", "The search", trace_figure(record), improvements_table(record), _parts(record), _ends(record)
    )


def _parts(record: Record) -> list[Content]:
    parts: list[Content] = []
    for kind, (title, show) in _KINDS.items():
        told: dict[int, list[Mapping[str, Any]]] = {}
        for stage, figures in record.told(kind):
            told.setdefault(stage, []).append(figures)
        for stage, figures_of_stage in told.items():
            shown = show(record, stage, figures_of_stage)
            if shown is not None:
                several = len(record.plan.strategies) > 1
                parts.append(part(f"{title}: {record.strategy(stage)}" if several else title, shown))
    return parts


def _ends(record: Record) -> Html | None:
    """Why each strategy had nothing more to ask."""
    ends = [(stage, str(figures["why"])) for stage, figures in record.told("end") if figures.get("why")]
    if not ends:
        return None
    if len(record.plan.strategies) == 1:
        return sentence(f"The search ended because {ends[-1][1]}.")
    return sentence(" ".join(f"{record.strategy(stage)} ended because {why}." for stage, why in ends))
