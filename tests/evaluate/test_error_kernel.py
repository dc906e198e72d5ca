"""The kernel of the total cost against its formula, and its effect on scores and races."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris

from msl.blocks.base.build import ColumnKinds
from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.evaluate.dataset import Dataset
from msl.evaluate.resampling import ResamplingPlan, row_weights
from msl.space.spec import Objective, metrics_of


def objective(text: str, task: str = "") -> Objective:
    found = check_source(Source("spec", f"{task}use sbm\nchain m = knn\nminimize {text}\n"))
    assert found.spec is not None, found.diagnostics
    return found.spec.objectives[0]


def iris() -> Dataset:
    X, y = load_iris(return_X_y=True)
    return Dataset.of_arrays(X, y, 3)


def expected_weights(dataset: Dataset, width: float) -> np.ndarray:
    points = (dataset.X - dataset.X.mean(axis=0)) / dataset.X.std(axis=0)
    gaps = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    gaps = np.where(dataset.y[:, None] == dataset.y, np.inf, gaps).min(axis=1)
    kernel = np.maximum(np.exp(-((gaps / (width * np.median(gaps))) ** 2)), 1e-6)
    return np.asarray(kernel / kernel.mean())


@pytest.mark.parametrize("width", [0.5, 2.0])
@pytest.mark.parametrize("estimate", ["loo", "cv", "holdout", "bootstrap632"])
def test_errors_count_less_the_farther_a_row_is_from_the_other_classes(estimate: str, width: float) -> None:
    dataset = iris()
    goal = objective(f"error by {estimate}(kernel = border(width = {width}))")
    weights = expected_weights(dataset, width)
    found = row_weights(goal.estimate, dataset)
    assert found is not None
    np.testing.assert_allclose(found, weights, rtol=1e-6)
    resampling = ResamplingPlan(dataset, [goal.estimate], 0).resampling(goal.estimate, 0, 1.0, 0)
    plain = ResamplingPlan(dataset, [objective(f"error by {estimate}()").estimate], 0)
    unweighed = plain.resampling(plain.estimates[0], 0, 1.0, 0)
    for pool, other in zip(resampling.pools, unweighed.pools, strict=True):
        assert pool.weights is not None
        once = 1.0 if other.weights is None else other.weights
        np.testing.assert_allclose(pool.weights, weights[pool.rows] * once, rtol=1e-6)


def test_the_score_is_the_weighted_share_of_errors() -> None:
    dataset = iris()
    goal = objective("error by loo(kernel = border)")
    resampling = ResamplingPlan(dataset, [goal.estimate], 0).resampling(goal.estimate, 0, 1.0, 0)
    rng = np.random.default_rng(0)
    outputs = rng.random((150, 3))
    wrong = outputs.argmax(axis=1) != dataset.y[resampling.pools[0].rows]
    weights = expected_weights(dataset, 1.0)[resampling.pools[0].rows]
    (metric,) = metrics_of(goal.loss)
    assert resampling.score(metric, [outputs]) == pytest.approx((wrong * weights).sum() / weights.sum())


def test_a_constant_kernel_leaves_rows_without_weights() -> None:
    dataset = iris()
    for text in ("error by loo()", "error by loo(kernel = constant)"):
        assert row_weights(objective(text).estimate, dataset) is None


def test_symbols_and_gaps_have_a_place() -> None:
    X = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 2.0], [np.nan, 2.0]])
    dataset = replace(Dataset.of_arrays(X, np.array([0, 0, 1, 1]), 2), columns=ColumnKinds(2, (1,), (0,)))
    weights = row_weights(objective("error by loo(kernel = border)").estimate, dataset)
    # Rows 0 and 2 differ in the symbol alone: a distance of one. The others are farther from the other class.
    assert weights is not None
    assert weights[0] == pytest.approx(weights[2])
    assert weights[1] < weights[0]


def test_a_border_needs_classes() -> None:
    text = "data(task = regression)\nuse sbm\nchain m = knn\nminimize rmse by loo(kernel = border)\n"
    found = check_source(Source("spec", text))
    assert [diagnostic.code for diagnostic in found.diagnostics] == ["MSL151"]
