"""Gram-Schmidt against explicit least squares and QR; components against scikit-learn's and a plain decomposition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from msl.blocks.numerics import matrices
from msl.blocks.numerics.matrices import PrincipalAxes
from msl.blocks.selection.orthogonal import ForwardSelection, GramSchmidt, PrincipalComponents


def forward_by_least_squares(
    X: NDArray[np.float64], targets: NDArray[np.float64], count: int, intercept: bool = True
) -> list[int]:
    """At each step the feature whose addition leaves the smallest residual of the least squares fit."""
    constant = np.ones((len(X), int(intercept)))
    chosen: list[int] = []
    for _ in range(count):
        residuals = np.full(X.shape[1], np.inf)
        for candidate in set(range(X.shape[1])) - set(chosen):
            design = np.column_stack([constant, X[:, [*chosen, candidate]]])
            fit = design @ np.linalg.lstsq(design, targets, rcond=None)[0]
            residuals[candidate] = ((targets - fit) ** 2).sum()
        chosen.append(int(residuals.argmin()))
    return chosen


def forward_by_orthogonalisation(X: NDArray[np.float64], target: NDArray[np.float64], count: int) -> list[int]:
    """The textbook: orthogonalise every feature and the target against the one chosen, by QR."""
    chosen: list[int] = []
    for _ in range(count):
        basis = np.linalg.qr(np.column_stack([np.ones(len(X)), X[:, chosen]]))[0]
        left = X - basis @ (basis.T @ X)
        rest = target - basis @ (basis.T @ target)
        cosines = np.abs(rest @ left) / np.maximum(np.linalg.norm(left, axis=0), 1e-9)
        cosines[chosen] = -1.0
        chosen.append(int(cosines.argmax()))
    return chosen


def in_order(
    X: NDArray[np.float64], y: NDArray[np.generic], n_classes: int, count: int, center: bool = False
) -> list[int]:
    return GramSchmidt(center=center).prepare(X, y, n_classes).first(count).tolist()


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from([(30, 8), (12, 25), (60, 4)]))
def test_numbers_are_explained_as_by_explicit_gram_schmidt(seed: int, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape) @ rng.normal(size=(shape[1], shape[1])) * 10.0 ** rng.integers(-4, 4, shape[1])
    y = X @ (rng.normal(size=shape[1]) / X.std(axis=0)) + rng.normal(size=shape[0])
    count = min(shape[0] - 3, shape[1])
    assert in_order(X, y, 0, count) == forward_by_orthogonalisation(X, y, count)
    assert in_order(X, y, 0, count) == forward_by_least_squares(X, y[:, np.newaxis], count)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_classes_are_explained_as_by_least_squares_on_signs(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    y = np.minimum(np.arange(80) % (n_classes + 2), n_classes - 1)
    X = rng.normal(size=(80, 10)) + rng.normal(size=(n_classes, 10))[y] + rng.normal(size=10)
    signs = np.where(y[:, np.newaxis] == np.arange(n_classes), 1.0, -1.0)
    as_they_are = forward_by_least_squares(X, signs, 10, intercept=False)
    assert in_order(X, y, n_classes, 10) == as_they_are
    centred = (signs - signs.mean(axis=0)) / signs.std(axis=0)
    assert in_order(X, y, n_classes, 10, center=True) == forward_by_least_squares(X, centred, 10) != as_they_are


def test_nearly_dependent_features_keep_their_digits() -> None:
    rng = np.random.default_rng(1)
    base = rng.normal(size=(100, 3))
    # What these have beyond the first three is a millionth of them, and it alone explains the rest of the target.
    X = np.hstack([base, base + 1e-6 * rng.normal(size=(100, 3)), rng.normal(size=(100, 2))])
    y = base.sum(axis=1) + 1e5 * (X[:, 4] - base[:, 1]) + 0.01 * rng.normal(size=100)
    assert in_order(X, y, 0, 8) == forward_by_orthogonalisation(X, y, 8)


def test_features_that_add_nothing_come_last_by_their_own_correlation() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = X @ np.array([3.0, 2.0, 1.0]) + rng.normal(size=50)
    copies = np.hstack([X, 2 * X[:, ::-1], np.ones((50, 1))])
    assert in_order(copies, y, 0, 7) == [0, 1, 2, 5, 4, 3, 6]


def test_asking_for_more_later_changes_nothing() -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 40))
    selection = GramSchmidt().prepare(X, X[:, 0] + rng.normal(size=60), 0)
    assert isinstance(selection, ForwardSelection)
    few = selection.first(3).tolist()
    many = selection.first(30).tolist()
    assert many[:3] == few
    assert selection.first(3).tolist() == few
    assert in_order(X, X[:, 0] + np.random.default_rng(8).normal(size=60), 0, 40) != many
    assert sorted(selection.first(40).tolist()) == list(range(40))


@pytest.mark.parametrize("shape", [(200, 8), (30, 8), (8, 8), (12, 40), (40, 39)])
@pytest.mark.parametrize("fmax", [1, 3, None])
def test_components_are_those_of_scikit_learn(shape: tuple[int, int], fmax: int | None) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape) @ rng.normal(size=(shape[1], shape[1])) + 5.0
    block = PrincipalComponents(fmax=fmax).fit(X)
    rank = min(shape[0] - 1, shape[1])
    reference = PCA(n_components=min(fmax or rank, rank), svd_solver="full").fit(X)
    new = rng.normal(size=(5, shape[1]))
    expected = reference.transform(new) / reference.singular_values_
    np.testing.assert_allclose(block.transform(new), expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose((block.transform(X) ** 2).sum(axis=0), 1.0, rtol=1e-6)
    np.testing.assert_allclose(block.deviations_**2, reference.explained_variance_, rtol=1e-6)
    assert block.complexity() == reference.n_components_


@pytest.mark.parametrize("shape", [(300, 6), (40, 6), (6, 40)])
@pytest.mark.parametrize("spread", [0, 3, 7, 12])
def test_components_of_any_spread_are_exact_and_orthonormal(shape: tuple[int, int], spread: int) -> None:
    """Known axes and lengths, which differ by up to twelve orders of magnitude."""
    rng = np.random.default_rng(spread)
    rank = 5
    rows = rng.normal(size=(shape[0], rank))
    scores = np.linalg.qr(rows - rows.mean(axis=0))[0]
    true_axes = np.linalg.qr(rng.normal(size=(shape[1], rank)))[0]
    lengths = np.logspace(0, -spread, rank)
    found, loadings = PrincipalAxes(scores * lengths @ true_axes.T, np.zeros(shape[1])).first()
    np.testing.assert_allclose(found[:rank], lengths, rtol=1e-6, atol=1e-15)
    np.testing.assert_allclose(loadings.T @ loadings, np.eye(loadings.shape[1]), atol=1e-7)
    assert (loadings[np.abs(loadings).argmax(axis=0), np.arange(loadings.shape[1])] > 0).all()


@pytest.mark.parametrize("shape", [(300, 80), (70, 200)])
def test_a_few_axes_are_the_first_of_all_whatever_was_asked_before(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=shape) * np.logspace(1, 0, shape[1])
    everything = PrincipalComponents().fit(X)
    shared = PrincipalComponents().prepare(X, np.zeros(len(X)), 0)
    for fmax in (40, 3, 16, 17, 3, 1):
        alone, sibling = PrincipalComponents(fmax=fmax).fit(X), PrincipalComponents(fmax=fmax)
        sibling.fit_prepared(shared, X, np.zeros(len(X)), 0)
        assert np.array_equal(sibling.loadings_, alone.loadings_)
        assert np.array_equal(sibling.deviations_, alone.deviations_)
        np.testing.assert_allclose(alone.loadings_, everything.loadings_[:, :fmax], atol=1e-9)
        np.testing.assert_allclose(alone.deviations_, everything.deviations_[:fmax], rtol=1e-9)


def test_a_few_axes_of_a_low_rank_are_exact_too() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 5)) @ rng.normal(size=(5, 100))
    few = PrincipalComponents(fmax=10).fit(X)
    assert few.loadings_.shape == (100, 5)
    np.testing.assert_allclose(few.deviations_, np.linalg.svd(X - X.mean(axis=0))[1][:5] / np.sqrt(299), rtol=1e-9)


def test_directions_without_variance_are_dropped() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    block = PrincipalComponents().fit(np.hstack([X, X, np.ones((50, 2))]))
    assert block.transform(np.zeros((1, 8))).shape == (1, 3)
    assert block.get_feature_names_out().tolist() == [f"principalcomponents{i}" for i in range(3)]


@pytest.mark.parametrize("exponent", [-990, 980])
def test_components_do_not_depend_on_the_scale_of_the_data(exponent: int) -> None:
    X = np.random.default_rng(0).normal(size=(20, 4))
    scaled = np.ldexp(X, exponent)
    plain = PrincipalComponents(fmax=2).fit(X).transform(X)
    assert np.array_equal(PrincipalComponents(fmax=2).fit(scaled).transform(scaled), plain)


def test_long_tables_are_added_up_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(500, 3)) + 1e3
    whole = PrincipalComponents().fit(X).deviations_
    monkeypatch.setattr(matrices, "BLOCK", 10)
    np.testing.assert_allclose(PrincipalComponents().fit(X).deviations_, whole, rtol=1e-12)
