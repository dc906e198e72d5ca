"""Weightings G(D): how the vote of a reference falls with its distance, and the outputs that follow from the votes.

There are two kinds. A `NeighbourWeighting` weighs the neighbours that `k` or the radius lets vote, and measures their
distances in units of the farthest. A `FieldWeighting` weighs all references, by distances in the units of the features:
the soft weightings of Gaussian classifiers and of networks of radial basis functions, and hard spheres.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from msl.blocks.base.block import Codes, Floats, SlotValue
from msl.blocks.numerics.matrices import Mask
from msl.blocks.public import public
from msl.blocks.similarity.fitted_distance import FittedDistance
from msl.blocks.similarity.neighbour_search import CHUNK, TIE, Neighbourhood

#: Where the triangular weighting reaches zero, in units of the reach: just beyond it.
TRIANGLE_BASE = 1.01


class Weighting(SlotValue):
    """The weight of references by their distance. Only ratios matter, and the nearest one always has a vote."""


# --- weights of the neighbours, relative to the farthest of them ------------------------------------------------------


class NeighbourWeighting(Weighting):
    """The weight of neighbours by their distance in units of the reach."""

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        """One weight for each neighbour; `lengths` is (rows, neighbours), nearest first, `reach` the distance of the
        k-th neighbour, or the radius."""
        raise NotImplementedError

    def shares(self, hood: Neighbourhood) -> Floats:
        """The weight of each neighbour in the vote for its row, with a sum of one."""
        votes = self.votes(hood.lengths, hood.reach) * hood.members
        votes /= votes.sum(axis=1, keepdims=True)
        return votes


@public
class UniformWeighting(NeighbourWeighting):
    """All neighbours have the same weight."""

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        return np.ones_like(lengths)


@public
class InverseWeighting(NeighbourWeighting):
    """The weight is the inverse of the distance; neighbours at distance 0 outvote all others."""

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        nearest = lengths[:, :1]
        # Relative to the nearest, so that tiny distances do not overflow.
        return np.divide(nearest, lengths, out=np.ones_like(lengths), where=lengths > 0)


@public
class GaussianWeighting(NeighbourWeighting):
    """The weight is exp(-(d / width)²), with the distance d in units of the reach."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {"width": [Interval(Real, 0, None, closed="neither")]}

    def __init__(self, width: float = 1.0) -> None:
        self.width = width

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        squares = np.square(relative(lengths, reach) / self.width)
        # Relative to the nearest, so that not all weights underflow for a small width.
        return np.asarray(np.exp(squares[:, :1] - squares))


@public
class TriangularWeighting(NeighbourWeighting):
    """The weight decreases linearly with the distance and is zero just beyond the reach."""

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        return 1.0 - relative(lengths, reach) / TRIANGLE_BASE


def relative(lengths: Floats, reach: Floats) -> Floats:
    """Lengths in units of the reach, 0 where the reach is 0."""
    units = np.broadcast_to(reach[:, None], lengths.shape)
    return np.divide(lengths, units, out=np.zeros_like(lengths), where=units > 0)


# --- weights of all references, each with a size of its own -----------------------------------------------------------


class FieldWeighting(Weighting):
    """The weight of every reference, by its distance and by its size, a width or a radius in units of distance."""

    #: Whether the sizes depend on which references there are, so that leaving one out changes those of others.
    sizes_depend_on_references: ClassVar[bool] = False

    def sizes(self, metric: FittedDistance, placed: Floats, radii: Floats | None) -> Floats:
        """The size of each reference; `radii` are those that the references have of their own, if they do."""
        raise NotImplementedError

    def logarithms(self, lengths: Floats, sizes: Floats) -> Floats:
        """The logarithm of each weight; `lengths` is (rows, references)."""
        raise NotImplementedError

    def shares(self, lengths: Floats, sizes: Floats) -> Floats:
        """The weight of each reference in the vote for each row, with a sum of one.

        A row so far from every reference that all weights are zero is decided by the nearest references.
        """
        logarithms = self.logarithms(lengths, sizes)
        largest = logarithms.max(axis=1, keepdims=True)
        alone = np.isneginf(largest[:, 0])
        if alone.any():
            nearest = lengths[alone] <= lengths[alone].min(axis=1, keepdims=True) * (1.0 + TIE)
            logarithms[alone] = np.where(nearest, 0.0, -np.inf)
            largest[alone] = 0.0
        # Relative to the largest, so that not all weights underflow for small sizes.
        votes: Floats = np.exp(logarithms - largest)
        votes /= votes.sum(axis=1, keepdims=True)
        return votes


