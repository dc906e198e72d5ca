"""Metrics of the model fitted on all rows, and requirements on metrics: what they measure, and what they decide."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from evaluation_cases import spec_of, two_moons
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import StandardScaler

from msl.blocks.base.build import model_to_chain
from msl.encode.codec import space_to_codec
from msl.encode.sample import enumerate_models
from msl.evaluate.evaluator import Evaluator
from msl.evaluate.final_fits import pickled_size
from msl.space.spec import MetricLimit, Spec
from msl.space.values import Model

FOREST = "random_forest(n_estimators: {0}, rest = default)"
SPACE = f"use sklearn\nchain m = standard_scaler(rest = default) >> ({FOREST} | gaussian_nb(rest = default))\n"
SMALL = SPACE.format("10 | 200")


def evaluator_of(spec: Spec, **options: Any) -> Evaluator:
    return Evaluator(two_moons(), spec.objectives, spec.seed, limits=spec.limits, **options)


def both(spec: Spec) -> list[Model]:
    """Every model of a space of forests and naive Bayes."""
    return list(enumerate_models(space_to_codec(spec.space)))


def test_model_bytes_are_those_of_the_pickle_of_the_model_fitted_on_all_rows() -> None:
    spec = spec_of(SMALL + "minimize model_bytes by cv(folds = 3)\n", two_moons())
    dataset = two_moons()
    for model in both(spec):
        found = evaluator_of(spec).evaluate(model)
        chain = model_to_chain(model, "classification", spec.seed, (), dataset.columns)
        chain.fit_arrays(np.array(dataset.X), np.array(dataset.y), dataset.n_classes)
        assert found.losses == (found.metrics["model_bytes"],)
        assert found.losses[0] == pytest.approx(len(pickle.dumps(chain, protocol=5)), rel=0.03, abs=100)


def test_the_bytes_do_not_depend_on_which_texts_are_one_object() -> None:
    word = "".join(["standard", "_", "scaler"])
    other = "".join(["standard", "_scaler"])
    assert word is not other
    assert pickled_size([word, word]) == pickled_size([word, other])
    assert len(pickle.dumps([word, word])) != len(pickle.dumps([word, other]))


_IN_A_PROCESS = """
import sys
sys.path.insert(0, {path!r})
from test_whole_model import SMALL, both, evaluator_of, spec_of, two_moons
spec = spec_of(SMALL + "minimize model_bytes by cv(folds = 3)\\n", two_moons())
print([evaluator_of(spec).evaluate(model).losses[0] for model in both(spec)])
"""


def test_the_bytes_are_the_same_in_every_process() -> None:
    spec = spec_of(SMALL + "minimize model_bytes by cv(folds = 3)\n", two_moons())
    shared = evaluator_of(spec)  # with what other evaluations have left in its caches
    here = [shared.evaluate(model).losses[0] for model in reversed(both(spec))][::-1]
    for seed in ("1", "2"):
        text = _IN_A_PROCESS.format(path=str(__file__).rpartition("/")[0])
        run = [sys.executable, "-c", text]
        there = subprocess.run(run, capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed})
        assert there.stdout.strip() == str(here)


def test_the_time_of_predictions_grows_with_the_trees_and_with_the_rows() -> None:
    goal = "minimize predict_time, predict_time(batch = 20_000) by cv(folds = 3)\n"
    spec = spec_of(SPACE.format("10 | 300") + goal, two_moons())
    times = {str(model): evaluator_of(spec).evaluate(model).losses for model in both(spec)}
    few, many = (next(t for m, t in times.items() if f"'n_estimators', {n})" in m) for n in (10, 300))
    assert many[0] > 5 * few[0]
    assert many[1] > 3 * many[0]


def test_a_model_that_breaks_a_requirement_fails_and_says_by_how_much() -> None:
    text = SMALL + "require model_bytes < 100KB\nminimize logloss by cv(folds = 3)\n"
    spec = spec_of(text, two_moons())
    outcomes = {str(model): evaluator_of(spec).evaluate(model) for model in both(spec)}
    forest = next(o for m, o in outcomes.items() if "200" in m)
    assert forest.failure is not None
    assert forest.failure.cause == "requirement"
    assert "not `require model_bytes < 100KB`" in forest.failure.message
    assert forest.losses == (math.inf,)
    assert forest.metrics["model_bytes"] >= 100_000
    assert forest.effort.fits == 1  # it is not cross-validated
    others = [o for o in outcomes.values() if o is not forest]
    assert all(o.failure is None and o.metrics["model_bytes"] < 100_000 for o in others)


def test_a_requirement_on_an_ordinary_metric_is_about_the_estimate() -> None:
    text = SMALL + "require accuracy > {0}\nminimize logloss by cv(folds = 3)\n"
    plain = spec_of(SMALL + "minimize accuracy * -1 by cv(folds = 3)\n", two_moons())
    model = both(plain)[0]
    accuracy = -evaluator_of(plain).evaluate(model).losses[0]
    for bound, is_met in ((accuracy - 1e-9, True), (accuracy, False)):
        spec = spec_of(text.format(f"{bound:.17g}"), two_moons())
        found = evaluator_of(spec).evaluate(model)
        assert (found.failure is None) == is_met
        assert found.metrics["accuracy"] == pytest.approx(accuracy)


def test_what_is_met_changes_no_loss() -> None:
    plain = spec_of(SMALL + "minimize logloss by cv(folds = 3)\n", two_moons())
    limited = spec_of(
        SMALL + "require model_bytes < 1GB and fit_time < 1h and recall >= 1%\nminimize logloss by cv(folds = 3)\n",
        two_moons(),
    )
    for model in both(plain):
        assert evaluator_of(plain).evaluate(model).losses == evaluator_of(limited).evaluate(model).losses


@pytest.mark.parametrize(
    ("operation", "holds"), [("<", (1, 0, 0)), ("<=", (1, 1, 0)), (">", (0, 0, 1)), (">=", (0, 1, 1))]
)
def test_the_comparisons(operation: str, holds: tuple[int, ...]) -> None:
    metric = spec_of(SMALL + "minimize logloss\n", two_moons()).metrics[0]
    limit = MetricLimit("", metric, operation, 2.0)
    assert tuple(int(limit.holds(value)) for value in (1.0, 2.0, 3.0)) == holds
    assert not limit.holds(math.nan)


def test_the_size_follows_what_a_model_keeps() -> None:
    """Against a forest of scikit-learn by itself: ten times the trees, about ten times the bytes."""
    dataset = two_moons()
    X = StandardScaler().fit_transform(dataset.X)
    sizes = [pickled_size(RandomForestClassifier(n, random_state=0).fit(X, dataset.y)) for n in (10, 100)]
    assert 8 < sizes[1] / sizes[0] < 11
