"""The rankers against SciPy, scikit-learn and tables counted by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.metrics import roc_auc_score

from msl.blocks.calibration import Bias
from msl.blocks.learners.linear_classifiers import PooledBayes
from msl.blocks.selection import selectors
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
from msl.blocks.selection.selectors import false_discovery, unit_weights

CLOSE = {"rtol": 1e-9, "atol": 1e-12}


def table(n_rows: int = 70, n_columns: int = 9, seed: int = 0) -> NDArray[np.float64]:
    """Normal, skewed, tied, binary and shifted columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, 1] = np.exp(X[:, 1])
    X[:, 2] = np.round(X[:, 2])
    X[:, 3] = X[:, 3] > -0.8
    X[:, 4] = 100 + X[:, 4]
    X[:, 5] = np.where(X[:, 5] > 0, X[:, 5], 0.0)
    return X


def classes(n_rows: int = 70, n_classes: int = 2, seed: int = 1) -> NDArray[np.intp]:
    """Classes of different sizes, each present twice at least."""
    rng = np.random.default_rng(seed)
    y = (n_classes * rng.random(n_rows) ** 2).astype(np.intp)
    y[: 2 * n_classes] = np.arange(2 * n_classes) % n_classes
    return y


def against_rest(y: NDArray[np.intp]) -> list[NDArray[np.bool_]]:
    return [y == 1] if y.max() == 1 else [y == code for code in range(y.max() + 1)]


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_f_is_that_of_scikit_learn(n_classes: int) -> None:
    X, y = table(), classes(n_classes=n_classes)
    block = FTestRanker().fit(X, y)
    f, pvalues = f_classif(X, y)
    np.testing.assert_allclose(block.scores_, f, **CLOSE)
    np.testing.assert_allclose(block.pvalues_, pvalues, **CLOSE)
    for k in (1, 4, 9):
        assert np.array_equal(
            FTestRanker(fmax=k).fit(X, y).get_support(), SelectKBest(f_classif, k=k).fit(X, y).get_support()
        )


def test_differences_far_from_zero_keep_their_digits() -> None:
    y = classes(n_classes=3)
    near = np.round(64 * table()[:, [0, 6, 7]]) / 64
    far = near + 2.0**40  # exact, so every statistic must be the same
    for ranker in (FTestRanker, TTestRanker, SignalToNoiseRanker, PearsonRanker):
        np.testing.assert_allclose(ranker().fit(far, y).scores_, ranker().fit(near, y).scores_, rtol=1e-10)
    numbers = near @ [1.0, 2.0, 3.0]
    np.testing.assert_allclose(
        FTestRanker().fit(far, numbers).scores_, FTestRanker().fit(near, numbers).scores_, rtol=1e-10
    )


def test_f_of_numbers_is_that_of_scikit_learn() -> None:
    X = table()
    y = X[:, 0] - X[:, 5] + np.random.default_rng(5).normal(size=len(X))
    block = FTestRanker().fit(X, y)
    f, pvalues = f_regression(X, y)
    np.testing.assert_allclose(block.scores_, f, **CLOSE)
    np.testing.assert_allclose(block.pvalues_, pvalues, **CLOSE)


def test_correlation_with_numbers_is_that_of_scipy() -> None:
    X = table()
    y = X[:, 0] - X[:, 5] + np.random.default_rng(5).normal(size=len(X))
    block = PearsonRanker().fit(X, y)
    expected = [stats.pearsonr(column, y) for column in X.T]
    np.testing.assert_allclose(block.scores_, [abs(each.statistic) for each in expected], **CLOSE)
    np.testing.assert_allclose(block.pvalues_, [each.pvalue for each in expected], **CLOSE)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_correlation_with_classes_is_that_of_the_best_indicator(n_classes: int) -> None:
    X, y = table(), classes(n_classes=n_classes)
    block = PearsonRanker().fit(X, y)
    expected = [[stats.pearsonr(column, one.astype(float)) for column in X.T] for one in against_rest(y)]
    np.testing.assert_allclose(block.scores_, np.max([[abs(e.statistic) for e in row] for row in expected], 0), **CLOSE)
    smallest = np.min([[each.pvalue for each in row] for row in expected], axis=0)
    np.testing.assert_allclose(block.pvalues_, np.minimum(len(expected) * smallest, 1.0), **CLOSE)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("equal_variance", [True, False])
