"""The Pareto front of several objectives, as pictures and as a table, and its hypervolume over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from msl.report.html.goal import Goal
from msl.report.html.markup import (
    Cell,
    Column,
    Content,
    Html,
    Section,
    beyond_words,
    count,
    figure,
    folded,
    section,
    shortened,
    table,
)
from msl.report.html.model_view import LONGEST_MODEL, coloured
from msl.report.html.plot import Axis, Plot, Scale, is_wide, thinned
from msl.report.html.run_record import Frontier, Record, Trial
from msl.report.html.search_plot import value_spread

_MOST_PAIRS = 3
_MOST_ROWS = 200


def front_section(record: Record) -> Section | None:
    """A picture for each pair of objectives, and the models of the front as a table."""
    if len(record.goals) < 2:
        return None
    front = record.outcome.front or _front_of(record)
    if not front:
        return None
    pairs = list(combinations(range(len(record.goals)), 2))[:_MOST_PAIRS]
    pictures: list[Content] = [_picture(record, front, one, other) for one, other in pairs]
    return section("front", "The front", pictures, _table(record, front))


def _picture(record: Record, front: tuple[Frontier, ...], one: int, other: int) -> Html:
    across, up = record.goals[one], record.goals[other]
    trials = [trial for trial in record.trials if trial.is_exact]
    spreads = [value_spread([t.values[place] for t in trials], record.goals[place]) for place in (one, other)]
    x, y = (
        _reaching(spread.scale, [f.objectives[goal.name] for f in front])
        for spread, goal in zip(spreads, (across, up), strict=True)
    )
    plot = Plot(f"front-{one}-{other}", "The front", Axis(_named(across), x), Axis(_named(up), y), height=300)

    def place(trial: Trial) -> tuple[float, float]:
        return trial.values[one], trial.values[other]

    drawn = thinned(trials, lambda trial: (x.place(trial.values[one]), y.place(trial.values[other])))
    plot.dots(map(place, drawn), "k0", more="faint small" if len(drawn) > 300 else "faint")
    places = sorted((f.objectives[across.name], f.objectives[up.name]) for f in front)
    if len(record.goals) == 2:
        plot.line(_staircase(places, up), "k1", more="thin")
    plot.dots(places, "k1", more="big")
    plot.key("dot", "k0", "evaluated")
    plot.key("dot", "k1", "on the front")
    for f in front:
        at = f.objectives[across.name], f.objectives[up.name]
        plot.hint(at, f"{across.name} {figure(at[0])}, {up.name} {figure(at[1])}")
    ends = sorted(front, key=lambda f: f.objectives[across.name])
    first, last = ends[0].objectives, ends[-1].objectives
    caption = (
        f"{count(len(front), 'model')} on the front, from {across.name} {figure(first[across.name])} at {up.name} "
        f"{figure(first[up.name])} to {across.name} {figure(last[across.name])} at {up.name} {figure(last[up.name])}."
    )
    beyond = max(spread.beyond for spread in spreads)
    caption += f" {beyond_words(beyond)}" if beyond else ""
    if len(drawn) < len(trials):
        caption += f" {len(drawn):,} of {len(trials):,} dots are drawn."
    return plot.figure(caption, caption)


def _reaching(scale: Scale, values: list[float]) -> Scale:
    """A scale that holds the whole front too."""
    if all(scale.low <= value <= scale.high for value in values):
        return scale
    everything = [*values, scale.low, scale.high]
    return Scale.of(everything, log=scale.log and is_wide(everything))


def _staircase(places: list[tuple[float, float]], up: Goal) -> list[tuple[float, float]]:
    """Between two models of the front nothing is known to be better than the worse of both in each objective."""
    corners: list[tuple[float, float]] = []
    for place in places:
        if corners:
            corners.append((place[0], corners[-1][1]) if up.minimize else (corners[-1][0], place[1]))
        corners.append(place)
    return corners


def _named(goal: Goal) -> str:
    return f"{goal.name} ({'lower' if goal.minimize else 'higher'} is better)"


def _table(record: Record, front: tuple[Frontier, ...]) -> Html:
    names = [goal.name for goal in record.goals]
    columns = [*(Column(name, number=True) for name in names), Column("complexity", number=True)]
    columns.append(Column("model", wide=True))
    rows: list[list[Cell | Content]] = [
        [
            *(Cell(figure(one.objectives[name]), one.objectives[name]) for name in names),
            Cell(figure(one.complexity), one.complexity),
            coloured(shortened(one.model, LONGEST_MODEL)),
        ]
        for one in front[:_MOST_ROWS]
    ]
    shown = table(columns, rows, "Models of the front")
    title = f"The {count(len(front), 'model')} of the front"
    if len(front) > _MOST_ROWS:
        title += f", the first {_MOST_ROWS}"
    return folded(title, shown)


def _front_of(record: Record) -> tuple[Frontier, ...]:
    """For an unfinished run: the trials that no other dominates."""
    signs = [1 if goal.minimize else -1 for goal in record.goals]
    exact = {
        tuple(sign * value for sign, value in zip(signs, trial.values, strict=True)): trial
        for trial in reversed(record.trials)
        if trial.is_exact
    }
    kept: list[tuple[float, ...]] = []
    for losses in sorted(exact):  # what could beat it stands before it
        if not any(all(a <= b for a, b in zip(other, losses, strict=True)) for other in kept):
            kept.append(losses)
    names = [goal.name for goal in record.goals]
    return tuple(
        Frontier(exact[losses].text, dict(zip(names, exact[losses].values, strict=True)), exact[losses].complexity)
        for losses in kept
    )


# --- Hypervolume over the iterations ----------------------------------------------------------------------------------


def hypervolume_figure(record: Record, stage: int, fronts: Sequence[Mapping[str, Any]]) -> Html | None:
    """The hypervolume over the iterations; None for fewer than two of them."""
    if len(fronts) < 2:
        return None
    volumes = [(int(one["iteration"]), float(one["hypervolume"])) for one in fronts]
    plot = Plot(
        f"fronts-{stage}",
        "The hypervolume of the front",
        Axis("iteration", Scale(volumes[0][0], volumes[-1][0], say=lambda value: f"{value:,.0f}"), counts=True),
        Axis("hypervolume (higher is better)", Scale.of([volume for _, volume in volumes], zero=True)),
        height=200,
    )
    plot.line(volumes, "k1")
    for one, (iteration, volume) in zip(fronts, volumes, strict=True):
        models = count(len(one["front"]), "model")
        plot.hint((iteration, volume), f"iteration {iteration}: hypervolume {figure(volume)}, {models} on the front")
    first, last = fronts[0], fronts[-1]
    caption = (
        f"The front grew from {count(len(first['front']), 'model')} to {count(len(last['front']), 'model')}, and its "
        f"hypervolume from {figure(volumes[0][1])} to {figure(volumes[-1][1])}, measured from the worst values of the "
        f"first swarm."
    )
    return plot.figure(caption, caption)
