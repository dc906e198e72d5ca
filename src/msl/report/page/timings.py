"""Timings: how long evaluations took, which blocks are slow, and what was saved by not fitting twice."""

from __future__ import annotations

from statistics import median

from msl.report.page.chain import steps_of
from msl.report.page.figures import count, duration, percent
from msl.report.page.histogram import histogram
from msl.report.page.html import Content, Html
from msl.report.page.record import Record
from msl.report.page.section import Section, part, section, sentence, share_bar
from msl.report.page.table import Cell, Column, table
from msl.report.repeats import repeats_words
from msl.runs.evaluation import Evaluation

_MOST_BLOCKS = 20
_WIDE = 20  # times the shortest, from where on logarithms show more
_FEWEST = 5  # evaluations that make a picture


def timings_section(record: Record) -> Section | None:
    """Of what this run evaluated itself; what came from the store cost nothing."""
    saved = _saved(record)
    if not record.own:
        return section("timings", "Time", saved) if saved is not None else None
    return section("timings", "Time", _spread(record.own), _slowest(record.own), saved)


def _spread(own: tuple[Evaluation, ...]) -> Html | None:
    seconds = [one.seconds for one in own]
    total, longest = sum(seconds), max(own, key=lambda one: one.seconds)
    caption = (
        f"{count(len(own), 'evaluation')} took {duration(total)} of work in all, half of them at most "
        f"{duration(median(seconds))}, the longest {duration(longest.seconds)}: {' >> '.join(steps_of(longest.text))}."
    )
    if len(own) < _FEWEST or min(seconds) == max(seconds):
        return sentence(caption)
    log = min(seconds) > 0 and max(seconds) / min(seconds) > _WIDE
    return histogram(
        "seconds",
        "Time of an evaluation",
        seconds,
        "time of an evaluation",
        "evaluations",
        caption,
        log=log,
        say=duration,
    )


def _slowest(own: tuple[Evaluation, ...]) -> Html | None:
    """Blocks by the middle of the times of models that have them; nothing where all models have the same blocks."""
    times: dict[str, list[float]] = {}
    for one in own:
        for step in dict.fromkeys(steps_of(one.text)):
            times.setdefault(step, []).append(one.seconds)
    if all(len(seconds) == len(own) for seconds in times.values()):
        return None
    ordered = sorted(times.items(), key=lambda item: -median(item[1]))[:_MOST_BLOCKS]
    most = median(ordered[0][1]) or 1.0
    columns = [Column("block"), Column("")]
    columns += [Column(name, number=True) for name in ("median time", "longest", "models")]
    rows: list[list[Cell | Content]] = [
        [
            name,
            share_bar(median(seconds) / most, "k1"),
            Cell(duration(median(seconds)), median(seconds)),
            Cell(duration(max(seconds)), max(seconds)),
            Cell(f"{len(seconds):,}", len(seconds)),
        ]
        for name, seconds in ordered
    ]
    words = f"Models with {ordered[0][0]} took longest, half of them {duration(most)} or more."
    return part(
        "The slowest blocks",
        table(columns, rows, "Slowest blocks", style="shares"),
        sentence(f"{words} A model's time counts for each of its blocks."),
    )


def _saved(record: Record) -> Html | None:
    """What sharing, racing and the store have spared."""
    fits, shared = record.counted("fits") or 0, record.counted("fits_saved") or 0
    reused, asked = record.counted("reused") or 0, record.counted("evaluations") or 0
    skipped = sum(one.folds_skipped for one in record.own)
    rows: list[list[Cell | Content]] = []
    if fits + shared:
        rows.append(_row("fits of steps, shared between models", shared, fits + shared))
    if asked:
        rows.append(_row("evaluations, answered from the store", reused, asked))
    if skipped:
        rows.append(["folds, not needed to tell that a model loses", "", "", Cell(f"{skipped:,}", skipped), ""])
    if not rows:
        return None
    columns = [Column("what"), Column(""), *(Column(name, number=True) for name in ("share", "saved", "of"))]
    shown = [table(columns, rows, "What was saved", sorts=False, style="shares")]
    if repeats := repeats_words({**record.outcome.counts, "ending": record.outcome.ending}):
        shown.append(sentence(f"{repeats.replace('`', '')}."))
    return part("What was saved", *shown)


def _row(what: str, saved: int, total: int) -> list[Cell | Content]:
    share = saved / total
    return [what, share_bar(share, "k3"), Cell(percent(share), share), Cell(f"{saved:,}"), Cell(f"{total:,}")]