def test_t_is_that_of_scipy(n_classes: int, equal_variance: bool) -> None:
    X, y = table(), classes(n_classes=n_classes)
    block = TTestRanker(equal_variance=equal_variance).fit(X, y)
    expected = [stats.ttest_ind(X[one], X[~one], equal_var=equal_variance) for one in against_rest(y)]
    np.testing.assert_allclose(block.scores_, np.max([np.abs(each.statistic) for each in expected], axis=0), **CLOSE)
    smallest = np.min([each.pvalue for each in expected], axis=0)
    np.testing.assert_allclose(block.pvalues_, np.minimum(len(expected) * smallest, 1.0), **CLOSE)


def test_t_of_a_class_of_one_row_is_pooled() -> None:
    X, y = table(), (np.arange(70) == 11).astype(int)
    expected = stats.ttest_ind(X[y == 1], X[y == 0])
    block = TTestRanker(equal_variance=False).fit(X, y)
    np.testing.assert_allclose(block.scores_, np.abs(expected.statistic), **CLOSE)
    np.testing.assert_allclose(block.pvalues_, expected.pvalue, **CLOSE)


def test_values_that_are_not_zero_are_counted_whatever_the_target() -> None:
    X = np.where(np.random.default_rng(0).random((50, 6)) < np.linspace(0, 1, 6), 0.0, -3.0)
    X[0, 5] = np.nextafter(0, 1)
    for y in (np.arange(50) % 2, np.linspace(0, 1, 50), None):
        block = ZFilterRanker(fmax=2).fit(X, y)
        assert block.scores_.tolist() == [sum(value != 0 for value in column) for column in X.T]
        assert block.selected_.tolist() == [0, 1]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_signal_to_noise_is_as_defined(n_classes: int) -> None:
    X, y = table(), classes(n_classes=n_classes)
    expected = [
        np.abs(X[one].mean(axis=0) - X[~one].mean(axis=0)) / ((X[one].std(axis=0) + X[~one].std(axis=0)) / 2)
        for one in against_rest(y)
    ]
    np.testing.assert_allclose(SignalToNoiseRanker().fit(X, y).scores_, np.max(expected, axis=0), **CLOSE)


def standard_errors_from_half(column: NDArray[np.float64], one: NDArray[np.bool_]) -> float:
    """|AUC - ½| without half a pair, over the deviation of AUC if the classes do not differ, corrected for ties."""
    n, pairs = len(column), int(one.sum()) * int((~one).sum())
    ties = np.unique(column, return_counts=True)[1]
    variance = pairs / 12 * (n + 1 - (ties**3 - ties).sum() / (n * (n - 1)))
    distance = max(pairs * abs(roc_auc_score(one, column) - 0.5) - 0.5, 0.0)
    return distance / np.sqrt(variance) if variance > 0 else 0.0


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("block_size", [1, 200, 1 << 18])
def test_auc_counts_in_the_standard_errors_of_mann_whitney(
    n_classes: int, block_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selectors, "BLOCK", block_size)
    X, y = table(), classes(n_classes=n_classes)
    block = AucRanker().fit(X, y)
    scores = [[standard_errors_from_half(column, one) for column in X.T] for one in against_rest(y)]
    np.testing.assert_allclose(block.scores_, np.max(scores, axis=0), **CLOSE)
    tests = [stats.mannwhitneyu(X[one], X[~one], method="asymptotic").pvalue for one in against_rest(y)]
    np.testing.assert_allclose(block.pvalues_, np.minimum(len(tests) * np.min(tests, axis=0), 1.0), **CLOSE)


