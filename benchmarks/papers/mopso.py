"""MOPSO: feature selection by multi-objective swarms (Xue, Zhang and Browne, 2012, figures 1 and 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.benchmark import Benchmark, Workplace
from benchmarks.cell import Cell, Record
from benchmarks.datasets import Split, drawn_split, read_data
from benchmarks.fronts import Point, average_front, best_front, dominated_share, volume
from benchmarks.report import Claim, Report, Table, made_by
from benchmarks.significance import mean
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
    return {"front": front, "features": features, "all": everything, "evaluations": len(watched.found.told)}


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
    for ask, told in watched.found.told:
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
    return Report("papers.mopso", title, ran, (table,), tuple(_claims(found)), made_by(records))


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


def _claims(found: Found) -> Iterable[Claim]:
    for better, worse in (("cmdpso", "nspso"), ("cmdpso binary", "nspso binary")):
        yield _ordering(found, better, worse)
    for kind in ("cmdpso", "nspso"):
        yield _ordering(found, kind, f"{kind} binary")
    yield _beats_bpso(found)
    for name, (features, error) in FORWARD.items():
        yield _beats_forward(found, name, features, error)


def _ordering(found: Found, better: str, worse: str) -> Claim:
    """By the volume of training fronts: that is what the strategies are asked for."""
    both = [name for name in FILES if (name, better) in found and (name, worse) in found]
    volumes = [[_mean_volume(found[name, method], on_test=False) for method in (better, worse)] for name in both]
    wins = sum(first >= second for first, second in volumes)
    text = f"{better} is at least as good as {worse} by hypervolume on most data sets"
    return Claim(text, None if len(both) < 5 else wins > len(both) / 2, f"{wins} of {len(both)}")


def _beats_bpso(found: Found) -> Claim:
    both = [name for name in FILES if (name, "cmdpso") in found and (name, "bpso") in found]
    shares = []
    for name in both:
        alone = [point for run in _test_fronts(found[name, "bpso"]) for point in run]
        shares.append(dominated_share(alone, best_front(_test_fronts(found[name, "cmdpso"]))))
    text = "the best front of cmdpso dominates bpso's solutions"
    return Claim(text, None if len(both) < 5 else mean(shares) > 0.5, f"{100 * mean(shares):.0f} % of them")


def _beats_forward(found: Found, name: str, features: int, error: float) -> Claim:
    """Against forward selection on the same rows; the paper's figures are of rows that are not known."""
    text = f"{name}: a front with better than forward selection (in the paper {features} features at {error:g} %)"
    if (name, "cmdpso") not in found or (name, "forward") not in found:
        return Claim(text, None, "not run")
    ((own_features, own_error),) = {point for run in _test_fronts(found[name, "forward"]) for point in run}
    points = [point for run in _test_fronts(found[name, "cmdpso"]) for point in run]
    runs = [any(f <= own_features and e <= own_error for f, e in run) for run in _test_fronts(found[name, "cmdpso"])]
    good = [point for point in points if point[0] <= own_features and point[1] <= own_error]
    least = min(good or points, key=lambda point: (point[1], point[0]))
    seen = (
        f"{least[0]} features at {100 * least[1]:.2f} % against {own_features} at {100 * own_error:.2f} % here, "
        f"in {sum(runs)} of {len(runs)} runs"
    )
    return Claim(text, sum(runs) > len(runs) / 2, seen)


BENCHMARK = Benchmark("papers.mopso", cells, work, report, reduced)
