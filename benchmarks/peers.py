"""Peers: what users would pick instead — random search, Optuna, SMAC3, FLAML, TPOT and untuned learners."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import polars as pl

from benchmarks.baselines import try_baseline
from benchmarks.benchmark import Benchmark, Workplace
from benchmarks.cell import Cell, Record
from benchmarks.contestants import OURS, OWN_SPACE, SEARCHES, Budget, try_ours, try_own_space, try_search
from benchmarks.datasets import TARGET, drawn_split, read_data
from benchmarks.ranks import average_ranks, common_rows, critical_difference, friedman
from benchmarks.report import Claim, Report, Table, made_by
from benchmarks.significance import compare_pairs, mean

DATA = (
    "heart", "thyroid", "iris", "wine", "sonar", "breast_cancer", "zoo", "parkinsons", "ionosphere", "tae", "diabetis",
    "wdbc", "german", "titanic", "banknote", "flare_solar", "vehicle", "biodeg", "cmc", "segmentation",
)  # fmt: skip
QUICK_DATA = ("heart", "wine", "sonar")
SPLITS = 5
TRAINING = 0.6
#: A peer needs its package; cells of those without are left for later, and the report names them.
PACKAGE = {"tpe": "optuna", "smac": "smac", "flaml": "flaml", "tpot": "tpot"}
UNTUNED = ("forest", "untuned svm", "boosting")
FULL = ("40 evaluations", "10 seconds")
QUICK = ("20 evaluations", "5 seconds")


def cells(quick: bool) -> list[Cell]:
    """Split by split and data set by data set, so that a comparison is always among all."""
    names, splits = (QUICK_DATA, 1) if quick else (DATA, SPLITS)
    return [
        Cell(name, split, method, budget)
        for split in range(splits)
        for name in names
        for method, budget in contests(*(QUICK if quick else FULL))
    ]


def contests(evaluations: str, seconds: str) -> list[tuple[str, str]]:
    """Who is run with which budget."""
    on_our_space = [*OURS, *SEARCHES]
    return [
        *((name, evaluations) for name in on_our_space),
        *((name, seconds) for name in [*on_our_space, *OWN_SPACE]),
        *((name, "untuned") for name in UNTUNED),
    ]


def can_work(cell: Cell) -> bool:
    """Whether the package of the cell's method is installed."""
    return cell.method not in PACKAGE or find_spec(PACKAGE[cell.method]) is not None


def work(cell: Cell, place: Workplace) -> Mapping[str, Any]:
    table = read_data(place.data, cell.data)
    split = drawn_split(_with_text_classes(table), cell.data, cell.split, TRAINING)
    if cell.method in UNTUNED:
        return try_baseline(cell.method, split, cell.split)
    budget = Budget.of(cell.budget)
    place.folder.mkdir(parents=True, exist_ok=True)
    trying = try_ours if cell.method in OURS else try_own_space if cell.method in OWN_SPACE else try_search
    outcome = trying(cell.method, split, budget, cell.split, place.folder)
    return {**outcome, "origin": split.origin}


def _with_text_classes(table: pl.DataFrame) -> pl.DataFrame:
    """Classes as words, so that no method takes them for numbers."""
    return table.with_columns(pl.col(TARGET).cast(pl.String).alias(TARGET))


def report(records: Sequence[Record]) -> Report:
    budgets = {record.cell.budget for record in records} - {"untuned"}
    tables, claims = [], []
    for unit in ("evaluations", "seconds"):
        for budget in sorted(budget for budget in budgets if budget.endswith(unit)):
            scores, places = _scores(records, budget)
            tables.append(_table(budget, scores, places, _seconds(records, budget)))
            claims.append(_claim(unit, scores))
    known = {record.cell.method for record in records}
    missing = [name for name in PACKAGE if name not in known]
    absent = f" Not run: {', '.join(missing)}." if missing else ""
    sets = {record.cell.data for record in records}
    ran = (
        f"{len(sets)} data sets, splits with 60 % training rows, budgets of "
        f"{', '.join(sorted(budgets)) or 'nothing yet'}. msl, random, tpe and smac search the space of "
        "specs/psms.msl, but with at most 200 trees, by 3-fold BER; flaml and tpot have their own spaces and so only "
        f"equal time.{absent}"
    )
    return Report("peers", "Peers", ran, tuple(tables), tuple(claims), made_by(records, tuple(PACKAGE.values())))