@settings(max_examples=60)
@given(arrays(np.float64, st.tuples(st.integers(4, 30), st.integers(1, 4)), elements=st.integers(-3, 3)), st.data())
def test_auc_of_many_ties_is_exact(X: NDArray[np.float64], data: st.DataObject) -> None:
    y = data.draw(arrays(np.intp, len(X), elements=st.integers(0, 1)))
    y[:2] = 0, 1
    expected = [standard_errors_from_half(column, y == 1) for column in X.T]
    np.testing.assert_allclose(AucRanker(relative=True).fit(X, y).scores_, expected, atol=1e-9)


def above_the_median(column: NDArray[np.float64], one: NDArray[np.bool_]) -> NDArray[np.bool_]:
    median = np.median(column)
    return column > median if (column > median).any() else column >= median


def decided_by_naive_and_bias(column: NDArray[np.float64], one: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """What the two blocks say of one feature; a feature with two values says it itself."""
    if len(np.unique(column)) == 2:
        return column == column.max()
    learner, post = PooledBayes(), Bias()
    learner.fit_arrays(column[:, np.newaxis], one.astype(int), 2)
    outputs = learner.outputs(column[:, np.newaxis])
    post.fit_arrays(outputs, one.astype(int), 2)
    return post.transform_arrays(outputs).argmax(axis=1) == 1


def counted_odds(above: NDArray[np.bool_], one: NDArray[np.bool_]) -> tuple[float, float]:
    """The log odds ratio and Wald's p-value, one row at a time."""
    cells = [[0.5, 0.5], [0.5, 0.5]]
    for is_above, is_one in zip(above, one, strict=True):
        cells[int(is_above)][int(is_one)] += 1
    (a, b), (c, d) = cells
    log_odds = np.log(a * d / (b * c))
    error = np.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    return abs(log_odds), 2 * stats.norm.sf(abs(log_odds) / error)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("n_rows", [69, 70])
@pytest.mark.parametrize(
    ("ranker", "above"), [(OddsRatioRanker, decided_by_naive_and_bias), (MedianOddsRanker, above_the_median)]
)
def test_odds_are_those_of_a_counted_table(n_classes: int, n_rows: int, ranker: Any, above: Any) -> None:
    X, y = table(n_rows), classes(n_rows, n_classes)
    block = ranker().fit(X, y)
    expected = np.array([[counted_odds(above(column, one), one) for column in X.T] for one in against_rest(y)])
    np.testing.assert_allclose(block.scores_, expected[:, :, 0].max(axis=0), **CLOSE)
    smallest = expected[:, :, 1].min(axis=0)
    np.testing.assert_allclose(block.pvalues_, np.minimum(len(expected) * smallest, 1.0), **CLOSE)


def test_a_flag_that_is_mostly_on_has_odds_and_a_constant_has_none() -> None:
    y = np.arange(60) % 5 == 0
    flag = np.where(y, 0.0, 1.0)
    for ranker in (OddsRatioRanker, MedianOddsRanker):
        block = ranker().fit(np.column_stack([flag, np.ones(60), -flag]), y)
        assert block.scores_[0] == pytest.approx(block.scores_[2])
        assert block.scores_[0] > 5
        assert (block.scores_[1], block.pvalues_[1]) == (0.0, 1.0)


def test_discoveries_are_counted_in_the_order_of_the_evidence_for_odds() -> None:
    """A large ratio in few rows is less certain than a smaller one in many."""
    y = np.repeat([0, 1], 50)
    few, many = np.zeros(100), np.zeros(100)
    few[50:53] = 1
    many[np.r_[0:15, 50:85]] = 1
    block = OddsRatioRanker().fit(np.column_stack([few, many]), y)
    assert block.scores_[0] > block.scores_[1]
    assert block.pvalues_[0] > block.pvalues_[1]
    rates = false_discovery(block.pvalues_, np.array([1, 0]))
    assert OddsRatioRanker(fdrmax=rates[0] * 0.999).fit(np.column_stack([few, many]), y).selected_.tolist() == [1]
    assert OddsRatioRanker(fdrmax=rates[0]).fit(np.column_stack([few, many]), y).complexity() == 2


def test_forest_importances_are_those_of_the_forest() -> None:
    X, y = table(), classes(n_classes=3)
    unit = (X - (X.max(axis=0) + X.min(axis=0)) / 2) / np.ptp(X, axis=0)
    forest = RandomForestClassifier(n_estimators=20, max_features=3, random_state=4).fit(unit, y)
    block = ForestImportanceRanker(units=20, random_state=4).fit(X, y)
    decreases = np.zeros(X.shape[1])
    for tree in (each.tree_ for each in forest.estimators_):
        impure = tree.weighted_n_node_samples * tree.impurity
        for node in np.flatnonzero(tree.feature >= 0):
            children = tree.children_left[node], tree.children_right[node]
            decreases[tree.feature[node]] += impure[node] - sum(impure[child] for child in children)
    np.testing.assert_allclose(block.scores_, decreases / 20, rtol=1e-10)
    assert not np.array_equal(ForestImportanceRanker(units=20, random_state=5).fit(X, y).scores_, block.scores_)


def test_a_forest_sees_differences_of_any_size() -> None:
    X, y = table(), classes()
    tiny = ForestImportanceRanker(units=10).fit(1e-12 * X[:, :4], y)
    assert np.array_equal(tiny.scores_, ForestImportanceRanker(units=10).fit(2.0**20 * (1e-12 * X[:, :4]), y).scores_)
    numbers = X[:, 0] + 0.1 * X[:, 1]
    assert ForestImportanceRanker(units=10, fmax=1).fit(X, 1e-12 * numbers).selected_.tolist() == [0]


@given(arrays(np.float64, st.integers(1, 40), elements=st.floats(0, 1)))
def test_false_discovery_is_the_p_value_times_features_over_rank(pvalues: NDArray[np.float64]) -> None:
    order = np.argsort(pvalues, kind="stable")
    rates = false_discovery(pvalues, order)
    for rank, column in enumerate(order, start=1):
        assert rates[column] == pytest.approx(min(pvalues[column] * len(pvalues) / rank, 1.0))
    # Benjamini and Hochberg take the smallest rate from each rank on.
    monotone = np.minimum.accumulate(rates[order][::-1])[::-1]
    np.testing.assert_allclose(monotone, stats.false_discovery_control(pvalues)[order], rtol=1e-12)


@given(arrays(np.float64, st.integers(1, 20), elements=st.one_of(st.floats(-10, 1e300), st.just(np.inf))))
def test_weights_are_parts_of_the_best_score(scores: NDArray[np.float64]) -> None:
    weights = unit_weights(scores)
    assert ((weights >= 0.0) & (weights <= 1.0)).all()
    assert (weights[scores <= 0.0] == 0.0).all()
    if scores.max() > 0.0:
        assert (weights[scores == scores.max()] == 1.0).all()
    order = np.argsort(scores)
    assert (np.diff(weights[order]) >= 0.0).all()


@settings(max_examples=60)
@given(
    fmax=st.one_of(st.none(), st.integers(1, 30)), wmin=st.floats(0, 1), pval=st.floats(0, 1), fdrmax=st.floats(0, 1)
)
@pytest.mark.parametrize("relative", [False, True])
def test_the_best_that_pass_every_threshold_stay(
    fmax: int | None, wmin: float, pval: float, fdrmax: float, relative: bool
) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 20)) + np.outer(np.arange(60) % 2, np.linspace(0, 1.5, 20))
    y = np.arange(60) % 2
    f, pvalues = f_classif(X, y)
    by_score = np.argsort(-f)
    stays = [
        int(column)
        for rank, column in enumerate(by_score, start=1)
        if (f[column] >= wmin * f.max() if relative else f[column] > wmin)
        and pvalues[column] <= pval
        and min(pvalues[column] * 20 / rank, 1.0) <= fdrmax
    ][:fmax]
    block = FTestRanker(fmax=fmax, wmin=wmin, pval=pval, fdrmax=fdrmax, relative=relative)
    if stays or relative:
        assert block.fit(X, y).selected_.tolist() == sorted(stays or [int(by_score[0])])
    else:
        with pytest.raises(ValueError, match="keeps no feature: none of 20 passes its thresholds"):
            block.fit(X, y)


