"""Portfolio: which few learners to try first on a table that nobody has seen.

Learners with their defaults and with drawn values are evaluated on many tables, each in the space that `msl init`
writes for the table. A portfolio is built greedily: each next learner is the one that lowers the mean regret of the
best one so far most, over all tables. To see whether it transfers, each table is left out in turn, and the portfolio of
the others is compared with drawing at random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.benchmark import Benchmark, Workplace
from benchmarks.cell import Cell, Record
from benchmarks.datasets import TARGET, read_data
from benchmarks.report import Claim, Report, Table, made_by
from benchmarks.significance import mean
from benchmarks.tables import TARGETS
from msl.check.read_models import ModelReader, model_with_learner
from msl.data.options import DataOptions
from msl.diagnostics.source import Source
from msl.evaluate.evaluator import Evaluator
from msl.report.learned_portfolio import greedy_portfolio, regret_of, regret_of_chance, regrets
from msl.runner.plan import Plan, make_plan
from msl.runner.spec_source import checked_spec
from msl.runner.starter_spec import read_for_starter_spec, starter_spec_text
from msl.space.values import Model

#: Tables of both kinds; at most so many rows of each, so that a learner takes less than a second.
CLASSES = ("attrition", "credit_data", "stackoverflow", "german", "heart", "cmc")
NUMBERS = ("ames", "tate_text", "deliveries")
ROWS = 500
#: How many learners a portfolio has, and how many are drawn of each.
SIZE = 6
DRAWN = {"hist_gradient_boosting": 6, "extra_trees": 3, "logistic": 3, "svm": 3, "k_neighbors": 2, "ridge": 3}
QUICK = 3
#: The ranges that `msl init` writes, as logarithms where they are logarithmic.
_RANGES: Mapping[str, Mapping[str, tuple[str, float, float]]] = {
    "hist_gradient_boosting": {
        "learning_rate": ("log", 0.02, 0.3),
        "max_iter": ("log int", 30, 200),
        "max_leaf_nodes": ("log int", 4, 64),
        "min_samples_leaf": ("log int", 2, 100),
        "l2_regularization": ("log", 0.001, 10),
        "max_features": ("real", 0.3, 1.0),
    },
    "extra_trees": {"max_features": ("real", 0.1, 1.0), "min_samples_leaf": ("log int", 1, 20)},
    "logistic": {"C": ("log", 0.001, 100)},
    "svm": {"C": ("log", 0.01, 1000), "gamma": ("log", 0.0001, 1)},
    "k_neighbors": {"n_neighbors": ("log int", 3, 40)},
    "ridge": {"alpha": ("log", 0.01, 10_000)},
}
#: Bytes for what the evaluations of a table share.
_CACHE = 30_000_000
_ONLY_CLASSES, _ONLY_NUMBERS = ("logistic", "svm"), ("ridge",)


def candidates() -> list[str]:
    """Learners as MSL text: each with its defaults, then with drawn values; rounded, so that they can be read."""
    rng = np.random.default_rng(0)
    found = [f"{name}(rest = default)" for name in DRAWN]
    for place in range(max(DRAWN.values())):
        for name in (name for name, count in DRAWN.items() if place < count):
            drawn = {each: _drawn(rng, *given) for each, given in _RANGES[name].items()}
            gamma = drawn.pop("gamma", None)
            values = [f"{each} = {value}" for each, value in drawn.items()]
            values += [] if gamma is None else [f"kernel = rbf(gamma = {gamma})"]
            found.append(f"{name}({', '.join(values)}, rest = default)")
    return found


def _drawn(rng: np.random.Generator, scale: str, low: float, high: float) -> str:
    value = float(rng.uniform(low, high) if scale == "real" else np.exp(rng.uniform(np.log(low), np.log(high))))
    return str(round(value)) if scale.endswith("int") else f"{float(f'{value:.2g}'):g}"


def cells(quick: bool) -> list[Cell]:
    """Learner by learner, so that a portfolio can be made of what is finished."""
    names = (*CLASSES[:2], NUMBERS[0]) if quick else (*CLASSES, *NUMBERS)
    found = candidates()[:QUICK] if quick else candidates()
    return [Cell(name, 0, learner, f"{ROWS} rows") for learner in found for name in names if _takes(name, learner)]


def _takes(name: str, learner: str) -> bool:
    return learner.split("(")[0] not in (_ONLY_CLASSES if name in NUMBERS else _ONLY_NUMBERS)


def work(cell: Cell, place: Workplace) -> Mapping[str, Any]:
    plan, evaluator = _prepared(place.data, cell.data)
    model = _model(plan, cell.method)
    if model is None:
        return {"loss": float("inf"), "why": "not in the space of this table"}
    outcome = evaluator.evaluate(model)
    return {"loss": float(outcome.losses[0]), "seconds": round(outcome.effort.seconds, 3)}


@lru_cache(maxsize=32)
def _prepared(data: Path, name: str) -> tuple[Plan, Evaluator]:
    """The plan of the first spec of a table, and what judges its models; learners for few rows are in every space."""
    frame = read_data(data / "real" if name in TARGETS else data, name)
    target = TARGETS[name][0] if name in TARGETS else TARGET
    frame = frame.filter(pl.col(target).is_not_null())
    rows = np.random.default_rng(0).permutation(len(frame))[:ROWS]
    table, first = read_for_starter_spec(frame[rows], DataOptions(target=target))
    source = Source("first.msl", starter_spec_text(table, first, "first.msl", name))
    spec, _ = checked_spec(source, table.facts)
    plan = make_plan(spec, table)
    return plan, Evaluator(plan.job.dataset, plan.objectives, plan.seed, cache_bytes=_CACHE)


def _model(plan: Plan, learner: str) -> Model | None:
    found, _ = ModelReader(Source("learner.msl", "use sklearn")).read(learner)
    return None if found is None else model_with_learner(plan.spec.space, found)


# --- the report ---


def portfolio_text(chosen: Sequence[tuple[str, Sequence[str]]]) -> str:
    """The portfolio as it ships: for each task its learners in their order."""
    lines = []
    for task, learners in chosen:
        lines += [f"chain {task}_{place} = {learner}" for place, learner in enumerate(learners, start=1)]
    return "\n".join(lines)


def report(records: Sequence[Record]) -> Report:
    tables: list[Table] = []
    claims: list[Claim] = []
    texts = []
    for task, names in (("classification", CLASSES), ("regression", NUMBERS)):
        losses: dict[str, dict[str, float]] = {}
        for one in records:
            if one.cell.data in names:
                losses.setdefault(one.cell.data, {})[one.cell.method] = one.outcome["loss"]
        losses = {name: found for name, found in losses.items() if any(map(isfinite, found.values()))}
        if not losses:
            continue
        regret = regrets(losses)
        texts.append((task, greedy_portfolio(regret, SIZE)))
        rows, own, chance = _left_out(regret)
        tables.append(Table(f"{task}: regret of the best of {SIZE}", ("table left out", "portfolio", "drawn"), rows))
        text = f"the portfolio of the other tables is better than as many drawn learners, {task}"
        claims.append(Claim(text, own < chance if len(losses) > 2 else None, f"{own:.2f} against {chance:.2f}"))
    ran = (
        f"{len({one.cell.method for one in records})} learners, evaluated on at most {ROWS:,} rows of "
        f"{len({one.cell.data for one in records})} tables as `msl init` would have them evaluated. Regret is 0 for "
        "the best learner of a table and 1 for the median one."
    )
    note = (portfolio_text(texts),) if texts else ()
    shown = Table("The portfolio", ("task", "learners"), tuple((task, len(found)) for task, found in texts), note)
    return Report("portfolio", "Portfolio", ran, (*tables, shown), tuple(claims), made_by(records))


def _left_out(regret: Mapping[str, Mapping[str, float]]) -> tuple[tuple[tuple[str, float, float], ...], float, float]:
    rows = []
    for name in regret:
        chosen = greedy_portfolio({other: found for other, found in regret.items() if other != name}, SIZE)
        rows.append((name, regret_of(chosen, regret[name]), regret_of_chance(regret[name], max(1, len(chosen)))))
    return tuple(rows), mean([row[1] for row in rows]), mean([row[2] for row in rows])


BENCHMARK = Benchmark("portfolio", cells, work, report)
