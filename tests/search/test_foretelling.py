"""The forest against what trees are by definition, scikit-learn's own, and the integral that its gain stands for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.ensemble import ExtraTreesRegressor

from msl.search.base import SearchSpace
from msl.search.operators.surrogate import SurrogateForest, columns_of, expected_improvement


def leaves_of(forest: SurrogateForest, rows: np.ndarray, tree: int) -> np.ndarray:
    """Each row walked down one tree by hand."""
    found = []
    for row in rows:
        node = tree
        while tuple(forest.children[node]) != (node, node):
            node = forest.children[node][int(row[forest.column[node]] >= forest.threshold[node])]
        found.append(node)
    return np.array(found)


@given(n=st.integers(1, 40), columns=st.integers(1, 6), levels=st.integers(1, 5), seed=st.integers(0, 999))
def test_a_leaf_holds_the_mean_of_its_rows(n: int, columns: int, levels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, losses = rng.integers(0, levels, (n, columns)) / levels, rng.random(n)
    forest = SurrogateForest.fit(rows, losses, rng)
    expected = np.empty((n, 16))
    for tree in range(16):
        leaves = leaves_of(forest, rows, tree)
        for leaf in np.unique(leaves):
            assert forest.mean[leaf] == pytest.approx(losses[leaves == leaf].mean())
        expected[:, tree] = forest.mean[leaves]
    mean, spread = forest.predict(rows)
    assert mean == pytest.approx(expected.mean(axis=1))
    assert spread == pytest.approx(expected.std(axis=1), abs=1e-12)


def test_nodes_split_until_few_rows_are_left_or_all_are_alike() -> None:
    rng = np.random.default_rng(1)
    rows = np.vstack([np.full((20, 3), 0.5), rng.random((60, 3))])
    forest = SurrogateForest.fit(rows, rng.random(80), rng)
    for tree in range(16):
        leaves = leaves_of(forest, rows, tree)
        assert len(set(leaves[:20])) == 1
        assert np.bincount(leaves[20:]).max() < 4


def test_it_foretells_as_well_as_scikit_learn_does() -> None:
    rng = np.random.default_rng(2)

    def losses(rows: np.ndarray) -> np.ndarray:
        return rows[:, 0] + np.where(rows[:, 1] > 0.5, 2 * rows[:, 2], 0.0)

    rows, others = rng.random((150, 10)), rng.random((400, 10))
    mean, _ = SurrogateForest.fit(rows, losses(rows), rng).predict(others)
    theirs = ExtraTreesRegressor(16, max_features=3, min_samples_split=4, random_state=0).fit(rows, losses(rows))
    ours_off = np.mean((mean - losses(others)) ** 2)
    theirs_off = np.mean((theirs.predict(others) - losses(others)) ** 2)
    assert ours_off < 1.25 * theirs_off
    assert ours_off < 0.5 * losses(others).var()


def test_the_same_randomness_grows_the_same_forest() -> None:
    rng = np.random.default_rng(3)
    rows, losses = rng.random((30, 4)), rng.random(30)
    first, second = (SurrogateForest.fit(rows, losses, np.random.default_rng(4)).predict(rows) for _ in range(2))
    assert np.array_equal(first, second)


@given(mean=st.floats(-1, 1), spread=st.floats(0.01, 1), best=st.floats(-1, 1))
def test_the_expected_gain_is_its_integral(mean: float, spread: float, best: float) -> None:
    def gain(loss: float) -> float:
        return max(best - loss, 0.0) * norm.pdf(loss, mean, spread)

    integral, _ = quad(gain, mean - 9 * spread, best, points=[mean]) if best > mean - 9 * spread else (0.0, 0.0)
    assert expected_improvement(np.array([mean]), np.array([spread]), best)[0] == pytest.approx(integral, abs=1e-6)


def test_without_disagreement_the_gain_is_the_difference() -> None:
    assert expected_improvement(np.array([0.2, 0.6]), np.zeros(2), 0.5) == pytest.approx([0.3, 0.0], abs=1e-9)


def test_alternatives_have_a_column_each() -> None:
    search_space = SearchSpace.of([3, 0, 2, 5], ordered=[False, True, False, True])
    columns = columns_of(search_space, np.array([[0.1, 0.7, 0.9, 0.3], [0.9, 0.2, 0.1, 0.5]]))
    assert columns.tolist() == [[0.7, 0.9, 0.3, 1.0, 0.0, 0.0], [0.2, 0.1, 0.5, 0.0, 0.0, 1.0]]
