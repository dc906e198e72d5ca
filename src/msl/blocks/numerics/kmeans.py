"""k-means clustering with a k-means++ start (Arthur and Vassilvitskii, 2007).

Unlike scikit-learn's KMeans it depends on no number of threads and no release, and returns fewer clusters without a
warning when fewer rows differ: the regions of RBF networks must be the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from msl.blocks.base.block import Codes, Floats

MAX_ROUNDS = 100


@dataclass(frozen=True, slots=True)
class Clusters:
    """Centroids, and the cluster of each row; there are fewer clusters than requested if fewer rows differ."""

    centroids: Floats
    labels: Codes


def k_means(X: Floats, k: int, rng: np.random.Generator) -> Clusters:
    """At most k clusters, none of them empty (Lloyd's algorithm). Squares of the rows must not overflow."""
    centroids = X[spread_rows(X, min(k, len(X)), rng)]
    labels = np.full(len(X), -1)
    for _ in range(MAX_ROUNDS):
        squares = cdist(X, centroids, "sqeuclidean")
        nearest = squares.argmin(axis=1)
        fill_empty(nearest, squares, len(centroids))
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        centroids = means(X, labels, len(centroids))
    return Clusters(centroids, labels)


def spread_rows(X: Floats, k: int, rng: np.random.Generator) -> Codes:
    """Initial rows: each drawn with probability proportional to its squared distance to the nearest earlier one."""
    chosen = [int(rng.integers(len(X)))]
    squares = cdist(X, X[chosen], "sqeuclidean")[:, 0]
    while len(chosen) < k and squares.any():
        heights = np.cumsum(squares)
        row = min(int(np.searchsorted(heights, rng.random() * heights[-1], side="right")), len(X) - 1)
        if squares[row] == 0:
            row = int(squares.argmax())
        chosen.append(row)
        squares = np.minimum(squares, cdist(X, X[row : row + 1], "sqeuclidean")[:, 0])
    return np.array(chosen)


def fill_empty(labels: Codes, squares: Floats, k: int) -> None:
    """Moves to each empty cluster the row farthest from its centroid, taken from a cluster with other rows."""
    counts = np.bincount(labels, minlength=k)
    for cluster in np.flatnonzero(counts == 0):
        own = squares[np.arange(len(labels)), labels]
        row = int(np.where(counts[labels] > 1, own, -1.0).argmax())
        counts[labels[row]] -= 1
        labels[row] = cluster
        counts[cluster] = 1


def means(X: Floats, labels: Codes, k: int) -> Floats:
    """The mean of the rows of each cluster."""
    members = np.zeros((k, len(X)))
    # Divided before summing, since a sum of large numbers might overflow.
    members[labels, np.arange(len(X))] = 1.0 / np.bincount(labels, minlength=k)[labels]
    return np.asarray(members @ X)
