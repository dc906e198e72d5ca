"""Zarbi and the naive Bayes of CLOP, by hand and by a few lines from their descriptions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.neighbors import NearestCentroid

from msl.blocks.learners.linear_classifiers import PooledBayes, Zarbi

Rows = NDArray[np.float64]


def two_classes(seed: int = 0) -> tuple[Rows, NDArray[np.intp]]:
    rng = np.random.default_rng(seed)
    y = (rng.random(60) < 0.3).astype(np.intp)
    return rng.normal(size=(60, 5)) * [1, 10, 0.1, 1, 3] + rng.normal(size=(2, 5))[y] + [0, 50, 0, -3, 0], y


def zarbi_scores(X: Rows, positive: NDArray[np.bool_], new: Rows) -> Rows:
    """w = (μ₊ - μ₋) / (σ₊ + σ₋ + median over features), threshold in the middle of the means."""
    ours, rest = X[positive], X[~positive]
    noise = ours.std(axis=0) + rest.std(axis=0)
    weights = (ours.mean(axis=0) - rest.mean(axis=0)) / (noise + np.median(noise))
    return (new - (ours.mean(axis=0) + rest.mean(axis=0)) / 2) @ weights


def test_two_classes_by_hand() -> None:
    X = np.array([[0.0, 1.0], [2.0, 1.0], [5.0, 4.0], [9.0, 0.0]])
    y = np.array(["no", "no", "yes", "yes"])
    # no: means (1, 1), deviations (1, 0); yes: means (7, 2), deviations (2, 2); the median of (3, 2) is 2.5
    weights = np.array([6 / 5.5, 1 / 4.5])
    middle = np.array([4.0, 1.5])
    model = Zarbi().fit(X, y)
    new = np.array([[3.0, 3.0], [4.0, 1.5], [10.0, 10.0]])
    expected = (new - middle) @ weights
    np.testing.assert_allclose(model.outputs(new), np.column_stack([-expected, expected]), rtol=1e-14)
    np.testing.assert_allclose(model.decision_function(new), 2 * expected, rtol=1e-14)
    assert model.predict(new).tolist() == ["no", "no", "yes"]
    assert model.complexity() == 2.0


def test_two_classes_as_described() -> None:
    X, y = two_classes()
    expected = zarbi_scores(X, y == 1, X)
    np.testing.assert_allclose(Zarbi().fit(X, y).outputs(X)[:, 1], expected, rtol=1e-11, atol=1e-11)


def test_more_classes_are_each_set_against_the_rest() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)) + 10.0
    y = np.arange(30) % 3
    outputs = Zarbi().fit(X, y).outputs(X)
    for code in range(3):
        np.testing.assert_allclose(outputs[:, code], zarbi_scores(X, y == code, X), rtol=1e-12, atol=1e-12)


def test_a_feature_constant_within_classes_does_not_outweigh_all_others() -> None:
    X = np.array([[0.1, 1.0], [0.1, 2.0], [0.3, 1.5], [0.3, 2.0]])
    model = Zarbi().fit(X, [0, 0, 1, 1])
    # deviations: 0 and 0, 0.5 and 0.25; the median of (0, 0.75) is 0.375
    assert model.coef_[:, 0] == pytest.approx([0.2 / 0.375, 0.25 / (0.75 + 0.375)])


def test_features_constant_within_classes_alone_weigh_much_but_finitely() -> None:
    X = np.array([[0.1], [0.1], [0.3], [0.3]])
    model = Zarbi().fit(X, [0, 0, 1, 1])
    assert 1e6 < model.coef_[0, 0] < np.inf
    assert model.predict([[0.29], [0.11]]).tolist() == [1, 0]


def test_a_constant_feature_weighs_nothing() -> None:
    X = np.column_stack([np.full(9, 0.1), np.arange(9.0)])
    for model in (Zarbi().fit(X, np.arange(9) // 5), PooledBayes().fit(X, np.arange(9) // 5)):
        assert model.coef_[0, 0] == 0.0


def test_tiny_numbers_keep_their_signal() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    y = (X[:, 0] > 0).astype(int)
    np.testing.assert_array_equal(Zarbi().fit(X * 2.0**-900, y).coef_, Zarbi().fit(X, y).coef_)
    np.testing.assert_allclose(
        PooledBayes().fit(X * 2.0**-900, y).outputs(X * 2.0**-900), PooledBayes().fit(X, y).outputs(X), rtol=1e-12
    )


# --- naive Bayes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_numbers_have_one_variance_for_both_classes(seed: int) -> None:
    X, y = two_classes(seed)
    ours, rest = X[y == 1], X[y == 0]
    pooled = (len(ours) * ours.var(axis=0) + len(rest) * rest.var(axis=0)) / (len(X) - 2)
    weights = (ours.mean(axis=0) - rest.mean(axis=0)) / (2 * pooled)
    offset = ((rest.mean(axis=0) ** 2 - ours.mean(axis=0) ** 2) / (2 * pooled)).sum() + np.log(len(ours) / len(rest))
    model = PooledBayes().fit(X, y)
    np.testing.assert_allclose(model.outputs(X)[:, 1], X @ weights + offset, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.outputs(X)[:, 0], -model.outputs(X)[:, 1])
    assert model.complexity() == 5.0


def test_a_variance_of_zero_counts_as_one() -> None:
    X = np.array([[0.1, 1.0], [0.1, 2.0], [0.3, 1.5], [0.3, 2.0], [0.3, 4.0]])
    model = PooledBayes().fit(X, [0, 0, 1, 1, 1])
    assert model.coef_[0, 0] == pytest.approx((0.3 - 0.1) / 2)


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1.0, 1.0), (2.0, 5.0)])
def test_a_table_of_two_values_has_bernoulli_distributions(low: float, high: float) -> None:
    rng = np.random.default_rng(1)
    y = (rng.random(50) < 0.4).astype(int)
    ones = (rng.random((50, 4)) < np.where(y[:, np.newaxis] == 1, [0.9, 0.2, 0.5, 0.1], [0.3, 0.2, 0.8, 0.4])).astype(
        int
    )
    rates = []
    for code in (0, 1):
        counted, rows = ones[y == code].sum(axis=0), (y == code).sum()
        rates.append((counted + np.mean(counted / rows)) / (rows + 1))
    score = np.log(((y == 1).sum() + 1) / ((y == 0).sum() + 1)) * np.ones(50)
    for i in range(50):
        for j in range(4):
            score[i] += np.log(rates[1][j] / rates[0][j] if ones[i, j] else (1 - rates[1][j]) / (1 - rates[0][j]))
    X = np.where(ones == 1, high, low)
    np.testing.assert_allclose(PooledBayes().fit(X, y).outputs(X)[:, 1], score, rtol=1e-10, atol=1e-10)
    with_a_third = np.vstack([X, np.full((1, 4), 9.0)])
    assert not np.allclose(PooledBayes().fit(with_a_third, np.append(y, 1)).outputs(X)[:, 1], score)


def test_a_class_with_one_of_two_values_has_finite_scores() -> None:
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    model = PooledBayes().fit(X, [0, 0, 1, 1])
    assert np.isfinite(model.outputs(X)).all()
    assert model.predict(X).tolist() == [0, 0, 1, 1]


def test_of_more_than_two_classes_the_nearest_centroid_wins() -> None:
    rng = np.random.default_rng(2)
    y = np.arange(90) % 4
    X = rng.normal(size=(90, 3)) * [1, 5, 0.2] + 2 * rng.normal(size=(4, 3))[y]
    new = 3 * rng.normal(size=(200, 3))
    assert PooledBayes().fit(X, y).predict(new).tolist() == NearestCentroid().fit(X, y).predict(new).tolist()
