"""Honesty: whether what a run says of its winner holds on rows that it has not seen, and where the truth is known.

On labels drawn at random the balanced error rate of every model is one half on new rows, whatever a search finds. On
real tables a part is searched, and the rest, which is larger where the table allows it, judges the winner.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from benchmarks.benchmark import Benchmark, Workplace
from benchmarks.cell import Cell, Record
from benchmarks.datasets import TARGET, drawn_split, read_data
from benchmarks.report import Claim, Report, Table, made_by
from benchmarks.trial import balanced_error, run_spec

RANDOM = "labels drawn at random"
TABLES = tuple(
    "banknote biodeg breast_cancer cmc diabetis flare_solar german heart ilpd image ionosphere iris movement_libras"
    " musk1 parkinsons segmentation sonar tae thyroid titanic".split()
)
_SPACE = "use sklearn\nchain m = lda | qda | gaussian_nb | decision_tree | k_neighbors\n"
_ROWS, _COLUMNS, _MOST_TRAINING = 120, 6, 150
#: Searches: models drawn at random, and a strategy that looks for what is good on these rows.
SEARCHES = {"random": "random(evaluations = 60)", "pso": "pso(swarm = 10, iterations = 6)"}


def cells(quick: bool) -> list[Cell]:
    splits = 5 if quick else 100
    found = [Cell(RANDOM, split, method, "60 evaluations") for split in range(splits) for method in SEARCHES]
    tables, drawn = (TABLES[:3], 1) if quick else (TABLES, 10)
    return found + [Cell(name, split, "random", "60 evaluations") for split in range(drawn) for name in tables]


def work(cell: Cell, place: Workplace) -> Mapping[str, Any]:
    """What the run said, before and after the correction, and what is true."""
    if cell.data == RANDOM:
        train, test = _guesses(cell.split), None
    else:
        table = read_data(place.data, cell.data)
        split = drawn_split(table, cell.data, cell.split, min(_MOST_TRAINING, len(table) // 2))
        train, test = split.train, split.test
    text = f"{_SPACE}minimize ber by cv(folds = 5)\nsearch {SEARCHES[cell.method]}\ndata(target = {TARGET})\n"
    shutil.rmtree(place.folder, ignore_errors=True)
    result = run_spec(text, train, cell.split, place.folder)
    summary = result.summary
    truth, error = 0.5, 0.0
    if test is not None:
        labels = result.trained.predict(result.trained.read(test)).tolist()
        truth, error = balanced_error(test[TARGET].to_list(), labels), _test_error(test, labels)
    corrected = summary["corrected"]
    return {
        "truth": truth,
        "test error": error,
        "found": summary["objectives"]["ber"],
        "found interval": summary["interval"]["ber"],
        "corrected": corrected["objectives"]["ber"],
        "corrected interval": corrected["interval"]["ber"],
        "models": corrected["models"],
        "rows": len(train),
    }


def _guesses(number: int) -> pl.DataFrame:
    rng = np.random.default_rng([2018, number])
    columns = {f"x{place}": rng.normal(size=_ROWS) for place in range(_COLUMNS)}
    return pl.DataFrame({**columns, TARGET: [f"k{code}" for code in rng.permutation(np.arange(_ROWS) % 2)]})


def _test_error(test: pl.DataFrame, labels: Sequence[Any]) -> float:
    """The standard error of the balanced error rate on the test rows."""
    truth = np.array([str(one) for one in test[TARGET].to_list()])
    wrong = truth != np.array([str(one) for one in labels])
    kinds = np.unique(truth)
    shares = [(wrong[truth == kind].mean(), (truth == kind).sum()) for kind in kinds]
    return float(np.sqrt(sum(share * (1.0 - share) / count for share, count in shares)) / len(kinds))


# --- the report ---


def report(records: Sequence[Record]) -> Report:
    groups: dict[str, list[Record]] = {}
    for record in records:
        known = record.cell.data == RANDOM
        groups.setdefault(f"{RANDOM}, {record.cell.method}" if known else "real tables", []).append(record)
    rows = tuple(_row(name, which, own) for name, own in groups.items() for which in ("found", "corrected"))
    columns = ("on", "what is said", "runs", "mean", "truth", "optimism in standard errors", "holds the truth", "width")
    table = Table("What runs say of their winners", columns, rows)
    ran = (
        f"60 models of {_SPACE.split('= ', 1)[1].strip()} by five folds. Labels drawn at random: {_ROWS} rows, "
        f"{_COLUMNS} columns of noise. Real tables: at most {_MOST_TRAINING} rows to search on and the others to judge "
        "by; the truth is then the balanced error rate on these, and an interval holds it if it would with the width "
        "that their own number adds. `found` is the lowest of the search with the interval of its rows."
    )
    return Report("honesty", "Is what is said true?", ran, (table,), tuple(_claims(groups)), made_by(records))


def _row(name: str, which: str, records: Sequence[Record]) -> tuple[Any, ...]:
    figures = _figures(which, records)
    said = np.mean([one.outcome[which] for one in records])
    truth = np.mean([one.outcome["truth"] for one in records])
    return (name, which, len(records), float(said), float(truth), *figures)


def _figures(which: str, records: Sequence[Record]) -> tuple[float, float, float]:
    """Mean optimism in standard errors of a fresh test of as many rows, the share that holds, the mean width."""
    optimism, holds, widths = [], [], []
    for one in records:
        found, (low, high) = one.outcome, one.outcome[f"{which} interval"]
        rate = min(max(found["truth"], 0.5 / found["rows"]), 0.5)
        optimism.append((found["truth"] - found[which]) / np.sqrt(rate * (1.0 - rate) / found["rows"]))
        more = found["test error"]
        below, above = (np.hypot(found[which] - low, 1.96 * more), np.hypot(high - found[which], 1.96 * more))
        holds.append(found[which] - below <= found["truth"] <= found[which] + above)
        widths.append(high - low)
    return float(np.mean(optimism)), float(np.mean(holds)), float(np.mean(widths))


def _claims(groups: Mapping[str, Sequence[Record]]) -> list[Claim]:
    claims = []
    for name, records in groups.items():
        optimism, holds, _ = _figures("corrected", records)
        enough = len(records) >= 50
        claims += [
            Claim(
                f"on {name} the corrected estimate is off by at most 0.15 standard errors in the mean",
                abs(optimism) <= 0.15 if enough else None,
                f"{optimism:+.2f}",
            ),
            Claim(
                f"on {name} its 95 % interval holds the truth in 93 to 97 of 100 runs",
                0.93 <= holds <= 0.97 if enough else None,
                f"{100 * holds:.0f}",
            ),
        ]
    return claims


BENCHMARK = Benchmark("honesty", cells, work, report)
