"""How fast models are judged: against scikit-learn's cross-validation, with and without racing, by leave-one-out in a
real search, and what it costs beside fitting and predicting. Ratios in one run; times alone say little elsewhere.

    python -m benchmarks.evaluator [agreement] [overhead] [boosting] [best_first] [gcv] [paths] [swarm] [racing]
                                   [--quick]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from statistics import mean, median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import cross_val_predict, cross_val_score

from benchmarks.feature_weights import best_first
from benchmarks.figures import Row, Sections, in_turns, measured, show, timed
from msl.blocks.base.block import Block
from msl.blocks.base.build import ColumnKinds, model_to_chain
from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.encode.codec import Codec, space_to_codec
from msl.encode.sample import enumerate_models
from msl.evaluate.cross_validate import EvaluationRequest, PathRequest
from msl.evaluate.dataset import Dataset
from msl.evaluate.evaluator import DEFAULT_CACHE_BYTES, Evaluator
from msl.evaluate.outcome import Effort, Outcome
from msl.space.formulas import Facts
from msl.space.spec import Spec
from msl.space.values import BlockValue, Model

CANDIDATES = 300
Visit = tuple[Model, float | None, Outcome]
Search = Callable[[Codec, Callable[[Model, float | None], Outcome], int, int], Iterator[Visit]]
PSMS = """msl 1
use clop
part preprocess = subset(normalize, standardize, shift_scale)
part select = ftest | ttest | aucfs | odds_ratio | relief | rffs | svcrfe | pearson | zfilter | gs | s2n | pc_extract
part learn = zarbi | naive | klogistic | gkridge | logitboost | neural | svc | kridge | rf | lssvm
chain full_model = permute(preprocess, select?) >> learn >> bias
minimize ber by cv(folds = {})
"""


def ground_of(X: NDArray[Any], y: NDArray[Any]) -> Dataset:
    return Dataset.of_arrays(np.ascontiguousarray(X), y.astype(np.intp), int(y.max()) + 1)


def table() -> Dataset:
    """700 rows of 20 features, 8 of them informative, a tenth of the labels wrong."""
    return ground_of(*make_classification(700, 20, n_informative=8, flip_y=0.1, random_state=0))


def spec_of(text: str, dataset: Dataset) -> Spec:
    rows, columns = dataset.X.shape
    facts = Facts(rows, columns, dataset.n_classes, "classification" if dataset.n_classes else "regression")
    checked = check_source(Source("spec.msl", text, "spec.msl"), facts=facts)
    assert checked.spec is not None, [found.message for found in checked.diagnostics]
    return checked.spec


def random_models(codec: Codec, count: int) -> list[Model]:
    found = codec.decode(np.random.default_rng(0).random((count, codec.n_dimensions))).models()
    return [model for model in found if isinstance(model, Model)]


def folds_of(judge: Evaluator) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    trials = judge._losses._trials
    return [(split.train, split.test) for split in trials.trial(trials.estimates[0], 0, 1.0, 0).splits]


# --- the same losses ----------------------------------------------------------------------------------------


def agreement(quick: bool) -> Iterator[Row]:
    """Random full models on three data sets, against cross_val_predict with the same folds."""
    count = 20 if quick else 200
    for name, load in {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer}.items():
        dataset = ground_of(*load(return_X_y=True))
        spec = spec_of(PSMS.format(2), dataset)
        judge = Evaluator(dataset, spec.objectives)
        folds, largest = folds_of(judge), 0.0
        for model in random_models(space_to_codec(spec.space), count):
            outcome = judge.evaluate(model)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                chain = model_to_chain(model, "classification")
                predicted = cross_val_predict(chain, dataset.X, dataset.y, cv=folds)
            expected = 1 - balanced_accuracy_score(dataset.y, predicted)
            largest = max(largest, abs(outcome.losses[0] - expected))
        yield f"pooled BER of {count} models on {name} against cross_val_predict", largest, 1e-12, "largest difference"


# --- a swarm ------------------------------------------------------------------------------------------------


def swarm(
    codec: Codec, judge: Callable[[Model, float | None], Outcome], candidates: int, seed: int = 0
) -> Iterator[Visit]:
    """Algorithm 1 of Escalante, Montes and Sucar (2009): 5 particles, inertia from 1.2 to 0.4 over the first half."""
    rng, particles = np.random.default_rng(seed), 5
    rounds = candidates // particles
    x = rng.random((particles, codec.n_dimensions))
    v = np.zeros_like(x)
    own, losses = x.copy(), np.full(particles, np.inf)
    for round_ in range(rounds):
        if round_:
            inertia = max(1.2 - 0.8 * round_ / (0.5 * (rounds - 1)), 0.4)
            leader = own[losses.argmin()]
            v = inertia * v + 2 * rng.random(x.shape) * (own - x) + 2 * rng.random(x.shape) * (leader - x)
            x = np.clip(x + v, 0.0, 1.0)
        batch = codec.decode(x)
        x = batch.snapped
        for particle, model in enumerate(batch.models()):
            assert isinstance(model, Model)
            best = losses[particle]
            cutoff = float(np.nextafter(best, np.inf)) if np.isfinite(best) else None
            outcome = judge(model, cutoff)
            yield model, cutoff, outcome
            if not outcome.bound and outcome.losses[0] < best:
                own[particle], losses[particle] = x[particle], outcome.losses[0]


def race_swarms(quick: bool) -> Iterator[Row]:
    """Candidates of swarms, against cross_val_score on the same chains and folds."""
    dataset = table()
    spec = spec_of(PSMS.format(2), dataset)
    codec = space_to_codec(spec.space)
    candidates, seeds = (60, 1) if quick else (CANDIDATES, 5)
    ours = theirs = largest = 0.0
    ratios = []
    fits = saved = 0
    for seed in range(seeds):
        judge = Evaluator(dataset, spec.objectives)
        visited = list(swarm(codec, lambda model, cutoff, judge=judge: judge.evaluate(model), candidates, seed))
        models = [model for model, _, _ in visited]
        again = Evaluator(dataset, spec.objectives)
        own, outcomes = timed(lambda judge=again, models=models: [judge.evaluate(model) for model in models])
        usual, losses = usual_way(models, dataset, again)
        largest = max(largest, np.abs(np.subtract(losses, [outcome.losses[0] for outcome in outcomes])).max())
        fits += sum(outcome.effort.fits for outcome in outcomes)
        saved += sum(outcome.effort.fits_saved for outcome in outcomes)
        ours, theirs = ours + own, theirs + usual
        ratios.append(usual / own)
        figures = again.cache_figures
        what = f"swarm {seed} of {candidates} candidates, mostly {most_frequent(models)}"
        yield what, usual / own, None, "times as fast"
        yield f"  cached at most; {figures.hits} uses", figures.most_bytes / 1e6, None, "MB"
    yield f"{seeds} psms swarms, against cross_val_score on the same chains", theirs / ours, 3.0, "times as fast"
    yield "  the median swarm of them", median(ratios), 3.0, "times as fast"
    yield "  losses of both", largest, 1e-12, "largest difference"
    yield f"  fits shared or remembered, of {fits + saved}", saved / (fits + saved), None, "part"


def most_frequent(models: list[Model]) -> str:
    names = [step.block.name for model in models for step in model.steps if isinstance(step, BlockValue)]
    learners = [name for name in names if name in PSMS.split("part learn")[1]]
    return max(sorted(set(learners) - {"bias"}), key=learners.count)


def usual_way(models: list[Model], dataset: Dataset, judge: Evaluator) -> tuple[float, list[float]]:
    """Processor time of cross_val_score on each model, and the pooled error rates of its predictions."""
    folds = folds_of(judge)
    rows = np.concatenate([test for _, test in folds])
    total, losses = 0.0, []
    for model in models:
        predicted: list[NDArray[np.intp]] = []

        def score(chain: Any, X: Any, y: Any, predicted: list[Any] = predicted) -> float:
            predicted.append(chain.predict(X))
            return float(balanced_accuracy_score(y, predicted[-1]))

        chain = model_to_chain(model, "classification")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            spent, _ = timed(
                lambda chain=chain, score=score: cross_val_score(chain, dataset.X, dataset.y, cv=folds, scoring=score)
            )
        total += spent
        losses.append(1 - balanced_accuracy_score(dataset.y[rows], np.concatenate(predicted)))
    return total, losses


def random_search(
    codec: Codec, judge: Callable[[Model, float | None], Outcome], candidates: int, seed: int = 0
) -> Iterator[Visit]:
    """Models at random, each against the best so far."""
    best: float | None = None
    found = codec.decode(np.random.default_rng(seed).random((candidates, codec.n_dimensions))).models()
    for model in found:
        assert isinstance(model, Model)
        outcome = judge(model, best)
        yield model, best, outcome
        if not outcome.bound and (best is None or outcome.losses[0] < best):
            best = outcome.losses[0]


def visited(
    search: Search, codec: Codec, dataset: Dataset, spec: Spec, candidates: int, seed: int, races: bool
) -> tuple[float, list[Visit]]:
    """The processor time of a search, and where it has been."""
    judge = Evaluator(dataset, spec.objectives)

    def outcome(model: Model, cutoff: float | None) -> Outcome:
        return judge.evaluate(model, cutoff if races else None)

    return timed(lambda: list(search(codec, outcome, candidates, seed)))


def race_folds(quick: bool) -> Iterator[Row]:
    """Searches with ten folds: every loss, and races that end when they are lost.

    A race without losses ends no sooner than when the errors so far exceed all the errors that would do: a candidate
    with 1.2 times the loss it has to beat needs five sixths of its folds. What that leaves to save is told beside.
    """
    dataset = table()
    spec = spec_of(PSMS.format(10), dataset)
    codec = space_to_codec(spec.space)
    for name, search, seeds in (("swarm", swarm, 2), ("random search", random_search, 1)):
        candidates = 60 if quick else CANDIDATES if search is swarm else 100
        slow = raced = perfect = 0.0
        strayed = 0
        for seed in range(seeds):
            spent, every = visited(search, codec, dataset, spec, candidates, seed, races=False)
            less, short = visited(search, codec, dataset, spec, candidates, seed, races=True)
            slow, raced = slow + spent, raced + less
            strayed += sum(
                a[0] != b[0] or not (b[2].bound or a[2].losses == b[2].losses)
                for a, b in zip(every, short, strict=True)
            )
            needed = [min(1.0, (cutoff or np.inf) / one.losses[0]) * one.effort.seconds for _, cutoff, one in every]
            perfect += spent * sum(needed) / sum(one.effort.seconds for _, _, one in every)
        won, most = slow / raced, slow / perfect
        yield f"a {name} with ten folds, raced against every loss; 2 was the aim", won, None, "times as fast"
        yield f"  and {most:.2f} the most without losses; the part of that", won / most, 0.85, "times as fast"
        yield "  candidates off the path without races", float(strayed), 0.0, "candidates"


# --- what an evaluation costs beside its fits ---------------------------------------------------------------

_WORK = ("fit_arrays", "prepare", "fit_prepared", "transform_arrays", "outputs", "prepare_query", "outputs_prepared")


@dataclass(slots=True)
class Inside:
    """The time spent in the blocks' own fits and predictions, however they call one another."""

    seconds: float = 0.0
    depth: int = 0

    def around(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def timed_method(*given: Any, **named: Any) -> Any:
            self.depth += 1
            start = perf_counter()
            try:
                return method(*given, **named)
            finally:
                self.depth -= 1
                if not self.depth:
                    self.seconds += perf_counter() - start

        return timed_method


@contextmanager
def watched(classes: set[type]) -> Iterator[Inside]:
    """Times the work of blocks of these classes from within the evaluations that call them."""
    inside = Inside()
    kept = [(found, name, vars(found).get(name)) for found in classes for name in _WORK if hasattr(found, name)]
    for found, name, _ in kept:
        setattr(found, name, inside.around(getattr(found, name)))
    try:
        yield inside
    finally:
        for found, name, own in kept:
            delattr(found, name) if own is None else setattr(found, name, own)


def weigh_overhead(quick: bool) -> Iterator[Row]:
    """Evaluations of cheap models without any cache, less what they spend in fits and predictions. The least of many
    runs of each, since whatever else runs on the machine only ever adds to it."""
    dataset = table()
    spec = spec_of(PSMS.format(2), dataset)
    cheap = {"normalize", "standardize", "shift_scale", "ttest", "pearson", "zfilter", "s2n", "zarbi", "naive", "bias"}
    models = [
        model
        for model in random_models(space_to_codec(spec.space), 6000)
        if {step.block.name for step in model.steps if isinstance(step, BlockValue)} <= cheap
    ][:20]
    judge = Evaluator(dataset, spec.objectives, cache_bytes=0)
    chains = [model_to_chain(model, "classification") for model in models]
    blocks = {type(block) for chain in chains for block in (*chain.steps, chain.learner, *chain.posts)}
    assert all(issubclass(block, Block) for block in blocks)
    beside, fits = [], []
    with watched(blocks) as inside:
        for model in models:
            found = []
            for _ in range(20 if quick else 60):
                inside.seconds = 0.0
                start = perf_counter()
                judge.evaluate(model)
                found.append((perf_counter() - start - inside.seconds, inside.seconds))
            beside.append(min(one for one, _ in found))
            fits.append(min(one for _, one in found))
    n_blocks = mean(len(model.steps) for model in models)
    yield "an evaluation in process, beside fits and predictions", 1e3 * mean(beside), 1.0, "ms"
    yield f"  its fits and predictions, two folds of {n_blocks:.1f} cheap blocks", 1e3 * mean(fits), None, "ms"


def weigh_boosting(quick: bool) -> Iterator[Row]:
    """One evaluation of 100 rounds on 600 rows, five folds, against the library's own calls on arrays at hand."""
    for library, theirs in _LIBRARIES.items():
        if find_spec(library) is None:
            continue
        rng = np.random.default_rng(0)
        X, y = make_classification(600, 12, n_informative=6, random_state=0)
        X[:, :2] = rng.integers(8, size=(600, 2))  # symbols
        kinds = ColumnKinds(12, symbolic=(0, 1))
        dataset = replace(Dataset.of_arrays(np.ascontiguousarray(X), y.astype(np.intp), 2), columns=kinds)
        spec = spec_of(f"use boosting\nchain m = {library}(n_estimators = 100, rest = default)\n{_FIVE_FOLDS}", dataset)
        model = random_models(space_to_codec(spec.space), 1)[0]
        judge = Evaluator(dataset, spec.objectives, cache_bytes=0)
        folds = [(X[at], y[at], X[~at]) for at in (np.arange(600) % 5 != fold for fold in range(5))]

        def alone(folds: list[Any] = folds, theirs: Callable[..., Any] = theirs) -> None:
            for rows, labels, new in folds:
                theirs(rows, labels, new)

        own, other = in_turns(partial(judge.evaluate, model), alone, 3 if quick else 9)
        yield f"an evaluation of {library}, against its own fits and predictions", own / other, 1.5, "of its time"


def _lightgbm(rows: Any, labels: Any, new: Any) -> Any:
    import lightgbm

    params = {"objective": "binary", "num_threads": 1, "verbosity": -1, "deterministic": True, "force_row_wise": True}
    data = lightgbm.Dataset(rows, labels, categorical_feature=[0, 1])
    return lightgbm.train(params, data, 100).predict(new, num_threads=1)


def _xgboost(rows: Any, labels: Any, new: Any) -> Any:
    import xgboost

    types = ["c", "c", *["q"] * 10]
    data = xgboost.QuantileDMatrix(rows, labels, feature_types=types, enable_categorical=True, nthread=1)
    params = {"objective": "binary:logistic", "nthread": 1, "verbosity": 0}
    return xgboost.train(params, data, 100).inplace_predict(new)


_LIBRARIES: dict[str, Callable[..., Any]] = {"lightgbm": _lightgbm, "xgboost": _xgboost}
_FIVE_FOLDS = "minimize ber by cv(folds = 5)"


# --- many at once -------------------------------------------------------------------------------------------


def generalised(quick: bool) -> Iterator[Row]:
    """500 networks on 40 points by generalised cross-validation, one by one and together."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-4, 4, (40, 1))
    y = 1.1 * (1 - X[:, 0] + 2 * X[:, 0] ** 2) * np.exp(-(X[:, 0] ** 2) / 2) + 0.1 * rng.normal(size=40)
    dataset = Dataset.of_arrays(X, y, 0)
    text = "use rbf\nchain c = rbf_network(centers: regions(15), overlap: real 0..1, basis = gaussian)\n"
    spec = spec_of(text + "minimize mse by gcv()", dataset)
    models = random_models(space_to_codec(spec.space), 100 if quick else 500)
    judge, other = Evaluator(dataset, spec.objectives), Evaluator(dataset, spec.objectives)
    alone, one_by_one = timed(lambda: [judge.evaluate(model) for model in models])
    at_once, together = timed(lambda: other.evaluate_many([EvaluationRequest(model) for model in models]))
    differing = sum(
        replace(a, effort=Effort()) != replace(b, effort=Effort()) for a, b in zip(one_by_one, together, strict=True)
    )
    yield f"{len(models)} networks by GCV, together against one by one", alone / at_once, None, "times as fast"
    yield "  outcomes that differ", float(differing), 0.0, "outcomes"


# --- paths: one fit for all values ----------------------------------------------------------------------------


def judge_paths(quick: bool) -> Iterator[Row]:
    """Models of boosting and of nearest neighbours, each value of a path with fits of its own and all with one."""
    rows, rounds = (300, 60) if quick else (700, 200)
    dataset = ground_of(*make_classification(rows, 20, n_informative=8, flip_y=0.1, random_state=0))
    # Without a cache an evaluation costs what it costs alone; with it, `knn` shares its distances without a path too.
    cases = (
        ("hist_gradient_boosting", "max_iter", rounds, "sklearn", 0),
        ("gradient_boosting", "n_estimators", rounds, "sklearn", 0),
        ("random_forest", "n_estimators", rounds, "sklearn", 0),
        ("logitboost", "units", rounds, "clop", 0),
        ("k_neighbors", "n_neighbors", 50, "sklearn", 0),
        ("knn", "k", 50, "sbm", 0),
        ("knn", "k", 50, "sbm", DEFAULT_CACHE_BYTES),
    )
    for name, parameter, most, catalogue, cache in cases:
        low = 1 if most == 50 else 20
        text = f"use {catalogue}\nchain m = {name}({parameter}: int {low}..{most}, rest = default)\n"
        spec = spec_of(text + "minimize ber by cv(folds = 3)", dataset)
        models = list(enumerate_models(space_to_codec(spec.space)))
        requests = tuple(EvaluationRequest(model) for model in models)
        one, other = (Evaluator(dataset, spec.objectives, cache_bytes=bytes_) for bytes_ in (cache, cache or 1))
        few = requests if cache else requests[:: max(1, len(requests) // 12)]
        alone, one_by_one = timed(lambda few=few, judge=one: judge.evaluate_many(few))
        at_once, together = timed(
            lambda requests=requests, judge=other, name=parameter: judge.evaluate_path(PathRequest(requests, name))
        )
        by_model = dict(zip(models, together, strict=True))
        differing = sum(
            (outcome.losses, outcome.metrics, outcome.complexity)
            != (by_model[request.model].losses, by_model[request.model].metrics, by_model[request.model].complexity)
            for request, outcome in zip(few, one_by_one, strict=True)
        )
        how = "with the cache" if cache else "without a cache"
        gain = (alone / len(few)) / (at_once / len(models))
        yield (
            f"{len(models)} values of {name}, one fit a fold, {how}",
            gain,
            None if name == "knn" else 5.0,
            "times as many",
        )
        yield "  outcomes that differ", float(differing), 0.0, "outcomes"


SECTIONS: Sections = {
    "agreement": agreement,
    "overhead": weigh_overhead,
    "best_first": best_first,
    "boosting": weigh_boosting,
    "gcv": generalised,
    "paths": judge_paths,
    "swarm": race_swarms,
    "racing": race_folds,
}


def measure(quick: bool) -> list[Row]:
    """Every figure with its name, target and unit."""
    return measured(SECTIONS, SECTIONS, quick)


if __name__ == "__main__":
    show(SECTIONS, sys.argv[1:])
