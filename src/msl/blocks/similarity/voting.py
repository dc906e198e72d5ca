"""Weightings: how a neighbour's vote falls with its distance, as small parameter objects."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from msl.blocks.base.block import Codes, Filling, Floats
from msl.blocks.numerics.matrices import Mask
from msl.blocks.public import public
from msl.blocks.similarity.neighbours import CHUNK, TIE, Neighbourhood

#: Where the straight line of the triangular weighting meets zero, in units of the reach: just beyond it.
TRIANGLE_BASE = 1.01
#: A neighbour at the radius itself is inside, whatever the last digits of its distance.
RIM = 1.0 + 1e-6


class Weighting(Filling):
    """Votes of neighbours by their distance. Only their ratios matter, and the nearest one always has a vote."""

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        """One vote for each neighbour; `lengths` is (rows, neighbours), nearest first, `reach` the distance of the
        farthest neighbour used, or the radius."""
        raise NotImplementedError


@public
class UniformWeighting(Weighting):
    """Every neighbour counts the same."""

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        return np.ones_like(lengths)


@public
class InverseWeighting(Weighting):
    """A neighbour counts by the inverse of its distance; those at distance 0 outvote all others."""

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        nearest = lengths[:, :1]
        # In units of the nearest, so that tiny distances do not overflow.
        return np.divide(nearest, lengths, out=np.ones_like(lengths), where=lengths > 0)


@public
class GaussianWeighting(Weighting):
    """A neighbour counts by exp(-(d / width)²), in units of the reach."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {"width": [Interval(Real, 0, None, closed="neither")]}

    def __init__(self, width: float = 1.0) -> None:
        self.width = width

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        squares = np.square(relative(lengths, reach) / self.width)
        # Relative to the nearest, so that not all votes underflow when the width is small.
        return np.asarray(np.exp(squares[:, :1] - squares))


@public
class HardSphereWeighting(Weighting):
    """Neighbours within a fraction of the reach count the same, those outside not at all; the nearest always does."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {"fraction": [Interval(Real, 0, None, closed="left")]}

    def __init__(self, fraction: float = 0.5) -> None:
        self.fraction = fraction

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        units = relative(lengths, reach)
        return (units <= np.maximum(units[:, :1], self.fraction) * RIM).astype(np.float64)


@public
class TriangularWeighting(Weighting):
    """A neighbour's vote falls in a straight line to nothing just beyond the reach."""

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


# --- The vote: neighbours and what they stand for, to class probabilities or numbers. ---------------------------------
#
# A tie between classes goes to the class that has most of the vote of the nearest rows among the tied classes, then to
# the class that is more frequent by more than one row, then to the first. The winner of a tie is lifted by `LIFT`, so
# that the largest output is the decision and the outputs still are probabilities.


#: What the winner of a tie gets on top: more than the largest gap between outputs that count as equal.
LIFT = 4 * TIE
#: Classes whose numbers of rows differ by one are equally frequent: else leaving a row out of a balanced table would
#: always turn a tie against the class of that row.
ONE_ROW = 1.0


def vote_shares(hood: Neighbourhood, weighting: Weighting) -> Floats:
    """The share that each neighbour has in the vote on its row."""
    votes = weighting.votes(hood.lengths, hood.reach) * hood.members
    votes /= votes.sum(axis=1, keepdims=True)
    return votes


def summed(votes: Floats, references: Codes, values: Floats) -> Floats:
    """For each row the sum of its neighbours' values, times their votes; `values` has a line for each reference."""
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
    one line each. With a `risk` matrix (true class, decision) the outputs are the shares saved of the highest cost,
    so that the largest output has the lowest expected cost; costs of 0 and 1 give the probabilities themselves.
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
    """Amounts that sum to 1 in each row; a row without any follows the class frequencies."""
    sums = amounts.sum(axis=1, keepdims=True)
    empty = sums <= 0
    if empty.any():
        amounts = np.where(empty, frequency, amounts)
        sums = amounts.sum(axis=1, keepdims=True)
    return np.asarray(amounts / sums)


def nearest_votes(hood: Neighbourhood, votes: Floats, probabilities: Floats, tied: Mask, rows: Codes) -> Floats:
    """In each of the given rows, the votes of the nearest neighbours that speak for a tied class."""
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
