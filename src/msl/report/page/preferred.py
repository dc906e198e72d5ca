"""Preferred: which alternatives of each choice the search asked for, among all models and among the best quarter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msl.report.page.chain import steps_of
from msl.report.page.figures import count, percent
from msl.report.page.html import Content, Html, joined, tag
from msl.report.page.outcome import Preference
from msl.report.page.plot import Key, legend
from msl.report.page.record import Record
from msl.report.page.section import Section, part, section, sentence, share_bar
from msl.report.page.table import Cell, Column, table

_KEYS = (Key("area", "k0", "share of all models"), Key("area", "k1", "share of the best quarter"))
_FEWEST = 8  # models, below which a quarter of them says nothing


def preferred_section(record: Record) -> Section | None:
    """A table with bars for each choice, as in the papers' figures."""
    found = record.outcome.preferred or _by_step(record)
    choices: dict[str, list[Preference]] = {}
    for one in found:
        choices.setdefault(one.choice, []).append(one)
    shown = [_choice(choice, blocks) for choice, blocks in choices.items() if len(blocks) > 1]
    return section("preferred", "Preferred blocks", legend(_KEYS), shown) if shown else None


def _choice(choice: str, blocks: Sequence[Preference]) -> Html:
    columns = [
        Column("block"),
        Column(""),
        Column("all", number=True),
        Column("best quarter", number=True),
        Column("asked", number=True),
    ]
    ordered = sorted(blocks, key=lambda one: (-one.best_share, -one.share, one.block))
    rows: list[list[Cell | Content]] = [
        [
            one.block,
            tag("div", share_bar(one.share, "k0"), share_bar(one.best_share, "k1"), class_="bars"),
            Cell(percent(one.share), one.share),
            Cell(percent(one.best_share), one.best_share),
            Cell(f"{one.asked:,}", one.asked),
        ]
        for one in ordered
    ]
    first = ordered[0]
    words = (
        f"{first.block} is in {percent(first.best_share)} of the best quarter and in {percent(first.share)} of all; "
        f"{sum(one.asked > 0 for one in blocks)} of {count(len(blocks), 'alternative')} were asked for."
    )
    return part(choice, joined([table(columns, rows, f"Shares of {choice}", style="shares"), sentence(words)]))


def _by_step(record: Record) -> tuple[Preference, ...]:
    """For a run without a verdict: the shares of the steps, whatever choice they belong to."""
    trials = [trial for trial in record.trials if trial.is_exact]
    if len(trials) < _FEWEST:
        return ()
    sign = 1 if record.goal.minimize else -1
    ranked = sorted(trials, key=lambda trial: sign * trial.values[0])
    best = ranked[: len(ranked) // 4]
    among_all = Counter(step for trial in trials for step in set(steps_of(trial.text)))
    among_best = Counter(step for trial in best for step in set(steps_of(trial.text)))
    return tuple(
        Preference("Steps", step, number, number / len(trials), among_best[step] / len(best))
        for step, number in among_all.items()
        if number < len(trials)
    )
