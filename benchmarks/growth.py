"""Growth: how cost grows with rows, features, dimensions, population, workers and the length of a spec.

Each is timed at a few sizes; the slope of the logarithms is 1 where cost grows in proportion. Of large tables
the memory is measured too, each in a process of its own: `python -m benchmarks.growth TABLE.csv TARGET LEARNER`.
"""

from __future__ import annotations

import gc
import json
import resource
import subprocess
import sys
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


#: Learners for large tables: one that takes symbols as they are, and one that has a column for each.
_LARGE = {
    "lightgbm": "boosting\nchain m = lightgbm(n_estimators = 100, rest = default)",
    "logistic": "sklearn\nchain m = max_abs >> logistic(rest = default)",
}


@dataclass(frozen=True, slots=True)
class Curve:
    """Seconds at each size, or megabytes, and their slope on logarithmic scales."""

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
    curves += _of_large_tables(quick)
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


@dataclass(frozen=True, slots=True)
class Walk:
    """What a process needs to read a table, to infer what its columns are, and to judge one model."""

    reading: float
    judging: float
    megabytes: float


def _of_large_tables(quick: bool) -> list[Curve]:
    """Reading and one evaluation by rows and by columns, with the memory that both together take at most."""
    rows = tuple(size // (10 if quick else 1) for size in (10_000, 30_000, 100_000, 300_000))
    columns = tuple(size // (4 if quick else 1) for size in (20, 60, 200))
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for learner in _LARGE:
            by_rows = [_walked(Path(folder), learner, size, 14) for size in rows]
            by_columns = [_walked(Path(folder), learner, rows[0], size) for size in columns]
            for what, sizes, walks in (("rows", rows, by_rows), ("columns", columns, by_columns)):
                if learner == next(iter(_LARGE)):
                    found.append(Curve(f"{what} of a mixed table, read", sizes, tuple(one.reading for one in walks)))
                of = f"{what} of a mixed table, {learner}"
                found.append(Curve(of, sizes, tuple(one.judging for one in walks)))
                found.append(Curve(f"{of}, GB at the peak", sizes, tuple(one.megabytes / 1000 for one in walks)))
    return found


def _walked(folder: Path, learner: str, rows: int, columns: int) -> Walk:
    path = folder / "t.csv"
    _departures(rows, columns).write_csv(path)
    command = [sys.executable, "-m", "benchmarks.growth", str(path), "late", learner]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return Walk(**json.loads(said))


def _departures(rows: int, columns: int) -> pl.DataFrame:
    """Departures of aeroplanes as they might be: of seven columns, two with dates, three with few, many and very many
    symbols, and two with numbers."""
    rng = np.random.default_rng(0)
    made: dict[str, object] = {}
    for place in range(columns):
        draw = rng.integers(0, 8_000, rows)
        match place % 7:
            case 0 | 1:
                made[f"at{place}"] = pl.Series(draw * 3_600).cast(pl.Datetime("ms")).dt.strftime("%Y-%m-%d %H:%M")
            case 2 | 3 | 4 as kind:
                made[f"code{place}"] = pl.Series(draw % (16, 105, 3_000)[kind - 2]).cast(pl.String) + "x"
            case _:
                made[f"number{place}"] = rng.normal(size=rows)
    late = (made["number5"] + rng.normal(size=rows) > 0.5) if columns > 5 else rng.random(rows) > 0.5  # type: ignore[operator]
    return pl.DataFrame({**made, "late": late})


def _walk(path: str, target: str, learner: str) -> Walk:
    """The processor time of both parts, and the memory of this process at its peak, less what it had before."""
    warmed = commissioned(f"use {_LARGE[learner]}", pl.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]}), 0)
    del warmed
    before, start = _peak(), process_time()
    text = f"use {_LARGE[learner]}\ndata(target = {target})\nminimize error by holdout()\n"
    plan = commissioned(text, path, 0).plan
    read = process_time()
    model = plan.search_spaces[0].decode(plan.search_spaces[0].start)
    assert isinstance(model, Model), "the only point of this space is a model"
    failure = Evaluator(plan.job.dataset, plan.objectives, cache_bytes=0).evaluate(model).failure
    assert failure is None, failure
    return Walk(read - start, process_time() - read, _peak() - before)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


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


if __name__ == "__main__":
    found = _walk(*sys.argv[1:])
    print(json.dumps({"reading": found.reading, "judging": found.judging, "megabytes": found.megabytes}))
