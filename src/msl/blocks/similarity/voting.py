"""The votes of neighbours: their weights by distance, and the class probabilities or numbers that result."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from msl.blocks.base.block import Codes, Floats, SlotValue
from msl.blocks.numerics.matrices import Mask
from msl.blocks.public import public
from msl.blocks.similarity.neighbours import CHUNK, TIE, Neighbourhood

#: Where the triangular weighting reaches zero, in units of the reach: just beyond it.
TRIANGLE_BASE = 1.01
#: A neighbour at the radius itself is inside, despite rounding.
RIM = 1.0 + 1e-6


class Weighting(SlotValue):
    """The weight of neighbours by their distance. Only ratios matter, and the nearest one always has a vote."""

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        """One weight for each neighbour; `lengths` is (rows, neighbours), nearest first, `reach` the distance of the
        k-th neighbour, or the radius."""
        raise NotImplementedError


@public
class UniformWeighting(Weighting):
    """All neighbours have the same weight."""

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        return np.ones_like(lengths)


@public
class InverseWeighting(Weighting):
    """The weight is the inverse of the distance; neighbours at distance 0 outvote all others."""

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        nearest = lengths[:, :1]
        # Relative to the nearest, so that tiny distances do not overflow.
        return np.divide(nearest, lengths, out=np.ones_like(lengths), where=lengths > 0)


@public
class GaussianWeighting(Weighting):
    """The weight is exp(-(d / width)²), with the distance d in units of the reach."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {"width": [Interval(Real, 0, None, closed="neither")]}

    def __init__(self, width: float = 1.0) -> None:
        self.width = width

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        squares = np.square(relative(lengths, reach) / self.width)
        # Relative to the nearest, so that not all weights underflow for a small width.
        return np.asarray(np.exp(squares[:, :1] - squares))


@public
class HardSphereWeighting(Weighting):
    """Neighbours within a `fraction` of the reach have equal weights, those outside none; the nearest always counts."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {"fraction": [Interval(Real, 0, None, closed="left")]}

    def __init__(self, fraction: float = 0.5) -> None:
        self.fraction = fraction

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        units = relative(lengths, reach)
        return (units <= np.maximum(units[:, :1], self.fraction) * RIM).astype(np.float64)


@public
class TriangularWeighting(Weighting):
    """The weight decreases linearly with the distance and is zero just beyond the reach."""

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        return 1.0 - relative(lengths, reach) / TRIANGLE_BASE


def relative(lengths: Floats, reach: Floats) -> Floats:
    """Lengths in units of the reach, 0 where the reach is 0."""
    units = np.broadcast_to(reach[:, None], lengths.shape)
    return np.divide(lengths, units, out=np.zeros_like(lengths), where=units > 0)


WEIGHTINGS: Mapping[str, type[Weighting]] = {
    "uniform": UniformWeighting,
    "inverse": InverseWeighting,
    "gaussian": GaussianWeighting,
    "hard_sphere": HardSphereWeighting,
    "triangular": TriangularWeighting,
}


# --- Class probabilities and numbers from votes -----------------------------------------------------------------------
#
# A tie between classes goes to the class with the most votes of the nearest neighbours among the tied classes, then to
# the class that is more frequent by more than one row, then to the first. The output of the winner is raised by `LIFT`,
# so that it is the largest and the outputs are still probabilities.


#: Added to the winner of a tie: more than the largest difference between outputs that count as equal.
LIFT = 4 * TIE
#: Classes whose numbers of rows differ by one are equally frequent: otherwise leave-one-out on a balanced table would
#: decide every tie against the class of the row left out.
ONE_ROW = 1.0


def vote_shares(hood: Neighbourhood, weighting: Weighting) -> Floats:
    """The weight of each neighbour in the vote for its row, with a sum of one."""
    votes = weighting.votes(hood.lengths, hood.reach) * hood.members
    votes /= votes.sum(axis=1, keepdims=True)
    return votes


def summed(votes: Floats, references: Codes, values: Floats) -> Floats:
    """For each row the sum of its neighbours' values times their votes; `values` has a row for each reference."""
    sums = np.empty((len(votes), values.shape[1]))
    size = max(CHUNK // (votes.shape[1] * values.shape[1]), 1)
    for start in range(0, len(votes), size):
        part = slice(start, start + size)
        np.einsum("ij,ijk->ik", votes[part], values[references[part]], out=sums[part])
    return sums


def number_outputs(hood: Neighbourhood, weighting: Weighting, values: Floats) -> Floats:
    """The mean of the values of the neighbours, weighted by their votes."""
    return summed(vote_shares(hood, weighting), hood.references, values[:, None])[:, 0]


def class_outputs(
    hood: Neighbourhood, weighting: Weighting, probabilities: Floats, frequency: Floats, risk: Floats | None
) -> Floats:
    """Class probabilities of each row.

    `probabilities` is (references, classes), `frequency` the number of rows of each class, the same for all rows or
    one line a row. With a `risk` matrix (true class, prediction) the outputs are proportional to the highest cost minus
    the expected cost, so that the largest output has the lowest expected cost; costs of 0 and 1 leave them unchanged.
    """
    votes = vote_shares(hood, weighting)
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
    """For each of the given rows, the votes of the nearest neighbours that support a tied class."""
    references, lengths = hood.references[rows], hood.lengths[rows]
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
