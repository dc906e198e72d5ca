"""Neighbour: the models that differ from one in a single dimension."""

from __future__ import annotations

import numpy as np

from msl.encode.codec import Codec
from msl.space.value import Model

#: By how much of its range an open real is moved.
STEP = 0.1


def neighbours(codec: Codec, model: Model, step: float = STEP) -> list[Model]:
    """All models one move away, in the order of the dimensions and without repetition; the model itself is not one.

    Numbers, levels and counts move by one; an open real by `step` of its range up and down; a choice to any other
    option, whose parameters are then in the middle of their ranges; a subset by one member more or fewer; an order by
    two members changed over. What requirements reject is left out.
    """
    if not 0 < step <= 1:
        raise ValueError(f"a step is a share of the range above 0, not {step}")
    vector = codec.encode(model)
    moved = []
    for slot, plan in codec.readers(vector).items():
        for share in plan.near(float(vector[slot]), step):
            other = vector.copy()
            other[slot] = share
            moved.append(other)
    outcomes = codec.decode(np.array(moved).reshape(len(moved), codec.dimensions))
    found = dict.fromkeys(outcome for outcome in outcomes if isinstance(outcome, Model))
    found.pop(codec.model(vector), None)
    return list(found)
