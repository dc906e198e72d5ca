"""Generalised cross-validation (GCV) of a fitted learner: p · SSE / (p - m)², from its fit on p rows.

m is the effective number of parameters: the trace of the matrix that turns targets into outputs. Only learners whose
outputs are linear in the targets have one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge

from msl.blocks.base.block import Block, Floats

#: The learners of scikit-learn whose outputs are linear in the targets.
LINEAR = (LinearRegression, Ridge, KernelRidge)


def fitted_gcv(learner: Any, X: Floats, y: Floats) -> float | None:
    """The GCV of a learner that was fitted on these rows; None unless it is known to be linear in its targets."""
    if isinstance(learner, Block):
        return learner.fitted_gcv()
    return linear_gcv(learner, X, y) if isinstance(learner, LINEAR) else None


def linear_gcv(learner: Any, X: Floats, y: Floats) -> float:
    """GCV of a fitted learner that takes several targets at once: on the unit vectors it gives its own matrix."""
    rows = len(X)
    errors = np.square(y - np.asarray(learner.predict(X)).reshape(rows)).sum()
    freedom = rows - np.trace(clone(learner).fit(X, np.eye(rows)).predict(X))
    return float(rows * errors / freedom**2) if freedom > 1e-9 * rows else float("inf")
