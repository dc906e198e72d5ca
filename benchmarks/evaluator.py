"""How fast models are judged: against scikit-learn's cross_val_score, with and without racing, and what it costs beside
fitting and predicting. Ratios in one run; times alone say little on another machine.

    python benchmarks/evaluator.py [swarm] [racing] [overhead] [loo] [gcv]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter, process_time
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import cross_val_score

from msl.blocks.build import step_to_estimator
from msl.blocks.construct import model_to_chain
from msl.check.spec import check_source
from msl.encode.codec import Codec, space_to_codec
from msl.evaluate.evaluator import Evaluator, Request
from msl.evaluate.ground import Ground
from msl.evaluate.outcome import Effort, Outcome
from msl.space.facts import Facts
from msl.space.spec import Spec
from msl.space.value import Model
from msl.text.source import Source

T = TypeVar("T")

CANDIDATES = 300
PSMS = """msl 1
use clop
part preprocess = subset(normalize, standardize, shift_scale)
part select = ftest | ttest | aucfs | odds_ratio | relief | rffs | svcrfe | pearson | zfilter | gs | s2n | pc_extract
part learn = zarbi | naive | klogistic | gkridge | logitboost | neural | svc | kridge | rf | lssvm
chain full_model = permute(preprocess, select?) >> learn >> bias
minimize ber by cv(folds = {})
"""


def table() -> Ground:
    """700 rows of 20 features, 8 of them informative, a tenth of the labels wrong."""
    X, y = make_classification(700, 20, n_informative=8, flip_y=0.1, random_state=0)
    return Ground.of_arrays(np.ascontiguousarray(X), y.astype(np.intp), 2)


def spec_of(text: str, ground: Ground) -> Spec:
    rows, columns = ground.X.shape
    facts = Facts(rows, columns, ground.n_classes, "classification" if ground.n_classes else "regression")
    checked = check_source(Source("spec.msl", text, "spec.msl"), facts=facts)
    assert checked.spec is not None, [found.message for found in checked.diagnostics]
    return checked.spec


def swarm(
    codec: Codec, judge: Callable[[Model, float | None], Outcome], candidates: int, seed: int = 0
) -> Iterator[tuple[Model, float | None, Outcome]]:
    """Algorithm 1 of Escalante, Montes and Sucar (2009): 5 particles, inertia from 1.2 to 0.4 over the first half."""
    rng, particles = np.random.default_rng(seed), 5
    rounds = candidates // particles
    x = rng.random((particles, codec.dimensions))
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
            beat = float(np.nextafter(best, np.inf)) if np.isfinite(best) else None
            outcome = judge(model, beat)
            yield model, beat, outcome
            if not outcome.bound and outcome.losses[0] < best:
                own[particle], losses[particle] = x[particle], outcome.losses[0]


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Seconds of processor time, since others may be at work on the same machine, and what the work came to."""
    start = process_time()
    done = work()
    return process_time() - start, done


def seconds(work: Callable[[], object]) -> float:
    return timed(work)[0]


def learners(models: list[Model]) -> str:
    names = [step.block.name for model in models for step in model.steps if step.block.role == "learner"]
    found, counts = np.unique(names, return_counts=True)
    return ", ".join(f"{name} {count}" for name, count in sorted(zip(found, counts, strict=True), key=lambda x: -x[1]))


