"""Challenge: the model selection challenge of 2007, by swarm with subsampling (Escalante et al., 2009, table 9).

The test labels of the challenge were never published. Here a tenth of the labelled rows (ada: the validation part) is
kept apart as the test set, so that the figures are near to the challenge's, not the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.benchmark import Benchmark, Workplace
from benchmarks.cell import Cell, Record
from benchmarks.datasets import Split, drawn_split, listed_split, read_data
from benchmarks.papers.psms_runs import program_inertia
from benchmarks.report import Report, Table, made_by
from benchmarks.significance import mean, standard_error
from benchmarks.trial import shipped_spec, try_spec

#: The file, the paper's subsampling factor, its test BER in percent.
PAPER = {
    "ada": ("ada_agnostic", 1, 16.86),
    "hiva": ("hiva_agnostic_train", 3, 28.01),
    "sylva": ("sylva_agnostic_train", 10, 0.62),
}
SPLITS = 3
FULL, QUICK = (5, 50), (5, 3)
#: The quick way sees a twentieth of the rows that the full one sees.
QUICK_FACTOR = 20

#: The original program, and the swarm with our own additions, which spends this share of its evaluations on evaluating
#: its best models again on new subsamples, so many times.
PROGRAM, IMPROVED = "program", "improved"
#: The winners that the paper prints, fitted alone, without a search. That of sylva takes the eigenvectors of matrices
#: of all its rows.
WINNER = "printed winner"
WINNERS = {
    "ada": "logitboost(units = 469, shrinkage = 0.4, depth = 1) >> bias",
    "hiva": (
        "normalize(rest = default) >> rffs(fmax = 1001, rest = default) >> lssvm(gamma = 0.096, rest = default) >> bias"
    ),
}
METHODS = (PROGRAM, WINNER, IMPROVED)
CONFIRMED, REPEATS = 0.15, 5

_IMPROVED = """msl 1
use "psms.msl"
minimize ber by cv(folds = 2, subsample = {share})
search pso(swarm = {swarm}, iterations = {iterations}, c1 = 2, c2 = 2, inertia = ramp(1.2, 0.4, over = 0.5),
  wall = reflect) then confirm(top = {top}, repeats = {repeats})
"""
_WINNER = """msl 1
use clop
chain printed = {model}
minimize ber by holdout(0.1)
search grid
"""
_VOTE = "ensemble vote(top = 9, voting = hard, always = true)\n"


def cells(quick: bool) -> list[Cell]:
    swarm, iterations = QUICK if quick else FULL
    budget = f"{swarm} × {iterations + 1} evaluations"
    names = ("ada",) if quick else tuple(PAPER)
    splits = range(1 if quick else SPLITS)
    return [
        Cell(name, split, method, budget)
        for method in METHODS
        for split in splits
        for name in names
        if method != WINNER or name in WINNERS
    ]


def work(cell: Cell, place: Workplace) -> Mapping[str, Any]:
    swarm, moves = (int(part) for part in cell.budget.removesuffix(" evaluations").split(" × "))
    share = round(1 / (PAPER[cell.data][1] * (QUICK_FACTOR if (swarm, moves - 1) == QUICK else 1)), 4)
    split = _split(cell, place)
    if cell.method == PROGRAM:
        return try_spec(_program(swarm, moves, share), split, cell.split, place.folder)
    if cell.method == WINNER:
        return try_spec(_WINNER.format(model=WINNERS[cell.data]), split, cell.split, place.folder)
    top = max(round(CONFIRMED * swarm * moves / REPEATS), 2)
    iterations = (swarm * moves - top * REPEATS) // swarm - 1
    text = _IMPROVED.format(share=share, swarm=swarm, iterations=iterations, top=top, repeats=REPEATS)
    found = try_spec(text, split, cell.split, place.folder)
    # Everything is in the store: this only looks up and fits.
    return {**found, "vote": try_spec(text + _VOTE, split, cell.split, place.folder)["ber"]}


def _program(swarm: int, moves: int, share: float) -> str:
    """specs/psms.msl with the paper's subsampling: for every evaluation new rows, as many of each class."""
    sizes = (f"search.swarm={swarm}", f"search.iterations={moves - 1}")
    text = shipped_spec("psms", *sizes, f"search.inertia={program_inertia(moves - 1)}")
    return text.replace("stratified = false, ", f"stratified = false, subsample = {share}, balanced = true, ", 1)


def _split(cell: Cell, place: Workplace) -> Split:
    name = PAPER[cell.data][0]
    if cell.data == "ada" and cell.split == 0:
        return listed_split(place.data, name, "train", "valid")
    return drawn_split(read_data(place.data, name), name, cell.split, 0.9)


def report(records: Sequence[Record]) -> Report:
    rows = []
    for name, (_, factor, paper) in PAPER.items():
        found = {
            method: [record.outcome for record in records if (record.cell.data, record.cell.method) == (name, method)]
            for method in METHODS
        }
        if not (swarm := _percents(found[PROGRAM], "ber")):
            continue
        winner = _percents(found[WINNER], "ber")
        improved, voted = _percents(found[IMPROVED], "ber"), _percents(found[IMPROVED], "vote")
        figures = (
            mean(swarm),
            standard_error(swarm),
            mean(swarm) - paper,
            _mean(winner),
            _mean(improved),
            _mean(voted),
        )
        rows.append((name, len(swarm), factor, paper, *figures, str(found[PROGRAM][-1]["model"])))
    columns = (
        *("data", "splits", "subsampling", "paper", PROGRAM, "s.e.", "difference", WINNER, IMPROVED, "vote"),
        "last winner of the program",
    )
    notes = (
        "Test BER in percent; gina and nova cannot be had, and the challenge's own test labels are not public. "
        "`program` is specs/psms.msl with the paper's subsampling; `printed winner` is the model that the "
        "paper prints, fitted alone on the same splits. `improved` is ours: walls that reflect, and 15 % of "
        "the evaluations spent on evaluating the best models again on five new subsamples; `vote` is that of its nine "
        "best.",
    )
    table = Table("The agnostic track", columns, tuple(rows), notes)
    budgets = sorted({record.cell.budget for record in records})
    ran = (
        f"Swarms of {', '.join(budgets) or 'nothing yet'}, 2-fold BER on the paper's subsamples, {len(records)} runs; "
        "a printed winner is one model."
    )
    return Report("papers.challenge", "Challenge: agnostic learning", ran, (table,), (), made_by(records))


def _percents(outcomes: Sequence[Mapping[str, Any]], figure: str) -> list[float]:
    return [100 * outcome[figure] for outcome in outcomes]


def _mean(figures: Sequence[float]) -> float | None:
    return mean(figures) if figures else None


BENCHMARK = Benchmark("papers.challenge", cells, work, report)