def _scores(records: Sequence[Record], budget: str) -> tuple[dict[str, dict[str, float]], int]:
    """For each method the mean test BER of each data set, in percent, over the splits that all methods have, and how
    many splits these are."""
    found: dict[str, dict[tuple[str, int], float]] = {}
    for record in records:
        if record.cell.budget in (budget, "untuned"):
            place = record.cell.data, record.cell.split
            found.setdefault(record.cell.method, {})[place] = 100 * record.outcome["ber"]
    shared = sorted(set.intersection(*(set(each) for each in found.values()))) if found else []
    names = sorted({name for name, _ in shared})
    scores = {
        method: {name: mean([each[place] for place in shared if place[0] == name]) for name in names}
        for method, each in found.items()
    }
    return scores, len(shared)


def _seconds(records: Sequence[Record], budget: str) -> dict[str, float]:
    """What a cell of each method took on average, with reading, refitting and testing."""
    taken: dict[str, list[float]] = {}
    for record in records:
        if record.cell.budget in (budget, "untuned"):
            taken.setdefault(record.cell.method, []).append(record.seconds)
    return {method: mean(values) for method, values in taken.items()}


def _table(budget: str, scores: Mapping[str, Mapping[str, float]], splits: int, seconds: Mapping[str, float]) -> Table:
    ranks = average_ranks(scores)
    shared, rows = common_rows(scores)
    by_method = dict(zip(scores, rows.T.tolist(), strict=True)) if shared else {}
    ours = [name for name in OURS if name in by_method]
    lines = []
    for method, figures in by_method.items():
        against = [_against(by_method[name], figures) if name != method else None for name in ours]
        lines.append((method, ranks[method], mean(figures), *against, seconds[method]))
    lines.sort(key=lambda line: line[1])
    difference = critical_difference(len(scores), len(shared))
    note = (
        f"{len(shared)} data sets, {splits} splits of them; Nemenyi's critical difference of average ranks is "
        f"{difference:.2f} (0.05), Friedman p = {friedman(scores):.2g}. Won, tied and lost by us, with Wilcoxon's p."
    )
    columns = ("method", "average rank", "mean test BER", *(f"against {name}" for name in ours), "seconds")
    return Table(f"With {budget}", columns, tuple(lines), (note,))


def _against(ours: Sequence[float], theirs: Sequence[float]) -> str:
    pairs = compare_pairs(ours, theirs)
    chance = "" if math.isnan(pairs.p_value) else f", {pairs.p_value:.2g}"
    return f"{pairs.wins}/{pairs.ties}/{pairs.losses}{chance}"


def _claim(unit: str, scores: Mapping[str, Mapping[str, float]]) -> Claim:
    ranks, (shared, _) = average_ranks(scores), common_rows(scores)
    ours = min((ranks[name] for name in OURS if name in ranks), default=float("nan"))
    others = {name: rank for name, rank in ranks.items() if name not in OURS}
    best = min(others, key=lambda name: others[name], default="none")
    difference = critical_difference(len(scores), len(shared))
    if unit == "evaluations":
        text, holds = "the best average rank at equal evaluations", ours <= others.get(best, float("nan"))
    else:
        text = "at equal time not significantly worse than the best"
        holds = ours <= others.get(best, float("nan")) + difference
    seen = f"{ours:.2f}, the best of the others {others.get(best, float('nan')):.2f} ({best}), {len(shared)} data sets"
    return Claim(text, None if len(shared) < 10 else bool(holds), seen)


BENCHMARK = Benchmark("peers", cells, work, report, can_work=can_work)