def test_a_threshold_is_on_the_score_itself() -> None:
    X, y = table(), classes()
    scores = SignalToNoiseRanker().fit(X, y).scores_
    between = (np.sort(scores)[4] + np.sort(scores)[5]) / 2
    assert SignalToNoiseRanker(wmin=between).fit(X, y).selected_.tolist() == np.flatnonzero(scores > between).tolist()
    assert SignalToNoiseRanker(wmin=np.sort(scores)[4]).fit(X, y).complexity() == len(scores) - 5
    with pytest.raises(ValueError, match=r"wmin = 1\) at n_samples = 70; the best score is 0\."):
        SignalToNoiseRanker(wmin=1.0).fit(X, y)


@pytest.mark.parametrize("ranker", [TTestRanker, AucRanker, MedianOddsRanker, PearsonRanker, FTestRanker])
@pytest.mark.parametrize("n_classes", [2, 10])
def test_noise_is_not_significant_whatever_the_number_of_classes(ranker: Any, n_classes: int) -> None:
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(200, 1000)), np.arange(200) % n_classes
    share = (ranker().fit(X, y).pvalues_ <= 0.05).mean()
    # Three standard errors above the nominal share; a table of odds is discrete and may be well below.
    assert share <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1000)
    assert ranker(fdrmax=0.01, relative=True).fit(X, y).complexity() <= 3


