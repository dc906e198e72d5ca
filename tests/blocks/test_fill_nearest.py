"""Missing values from similar rows, against plain loops and scikit-learn."""

import numpy as np
import pytest
from sklearn.impute import KNNImputer

from msl.blocks.similarity.fill_nearest import FillNearest

NAN = np.nan


def with_gaps(seed, shape=(40, 4), symbols=()):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape)
    for column in symbols:
        X[:, column] = rng.integers(0, 3, shape[0])
    X[rng.random(shape) < 0.2] = NAN
    return X


def filled_by_hand(X, new, k, symbolic=()):
    units = [1.0 if column in symbolic else np.nanstd(X[:, column]) for column in range(X.shape[1])]
    filled = new.copy()
    for row, x in enumerate(new):
        for column in range(X.shape[1]):
            if not np.isnan(x[column]):
                continue
            found = []
            for z in X:
                both = [c for c in range(len(x)) if not np.isnan(x[c]) and not np.isnan(z[c])]
                if not np.isnan(z[column]):
                    terms = [float(x[c] != z[c]) if c in symbolic else ((x[c] - z[c]) / units[c]) ** 2 for c in both]
                    found.append((np.mean(terms) if both else np.inf, z[column]))
            last = sorted(gap for gap, _ in found)[k - 1]
            near = [value for gap, value in found if gap <= last + 1e-12]
            filled[row, column] = min(near, key=lambda v: (-near.count(v), v)) if column in symbolic else np.mean(near)
    return filled


@pytest.mark.parametrize("symbolic", [(), (1, 3)])
@pytest.mark.parametrize("k", [1, 4])
def test_values_come_from_the_most_similar_rows_that_have_them(k, symbolic):
    X, new = with_gaps(0, symbols=symbolic), with_gaps(1, (15, 4), symbolic)
    found = FillNearest(k, symbolic).fit(X).transform(new)
    np.testing.assert_allclose(found, filled_by_hand(X, new, k, symbolic))
    assert np.isnan(new).any()


def test_on_standardised_numbers_it_is_the_imputer_of_scikit_learn():
    X = with_gaps(2)
    X = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    np.testing.assert_allclose(FillNearest(3).fit_transform(X), KNNImputer(n_neighbors=3).fit_transform(X))


def test_a_row_without_any_known_value_and_a_column_without_any():
    X = np.array([[1.0, NAN, 0.0], [3.0, NAN, 2.0], [NAN, NAN, 2.0]])
    found = FillNearest(1, symbolic_columns=[2]).fit(X).transform([[NAN, NAN, NAN]])
    assert found.tolist() == [[2.0, 0.0, 2.0]]
    assert FillNearest(1, symbolic_columns=[1]).fit(X).transform([[1.0, NAN, 0.0]])[0, 1] == -1.0


def test_complete_rows_stay_as_they_are():
    X = with_gaps(3)
    new = np.random.default_rng(4).normal(size=(5, 4))
    np.testing.assert_array_equal(FillNearest().fit(X).transform(new), new)