@public
class SoftGaussianWeighting(FieldWeighting):
    """The weight is exp(-(d / width)²) for every reference, with the same width."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {"width": [Interval(Real, 0, None, closed="neither")]}

    def __init__(self, width: float = 1.0) -> None:
        self.width = width

    def sizes(self, metric: FittedDistance, placed: Floats, radii: Floats | None) -> Floats:
        return np.full(len(placed), float(self.width))

    def logarithms(self, lengths: Floats, sizes: Floats) -> Floats:
        return gaussian_logarithms(lengths, sizes)


@public
class RBFWeighting(FieldWeighting):
    """The weight is exp(-(d / width)²); the width of a reference is `overlap` times the distance to the nearest other
    one, as in a network of radial basis functions. Where references coincide, the nearest that differs counts."""

    sizes_depend_on_references = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {"overlap": [Interval(Real, 0, None, closed="neither")]}

    def __init__(self, overlap: float = 1.0) -> None:
        self.overlap = overlap

    def sizes(self, metric: FittedDistance, placed: Floats, radii: Floats | None) -> Floats:
        gaps = np.empty(len(placed))
        step = max(CHUNK // len(placed), 1)
        for start in range(0, len(placed), step):
            powers = metric.powers(placed[start : start + step], placed)
            powers[powers == 0.0] = np.inf
            nearest = powers.min(axis=1)
            # A reference without any other has any width: it is the only one to vote.
            gaps[start : start + step] = np.where(np.isinf(nearest), 1.0, metric.lengths(nearest))
        return np.asarray(gaps * self.overlap)

    def logarithms(self, lengths: Floats, sizes: Floats) -> Floats:
        return gaussian_logarithms(lengths, sizes)


@public
class HardSphereWeighting(FieldWeighting):
    """A reference votes for the rows in its sphere, all with the same weight.

    The radius is that of the reference where references have one of their own, and `sphere_radius` otherwise.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"sphere_radius": [Interval(Real, 0, None, closed="left")]}

    def __init__(self, sphere_radius: float = 1.0) -> None:
        self.sphere_radius = sphere_radius

    def sizes(self, metric: FittedDistance, placed: Floats, radii: Floats | None) -> Floats:
        return np.full(len(placed), float(self.sphere_radius)) if radii is None else radii

    def logarithms(self, lengths: Floats, sizes: Floats) -> Floats:
        return np.where(lengths <= sizes * (1.0 + TIE), 0.0, -np.inf)


def gaussian_logarithms(lengths: Floats, widths: Floats) -> Floats:
    """-(d / width)², minus infinity where that is beyond the range of numbers."""
    with np.errstate(over="ignore"):
        return -np.square(lengths / widths)


WEIGHTINGS: Mapping[str, type[Weighting]] = {
    "uniform": UniformWeighting,
    "inverse": InverseWeighting,
    "gaussian": GaussianWeighting,
    "triangular": TriangularWeighting,
    "soft_gaussian": SoftGaussianWeighting,
    "radial_basis": RBFWeighting,
    "hard_sphere": HardSphereWeighting,
}


# --- The class probabilities or numbers that result from the votes of references --------------------------------------

# A tie between classes goes to the class with the most votes of the nearest references among the tied classes, then to
# the class that is more frequent by more than one row, then to the first. The output of the winner is raised by `LIFT`,
# so that it is the largest and the outputs are still probabilities.

