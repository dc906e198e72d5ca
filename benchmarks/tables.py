"""Tables: `msl init` and `msl run` on real tables, against what people would use instead, in the same time.

Every contestant is a process of its own, reads the same two CSV files, and is judged by what it says about the test
rows: AUC for two classes, RMSE for numbers. The time is what its process took, reading and predicting included.
"""

from __future__ import annotations

import csv
import json
import resource
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score, root_mean_squared_error

from benchmarks.benchmark import Benchmark, Workplace
from benchmarks.cell import Cell, Record
from benchmarks.datasets import read_data
from benchmarks.ranks import average_ranks, common_rows, critical_difference
from benchmarks.report import Claim, Report, Table, made_by
from benchmarks.significance import mean
from benchmarks.trial import balanced_error

#: The target of each table, and whether it is a number.
TARGETS = {
    "attrition": ("Attrition", False),
    "credit_data": ("Status", False),
    "wa_churn": ("churn", False),
    "stackoverflow": ("Remote", False),
    "lending_club": ("Class", False),
    "bank_marketing_full": ("class", False),
    "flights": ("late", False),
    "ames": ("Sale_Price", True),
    "tate_text": ("year", True),
    "deliveries": ("time_to_delivery", True),
    "hotel_rates": ("avg_price_per_room", True),
}
SMALL = ("attrition", "credit_data", "ames")
#: Those that take no budget, and those that are given the seconds of the cell.
AS_THEY_COME = ("hist", "hist balanced", "lightgbm")
SEARCHES = ("msl", "flaml", "autogluon", "h2o")
#: Peers want other versions of the same packages, so each may have an environment here, of its name.
ENVIRONMENTS = Path(__file__).parent / "environments"
PACKAGES = {"lightgbm": "lightgbm", "flaml": "flaml", "autogluon": "autogluon.tabular", "h2o": "h2o"}
TRAINING = 0.7
#: How much longer than its budget a run may take.
GRACE = 1.1
_BOOTSTRAPS = 200


def cells(quick: bool) -> list[Cell]:
    """Split by split, so that a comparison is always among all; the long budget on one split."""
    if quick:
        return _of(SMALL, 1, "20 seconds")
    return list(dict.fromkeys([*_of(tuple(TARGETS), 3, "60 seconds"), *_of(tuple(TARGETS), 1, "300 seconds")]))


def _of(names: Sequence[str], splits: int, budget: str) -> list[Cell]:
    return [
        Cell(name, split, method, "as it comes" if method in AS_THEY_COME else budget)
        for split in range(splits)
        for name in names
        for method in (*SEARCHES, *AS_THEY_COME)
        if not (method == "hist balanced" and TARGETS[name][1])
    ]


@cache
def interpreter(method: str) -> str | None:
    """The Python that has a peer: of its own environment, or this one; None if there is none."""
    if method not in PACKAGES:
        return sys.executable
    for python in (str(ENVIRONMENTS / method / "bin" / "python"), sys.executable):
        probe = f"import importlib.util as u, sys; sys.exit(u.find_spec({PACKAGES[method].split('.')[0]!r}) is None)"
        if shutil.which(python) and subprocess.run([python, "-c", probe], check=False).returncode == 0:
            return python
    return None


def can_work(cell: Cell) -> bool:
    return interpreter(cell.method) is not None


@dataclass(frozen=True, slots=True)
class Contest:
    """A contestant on one split: where its two tables are, what it is to predict, and its budget."""

    folder: Path
    target: str
    is_number: bool
    seconds: float
    seed: int

    def run(self, command: Sequence[str]) -> str:
        done = subprocess.run(command, cwd=self.folder, check=False, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command[:3])}: {done.stderr.strip()[-400:] or 'no message'}")
        return done.stdout


def work(cell: Cell, place: Workplace) -> Mapping[str, Any]:
    target, is_number = TARGETS[cell.data]
    folder = place.data if (place.data / f"{cell.data}.csv.gz").exists() else place.data / "real"
    table = read_data(folder, cell.data)
    table = table.filter(pl.col(target).is_not_null())
    rows = np.random.default_rng(cell.split).permutation(len(table))
    size = round(TRAINING * len(table))
    train, test = table[rows[:size]], table[rows[size:]]
    shutil.rmtree(place.folder, ignore_errors=True)
    place.folder.mkdir(parents=True)
    train.write_csv(place.folder / "train.csv")
    test.write_csv(place.folder / "test.csv")
    kinds = {name: "number" if table[name].dtype.is_numeric() else "symbol" for name in table.columns if name != target}
    (place.folder / "columns.json").write_text(json.dumps(kinds))
    seconds = float(cell.budget.split()[0]) if cell.method in SEARCHES else 0.0
    contest = Contest(place.folder, target, is_number, seconds, cell.split)
    before, start = _cpu(), perf_counter()
    more = run_msl(contest) if cell.method == "msl" else run_peer(contest, cell.method)
    taken = {"taken": round(perf_counter() - start, 1), "cpu": round(_cpu() - before, 1)}
    return {**judge(contest, test[target]), **taken, **more}


