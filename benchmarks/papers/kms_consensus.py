"""KMS, figure 4 and table 3: ensembles of ℓ and of ℓ + 2 members, and each way of choosing references alone.

(Ortiz-Bejar, Tellez and Graff, 2019.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.benchmark import Benchmark, Workplace
from benchmarks.cell import Cell, Record
from benchmarks.datasets import published_split
from benchmarks.papers.kms import IMAGE_SPLITS, LEAST_SPLITS, ORIGINS, PAPER, SPLITS
from benchmarks.ranks import average_ranks
from benchmarks.report import Claim, Report, Table, made_by, origins
from benchmarks.significance import mean
from benchmarks.trial import balanced_error, outputs_on, watch_spec
from msl.blocks.ensembles import voted
from msl.runner.choose_winner import ranked_candidates

#: All ways of choosing references together, as in the paper's random search, and each alone.
METHODS = {"RS": None, "fft": "fft", "kmeans": "kmeans", "random": "random_rows", "density": "density"}
#: The paper's test BER in percent of KMSE and of KMS by each of these ways; grid search, which table 3 has too, takes
#: days.
TABLE_3 = {
    "banana": ((11.84, 12.11), (11.88, 12.26), (11.87, 12.18), (11.84, 12.37), (11.91, 12.45)),
    "thyroid": ((5.68, 6.35), (5.71, 5.87), (5.55, 5.93), (5.51, 6.07), (5.75, 6.57)),
    "diabetis": ((28.81, 29.17), (28.35, 28.63), (30.35, 31.62), (28.99, 29.83), (28.46, 28.76)),
    "heart": ((17.42, 19.28), (17.31, 18.00), (17.90, 18.56), (17.75, 18.28), (17.64, 18.44)),
    "ringnorm": ((1.62, 1.98), (2.42, 2.85), (2.11, 2.30), (1.98, 2.36), (1.56, 1.87)),
    "twonorm": ((2.38, 2.77), (2.39, 2.81), (2.42, 2.63), (2.38, 2.76), (2.39, 2.68)),
    "german": ((27.83, 28.59), (27.69, 28.60), (36.10, 35.33), (27.87, 28.66), (27.88, 28.63)),
    "image": ((4.14, 4.25), (4.02, 4.18), (5.45, 5.25), (4.25, 4.47), (4.36, 4.63)),
    "waveform": ((9.68, 10.40), (9.66, 10.57), (9.75, 10.42), (9.68, 10.52), (9.69, 10.26)),
}
#: How many members vote in table 3.
MEMBERS = 15
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
    """The share of the test rows for which ℓ + 2 members vote otherwise than ℓ, for each size, and the test BER."""
    split = published_split(place.data, cell.data, cell.split)
    references = METHODS[cell.method]
    only = "" if references is None else f"require kernel_map.references is {references}\n"
    text = _SPEC.format(only=only, evaluations=int(cell.budget.split()[0]))
    watched = watch_spec(text, split.train, cell.split, place.folder)
    ranked = ranked_candidates(watched.plan, watched.found)[: SIZES[-1] + 2]
    tested = [outputs_on(watched.plan, one.model, split.test) for one in ranked]
    outputs, truth = [found for found, _ in tested], tested[0][1]
    n_classes = watched.plan.job.dataset.n_classes
    sizes = [size for size in SIZES if size + 2 <= len(outputs)]
    labels = {
        size: voted(outputs[:size], [1.0] * size, n_classes, "hard").argmax(axis=1)
        for size in {*sizes, *(size + 2 for size in sizes)}
    }
    ratios = {str(size): float(np.mean(labels[size] != labels[size + 2])) for size in sizes}
    fifteen = voted(outputs[:MEMBERS], [1.0] * len(outputs[:MEMBERS]), n_classes, "hard").argmax(axis=1)
    errors = {"KMSE": balanced_error(truth, fifteen), "KMS": balanced_error(truth, outputs[0].argmax(axis=1))}
    return {"discordant": ratios, "ber": errors, "origin": split.origin}


def report(records: Sequence[Record]) -> Report:
    found: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        found.setdefault((record.cell.data, record.cell.method), []).append(record)
    curves = {key: _curve(of_cell) for key, of_cell in found.items()}
    tables = [_data_table(origin, found) for origin in ORIGINS]
    tables.append(_method_table(curves))
    tables += _error_tables(found)
    budgets = sorted({record.cell.budget for record in records})
    counts = [len(each) for each in found.values()]
    ran = (
        f"Random search of {', '.join(budgets) or 'nothing yet'}, every configuration equally likely; "
        f"{len({name for name, _ in found})} of 9 characterisation sets, {min(counts, default=0)} to "
        f"{max(counts, default=0)} of 100 splits a method ({origins(records)})."
    )
    title = "KMS: consensus of ensembles"
    shown = tuple(table for table in tables if table.rows)
    return Report("papers.kms_consensus", title, ran, shown, tuple(_claims(found, curves)), made_by(records))


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


def _error_tables(found: Mapping[tuple[str, str], Sequence[Record]]) -> Iterable[Table]:
    """Test BER of each way of choosing references beside the paper's, and the ranks that follow."""
    errors: dict[str, dict[str, float]] = {}
    for kind in ("KMSE", "KMS"):
        for method in METHODS:
            for name in PAPER:
                known = [record.outcome["ber"][kind] for record in found.get((name, method), ()) if _has_errors(record)]
                if known:
                    errors.setdefault(f"{kind}, {method}", {})[name] = 100 * mean(known)
    papers: dict[str, dict[str, float]] = {
        f"{kind}, {method}": {name: row[place][member] for name, row in TABLE_3.items()}
        for member, kind in enumerate(("KMSE", "KMS"))
        for place, method in enumerate(METHODS)
    }
    rows: list[tuple[str | int | float | None, ...]] = []
    for name in PAPER:
        if any(name in of_data for of_data in errors.values()):
            count = max(sum(map(_has_errors, found.get((name, method), ()))) for method in METHODS)
            pairs = ((papers[column][name], errors.get(column, {}).get(name)) for column in papers)
            rows.append((name, count, *(figure for pair in pairs for figure in pair)))
    columns = ["data", "splits", *(title for column in papers for title in (f"paper, {column}", column))]
    note = "Test BER in percent, all splits; the vote of fifteen, and the best model alone."
    yield Table("Table 3, by the way of choosing references", tuple(columns), tuple(rows), (note,))
    ours, theirs = average_ranks(errors), average_ranks(papers)
    ranks = sorted(((column, theirs[column], rank) for column, rank in ours.items()), key=lambda row: row[2])
    shared = [name for name in PAPER if all(name in of_data for of_data in errors.values())]
    note = f"Of these ten over {len(shared)} data sets; the paper's are of its figures, without those of grid search."
    is_whole = len(errors) == len(papers) and len(shared) > 1
    yield Table("Table 3, average ranks", ("method", "paper", "rank"), tuple(ranks if is_whole else ()), (note,))


def _has_errors(record: Record) -> bool:
    return "ber" in record.outcome


def _claims(
    found: Mapping[tuple[str, str], Sequence[Record]], curves: Mapping[tuple[str, str], Curve]
) -> Iterable[Claim]:
    """The paper: small ensembles have the largest differences, and the size should be between 9 and 25."""
    fewest = min((len(found.get((name, "RS"), ())) for name in PAPER), default=0)
    known = {name: curve for (name, method), curve in curves.items() if method == "RS" and len(curve) == len(SIZES)}
    failing = [name for name, curve in known.items() if _mean(curve, SMALL) <= _mean(curve, SETTLED)]
    text = "ensembles of fewer than 9 differ more from those with two members more than ensembles of 9 to 25 do"
    seen = f"{len(known) - len(failing)} of {len(known)}" + (f", not on {', '.join(failing)}" if failing else "")
    is_enough = len(known) == len(PAPER) and fewest >= LEAST_SPLITS
    yield Claim(f"{text}, on every data set", not failing if is_enough else None, f"{seen}; {fewest} splits of each")


def _mean(curve: Curve, sizes: Sequence[int]) -> float:
    return mean([curve[size] for size in sizes])


BENCHMARK = Benchmark("papers.kms_consensus", cells, work, report)