def race_swarms() -> None:
    """300 candidates of a swarm, against cross_val_score on the same chains and folds."""
    ground = table()
    spec = spec_of(PSMS.format(2), ground)
    codec = space_to_codec(spec.space)
    ours = theirs = 0.0
    for seed in range(3):
        judge = Evaluator(ground, spec.objectives)
        visited = list(swarm(codec, lambda model, beat, judge=judge: judge.evaluate(model), CANDIDATES, seed))
        models = [model for model, _, _ in visited]
        again = Evaluator(ground, spec.objectives)
        own, outcomes = timed(lambda judge=again, models=models: [judge.evaluate(model) for model in models])
        usual, losses = usual_way(models, ground, again)
        same = np.allclose(losses, [outcome.losses[0] for outcome in outcomes], atol=1e-12)
        efforts = [outcome.effort for outcome in outcomes]
        figures = again.cache_figures
        fits, saved = sum(e.fits for e in efforts), sum(e.fits_saved for e in efforts)
        print(
            f"swarm {seed}: cross_val_score {usual:.1f} s, evaluator {own:.1f} s: {usual / own:.1f} times less; "
            f"same losses: {same}; {sum(e.remembered for e in efforts)} of {len(models)} remembered; fits {fits}, "
            f"saved {saved}; cache {figures.most_bytes / 1e6:.0f} MB at most, {figures.hits} hits, "
            f"{figures.seconds_saved:.1f} s saved"
        )
        print(f"         {learners(models)}")
        ours, theirs = ours + own, theirs + usual
    print(f"together: {theirs / ours:.1f} times less")


def usual_way(models: list[Model], ground: Ground, judge: Evaluator) -> tuple[float, list[float]]:
    """Processor time of cross_val_score on each model, and the pooled error rates of its predictions."""
    trial = judge._losses._trials.trial(judge._losses._trials.estimates[0], 0, 1.0, 0)
    folds = [(split.train, split.test) for split in trial.splits]
    rows = np.concatenate([test for _, test in folds])
    total, losses = 0.0, []
    for model in models:
        predicted: list[NDArray[np.intp]] = []

        def score(chain, X, y, predicted=predicted):
            predicted.append(chain.predict(X))
            return balanced_accuracy_score(y, predicted[-1])

        chain = model_to_chain(model, "classification")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            total += seconds(
                lambda chain=chain, score=score: cross_val_score(chain, ground.X, ground.y, cv=folds, scoring=score)
            )
        losses.append(1 - balanced_accuracy_score(ground.y[rows], np.concatenate(predicted)))
    return total, losses


def race_folds() -> None:
    """The same swarm with ten folds: every loss, and races that end when they are lost."""
    ground = table()
    spec = spec_of(PSMS.format(10), ground)
    codec = space_to_codec(spec.space)
    for seed in range(2):
        paths = []
        times = []
        for raced in (False, True):
            judge = Evaluator(ground, spec.objectives)

            def outcome(model: Model, beat: float | None, judge=judge, raced=raced) -> Outcome:
                return judge.evaluate(model, beat if raced else None)

            spent, visited = timed(lambda outcome=outcome, seed=seed: list(swarm(codec, outcome, CANDIDATES, seed)))
            times.append(spent)
            paths.append(visited)
        full, quick = paths
        same = all(
            a[0] == b[0] and (b[2].bound or a[2].losses == b[2].losses) for a, b in zip(full, quick, strict=True)
        )
        skipped = sum(one.effort.folds_skipped for _, _, one in quick)
        lost = sum(one.bound for _, _, one in quick)
        print(
            f"ten folds, swarm {seed}: every loss {times[0]:.1f} s, raced {times[1]:.1f} s: "
            f"{times[0] / times[1]:.1f} times less; same path: {same}; {lost} of {len(quick)} races lost, "
            f"{skipped} of {10 * len(quick)} folds skipped"
        )


