"""Pattern search: Algorithm 2 of Escalante, Montes and Sucar (2009)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import numpy as np
from numpy.typing import NDArray

from msl.search.base import Event, Observation, SearchSpace, Vector, best_of, ended, worse_than
from msl.search.operators.swarm import queries
from msl.search.strategy_context import Setting, Strategy

#: A continuous dimension is not moved by less than this.
_FINEST = 1e-6


def pattern(setting: Setting) -> Strategy:
    """Tries a step up along each axis, then down, moves at once to what is better, and halves the steps after a sweep.

    With `poll = complete` a whole sweep is evaluated from one point, and its best is taken. With `halve = failed` the
    steps are halved only after a sweep without improvement. Steps that do not change the model are skipped, and the
    search ends when no dimension has any other.

    As in the authors' program: with `shuffle` every evaluation has splits of its own. Then no step is skipped, however
    small, because the same model may have a lower loss on other splits, and all evaluations are made.
    """
    options, search_space = setting.options, setting.search_space
    left = int(options["evaluations"])
    repeats = count(1) if options["shuffle"] else None
    (here,) = yield queries(setting.first_point()[None], repeats)
    left -= 1
    step = 0.5
    finest = _finest_steps(search_space) if repeats is None else np.zeros(search_space.n_dimensions)
    sweep = 0

    while left > 0 and (step >= finest).any():
        sweep += 1
        before, tried = here, 0
        moves = _moves(step, finest)
        while left > 0:
            most = left if options["poll"] == "complete" else 1
            trials = list(_trials(here, moves, most, search_space if repeats is None else None))
            if not trials:
                break
            cutoff = worse_than(here.loss)
            observations = yield [replace(query, cutoff=cutoff) for query in queries(np.array(trials), repeats)]
            left -= len(observations)
            tried += len(observations)
            here = _better(here, observations)
        setting.note(_event(sweep, step, tried, here, moved=here is not before, stands=repeats is not None))
        if options["halve"] == "always" or here is before:
            step /= 2
    setting.note(ended("the steps no longer lead anywhere new" if left else "all evaluations are used"))


def _finest_steps(search_space: SearchSpace) -> NDArray[np.float64]:
    """Half the width of a value: a smaller step from its middle does not change the value."""
    return np.where(search_space.levels > 0, 0.5 / np.maximum(search_space.levels, 1), _FINEST)


def _moves(step: float, finest: NDArray[np.float64]) -> Iterator[tuple[int, float]]:
    """The columns of [I, −I] times the step."""
    alive = np.flatnonzero(step >= finest).tolist()
    return iter([(dimension, step) for dimension in alive] + [(dimension, -step) for dimension in alive])


def _trials(
    here: Observation, moves: Iterator[tuple[int, float]], most: int, search_space: SearchSpace | None
) -> Iterator[Vector]:
    """The next points around this one; only those that are other models if there is a search space to tell by."""
    model = None if search_space is None else search_space.decode(here.vector)
    while most > 0 and (move := next(moves, None)) is not None:
        dimension, by = move
        trial = here.vector.copy()
        trial[dimension] = min(max(trial[dimension] + by, 0.0), 1.0)
        if search_space is None or search_space.decode(trial) not in (None, model):
            most -= 1
            yield trial


def _better(here: Observation, observations: list[Observation]) -> Observation:
    best = best_of(observations)
    return best if best is not None and best.loss < here.loss else here


def _event(sweep: int, step: float, tried: int, here: Observation, moved: bool, stands: bool) -> Event:
    figures = {"sweep": sweep, "step": step, "tried": tried, "moved": moved, "best": here.loss}
    return Event("sweep", figures, (here,) if here.is_finite else (), (here,), stands)
