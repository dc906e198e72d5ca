"""How long evaluations took, which blocks are slow, what caches and the store saved, and which models failed."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from msl.report.html.markup import (
    Cell,
    Column,
    Content,
    Html,
    Section,
    count,
    duration,
    folded,
    part,
    percent,
    section,
    sentence,
    share_bar,
    shortened,
    table,
    tag,
)
from msl.report.html.model_view import LONGEST_MODEL, coloured, steps_of
from msl.report.html.plot import histogram
from msl.report.html.run_record import Record
from msl.report.run_facts import repeats_words
from msl.store.evaluation import Evaluation

_MOST_BLOCKS = 20
_WIDE = 20  # times the shortest, from where on logarithms show more
_FEWEST = 5  # evaluations that make a picture


def timings_section(record: Record) -> Section | None:
    """The times of what this run evaluated itself; reused evaluations cost nothing."""
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
    """Work saved by the cache, by racing and by the store."""
    fits, shared = record.counted("fits") or 0, record.counted("fits_saved") or 0
    reused, asked = record.counted("reused") or 0, record.counted("evaluations") or 0
    skipped = sum(one.folds_skipped for one in record.own)
    rows: list[list[Cell | Content]] = []
    if fits + shared:
        rows.append(_row("fits of steps, taken from the cache", shared, fits + shared))
    if asked:
        rows.append(_row("evaluations, reused from the store", reused, asked))
    if skipped:
        rows.append(["folds, skipped by racing", "", "", Cell(f"{skipped:,}", skipped), ""])
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


# --- Failures by cause, with an example of each -----------------------------------------------------------------------


_LONGEST_MESSAGE = 600
_MOST_ROWS = 30


def failures_section(record: Record) -> Section | None:
    """Failures by cause and step, and warnings of blocks."""
    failed = [one for one in record.evaluations if one.failure is not None]
    warned = [one for one in record.evaluations if one.warnings]
    if not failed and not warned:
        return None
    return section("failures", "Failures", _failures(record, failed), _warnings(record, warned))


def _failures(record: Record, failed: list[Evaluation]) -> Html | None:
    if not failed:
        return None
    groups: dict[tuple[str, str], list[Evaluation]] = {}
    for one in failed:
        assert one.failure is not None
        groups.setdefault((one.failure.cause, one.failure.step), []).append(one)
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    (cause, step), most = ordered[0]
    where = f" in {step}" if step else ""
    share = percent(len(failed) / len(record.evaluations))
    words = f"{count(len(failed), 'model')} failed, {share} of all; most often {cause}{where} ({len(most):,})."
    columns = [Column("models", number=True), Column("cause"), Column("step"), Column("an example", wide=True)]
    rows: list[list[Cell | Content]] = [
        [Cell(f"{len(group):,}", len(group)), cause, step or "–", _example(group[0])]
        for (cause, step), group in ordered[:_MOST_ROWS]
    ]
    return part("Models that failed", sentence(words), table(columns, rows, "Failures"), _left_out(len(ordered)))


def _example(one: Evaluation) -> Html:
    assert one.failure is not None
    message = shortened(one.failure.message, _LONGEST_MESSAGE) or "no message"
    return tag(
        "div", tag("p", message, class_="message"), folded("the model", coloured(shortened(one.text, LONGEST_MODEL)))
    )


def _warnings(record: Record, warned: list[Evaluation]) -> Html | None:
    if not warned:
        return None
    groups: dict[str, list[Evaluation]] = {}
    for one in warned:
        for warning in dict.fromkeys(one.warnings):
            groups.setdefault(warning, []).append(one)
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    words = f"{count(len(warned), 'model')} caused a warning, {percent(len(warned) / len(record.evaluations))} of all."
    columns = [Column("models", number=True), Column("warning", wide=True)]
    rows: list[list[Cell | Content]] = [
        [Cell(f"{len(group):,}", len(group)), tag("p", shortened(words, _LONGEST_MESSAGE), class_="message")]
        for words, group in ordered[:_MOST_ROWS]
    ]
    return part("Warnings", sentence(words), table(columns, rows, "Warnings"), _left_out(len(ordered)))


def _left_out(number: int) -> Iterable[Content]:
    return [sentence(f"{number - _MOST_ROWS:,} more kinds are left out.")] if number > _MOST_ROWS else []
