"""The classes that are present: a fold may have lost a tiny class, which must then get the lowest score.

A learner fits the present classes alone, coded 0 … k - 1, and spreads its scores over all classes at the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base import Codes, Floats


def present_classes(y: NDArray[Any], n_classes: int) -> tuple[Codes, Codes]:
    """The classes that occur in `y`, and `y` coded by its place among them."""
    present = np.flatnonzero(np.bincount(y, minlength=n_classes))
    return (present, y) if len(present) == n_classes else (present, np.searchsorted(present, y))


def signed_targets(codes: Codes, n_present: int) -> Floats:
    """Columns of +1 for a class and -1 for the rest; two classes need one column, +1 for the second."""
    if n_present == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, np.newaxis]
    return np.where(codes[:, np.newaxis] == np.arange(n_present), 1.0, -1.0)


def balanced_weights(codes: Codes, n_present: int) -> Floats:
    """Weights of the rows that give every class the same sum; their mean is one."""
    counts = np.bincount(codes, minlength=n_present)
    weights: Floats = (len(codes) / (n_present * counts))[codes]
    return weights


def scores_of_all(scores: Floats, present: Codes, n_classes: int) -> Floats:
    """Scores of all classes, from one column for each present class, or one column when two are present."""
    if len(present) == 2 and scores.shape[1] == 1:
        scores = np.hstack([-scores, scores])
    if len(present) == n_classes:
        return scores
    spread = np.repeat(scores.min(axis=1, keepdims=True) - 1.0, n_classes, axis=1)
    spread[:, present] = scores
    return spread


def probabilities_of_all(probabilities: Floats, present: Codes, n_classes: int) -> Floats:
    """Probabilities of all classes: an absent one has none."""
    if len(present) == n_classes:
        return probabilities
    spread = np.zeros((len(probabilities), n_classes))
    spread[:, present] = probabilities
    return spread
