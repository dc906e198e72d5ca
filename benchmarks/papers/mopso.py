"""MOPSO: feature selection by multi-objective swarms (Xue, Zhang and Browne, 2012, figures 1 and 2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from benchmarks.benchmark import Benchmark, Workplace
from benchmarks.cell import Cell, Record
from benchmarks.datasets import Split, drawn_split, read_data
from benchmarks.fronts import Point, average_front, best_front, dominated_share, volume
from benchmarks.report import Claim, Report, Table, made_by
from benchmarks.significance import compare_pairs, mean
from benchmarks.trial import Watched, error_on, watch_spec
from msl.space.values import BlockValue, Model

#: The nine data sets with the least work first; hill_valley by its first file, as its size in the paper says.
FILES = {
    "wine": "wine",
    "zoo": "zoo",
    "vehicle": "vehicle",
    "wdbc": "wdbc",
    "sonar": "sonar",
    "movement_libras": "movement_libras",
    "hill_valley": "hill_valley_with_noise",
    "musk1": "musk1",
    "isolet5": "isolet5",
}
HILL_ROWS = 606
RUNS = 40
#: Features and error in percent of linear forward selection, as the paper reports it on a split that is not known. On
#: ours `forward`, plain forward selection by the same judge, stands in for it.
FORWARD = {"zoo": (6, 4.76), "wdbc": (9, 11.70)}
FULL, REDUCED, QUICK = (30, 100), (30, 40), (12, 10)
METHODS = {
    "bpso": ("error", "bpso"),
    "weighted": ("0.2 * feature_share + 0.8 * relative_error", "bpso"),
    "nspso binary": ("error, features", "nspso"),
    "nspso": ("error, features", "nspso"),
    "cmdpso binary": ("error, features", "cmdpso"),
    "cmdpso": ("error, features", "cmdpso"),
    "forward": ("error", "best_first"),
}
SWARMS = ("nspso binary", "nspso", "cmdpso binary", "cmdpso")
CMDPSO = SWARMS[2:]
#: Adds the feature that helps most, until none does.
_FORWARD = "best_first(channels = [features], inner = forward)"

_SPEC = """msl 1
use sbm
chain wrapper = keep(features: vector(n_features) of bool) >> knn(k = 5, rest = default)
minimize {objectives} by cv(folds = {folds})
search {search}
"""
_SWARM = """{strategy}(
  swarm = {swarm}, iterations = {iterations}, inertia = 0.7298, c1 = 1.49618, c2 = 1.49618, vmax = 6{more}
)"""


def cells(quick: bool) -> list[Cell]:
    """Run by run, so that every data set has as many."""
    swarm, iterations = QUICK if quick else FULL
    budget = f"{swarm} × {iterations + 1} evaluations"
    names = ("wine", "zoo") if quick else tuple(FILES)
    runs = range(2 if quick else RUNS)
    return [Cell(name, run, method, budget) for run in runs for method in _methods(run) for name in names]


def reduced() -> list[Cell]:
    """All methods on all data sets, run by run."""
    budget = f"{REDUCED[0]} × {REDUCED[1] + 1} evaluations"
    return [Cell(name, run, method, budget) for run in range(5) for name in FILES for method in _methods(run)]


def _methods(run: int) -> list[str]:
    """Forward selection has nothing random, and is run once."""
    return [method for method in METHODS if run == 0 or method != "forward"]


def work(cell: Cell, place: Workplace) -> Mapping[str, Any]:
    """The front (or the one solution) with its errors in training and on the test rows."""
    split = _split(cell, place)
    watched = watch_spec(_text(cell), split.train, cell.split, place.folder)
    models = watched.chosen() or [watched.best()]
    errors = _training_errors(watched)
    front = [(sum(_features(model)), errors.get(model), error_on(watched.plan, model, split.test)) for model in models]
    features = len(split.train.columns) - 1
    everything = error_on(watched.plan, _with_all(models[0]), split.test)
    return {"front": front, "features": features, "all": everything, "evaluations": len(watched.found.history)}


def _text(cell: Cell) -> str:
    swarm, moves = (int(part) for part in cell.budget.removesuffix(" evaluations").split(" × "))
    objectives, strategy = METHODS[cell.method]
    if strategy == "best_first":
        return _SPEC.format(objectives=objectives, folds=10, search=_FORWARD)
    more = "" if strategy == "bpso" else ", threshold = 0.6"
    more += ", encoding = binary" if cell.method.endswith("binary") else ""
    search = _SWARM.format(strategy=strategy, swarm=swarm, iterations=moves - 1, more=more)
    return _SPEC.format(objectives=objectives, folds=10, search=search)


def _split(cell: Cell, place: Workplace) -> Split:
    table = read_data(place.data, FILES[cell.data])
    if cell.data == "hill_valley":
        table = table.head(HILL_ROWS)
    return drawn_split(table, cell.data, 0, 0.7)


def _training_errors(watched: Watched) -> dict[Model, float]:
    """What each model was judged at; of the weighted objective it is not the error alone."""
    found = {}
    for ask, told in watched.found.history:
        model = watched.plan.search_spaces[ask.stage].decode(told.vector)
        if isinstance(model, Model) and told.is_exact:
            found[model] = told.loss
    return found


def _features(model: Model) -> tuple[bool, ...]:
    step = model.steps[0]
    assert isinstance(step, BlockValue)
    return dict(step.params)["features"]  # type: ignore[return-value]


def _with_all(model: Model) -> Model:
    """The same classifier on every feature."""
    step = model.steps[0]
    assert isinstance(step, BlockValue)
    everything = BlockValue(step.block, (("features", (True,) * len(_features(model))),))
    return Model((everything, *model.steps[1:]))


def report(records: Sequence[Record]) -> Report:
    found: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        found.setdefault((record.cell.data, record.cell.method), []).append(record)
    rows = [row for name in FILES for row in _rows(name, found)]
    columns = (
        "data", "method", "runs", "volume in training", "volume on test", "volume, best front", "least error",
        "at features", "of bpso's reached", "error with all",
    )  # fmt: skip
    note = (
        "Volumes are the shares of the unit square (features over all, error rate) that a front dominates, averaged "
        "over the runs; the best front joins all runs. The least error is the lowest of the average front, in percent. "
        "Every method is judged on the same test rows."
    )
    budgets = sorted({record.cell.budget for record in records})
    counts = [len(each) for each in found.values()]
    ran = (
        f"Swarms of {', '.join(budgets) or 'nothing yet'}, 5-NN, 10-fold error in training, one 70/30 split; "
        f"{min(counts, default=0)} to {max(counts, default=0)} of the paper's 40 runs a method and data set."
    )
    table = Table("Fronts", columns, tuple(rows), (note,))
    title = "MOPSO: feature selection by multi-objective swarms"
    tables = (table, _forward_table(found))
    return Report("papers.mopso", title, ran, tables, tuple(_claims(found)), made_by(records))


Found = Mapping[tuple[str, str], Sequence[Record]]


def _test_fronts(records: Sequence[Record]) -> list[list[Point]]:
    return [[(features, test) for features, _, test in record.outcome["front"]] for record in records]


def _mean_volume(records: Sequence[Record], on_test: bool = True) -> float:
    """Of the fronts of each run."""
    volumes = []
    for record in records:
        points = [(line[0], line[2] if on_test else line[1]) for line in record.outcome["front"]]
        volumes.append(volume([point for point in points if point[1] is not None], record.outcome["features"]))
    return mean(volumes)


def _rows(name: str, found: Found) -> Iterable[tuple[str | float | int | None, ...]]:
    alone = [point for run in _test_fronts(found.get((name, "bpso"), ())) for point in run]
    for method in METHODS:
        records = found.get((name, method), ())
        if not records:
            continue
        runs, everything = _test_fronts(records), records[0].outcome["features"]
        least = min(average_front(runs), key=lambda point: (point[1], point[0]))
        best = best_front(runs)
        training = None if method == "weighted" else _mean_volume(records, on_test=False)
        yield (
            name, method, len(records), training, _mean_volume(records), volume(best, everything), 100 * least[1],
            least[0], dominated_share(alone, best), 100 * records[0].outcome["all"],
        )  # fmt: skip


# --- claims: the sentences of the paper, each with the word that it has for how many data sets -----------------------

SINGLE = ("bpso", "weighted")
#: How many data sets may fail: none; one, as we read "almost all"; less than half.
_MAY_FAIL: dict[str, Callable[[int], int]] = {
    "all": lambda n_sets: 0,
    "almost all": lambda n_sets: 1,
    "most": lambda n_sets: (n_sets - 1) // 2,
    "some": lambda n_sets: n_sets - 1,
}
#: What the paper leaves to the eye: a small subset, one of around a third of the features, a similar error.
SMALL, A_THIRD, SIMILAR = 0.5, 0.4, 0.01
#: Those with "a relatively large number of features", and the examples of the comparison with forward selection.
LARGE, EXAMPLES = ("sonar", "movement_libras", "hill_valley", "musk1", "isolet5"), ("zoo", "wdbc")


def _claims(found: Found) -> Iterable[Claim]:
    for method in (*SINGLE, *SWARMS):
        text = f"{method} finds subsets with a lower test error than all features"
        yield _counted(found, text, "all", (method,), _beats_all_features)
    yield _counted(found, "weighted selects fewer features than bpso", "all", SINGLE, _has_fewer_features)
    for method, words in (
        ("nspso binary", "almost all"),
        ("nspso", "all"),
        ("cmdpso binary", "all"),
        ("cmdpso", "all"),
    ):
        text = f"the best front of {method} reaches or beats every solution of bpso and weighted"
        yield _counted(found, text, words, (method, *SINGLE), _dominates_singles)
    for better, worse in (("cmdpso", "nspso"), ("cmdpso binary", "nspso binary")):
        yield _by_volume(found, "average", better, worse, "most")
        yield _by_volume(found, "best", better, worse, "almost all")
    yield _by_volume(found, "average", "nspso", "nspso binary", "almost all")
    yield _by_volume(found, "best", "nspso", "nspso binary", "most")
    for kind in ("average", "best"):
        yield _by_volume(found, kind, "cmdpso", "cmdpso binary", "almost all")
    for method in SWARMS:
        text = f"the best front of {method} is better than forward selection in both objectives"
        yield _counted(found, text, "all", (method, "forward"), _beats_forward)
    yield from _single_claims(found)
    yield from _front_claims(found)
    yield from _example_claims(found)


def _single_claims(found: Found) -> Iterable[Claim]:
    """Of section 5.1."""
    for method in SINGLE:
        text = f"{method} selects around half of the features, 40 to 60 % on the average"
        yield _counted(found, text, "all", (method,), lambda of: 0.4 <= _mean_share(of[0]) <= 0.6)
    pairs = [
        (first.outcome["front"][0][2], second.outcome["front"][0][2])
        for name in FILES
        for first, second in zip(found.get((name, "bpso"), ()), found.get((name, "weighted"), ()), strict=False)
    ]
    compared = compare_pairs([first for first, _ in pairs], [second for _, second in pairs])
    holds = None if math.isnan(compared.p_value) else compared.p_value >= 0.05
    yield Claim("the test errors of bpso and weighted do not differ significantly", holds, str(compared))


def _front_claims(found: Found) -> Iterable[Claim]:
    """Of sections 5.2 and 5.3: what is on the fronts, against all features and against the single-objective swarms."""
    for method, words in (("nspso binary", "almost all"), ("nspso", "almost all"), *((m, "all") for m in CMDPSO)):
        text = (
            f"the average front of {method} has two or more solutions with at most half of the features and a lower "
            "test error than all features"
        )
        yield _counted(found, text, words, (method,), lambda of: _n_small(average_front, of[0], SMALL) >= 2)
    for method, least, words in (("nspso binary", 2, "almost all"), ("cmdpso binary", 1, "most")):
        text = (
            f"the best front of {method} has {'two' if least == 2 else 'one'} or more subsets of at most 40 % of the "
            "features with a lower test error than all features"
        )
        yield _counted(found, text, words, (method,), lambda of, n=least: _n_small(best_front, of[0], A_THIRD) >= n)
    text = (
        "the best front of nspso has a subset of at most 10 % of the features (isolet5: 16 %) with a lower test error "
        "than all features"
    )
    yield _counted(found, text, "all", ("nspso",), _has_tiny)
    text = "bpso and weighted have solutions with a lower test error than any of the average front of nspso binary"
    yield _counted(found, text, "some", ("nspso binary", *SINGLE), _singles_are_better)
    for method, words in (("nspso", "most"), ("cmdpso", "almost all")):
        text = (
            f"the average front of {method} has solutions with fewer features than bpso and weighted and an error that "
            "is at most one point higher"
        )
        yield _counted(found, text, words, (method, *SINGLE), _is_smaller_and_similar)
    text = (
        "where features are many, the solutions of least error of nspso have fewer of them than those of nspso binary, "
        "and an error that is at most one point higher"
    )
    yield _counted(found, text, "all", ("nspso", "nspso binary"), _is_smaller_at_best, LARGE)


def _example_claims(found: Found) -> Iterable[Claim]:
    """Of sections 5.4 and 5.6, which take one or two data sets as examples."""
    for method in ("nspso binary", "nspso"):
        text = f"no solution of the average front of {method} has a lower test error than bpso and weighted"
        yield _counted(found, text, "all", (method, *SINGLE), _singles_are_as_good, ("wdbc",))
    for method in CMDPSO:
        text = (
            f"the average front of {method} has solutions with fewer features and a lower error than bpso and weighted"
        )
        yield _counted(found, text, "all", (method, *SINGLE), _is_smaller_and_better, ("wdbc",))
    for method in SINGLE:
        text = f"{method} finds two or more subsets that are better than that of forward selection"
        yield _counted(found, text, "all", (method, "forward"), lambda of: _n_above_forward(*of) >= 2, EXAMPLES)
    for method in SWARMS:
        text = f"the average front of {method} is better than forward selection in both objectives"
        yield _counted(found, text, "all", (method, "forward"), _beats_forward_on_average, EXAMPLES)


#: How the fronts of several runs become one.
Join = Callable[[Sequence[Sequence[Point]]], list[Point]]
#: Whether a sentence about some methods is true of one data set, by the records of each of the methods.
Holds = Callable[[Sequence[Sequence[Record]]], bool]


def _counted(
    found: Found,
    sentence: str,
    words: str,
    methods: Sequence[str],
    holds: Holds,
    sets: Sequence[str] = tuple(FILES),
) -> Claim:
    """A sentence about so many data sets; it is not judged while the data sets that are missing could decide."""
    known = [name for name in sets if all((name, method) in found for method in methods)]
    failing = [name for name in known if not holds([found[name, method] for method in methods])]
    true, missing, least = len(known) - len(failing), len(sets) - len(known), len(sets) - _MAY_FAIL[words](len(sets))
    verdict = True if true >= least else False if true + missing < least else None
    seen = f"{true} of {len(known)}" + (f", not on {', '.join(failing)}" if failing else "")
    where = (
        f"{words} data sets" if len(sets) == len(FILES) else " and ".join(sets) if len(sets) < 3 else ", ".join(sets)
    )
    return Claim(f"{sentence}, on {where}", verdict, seen)


def _solutions(records: Sequence[Record]) -> list[Point]:
    return [point for run in _test_fronts(records) for point in run]


def _beats_all_features(of: Sequence[Sequence[Record]]) -> bool:
    (records,) = of
    return any(error < records[0].outcome["all"] for _, error in _solutions(records))


def _has_fewer_features(of: Sequence[Sequence[Record]]) -> bool:
    plain, weighted = (mean([features for features, _ in _solutions(records)]) for records in of)
    return weighted < plain


def _dominates_singles(of: Sequence[Sequence[Record]]) -> bool:
    front, *singles = of
    alone = [point for records in singles for point in _solutions(records)]
    return dominated_share(alone, best_front(_test_fronts(front))) == 1.0


def _mean_share(records: Sequence[Record]) -> float:
    """Of the features, over the runs."""
    return mean([features for features, _ in _solutions(records)]) / float(records[0].outcome["features"])


def _n_small(join: Join, records: Sequence[Record], share: float) -> int:
    """The solutions of a front with at most this share of the features and a lower error than all."""
    outcome, front = records[0].outcome, join(_test_fronts(records))
    return sum(f <= share * outcome["features"] and error < outcome["all"] for f, error in front)


def _has_tiny(of: Sequence[Sequence[Record]]) -> bool:
    (records,) = of
    return _n_small(best_front, records, 0.16 if records[0].cell.data == "isolet5" else 0.1) > 0


def _single_means(singles: Sequence[Sequence[Record]]) -> list[tuple[float, float]]:
    """Features and error of each single-objective swarm, over its runs."""
    points = [_solutions(records) for records in singles]
    return [(mean([f for f, _ in of_method]), mean([error for _, error in of_method])) for of_method in points]


def _singles_are_better(of: Sequence[Sequence[Record]]) -> bool:
    front, *singles = of
    least = min(error for _, error in average_front(_test_fronts(front)))
    return all(min(error for _, error in _solutions(records)) < least for records in singles)


def _singles_are_as_good(of: Sequence[Sequence[Record]]) -> bool:
    front, *singles = of
    least = min(error for records in singles for _, error in _solutions(records))
    return min(error for _, error in average_front(_test_fronts(front))) >= least


def _is_smaller_and_similar(of: Sequence[Sequence[Record]]) -> bool:
    front, *singles = of
    features, error = (min(values) for values in zip(*_single_means(singles), strict=True))
    return any(f < features and e <= error + SIMILAR for f, e in average_front(_test_fronts(front)))


def _is_smaller_and_better(of: Sequence[Sequence[Record]]) -> bool:
    front, *singles = of
    points = [point for records in singles for point in _solutions(records)]
    average = average_front(_test_fronts(front))
    return any(all(f < features and e < error for features, error in points) for f, e in average)


def _is_smaller_at_best(of: Sequence[Sequence[Record]]) -> bool:
    """By the solution of least error of each run, averaged."""
    means = []
    for records in of:
        least = [min(front, key=lambda point: (point[1], point[0])) for front in _test_fronts(records)]
        means.append((mean([features for features, _ in least]), mean([error for _, error in least])))
    (first, error), (second, other) = means
    return first < second and error <= other + SIMILAR


def _n_above_forward(records: Sequence[Record], forward: Sequence[Record]) -> int:
    (own,) = set(_solutions(forward))
    return sum(_is_better(point, own) for point in set(_solutions(records)))


def _by_volume(found: Found, kind: str, better: str, worse: str, words: str) -> Claim:
    """By the volume on the test rows, which the paper's figures show."""

    def holds(of: Sequence[Sequence[Record]]) -> bool:
        join = average_front if kind == "average" else best_front
        first, second = (volume(join(_test_fronts(records)), records[0].outcome["features"]) for records in of)
        return first > second

    text = f"the {kind} front of {better} is better than that of {worse} by hypervolume"
    return _counted(found, text, words, (better, worse), holds)


