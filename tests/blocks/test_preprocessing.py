"""What every preprocessing block promises: scikit-learn's checks, one result on every path, sense on awkward data."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from msl.blocks.base.block import BlockTransformer
from msl.blocks.calibration import Bias
from msl.blocks.preprocessing.scalers import Normalize, RangeScale, Scaler, ShiftScale, Standardize
from msl.blocks.selection.orthogonal import GramSchmidt, PrincipalComponents
from msl.blocks.selection.rankers import (
    AucRanker,
    ForestImportanceRanker,
    FTestRanker,
    MedianOddsRanker,
    OddsRatioRanker,
    PearsonRanker,
    SignalToNoiseRanker,
    TTestRanker,
    ZFilterRanker,
)
from msl.blocks.selection.relief import ReliefFRanker, ReliefRanker
from msl.blocks.selection.selectors import FeatureSelector, KeepFeatures, Ranker, SVCElimination

Table = tuple[NDArray[np.float64], NDArray[Any], int]

SCALERS = [
    Normalize(),
    Normalize(center=True),
    Standardize(),
    Standardize(center=False),
    ShiftScale(),
    ShiftScale(take_log=True),
    RangeScale(),
    RangeScale(take_log=True),
]
FOR_CLASSES = [
    TTestRanker(),
    TTestRanker(equal_variance=False, relative=True),
    AucRanker(),
    OddsRatioRanker(),
    MedianOddsRanker(relative=True),
    SignalToNoiseRanker(),
]
FOR_BOTH = [
    FTestRanker(),
    FTestRanker(relative=True),
    PearsonRanker(),
    ReliefRanker(),
    ReliefFRanker(relative=True),
    ForestImportanceRanker(units=5),
    SVCElimination(),
    GramSchmidt(),
    GramSchmidt(center=True),
]
WITHOUT_TARGET = [PrincipalComponents(), KeepFeatures(), ZFilterRanker()]
SELECTORS = [*FOR_CLASSES, *FOR_BOTH, *WITHOUT_TARGET]
ALL = [*SCALERS, *SELECTORS]

COLUMNS_ARE_CLASSES = "outputs have one column a class; the check gives two columns and three classes"
BIAS_EXCEPTIONS = {
    "check_estimators_overwrite_params": COLUMNS_ARE_CLASSES,
    "check_estimators_fit_returns_self": COLUMNS_ARE_CLASSES,
    "check_readonly_memmap_input": COLUMNS_ARE_CLASSES,
}


@parametrize_with_checks(
    [*ALL, GramSchmidt(fmax=2), Bias()],
    expected_failed_checks=lambda block: BIAS_EXCEPTIONS if isinstance(block, Bias) else {},
)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def normal_table(n_rows: int = 60, n_columns: int = 7, n_classes: int = 3, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes if n_classes else rng.normal(size=n_rows)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, 0] += y
    X[:, -1] -= 0.5 * y
    return X, y, n_classes


def with_fmax(block: BlockTransformer, fmax: int) -> BlockTransformer:
    """A fresh copy that keeps so many features, if that is a matter of `fmax`."""
    copy = clone(block)
    return copy.set_params(fmax=fmax) if "fmax" in copy.get_params() else copy


def fitted_on_arrays(block: BlockTransformer, X: NDArray[np.float64], y: NDArray[Any], n_classes: int) -> Any:
    copy = clone(block)
    copy.fit_arrays(X, y, n_classes)
    return copy


@pytest.mark.parametrize("block", ALL, ids=str)
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_all_paths_of_a_fit_agree_to_the_last_bit(block: BlockTransformer, n_classes: int) -> None:
    if n_classes == 0 and type(block) in map(type, FOR_CLASSES):
        pytest.skip("serves classification alone")
    X, y, _ = normal_table(n_classes=n_classes)
    chosen = with_fmax(block, 3)
    expected = clone(chosen).fit(X, y).transform(X)

    on_arrays = fitted_on_arrays(chosen, X, y, n_classes)
    assert np.array_equal(on_arrays.transform_arrays(X), expected)

    if chosen.shared_parameters is None:
        return
    # A sibling with another `fmax` prepares, and has used what it prepared before.
    sibling = with_fmax(block, 5)
    prepared = sibling.prepare(X, y, n_classes)
    sibling.fit_prepared(prepared, X, y, n_classes)
    split = clone(chosen)
    split.fit_prepared(prepared, X, y, n_classes)
    assert np.array_equal(split.transform_arrays(X), expected)


@pytest.mark.parametrize("block", ALL, ids=str)
def test_shared_parameters_are_parameters(block: BlockTransformer) -> None:
    assert (block.shared_parameters or frozenset()) <= block.get_params().keys()


@pytest.mark.parametrize("block", FOR_CLASSES, ids=str)
def test_comparing_classes_of_numbers_is_a_clear_error(block: BlockTransformer) -> None:
    X, y, _ = normal_table(n_classes=0)
    with pytest.raises(ValueError, match=r"the target holds numbers; for regression take FTest"):
        clone(block).fit(X, y)


@pytest.mark.parametrize("block", ALL, ids=str)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_a_clear_error(block: BlockTransformer, bad: float) -> None:
    X, y, _ = normal_table()
    if np.isnan(bad) and block.takes_missing:  # then a later step is asked
        return
    X[3, 2] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        clone(block).fit(X, y)


def constant_columns() -> Table:
    X, y, n_classes = normal_table()
    X[:, 1], X[:, 2], X[:, 3] = 0.1, 1e300, 0.0
    return X, y, n_classes


def nothing_but_one_value() -> Table:
    X, y, n_classes = normal_table()
    return np.full_like(X, 0.1), y, n_classes


def one_column() -> Table:
    X, y, n_classes = normal_table()
    return X[:, :1].copy(), y, n_classes


def duplicates() -> Table:
    X, y, n_classes = normal_table()
    return np.repeat(np.hstack([X, X, -3 * X]), 2, axis=0), np.repeat(y, 2), n_classes


def tiny_classes() -> Table:
    X, y, _ = normal_table()
    y = np.where(np.arange(len(y)) < 3, np.arange(len(y)) + 2, y % 2)
    return X, y, 5


def rows_of_their_own() -> Table:
    X, _, _ = normal_table(n_rows=9)
    return X, np.arange(9), 9


def more_columns_than_rows() -> Table:
    return normal_table(n_rows=12, n_columns=40, n_classes=2)


def tiny_numbers() -> Table:
    X, y, n_classes = normal_table()
    return X * 1e-300, y, n_classes


def huge_numbers() -> Table:
    X, y, n_classes = normal_table()
    return X * 1e300, y, n_classes


def the_hugest_numbers() -> Table:
    X, y, n_classes = normal_table()
    return np.where(X > 0.5, 1.7e308, -1.7e308), y, n_classes


def subnormal_numbers() -> Table:
    X, y, n_classes = normal_table()
    return np.round(X * 3) * 5e-324, y, n_classes


def mixed_magnitudes() -> Table:
    X, y, n_classes = normal_table()
    return X * np.array([1e-300, 1e300, 1.0, 1e-150, 1e150, 1e-8, 1e8]), y, n_classes


def noise_of_rounding() -> Table:
    X, y, n_classes = normal_table()
    X[:, 1] = np.where(X[:, 1] > 0, 0.3, 0.1 + 0.2)
    return X, y, n_classes


def perfect_separation() -> Table:
    X, y, n_classes = normal_table()
    X[:, 2] = np.array([0.1, 0.3, 0.7])[y]
    return X, y, n_classes


def fifty_classes() -> Table:
    return normal_table(n_rows=200, n_classes=50)


def lost_class() -> Table:
    X, y, _ = normal_table()
    return X[y != 1], y[y != 1], 3


def one_class_left() -> Table:
    X, y, _ = normal_table()
    return X[y == 1], y[y == 1], 3


def two_rows() -> Table:
    X, _, _ = normal_table(n_rows=2)
    return X, np.array([0, 1]), 2


def one_row() -> Table:
    X, _, _ = normal_table(n_rows=1)
    return X, np.array([0]), 1


def regression() -> Table:
    return normal_table(n_classes=0)


def constant_target() -> Table:
    X, _, _ = normal_table()
    return X, np.full(len(X), 0.1), 0


def huge_target() -> Table:
    X, y, _ = normal_table(n_classes=0)
    return X, y * 1e300, 0


def tiny_target() -> Table:
    X, y, _ = normal_table(n_classes=0)
    return X, y * 1e-300, 0


def two_numbers() -> Table:
    X, y, _ = normal_table(n_rows=2, n_classes=0)
    return X, y, 0


AWKWARD = [
    constant_columns,
    nothing_but_one_value,
    one_column,
    duplicates,
    tiny_classes,
    rows_of_their_own,
    more_columns_than_rows,
    tiny_numbers,
    huge_numbers,
    the_hugest_numbers,
    subnormal_numbers,
    mixed_magnitudes,
    noise_of_rounding,
    perfect_separation,
    fifty_classes,
    lost_class,
    one_class_left,
    two_rows,
    one_row,
    regression,
    constant_target,
    huge_target,
    tiny_target,
    two_numbers,
]


@pytest.mark.parametrize("make", AWKWARD, ids=lambda make: make.__name__)
@pytest.mark.parametrize("block", ALL, ids=str)
def test_awkward_data_give_finite_numbers(block: BlockTransformer, make: Callable[[], Table]) -> None:
    X, y, n_classes = make()
    if n_classes == 0 and type(block) in map(type, FOR_CLASSES):
        pytest.skip("serves classification alone")
    for fmax in (1, 3, 1000):
        with warnings.catch_warnings(), np.errstate(over="raise", divide="raise", invalid="raise"):
            warnings.simplefilter("error")
            if isinstance(block, Ranker) and make in NOTHING_TO_RANK and not block.relative:
                refused_or_fitted(block, X, y, n_classes)
                return
            fitted = fitted_on_arrays(with_fmax(block, fmax), X, y, n_classes)
            Z = fitted.transform_arrays(X)
        assert Z.shape[0] == len(X)
        assert Z.shape[1] >= 1
        assert np.isfinite(Z).all()
        if isinstance(block, Scaler):
            assert Z.shape == X.shape
            assert fitted.complexity() == 0.0
        else:
            assert fitted.complexity() == Z.shape[1] <= fmax or isinstance(block, KeepFeatures)
        for name in ("scores_", "pvalues_"):
            values = getattr(fitted, name, None)
            assert values is None or not np.isnan(values).any()


#: Tables on which no feature tells anything about the target, so that no score may be above zero.
NOTHING_TO_RANK = [
    nothing_but_one_value,
    one_class_left,
    one_row,
    two_rows,
    rows_of_their_own,
    constant_target,
    two_numbers,
]


def refused_or_fitted(block: Ranker, X: NDArray[np.float64], y: NDArray[Any], n_classes: int) -> None:
    """A ranker fails if no feature has a score above zero, and says so."""
    ranking = clone(block).prepare(X, y, n_classes)
    assert not np.isnan(ranking.scores).any()
    if (ranking.scores > 0.0).any():
        assert fitted_on_arrays(block, X, y, n_classes).complexity() >= 1
    else:
        with pytest.raises(ValueError, match="keeps no feature"):
            fitted_on_arrays(block, X, y, n_classes)


@pytest.mark.parametrize(
    "block", [block for block in (*FOR_CLASSES, *FOR_BOTH) if not isinstance(block, ReliefRanker)], ids=str
)
@pytest.mark.parametrize("factor", [2.0**-990, 2.0**-120, 2.0**990])
def test_what_is_chosen_does_not_depend_on_the_scale_of_columns(block: FeatureSelector, factor: float) -> None:
    X, y, n_classes = normal_table()
    factors = np.where(np.arange(X.shape[1]) % 2, factor, 1.0)
    plain = fitted_on_arrays(with_fmax(block, 3), X, y, n_classes)
    scaled = fitted_on_arrays(with_fmax(block, 3), X * factors, y, n_classes)
    assert plain.selected_.tolist() == scaled.selected_.tolist()
    if hasattr(plain, "scores_"):
        assert np.array_equal(plain.scores_, scaled.scores_)


@pytest.mark.parametrize("block", [*FOR_CLASSES, *FOR_BOTH], ids=str)
def test_informative_columns_come_first(block: FeatureSelector) -> None:
    X, y, _ = normal_table(n_rows=150)
    X[:, 2] += 3 * (y == 1)
    X[:, 5] -= 3 * (y == 2)
    fitted = with_fmax(block, 2).fit(X, y)
    assert fitted.selected_.tolist() == [2, 5]
    assert np.array_equal(fitted.transform(X), X[:, [2, 5]])
    assert fitted.get_feature_names_out().tolist() == ["x2", "x5"]


@pytest.mark.parametrize("block", FOR_BOTH, ids=str)
def test_informative_columns_come_first_for_numbers(block: FeatureSelector) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 7))
    y = 2 * X[:, 2] - 3 * X[:, 5] + 0.1 * rng.normal(size=150)
    assert with_fmax(block, 2).fit(X, y).selected_.tolist() == [2, 5]


@pytest.mark.parametrize("block", ALL, ids=str)
def test_a_fitted_block_survives_pickling(block: BlockTransformer) -> None:
    X, y, n_classes = normal_table()
    fitted = fitted_on_arrays(with_fmax(block, 3), X, y, n_classes)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.transform_arrays(X), fitted.transform_arrays(X))


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (FTestRanker(fmax=0), "'fmax' parameter of FTest"),
        (FTestRanker(wmin=1.5), "'wmin' parameter of FTest"),
        (AucRanker(pval=-0.1), "'pval' parameter of Auc"),
        (PearsonRanker(fdrmax=2.0), "'fdrmax' parameter of Pearson"),
        (ReliefRanker(knum=0), "'knum' parameter of Relief"),
        (ForestImportanceRanker(units=0), "'units' parameter of ForestImportance"),
        (Standardize(center="yes"), "'center' parameter of Standardize"),
    ],
    ids=str,
)
def test_impossible_parameters_are_a_clear_error(block: BlockTransformer, message: str) -> None:
    X, y, _ = normal_table()
    with pytest.raises(ValueError, match=message):
        block.fit(X, y)
