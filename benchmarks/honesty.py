"""Honesty: whether what a run says of its winner holds on rows that it has not seen, and where the truth is known.

On labels drawn at random the balanced error rate of every model is one half on new rows, whatever a search finds. On
real tables a part is searched, and the rest, which is larger where the table allows it, judges the winner. AutoML tools
are asked for the score that they report of their own final model.
"""

from __future__ import annotations

import csv
import json
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
from benchmarks.tables import Contest, interpreter
from benchmarks.trial import balanced_error, run_spec

RANDOM = "labels drawn at random"
TABLES = tuple(
    "banknote biodeg breast_cancer cmc diabetis flare_solar german heart ilpd image ionosphere iris movement_libras"
    " musk1 parkinsons segmentation sonar tae thyroid titanic".split()
)
_SPACE = "use sklearn\nchain m = lda | qda | gaussian_nb | decision_tree | k_neighbors\n"
_ROWS, _COLUMNS, _MOST_TRAINING = 120, 6, 150
#: Searches: models drawn at random, and a strategy that looks for what is good on these rows. Where the truth is known
#: there are many models to choose from.
_FEW, _MANY = "60 evaluations", "500 evaluations"
SEARCHES = {
    ("random", _FEW): "random(evaluations = 60)",
    ("random", _MANY): "random(evaluations = 500)",
    ("pso", _MANY): "pso(swarm = 20, iterations = 25)",
}
#: Tools that report a score of their own, and boosting as it comes, of which nothing was chosen.
PEERS = ("hist", "flaml", "autogluon", "h2o")
_SECONDS, _PEER_SPLITS = 30, 3


def can_work(cell: Cell) -> bool:
    return cell.method not in PEERS or interpreter(cell.method) is not None


def cells(quick: bool) -> list[Cell]:
    tables, drawn, splits = (TABLES[:3], 1, 5) if quick else (TABLES, 10, 100)
    found = [Cell(name, split, "random", _FEW) for split in range(drawn) for name in tables]
    peers = [(peer, split, name) for peer in PEERS for split in range(min(drawn, _PEER_SPLITS)) for name in tables]
    found += [Cell(name, split, peer, f"{_SECONDS} seconds") for peer, split, name in peers]
    return found + [Cell(RANDOM, split, *search) for split in range(splits) for search in SEARCHES]


