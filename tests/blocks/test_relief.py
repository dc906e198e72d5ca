"""Relief and ReliefF against double loops over rows and neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from msl.blocks.selection import relief
from msl.blocks.selection.relief import ReliefFRanker, ReliefRanker

Rows = NDArray[np.float64]


def scaled(X: Rows) -> Rows:
    span = np.ptp(X, axis=0)
    return (X - X.min(axis=0)) / np.where(span > 0, span, 1.0)


def nearest(X: Rows, row: int, candidates: list[int], knum: int) -> list[int]:
    """The `knum` nearest rows and those as far as the last of them."""
    distances = {other: sum(abs(X[row] - X[other])) for other in candidates if other != row}
    if len(distances) <= knum:
        return list(distances)
    farthest = sorted(distances.values())[knum - 1]
    return [other for other, distance in distances.items() if distance <= farthest * (1 + 1e-12)]


def ratio_by_loops(X: Rows, y: NDArray[np.intp], knum: int) -> Rows:
    """The Relief of CLOP: mean differences to the nearest misses over those to the nearest hits."""
    misses, hits = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for row in range(len(X)):
        distances = ((X - X[row]) ** 2).sum(axis=1)
        by_distance = [int(other) for other in np.argsort(distances, kind="stable") if other != row]
        for other in [other for other in by_distance if y[other] != y[row]][:knum]:
            misses += abs(X[row] - X[other])
        for other in [other for other in by_distance if y[other] == y[row]][:knum]:
            hits += abs(X[row] - X[other])
    return misses / hits


def relieff_by_loops(X: Rows, y: NDArray[np.intp], knum: int) -> Rows:
    """ReliefF as Kononenko (1994) writes it, with every row once."""
    X = scaled(X)
    members = {code: [row for row in range(len(X)) if y[row] == code] for code in set(y.tolist())}
    counted = [row for row in range(len(X)) if len(members[y[row]]) > 1]
    weights = np.zeros(X.shape[1])
    for row in counted:
        hits = nearest(X, row, members[y[row]], knum)
        for hit in hits:
            weights -= abs(X[row] - X[hit]) / len(hits)
        others = len(X) - len(members[y[row]])
        for code in members.keys() - {y[row]}:
            misses = nearest(X, row, members[code], knum)
            for miss in misses:
                weights += len(members[code]) / others * abs(X[row] - X[miss]) / len(misses)
    return weights / max(len(counted), 1)


def relief_of_numbers_by_loops(X: Rows, y: Rows, knum: int) -> tuple[Rows, Rows]:
    """The two means of RReliefF (Robnik-Sikonja and Kononenko, 1997), with equal influence of the neighbours."""
    X, target = scaled(X), scaled(y[:, np.newaxis])[:, 0]
    changed, differed, both = 0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for row in range(len(X)):
        neighbours = nearest(X, row, list(range(len(X))), knum)
        for other in neighbours:
            change, difference = abs(target[row] - target[other]), abs(X[row] - X[other])
            changed += change / len(neighbours)
            differed += difference / len(neighbours)
            both += change * difference / len(neighbours)
    return both / changed, (differed - both) / (len(X) - changed)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(1, 12), st.booleans())
def test_relief_is_a_double_loop(seed: int, n_classes: int, knum: int, tied: bool) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4)) * [1.0, 3.0, 0.5, 1.0]
    X = np.round(4 * X) if tied else X
    y = rng.integers(n_classes, size=30)
    y[: 2 * n_classes] = np.arange(2 * n_classes) % n_classes
    few = min(knum, int(np.bincount(y).min()) - 1)
    np.testing.assert_allclose(ReliefRanker(knum=few).fit(X, y).scores_, ratio_by_loops(X, y, few), rtol=1e-10)


def test_relief_takes_features_as_they_are() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    scores = ReliefRanker().fit(X, y).scores_
    assert not np.allclose(ReliefRanker().fit(X * [1, 100, 1], y).scores_, scores)
    np.testing.assert_allclose(ReliefRanker().fit(X * 2.0**900, y).scores_, scores)


def test_a_feature_that_is_equal_among_near_rows_of_a_class_is_infinitely_good() -> None:
    y = np.arange(20) % 2
    X = np.column_stack([y, np.random.default_rng(0).normal(size=20), np.ones(20)]).astype(float)
    block = ReliefRanker(fmax=1).fit(X, y)
    assert block.scores_[0] == np.inf
    assert block.scores_[2] == 0.0
    assert block.selected_.tolist() == [0]


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(1, 12), st.booleans())
def test_relieff_is_a_double_loop(seed: int, n_classes: int, knum: int, tied: bool) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4)) * 10.0 ** rng.integers(-5, 5, size=4)
    X = np.round(X / X.std(axis=0)) if tied else X
    y = rng.integers(n_classes, size=30)
    y[:n_classes] = np.arange(n_classes)
    expected = relieff_by_loops(X, y, knum)
    np.testing.assert_allclose(ReliefFRanker(relative=True, knum=knum).fit(X, y).scores_, expected, atol=1e-12)


def test_rows_alone_in_their_class_are_misses_of_others_only() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), np.where(np.arange(20) < 3, np.arange(20) + 2, np.arange(20) % 2)
    np.testing.assert_allclose(
        ReliefFRanker(relative=True, knum=3).fit(X, y).scores_, relieff_by_loops(X, y, 3), atol=1e-12
    )
    assert (ReliefFRanker(relative=True).fit(X, np.arange(20)).scores_ == 0.0).all()


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(1, 12), st.booleans())
def test_numbers_as_by_a_double_loop(seed: int, knum: int, tied: bool) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 3))
    X = np.round(X) if tied else X
    y = X[:, 0] + rng.normal(size=25)
    with_change, without_change = relief_of_numbers_by_loops(X, y, knum)
    relieff, ratio = ReliefFRanker(relative=True, knum=knum).fit(X, y), ReliefRanker(knum=knum).fit(X, y)
    np.testing.assert_allclose(relieff.scores_, with_change - without_change, atol=1e-12)
    expected = np.divide(with_change, without_change, out=np.zeros(3), where=without_change > 0.0)
    np.testing.assert_allclose(ratio.scores_, expected, rtol=1e-9)


@pytest.mark.parametrize("block_size", [1, 100, 5000])
def test_blocks_of_any_size_give_the_same(block_size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X, y, numbers = rng.normal(size=(60, 5)), np.arange(60) % 3, rng.normal(size=60)
    rankers = ReliefFRanker(relative=True), ReliefRanker()
    whole = [ranker.fit(X, target).scores_ for ranker in rankers for target in (y, numbers)]
    monkeypatch.setattr(relief, "PAIRS_AT_ONCE", block_size)
    again = [ranker.fit(X, target).scores_ for ranker in rankers for target in (y, numbers)]
    np.testing.assert_allclose(again, whole, atol=1e-13, rtol=1e-12)


def test_features_that_matter_only_together_are_found() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(300, 6)).astype(float)
    y = (X[:, 1] != X[:, 4]).astype(int)
    assert ReliefFRanker(relative=True, fmax=2).fit(X, y).selected_.tolist() == [1, 4]


def test_order_of_rows_and_columns_does_not_matter_even_with_ties() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 3, size=(80, 5)) / 10, rng.integers(0, 3, size=80)
    scores = ReliefFRanker(relative=True, knum=4).fit(X, y).scores_
    rows, columns = rng.permutation(80), rng.permutation(5)
    np.testing.assert_allclose(ReliefFRanker(relative=True, knum=4).fit(X[rows], y[rows]).scores_, scores, atol=1e-13)
    np.testing.assert_allclose(
        ReliefFRanker(relative=True, knum=4).fit(X[:, columns], y).scores_, scores[columns], atol=1e-13
    )


def test_scores_below_zero_pass_only_a_threshold_that_is_no_share_at_all() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    X = np.column_stack([rng.normal(size=100), y + 0.1 * rng.normal(size=100), rng.normal(size=100)])
    block = ReliefFRanker(wmin=0.0, relative=True).fit(X, y)
    assert block.scores_.min() < 0.0
    assert block.complexity() == 3
    assert ReliefFRanker(wmin=0.5, relative=True).fit(X, y).selected_.tolist() == [1]
