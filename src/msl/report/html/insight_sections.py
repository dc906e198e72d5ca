"""The best models of a run, what mattered in its search and to its model: for the page and for notebooks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msl.report.html.markup import (
    Cell,
    Column,
    Content,
    Html,
    Section,
    code,
    count,
    duration,
    figure,
    joined,
    part,
    percent,
    section,
    sentence,
    share_bar,
    shortened,
    table,
    tag,
)
from msl.report.html.model_view import LONGEST_MODEL, coloured
from msl.report.html.plot import Axis, Plot, Scale
from msl.report.html.run_record import Record
from msl.report.insight_text import places
from msl.report.run_facts import baseline_words, best_models, ledger_words, not_ahead, test_label, used_model

_MOST_ROWS = 15
_MOST_LEADERS = 10
#: Colours of the classes of an effect.
_COLOURS = ("k1", "k2", "k3", "k4", "k5", "k6")
_CELL = "text-align: left; vertical-align: top; padding: 0.1em 1em 0.1em 0;"


# --- the best models --------------------------------------------------------------------------------------------------


def leaders_section(record: Record) -> Section | None:
    """What `msl top` shows."""
    rows = best_models(record.run.result)[:_MOST_LEADERS]
    if len(rows) < 2:
        return None
    names = list(rows[0]["objectives"])
    has = {name: any(row.get(name) is not None for row in rows) for name in ("corrected", "spread", "complexity")}
    tests = list(rows[0].get("test") or ())
    columns = [Column("", number=True)]
    columns += [Column("corrected", number=True)] if has["corrected"] else []
    columns += [Column(name, number=True) for name in names]
    columns += [Column(f"test {name}", number=True) for name in tests]
    columns += [Column("spread", number=True)] if has["spread"] else []
    columns += [Column("time", number=True), *([Column("complexity", number=True)] if has["complexity"] else [])]
    columns += [Column("model", wide=True)]
    cells: list[list[Cell | Content]] = []
    for place, row in enumerate(rows, 1):
        line: list[Cell | Content] = [Cell(f"{place}", place)]
        line += [_number(row.get("corrected"))] if has["corrected"] else []
        line += [_number(row["objectives"].get(name)) for name in names]
        line += [_number((row.get("test") or {}).get(name)) for name in tests]
        line += [_number(row.get("spread"))] if has["spread"] else []
        seconds = row.get("seconds")
        line += [Cell("–" if seconds is None else duration(float(seconds)), seconds)]
        line += [_number(row.get("complexity"))] if has["complexity"] else []
        cells.append([*line, coloured(shortened(str(row["model"]), LONGEST_MODEL))])
    words = "The losses are those that the search found, which is partly luck."
    if has["corrected"]:
        words = "Corrected is what the model in this place is worth on new rows; the losses beside it are partly luck."
    return section("top", "The best models", table(columns, cells, "The best models"), sentence(words))


def _number(value: Any) -> Cell:
    return Cell("–") if value is None else Cell(figure(float(value)), float(value))


# --- what was found out -----------------------------------------------------------------------------------------------


def kept_why(record: Record) -> Mapping[str, Any] | None:
    """What `msl why` has found and kept."""
    file = Path(record.folder) / "reports" / f"{record.run.id}.why.json"
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and {"search", "model"} <= found.keys() else None


def importance_section(record: Record) -> Section | None:
    found = kept_why(record)
    if found is None:
        return None
    parts = [_importance(one) for one in found["search"] if not one["why"]]
    return section("mattered", "What mattered in the search", parts) if parts else None


def model_section(record: Record) -> Section | None:
    found = kept_why(record)
    if found is None or found["model"] is None:
        return None
    return section("looks", "What the model looks at", _model_parts(found["model"]))


def _importance(one: Mapping[str, Any]) -> Html:
    rows = [row for row in one["decisions"] if row["is_certain"]][:_MOST_ROWS]
    others = [row["name"] for row in one["decisions"] if not row["is_certain"]]
    most = max((row["importance"] for row in rows), default=0.0) or 1.0
    cells: list[list[Cell | Content]] = [
        [
            code(row["name"]),
            share_bar(row["importance"] / most, "k1"),
            Cell(percent(row["importance"]), row["importance"]),
            f"{percent(row['interval'][0])} to {percent(row['interval'][1])}",
            Cell(places(row), (row.get("place") or (None,))[0]),
            Cell(f"{row['active']:,}", row["active"]),
            row["best"],
        ]
        for row in rows
    ]
    columns = [Column("decision"), Column(""), Column("explains", number=True), Column("95 % interval", number=True)]
    columns += [Column("place", number=True), Column("models", number=True), Column("good models", wide=True)]
    words = (
        "Explains: the share of what decides whether a model is among the best quarter that this decision explains by "
        f"itself, in the models that have it; of {count(one['models'], 'model')}. Place: the places that it may have "
        "in the order of all."
    )
    shown: list[Content] = (
        [table(columns, cells, f"What mattered for {one['objective']}", style="shares")] if rows else []
    )
    return part(f"For {one['objective']}", [*shown, sentence(words), _not_apart(others)])


def _not_apart(names: Sequence[str]) -> Html | None:
    if not names:
        return None
    listed = ", ".join(names[:_MOST_ROWS]) + (f" and {len(names) - _MOST_ROWS} more" * (len(names) > _MOST_ROWS))
    return sentence(f"Not told apart from chance: {listed}.")


def _model_parts(model: Mapping[str, Any]) -> list[Html]:
    found = [_columns(model)]
    if model["effects"]:
        found.append(part("Effects", [_effect(place, one) for place, one in enumerate(model["effects"])]))
    if model["worst"]:
        found.append(part("The rows that it is furthest off", _worst(model), sentence(f"Off: {model['off']}.")))
    found += [sentence(f"{note[0].upper()}{note[1:]}.") for note in model["notes"]]
    return found


def _columns(model: Mapping[str, Any]) -> Html:
    rows = [row for row in model["columns"] if row["is_certain"]][:_MOST_ROWS]
    others = [", ".join(row["columns"]) for row in model["columns"] if not row["is_certain"]]
    most = max((row["importance"] for row in rows), default=0.0) or 1.0
    cells: list[list[Cell | Content]] = [
        [
            ", ".join(row["columns"]),
            share_bar(row["importance"] / most, "k1"),
            Cell(figure(row["importance"]), row["importance"]),
            f"{figure(row['interval'][0])} to {figure(row['interval'][1])}",
        ]
        for row in rows
    ]
    columns = [Column("column"), Column(""), Column("worse by", number=True), Column("95 % interval", number=True)]
    words = (
        f"The {model['metric']} of {count(model['rows'], 'held-out row')} is {figure(model['value'])}; it gets worse "
        "by this much if the values of a column are shuffled."
    )
    together = [
        sentence(
            f"{' and '.join(row['columns'])} go together: shuffled as one, worse by {figure(row['importance'])} "
            f"({figure(row['interval'][0])} to {figure(row['interval'][1])})."
        )
        for row in model["together"]
    ]
    shown: list[Content] = [table(columns, cells, "Columns", style="shares")] if rows else []
    return part("Columns", [*shown, sentence(words), _not_apart(others), *together])


def _effect(place: int, effect: Mapping[str, Any]) -> Html:
    values, series = effect["values"], effect["series"]
    title = f"{effect['outputs']} by {effect['column']}"
    numbers = [number for name in series for number in (*effect["low"][name], *effect["high"][name])]
    y = Scale.of(numbers)
    if isinstance(values[0], str):
        return _effect_of_symbols(title, effect)
    x = Scale.of([float(value) for value in values], round_ends=False)
    plot = Plot(f"effect{place}", title, Axis(effect["column"], x), Axis(effect["outputs"], y), height=200)
    for colour, (name, line) in zip(_COLOURS, series.items(), strict=False):
        for edge in ("low", "high"):
            plot.line(list(zip(values, effect[edge][name], strict=True)), "k0")
        plot.line(list(zip(values, line, strict=True)), colour)
        plot.key("line", colour, name)
        for value, number in zip(values, line, strict=True):
            plot.hint((value, number), f"{effect['column']} = {figure(value)}: {figure(number)}")
    plot.key("line", "k0", "the lowest and highest of the folds")
    caption = f"{title[0].upper()}{title[1:]}, if all rows had that value."
    return plot.figure(caption, caption)


def _effect_of_symbols(title: str, effect: Mapping[str, Any]) -> Html:
    columns = [Column(effect["column"])]
    for name in effect["series"]:
        columns += [Column(""), Column(name, number=True), Column("over the folds", number=True)]
    most = max(abs(number) for line in effect["series"].values() for number in line) or 1.0
    cells: list[list[Cell | Content]] = []
    for row, value in enumerate(effect["values"]):
        line: list[Cell | Content] = [str(value)]
        for colour, (name, numbers) in zip(_COLOURS, effect["series"].items(), strict=False):
            low, high = effect["low"][name][row], effect["high"][name][row]
            line += [share_bar(abs(numbers[row]) / most, colour), Cell(figure(numbers[row]), numbers[row])]
            line += [f"{figure(low)} to {figure(high)}"]
        cells.append(line)
    return joined(
        [
            sentence(f"{title[0].upper()}{title[1:]}."),
            table(columns[: 1 + 3 * len(_COLOURS)], cells, title, style="shares"),
        ]
    )


def _worst(model: Mapping[str, Any]) -> Html:
    names = list(model["worst"][0]["values"])
    columns = [Column("row", number=True), Column("true"), Column("predicted"), Column("off", number=True)]
    columns += [Column(name) for name in names]
    cells: list[list[Cell | Content]] = [
        [
            Cell(f"{row['row']:,}", row["row"]),
            row["truth"],
            row["predicted"],
            Cell(figure(row["off"]), row["off"]),
            *(str(row["values"].get(name, "")) for name in names),
        ]
        for row in model["worst"]
    ]
    return table(columns, cells, "The rows that it is furthest off")


# --- notebooks --------------------------------------------------------------------------------------------------------


def why_view(record: Mapping[str, Any]) -> str:
    """What `Result.why()` found, as HTML that needs no style of its own."""
    pieces: list[Content] = []
    for one in record["search"]:
        head = tag("p", tag("b", f"What mattered in the search for {one['objective']}"))
        if one["why"]:
            pieces += [head, tag("p", one["why"])]
            continue
        rows = [
            (
                code(row["name"]),
                percent(row["importance"]),
                f"{percent(row['interval'][0])} to {percent(row['interval'][1])}",
                places(row),
            )
            for row in one["decisions"]
            if row["is_certain"]
        ]
        pieces += [head, _plain_table(rows), _not_apart([r["name"] for r in one["decisions"] if not r["is_certain"]])]
    pieces += [tag("p", words) for words in (record["search_why"], record["model_why"]) if words]
    if model := record["model"]:
        of_columns = [
            (
                ", ".join(row["columns"]),
                figure(row["importance"]),
                f"{figure(row['interval'][0])} to {figure(row['interval'][1])}",
            )
            for row in model["columns"]
            if row["is_certain"]
        ]
        pieces += [tag("p", tag("b", f"What the model looks at: {model['metric']} worse by, if shuffled"))]
        pieces += [
            _plain_table(of_columns),
            _not_apart([", ".join(r["columns"]) for r in model["columns"] if not r["is_certain"]]),
        ]
        of = [(f"row {row['row']}", row["truth"], row["predicted"], figure(row["off"])) for row in model["worst"]]
        pieces += [tag("details", tag("summary", "the rows that it is furthest off"), _plain_table(of))] if of else []
    return str(tag("div", pieces))


def suggestions_view(record: Mapping[str, Any]) -> str:
    rows = [(tag("b", one["says"]), one["evidence"]) for one in record["suggestions"]]
    why = record["why"] or "no finding is beyond chance"
    inner = _plain_table(rows) if rows else tag("p", f"Nothing to suggest: {why}.")
    return str(tag("div", inner))


def _plain_table(rows: Sequence[Sequence[Content]]) -> Html:
    cells = [tag("tr", [tag("td", cell, style=_CELL) for cell in row]) for row in rows]
    return tag("table", tag("tbody", cells))


# --- A result in a notebook -------------------------------------------------------------------------------------------

#: Models that are listed beside the best.
_MOST_MODELS = 5
_STYLE_OF_CELL = "text-align: left; vertical-align: top; padding: 0.1em 1em 0.1em 0;"


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
    cells = [
        tag("tr", tag("td", name, style=_STYLE_OF_CELL), tag("td", value, style=_STYLE_OF_CELL)) for name, value in rows
    ]
    return tag("table", tag("tbody", cells))
