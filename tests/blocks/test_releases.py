"""Releases of scikit-learn that differ: what a declaration means is the same in all of them, or it is told."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale

from msl.blocks.base.load import VERSION, BlockProblem, add_implied, demand_release
from msl.blocks.base.recipes import step_to_estimator
from msl.space.values import BlockType, BlockValue

ELASTIC = BlockType("e", "sklearn", "learner", "classification", "sklearn.linear_model:LogisticRegression")


def test_a_share_of_the_lasso_is_a_penalty_in_every_release() -> None:
    """Columns of noise get a weight of zero, which a ridge never gives."""
    X, y = load_iris(return_X_y=True)
    X = np.c_[scale(X), np.random.default_rng(0).normal(size=(len(X), 6))]
    given = (("C", 0.05), ("l1_ratio", 1.0), ("solver", "saga"), ("max_iter", 2000), ("tol", 1e-3))
    fitted = step_to_estimator(BlockValue(ELASTIC, given), "classification", "0").fit(X, y)
    assert np.count_nonzero(fitted.coef_ == 0.0) >= 10


def test_what_is_implied_is_added_where_it_has_to_be_said() -> None:
    for version, expected in (((1, 6), {"l1_ratio": 0.3, "penalty": "elasticnet"}), ((1, 8), {"l1_ratio": 0.3})):
        arguments = {"l1_ratio": 0.3}
        add_implied(LogisticRegression, arguments, version)
        assert arguments == expected
    plain = {"C": 1.0}
    add_implied(LogisticRegression, plain, (1, 6))
    assert plain == {"C": 1.0}


def test_a_block_that_a_release_lacks_is_told() -> None:
    target = "sklearn.discriminant_analysis:QuadraticDiscriminantAnalysis"
    block = BlockType("qda", "sklearn", "learner", "classification", target)
    with pytest.raises(BlockProblem, match=r"`qda` needs scikit-learn 1.8, and this is 1.6"):
        demand_release(block, (1, 6))
    demand_release(block, (1, 8))
    demand_release(BlockType("qda", "mine", "learner", "classification", target), (1, 6))
    assert VERSION >= (1, 6)
