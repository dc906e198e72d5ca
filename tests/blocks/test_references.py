"""References against brute force and plain loops."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from msl.blocks.similarity.distances import DISTANCES, Difference, Euclidean, Overlap
from msl.blocks.similarity.fitted_distance import fit_metric
from msl.blocks.similarity.reference_points import (
    LVQ,
    REFERENCES,
    AllRows,
    Condensed,
    Density,
    Edited,
    FarthestFirst,
    KMeans,
    OnLine,
    RandomRows,
    TrainingRows,
)


def training_on(X, y=None, n_classes=0, distance=None, symbolic=(), importance=None):
    y = np.zeros(len(X)) if y is None else y
    importance = np.ones(X.shape[1]) if importance is None else importance
    metric = fit_metric(X, y, n_classes, distance or Euclidean(), importance, Difference(), Overlap(), symbolic)
    return TrainingRows.of(X, y, n_classes, metric)


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.fixture(name="cloud")
def fixture_cloud():
    return rng(7).normal(size=(50, 3))


@pytest.fixture(name="iris")
def fixture_iris():
    """Two flowers that overlap, in a random order."""
    X, y = load_iris(return_X_y=True)
    order = rng(0).permutation(np.flatnonzero(y > 0))
    return X[order], y[order] - 1


@pytest.mark.parametrize("name", ["euclidean", "manhattan", "canberra", "angle"])
def test_farthest_first_by_brute_force(cloud, name):
    distances = DISTANCES[name]().pairwise(cloud, cloud)
    rows = FarthestFirst().choose(training_on(cloud, distance=DISTANCES[name]()), 8, rng(3)).rows.tolist()
    chosen = [int(rng(3).integers(50))]
    while len(chosen) < 8:
        chosen.append(max(range(50), key=lambda row: min(distances[row, old] for old in chosen)))
    assert rows == chosen


def test_farthest_first_ends_when_all_rows_are_covered():
    X = np.repeat(np.arange(3.0), 5)[:, None]
    rows = FarthestFirst().choose(training_on(X), 10, rng()).rows
    assert sorted(X[rows, 0].tolist()) == [0, 1, 2]


@pytest.mark.parametrize("n", [5, 7, 50])
def test_density_by_brute_force(cloud, n):
    distances = Euclidean().pairwise(cloud, cloud)
    found = Density().choose(training_on(cloud), n, rng(3))
    left, chosen, draws = list(range(50)), [], rng(3)
    for step in range(n):
        row = int(draws.choice(left))
        chosen.append(row)
        count = 50 // n + (step < 50 % n)
        removed = sorted(left, key=lambda other, row=row: distances[row, other])[:count]
        left = [other for other in left if other not in removed]
        assert np.flatnonzero(found.cells == step).tolist() == sorted(removed)
    assert found.rows.tolist() == chosen
    assert left == []


def test_density_is_as_dense_as_the_data():
    X = np.concatenate([rng(0).normal(size=(90, 2)), rng(1).normal(size=(10, 2)) + 1000])
    rows = Density().choose(training_on(X), 10, rng()).rows
    assert 7 <= np.sum(rows < 90) <= 10


def test_random_rows_are_distinct_rows(cloud):
    rows = RandomRows().choose(training_on(cloud), 20, rng()).rows
    assert len(set(rows.tolist())) == 20
    assert RandomRows().choose(training_on(cloud), 99, rng()).rows.tolist() == list(range(50))


def test_all_rows(cloud):
    chosen = AllRows().choose(training_on(cloud), 3, rng())
    np.testing.assert_array_equal(chosen.points, cloud)


def test_kmeans_looks_at_weighted_features_only():
    X = np.column_stack([np.repeat([0.0, 1.0], 20), rng(0).normal(size=40) * 1000])
    chosen = KMeans().choose(training_on(X, importance=np.array([1.0, 0.0])), 2, rng())
    np.testing.assert_allclose(sorted(chosen.points[:, 0]), [0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(sorted(chosen.points[:, 1]), sorted([X[:20, 1].mean(), X[20:, 1].mean()]))


def test_kmeans_of_huge_numbers():
    X = np.array([[1e300], [1.1e300], [-1e300], [-1.1e300]])
    points = KMeans().choose(training_on(X), 2, rng()).points
    np.testing.assert_allclose(sorted(points[:, 0]), [-1.05e300, 1.05e300])


@pytest.mark.parametrize("neighbours", [1, 3, 5])
def test_edited_by_plain_loop(iris, neighbours):
    X, y = iris
    X = X + rng(1).normal(size=X.shape) * 1e-3  # no ties, so that every rule for them gives the same
    distances = Euclidean().pairwise(X, X)
    kept = []
    for row in range(len(X)):
        others = [other for other in np.argsort(distances[row]) if other != row][:neighbours]
        if np.bincount(y[others], minlength=2).argmax() == y[row]:
            kept.append(row)
    assert Edited(neighbours).choose(training_on(X, y, 2), 1, rng()).rows.tolist() == kept
    assert len(kept) < len(X)


def test_edited_keeps_all_rows_rather_than_none():
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    assert Edited(1).choose(training_on(X, y, 2), 1, rng()).rows.tolist() == [0, 1]
    assert Edited(1).choose(training_on(X[:1], y[:1], 2), 1, rng()).rows.tolist() == [0]


def condensed_by_plain_loop(X, y):
    distances = Euclidean().pairwise(X, X)
    kept = [0]
    while True:
        before = len(kept)
        for row in range(len(X)):
            if row in kept:
                continue
            nearest = min(distances[row, other] for other in kept)
            votes = [y[other] for other in kept if distances[row, other] <= nearest * (1 + 1e-9)]
            if votes.count(y[row]) * 2 <= len(votes):
                kept.append(row)
        if len(kept) == before:
            return sorted(kept)


def test_condensed_by_plain_loop(iris):
    X, y = iris
    rows = Condensed().choose(training_on(X, y, 2), 1, rng()).rows
    assert rows.tolist() == condensed_by_plain_loop(X, y)
    assert len(rows) < len(X) / 2


def test_condensed_with_contradictory_equal_rows():
    X = np.array([[0.0], [0.0], [0.0], [5.0], [5.0]])
    y = np.array([0, 1, 0, 1, 1])
    assert Condensed().choose(training_on(X, y, 2), 1, rng()).rows.tolist() == condensed_by_plain_loop(X, y)


def test_lvq_by_plain_loop(iris):
    X, y = iris
    chosen = LVQ(epochs=2, rate=0.2).choose(training_on(X, y, 2), 6, rng(4))
    draws = rng(4)
    start = np.concatenate([draws.choice(np.flatnonzero(y == code), size=3, replace=False) for code in (0, 1)])
    prototypes = X[start].copy()
    steps = 2 * len(X)
    for step, row in enumerate(np.concatenate([draws.permutation(len(X)) for _ in range(2)])):
        winner = np.square(prototypes - X[row]).sum(axis=1).argmin()
        move = 0.2 * (1 - step / steps) * (X[row] - prototypes[winner])
        prototypes[winner] += move if y[start[winner]] == y[row] else -move
        prototypes[winner] = np.clip(prototypes[winner], X.min(axis=0), X.max(axis=0))
    np.testing.assert_allclose(chosen.points, prototypes, rtol=1e-9)
    assert chosen.classes.tolist() == [0, 0, 0, 1, 1, 1]


def test_lvq_learns(iris):
    X, y = iris
    training = training_on(X, y, 2)

    def errors(points, classes):
        return np.mean(classes[Euclidean().pairwise(X, points).argmin(axis=1)] != y)

    start = LVQ.start_rows(training, 4, rng(1))
    learned = LVQ(epochs=30, rate=0.1).choose(training, 4, rng(1))
    assert errors(learned.points, learned.classes) < errors(X[start], y[start])


def test_lvq_has_a_prototype_of_every_class_present():
    X, y = rng(0).normal(size=(30, 2)), np.array([0] * 28 + [2] * 2)
    chosen = LVQ(epochs=1).choose(training_on(X, y, 3), 2, rng())
    assert sorted(set(chosen.classes.tolist())) == [0, 2]


@pytest.mark.parametrize("name", ["edited", "condensed", "lvq"])
def test_references_by_class_refuse_regression(name, cloud):
    with pytest.raises(ValueError, match="cannot do regression"):
        REFERENCES[name]().choose(training_on(cloud), 5, rng())


@pytest.mark.parametrize("name", ["kmeans", "lvq"])
def test_new_points_of_symbols_are_refused(name):
    X = np.column_stack([np.arange(6.0), [0, 1, 0, 1, 0, 1]])
    with pytest.raises(ValueError, match="which symbols do not have"):
        REFERENCES[name]().choose(training_on(X, np.array([0, 1] * 3), 2, symbolic=(1,)), 2, rng())


@pytest.mark.parametrize("name", REFERENCES)
def test_references_are_parameter_objects_and_the_seed_decides(name, iris):
    X, y = iris
    chooser = REFERENCES[name]()
    assert repr(clone(chooser)) == repr(chooser)
    first, second = (clone(chooser).choose(training_on(X, y, 2), 9, rng(5)) for _ in range(2))
    np.testing.assert_array_equal(first.points, second.points)
    if first.rows is not None:
        np.testing.assert_array_equal(first.points, X[first.rows])


@pytest.mark.parametrize("chooser", [Edited(0), LVQ(epochs=0), LVQ(rate=1.0)], ids=repr)
def test_parameters_out_of_range_are_named(chooser, iris):
    with pytest.raises(ValueError, match=r"neighbours|epochs|rate"):
        chooser.choose(training_on(*iris, 2), 3, rng())


# --- on-line learning -------------------------------------------------------------------------------------------------


def online_by_hand(X, y, size, forget):
    """Rows one by one, each compared with a list of those kept."""
    memory, record = [], {}
    for row in range(len(X)):
        gaps = [np.sqrt(((X[row] - X[kept]) ** 2).sum()) for kept in memory]
        near = [kept for kept, gap in zip(memory, gaps, strict=True) if gap <= min(gaps) * (1 + 1e-9)]
        for kept in near:
            record[kept] += 1 if y[kept] == y[row] else -1
        own = sum(y[kept] == y[row] for kept in near)
        if own == 0 or own <= max((sum(y[kept] == other for kept in near) for other in set(y) - {y[row]}), default=0):
            if len(memory) == size:
                memory.remove(min(memory, key=record.get) if forget == "worst" else memory[0])
            memory.append(row)
            record[row] = 0
    return sorted(memory)


@pytest.mark.parametrize("size", [100, 9])
@pytest.mark.parametrize("forget", ["worst", "oldest"])
def test_on_line_learning_keeps_misclassified_rows_and_forgets_when_it_is_full(iris, size, forget):
    X, y = iris
    found = OnLine(1, forget).choose(training_on(X, y, 2), size, rng()).rows.tolist()
    assert found == online_by_hand(X, y, size, forget)
    assert len(found) <= size


def test_on_line_learning_asks_several_neighbours():
    X, y = np.array([[0.0], [1.0], [4.0], [4.4], [5.0], [4.1]]), np.array([0, 1, 1, 0, 1, 1])
    # With one neighbour, row 2 is right by row 1, and rows 4 and 5 are wrong by row 3. With three, row 2 is a tie
    # between rows 0 and 1, and then rows 1 and 2 outvote row 3.
    kept = {k: OnLine(k).choose(training_on(X, y, 2), 6, rng()).rows.tolist() for k in (1, 3)}
    assert kept == {1: [0, 1, 3, 4, 5], 3: [0, 1, 2, 3]}
