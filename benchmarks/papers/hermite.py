"""Hermite: networks by a genetic algorithm with Occam elitism (de Lacerda, de Carvalho and Ludermir, figures 8-15)."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
import polars as pl

from benchmarks.benchmark import Benchmark, Workplace
from benchmarks.cell import Cell, Record
from benchmarks.report import Claim, Report, Table, made_by
from benchmarks.significance import compare_pairs, mean, trimmed_mean
from benchmarks.trial import outputs_on, watch_spec
from msl.space.values import BlockValue, Model
from msl.testing.toy_problems import hermite_curve, hermite_rows

NOISE = ("0.0001", "0.0003", "0.001", "0.003", "0.01", "0.03", "0.1")
REPEATS = 50
#: Fewer cannot show a difference.
LEAST_PAIRS = 8
TRAINING_ROWS, TEST_ROWS = 40, 200
FULL, REDUCED, QUICK = (500, 500), (100, 60), (60, 40)


@dataclass(frozen=True, slots=True)
class Method:
    """The objectives, the options beyond the defaults, the number of regions, and the fits of one evaluation."""

    objectives: str
    options: str = "elitism = occam"
    regions: int = 15
    fits: int = 1


_HOLDOUT, _TWO = "mse by holdout(0.5)", "mse by holdout(0.5), mse by gcv()"
_SHUFFLE = "elitism = occam, shuffle = true"
_GROW = f"{_SHUFFLE}, grow = true"
METHODS = {
    "plain": Method(_HOLDOUT, "elitism = plain"),
    "occam": Method(_HOLDOUT),
    "gcv": Method("mse by gcv()"),
    "10-fold cv": Method("mse by cv(folds = 10)", fits=10),
    ".632 bootstrap": Method("mse by bootstrap632(samples = 20)", fits=21),
    "shuffle": Method(_HOLDOUT, _SHUFFLE),
    "two objectives": Method(_TWO),
    "two, shuffle": Method(_TWO, _SHUFFLE),
    "two, shuffle, grow": Method(_TWO, _GROW),
    # The paper allows 15 regions because more make for large networks at the start, unless these grow.
    "two, shuffle, 35 regions": Method(_TWO, _SHUFFLE, regions=35),
    "two, shuffle, grow, 35 regions": Method(_TWO, _GROW, regions=35),
}
#: Records without the number of their fits are of a time when two objectives fitted a network twice.
FITS_BEFORE = {"two objectives": 2, "two, shuffle": 2, "two, shuffle, grow": 2}

ELITISM = ("occam", "plain")

_SPEC = """msl 1
use rbf
data(target = y, task = regression)
chain network = rbf_network(centers: regions({regions}), overlap: real 0..1, basis = gaussian)
minimize {objectives}
search occam_ga(population = {population}, generations = {generations}, kappa = 5, crossover = 0.6, mutation = 0.05,
  add = 0.3, delete = 0.3, {options})
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
    method = METHODS[cell.method]
    text = _SPEC.format(
        regions=method.regions,
        objectives=method.objectives,
        options=method.options,
        population=population,
        generations=generations,
    )
    x, y = hermite_rows(TRAINING_ROWS, float(cell.data), cell.split)
    places = np.linspace(-4.0, 4.0, TEST_ROWS)
    start = process_time()
    watched = watch_spec(text, pl.DataFrame({"x": x, "y": y}), cell.split, place.folder)
    seconds = process_time() - start
    model = watched.chosen()[0]
    test = pl.DataFrame({"x": places, "y": hermite_curve(places)})
    outputs, truth = outputs_on(watched.plan, model, test)
    error = float(np.sqrt(np.mean((outputs - truth) ** 2)))
    evaluations = len(watched.found.history)
    units = _units(model)
    return {"rmse": error, "units": units, "evaluations": evaluations, "cpu": round(seconds, 2), "fits": method.fits}


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
    figures = (("Error on the curve, in thousandths", "rmse", 0.001), ("Units of the network", "units", 1.0))
    groups = [(ELITISM, levels)] + ([(methods, _levels_of_all(methods, levels, found))] if len(methods) > 2 else [])
    tables = [
        _table(f"{title}: {'elitism' if names is ELITISM else 'all methods'}", figure, names, of, found, unit)
        for names, of in groups
        for title, figure, unit in figures
    ]
    tables.append(_cost(methods, found))
    counts = [len(each) for each in found.values()]
    budgets = sorted({record.cell.budget for record in records})
    ran = (
        f"Populations of {', '.join(budgets) or 'nothing yet'} (the paper: 500 × 500), {min(counts, default=0)} to "
        f"{max(counts, default=0)} repeats (the paper: at least 50), {len(levels)} of 7 levels of noise, Orr's curve."
    )
    title = "Hermite: networks by a genetic algorithm with Occam elitism"
    return Report("papers.hermite", title, ran, tuple(tables), tuple(_claims(levels, found)), made_by(records))


def _levels_of_all(methods: Sequence[str], levels: Sequence[str], found: Found) -> list[str]:
    """Where more was run than the two kinds of elitism."""
    return [noise for noise in levels if any((noise, method) in found for method in methods if method not in ELITISM)]


def _table(
    title: str, figure: str, methods: Sequence[str], levels: Sequence[str], found: Found, unit: float = 1.0
) -> Table:
    """Every method of a row on the same repeats: each repeat has data of its own."""
    rows = []
    for noise in levels:
        run = [method for method in methods if (noise, method) in found]
        shared = sorted(set.intersection(*(set(found[noise, method]) for method in run))) if run else []
        if shared:
            means = (_trimmed(found, noise, method, figure, shared) for method in methods)
            rows.append((noise, len(shared), *(None if mean is None else mean / unit for mean in means)))
    note = (
        "5 % trimmed means over the repeats that every method of the row has; the paper gives its figures as plots "
        "only."
    )
    return Table(title, ("variance of the noise", "repeats", *methods), tuple(rows), (note,))


