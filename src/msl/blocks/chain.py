"""Chain: the estimator of a whole model — steps before the learner, the learner, posts on its outputs.

Blocks of this package work on plain arrays (`fit_arrays`, `outputs`); scikit-learn's estimators and users' own are used
through `fit`, `transform`, `predict_proba` or `decision_function`. Rows are validated once, at the door.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.blocks.array_model import ArrayClassifier, ArrayModel, ArrayRegressor
from msl.blocks.base import Block, Floats


class Branch:
    """Steps side by side on the same input, their columns joined."""

    def __init__(self, branches: Sequence[Sequence[Any]]) -> None:
        self.branches = branches

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> Floats:
        """Fits every branch and gives the joined columns of the training rows."""
        return np.hstack([fit_steps(branch, X, y, n_classes) for branch in self.branches])

    def transform_arrays(self, X: Floats) -> Floats:
        return np.hstack([apply_steps(branch, X) for branch in self.branches])


def fit_steps(steps: Sequence[Any], X: Floats, y: NDArray[Any], n_classes: int) -> Floats:
    """Fits steps one after the other; what the last one makes of the training rows."""
    for step in steps:
        X = fit_step(step, X, y, n_classes)
    return X


def fit_step(step: Any, X: Floats, y: NDArray[Any], n_classes: int) -> Floats:
    """Fits one step and gives its output for the training rows."""
    if isinstance(step, Branch):
        return step.fit_arrays(X, y, n_classes)
    if isinstance(step, Block):
        step.fit_arrays(X, y, n_classes)
        transformed: Floats = step.transform_arrays(X)
        return transformed
    if hasattr(step, "fit_transform"):
        return _dense(step.fit_transform(X, y))
    return _dense(step.fit(X, y).transform(X))


def apply_steps(steps: Sequence[Any], X: Floats) -> Floats:
    for step in steps:
        own = isinstance(step, Branch | Block)
        X = step.transform_arrays(X) if own else _dense(step.transform(X))
    return X


def fit_learner(learner: Any, X: Floats, y: NDArray[Any], n_classes: int) -> None:
    if isinstance(learner, Block):
        learner.fit_arrays(X, y, n_classes)
    else:
        learner.fit(X, y)


def learner_outputs(learner: Any, X: Floats, n_classes: int) -> Floats:
    """One score a class for each row (one number for regression), the largest of which is the prediction."""
    if isinstance(learner, Block):
        own: Floats = learner.outputs(X)
        return own
    if n_classes == 0:
        return np.asarray(learner.predict(X), dtype=np.float64).reshape(len(X))
    codes = np.asarray(learner.classes_, dtype=np.intp)
    if hasattr(learner, "predict_proba"):
        scores = np.asarray(learner.predict_proba(X), dtype=np.float64)
        lowest = 0.0
    elif hasattr(learner, "decision_function"):
        scores = np.asarray(learner.decision_function(X), dtype=np.float64)
        scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        lowest = float(scores.min(initial=0.0)) - 1.0
    else:
        scores = (np.asarray(learner.predict(X))[:, None] == codes).astype(np.float64)
        lowest = 0.0
    if len(codes) == n_classes:
        return scores
    outputs = np.full((len(X), n_classes), lowest)  # a class that the training rows lack is never the largest
    outputs[:, codes] = scores
    return outputs


def _dense(columns: Any) -> Floats:
    dense = columns.toarray() if hasattr(columns, "toarray") else columns
    return np.ascontiguousarray(dense, dtype=np.float64)


def _middles(X: Floats) -> Floats:
    """The lower median of each column, which is one of its values; NaN for those with gaps. One column at a time, since
    tables may be large."""
    place = (len(X) - 1) // 2
    return np.array([np.nan if np.isnan(column).any() else np.partition(column, place)[place] for column in X.T])


class _Chain(ArrayModel):
    """What chains for both tasks share."""

    def __init__(self, steps: Sequence[Any] = (), learner: Any = None, posts: Sequence[Any] = ()) -> None:
        self.steps = steps
        self.learner = learner
        self.posts = posts

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.n_classes_ = n_classes
        inner = fit_steps(self.steps, X, y, n_classes)
        fit_learner(self.learner, inner, y, n_classes)
        if self.posts:
            outputs = learner_outputs(self.learner, inner, n_classes)
            for post in self.posts:
                outputs = fit_step(post, outputs, y, n_classes)
        self.middles_ = _middles(X)

    def outputs(self, X: Floats) -> Floats:
        """What the learner says. A gap where the training rows had none, in front of a block that cannot take it, is
        filled in with the middle value of the column: no step was fitted to do so."""
        try:
            return self._outputs(X)
        except ValueError:
            filled = self._without_new_gaps(X)
            if filled is None:
                raise
            return self._outputs(filled)

    def can_take(self, X: Floats) -> bool:
        """Whether the blocks take rows as they are, so that no gap has to be filled in."""
        try:
            self._outputs(X)
        except ValueError:
            return False
        return True

    def _without_new_gaps(self, X: Floats) -> Floats | None:
        middles = getattr(self, "middles_", None)  # chains saved before there were any have none
        if middles is None or not isinstance(X, np.ndarray):
            return None
        new = np.isnan(X) & ~np.isnan(middles)
        return np.where(new, middles, X) if new.any() else None

    def _outputs(self, X: Floats) -> Floats:
        outputs = learner_outputs(self.learner, apply_steps(self.steps, X), self.n_classes_)
        return apply_steps(self.posts, outputs)


class ChainClassifier(ArrayClassifier, _Chain):
    """A model of classes."""


class ChainRegressor(ArrayRegressor, _Chain):
    """A model of numbers."""
