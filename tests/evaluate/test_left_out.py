"""Leave-one-out without refits: the same numbers as a fit for each row, in any order, through the evaluator itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from evaluation_cases import bundled, evaluator, models_of, numbers, only_model, two_moons

from msl.blocks.similarity.leave_one_out import LeaveOneOut
from msl.evaluate.dataset import Dataset
from msl.evaluate.evaluator import Evaluator
from msl.evaluate.outcome import Effort, Outcome
from msl.evaluate.splits import SplitGroups
from msl.space.values import BlockValue, Model

SBM = """use sbm
chain c = sbm(distance: euclidean | manhattan | chebyshev | canberra | minkowski, k: int 1..6,
  weighting: uniform | inverse | gaussian | triangular, references = all_rows, rest = default)
"""
FEATURES = SBM.replace("rest = default", "rest = default").replace(
    "references", "features: vector(n_features) of bool, weights: vector(n_features) of real 0..1 step 0.1, references"
)


@pytest.fixture
def fitted_row_by_row(monkeypatch):
    """Takes the short cut away, so that each row is judged by a fit on all others."""

    def without(goal: str, dataset: Dataset) -> Evaluator:
        judge = evaluator(goal, dataset)
        monkeypatch.setattr(judge._losses._cross_validator._loo, "outputs", lambda *given: None)
        return judge

    return without


@pytest.mark.slow
@pytest.mark.parametrize("dataset", [two_moons(40, 4), numbers(35, 4)], ids=["classes", "numbers"])
def test_as_with_a_fit_for_each_row(dataset, fitted_row_by_row):
    goal = "minimize {}, features, complexity by loo()".format("logloss" if dataset.n_classes else "mse")
    quick, plain = evaluator(goal, dataset), fitted_row_by_row(goal, dataset)
    models = models_of(FEATURES, dataset, 10, seed=2) + models_of("use sbm\nchain c = knn", dataset, 6, seed=3)
    for model in models:
        fast, slow = quick.evaluate(model), plain.evaluate(model)
        assert fast.failure is None
        assert fast.losses == pytest.approx(slow.losses, rel=1e-9, abs=1e-12)
        assert fast.losses[1:] == slow.losses[1:]
        assert fast.effort.fits == 0
        assert slow.effort.fits == len(dataset.y)


@pytest.mark.slow
def test_steps_that_treat_each_row_by_itself_do_not_stand_in_the_way(fitted_row_by_row):
    dataset = bundled("iris")
    goal = "minimize error, complexity by loo()"
    quick, plain = evaluator(goal, dataset), fitted_row_by_row(goal, dataset)
    use = "use sbm, clop, sklearn\nchain c = "
    for chain, is_quick in (
        ("keep(features = [true, false, true, true]) >> knn(rest = default)", True),
        ("normalize(rest = default) >> knn(rest = default)", True),
        ("unit_rows(rest = default) >> knn(rest = default)", True),
        ("(unit_rows(rest = default) & passthrough) >> knn(rest = default)", True),
        ("standardize(rest = default) >> knn(rest = default)", False),
        ("gaussian_nb(rest = default)", False),
    ):
        model = only_model(use + chain, dataset)
        outcome = quick.evaluate(model)
        assert (outcome.effort.fits < len(dataset.y)) == is_quick, chain
        assert outcome.losses == plain.evaluate(model).losses


def test_what_can_not_be_left_out_quickly_is_fitted():
    dataset = two_moons(30, 3)
    judge = evaluator("minimize error by loo()", dataset)
    for chain in ("sbm(references = kmeans, n_references = 4, rest = default)", "knn(rest = default) >> bias"):
        outcome = judge.evaluate(only_model(f"use sbm, clop\nchain c = {chain}", dataset))
        assert outcome.failure is None
        assert outcome.effort.fits >= 30


def test_groups_are_left_out_whole():
    plain = two_moons(40, 4)
    groups = np.arange(40) // 4
    dataset = Dataset(plain.X, plain.y, 2, SplitGroups(40, plain.y, groups), plain.columns)
    model = only_model("use sbm\nchain c = knn(rest = default)", dataset)
    outcome = evaluator("minimize error by loo()", dataset).evaluate(model)
    assert outcome.effort.fits == 10
    assert outcome.failure is None


def test_a_part_of_the_rows_is_left_out_one_by_one():
    dataset = two_moons(60, 4)
    model = only_model("use sbm\nchain c = sbm(k = 3, rest = default)", dataset)
    goal = "minimize error by loo(subsample = 1/2)"
    first, again = evaluator(goal, dataset), evaluator(goal, dataset, cache_bytes=0)
    assert first.evaluate(model).losses == again.evaluate(model).losses
    assert first.evaluate(model, repeat=1).effort.fits_saved == pytest.approx(30, abs=2)


def with_weights(model: Model, weights: tuple[float, ...]) -> Model:
    (step,) = model.steps
    params = tuple((name, weights if name == "weights" else value) for name, value in step.params)
    return Model((BlockValue(step.block, params),))


def search(judge: Evaluator, model: Model, n_features: int) -> list[tuple[Model, Outcome]]:
    """A search of the weights as best-first makes it: one at a time up and down, the best kept."""
    trail = []
    best = (1.0,) * n_features
    best_loss = np.inf
    for feature in [*range(n_features), *reversed(range(n_features))]:
        for value in (0.0, 0.1, 0.5, 0.9, 1.0):
            weights = (*best[:feature], value, *best[feature + 1 :])
            outcome = judge.evaluate(with_weights(model, weights))
            trail.append((with_weights(model, weights), outcome))
            if outcome.losses[0] < best_loss:
                best, best_loss = weights, outcome.losses[0]
    return trail


@pytest.mark.slow
@pytest.mark.parametrize("weighting", ["uniform", "inverse", "gaussian(width = 1)"])
@pytest.mark.parametrize("distance", ["euclidean", "canberra"])
def test_a_search_of_weights_gives_the_same_bits_in_any_order(weighting, distance):
    dataset = two_moons(50, 4)
    text = f"use sbm\nchain c = sbm(k = 3, distance = {distance}, weighting = {weighting}, rest = default)"
    model = only_model(text, dataset)
    goal = "minimize logloss by loo()"
    trail = search(evaluator(goal, dataset), model, 4)
    backwards = evaluator(goal, dataset)
    without_caches = evaluator(goal, dataset, cache_bytes=0)
    for visited, outcome in reversed(trail):
        for judge in (backwards, without_caches):
            again = judge.evaluate(visited)
            assert replace(again, effort=Effort()) == replace(outcome, effort=Effort())


def test_a_search_of_weights_keeps_one_table_of_distances(monkeypatch):
    made = []
    original = LeaveOneOut._new_terms

    def counted(self, setting):
        made.append(setting.distance)
        return original(self, setting)

    monkeypatch.setattr(LeaveOneOut, "_new_terms", counted)
    dataset = two_moons(50, 4)
    judge = evaluator("minimize error by loo()", dataset)
    model = only_model("use sbm\nchain c = sbm(k = 1, rest = default)", dataset)
    trail = search(judge, model, 4)
    assert len(made) == 1
    assert len(trail) == 40