def weigh_overhead() -> None:
    """Evaluations of cheap models without any cache, against the same fits and predictions by hand; the least of many
    runs of each, since whatever else runs on the machine only ever adds to it."""
    ground = table()
    spec = spec_of(PSMS.format(2), ground)
    codec = space_to_codec(spec.space)
    found = codec.decode(np.random.default_rng(0).random((6000, codec.dimensions))).models()
    cheap = {"normalize", "standardize", "shift_scale", "ttest", "pearson", "zfilter", "s2n", "zarbi", "naive", "bias"}
    models = [model for model in found if isinstance(model, Model) and {s.block.name for s in model.steps} <= cheap][
        :20
    ]
    judge = Evaluator(ground, spec.objectives, cache_bytes=0)
    splits = judge._losses._trials.trial(judge._losses._trials.estimates[0], 0, 1.0, 0).splits

    def by_hand(model: Model) -> float:
        total = 0.0
        for split in splits:
            steps = [step_to_estimator(step, "classification", f"0/{at}") for at, step in enumerate(model.steps)]
            X, X_test, y = ground.X[split.train], ground.X[split.test], ground.y[split.train]
            start = perf_counter()
            for step, block in zip(model.steps, steps, strict=True):
                block.fit_arrays(X, y, 2)
                does = block.outputs if step.block.role == "learner" else block.transform_arrays
                X, X_test = does(X), does(X_test)
            total += perf_counter() - start
        return total

    def evaluated(model: Model) -> float:
        start = perf_counter()
        judge.evaluate(model)
        return perf_counter() - start

    fits = np.mean([min(by_hand(model) for _ in range(60)) for model in models])
    whole = np.mean([min(evaluated(model) for _ in range(60)) for model in models])
    print(
        f"overhead: {1e3 * (whole - fits):.2f} ms an evaluation beside fitting and predicting ({1e3 * fits:.2f} ms), "
        f"with two folds and {np.mean([len(model.steps) for model in models]):.1f} blocks"
    )


def leave_one_out() -> None:
    """A search of feature weights with one neighbour on 351 × 34, as best-first search makes it."""
    rng = np.random.default_rng(0)
    X, y = make_classification(351, 34, n_informative=10, random_state=0)
    ground = Ground.of_arrays(np.ascontiguousarray(X), y.astype(np.intp), 2)
    text = "use sbm\nchain c = sbm(weights: vector(n_features) of real 0..1 step 0.1, k = 1, rest = default)\n"
    spec = spec_of(text + "minimize error by loo()", ground)
    codec = space_to_codec(spec.space)
    best = np.ones(codec.dimensions)
    vectors = []
    for feature in range(codec.dimensions):
        for value in rng.permutation(np.linspace(0, 1, 11)):
            best[feature] = value
            vectors.append(best.copy())
    models = codec.decode(np.array(vectors)).models()
    times = []
    for cap in (0, 256_000_000):
        judge = Evaluator(ground, spec.objectives, cache_bytes=cap)
        times.append(seconds(lambda judge=judge: [judge.evaluate(model) for model in models]))
    print(
        f"leave-one-out: {len(models)} settings of weights {times[1]:.2f} s, "
        f"{1e3 * times[1] / len(models):.2f} ms each; without what siblings share {times[0]:.2f} s"
    )


def generalised() -> None:
    """500 networks on 40 points by generalised cross-validation, one by one and together."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-4, 4, (40, 1))
    y = 1.1 * (1 - X[:, 0] + 2 * X[:, 0] ** 2) * np.exp(-(X[:, 0] ** 2) / 2) + 0.1 * rng.normal(size=40)
    ground = Ground.of_arrays(X, y, 0)
    text = "use rbf\nchain c = rbf_network(centers: regions(15), overlap: real 0..1, basis = gaussian)\n"
    spec = spec_of(text + "minimize mse by gcv()", ground)
    codec = space_to_codec(spec.space)
    models = codec.decode(rng.random((500, codec.dimensions))).models()
    judge = Evaluator(ground, spec.objectives)
    alone, one_by_one = timed(lambda: [judge.evaluate(model) for model in models])
    other = Evaluator(ground, spec.objectives)
    at_once, together = timed(lambda: other.evaluate_many([Request(model) for model in models]))
    same = all(
        replace(a, effort=Effort()) == replace(b, effort=Effort()) for a, b in zip(one_by_one, together, strict=True)
    )
    print(f"gcv: 500 networks one by one {1e3 * alone:.0f} ms, together {1e3 * at_once:.0f} ms; same outcomes: {same}")


SECTIONS = {
    "overhead": weigh_overhead,
    "loo": leave_one_out,
    "gcv": generalised,
    "swarm": race_swarms,
    "racing": race_folds,
}

if __name__ == "__main__":
    for section in sys.argv[1:] or SECTIONS:
        SECTIONS[section]()
