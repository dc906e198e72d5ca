"""Recursive elimination against a loop with a support vector machine solved by a general optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from msl.blocks.selection.selectors import SVCElimination


def weights(columns: NDArray[np.float64], signs: NDArray[np.float64]) -> NDArray[np.float64]:
    """The linear machine with squared hinge loss and the offset as one more weight, by BFGS."""
    extended = np.hstack([columns, np.ones((len(columns), 1))])

    def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        slack = np.maximum(1 - signs * (extended @ w), 0.0)
        return 0.5 * w @ w + slack @ slack, w - 2 * extended.T @ (slack * signs)

    solution = minimize(loss, np.zeros(extended.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-9})
    return np.asarray(solution.x[:-1])


def eliminated_by_loop(X: NDArray[np.float64], y: NDArray[np.intp], n_kept: int) -> list[int]:
    """Halves the features until `n_kept` are left, and goes no further."""
    columns = (X - X.mean(axis=0)) / X.std(axis=0)
    targets = [1] if y.max() == 1 else range(y.max() + 1)
    left = list(range(X.shape[1]))
    while len(left) > n_kept:
        squares = sum(weights(columns[:, left], np.where(y == code, 1.0, -1.0)) ** 2 for code in targets)
        keep = max(len(left) // 2, n_kept)
        best = sorted(range(len(left)), key=lambda place: -squares[place])[:keep]
        left = sorted(left[place] for place in best)
    return left


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("fmax", [1, 3, 4, 7, 12])
def test_what_is_left_is_what_a_loop_leaves(n_classes: int, fmax: int) -> None:
    rng = np.random.default_rng(5)
    y = np.arange(90) % n_classes
    X = rng.normal(size=(90, 13)) * np.arange(1, 14)
    X[:, :5] += y[:, np.newaxis] * rng.normal(size=5) * 3
    assert SVCElimination(fmax=fmax).fit(X, y).selected_.tolist() == eliminated_by_loop(X, y, fmax)


def test_regression_keeps_the_features_of_the_true_model() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 20)) * 10.0 ** rng.integers(-3, 3, size=20)
    true = [3, 8, 13]
    y = (X[:, true] / X[:, true].std(axis=0)).sum(axis=1) + 0.1 * rng.normal(size=200)
    assert SVCElimination(fmax=3).fit(X, y).selected_.tolist() == true


def test_together_useful_features_survive_though_each_alone_is_not() -> None:
    rng = np.random.default_rng(4)
    noise, signal = rng.normal(size=(2, 300))
    y = (signal > 0).astype(int)
    X = np.column_stack([rng.normal(size=(300, 6)), 0.2 * signal + 3 * noise, 3 * noise])
    assert SVCElimination(fmax=2).fit(X, y).selected_.tolist() == [6, 7]


def test_more_than_there_are_is_all() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    assert SVCElimination(fmax=50).fit(X, np.arange(20) % 2).complexity() == 3
