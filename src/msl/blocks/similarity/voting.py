"""The class probabilities or numbers that result from the votes of references.

A tie between classes goes to the class with the most votes of the nearest references among the tied classes, then to
the class that is more frequent by more than one row, then to the first. The output of the winner is raised by `LIFT`,
so that it is the largest and the outputs are still probabilities.
"""

from __future__ import annotations

import numpy as np

from msl.blocks.base.block import Codes, Floats
from msl.blocks.numerics.matrices import Mask
from msl.blocks.similarity.neighbour_search import CHUNK, TIE, Neighbourhood

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