#: Added to the winner of a tie: more than the largest difference between outputs that count as equal.
LIFT = 4 * TIE
#: Classes whose numbers of rows differ by one are equally frequent: otherwise leave-one-out on a balanced table would
#: decide every tie against the class of the row left out.
ONE_ROW = 1.0


def summed(votes: Floats, references: Codes, values: Floats) -> Floats:
    """For each row the sum of the values of its references times their votes; `values` has a row for each reference.

    `references` is a line for each row, or a single line where all rows have the same.
    """
    if references.ndim == 1:
        return np.asarray(votes @ values[references])
    sums = np.empty((len(votes), values.shape[1]))
    size = max(CHUNK // (votes.shape[1] * values.shape[1]), 1)
    for start in range(0, len(votes), size):
        part = slice(start, start + size)
        np.einsum("ij,ijk->ik", votes[part], values[references[part]], out=sums[part])
    return sums


def number_outputs(hood: Neighbourhood, votes: Floats, values: Floats) -> Floats:
    """The mean of the values of the references, weighted by their votes."""
    return summed(votes, hood.references, values[:, None])[:, 0]


def class_outputs(
    hood: Neighbourhood, votes: Floats, probabilities: Floats, frequency: Floats, risk: Floats | None
) -> Floats:
    """Class probabilities of each row, from the shares of its references in the vote.

    `probabilities` is (references, classes), `frequency` the number of rows of each class, the same for all rows or
    one line a row. With a `risk` matrix (true class, prediction) the outputs are proportional to the highest cost minus
    the expected cost, so that the largest output has the lowest expected cost; costs of 0 and 1 leave them unchanged.
    """
    outputs = summed(votes, hood.references, probabilities)
    frequency = np.broadcast_to(frequency, outputs.shape)
    outputs = normalised(outputs, frequency)
    if risk is not None:
        outputs = normalised(risk.max() - outputs @ risk, frequency)
    tied = outputs >= outputs.max(axis=1, keepdims=True) - TIE
    undecided = np.flatnonzero(tied.sum(axis=1) > 1)
    if len(undecided):
        near = nearest_votes(hood, votes, probabilities, tied, undecided)
        winners = tie_winners(near, frequency[undecided], tied[undecided])
        outputs[undecided] *= 1.0 - LIFT
        outputs[undecided, winners] += LIFT
    return outputs


def normalised(amounts: Floats, frequency: Floats) -> Floats:
    """Amounts scaled to a sum of 1 in each row; a row of zeros gets the class frequencies."""
    sums = amounts.sum(axis=1, keepdims=True)
    empty = sums <= 0
    if empty.any():
        amounts = np.where(empty, frequency, amounts)
        sums = amounts.sum(axis=1, keepdims=True)
    return np.asarray(amounts / sums)


def nearest_votes(hood: Neighbourhood, votes: Floats, probabilities: Floats, tied: Mask, rows: Codes) -> Floats:
    """For each of the given rows, the votes of the nearest references that support a tied class."""
    references, lengths = hood.references_of(rows), hood.lengths[rows]
    speaks = np.zeros(lengths.shape, dtype=bool)
    for code in range(probabilities.shape[1]):
        speaks |= tied[rows, code, None] & (probabilities[:, code] > 0)[references]
    nearest = np.where(speaks, lengths, np.inf).min(axis=1, keepdims=True)
    near = speaks & (lengths <= nearest * (1.0 + TIE))
    return summed(votes[rows] * near, references, probabilities)


def tie_winners(near: Floats, frequency: Floats, tied: Mask) -> Codes:
    """The class that wins each tie."""
    votes = np.where(tied, near, -1.0)
    most = votes.max(axis=1, keepdims=True)
    leading = np.where(votes >= most - TIE * most, frequency, -1.0)
    return np.asarray((leading >= leading.max(axis=1, keepdims=True) - ONE_ROW).argmax(axis=1))