def test_equal_columns_rank_in_their_order() -> None:
    X, y = table(n_columns=6), classes()
    X = np.hstack([X, X])
    for ranker in (FTestRanker, TTestRanker, AucRanker, OddsRatioRanker, MedianOddsRanker, SignalToNoiseRanker):
        best = int(np.argmax(ranker().fit(X[:, :6], y).scores_))
        assert ranker(fmax=1).fit(X, y).selected_.tolist() == [best]


def test_a_perfect_feature_is_infinitely_good_and_leaves_no_weight_to_others() -> None:
    X, y = table(n_columns=6), classes(n_classes=3)
    X[:, 4] = np.array([0.1, 0.7, 0.3])[y]
    block = FTestRanker(wmin=1e-9, relative=True).fit(X, y)
    assert block.scores_[4] == np.inf
    assert block.pvalues_[4] == 0.0
    assert block.selected_.tolist() == [4]
    assert FTestRanker(fmax=3).fit(X, y).complexity() == 3


@pytest.mark.parametrize("n_rows", [30, 101, 3000])
@pytest.mark.parametrize("ranker", [FTestRanker, TTestRanker, SignalToNoiseRanker])
def test_rounded_means_do_not_hide_perfect_features(ranker: Any, n_rows: int) -> None:
    """The mean of equal numbers is rounded: deviations from it look like variance, more so the more rows there are."""
    rng = np.random.default_rng(n_rows)
    y = np.arange(n_rows) % 2
    X = rng.random(size=(40, 2)).T[y]
    X[:, 0] = np.array([0.3, 0.7])[y]
    X[0, 0] = 0.1 + 0.2
    assert (ranker().fit(X, y).scores_ == np.inf).all()


def test_order_of_rows_does_not_matter() -> None:
    X, y = table(), classes(n_classes=3)
    mixed = np.random.default_rng(0).permutation(len(X))
    for ranker in (
        FTestRanker,
        TTestRanker,
        AucRanker,
        OddsRatioRanker,
        MedianOddsRanker,
        PearsonRanker,
        SignalToNoiseRanker,
    ):
        np.testing.assert_allclose(ranker().fit(X, y).scores_, ranker().fit(X[mixed], y[mixed]).scores_, rtol=1e-10)


def test_labels_may_be_anything() -> None:
    X, y = table(), classes(n_classes=3)
    names = np.array(["one", "two", "zero"])
    assert np.array_equal(FTestRanker().fit(X, names[y]).scores_, FTestRanker().fit(X, y).scores_)
