"""The vote: neighbours and what they stand for, to class probabilities or numbers.

A tie between classes goes to the class that has most of the vote of the nearest rows among the tied classes, then to
the class that is more frequent by more than one row, then to the first. The winner of a tie is lifted by `LIFT`, so
that the largest output is the decision and the outputs still are probabilities.
"""

from __future__ import annotations

import numpy as np

from msl.blocks.base import Codes, Floats
from msl.blocks.candidates import Mask
from msl.blocks.neighbours import CHUNK, TIE, Neighbourhood
from msl.blocks.weighting import Weighting

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
