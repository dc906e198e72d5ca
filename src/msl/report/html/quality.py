"""How good the final model is: estimate against test, finalists, confusion matrices, residuals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from msl.check.names.scoring_declarations import larger_is_better
from msl.report.html.goal import Goal
from msl.report.html.markup import (
    UNKNOWN,
    Cell,
    Column,
    Content,
    Html,
    Section,
    count,
    difference,
    figure,
    folded,
    joined,
    part,
    percent,
    section,
    sentence,
    shortened,
    table,
    tag,
)
from msl.report.html.plot import Axis, Plot, Scale, histogram, thinned
from msl.report.html.run_record import Outcome, Predictions, Record


def comparison_section(record: Record) -> Section | None:
    """A picture for each metric of the test that was estimated too."""
    outcome = record.outcome
    used = outcome.used
    estimates = used.objectives if used.is_ensemble else {**outcome.metrics, **outcome.objectives}
    shown: list[Content] = [
        _picture(outcome, _goal(record, name), estimate, test, number)
        for number, (name, test) in enumerate(used.test.items())
        if (estimate := estimates.get(name)) is not None and test is not None
    ]
    return section("comparison", "Estimate against test", shown) if shown else None


def _goal(record: Record, name: str) -> Goal:
    """The objective with this name; for a metric that is none, in its usual direction."""
    own = [goal for goal in record.goals if goal.name == name]
    return own[0] if own else Goal(name, not larger_is_better(name))


def _picture(outcome: Outcome, goal: Goal, estimate: float, test: float, number: int) -> Html:
    interval = outcome.used.interval.get(goal.name)
    rows = [("estimate", estimate, "k1"), ("test", test, "k2")]
    if outcome.used.is_ensemble and goal.name in outcome.test:
        rows.append(("test of the best model", outcome.test[goal.name], "k3"))
    values = [value for _, value, _ in rows] + list(interval or ())
    names = tuple(name for name, _, _ in reversed(rows))
    plot = Plot(
        f"comparison-{number}",
        f"Estimate and test of {goal.name}",
        Axis(goal.name, _scale(values)),
        Axis("", Scale(-0.5, len(rows) - 0.5), names=names),
        height=44 * len(rows),
    )
    if interval is not None:
        plot.line([(end, len(rows) - 1.0) for end in interval], "k1", more="thick")
    for place, (name, value, colour) in enumerate(rows):
        at = (value, len(rows) - 1.0 - place)
        plot.dots([at], colour, more="huge")
        plot.hint(at, f"{name}: {goal.name} {figure(value)}")
    caption = _words(goal, estimate, test, interval, outcome.used.gap.get(goal.name))
    return plot.figure(caption, caption)


def _scale(values: list[float]) -> Scale:
    """A scale with room for a dot at either end."""
    scale = Scale.of(values)
    room = (scale.high - scale.low) / 30
    return Scale(scale.low - room, scale.high + room)


def _words(goal: Goal, estimate: float, test: float, interval: tuple[float, float] | None, gap: float | None) -> str:
    """Compares the test score with the estimate in words."""
    gap = test - estimate if gap is None else gap
    worse = goal.is_better(estimate, test)
    way = "worse than" if worse else "as good as" if test == estimate else "better than"
    said = f"On the test rows {goal.name} is {figure(test)}, {way} the estimate of {figure(estimate)}"
    said += "." if test == estimate else f" ({difference(gap)})."
    if interval is not None:
        low, high = interval
        inside = low <= test <= high
        said += f" That is {'within' if inside else 'outside'} the interval of the estimate, "
        said += f"{figure(low)} to {figure(high)}."
        if worse and not inside:
            said += " The estimate was too optimistic: the search has overfitted the rows it was evaluated on."
    return said


# --- Finalists: the best models of a search, evaluated again on new splits --------------------------------------------


#: Finalists that are shown.
_MOST = 12


def confirmed_table(record: Record, stage: int, repeats: Sequence[Mapping[str, Any]]) -> Html | None:
    """A row for each of the best finalists after the last repeat."""
    goal, last = record.goal, repeats[-1]
    rows = []
    for place, (loss, found) in enumerate(zip(last["losses"][:_MOST], last["found_at"], strict=False), 1):
        shown = [None if one is None else goal.value(float(one)) for one in (loss, found)]
        cells = [Cell(UNKNOWN if one is None else figure(one), one) for one in shown]
        rows.append([Cell(str(place), place), *cells])
    names = ("place", f"{goal.name} on new splits", f"{goal.name} when found")
    models, splits = count(len(last["losses"]), "model"), count(len(repeats), "new split")
    words = f"{models} evaluated again on {splits}; the mean decides."
    return joined([table([Column(name, number=True) for name in names], rows, "Finalists"), sentence(words)])


# --- Errors of the best model: confusion matrices or residuals, in the estimate and on the test table -----------------


def mistakes_section(record: Record) -> Section | None:
    """Held-out predictions of the estimate, and predictions of the test table."""
    outcome = record.outcome
    target = str(outcome.data.get("target") or "the target")
    pairs = (
        ("In the estimate", outcome.predictions, "judged"),
        ("On the test rows", outcome.test_predictions, "test-judged"),
    )
    shown = [
        found for title, predictions, name in pairs if (found := _part(title, predictions, name, target)) is not None
    ]
    return section("mistakes", "Mistakes", shown) if shown else None


def _part(title: str, predictions: Predictions | None, name: str, target: str) -> Html | None:
    if predictions is None:
        return None
    if predictions.kind == "classification":
        return confusion_part(title, predictions, name) if predictions.confusion else None
    return residuals_part(title, predictions, name, target)


# --- Confusion matrix: a table for few classes, a picture for many ----------------------------------------------------


_MOST_IN_TABLE = 12
_MOST_IN_MAP = 400
_MOST_MISTAKES = 12
_MOST_CLASSES = 200
_LONGEST_NAME = 28
_SHADES = 10
_CELL = 10


def confusion_part(title: str, predictions: Predictions, name: str) -> Html:
    """The matrix, the most frequent mistakes, and recall and precision of each class."""
    rows = predictions.confusion
    total, right = sum(map(sum, rows)), sum(row[place] for place, row in enumerate(rows))
    words = (
        f"{rows_in(right)} of {rows_in(total)} rows are classified right, {percent(right / total if total else None)}."
    )
    mistakes = _mistakes(predictions)
    if mistakes:
        number, true, said = mistakes[0]
        words += f" The most frequent mistake: {rows_in(number)} of {true} predicted as {said}."
    matrix: Content = None
    if len(predictions.classes) <= _MOST_IN_TABLE:
        matrix = _matrix(predictions)
    elif len(predictions.classes) <= _MOST_IN_MAP:
        matrix = _map(predictions, name, words)
    picture = tag("figure", matrix, tag("figcaption", words, _reading(predictions)), class_="matrix")
    several = len(predictions.classes) > _MOST_IN_TABLE and mistakes
    return part(title, picture, _mistake_table(mistakes) if several else None, _class_table(predictions))


def _reading(predictions: Predictions) -> str:
    if len(predictions.classes) <= _MOST_IN_TABLE:
        return " Rows are the true classes, columns the predicted ones; a stronger colour is a larger share of the row."
    return " From top to bottom the true classes, from left to right the predicted ones, in the order of the table."


def _matrix(predictions: Predictions) -> Html:
    """A table with shaded cells."""
    head = tag(
        "tr",
        tag("th", "true ↓  predicted →", scope="col"),
        [tag("th", _short(c), scope="col") for c in predictions.classes],
    )
    body = [
        tag("tr", tag("th", _short(name), scope="row"), [_shaded(number, row) for number in row])
        for name, row in zip(predictions.classes, predictions.confusion, strict=True)
    ]
    inner = tag("table", tag("thead", head), tag("tbody", body), class_="confusion", aria_label="Confusion matrix")
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label="Confusion matrix")


def _shaded(number: float, row: Sequence[float]) -> Html:
    share = number / sum(row) if sum(row) else 0.0
    return tag("td", rows_in(number), class_=f"heat h{_shade(number, share)}", title=percent(share))


def _shade(number: float, share: float) -> int:
    """From 0 for nothing to 10 for all; a single row can still be seen."""
    return 0 if number == 0 else max(1, round(_SHADES * share))


def _map(predictions: Predictions, name: str, words: str) -> Html:
    """A picture with a small square for each pair of classes that occurs."""
    size = _CELL * len(predictions.classes)
    return tag(
        "svg",
        tag("title", "Confusion of the classes", id=f"{name}-title"),
        tag("desc", words, id=f"{name}-desc"),
        tag("rect", width=size, height=size, class_="paper"),
        list(_squares(predictions)),
        viewBox=f"0 0 {size} {size}",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
        class_="map",
    )


def _squares(predictions: Predictions) -> Iterator[Html]:
    few = len(predictions.classes) <= 60
    for down, row in enumerate(predictions.confusion):
        total = sum(row)
        for across, number in enumerate(row):
            if number:
                words = f"{predictions.classes[down]} predicted as {predictions.classes[across]}: {rows_in(number)}"
                shade = _shade(number, number / total)
                yield tag(
                    "rect",
                    *([tag("title", words)] if few else []),
                    x=across * _CELL,
                    y=down * _CELL,
                    width=_CELL,
                    height=_CELL,
                    class_=f"{'wrong' if down != across else 'right'} h{shade}",
                )


def _mistakes(predictions: Predictions) -> list[tuple[float, str, str]]:
    """Pairs of true and wrongly predicted classes, the most frequent first."""
    found = [
        (number, predictions.classes[down], predictions.classes[across])
        for down, row in enumerate(predictions.confusion)
        for across, number in enumerate(row)
        if number and down != across
    ]
    return sorted(found, key=lambda one: -one[0])


def _mistake_table(mistakes: list[tuple[float, str, str]]) -> Html:
    columns = [Column("rows", number=True), Column("true class"), Column("predicted as")]
    rows: list[list[Cell | Content]] = [
        [Cell(rows_in(number), number), _short(true), _short(said)] for number, true, said in mistakes[:_MOST_MISTAKES]
    ]
    return folded("The most frequent mistakes", table(columns, rows, "Mistakes"))


def _class_table(predictions: Predictions) -> Html:
    columns = [Column("class"), *(Column(name, number=True) for name in ("rows", "recall", "precision"))]
    said = [sum(column) for column in zip(*predictions.confusion, strict=True)]
    rows: list[tuple[float, list[Cell | Content]]] = []
    for place, (name, row) in enumerate(zip(predictions.classes, predictions.confusion, strict=True)):
        found = row[place] / sum(row) if sum(row) else None
        right = row[place] / said[place] if said[place] else None
        cells = [Cell(rows_in(sum(row)), sum(row)), Cell(percent(found), found), Cell(percent(right), right)]
        rows.append((-1.0 if found is None else found, [_short(name), *cells]))
    title = "Class by class"
    if len(rows) > _MOST_CLASSES:
        rows = sorted(rows, key=lambda one: one[0])[:_MOST_CLASSES]
        title = f"The {_MOST_CLASSES} classes with the lowest recall"
    return folded(title, table(columns, [cells for _, cells in rows], "Classes"))


def rows_in(number: float) -> str:
    """How many rows; of weighted ones there may be a part."""
    return f"{number:,.0f}" if number == round(number) else figure(number)


def _short(name: str) -> str:
    return shortened(name, _LONGEST_NAME)


# --- Residuals of a regression ----------------------------------------------------------------------------------------


_MOST_DOTS = 2500


def residuals_part(title: str, predictions: Predictions, name: str, target: str) -> Html | None:
    """Two pictures: predicted against true values, and a histogram of the residuals."""
    pairs = [
        (true, said)
        for true, said in zip(predictions.actual, predictions.predicted, strict=True)
        if math.isfinite(true) and math.isfinite(said)
    ]
    if not pairs:
        return None
    residuals = [said - true for true, said in pairs]
    off = sorted(map(abs, residuals))
    mean = f"On average {figure(fmean(off))} off, half of the rows by at most {figure(median(off))}"
    caption = f"{mean}, the worst by {figure(off[-1])}; r² is {_r2(pairs)} on these {count(len(pairs), 'row')}."
    spread = histogram(
        f"{name}-residuals",
        "Residuals",
        residuals,
        "predicted minus true",
        "rows",
        f"Predictions are {_lean(residuals)}; nine in ten residuals lie between {_nine_in_ten(residuals)}.",
    )
    return part(title, _residuals_plot(pairs, name, target, caption), spread)


def _residuals_plot(pairs: Sequence[tuple[float, float]], name: str, target: str, caption: str) -> Html:
    scale = Scale.of([value for pair in pairs for value in pair])
    plot = Plot(
        f"{name}-said",
        "Predicted against true",
        Axis(f"true {target}", scale),
        Axis(f"predicted {target}", scale),
        height=400,
        style="even",
    )
    plot.line([(scale.low, scale.low), (scale.high, scale.high)], "k0", more="thin")
    drawn = thinned(pairs, lambda pair: (scale.place(pair[0]), scale.place(pair[1])), most=_MOST_DOTS)
    plot.dots(drawn, "k1", more="soft")
    plot.key("dot", "k1", "a row")
    plot.key("line", "k0", "perfect prediction")
    for true, said in drawn:
        plot.hint((true, said), f"true {figure(true)}, predicted {figure(said)}")
    caption += f" {len(drawn):,} of {count(len(pairs), 'row')} are drawn." if len(drawn) < len(pairs) else ""
    return plot.figure(caption, caption)


def _r2(pairs: Sequence[tuple[float, float]]) -> str:
    mean = fmean(true for true, _ in pairs)
    total = sum((true - mean) ** 2 for true, _ in pairs)
    return figure(1 - sum((said - true) ** 2 for true, said in pairs) / total, 3) if total else figure(None)


def _lean(residuals: Sequence[float]) -> str:
    mean = fmean(residuals)
    return f"{figure(abs(mean), 3)} too {'high' if mean > 0 else 'low'} on average"


def _nine_in_ten(residuals: Sequence[float]) -> str:
    ordered = sorted(residuals)
    low, high = ordered[int(0.05 * (len(ordered) - 1))], ordered[math.ceil(0.95 * (len(ordered) - 1))]
    return f"{figure(low, 3)} and {figure(high, 3)}"
