"""Run a strategy on a toy problem, and keep its queries, observations and events."""

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

#: Gives the observation of the n-th query of a run.
Answer = Callable[[Problem, Query, int], Observation]


@dataclass(frozen=True, slots=True, eq=False)
class Played:
    """A run: its batches of queries, the observations in the same order, the events, and whether it ended by itself."""

    problem: Problem
    batches: list[list[Query]] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    ended: bool = False

    @property
    def queries(self) -> list[Query]:
        return [query for batch in self.batches for query in batch]

    @property
    def result(self) -> float:
        """The lowest loss, or minus the hypervolume of the front, so that lower is better."""
        whole = [one for query, one in zip(self.queries, self.observations, strict=True) if query.share == 1.0]
        if self.problem.reference is None:
            best = best_of(whole)
            return float("inf") if best is None else best.loss
        front = front_of(whole)
        return -hypervolume(losses_of(front), self.problem.reference) if front else 0.0

    @property
    def is_solved(self) -> bool:
        goal = self.problem.good if self.problem.reference is None else -self.problem.good
        return self.result <= goal


def exact(problem: Problem, query: Query, number: int) -> Observation:
    """The true losses."""
    point = problem.written_back(query.vector)
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
    """Runs a strategy until it ends or has made `limit` queries; the first observations are the stored ones."""
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
    observations: list[Observation] = []
    try:
        queries = next(running)
        while True:
            batches.append(queries)
            if len(observations) + len(queries) > limit:
                running.close()
                del batches[-1]
                return Played(problem, batches, observations, events, ended=False)
            first = len(observations)
            answers = [
                stored[number] if number < len(stored) else answer(problem, query, number)
                for number, query in enumerate(queries, first)
            ]
            observations.extend(answers)
            queries = running.send(answers)
    except StopIteration:
        return Played(problem, batches, observations, events, ended=True)


# --- options, with the defaults of their declaration ---


#: A spec that any strategy can search; some take one objective, some several.
_SPEC = "msl 1\nuse sbm\nchain model = knn\nminimize {objectives}\nsearch {call}\n"
_OBJECTIVES = ("error by cv(folds = 2)", "error by cv(folds = 2), features")


@cache
def options_of(call: str) -> Mapping[str, Any]:
    """The options of a call such as `pso(swarm = 3)`, also of a strategy of another package."""
    for objectives, search in product(_OBJECTIVES, (call, f"random then {call}")):
        checked = check_source(Source("spec.msl", _SPEC.format(objectives=objectives, call=search)))
        if checked.spec is not None:
            return dict(checked.spec.search[-1].call.options)
    raise ValueError("; ".join(diagnostic.message for diagnostic in checked.diagnostics))
