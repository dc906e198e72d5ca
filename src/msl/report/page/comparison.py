"""Comparison: the estimate of what predicts, with its interval, against what a test on rows kept apart came to."""

from __future__ import annotations

from msl.report.page.figures import difference, figure
from msl.report.page.goal import Goal
from msl.report.page.html import Content, Html
from msl.report.page.outcome import Outcome
from msl.report.page.plot import Axis, Plot
from msl.report.page.record import Record
from msl.report.page.scale import Scale
from msl.report.page.section import Section, section
from msl.space.measure import MEASURES


def comparison_section(record: Record) -> Section | None:
    """A picture for each measure of the test that was estimated too."""
    outcome = record.outcome
    used = outcome.used
    estimates = used.objectives if used.is_ensemble else {**outcome.measures, **outcome.objectives}
    shown: list[Content] = [
        _picture(outcome, _goal(record, name), estimate, test, number)
        for number, (name, test) in enumerate(used.test.items())
        if (estimate := estimates.get(name)) is not None and test is not None
    ]
    return section("comparison", "Estimate against test", shown) if shown else None


def _goal(record: Record, name: str) -> Goal:
    """The objective with this name, or the measure as one would want it."""
    own = [goal for goal in record.goals if goal.name == name]
    return own[0] if own else Goal(name, not (name in MEASURES and MEASURES[name].larger_is_better))


def _picture(outcome: Outcome, goal: Goal, estimate: float, test: float, number: int) -> Html:
    interval = outcome.used.interval.get(goal.name)
    rows = [("estimate", estimate, "k1"), ("test", test, "k2")]
    if outcome.used.is_ensemble and goal.name in outcome.test:
        rows.append(("test of the best alone", outcome.test[goal.name], "k3"))
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
    """With room for a dot at either end."""
    scale = Scale.of(values)
    room = (scale.high - scale.low) / 30
    return Scale(scale.low - room, scale.high + room)


def _words(goal: Goal, estimate: float, test: float, interval: tuple[float, float] | None, gap: float | None) -> str:
    """What the test says of the estimate."""
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
            said += " The estimate was too good: the search has fitted the rows it was judged on."
    return said
