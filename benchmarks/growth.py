"""Growth: how cost grows with rows, features, dimensions, population, workers and the length of a spec.

Each is timed at a few sizes that double; the slope of the logarithms is 1 where cost grows in proportion.
"""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import polars as pl
from sklearn.datasets import make_classification

from benchmarks.datasets import TARGET
from benchmarks.trial import commissioned
from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.evaluate.evaluator import Evaluator
from msl.runner.session import run_plan
from msl.runner.spec_source import checked_spec
from msl.search.base import Observation, SearchSpace
from msl.search.stages import load_strategy
from msl.search.strategy_context import Setting
from msl.space.values import Model

_REPEATS = 3


@dataclass(frozen=True, slots=True)
class Curve:
    """Seconds at each size, and their slope on logarithmic scales."""

    what: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def slope(self) -> float:
        return slope(self.sizes, self.seconds)


def slope(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The exponent of the power law that fits best."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def measure_growth(quick: bool) -> list[Curve]:
    """Every curve; quick has smaller sizes."""
    scale = 1 if quick else 4
    rows = tuple(scale * size for size in (100, 200, 400))
    columns = tuple(scale * size for size in (10, 20, 40))
    dimensions = tuple(scale * size for size in (50, 100, 200))
    statements = tuple(scale * size for size in (50, 100, 200))
    learners = ("naive", "rf(units = 50, rest = default)", "svc(rest = default)")
    curves = [_curve(f"rows, {_name(one)}", rows, partial(_evaluation, one, columns=10)) for one in learners]
    by_columns = [partial(_evaluation, one, 200) for one in learners]
    named = [f"features, {_name(one)}" for one in learners]
    curves += [_curve(name, columns, work) for name, work in zip(named, by_columns, strict=True)]
    curves.append(_curve("dimensions, a step of pso", dimensions, lambda n: _steps(n, 30)))
    curves.append(_curve("population, a step of pso", dimensions, lambda n: _steps(30, n)))
    curves.append(_curve("length of a spec, checked", statements, _checking))
    curves.append(_curve("workers, the clock of a run", (1, 2), _with_workers, repeats=1))
    return curves


def _name(learner: str) -> str:
    return learner.partition("(")[0]


def _curve(what: str, sizes: tuple[int, ...], work: Callable[[int], float], repeats: int = _REPEATS) -> Curve:
    """The least of some tries at each size: whatever else the machine does only ever adds."""
    return Curve(what, sizes, tuple(min(work(size) for _ in range(repeats)) for size in sizes))


def _table(rows: int, columns: int) -> pl.DataFrame:
    X, y = make_classification(rows, columns, n_informative=5, random_state=0)
    return pl.DataFrame(X, schema=[f"f{place}" for place in range(columns)]).with_columns(
        pl.Series(TARGET, y).cast(str)
    )


def _spec(learner: str, search: str = "random(evaluations = 1)") -> str:
    return (
        f"msl 1\nuse clop\nchain m = standardize >> {learner} >> bias\nminimize ber by cv(folds = 3)\nsearch {search}\n"
    )


def _evaluation(learner: str, rows: int, columns: int) -> float:
    """The processor time of judging one model, the table being read already."""
    plan = commissioned(_spec(learner), _table(rows, columns), 0).plan
    model = plan.search_spaces[0].decode(plan.search_spaces[0].start)
    assert isinstance(model, Model), "the first point of this space is a model"
    evaluator = Evaluator(plan.job.dataset, plan.objectives, cache_bytes=0)
    gc.collect()
    start = process_time()
    evaluator.evaluate(model)
    return process_time() - start


def _steps(dimensions: int, population: int) -> float:
    """The processor time of ten steps of a swarm beside the evaluations."""
    spec, _ = checked_spec(Source("s.msl", _spec("naive", f"pso(swarm = {population}, iterations = 12)")))
    rng = np.random.default_rng(0)
    setting = Setting(SearchSpace.continuous(dimensions), dict(spec.search[0].call.options), np.random.default_rng(0))
    running = load_strategy("pso")(setting)
    asks, spent = next(running), 0.0
    for _ in range(10):
        told = [Observation(ask.vector, (float(rng.random()),)) for ask in asks]
        start = process_time()
        asks = running.send(told)
        spent += process_time() - start
    return spent


def _checking(statements: int) -> float:
    """The processor time of checking a spec of so many parts."""
    lines = [f"part p{i} = (ftest(fmax: 2..{i % 90 + 5}) | relief)?" for i in range(statements)]
    chain = " >> ".join(f"p{i}" for i in range(statements))
    source = Source("long.msl", "\n".join(["use clop", *lines, f"chain model = {chain} >> svc", ""]))
    start = process_time()
    checked = check_source(source)
    taken = process_time() - start
    assert checked.spec is not None, "the measured spec is sound"
    return taken


def _with_workers(workers: int) -> float:
    """The clock of a search whose evaluations take a while."""
    text = _spec("rf(units: int 200..400)", "random(evaluations = 16)")
    request = commissioned(text, _table(400, 20), 0)
    with tempfile.TemporaryDirectory() as folder:
        start = perf_counter()
        run_plan(request, Path(folder), on="local", workers=workers)
        return perf_counter() - start
