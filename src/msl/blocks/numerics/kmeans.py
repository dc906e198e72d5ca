"""Clusters of rows by k-means, started by k-means++."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from msl.blocks.base.block import Codes, Floats

MAX_ROUNDS = 100


@dataclass(frozen=True, slots=True)
class Clusters:
    """Centroids, and the cluster of each row. There are fewer clusters than asked for when rows are equal."""

    centroids: Floats
    labels: Codes


def k_means(X: Floats, k: int, rng: np.random.Generator) -> Clusters:
    """At most k clusters, none of them empty; rows must be scaled so that their squares do not overflow."""
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
    """Rows to start from: each drawn with the probability of its squared distance to those before it."""
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
    """An empty cluster takes the row that is farthest from its centroid, of a cluster that keeps others."""
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
    # The share of each row comes first: a sum of large numbers might overflow.
    members[labels, np.arange(len(X))] = 1.0 / np.bincount(labels, minlength=k)[labels]
    return np.asarray(members @ X)
