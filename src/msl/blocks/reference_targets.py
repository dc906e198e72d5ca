"""What references stand for: the class probabilities, or the number, of each."""

from __future__ import annotations

import numpy as np

from msl.blocks.base import Codes, Floats
from msl.blocks.references import ReferencePoints, ReferenceTable


def class_probabilities(library: ReferenceTable, chosen: ReferencePoints, placed: Floats, soft: bool) -> Floats:
    """One line of class probabilities a reference.

    Hard: a reference has its own class; one that has none takes the most frequent class of the rows nearest to it.
    Soft: the class frequencies of those rows. A reference that is nearest to no row looks at the row nearest to it.
    """
    own = chosen.classes if chosen.rows is None else library.y[chosen.rows]
    identity = np.eye(library.n_classes)
    if own is not None and not soft:
        return np.asarray(identity[own])
    cells = nearest_references(library, placed)
    codes = cells * library.n_classes + library.y
    counts = np.bincount(codes, minlength=len(placed) * library.n_classes).reshape(-1, library.n_classes)
    counts = counts.astype(np.float64)
    empty = counts.sum(axis=1) == 0
    if empty.any():
        counts[empty] = identity[library.y[nearest_rows(library, placed[empty])]]
    if soft:
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))
    # Ties go to the class that is more frequent in the whole table.
    frequency = np.bincount(library.y, minlength=library.n_classes)
    return np.asarray(identity[(counts + frequency / (2.0 * len(library.y))).argmax(axis=1)])


def number_values(library: ReferenceTable, chosen: ReferencePoints, placed: Floats, soft: bool) -> Floats:
    """One number a reference: its own, or the mean of the rows nearest to it."""
    if chosen.rows is not None and not soft:
        return np.asarray(library.y[chosen.rows], dtype=np.float64)
    cells = nearest_references(library, placed)
    counts = np.bincount(cells, minlength=len(placed))
    values = np.bincount(cells, weights=library.y / counts[cells], minlength=len(placed))
    empty = counts == 0
    if empty.any():
        values[empty] = library.y[nearest_rows(library, placed[empty])]
    return np.asarray(values, dtype=np.float64)


def nearest_references(library: ReferenceTable, placed: Floats) -> Codes:
    """The reference nearest to each row, the first on ties."""
    return np.asarray(library.metric.powers(library.placed, placed).argmin(axis=1))


def nearest_rows(library: ReferenceTable, placed: Floats) -> Codes:
    """The row nearest to each reference, the first on ties."""
    return np.asarray(library.metric.powers(placed, library.placed).argmin(axis=1))
