"""Generalised cross-validation (GCV) of many radial basis function networks at once on the same table.

GCV = (1/p) |(I - A) y|² / ((1/p) tr(I - A))² with A the hat matrix and p rows; without a ridge, where A is a projection
on m columns, that is p · SSE / (p - m)².
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from msl.blocks.base.block import Floats, resolve_slot
from msl.blocks.learners.rbf import (
    BASES,
    Basis,
    CentreLayout,
    CentreRegions,
    RBFNetwork,
    placed_centers,
    target_columns,
    unit_widths,
)

#: The number of values in the design matrices of one batch: half a megabyte, which fits in the cache.
BATCH = 1 << 16
#: If the diagonal of R spans more than this, the rank is found from singular values, as `lstsq` does.
WELL_CONDITIONED = 1e-7


class NetworkBatch:
    """A table on which many networks are evaluated; use one object for all of them."""

    def __init__(self, X: Floats, y: NDArray[Any], n_classes: int, regions: CentreRegions | None = None) -> None:
        """`y` holds class codes, or numbers if `n_classes` is 0; `regions` are fitted to the rows unless given."""
        self.layout = CentreLayout.of(X, regions)
        self.targets = target_columns(y, n_classes)

    def complexities(self, networks: Sequence[RBFNetwork]) -> Floats:
        """The number of units of each network."""
        return np.array([float(len(centers)) for centers in placed_centers(networks, self.layout)])

    def gcv(self, networks: Sequence[RBFNetwork]) -> Floats:
        """The GCV of each network, fitted or not: its squared error, summed over the classes."""
        centers = placed_centers(networks, self.layout)
        alike: dict[tuple[int, Hashable, float], list[int]] = defaultdict(list)
        for place, network in enumerate(networks):
            basis = network.basis if isinstance(network.basis, str) else network.basis.identity()
            alike[len(centers[place]), basis, network.ridge].append(place)
        scores = np.empty(len(networks))
        for (_, _, ridge), places in alike.items():
            basis_of_all = resolve_slot(networks[places[0]].basis, BASES, Basis, "basis")
            overlaps = np.array([networks[place].overlap for place in places])
            stack = np.stack([centers[place] for place in places])
            scores[places] = batch_gcv(self.layout.rows, self.targets, stack, overlaps, basis_of_all, ridge)
        return scores


def batch_gcv(X: Floats, targets: Floats, centers: Floats, overlaps: Floats, basis: Basis, ridge: float) -> Floats:
    """The GCV of networks with the same number of units: `centers` is (networks, units, features)."""
    n_networks, n_units, n_features = centers.shape
    centred = targets - targets.mean(axis=0)
    size = max(BATCH // (len(X) * (n_units + 1)), 1)
    scores = []
    for start in range(0, n_networks, size):
        part = centers[start : start + size]
        # All units of the batch as columns of one matrix, since NumPy is fastest on long rows.
        to_rows = cdist(X, part.reshape(-1, n_features), "sqeuclidean")
        between = np.square(part[:, :, None, :] - part[:, None, :, :]).sum(axis=-1)
        stacked = to_rows.reshape(len(X), len(part), n_units).transpose(1, 0, 2)
        widths = unit_widths(between, stacked, overlaps[start : start + size, None])
        responses = basis.values(to_rows, widths.ravel()).reshape(len(X), len(part), n_units)
        scores.append(design_gcv(responses.transpose(1, 0, 2), centred, ridge))
    return np.concatenate(scores)


def design_gcv(responses: Floats, targets: Floats, ridge: float) -> Floats:
    """The GCV of least squares on a column of ones and each of a stack of responses (networks, rows, units)."""
    n_networks, rows, n_units = responses.shape
    columns = n_units + 1
    joined = np.empty((n_networks, rows, columns + targets.shape[1]))
    joined[:, :, 0] = 1.0
    joined[:, :, 1:columns] = responses
    joined[:, :, columns:] = targets
    # A QR decomposition preserves lengths. R of the design replaces the design; of the transformed targets, the upper
    # part can be fitted, and the part below is the residual.
    R = triangular(joined)
    errors = np.square(np.triu(R[:, columns:, columns:])).sum(axis=(1, 2))
    parts = R[:, :columns, columns:]
    if ridge > 0:
        lost, trace = lost_to_ridge(np.triu(R[:, :columns, :columns]), parts, ridge)
        return gcv(errors + lost, trace, rows)
    trace = np.full(n_networks, float(columns))
    diagonal = np.abs(np.diagonal(R, axis1=1, axis2=2)[:, :columns])
    doubtful = diagonal.min(axis=1) < WELL_CONDITIONED * diagonal.max(axis=1)
    if columns > rows:
        doubtful[:] = True
    if doubtful.any():
        lost, trace[doubtful] = lost_to_rank(np.triu(R[doubtful, :columns, :columns]), parts[doubtful], rows)
        errors[doubtful] += lost
    return gcv(errors, trace, rows)


def triangular(matrices: Floats) -> Floats:
    """R of the QR decomposition of each matrix of a stack; values below its diagonal are meaningless."""
    raw: Floats = np.linalg.qr(matrices, mode="raw")[0]
    return raw.transpose(0, 2, 1)[:, : matrices.shape[2]]


def lost_to_ridge(designs: Floats, targets: Floats, ridge: float) -> tuple[Floats, Floats]:
    """The squared errors that a ridge adds to the fit, and the trace of the hat matrix."""
    n_networks, _, columns = designs.shape
    penalty = np.broadcast_to(np.sqrt(ridge) * np.eye(columns), (n_networks, columns, columns))
    # R'R = Z'Z + ridge·I, so that the hat matrix is M M' with M = Z R⁻¹.
    R = np.triu(triangular(np.concatenate([designs, penalty], axis=1)))
    M = np.linalg.solve(R.transpose(0, 2, 1), designs.transpose(0, 2, 1)).transpose(0, 2, 1)
    missed = targets - M @ (M.transpose(0, 2, 1) @ targets)
    return np.square(missed).sum(axis=(1, 2)), np.square(M).sum(axis=(1, 2))


def lost_to_rank(designs: Floats, targets: Floats, rows: int) -> tuple[Floats, Floats]:
    """The squared errors of directions that `numpy.linalg.lstsq` would drop from designs of so many rows, and the
    number of those that it keeps."""
    U, singular, _ = np.linalg.svd(designs, full_matrices=False)
    dropped = singular <= np.finfo(np.float64).eps * max(rows, designs.shape[2]) * singular[:, :1]
    parts = np.square(U.transpose(0, 2, 1) @ targets).sum(axis=2)
    return (parts * dropped).sum(axis=1), (~dropped).sum(axis=1).astype(np.float64)


def gcv(errors: Floats, parameters: Floats, rows: int) -> Floats:
    """p · SSE / (p - m)², infinite if no degrees of freedom are left."""
    freedom = rows - parameters
    left = freedom > 1e-9 * rows
    scores = np.full(len(errors), np.inf)
    np.divide(rows * errors, np.square(freedom), out=scores, where=left)
    return scores