def _cpu() -> float:
    """The processor time of all processes that were started from here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_peer(contest: Contest, method: str) -> dict[str, Any]:
    python = interpreter(method)
    assert python is not None, "a cell without its package is not worked"
    script = Path(__file__).with_name("table_peers.py")
    task = "regression" if contest.is_number else "classification"
    given = (method, ".", contest.target, task, f"{contest.seconds:g}", str(contest.seed))
    contest.run([python, str(script), *given])
    return {"version": _version(python, PACKAGES[method])} if method in PACKAGES else {}


@cache
def _version(python: str, package: str) -> str:
    """Of a peer in the environment that it has: the journal knows the packages of this one only."""
    asked = f"import importlib.metadata as m; print(m.version({package!r}))"
    return subprocess.run([python, "-c", asked], check=True, capture_output=True, text=True).stdout.strip()


def run_msl(contest: Contest) -> dict[str, Any]:
    """What a user types, in this order; the time of the search alone, and of its evaluations, is kept too."""
    msl = [sys.executable, "-m", "msl"]
    contest.run([*msl, "init", "train.csv", "--target", contest.target, "-o", "first.msl"])
    budget = f"budget.time={contest.seconds:g}s"
    before, start = _cpu(), perf_counter()
    answer = contest.run(
        [*msl, "run", "first.msl", "train.csv", "--set", budget, "--seed", str(contest.seed), "--json"]
    )
    searched, used = perf_counter() - start, _cpu() - before
    found = json.loads(answer)
    shares = [] if contest.is_number else ["--proba"]
    contest.run([*msl, "predict", "@", "test.csv", *shares, "-o", "predicted.csv", "--store", ".msl"])
    with (contest.folder / "predicted.csv").open(newline="", encoding="utf-8") as file:
        _, *lines = csv.reader(file)
    _write(contest.folder / "outputs.csv", [line[-1] for line in lines])
    if not contest.is_number:
        _write(contest.folder / "labels.csv", [line[0] for line in lines])
    return {
        "searched": round(searched, 1),
        "search cpu": round(used, 1),
        "evaluations": found["evaluations"],
        "failures": found["failures"],
        "model": found["best"],
        "members": len(found.get("ensemble", ())),
    }


def _write(path: Path, values: Sequence[str]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([one] for one in values)


def judge(contest: Contest, truth: pl.Series) -> dict[str, float]:
    """The measure of the task on the test rows, its standard error over bootstrap samples of them, and the BER."""
    with (contest.folder / "outputs.csv").open(newline="", encoding="utf-8") as file:
        outputs = np.array([float(line[0]) for line in csv.reader(file)])
    if contest.is_number:
        return {"rmse": float(root_mean_squared_error(truth, outputs)), "error": _spread(truth.to_numpy(), outputs)}
    is_second = (truth.cast(pl.String) == max(truth.cast(pl.String))).to_numpy()
    found = {"auc": float(roc_auc_score(is_second, outputs)), "error": _spread(is_second, outputs)}
    labels = contest.folder / "labels.csv"
    if labels.exists():
        with labels.open(newline="", encoding="utf-8") as file:
            found["ber"] = balanced_error(truth.cast(pl.String).to_list(), [line[0] for line in csv.reader(file)])
    return found


def _spread(truth: NDArray[Any], outputs: NDArray[Any]) -> float:
    rng = np.random.default_rng(0)
    measure = roc_auc_score if truth.dtype == bool else root_mean_squared_error
    drawn = [rng.integers(0, len(truth), len(truth)) for _ in range(_BOOTSTRAPS)]
    return float(np.std([measure(truth[rows], outputs[rows]) for rows in drawn if len(np.unique(truth[rows])) > 1]))


# --- the report ---


def report(records: Sequence[Record]) -> Report:
    budgets = sorted(
        {one.cell.budget for one in records if one.cell.method in SEARCHES}, key=lambda b: float(b.split()[0])
    )
    tables: list[Table] = []
    claims: list[Claim] = []
    for budget in budgets:
        chosen = [one for one in records if one.cell.budget in (budget, "as it comes")]
        tables.append(_figures(budget, chosen))
        claims += _claims(budget, chosen)
    known = {record.cell.method for record in records}
    missing = [name for name in PACKAGES if name not in known]
    not_run = f" Not run: {', '.join(missing)}." if missing else ""
    ran = (
        f"{len({one.cell.data for one in records})} tables with gaps, words, dates and text, {TRAINING:.0%} of the "
        "rows to learn from. `msl` is `msl init`, `msl run` with the spec as written and the time of the budget, and "
        "`msl predict`; flaml, autogluon and h2o have the same time, hist (scikit-learn's boosting with native "
        f"categories) and lightgbm take what they take{_versions(records)}.{not_run}"
    )
    return Report("tables", "Real tables", ran, tuple(tables), tuple(claims), made_by(records))


def _versions(records: Sequence[Record]) -> str:
    known = {one.cell.method: one.outcome["version"] for one in records if "version" in one.outcome}
    return f" ({', '.join(f'{name} {version}' for name, version in sorted(known.items()))})" if known else ""


def _losses(records: Sequence[Record]) -> dict[str, dict[str, float]]:
    """For each method the loss on each table and split, smaller being better; `hist balanced` is there for its BER."""
    found: dict[str, dict[str, float]] = {}
    for one in records:
        if one.cell.method != "hist balanced":
            loss = one.outcome["rmse"] if "rmse" in one.outcome else -one.outcome["auc"]
            found.setdefault(one.cell.method, {})[f"{one.cell.data}/{one.cell.split}"] = loss
    return found


def _figures(budget: str, records: Sequence[Record]) -> Table:
    losses = _losses(records)
    ranks = average_ranks(losses)
    methods = sorted(losses, key=lambda name: ranks.get(name, float("inf")))
    rows: list[tuple[Any, ...]] = []
    for name in dict.fromkeys(one.cell.data for one in records):
        of_table = [
            [-loss if loss < 0 else loss for key, loss in losses[m].items() if key.startswith(f"{name}/")]
            for m in methods
        ]
        bers = [
            one.outcome["ber"]
            for one in records
            if one.cell.data == name and one.cell.method == "msl"
            if "ber" in one.outcome
        ]
        errors = [one.outcome["error"] for one in records if one.cell.data == name and one.cell.method == "msl"]
        figures = (None if not each else _figure(name, mean(each)) for each in of_table)
        error = _figure(name, mean(errors)) if errors else None
        rows.append((name, "RMSE" if TARGETS[name][1] else "AUC", *figures, error, mean(bers) if bers else None))
    rows.append(("average rank", "", *(ranks.get(method) for method in methods), None, None))
    longest = [max(one.outcome["taken"] for one in records if one.cell.method == method) for method in methods]
    rows.append(("longest, seconds", "", *longest, None, None))
    count = len(common_rows(losses)[0])
    difference = critical_difference(len(losses), count)
    note = f"Nemenyi's critical difference of average ranks over {count} splits of tables: {difference:.2f}."
    return Table(f"With {budget}", ("table", "measure", *methods, "s.e. of msl", "BER of msl"), tuple(rows), (note,))


def _figure(name: str, value: float) -> str | float:
    """An area under the curve with as many digits as tell methods apart."""
    return value if TARGETS[name][1] else f"{value:.4f}"


def _claims(budget: str, records: Sequence[Record]) -> list[Claim]:
    losses = _losses(records)
    ours = [one for one in records if one.cell.method == "msl"]
    if not ours:
        return []
    ranks = average_ranks(losses)
    best = min(ranks, key=lambda name: ranks[name], default="none")
    seconds = float(budget.split()[0])
    late = [one for one in ours if one.outcome["searched"] > GRACE * seconds]
    errors = {f"{one.cell.data}/{one.cell.split}": one.outcome["error"] for one in ours}
    booster = losses.get("hist", {})
    shared = booster.keys() & losses["msl"].keys()
    behind = sorted(key for key in shared if losses["msl"][key] > booster[key] + errors[key])
    return [
        Claim(
            f"the best average rank with {budget}",
            ranks["msl"] <= ranks[best] if len(ranks) > 2 else None,
            f"{ranks.get('msl', float('nan')):.2f}, best is {best}",
        ),
        Claim(
            f"on no table behind scikit-learn's boosting by more than a standard error, with {budget}",
            not behind if shared else None,
            f"behind on {', '.join(behind)}" if behind else f"{len(shared)} splits of tables",
        ),
        Claim(f"every run ends within {budget} and a tenth", not late, f"{len(late)} of {len(ours)} took longer"),
    ]


BENCHMARK = Benchmark("tables", cells, work, report, can_work=can_work)
