"""KMS, figure 4: how often ensembles of ℓ and of ℓ + 2 members disagree (Ortiz-Bejar, Tellez and Graff, 2019)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.benchmark import Benchmark, Workplace
from benchmarks.cell import Cell, Record
from benchmarks.datasets import published_split
from benchmarks.papers.kms import IMAGE_SPLITS, ORIGINS, PAPER, SPLITS
from benchmarks.report import Claim, Report, Table, made_by, origins
from benchmarks.significance import mean
from benchmarks.trial import outputs_on, watch_spec
from msl.blocks.voting_ensemble import voted
from msl.runner.choose_winner import ranked_candidates

#: All ways of choosing references together, as in the paper's random search, and each alone.
METHODS = {"RS": None, "fft": "fft", "kmeans": "kmeans", "random": "random_rows", "density": "density"}
#: The figure begins at 3 and goes on in steps of 2.
SIZES = tuple(range(3, 50, 2))
#: The sizes that the paper reads off its figure, and those below them, which it calls small.
SETTLED = tuple(size for size in SIZES if 9 <= size <= 25)
SMALL = tuple(size for size in SIZES if size < 9)
FULL, QUICK = "128 evaluations", "60 evaluations"

_SPEC = """msl 1
use "kms.msl" as paper, kms
chain mapped = kernel_model
{only}minimize ber by cv(folds = 3)
search random(evaluations = {evaluations}, draw = models)
ensemble vote(top = 15, distinct = false, voting = hard, always = true)
"""


def cells(quick: bool) -> list[Cell]:
    """Split by split, so that every data set and method has as many."""
    if quick:
        return [Cell("thyroid", 0, method, QUICK) for method in ("RS", "fft")]
    return [
        Cell(name, split, method, FULL)
        for split in range(SPLITS)
        for method in METHODS
        for name in PAPER
        if name != "image" or split < IMAGE_SPLITS
    ]


def work(cell: Cell, place: Workplace) -> Mapping[str, Any]:
    """The share of the test rows for which ℓ + 2 members vote otherwise than ℓ, for each size."""
    split = published_split(place.data, cell.data, cell.split)
    references = METHODS[cell.method]
    only = "" if references is None else f"require kernel_map.references is {references}\n"
    text = _SPEC.format(only=only, evaluations=int(cell.budget.split()[0]))
    watched = watch_spec(text, split.train, cell.split, place.folder)
    ranked = ranked_candidates(watched.plan, watched.found)[: SIZES[-1] + 2]
    outputs = [outputs_on(watched.plan, one.model, split.test)[0] for one in ranked]
    n_classes = watched.plan.job.dataset.n_classes
    sizes = [size for size in SIZES if size + 2 <= len(outputs)]
    labels = {
        size: voted(outputs[:size], [1.0] * size, n_classes, "hard").argmax(axis=1)
        for size in {*sizes, *(size + 2 for size in sizes)}
    }
    ratios = {str(size): float(np.mean(labels[size] != labels[size + 2])) for size in sizes}
    return {"discordant": ratios, "origin": split.origin}


def report(records: Sequence[Record]) -> Report:
    found: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        found.setdefault((record.cell.data, record.cell.method), []).append(record)
    curves = {key: _curve(of_cell) for key, of_cell in found.items()}
    tables = [_data_table(origin, found) for origin in ORIGINS]
    tables.append(_method_table(curves))
    budgets = sorted({record.cell.budget for record in records})
    counts = [len(each) for each in found.values()]
    ran = (
        f"Random search of {', '.join(budgets) or 'nothing yet'}, every configuration equally likely; "
        f"{len({name for name, _ in found})} of 9 characterisation sets, {min(counts, default=0)} to "
        f"{max(counts, default=0)} of 100 splits a method ({origins(records)})."
    )
    title = "KMS: consensus of ensembles"
    shown = tuple(table for table in tables if table.rows)
    return Report("papers.kms_consensus", title, ran, shown, tuple(_claims(curves)), made_by(records))


#: The discordant ratio of each size, as a share of the largest.
Curve = Mapping[int, float]


def _curve(records: Sequence[Record]) -> Curve:
    """The mean over the splits, divided by its maximum, as the paper normalises each benchmark."""
    means = {}
    for size in SIZES:
        if known := [ratio for record in records if (ratio := record.outcome["discordant"].get(str(size))) is not None]:
            means[size] = mean(known)
    largest = max(means.values(), default=0.0)
    return {size: ratio / largest if largest else 0.0 for size, ratio in means.items()}


def _data_table(origin: str, found: Mapping[tuple[str, str], Sequence[Record]]) -> Table:
    """The curve of the random search on each data set, of splits of one kind."""
    rows = []
    for name in PAPER:
        kept = [record for record in found.get((name, "RS"), ()) if record.outcome.get("origin", "drawn") == origin]
        if kept:
            curve = _curve(kept)
            rows.append((name, len(kept), *(curve.get(size) for size in SIZES)))
    note = "Discordant predictions of ℓ and ℓ + 2 members, as shares of the largest ratio of the data set."
    columns = ("data", "splits", *map(str, SIZES))
    return Table(f"All ways of choosing references, {origin} splits", columns, tuple(rows), (note,))


def _method_table(curves: Mapping[tuple[str, str], Curve]) -> Table:
    rows = []
    for method in METHODS:
        of_method = [curve for (_, of), curve in curves.items() if of == method]
        if of_method:
            means = (mean([curve[size] for curve in of_method if size in curve]) for size in SIZES)
            rows.append((method, len(of_method), *means))
    note = "Means over the data sets, all splits."
    return Table("Ways of choosing references", ("method", "data sets", *map(str, SIZES)), tuple(rows), (note,))


def _claims(curves: Mapping[tuple[str, str], Curve]) -> Iterable[Claim]:
    """The paper: small ensembles have the largest differences, and the size should be between 9 and 25."""
    known = {name: curve for (name, method), curve in curves.items() if method == "RS" and len(curve) == len(SIZES)}
    failing = [name for name, curve in known.items() if _mean(curve, SMALL) <= _mean(curve, SETTLED)]
    text = "ensembles of fewer than 9 differ more from those with two members more than ensembles of 9 to 25 do"
    seen = f"{len(known) - len(failing)} of {len(known)}" + (f", not on {', '.join(failing)}" if failing else "")
    yield Claim(f"{text}, on every data set", None if len(known) < len(PAPER) else not failing, seen)


def _mean(curve: Curve, sizes: Sequence[int]) -> float:
    return mean([curve[size] for size in sizes])


BENCHMARK = Benchmark("papers.kms_consensus", cells, work, report)
