"""Column sources: which features of the table the columns that reach a learner come from.

A feature that was encoded as several columns is one feature. Columns that are built of many, such as principal
components, count as features of their own; they have numbers above those of the table's features.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin

from msl.blocks.base import Codes
from msl.blocks.columns import Columns
from msl.blocks.keep import FeatureSelector
from msl.blocks.prepare import Prepare


def kept_columns(estimator: Any) -> Codes | None:
    """The columns that a fitted step hands on just as they are, in this order; None when it may do anything else."""
    kind = type(estimator)
    if isinstance(estimator, FeatureSelector):
        return estimator.selected_ if kind.transform_arrays is FeatureSelector.transform_arrays else None
    if isinstance(estimator, Columns):
        return estimator.kept_ if kind.transform_arrays is Columns.transform_arrays else None
    if isinstance(estimator, SelectorMixin) and kind.transform is SelectorMixin.transform:
        return np.flatnonzero(estimator.get_support())
    return None


def sources_after(estimator: Any, role: str, kept: Codes | None, sources: Codes, n_columns: int) -> Codes:
    """The sources of the `n_columns` that a fitted step makes of columns with these sources."""
    if kept is not None:
        return sources[kept]
    if isinstance(estimator, Prepare):
        return sources[estimator.sources_]
    if role == "transformer" and n_columns == len(sources):
        return sources
    return np.arange(n_columns) + first_built(sources)


def first_built(sources: Codes) -> int:
    return int(sources.max(initial=-1)) + 1


def joined_sources(branches: Sequence[Codes], before: Codes) -> Codes:
    """The sources of columns side by side: what branches have built of the columns before them stays apart."""
    lowest = free = first_built(before)
    joined = []
    for sources in branches:
        joined.append(np.where(sources >= lowest, sources + (free - lowest), sources))
        free = max(free, first_built(joined[-1]))
    return np.concatenate(joined)
