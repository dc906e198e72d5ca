"""The runs of PSMS and of what it is compared with: data sets, methods, specs, and what is kept of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.baselines import try_baseline
from benchmarks.benchmark import Workplace
from benchmarks.cell import Cell
from benchmarks.datasets import published_split
from benchmarks.significance import mean
from benchmarks.trial import shipped_spec, try_spec
from msl.runner.session import Result

#: Of PATSMS and of PSMS: test BER in percent, and the mean BER in cross-validation of all models tried.
PAPER = {
    "breast_cancer": ((36.98, 33.59), (32.64, 32.96)),
    "diabetis": ((26.07, 25.37), (25.39, 26.48)),
    "flare_solar": ((32.87, 32.65), (32.69, 33.13)),
    "german": ((28.65, 28.28), (31.00, 31.02)),
    "heart": ((19.50, 17.35), (16.96, 19.93)),
    "image": ((3.58, 2.50), (11.54, 15.88)),
    "splice": ((13.94, 9.46), (18.01, 19.15)),
    "thyroid": ((10.84, 5.98), (11.15, 15.49)),
    "titanic": ((29.94, 29.60), (27.19, 27.32)),
}
SPLITS = 10
FULL, QUICK = (10, 100), (5, 9)

#: The original program, its pattern search, the printed text, and the swarm with our own improvements.
PROGRAM, PATTERN, PRINTED, IMPROVED = "program", "shuffled pattern", "printed", "improved"
#: The same with the orders of selection and preprocessing numbered the other way round, as the spec had them before.
OTHER = ", other order"
#: Pattern search that evaluates no model twice, and so ends when its steps lead to no other one.
ONCE = f"pattern{OTHER}"
#: Models of the space as they come, with a bias after them: what a search is worth can be told from them.
PLAIN = ("zarbi", "naive", "klogistic", "gkridge")
CONTROLS = ("svm", "forest", *PLAIN)
ORDERS = (PROGRAM, PROGRAM + OTHER)
METHODS = (PROGRAM, PATTERN, PRINTED, IMPROVED, PROGRAM + OTHER, PATTERN + OTHER, ONCE, *CONTROLS)
#: `improved` keeps this share of its evaluations to evaluate its best models again on new splits, so many times.
CONFIRMED, REPEATS = 0.15, 5

_IMPROVED = """msl 1
use "psms.msl"
minimize ber by cv(folds = 2)
search pso(swarm = {swarm}, iterations = {iterations}, c1 = 2, c2 = 2, inertia = ramp(1.2, 0.4, over = 0.5),
  wall = reflect) then confirm(top = {top}, repeats = {repeats})
"""
_VOTE = "ensemble vote(top = 9, voting = hard, always = true)\n"
_PLAIN = """msl 1
use clop
chain plain = {learner} >> bias
minimize ber by cv(folds = 2)
search grid
"""


def cells(quick: bool) -> list[Cell]:
    """Split by split, so that every data set has as many."""
    budget = _budget(*(QUICK if quick else FULL))
    names, splits = (("heart", "thyroid", "titanic"), range(1)) if quick else (tuple(PAPER), range(SPLITS))
    return [Cell(name, split, method, budget) for split in splits for method in METHODS for name in names]


def _budget(swarm: int, iterations: int) -> str:
    return f"{swarm} × {iterations + 1} evaluations"


def work(cell: Cell, place: Workplace) -> Mapping[str, Any]:
    split = published_split(place.data, cell.data, cell.split)
    if cell.method in ("svm", "forest"):
        return try_baseline(cell.method, split, cell.split)
    if cell.method in PLAIN:
        return try_spec(_PLAIN.format(learner=cell.method), split, cell.split, place.folder)
    if cell.method != IMPROVED:
        return try_spec(spec_of(cell), split, cell.split, place.folder, _tried)
    text = _improved(cell)
    found = try_spec(text, split, cell.split, place.folder)
    # Everything is in the store: this only looks up, votes and fits.
    return {**found, "vote": try_spec(text + _VOTE, split, cell.split, place.folder)["ber"]}


def spec_of(cell: Cell) -> str:
    swarm, moves = sizes(cell)
    if cell.method.endswith(OTHER):
        return _in_other_order(spec_of(Cell(cell.data, cell.split, cell.method.removesuffix(OTHER), cell.budget)))
    if cell.method in (PATTERN, ONCE.removesuffix(OTHER)):
        again = "true" if cell.method == PATTERN else "false"
        return shipped_spec("patsms", f"search.evaluations={swarm * moves}", f"search.shuffle={again}")
    options = (f"search.swarm={swarm}", f"search.iterations={moves - 1}")
    if cell.method == PRINTED:
        return shipped_spec("psms_paper", *options)
    return shipped_spec("psms", *options, f"search.inertia={program_inertia(moves - 1)}")


def _in_other_order(text: str) -> str:
    """With the space of psms.msl in the spec itself, where it only imports it, and its orders exchanged."""
    space, _, _ = shipped_spec("psms").partition("\n\n# The outputs")
    text = text.replace('msl 1\nuse "psms.msl"', space)
    return text.replace("permute(select, preprocess)", "permute(preprocess, select)")


def program_inertia(iterations: int) -> str:
    """From 1.2 to 0.4 over half of the iterations; the program starts in the second and stops one step short of 0.4."""
    steps = iterations // 2
    return f"ramp(1.2, {0.4 + 0.8 / steps:.6g}, over = {(steps - 1) / iterations:.6g})"


def _improved(cell: Cell) -> str:
    swarm, moves = sizes(cell)
    top = max(round(CONFIRMED * swarm * moves / REPEATS), 2)
    left = swarm * moves - top * REPEATS
    return _IMPROVED.format(swarm=swarm, iterations=left // swarm - 1, top=top, repeats=REPEATS)


def sizes(cell: Cell) -> tuple[int, int]:
    swarm, moves = cell.budget.removesuffix(" evaluations").split(" × ")
    return int(swarm), int(moves)


KINDS = ("learners", "selectors", "preprocessing")
SELECTORS = frozenset("ftest ttest aucfs odds_ratio relief rffs svcrfe pearson zfilter gs s2n pc_extract".split())
PREPROCESSING = frozenset("normalize standardize shift_scale".split())


def _tried(result: Result) -> dict[str, Any]:
    """The mean loss of all models tried, the share that failed, and how often each method was in them."""
    losses = _losses(result.evaluations)
    failures = sum(row["failure"] is not None for row in result.evaluations)
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in (*KINDS, "order")}
    for row in result.evaluations:
        names = [step.split("(")[0].strip() for step in row["model"].split(" >> ")]
        selected = [place for place, name in enumerate(names) if name in SELECTORS]
        prepared = [place for place, name in enumerate(names) if name in PREPROCESSING]
        counts["learners"][names[-2]] += 1
        counts["selectors"][names[selected[0]] if selected else "none"] += 1
        counts["preprocessing"][" + ".join(sorted(names[place] for place in prepared)) or "none"] += 1
        if selected and prepared:
            counts["order"]["preprocessing first" if prepared[0] < selected[0] else "selection first"] += 1
    return {
        "mean loss": mean(losses) if len(losses) + failures == len(result.evaluations) else None,
        "failed share": failures / len(result.evaluations),
        "tried": {kind: dict(found.most_common()) for kind, found in counts.items()},
    }


def _losses(evaluations: Sequence[Mapping[str, Any]]) -> list[float]:
    """The error rates of the models that could be fitted, by whichever metric was minimised."""
    metrics = ("ber", "ber_at_best_threshold")
    return [row[name] for row in evaluations for name in metrics if row.get(name) is not None]