def _beats_forward(of: Sequence[Sequence[Record]]) -> bool:
    """On the same rows; the paper's figures, of zoo and wdbc, are of rows that are not known."""
    front, forward = of
    (own,) = set(_solutions(forward))
    return any(_is_better(point, own) for point in best_front(_test_fronts(front)))


def _beats_forward_on_average(of: Sequence[Sequence[Record]]) -> bool:
    front, forward = of
    (own,) = set(_solutions(forward))
    return any(_is_better(point, own) for point in average_front(_test_fronts(front)))


def _is_better(point: Point, other: Point) -> bool:
    """No more features, no higher error, and less of one of them."""
    return point[0] <= other[0] and point[1] <= other[1] and point != other


def _forward_table(found: Found) -> Table:
    """Forward selection beside the swarms: the paper has zoo and wdbc, and says that the others are alike."""
    rows = []
    for name in FILES:
        if (name, "forward") not in found:
            continue
        forward = found[name, "forward"]
        ((own_features, own_error),) = set(_solutions(forward))
        swarms = {method: found[name, method] for method in SWARMS if (name, method) in found}
        volumes = [_mean_volume(records, on_test=False) for records in swarms.values()]
        better = [method for method, records in swarms.items() if _beats_forward([records, forward])]
        own_volume = _mean_volume(forward, on_test=False)
        paper = "–" if name not in FORWARD else f"{FORWARD[name][0]} at {FORWARD[name][1]:.2f}"
        row = (name, paper, own_features, 100 * own_error, own_volume, max(volumes, default=None))
        rows.append((*row, ", ".join(better) or "none"))
    columns = (
        *("data", "paper's LFS", "features", "test error", "volume in training", "most of a swarm"),
        "best fronts that are better",
    )
    note = (
        "Forward selection by the same judge, once a data set. A best front is better if one of its solutions has no "
        "more features and no higher test error, and less of one of them."
    )
    return Table("Forward selection", columns, tuple(rows), (note,))


BENCHMARK = Benchmark("papers.mopso", cells, work, report, reduced)