def work(cell: Cell, place: Workplace) -> Mapping[str, Any]:
    """What the run said, before and after the correction, and what is true."""
    if cell.data == RANDOM:
        train, test = _guesses(cell.split), None
    else:
        table = read_data(place.data, cell.data)
        split = drawn_split(table, cell.data, cell.split, min(_MOST_TRAINING, len(table) // 2))
        train, test = split.train, split.test
    if cell.method in PEERS:
        assert test is not None, "no peer is asked about labels drawn at random"
        return _reported(cell, place.folder, train, test)
    text = (
        f"{_SPACE}minimize ber by cv(folds = 5)\nsearch {SEARCHES[cell.method, cell.budget]}\ndata(target = {TARGET})\n"
    )
    shutil.rmtree(place.folder, ignore_errors=True)
    result = run_spec(text, train, cell.split, place.folder)
    summary = result.summary
    truth, error, fresh = 0.5, 0.0, 0.5 / len(train) ** 0.5
    if test is not None:
        labels = result.trained.predict(result.trained.read(test)).tolist()
        truth, error = balanced_error(test[TARGET].to_list(), labels), _test_error(test, labels)
        fresh = error * (len(test) / len(train)) ** 0.5
    corrected = summary["corrected"]
    return {
        "truth": truth,
        "test error": error,
        "fresh error": fresh,
        "found": summary["objectives"]["ber"],
        "found interval": summary["interval"]["ber"],
        "corrected": corrected["objectives"]["ber"],
        "corrected interval": corrected["interval"]["ber"],
        "models": corrected["models"],
        "rows": len(train),
    }


def _reported(cell: Cell, folder: Path, train: pl.DataFrame, test: pl.DataFrame) -> dict[str, Any]:
    """What a peer reports and what is true. None gives an interval: it gets that of a test of as many rows."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    train.write_csv(folder / "train.csv")
    test.write_csv(folder / "test.csv")
    kinds = {name: "number" if kind.is_numeric() else "symbol" for name, kind in train.schema.items() if name != TARGET}
    (folder / "columns.json").write_text(json.dumps(kinds))
    python = interpreter(cell.method)
    assert python is not None, "a cell without its package is not worked"
    script = str(Path(__file__).with_name("table_peers.py"))
    given = (cell.method, ".", TARGET, "reported", f"{_SECONDS}", str(cell.split))
    Contest(folder, TARGET, False, _SECONDS, cell.split).run([python, script, *given])
    found = float((folder / "reported.csv").read_text())
    labels = [line[0] for line in csv.reader((folder / "labels.csv").open(encoding="utf-8"))]
    error = _test_error(test, labels)
    counts = train[TARGET].value_counts()["count"].to_numpy()
    rate = min(max(found, 0.5 / len(train)), 0.5)
    half = 1.96 * float(np.sqrt((rate * (1.0 - rate) / counts).sum()) / len(counts))
    return {
        "truth": balanced_error(test[TARGET].to_list(), labels),
        "test error": error,
        "fresh error": error * (len(test) / len(train)) ** 0.5,
        "found": found,
        "found interval": [max(0.0, found - half), min(1.0, found + half)],
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
        if record.cell.method in PEERS:
            groups.setdefault(f"real tables, {record.cell.method}", []).append(record)
            continue
        name = (
            f"{RANDOM}, {record.cell.method}, {record.cell.budget}" if known else f"real tables, {record.cell.budget}"
        )
        groups.setdefault(name, []).append(record)
    rows = tuple(_row(name, which, own) for name, own in groups.items() for which in _said(own))
    columns = (
        "on",
        "what is said",
        "runs",
        "mean",
        "truth",
        "optimism in standard errors",
        "holds the truth",
        "width",
        "of a fresh test",
    )
    table = Table("What runs say of their winners", columns, rows)
    ran = (
        f"Models of {_SPACE.split('= ', 1)[1].strip()} by five folds. Labels drawn at random: {_ROWS} rows, "
        f"{_COLUMNS} columns of noise. Real tables: at most {_MOST_TRAINING} rows to search on and the others to "
        "judge by; the truth is then the balanced error rate on these, and an interval holds it if it would with the "
        "width that their own number adds. `found` is the lowest of the search with the interval of its rows. Standard "
        "errors are those of a fresh test of as many rows as were searched on, and widths are compared with its "
        "interval. Other tools have 30 seconds and say the error of their own final model, without an interval; "
        "they get that of a test of as many rows."
    )
    return Report("honesty", "Is what is said true?", ran, (table,), tuple(_claims(groups)), made_by(records))


def _said(records: Sequence[Record]) -> list[str]:
    return [which for which in ("found", "corrected") if all(which in one.outcome for one in records)]


def _row(name: str, which: str, records: Sequence[Record]) -> tuple[Any, ...]:
    figures = _figures(which, records)
    said = np.mean([one.outcome[which] for one in records])
    truth = np.mean([one.outcome["truth"] for one in records])
    return (name, which, len(records), float(said), float(truth), *figures)


def _figures(which: str, records: Sequence[Record]) -> tuple[float, float, float, float]:
    """Mean optimism in standard errors of a fresh test of as many rows, the share that holds, the mean width, and that
    relative to the interval of such a test."""
    optimism, holds, widths, fresh = [], [], [], []
    for one in records:
        found, (low, high) = one.outcome, one.outcome[f"{which} interval"]
        least = np.sqrt(0.5 * (1.0 - 0.5 / found["rows"])) / found["rows"]  # as with half a mistake
        fresh.append(max(found["fresh error"], least))
        optimism.append((found["truth"] - found[which]) / fresh[-1])
        more = found["test error"]
        below, above = (np.hypot(found[which] - low, 1.96 * more), np.hypot(high - found[which], 1.96 * more))
        holds.append(found[which] - below <= found["truth"] <= found[which] + above)
        widths.append(high - low)
    width = float(np.mean(widths))
    return float(np.mean(optimism)), float(np.mean(holds)), width, width / float(2.0 * 1.96 * np.mean(fresh))


def _claims(groups: Mapping[str, Sequence[Record]]) -> list[Claim]:
    claims = []
    for name, records in groups.items():
        if "corrected" not in _said(records):
            continue
        optimism, holds, _, width = _figures("corrected", records)
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
            Claim(
                f"on {name} the interval is at most 1.3 times as wide as that of a fresh test",
                width <= 1.3 if enough else None,
                f"{width:.2f}",
            ),
        ]
    return claims


BENCHMARK = Benchmark("honesty", cells, work, report, can_work=can_work)
