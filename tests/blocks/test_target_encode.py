"""Target encoding against scikit-learn's encoder with the same folds, and against shares counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import TargetEncoder
from sklearn.utils import get_tags

from msl.blocks.preprocessing.prepare import N_FOLDS, TargetEncode


def table(kind: str) -> tuple[NDArray[np.float64], NDArray[np.generic]]:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (90, 2)).astype(float)
    numbers = X[:, 0] + rng.normal(size=90)
    return X, {"two": (numbers > 1).astype(int), "three": np.digitize(numbers, [0.5, 2.0]), "number": numbers}[kind]


@pytest.mark.parametrize("kind", ["two", "three", "number"])
@pytest.mark.filterwarnings("error")
def test_training_rows_are_encoded_from_other_folds(kind: str) -> None:
    X, y = table(kind)
    splitter = (KFold if kind == "number" else StratifiedKFold)(N_FOLDS, shuffle=True, random_state=3)
    encoded = TargetEncode(smooth=5.0, random_state=3).fit_transform(X, y)
    by_hand = np.empty_like(encoded)
    for train, test in splitter.split(X, y):
        by_hand[test] = TargetEncoder(smooth=5.0).fit(X[train], y[train]).transform(X[test])
    np.testing.assert_allclose(encoded, by_hand, rtol=1e-12)


@pytest.mark.filterwarnings("error")
def test_new_rows_are_encoded_by_shares_and_seeds_tell_folds_apart() -> None:
    X, y = table("two")
    block = TargetEncode(smooth=0.0, random_state=1)
    encoded = block.fit(X, y).transform([[2.0, 3.0]])
    np.testing.assert_allclose(encoded, [[y[X[:, 0] == 2].mean(), y[X[:, 1] == 3].mean()]])
    assert block.get_feature_names_out().tolist() == ["x0", "x1"]
    first, again, other = (TargetEncode(random_state=seed).fit_transform(X, y) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_it_says_what_it_takes() -> None:
    tags = get_tags(clone(TargetEncode(smooth=2.0)))
    assert tags.input_tags.categorical
    assert tags.input_tags.allow_nan
    assert tags.target_tags.required
    with pytest.raises(ValueError, match="smooth"):
        TargetEncode(smooth=-1.0).fit(*table("two"))
