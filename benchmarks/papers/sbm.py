"""SBM: best-first search over similarity-based methods (Duch and Grudzinski, 2001): Monks, ionosphere, the traces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.benchmark import Benchmark, Workplace
from benchmarks.cell import Cell, Record
from benchmarks.datasets import Split, listed_split, read_data
from benchmarks.report import Claim, Report, Table, made_by
from benchmarks.trial import error_on, watch_spec
from msl.space.to_text import model_to_text

#: Accuracy in percent, leave-one-out on the training rows and on the test rows, for what each method opens.
PAPER: dict[tuple[str, str], tuple[float, float]] = {
    ("monks1", "reference"): (76.6, 85.9),
    ("monks1", "k"): (82.3, 80.6),
    ("monks1", "canberra"): (79.8, 88.4),
    ("monks1", "features"): (96.8, 100.0),
    ("monks1", "weights"): (99.2, 100.0),
    ("monks1", "search"): (100.0, 100.0),
    ("monks2", "canberra"): (89.9, 90.7),
    # "Just two non-zero coefficients": a weight of 0 or 1 for each feature is a choice of features.
    ("monks3", "features"): (93.4, 97.2),
    ("ionosphere", "reference"): (86.0, 92.0),
    ("ionosphere", "distance"): (87.5, 96.0),
    ("ionosphere", "features"): (92.5, 92.7),
    ("ionosphere", "weights"): (94.0, 87.3),
    ("ionosphere", "search"): (95.0, 88.0),
}
#: What a method opens on the reference model, 1-NN with the euclidean distance.
_OPEN = {
    "k": "k: int 1..10",
    "distance": "distance: euclidean | manhattan | chebyshev | canberra",
    "features": "features: vector(n_features) of bool",
    "weights": "weights: vector(n_features) of real 0..1 step 0.1",
}
#: The reference model with another distance: the paper prints Canberra for Monk-1, with which Chebyshev may tie.
CANBERRA = "canberra"
METHODS = ("reference", CANBERRA, *_OPEN, "search")
BUDGET = "to the end"

_HEAD = "msl 1\nuse sbm\n"
_CLOSED = (
    _HEAD
    + """chain nearest = sbm(k = 1, distance = {distance}, rest = default)
minimize error by loo()
search random(evaluations = 1)
"""
)
_OPENED = (
    _HEAD
    + """chain nearest = sbm({opened}, rest = default)
minimize error by loo()
search best_first(start = sbm(k = 1, distance = euclidean), channels = [{channels}], gain = 0.5%)
"""
)


def cells(quick: bool) -> list[Cell]:
    names = ("monks1",) if quick else ("monks1", "monks2", "monks3", "ionosphere")
    methods = METHODS[:-2] if quick else METHODS
    return [Cell(name, 0, method, BUDGET) for method in methods for name in names]


def work(cell: Cell, place: Workplace) -> Mapping[str, Any]:
    split = _split(cell.data, place)
    watched = watch_spec(_text(cell.method), split.train, 0, place.folder)
    model = watched.best()
    losses = [told.loss for _, told in watched.found.history if told.is_exact]
    return {
        "training": 1.0 - min(losses),
        "test": 1.0 - error_on(watched.plan, model, split.test),
        "model": model_to_text(model),
        "evaluations": len(watched.found.history),
        "trace": list(_trace(watched.found.events)),
    }


def _text(method: str) -> str:
    if method in ("reference", CANBERRA):
        return _CLOSED.format(distance=CANBERRA if method == CANBERRA else "euclidean")
    names = tuple(_OPEN) if method == "search" else (method,)
    fixed = [f"{name} = {value}" for name, value in (("k", 1), ("distance", "euclidean")) if name not in names]
    opened = ", ".join([*(_OPEN[name] for name in names), *fixed])
    return _OPENED.format(opened=opened, channels=", ".join(names))


def _split(name: str, place: Workplace) -> Split:
    if name == "ionosphere":
        return listed_split(place.data, name, "train", "test")
    return Split(read_data(place.data, f"{name}.train"), read_data(place.data, f"{name}.test"), "published")


def _trace(events: Iterable[Any]) -> Iterable[list[Any]]:
    """Level, channel, accuracy, whether it was opened, chosen values."""
    for event in events:
        for row in event.figures.get("rows", ()) if event.kind == "level" else ():
            values = str(row["values"])
            accuracy = 100 * (1 - row["loss"])
            yield [event.figures["level"], row["channel"], round(accuracy, 2), bool(row["opened"]), values[:200]]


def report(records: Sequence[Record]) -> Report:
    found = {(record.cell.data, record.cell.method): record.outcome for record in records}
    rows = [_row(*key, found[key]) for key in sorted(found, key=lambda key: (key[0], METHODS.index(key[1])))]
    columns = ("data", "opened", "paper, training", "training", "paper, test", "test", "model")
    note = (
        "Accuracy in percent, leave-one-out on the training rows and on the test rows. `search` is the best-first "
        "search over all channels. How the paper breaks ties between equal distances is not known, so the plain rows "
        "are a guide."
    )
    tables = [Table("Opened channels", columns, tuple(rows), (note,))]
    for (name, method), outcome in found.items():
        if method == "search":
            levels = tuple(tuple(line) for line in outcome["trace"])
            shown = ("level", "channel", "training", "opened", "values")
            tables.append(Table(f"Trace on {name}", shown, levels))
    ran = f"{len(records)} searches to their end, leave-one-out accuracy, 0.5 % as the least gain."
    title = "SBM: best-first search over similarity-based methods"
    return Report("papers.sbm", title, ran, tuple(tables), tuple(_claims(found)), made_by(records))


def _row(name: str, method: str, outcome: Mapping[str, Any]) -> tuple[str | float | None, ...]:
    training, test = PAPER.get((name, method), (None, None))
    ours = 100 * outcome["training"], 100 * outcome["test"]
    return name, method, training, ours[0], test, ours[1], _short(str(outcome["model"]))


def _short(model: str) -> str:
    """Only what the search could choose."""
    found = re.findall(r"(features|weights) = (\[.*?\])|\b(k|distance) = (\w+)", model)
    chosen = {first or other: list_ or value for first, list_, other, value in found}
    parts = [f"{chosen['distance']}, k = {chosen['k']}"]
    if "false" in chosen["features"]:
        on = [str(place) for place, flag in enumerate(chosen["features"][1:-1].split(", "), 1) if flag == "true"]
        parts.append(f"features {', '.join(on)}")
    if set(weights := chosen["weights"][1:-1].split(", ")) != {"1.0"}:
        parts.append(f"weights {' '.join(f'{float(weight):g}' for weight in weights)}")
    return "; ".join(parts)


def _claims(found: Mapping[tuple[str, str], Mapping[str, Any]]) -> Iterable[Claim]:
    """Every row that the paper prints, also those that hang on how ties are broken; 0.05 is its rounding."""
    for key, (training, test) in PAPER.items():
        text = f"{key[0]}, {key[1]}: at least {training:g} in training and {test:g} on the test rows"
        if key not in found:
            yield Claim(text, None, "not run")
            continue
        ours = 100 * found[key]["training"], 100 * found[key]["test"]
        holds = ours[0] >= training - 0.05 and ours[1] >= test - 0.05
        yield Claim(text, holds, f"{ours[0]:.1f} and {ours[1]:.1f}")


BENCHMARK = Benchmark("papers.sbm", cells, work, report)
