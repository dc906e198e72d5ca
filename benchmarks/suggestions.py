"""Suggestions: each is applied and run again, and what it gained on rows that no search has seen.

A part of a real table is searched with a spec as someone writes it, and every suggestion of the run is applied by
itself and searched again. The gain is the balanced error rate on the other rows, before minus after.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.benchmark import Benchmark, Workplace
from benchmarks.cell import Cell, Record
from benchmarks.datasets import TARGET, drawn_split, read_data
from benchmarks.report import Claim, Report, Table, made_by
from benchmarks.trial import balanced_error, run_spec
from msl.language.edit_space import edit_source
from msl.runner.insight.look_back import suggest
from msl.store.store import Store

TABLES = ("german", "heart", "ilpd", "ionosphere", "cmc")
_ROWS, _EVALUATIONS = 200, 60
SPEC = f"""use sklearn
part scale = standard_scaler(rest = default) | min_max(rest = default) | none
part learn = svm(C: real 1e-3..1 log, kernel: rbf(gamma: real 1e-4..1 log) | linear, rest = default)
  | k_neighbors(n_neighbors: int 1..20, weights: uniform | distance, p: 1 | 2)
  | decision_tree(max_depth: int 1..20, min_samples_leaf: int 1..50 log, rest = default)
  | gaussian_nb(rest = default)
  | logistic(C: real 1e-4..1 log, rest = default)
  | nearest_centroid(metric: euclidean | manhattan, rest = default)
chain m = scale >> learn
minimize ber by cv(folds = 5)
search random(evaluations = {_EVALUATIONS})
data(target = {TARGET})
"""
#: Ranges that end before the best values of many tables.
NARROW = f"""use sklearn
part scale = standard_scaler(rest = default) | none
part learn = svm(C: real 1e-3..0.1 log, kernel: rbf(gamma: real 1e-4..0.01 log), rest = default)
  | logistic(C: real 1e-4..0.01 log, rest = default)
  | decision_tree(max_depth: int 1..20, min_samples_leaf: int 20..50, rest = default)
chain m = scale >> learn
minimize ber by cv(folds = 5)
search random(evaluations = {_EVALUATIONS})
data(target = {TARGET})
"""
SPECS = {"random": SPEC, "narrow": NARROW}
#: What was proposed once and gained nothing in the mean.
TAKEN_OUT = ("close",)


def cells(quick: bool) -> list[Cell]:
    seeds = 1 if quick else 10
    budget = f"{_EVALUATIONS} evaluations"
    return [Cell(name, seed, which, budget) for seed in range(seeds) for name in TABLES for which in SPECS]


def work(cell: Cell, place: Workplace) -> Mapping[str, Any]:
    table = read_data(place.data, cell.data)
    split = drawn_split(table, cell.data, cell.split, min(_ROWS, len(table) // 2))
    before = _searched(SPECS[cell.method], split.train, split.test, cell.split, place.folder / "before")
    with Store.open(place.folder / "before", read_only=True) as store:
        found, made, of = suggest(store, store.runs.ids()[0])
    rows = []
    for one in made:
        text = edit_source(of.source, one.edits).text
        after = _searched(text, split.train, split.test, cell.split, place.folder / "after")
        rows.append(
            {
                "kind": one.kind,
                "says": one.says,
                "gain": before["test"] - after["test"],
                "found gain": before["found"] - after["found"],
                "evaluations": after["evaluations"] - before["evaluations"],
            }
        )
    return {"before": before, "suggestions": rows, "why none": found["why"]}


def _searched(text: str, train: pl.DataFrame, test: pl.DataFrame, seed: int, folder: Path) -> dict[str, float]:
    shutil.rmtree(folder, ignore_errors=True)
    result = run_spec(text, train, seed, folder)
    labels = result.trained.predict(result.trained.read(test)).tolist()
    return {
        "test": balanced_error(test[TARGET].to_list(), labels),
        "found": float(result.objectives["ber"]),
        "evaluations": float(result.summary["evaluations"]),
    }


def report(records: Sequence[Record]) -> Report:
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        for one in record.outcome["suggestions"]:
            kinds.setdefault(one["kind"], []).append(one)
    rows = tuple((kind, *_figures(own)) for kind, own in sorted(kinds.items()))
    columns = ("kind", "suggestions", "mean gain", "its standard error", "better or same", "evaluations more")
    title = "What suggestions gained: balanced error rate on new rows, before minus after"
    note = f"No longer proposed, because they gained nothing: {', '.join(TAKEN_OUT)}."
    table = Table(title, columns, rows, (note,))
    claims = tuple(
        Claim(
            f"a suggestion of the kind `{kind}` gains on the average"
            if kind != "shorter"
            else "half the budget costs no more than a standard error",
            (mean > 0 if kind != "shorter" else mean >= -error) if number >= 5 else None,
            f"{100 * mean:+.2f} ± {100 * error:.2f} points, {number} suggestions",
        )
        for kind, number, mean, error, _, _ in rows
        if kind not in TAKEN_OUT
    )
    ran = (
        f"{_ROWS} rows of each table searched ({_EVALUATIONS} evaluations drawn at random by five folds), the rest to "
        "judge by; each suggestion applied by itself and searched again with the same seed. One spec has wide ranges, "
        "another ranges that are too narrow for many tables."
    )
    return Report("suggestions", "What is a suggestion worth?", ran, (table,), claims, made_by(records))


def _figures(own: Sequence[Mapping[str, Any]]) -> tuple[int, float, float, float, float]:
    gains = np.array([one["gain"] for one in own])
    error = float(gains.std(ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else float("nan")
    return (
        len(own),
        float(gains.mean()),
        error,
        float((gains >= 0).mean()),
        float(np.mean([one["evaluations"] for one in own])),
    )


BENCHMARK = Benchmark("suggestions", cells, work, report)
