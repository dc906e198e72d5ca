"""Generalised cross-validation: by its definition, alone and many at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from evaluation_cases import evaluator, models_of, numbers, only_model, two_moons
from sklearn.base import clone

from msl.blocks.base.build import model_to_chain
from msl.evaluate.cross_validate import EvaluationRequest
from msl.evaluate.outcome import Effort

NETWORKS = "use rbf\nchain c = rbf_network(centers: regions(6), overlap: real 0.1..1, basis: any basis)"
RIDGES = "use rbf\nchain c = ridge_network(centers: regions(5), overlap: real 0.1..1, ridge: 1e-3..1)"


def by_definition(model, dataset) -> float:
    """p · SSE / (p - tr A)², the columns of A from fits on unit vectors."""
    chain = model_to_chain(model, "regression")
    rows = len(dataset.y)
    missed = dataset.y - chain.fit(dataset.X, dataset.y).predict(dataset.X)
    trace = sum(chain.fit(dataset.X, unit).predict(dataset.X)[row] for row, unit in enumerate(np.eye(rows)))
    return rows * (missed**2).sum() / (rows - trace) ** 2


@pytest.mark.slow
@pytest.mark.parametrize("space", [NETWORKS, RIDGES], ids=["plain", "ridge"])
def test_networks_by_definition_and_together_to_the_last_bit(space):
    dataset = numbers(40, 2)
    goal = "minimize mse by gcv()"
    models = models_of(space, dataset, 40, seed=1)
    one_by_one = [evaluator(goal, dataset).evaluate(model) for model in models]
    for model, outcome in list(zip(models, one_by_one, strict=True))[:6]:
        # A network centres its targets: the mean is one of its parameters, whatever the ridge.
        assert outcome.failure is None
        if space is NETWORKS:
            assert outcome.losses[0] == pytest.approx(by_definition(model, dataset), rel=1e-6)
        fitted = model_to_chain(model, "regression").fit(dataset.X, dataset.y)
        assert outcome.complexity == fitted.learner.complexity()
    judge = evaluator(goal, dataset)
    for size in (40, 7):
        together = judge.evaluate_many([EvaluationRequest(model) for model in models[:size]])
        for alone, one in zip(one_by_one, together, strict=False):
            assert replace(one, effort=Effort()) == replace(alone, effort=Effort())


def test_scikit_learns_linear_learners():
    dataset = numbers(30, 3)
    for chain in (
        "ridge(alpha = 2.0, rest = default)",
        "linear_regression(rest = default)",
        "standard_scaler(rest = default) >> kernel_ridge(rest = default)",
    ):
        model = only_model(f"use sklearn\nchain c = {chain}", dataset)
        mse, rmse = evaluator("minimize mse, rmse by gcv()", dataset).evaluate(model).losses
        assert rmse == pytest.approx(mse**0.5)
        if "standard_scaler" not in chain:
            assert mse == pytest.approx(by_definition(model, dataset), rel=1e-9)


def test_what_is_not_linear_is_told():
    dataset = numbers(30, 3)
    model = only_model("use sklearn\nchain c = decision_tree(rest = default)", dataset)
    outcome = evaluator("minimize mse by gcv()", dataset).evaluate(model)
    assert outcome.failure is not None
    assert "linear in its targets" in outcome.failure.message
    together = evaluator("minimize mse by gcv()", dataset).evaluate_many(
        [EvaluationRequest(model), EvaluationRequest(model)]
    )
    assert all(one.failure is not None for one in together)


def test_beside_a_holdout_only_its_training_rows_are_looked_at():
    dataset = numbers(60, 2)
    judge = evaluator("minimize mse by holdout(0.5), mse by gcv()", dataset)
    held, generalised = (
        judge._losses._resamplings.resampling(estimate, 0, 1.0, 0) for estimate in judge._losses._resamplings.estimates
    )
    assert np.array_equal(generalised.splits[0].train, held.splits[0].train)
    model = models_of(NETWORKS, dataset, 1)[0]
    outcome = judge.evaluate(model)
    assert set(outcome.metrics) == {"mse", "mse by gcv"}
    fresh = evaluator("minimize mse by holdout(0.5, shuffle = true), mse by gcv()", dataset)
    assert fresh.evaluate(model, repeat=0).losses != fresh.evaluate(model, repeat=1).losses
    alone = evaluator("minimize mse by gcv()", dataset)
    assert (
        len(alone._losses._resamplings.resampling(alone._losses._resamplings.estimates[0], 0, 1.0, 0).splits[0].train)
        == 60
    )


def test_posts_and_classes_are_left_to_other_estimates():
    dataset = two_moons(30, 2)
    with pytest.raises(AssertionError, match="gcv"):
        evaluator("minimize error by gcv()", dataset)


SHARED = [
    NETWORKS,
    RIDGES,
    "use sklearn\nchain c = standard_scaler >> pca(n_components = 0.9, rest = default) >> ridge(alpha: 0.1..10)",
]


@pytest.mark.parametrize("space", SHARED, ids=["networks", "ridge networks", "after other steps"])
@pytest.mark.parametrize("goal", ["mse by holdout(0.5), mse by gcv()", "mse by gcv(), mse by holdout(0.5)"])
@pytest.mark.parametrize("cache_bytes", [0, 1 << 26])
def test_beside_a_holdout_both_come_from_one_fit(space, goal, cache_bytes):
    """The GCV is that of a table of the training half alone; each step of the model is fitted once."""
    dataset = numbers(60, 3)
    judge = evaluator(f"minimize {goal}", dataset, cache_bytes=cache_bytes)
    resamplings = judge._losses._resamplings
    (held,) = (each for each in resamplings.estimates if each.name == "holdout")
    split = resamplings.resampling(held, 0, 1.0, 0).splits[0]
    for model in models_of(space, dataset, 8, seed=2):
        outcome = judge.evaluate(model)
        assert outcome.failure is None
        steps = len(model.steps)
        assert (outcome.effort.fits, outcome.effort.fits_saved) in {(steps, 0), (1, steps - 1)}
        losses = dict(zip(goal.split(", "), outcome.losses, strict=True))
        y = dataset.y[split.train]
        A, centred = hat_matrix(model, dataset, split.train), y - y.mean()
        missed, freedom = centred - A @ centred, len(y) - np.trace(A)
        assert losses["mse by gcv()"] == pytest.approx(len(y) * missed @ missed / freedom**2, rel=1e-5)


def hat_matrix(model, dataset, rows):
    """What turns centred targets into outputs: Z (Z'Z + ridge I)⁻¹ Z' of a network's responses Z, whose centres are
    places in the whole table; of another learner its outputs for unit vectors."""
    chain = model_to_chain(model, "regression")
    X = dataset.X[rows]
    if not hasattr(chain.learner, "centers"):
        chain.fit(X, dataset.y[rows])
        inputs = X
        for step in chain.steps:
            inputs = step.transform(inputs)
        return clone(chain.learner).fit(inputs, np.eye(len(X))).predict(inputs)
    network = chain.learner
    layout = network.prepare_with(network.fit_coordinates(dataset.X), X, dataset.y[rows], 0)
    network.fit_prepared(layout, X, dataset.y[rows], 0)
    squares = np.square(layout.rows[:, None] - network.centers_).sum(axis=2)
    Z = np.c_[np.ones(len(X)), network.basis.values(squares, network.widths_)]
    return Z @ np.linalg.pinv(np.vstack([Z, np.sqrt(network.ridge) * np.eye(Z.shape[1])]))[:, : len(X)]


def test_what_cannot_share_a_fit_is_told_beside_a_holdout_too():
    dataset = numbers(30, 3)
    model = only_model("use sklearn\nchain c = decision_tree(rest = default)", dataset)
    outcome = evaluator("minimize mse by holdout(0.5), mse by gcv()", dataset).evaluate(model)
    assert outcome.failure is not None
    assert "linear in its targets" in outcome.failure.message
