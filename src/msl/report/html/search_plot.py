"""Plot a search: every evaluated model as a dot, the best so far as a line, and the choices of the best models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from msl.report.html.goal import Goal
from msl.report.html.markup import (
    Cell,
    Column,
    Content,
    Html,
    Section,
    beyond_words,
    count,
    duration,
    figure,
    folded,
    joined,
    listed,
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
from msl.report.html.plot import Axis, Key, Plot, Scale, Shape, is_wide, legend, thinned
from msl.report.html.run_record import Preference, Record, Trial

_COLOURS = 8
_FEW, _MANY = 300, 1500  # dots that may be large, and that may not be tiny
_LONGEST_HINT = 110
_MOST_IMPROVEMENTS = 40


def trace_figure(record: Record) -> Html | None:
    """The plot of a search; a sentence where no model has a value, None where there were no queries."""
    trials, goal = record.trials, record.goal
    if not trials:
        return None
    if not any(trial.has_value for trial in trials):
        return sentence(f"None of {count(len(trials), 'evaluation')} has a value.")
    spread = value_spread([trial.values[0] for trial in trials if trial.has_value], goal)
    troubled = [trial for trial in trials if not trial.has_value]
    y = spread.with_room(goal) if troubled else spread.scale
    x = Scale(1, max(len(trials), 2), say=lambda value: f"{value:,.0f}")
    plot = Plot(
        "trace", "The search", Axis("evaluation", x, counts=True), Axis(f"{goal.name} {_way(goal)}", y), height=300
    )
    edge = y.high if goal.minimize else y.low

    def place(trial: Trial) -> tuple[float, float]:
        return float(trial.number), trial.values[0] if trial.has_value else edge

    better = {trial.position for trial in record.improvements}
    drawn = thinned(
        trials,
        lambda trial: (x.place(place(trial)[0]), y.place(place(trial)[1])),
        lambda trial: trial.position in better,
    )
    groups = _groups(record, drawn)
    size = "" if len(drawn) <= _FEW else "small" if len(drawn) <= _MANY else "tiny"
    for group in groups:
        style = f"{size} {'faint' * group.faint}"
        plot.dots([place(trial) for trial in group.trials], group.colour, group.shape, more=style)
    for start in _stage_starts(trials):
        plot.upright(start)
    plot.steps([(float(t.number), t.values[0]) for t in record.improvements], len(trials), "best")
    for group in groups:
        plot.key(group.shape, group.colour, group.label)
    if record.improvements:
        plot.key("line", "best", "the best so far")
    for trial in drawn:
        plot.hint(place(trial), _hint(trial, goal))
    return plot.figure(_caption(record, spread, len(drawn), len(troubled)), _description(record))


def improvements_table(record: Record) -> Html | None:
    """When the best got better, and by which model."""
    found = record.improvements[-_MOST_IMPROVEMENTS:]
    if not found:
        return None
    columns = [
        Column("evaluation", number=True),
        Column(record.goal.name, number=True),
        Column("complexity", number=True),
        Column("model", wide=True),
    ]
    rows: list[list[Cell | Content]] = [
        [
            Cell(f"{trial.number:,}", trial.number),
            Cell(figure(trial.values[0]), trial.values[0]),
            Cell(figure(trial.complexity), trial.complexity),
            coloured(shortened(trial.text, LONGEST_MODEL)),
        ]
        for trial in reversed(found)
    ]
    title = f"Each model that was the best when it was found ({len(record.improvements):,}"
    title += f", the last {len(found)} of them)" if len(record.improvements) > len(found) else ")"
    return folded(title, table(columns, rows, "Improvements"))


# --- Spread of the values ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Spread:
    """A scale that separates most values, and how many values lie beyond its end."""

    scale: Scale
    beyond: int = 0

    def with_room(self, goal: Goal) -> Scale:
        """Some more at the worse end, for what has no value at all."""
        low, high = self.scale.low, self.scale.high
        if self.scale.log:
            return replace(self.scale, high=high * (high / low) ** 0.1)
        room = (high - low) * 0.1
        return replace(self.scale, high=high + room) if goal.minimize else replace(self.scale, low=low - room)


def value_spread(values: Sequence[float], goal: Goal) -> Spread:
    """By logarithms where values are of many sizes; else cut where a few are far worse than most."""
    if is_wide(values):
        return Spread(Scale.of(values, log=True))
    from_best = sorted(values, reverse=not goal.minimize)
    best, usual, worst = from_best[0], from_best[int(0.9 * (len(from_best) - 1))], from_best[-1]
    if usual == best or abs(worst - best) <= 3 * abs(usual - best):
        return Spread(_with_ground(values, goal))
    end = usual + (usual - best) / 2
    scale = _with_ground([best, end], goal)
    return Spread(scale, sum(not scale.low <= value <= scale.high for value in values))


def _with_ground(values: Sequence[float], goal: Goal) -> Scale:
    """A scale that ends a little below the best, so that its line does not lie on the axis."""
    low, high = min(values), max(values)
    return Scale.of([low - (high - low) / 25, high] if goal.minimize and low > 0 else values)


# --- Groups of dots ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Group:
    """Dots that mean the same."""

    label: str
    colour: str
    trials: Sequence[Trial]
    shape: Shape = "dot"
    faint: bool = False


def _groups(record: Record, trials: Sequence[Trial]) -> list[_Group]:
    stages = sorted({trial.stage for trial in record.trials})
    several = len(stages) > 1

    def of(label: str, colour: str, fits: Callable[[Trial], bool], shape: Shape = "dot", faint: bool = False) -> _Group:
        return _Group(label, colour, [trial for trial in trials if fits(trial)], shape, faint)

    groups = [
        of("stopped early: a lower bound", "k0", lambda trial: trial.has_value and trial.bound, "square", True),
        of("on a part of the rows", "k4", lambda trial: trial.has_value and trial.is_partial, "square", True),
    ]
    for place, stage in enumerate(stages):
        label = f"model proposed by {record.strategy(stage)}" if several else "model"
        colour = f"k{place % _COLOURS + 1}"
        groups.append(of(label, colour, lambda trial, stage=stage: trial.is_exact and trial.stage == stage))  # type: ignore[misc]
    groups += [
        of("outside the space", "k0", lambda trial: not trial.has_value and trial.is_outside, "square"),
        of("failed", "bad", lambda trial: not trial.has_value and not trial.is_outside, "square"),
    ]
    return [group for group in groups if group.trials]


def _stage_starts(trials: Sequence[Trial]) -> list[float]:
    return [after.number - 0.5 for before, after in pairwise(trials) if before.stage != after.stage]


def _hint(trial: Trial, goal: Goal) -> str:
    steps = shortened(" >> ".join(steps_of(trial.text)), _LONGEST_HINT)
    what = f"evaluation {trial.number:,}"
    if trial.is_outside:
        return f"{what}: outside the space"
    if not trial.has_value:
        trouble = trial.evaluation.failure if trial.evaluation is not None else None
        return f"{what}: failed{'' if trouble is None else f' ({trouble.cause})'}\n{steps}"
    least = "at least " if trial.bound else ""
    part = "" if not trial.is_partial or trial.evaluation is None else " on a part of the rows"
    return f"{what}: {goal.name} {least}{figure(trial.values[0])}{part}\n{steps}"


# --- Captions ---------------------------------------------------------------------------------------------------------


def _way(goal: Goal) -> str:
    return "(lower is better)" if goal.minimize else "(higher is better)"


def _caption(record: Record, spread: Spread, drawn: int, troubled: int) -> str:
    goal, improvements = record.goal, record.improvements
    said = []
    if improvements:
        first, last = improvements[0], improvements[-1]
        way = f"went from {figure(first.values[0])} to" if len(improvements) > 1 else "is"
        steps = f", with {count(len(improvements) - 1, 'improvement')}" if len(improvements) > 1 else ""
        found = f"found at evaluation {last.number:,} of {len(record.trials):,}{steps}"
        said.append(f"The best {goal.name} {way} {figure(last.values[0])}, {found}.")
    else:
        said.append(f"No model of {len(record.trials):,} was evaluated exactly on all rows.")
    said += [beyond_words(spread.beyond)] if spread.beyond else []
    if troubled:
        said.append(f"Marked at the edge: {count(troubled, 'model')} without a value.")
    if drawn < len(record.trials):
        said.append(f"{drawn:,} of {len(record.trials):,} dots are drawn: those that would lie on others are left out.")
    return " ".join(said)


def _description(record: Record) -> str:
    strategies = listed([record.strategy(stage) for stage in sorted({trial.stage for trial in record.trials})])
    found = [f"{figure(t.values[0])} at evaluation {t.number:,}" for t in record.improvements[-5:]]
    took = "" if record.outcome.seconds is None else f" in {duration(record.outcome.seconds)}"
    best = f" The best so far: {listed(found)}." if found else ""
    return f"{count(len(record.trials), 'evaluation')} proposed by {strategies}{took}.{best}"


# --- Choices: shares of the alternatives among all models and among the best quarter ----------------------------------


_KEYS = (Key("area", "k0", "share of all models"), Key("area", "k1", "share of the best quarter"))
_FEWEST = 8  # models; a quarter of fewer shows nothing


def preferred_section(record: Record) -> Section | None:
    """A table with bars for each choice, as in the papers' figures."""
    found = record.outcome.preferred or _by_step(record)
    choices: dict[str, list[Preference]] = {}
    for one in found:
        choices.setdefault(one.choice, []).append(one)
    shown = [_choice(choice, blocks) for choice, blocks in choices.items() if len(blocks) > 1]
    return section("preferred", "Choices of the best models", legend(_KEYS), shown) if shown else None


def _choice(choice: str, blocks: Sequence[Preference]) -> Html:
    columns = [
        Column("block"),
        Column(""),
        Column("all", number=True),
        Column("best quarter", number=True),
        Column("models", number=True),
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
        f"{sum(one.asked > 0 for one in blocks)} of {count(len(blocks), 'alternative')} were tried."
    )
    return part(choice, joined([table(columns, rows, f"Shares of {choice}", style="shares"), sentence(words)]))


def _by_step(record: Record) -> tuple[Preference, ...]:
    """For an unfinished run: the shares of the steps, whatever choice they belong to."""
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
