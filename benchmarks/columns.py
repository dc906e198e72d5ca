"""Columns: what a date, free text, a column with many symbols, and the order of symbols are worth.

One model on each table, fitted with and without the columns on the same rows and judged on the same others: boosting,
and for orders a linear model too. Without a column means `data(ignore = […])`; without an order, `categorical`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.metrics import log_loss, root_mean_squared_error

from benchmarks.benchmark import Benchmark, Workplace
from benchmarks.cell import Cell, Record
from benchmarks.datasets import read_data
from benchmarks.report import Claim, Report, Table, made_by
from benchmarks.significance import mean
from benchmarks.tables import TARGETS, TRAINING
from msl.api import run
from msl.data.data_errors import in_spec
from msl.data.ordered_symbols import infer_order, order_in_spec, says_nothing

#: Of larger tables a sample is drawn, so that a cell takes seconds.
_MOST_ROWS = 40_000
_SPLITS = 3


@dataclass(frozen=True, slots=True)
class Question:
    """What columns are worth on a table; without `columns`, what the order of its symbols is worth."""

    data: str
    kind: str
    columns: tuple[str, ...] = ()
    #: Columns that both sides do without: identifiers, and numbers that say the same.
    apart: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.kind}{': ' if self.columns else ''}{', '.join(self.columns)}"


QUESTIONS = (
    Question("tate_text", "text", ("title", "medium"), ("id",)),
    Question("hotel_rates", "date", ("arrival_date",), ("arrival_date_num", "near_christmas", "near_new_years")),
    Question("hotel_rates", "many symbols", ("agent", "country", "company")),
    Question("flights", "date", ("time_hour",), ("year", "month", "day", "hour", "minute")),
    Question("flights", "many symbols", ("tailnum", "dest")),
    *(Question(name, kind) for name in ("attrition", "ames", "lending_club") for kind in ("order", "order, linear")),
)


def cells(quick: bool) -> list[Cell]:
    return [
        Cell(question.data, split, f"{side} {question.name}", "one model")
        for split in range(1 if quick else _SPLITS)
        for question in QUESTIONS
        for side in ("with", "without")
    ]


def work(cell: Cell, place: Workplace) -> Mapping[str, Any]:
    question = next(q for q in QUESTIONS if q.data == cell.data and cell.method.partition(" ")[2] == q.name)
    target, is_number = TARGETS[cell.data]
    folder = place.data if (place.data / f"{cell.data}.csv.gz").exists() else place.data / "real"
    table = read_data(folder, cell.data).filter(pl.col(target).is_not_null())
    lacking = [name for name in (*question.columns, *question.apart) if name not in table.columns]
    if lacking:
        raise ValueError(f"{cell.data} has no column {', '.join(lacking)}")
    rows = np.random.default_rng(cell.split).permutation(len(table))[:_MOST_ROWS]
    size = round(TRAINING * len(rows))
    train, test = table[rows[:size]], table[rows[size:]]
    spec = _spec(question, cell.method.startswith("with "), table, target, is_number)
    with tempfile.TemporaryDirectory() as store:
        result = run(spec, train, store=Path(store), seed=cell.split, jobs=1, progress=None)
    return {"loss": _loss(result.trained, test, target, is_number), "estimate": next(iter(result.objectives.values()))}


def _spec(question: Question, has_them: bool, table: pl.DataFrame, target: str, is_number: bool) -> str:
    ignored = [*question.apart, *(() if has_them else question.columns)]
    orders = _orders(table, target) if has_them and not question.columns else []
    options = [f'target = "{target}"', f"task = {'regression' if is_number else 'classification'}"]
    if ignored:
        options.append(f"ignore = [{in_spec(*ignored)}]")
    if orders:
        options.append(f"ordered = [{', '.join(orders)}]")
    if question.kind.endswith("linear"):
        learner = "ridge(alpha = 1)" if is_number else "logistic(C = 1)"
        chain = f"standard_scaler(rest = default) >> {learner}"
    else:
        chain = "hist_boosting(rest = default)"
    measure = "rmse" if is_number else "logloss"
    return f"""msl 1
use sklearn
use boosting
data({", ".join(options)})
chain model = {chain}
minimize {measure} by holdout(share = 20%)
search random
budget(evaluations = 1)
"""


def _orders(table: pl.DataFrame, target: str) -> list[str]:
    """The columns of ordered symbols, as `msl init` would write them."""
    found = []
    for name in table.columns:
        if name != target and table[name].dtype == pl.String and table[name].n_unique() <= 100:
            symbols = table[name].drop_nulls().unique().to_list()
            order = infer_order(name, symbols) or infer_order(name, [s for s in symbols if not says_nothing(s)])
            if order is not None:
                found.append(order_in_spec((name, *order)))
    return found


def _loss(trained: Any, test: pl.DataFrame, target: str, is_number: bool) -> float:
    read = trained.read(test)
    if is_number:
        return float(root_mean_squared_error(test[target].cast(pl.Float64), trained.predict(read)))
    shares = trained.predict_proba(read)
    classes = [str(each) for each in trained.schema.classes]
    return float(log_loss(test[target].cast(pl.String).to_list(), shares, labels=classes))


def report(records: Sequence[Record]) -> Report:
    rows: list[tuple[Any, ...]] = []
    claims: list[Claim] = []
    for question in QUESTIONS:
        sides = [
            {r.cell.split: r.outcome["loss"] for r in records if (r.cell.data, r.cell.method) == (question.data, name)}
            for name in (f"with {question.name}", f"without {question.name}")
        ]
        shared = sorted(sides[0].keys() & sides[1].keys())
        if not shared:
            continue
        with_it, without = ([side[split] for split in shared] for side in sides)
        measure = "RMSE" if TARGETS[question.data][1] else "log loss"
        rows.append((question.data, question.name, measure, mean(without), mean(with_it), len(shared)))
        if question.columns:
            claims.append(
                Claim(
                    f"{question.name} lowers the loss on {question.data} on every split",
                    all(a < b for a, b in zip(with_it, without, strict=True)),
                    f"{mean(without):.4g} without, {mean(with_it):.4g} with",
                )
            )
    heads = ("table", "what", "measure", "without", "with", "splits")
    ran = (
        f"Boosting as it comes (for `linear`: ridge or logistic regression), fitted on {TRAINING:.0%} of the rows, at "
        f"most {_MOST_ROWS:,} in all, and judged on the others."
    )
    return Report(
        "columns",
        "What columns are worth",
        ran,
        (Table("Loss on the other rows", heads, tuple(rows)),),
        tuple(claims),
        made_by(records),
    )


BENCHMARK = Benchmark("columns", cells, work, report)
