"""Recursive feature elimination with a linear support vector machine (Guyon et al., 2002), by halves."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC, LinearSVR

from msl.blocks.base import Codes, Floats
from msl.blocks.frame import standard_columns
from msl.blocks.keep import FeatureSelector
from msl.blocks.present import present_classes
from msl.blocks.public import public
from msl.blocks.ranking import FMAX


@public
class SVCElimination(FeatureSelector):
    """Keeps the `fmax` features that elimination by the weights of a linear machine leaves last.

    Features are standardised first, for weights are only comparable between features of one scale. Halving down to one
    feature passes through the best `fmax` for every `fmax`, so one elimination serves them all.
    """

    needs_target = True
    shared_parameters = frozenset[str]()
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"fmax": FMAX}

    def __init__(self, fmax: int | None = None) -> None:
        self.fmax = fmax

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> Codes:
        """The features from the last one left to the first one dropped."""
        columns = standard_columns(X)
        target: NDArray[Any]
        if n_classes:
            present, target = present_classes(y, n_classes)
            if len(present) == 1:
                return np.arange(X.shape[1])
            machine = LinearSVC(dual=False)
        else:
            target = standard_columns(y[:, np.newaxis])[:, 0]
            machine = LinearSVR(dual=False, loss="squared_epsilon_insensitive")
        return elimination_order(columns, target, machine)

    def fit_prepared(self, prepared: Codes, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.keep_columns(prepared[: self.fmax], X.shape[1])


def elimination_order(columns: Floats, target: NDArray[Any], machine: Any) -> Codes:
    """All features, best first: each round ranks the features left and drops the worse half."""
    left = np.arange(columns.shape[1])
    dropped: list[Codes] = []
    while len(left) > 1:
        with warnings.catch_warnings():
            # Weights that are nearly converged rank as well; the warning would only mark a good model as suspect.
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.fit(columns[:, left], target)
        importance = (np.atleast_2d(machine.coef_) ** 2).sum(axis=0)
        ranked = np.argsort(-importance, kind="stable")
        half = len(left) // 2
        dropped.append(left[ranked[half:]])
        left = np.sort(left[ranked[:half]])
    return np.concatenate([left, *reversed(dropped)])
