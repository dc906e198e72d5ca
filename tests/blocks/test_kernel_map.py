"""The kernel map against an explicit loop."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from msl.blocks.kernels.kernel_map import KERNELS, KernelMap
from msl.blocks.similarity.distances import DISTANCES
from msl.blocks.similarity.reference_points import REFERENCES, FarthestFirst


@parametrize_with_checks(
    [
        KernelMap(n=4),
        KernelMap("density", 5, "centroids", "manhattan", "cauchy"),
        KernelMap("condensed", kernel="sigmoid"),
        KernelMap("all_rows", kernel="linear", distance="angle"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


FORMULAS = {
    "linear": lambda d, sigma: d,
    "gaussian": lambda d, sigma: np.exp(-d / sigma),
    "sigmoid": lambda d, sigma: 1 / (1 + np.exp(sigma - d)),
    "cauchy": lambda d, sigma: 1 / (1 + d / sigma),
}


@pytest.mark.parametrize("references", ["random_rows", "fft", "density", "kmeans"])
@pytest.mark.parametrize("points", ["centers", "centroids"])
@pytest.mark.parametrize("distance", ["euclidean", "angle", "manhattan"])
def test_by_explicit_loop(references, points, distance):
    X, _ = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).normal(0.0, 1e-3, X.shape)  # no two distances are equal
    train, test = X[::2], X[1::2]
    measure = DISTANCES[distance]()
    chosen = KernelMap(references, 7, "centers", distance, "linear", random_state=3).fit(train).regions_.points
    first_six = chosen[:6]
    if points == "centroids":
        cells = measure.pairwise(train, chosen).argmin(axis=1)
        if references == "density":  # those removed together, not the nearest ones
            cells = removed_together(train, chosen, measure)
        chosen = np.array([train[cells == cell].mean(axis=0) for cell in range(7) if np.any(cells == cell)])
    distances = measure.pairwise(train, chosen)
    sigma = []
    for cell in range(len(chosen)):
        own = [row[cell] for row in distances if row.argmin() == cell]
        others = [length for length in measure.pairwise(chosen, chosen)[cell] if length > 0]
        sigma.append(max(own, default=0.0) or min(others))
    if references == "fft":  # the row farthest from the first six centres was the seventh
        sigma = [measure.pairwise(train, first_six).min(axis=1).max()] * len(chosen)
    for kernel, formula in FORMULAS.items():
        mapped = KernelMap(references, 7, points, distance, kernel, random_state=3).fit(train).transform(test)
        expected = np.empty_like(mapped)
        for row, x in enumerate(test):
            for cell, centre in enumerate(chosen):
                expected[row, cell] = formula(measure.pairwise([x], [centre])[0, 0], sigma[cell])
        np.testing.assert_allclose(mapped, expected, rtol=1e-9)


def removed_together(rows, chosen, measure):
    """Each reference takes its share of the rows that are left, those nearest to it."""
    cells, left = np.empty(len(rows), dtype=int), list(range(len(rows)))
    for cell, point in enumerate(chosen):
        share = len(rows) // len(chosen) + (cell < len(rows) % len(chosen))
        distance = measure.pairwise(rows, point[None])[:, 0]
        own = sorted(left, key=lambda row: (not np.array_equal(rows[row], point), distance[row]))[:share]
        cells[own] = cell
        left = [row for row in left if row not in own]
    return cells


def test_a_reference_alone_takes_the_distance_to_the_next():
    X = np.array([[0.0], [1.0], [5.0], [5.0]])
    mapped = KernelMap("all_rows", kernel="gaussian").fit(X)
    np.testing.assert_allclose(mapped.regions_.sigma, [1.0, 1.0, 4.0, 4.0])


def test_equal_rows_map_to_finite_numbers():
    X = np.ones((6, 2))
    for kernel in KERNELS:
        for references in ("random_rows", "fft"):
            assert np.all(np.isfinite(KernelMap(references, 3, kernel=kernel).fit(X).transform(X)))


def test_the_width_of_a_traversal_covers_every_row_and_separates_every_two_centres():
    X, _ = load_iris(return_X_y=True)
    fitted = KernelMap("fft", 12, "centers", "euclidean", "gaussian", random_state=1).fit(X).regions_
    (sigma,) = set(fitted.sigma.tolist())
    to_rows = np.linalg.norm(X[:, None] - fitted.points, axis=2)
    between = np.linalg.norm(fitted.points[:, None] - fitted.points, axis=2) + np.diag([np.inf] * 12)
    assert to_rows.min(axis=1).max() <= sigma
    assert between.min() == pytest.approx(sigma)


def test_regions_are_shared_between_kernels():
    X, _ = load_iris(return_X_y=True)
    prepared = KernelMap(n=5).prepare(X, np.zeros(len(X)), 0)
    for kernel in KERNELS:
        sibling = KernelMap(n=5, kernel=kernel)
        sibling.fit_prepared(prepared, X, np.zeros(len(X)), 0)
        np.testing.assert_array_equal(sibling.transform_arrays(X), KernelMap(n=5, kernel=kernel).fit_transform(X))


def test_complexity_is_the_number_of_references():
    X, y = load_iris(return_X_y=True)
    assert KernelMap(FarthestFirst(), 9).fit(X).complexity() == 9
    assert KernelMap("random_rows", 1000).fit(X).complexity() == len(X)
    assert KernelMap("condensed").fit(X, y).complexity() < len(X) / 2


def test_only_references_by_class_need_a_target():
    needs = {name for name in REFERENCES if KernelMap(name).needs_target}
    assert needs == {"condensed", "edited", "lvq", "coulomb", "on_line"}


def test_references_by_class_refuse_numbers():
    X, _ = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="cannot do regression"):
        KernelMap("condensed").fit(X, X[:, 0])


def test_the_seed_decides():
    X, _ = load_iris(return_X_y=True)
    same = [KernelMap("random_rows", random_state=4).fit_transform(X) for _ in range(2)]
    np.testing.assert_array_equal(*same)
    assert not np.array_equal(same[0], KernelMap("random_rows", random_state=5).fit_transform(X))
