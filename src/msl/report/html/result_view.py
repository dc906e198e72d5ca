"""A result in a notebook: the model, its figures, and the best of the other models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msl.report.html.markup import Content, Html, code, count, duration, figure, tag
from msl.report.run_facts import baseline_words, ledger_words, not_ahead, test_label, used_model

#: Models that are listed beside the best.
_MOST_MODELS = 5
_CELL = "text-align: left; vertical-align: top; padding: 0.1em 1em 0.1em 0;"


def result_view(summary: Mapping[str, Any], evaluations: Sequence[Mapping[str, Any]], minimizes: bool) -> str:
    """The result of a run as HTML that needs no style of its own, so that it looks like the notebook."""
    used = used_model(summary)
    model = tag("pre", code(str(summary["best"])), style="white-space: pre-wrap; margin: 0.3em 0;")
    figures = _table(_figures(summary, used))
    return str(tag("div", model, figures, _others(summary, evaluations, minimizes)))


def _figures(summary: Mapping[str, Any], used: Any) -> Iterator[tuple[Content, Content]]:
    yield "final model", used.words
    for name, value in used.objectives.items():
        between = used.interval.get(name)
        spread = "" if between is None else f" (95 % interval {figure(between[0])} … {figure(between[1])})"
        yield name, f"{figure(value)}{spread}"
    for name, value in used.test.items():
        yield (
            f"{name} on the test table" + ("" if test_label(summary) == "test" else f" ({test_label(summary)})"),
            figure(value),
        )
    for words in [*filter(None, [not_ahead(summary)]), *ledger_words(summary)]:
        yield "note", words
    for words in baseline_words(summary):
        yield "baseline", words
    failed = int(summary["failures"])
    done = count(int(summary["evaluations"]), "evaluation")
    yield "search", f"{done} in {duration(float(summary['seconds']))}" + (f", {failed} failed" if failed else "")
    for one in summary.get("warnings", ())[:_MOST_MODELS]:
        yield "warning", str(one["warning"])


def _others(summary: Mapping[str, Any], evaluations: Sequence[Mapping[str, Any]], minimizes: bool) -> Html | None:
    """The best evaluated models by the first objective, folded."""
    name = next(iter(summary["objectives"]))
    known = [row for row in evaluations if row.get(name) is not None and row["share"] == 1.0]
    known.sort(key=lambda row: row[name], reverse=not minimizes)
    distinct: dict[str, Any] = {}
    for row in known:
        distinct.setdefault(row["model"], row[name])
    if len(distinct) < 2:
        return None
    rows = [(figure(value), code(model)) for model, value in list(distinct.items())[:_MOST_MODELS]]
    return tag("details", tag("summary", f"the best of {count(len(distinct), 'model')} by {name}"), _table(rows))


def _table(rows: Iterable[tuple[Content, Content]]) -> Html:
    cells = [tag("tr", tag("td", name, style=_CELL), tag("td", value, style=_CELL)) for name, value in rows]
    return tag("table", tag("tbody", cells))
