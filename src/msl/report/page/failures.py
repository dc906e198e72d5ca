"""Failures: models that came to no value, by their causes, with an example of each."""

from __future__ import annotations

from collections.abc import Iterable

from msl.report.page.figures import count, percent, shortened
from msl.report.page.html import Content, Html, tag
from msl.report.page.msl_code import LONGEST_MODEL, coloured
from msl.report.page.record import Record
from msl.report.page.section import Section, part, section, sentence
from msl.report.page.table import Cell, Column, folded, table
from msl.runs.evaluation import Evaluation

_LONGEST_MESSAGE = 600
_MOST_ROWS = 30


def failures_section(record: Record) -> Section | None:
    """Failures by cause and step, and what blocks have warned of."""
    failed = [one for one in record.evaluations if one.trouble is not None]
    warned = [one for one in record.evaluations if one.warnings]
    if not failed and not warned:
        return None
    return section("failures", "Failures", _failures(record, failed), _warnings(record, warned))


def _failures(record: Record, failed: list[Evaluation]) -> Html | None:
    if not failed:
        return None
    groups: dict[tuple[str, str], list[Evaluation]] = {}
    for one in failed:
        assert one.trouble is not None
        groups.setdefault((one.trouble.cause, one.trouble.step), []).append(one)
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
    assert one.trouble is not None
    message = shortened(one.trouble.message, _LONGEST_MESSAGE) or "no message"
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
    words = (
        f"{count(len(warned), 'model')} came with a warning, {percent(len(warned) / len(record.evaluations))} of all."
    )
    columns = [Column("models", number=True), Column("warning", wide=True)]
    rows: list[list[Cell | Content]] = [
        [Cell(f"{len(group):,}", len(group)), tag("p", shortened(words, _LONGEST_MESSAGE), class_="message")]
        for words, group in ordered[:_MOST_ROWS]
    ]
    return part("Warnings", sentence(words), table(columns, rows, "Warnings"), _left_out(len(ordered)))


def _left_out(number: int) -> Iterable[Content]:
    return [sentence(f"{number - _MOST_ROWS:,} more kinds are left out.")] if number > _MOST_ROWS else []
