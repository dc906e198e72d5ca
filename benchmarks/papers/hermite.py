"""Hermite: networks by a genetic algorithm with Occam elitism (de Lacerda, de Carvalho and Ludermir, figures 8-15)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from time import process_time
from typing import Any

import numpy as np
import polars as pl

from benchmarks.benchmark import Benchmark, Workplace
from benchmarks.cell import Cell, Record
from benchmarks.report import Claim, Report, Table, made_by
from benchmarks.significance import compare_pairs, mean, trimmed_mean
from benchmarks.trial import outputs_on, watch_spec
from msl.data.toy import hermite_curve, hermite_rows
from msl.space.values import BlockValue, Model

NOISE = ("0.0001", "0.0003", "0.001", "0.003", "0.01", "0.03", "0.1")
REPEATS = 50
#: Fewer cannot show a difference.
LEAST_PAIRS = 8
TRAINING_ROWS, TEST_ROWS = 40, 200
FULL, REDUCED, QUICK = (500, 500), (100, 60), (60, 40)
#: The objectives, what is more than the defaults, and the fits of one evaluation.
METHODS = {
    "plain": ("mse by holdout(0.5)", "elitism = plain", 1),
    "occam": ("mse by holdout(0.5)", "elitism = occam", 1),
    "gcv": ("mse by gcv()", "elitism = occam", 1),
    "10-fold cv": ("mse by cv(folds = 10)", "elitism = occam", 10),
    ".632 bootstrap": ("mse by bootstrap632(samples = 20)", "elitism = occam", 21),
    "two objectives": ("mse by holdout(0.5), mse by gcv()", "elitism = occam", 2),
    "two, shuffle": ("mse by holdout(0.5), mse by gcv()", "elitism = occam, shuffle = true", 2),
    "two, shuffle, grow": ("mse by holdout(0.5), mse by gcv()", "elitism = occam, shuffle = true, grow = true", 2),
}

ELITISM = ("occam", "plain")

_SPEC = """msl 1
use "rbf.msl"
data(target = y, task = regression)
minimize {objectives}
search occam_ga(population = {population}, generations = {generations}, kappa = 5, crossover = 0.6, mutation = 0.05,
  add = 0.3, delete = 0.3, {more})
