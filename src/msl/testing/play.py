"""Play: a strategy run on a problem, answer by answer, with all that was asked and told kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.search.base import Event, Observation, Query, best_of
from msl.search.operators.pareto import front_of, hypervolume, losses_of
from msl.search.setting import Setting, StrategyFunction
from msl.testing.toy_problems import Problem

#: Gives the answer to the n-th ask of a run.
Answer = Callable[[Problem, Query, int], Observation]


@dataclass(frozen=True, slots=True, eq=False)
class Played:
    """What came of a run: batches as asked, answers in the same order, events; whether the strategy ended by itself."""

    problem: Problem
    batches: list[list[Query]] = field(default_factory=list)
    told: list[Observation] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    ended: bool = False

    @property
    def asks(self) -> list[Query]:
        return [ask for batch in self.batches for ask in batch]

    @property
    def result(self) -> float:
        """The lowest loss, or minus the hypervolume of the front, so that less is better."""
        whole = [one for ask, one in zip(self.asks, self.told, strict=True) if ask.share == 1.0]
        if self.problem.reference is None:
            best = best_of(whole)
            return float("inf") if best is None else best.loss
        front = front_of(whole)
        return -hypervolume(losses_of(front), self.problem.reference) if front else 0.0

    @property
    def is_solved(self) -> bool:
        goal = self.problem.good if self.problem.reference is None else -self.problem.good
        return self.result <= goal


def exact(problem: Problem, ask: Query, number: int) -> Observation:
    """The true losses."""
    point = problem.written_back(ask.vector)
    return Observation(point, problem.losses(point), problem.complexity(point))


def play(
    strategy: StrategyFunction,
    options: Mapping[str, Any],
    problem: Problem,
    seed: int = 0,
    answer: Answer = exact,
    limit: int = 20_000,
    stored: Sequence[Observation] = (),
    known: Sequence[Observation] = (),
) -> Played:
    """Runs a strategy until it ends or has asked for `limit` points; the first answers are taken from the store."""
    events: list[Event] = []
    setting = Setting(
        problem.search_space,
        options,
        np.random.default_rng(seed),
        known=known,
        objectives=problem.objectives,
        note=events.append,
    )
    running = strategy(setting)
    batches: list[list[Query]] = []
    told: list[Observation] = []
    try:
        asks = next(running)
        while True:
            batches.append(asks)
            if len(told) + len(asks) > limit:
                running.close()
                del batches[-1]
                return Played(problem, batches, told, events, ended=False)
            first = len(told)
            answers = [
                stored[number] if number < len(stored) else answer(problem, ask, number)
                for number, ask in enumerate(asks, first)
            ]
            told.extend(answers)
            asks = running.send(answers)
    except StopIteration:
        return Played(problem, batches, told, events, ended=True)


# --- Options: those of a strategy as a spec gives them, with the defaults of its declaration. -------------------------


#: A spec that any strategy can search; some take one objective, some several.
_SPEC = "msl 1\nuse sbm\nchain model = knn\nminimize {objectives}\nsearch {call}\n"
_OBJECTIVES = ("error by cv(folds = 2)", "error by cv(folds = 2), features")


@cache
def options_of(call: str) -> Mapping[str, Any]:
    """The options of a call such as `pso(swarm = 3)`; a strategy of an installed package is known too."""
    for objectives, search in product(_OBJECTIVES, (call, f"random then {call}")):
        checked = check_source(Source("spec.msl", _SPEC.format(objectives=objectives, call=search)))
        if checked.spec is not None:
            return dict(checked.spec.search[-1].call.options)
    raise ValueError("; ".join(diagnostic.message for diagnostic in checked.diagnostics))
