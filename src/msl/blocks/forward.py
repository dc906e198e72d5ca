"""Forward selection of features by Gram-Schmidt orthogonalisation, as far as it is asked to go."""

from __future__ import annotations

import numpy as np

from msl.blocks.base import Codes, Floats

#: A squared length that has fallen to this part by subtraction is computed afresh, as pivoted QR does.
CANCELLED = 1e-6
#: What is left of a feature of length one when the earlier ones determine it (squared).
DEPENDENT = 1e-16
#: What is left of targets of length one when the features explain them (squared).
EXPLAINED = 1e-20
#: Scores that differ by this part are equal but for rounding.
EQUAL = 1e-12


class ForwardSelection:
    """A selection in progress, which never orthogonalises the features themselves.

    The products of the features with each new direction are enough to keep track of the squared length that each has
    left outside the directions so far, and of its products with what is left of the targets: one product of a vector
    with the matrix a step.
    """

    def __init__(self, features: Floats, targets: Floats) -> None:
        """Starts from centred columns of length one or zero."""
        self.features = features
        self.targets = targets
        self.products: Floats = features.T @ targets
        self.lengths: Floats = np.einsum("ij,ij->j", features, features)
        self.trusted = self.lengths.copy()
        self.chosen: list[int] = []
        self.directions = np.empty((16, len(features)))  # one a row, with room for more
        self.by_correlation = np.argsort(-self.scores(), kind="stable")
        self.finished = False

    def first(self, count: int) -> Codes:
        """The first `count` features of the selection."""
        while len(self.chosen) < count and not self.finished:
            self.step()
        rest = self.by_correlation[~np.isin(self.by_correlation, self.chosen)]
        return np.concatenate([np.array(self.chosen, dtype=np.intp), rest])[:count]

    def scores(self) -> Floats:
        """The squared length of the targets that each feature would explain beyond the earlier ones."""
        explained = np.zeros_like(self.lengths)
        np.divide((self.products**2).sum(axis=1), self.lengths, out=explained, where=self.lengths > DEPENDENT)
        return explained

    def step(self) -> None:
        """Chooses one more feature, or finishes when none is left that could explain anything."""
        if not (self.lengths > DEPENDENT).any() or np.vdot(self.targets, self.targets) <= EXPLAINED:
            self.finished = True
            return
        scores = np.where(self.lengths > DEPENDENT, self.scores(), -1.0)
        best = int(np.argmax(scores >= scores.max() * (1.0 - EQUAL)))
        direction = self.outside(self.features[:, best])
        direction /= np.sqrt(direction @ direction)
        loadings = direction @ self.features
        target_loadings = direction @ self.targets
        self.targets = self.targets - np.outer(direction, target_loadings)
        self.products -= np.outer(loadings, target_loadings)
        if len(self.chosen) == len(self.directions):
            self.directions = np.vstack([self.directions, np.empty_like(self.directions)])
        self.directions[len(self.chosen)] = direction
        self.chosen.append(best)
        self.lengths = np.maximum(self.lengths - loadings**2, 0.0)
        self.lengths[best] = 0.0
        self.refresh()

    def outside(self, columns: Floats) -> Floats:
        """What columns have outside the directions; twice is enough against rounding (Giraud et al., 2005)."""
        directions = self.directions[: len(self.chosen)]
        for _ in range(2):
            columns = columns - directions.T @ (directions @ columns)
        return columns

    def refresh(self) -> None:
        """Computes afresh the lengths that subtraction has eaten."""
        eaten = np.flatnonzero((self.lengths > 0.0) & (self.lengths < CANCELLED * self.trusted))
        if len(eaten):
            left = self.outside(self.features[:, eaten])
            self.lengths[eaten] = self.trusted[eaten] = np.einsum("ij,ij->j", left, left)