"""


def cells(quick: bool) -> list[Cell]:
    """Repeat by repeat; quick has three of the seven levels of noise and three repeats."""
    population, generations = QUICK if quick else FULL
    budget = f"{population} × {generations} generations"
    levels = NOISE[::3] if quick else NOISE
    return [
        Cell(noise, repeat, method, budget)
        for repeat in range(3 if quick else REPEATS)
        for method in METHODS
        for noise in levels
    ]


def reduced() -> list[Cell]:
    """The two kinds of elitism at every level of noise, then all methods at three of them, repeat by repeat."""
    budget = f"{REDUCED[0]} × {REDUCED[1]} generations"
    elitism = [Cell(noise, repeat, method, budget) for repeat in range(25) for noise in NOISE for method in ELITISM]
    rest = [method for method in METHODS if method not in ELITISM]
    others = [Cell(noise, repeat, method, budget) for repeat in range(5) for noise in NOISE[::3] for method in rest]
    return elitism + others


def work(cell: Cell, place: Workplace) -> Mapping[str, Any]:
    """The network that the strategy answers with: its units, and its error on the curve itself."""
    population, generations = (int(part) for part in cell.budget.removesuffix(" generations").split(" × "))
    objectives, more, _ = METHODS[cell.method]
    text = _SPEC.format(objectives=objectives, population=population, generations=generations, more=more)
    x, y = hermite_rows(TRAINING_ROWS, float(cell.data), cell.split)
    places = np.linspace(-4.0, 4.0, TEST_ROWS)
    start = process_time()
    watched = watch_spec(text, pl.DataFrame({"x": x, "y": y}), cell.split, place.folder)
    seconds = process_time() - start
    model = watched.chosen()[0]
    test = pl.DataFrame({"x": places, "y": hermite_curve(places)})
    outputs, truth = outputs_on(watched.plan, model, test)
    error = float(np.sqrt(np.mean((outputs - truth) ** 2)))
    evaluations = len(watched.found.told)
    return {"rmse": error, "units": _units(model), "evaluations": evaluations, "cpu": round(seconds, 2)}


def _units(model: Model) -> int:
    network = model.steps[0]
    assert isinstance(network, BlockValue)
    centres = dict(network.params)["centers"]
    assert isinstance(centres, tuple)
    return sum(centre is not None for centre in centres)


Found = Mapping[tuple[str, str], Mapping[int, Mapping[str, Any]]]


def report(records: Sequence[Record]) -> Report:
    found: dict[tuple[str, str], dict[int, Mapping[str, Any]]] = {}
    for record in records:
        found.setdefault((record.cell.data, record.cell.method), {})[record.cell.split] = record.outcome
    methods = [method for method in METHODS if any(key[1] == method for key in found)]
    levels = [noise for noise in NOISE if any(key[0] == noise for key in found)]
    tables = (
        _table("Error on the curve, in thousandths", "rmse", methods, levels, found, unit=0.001),
        _table("Units of the network", "units", methods, levels, found),
        _cost(methods, found),
    )
    counts = [len(each) for each in found.values()]
    budgets = sorted({record.cell.budget for record in records})
    ran = (
        f"Populations of {', '.join(budgets) or 'nothing yet'} (the paper: 500 × 500), {min(counts, default=0)} to "
        f"{max(counts, default=0)} repeats (the paper: at least 50), {len(levels)} of 7 levels of noise, Orr's curve."
    )
    title = "Hermite: networks by a genetic algorithm with Occam elitism"
    return Report("papers.hermite", title, ran, tables, tuple(_claims(levels, found)), made_by(records))


def _table(
    title: str, figure: str, methods: Sequence[str], levels: Sequence[str], found: Found, unit: float = 1.0
) -> Table:
    rows = []
    for noise in levels:
        means = [_trimmed(found, noise, method, figure) for method in methods]
        rows.append((noise, *(None if mean is None else mean / unit for mean in means)))
    note = "5 % trimmed means; the paper gives its figures as plots only."
    return Table(title, ("variance of the noise", *methods), tuple(rows), (note,))


def _cost(methods: Sequence[str], found: Found) -> Table:
    rows = []
    for method in methods:
        outcomes = [outcome for key, each in found.items() if key[1] == method for outcome in each.values()]
        fits = METHODS[method][2]
        rows.append((method, fits, mean([outcome["cpu"] for outcome in outcomes])))
    return Table("Cost", ("method", "fits an evaluation", "processor seconds a run"), tuple(rows))


def _trimmed(found: Found, noise: str, method: str, figure: str) -> float | None:
    values = [outcome[figure] for outcome in found.get((noise, method), {}).values()]
    return trimmed_mean(values) if values else None


def _claims(levels: Sequence[str], found: Found) -> Iterable[Claim]:
    for figure, words in (("units", "fewer units"), ("rmse", "a lower test error")):
        yield _occam_claim(levels, found, figure, words)
    yield _on_par_claim(levels, found)


def _occam_claim(levels: Sequence[str], found: Found, figure: str, words: str) -> Claim:
    both = [noise for noise in levels if (noise, "occam") in found and (noise, "plain") in found]
    text = f"Occam elitism gives {words} than plain elitism at every level of noise"
    figures = [[_trimmed(found, noise, method, figure) or 0.0 for method in ("occam", "plain")] for noise in both]
    wins = sum(occam < plain for occam, plain in figures)
    seen = f"{wins} of {len(both)} levels; {_compared(both, found, figure, 'occam', 'plain')}"
    pairs = _pairs(both, found, figure, "occam", "plain")
    return Claim(text, None if len(pairs) < LEAST_PAIRS else wins == len(both), seen)


def _on_par_claim(levels: Sequence[str], found: Found) -> Claim:
    ours = "two, shuffle, grow"
    text = f"{ours} is on par with 10-fold cv and .632 bootstrap at a fraction of the fits"
    seen, holds = [], []
    for other in ("10-fold cv", ".632 bootstrap"):
        both = [noise for noise in levels if (noise, ours) in found and (noise, other) in found]
        pairs = _pairs(both, found, "rmse", ours, other)
        if len(pairs) >= LEAST_PAIRS:
            compared = compare_pairs(*zip(*pairs, strict=True))
            holds.append(compared.wins >= compared.losses or not compared.p_value < 0.05)
            seen.append(f"against {other}: {compared}")
    return Claim(text, all(holds) if holds else None, "; ".join(seen) or "too few runs")


def _pairs(levels: Sequence[str], found: Found, figure: str, ours: str, other: str) -> list[tuple[float, float]]:
    return [
        (outcome[figure], found[noise, other][repeat][figure])
        for noise in levels
        for repeat, outcome in found[noise, ours].items()
        if repeat in found[noise, other]
    ]


def _compared(levels: Sequence[str], found: Found, figure: str, ours: str, other: str) -> str:
    pairs = _pairs(levels, found, figure, ours, other)
    return str(compare_pairs(*zip(*pairs, strict=True))) if pairs else "no pairs"


BENCHMARK = Benchmark("papers.hermite", cells, work, report, reduced)
