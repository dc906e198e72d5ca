"""Strategy problems: what strategies are compared on — made-up functions, and small searches on real tables."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import sklearn.datasets

from msl.check.check_spec import check_source
from msl.data.read import read_table
from msl.diagnostics.source import Source
from msl.runner.plan import make_plan
from msl.runner.search_space import ModelSearchSpace
from msl.search.base import Observation, Query, SearchSpace, Vector
from msl.space.values import Model
from msl.testing.conformance import exact
from msl.testing.toy_problems import Problem, bits, conditional, mixed, rastrigin, rosenbrock, sphere
from msl.workers.executor import Executor
from msl.workers.local import open_executor
from msl.workers.task import Task

SPECS = Path(__file__).parents[1] / "specs"
#: How far a loss on a share of the rows is from the one on all, times the root of the share.
_NOISE = 0.02
#: Losses are shares of so many rows, so that many models are as good as each other.
_ROWS = 200

Answer = Callable[[Problem, Query, int], Observation]


@dataclass(frozen=True, slots=True, eq=False)
class Arena:
    """A problem and what a strategy is told on it; a noisy one where it asks for a share of the rows."""

    problem: Problem
    answer: Answer


def made_up() -> Iterator[AbstractContextManager[Arena]]:
    """Functions of every kind: smooth, bent, with many valleys, mixed, conditional, and pipelines of alternatives."""
    plain = [sphere(8), rosenbrock(5), rastrigin(5), mixed(), conditional(), bits(16)]
    problems = [*plain, *(pipelines(number) for number in range(6))]
    return (nullcontext(Arena(problem, _on_a_share)) for problem in problems)


def pipelines(number: int) -> Problem:
    """Full model selection in small: a preprocessor, an optional selector, a learner, each with parameters of its own.

    Alternatives share dimensions, as in the papers on swarms: what one means depends on the choice before it. Some
    preprocessors suit some learners; the learner that is best at its defaults is rarely the best one tuned.
    """
    rng = np.random.default_rng([2009, number])
    learners, selectors, preprocessors, params = 8, 6, 4, 3
    search_space = SearchSpace.of(
        [preprocessors, selectors + 1, 0, 0, learners, 0, 0, 0],
        ordered=[False, False, True, True, False, True, True, True],
        groups=[0, 1, 1, 1, 2, 2, 2, 2],
        heads=[0, 1, 4],
        absent={1: selectors},
        labels=("preprocess", "select", "fmax", "wmin", "learn", "a", "b", "c"),
    )
    base = rng.uniform(0.10, 0.25, learners)
    best_at, matters = rng.random((learners, params)), rng.exponential(0.25, (learners, params))
    suits = rng.uniform(0.0, 0.08, (preprocessors, learners))
    helps = np.append(rng.uniform(-0.04, 0.04, selectors), 0.0)
    selects_at = rng.random((selectors + 1, 2))

    def losses(point: Vector) -> tuple[float, ...]:
        pre, sel, fmax, wmin, learn, *values = search_space.cells(point)
        one, chosen = int(learn), int(sel)
        tuned = float(matters[one] @ np.abs(np.array(values) - best_at[one]) ** 1.5)
        selected = 0.0
        if chosen < selectors:
            selected = 0.15 * ((fmax - selects_at[chosen, 0]) ** 2 + (wmin - selects_at[chosen, 1]) ** 2)
        loss = min(base[one] + tuned + suits[int(pre), one] + helps[chosen] + selected, 0.5)
        return (round(loss * _ROWS) / _ROWS,)

    return Problem(f"pipelines {number}", search_space, losses, 0.0)


def _on_a_share(problem: Problem, ask: Query, number: int) -> Observation:
    told = exact(problem, ask, number)
    if ask.share == 1.0:
        return told
    rng = np.random.default_rng(zlib.crc32(told.vector.tobytes() + repr(ask.share).encode()))
    return Observation(told.vector, (told.loss + _NOISE * rng.normal() / ask.share**0.5,), told.complexity)


#: Specs and tables for which a whole search takes seconds: those that scikit-learn has, and some of a folder of data.
_ANYWHERE = (("psms", "wine"), ("psms", "breast_cancer"), ("kms", "wine"), ("kms", "breast_cancer"))
_OF_A_FOLDER = (("psms", "heart"), ("psms", "thyroid"), ("kms", "heart"), ("kms", "sonar"))
#: Tables with so many rows that a share of them tells models apart, which is what halving is for.
_LARGER_ANYWHERE = (("kms", "digits"),)
_LARGER_OF_A_FOLDER = (("kms", "image"), ("kms", "waveform"), ("kms", "banana"))


def real_searches(data: Path | None) -> Iterator[AbstractContextManager[Arena]]:
    """Searches of small tables, with more of them if there is a folder of data."""
    return _searches(_ANYWHERE, _OF_A_FOLDER, data)


def larger_searches(data: Path | None) -> Iterator[AbstractContextManager[Arena]]:
    """Searches of tables with thousands of rows."""
    return _searches(_LARGER_ANYWHERE, _LARGER_OF_A_FOLDER, data)


Names = tuple[tuple[str, str], ...]


def _searches(anywhere: Names, of_a_folder: Names, data: Path | None) -> Iterator[AbstractContextManager[Arena]]:
    for spec, name in anywhere:
        bunch = getattr(sklearn.datasets, f"load_{name}")()
        frame = pl.DataFrame(bunch.data, schema=[f"x{column}" for column in range(bunch.data.shape[1])])
        yield real(spec, name, frame.with_columns(pl.Series("class", [f"c{code}" for code in bunch.target])))
    if data is not None:
        yield from (real(spec, name, pl.read_csv(data / f"{name}.csv")) for spec, name in of_a_folder)


@contextmanager
def real(spec: str, name: str, frame: pl.DataFrame) -> Iterator[Arena]:
    """A search as `msl run` does it, each model evaluated once in this process however often it is asked for."""
    source = Source(f"{spec}.msl", (SPECS / f"{spec}.msl").read_text())
    table = read_table(frame)
    checked = check_source(source, facts=table.facts)
    assert checked.spec is not None, checked.diagnostics
    plan = make_plan(checked.spec, table)
    with open_executor(plan.job, "inprocess") as executor:
        evaluate = _Evaluated(plan.search_spaces[0], executor)
        problem = Problem(f"{spec} on {name}", plan.search_spaces[0], lambda point: (0.0,), 0.0)
        yield Arena(problem, lambda problem, ask, number: evaluate(ask))


class _Evaluated:
    """Remembers what each model came to on each share of the rows."""

    def __init__(self, search_space: ModelSearchSpace, executor: Executor) -> None:
        self._terrain, self._executor = search_space, executor
        self._known: dict[tuple[Model, float], tuple[tuple[float, ...], float]] = {}

    def __call__(self, ask: Query) -> Observation:
        batch = self._terrain.codec.decode(ask.vector[None, :])
        point, model = np.array(batch.snapped[0]), batch[0]
        if not isinstance(model, Model):
            return Observation(point, (float("inf"),))
        key = (model, ask.share)
        if key not in self._known:
            (outcome,) = self._executor.map([Task(model, None, ask.share)])
            self._known[key] = tuple(outcome.losses), outcome.complexity
        return Observation(point, *self._known[key])