def _cost(methods: Sequence[str], found: Found) -> Table:
    rows = []
    for method in methods:
        outcomes = [outcome for key, each in found.items() if key[1] == method for outcome in each.values()]
        before = FITS_BEFORE.get(method, METHODS[method].fits)
        fits = mean([outcome.get("fits", before) for outcome in outcomes])
        rows.append((method, fits, METHODS[method].fits, mean([outcome["cpu"] for outcome in outcomes])))
    columns = ("method", "fits an evaluation", "of the present code", "processor seconds a run")
    return Table("Cost", columns, tuple(rows))


def _trimmed(found: Found, noise: str, method: str, figure: str, repeats: Sequence[int]) -> float | None:
    outcomes = found.get((noise, method))
    return None if outcomes is None else trimmed_mean([outcomes[repeat][figure] for repeat in repeats])


def _claims(levels: Sequence[str], found: Found) -> Iterable[Claim]:
    """The paper's sentences. What it says of one method against another is read off its figures, which show the trimmed
    means at every level of noise, so that a claim holds if it does so at every level."""
    yield _better_claim(
        "Occam elitism gives fewer units than plain elitism", levels, found, "occam", ["plain"], "units"
    )
    yield _better_claim("Occam elitism gives a lower test error than plain elitism", levels, found, "occam", ["plain"])
    for ours in ("10-fold cv", ".632 bootstrap"):
        yield _better_claim(f"{ours} has a lower test error than holdout", levels, found, ours, ["occam"])
        yield _better_claim(f"{ours} has a lower test error than GCV", levels, found, ours, ["gcv"])
    text = "holdout gives networks that are no larger than those of 10-fold cv"
    yield _better_claim(text, levels, found, "occam", ["10-fold cv"], "units", or_equal=True)
    two = "two objectives"
    yield _better_claim(f"{two} have a lower test error than each alone", levels, found, two, ["occam", "gcv"])
    helped = "two, shuffle, grow"
    for figure, words in (("rmse", "the test error"), ("units", "the number of units")):
        text = f"shuffling and growing lower {words} of two objectives"
        yield _better_claim(text, levels, found, helped, [two], figure)
    for figure, words in (("rmse", "a lower test error"), ("units", "fewer units")):
        text = f"{helped} has {words} than holdout with plain elitism"
        yield _better_claim(text, levels, found, helped, ["plain"], figure)
    yield _on_par_claim(levels, found)
    yield _no_gain_claim("shuffling alone, with one objective, gives no lower test error", levels, found)
    for figure, words in (("units", "fewer units"), ("rmse", "a lower test error")):
        text = f"with 35 regions networks that grow have {words} than those that start at random"
        many = ("two, shuffle, grow, 35 regions", ["two, shuffle, 35 regions"])
        yield _better_claim(text, levels, found, *many, figure)


def _better_claim(
    text: str,
    levels: Sequence[str],
    found: Found,
    ours: str,
    others: Sequence[str],
    figure: str = "rmse",
    *,
    or_equal: bool = False,
) -> Claim:
    """Whether ours has the lower trimmed mean than each of the others at every level, over the repeats of both."""
    is_better = operator.le if or_equal else operator.lt
    seen, holds = [], []
    for other in others:
        pairs = _pairs_by_level(levels, found, figure, ours, other)
        if sum(map(len, pairs)) < LEAST_PAIRS:
            return Claim(f"{text}, at every level of noise", None, "too few runs")
        wins = sum(is_better(trimmed_mean([a for a, _ in each]), trimmed_mean([b for _, b in each])) for each in pairs)
        compared = compare_pairs(*zip(*(pair for each in pairs for pair in each), strict=True))
        seen.append(f"against {other}: {wins} of {len(pairs)} levels; {compared}")
        holds.append(wins == len(pairs))
    return Claim(f"{text}, at every level of noise", all(holds), "; ".join(seen))


def _no_gain_claim(text: str, levels: Sequence[str], found: Found) -> Claim:
    """The paper found no good results of it."""
    better = _better_claim(text, levels, found, "shuffle", ["occam"])
    return Claim(text, None if better.holds is None else not better.holds, better.seen)


def _on_par_claim(levels: Sequence[str], found: Found) -> Claim:
    """Comparable, in the paper's word: no significant difference."""
    ours = "two, shuffle, grow"
    text = f"{ours} is comparable to 10-fold cv and .632 bootstrap in test error"
    seen, holds = [], []
    for other in ("10-fold cv", ".632 bootstrap"):
        pairs = [pair for each in _pairs_by_level(levels, found, "rmse", ours, other) for pair in each]
        if len(pairs) < LEAST_PAIRS:
            return Claim(text, None, "too few runs")
        compared = compare_pairs(*zip(*pairs, strict=True))
        holds.append(compared.wins >= compared.losses or not compared.p_value < 0.05)
        seen.append(f"against {other}: {compared}")
    return Claim(text, all(holds), "; ".join(seen))


def _pairs_by_level(
    levels: Sequence[str], found: Found, figure: str, ours: str, other: str
) -> list[list[tuple[float, float]]]:
    """For each level that both have, their figures in the repeats of both."""
    by_level = []
    for noise in levels:
        first, second = found.get((noise, ours), {}), found.get((noise, other), {})
        if pairs := [(first[repeat][figure], second[repeat][figure]) for repeat in first if repeat in second]:
            by_level.append(pairs)
    return by_level


BENCHMARK = Benchmark("papers.hermite", cells, work, report, reduced)
