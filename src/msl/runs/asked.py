"""Asked: one point that a strategy asked for and what it was told; the sequence of them is the run."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msl.runs.run_name import is_run_id
from msl.runs.storable import BadRow, losses_of, sealed, storable_real, stored_real, unsealed


@dataclass(frozen=True, slots=True)
class Asked:
    """`key` names the evaluation, or is None for a point outside the space.

    The losses are those the strategy saw. The evaluation itself may be known better by now: a bound that another run
    has made exact must not make a resumed run take another path.
    """

    position: int
    stage: int
    batch: int
    key: str | None
    losses: tuple[float, ...]
    complexity: float = 0.0
    bound: bool = False
    beat: float | None = None
    vector: tuple[float, ...] | None = None


def asked_to_row(run: str, asked: Asked) -> tuple[Any, ...]:
    """The values in the order of the table's columns."""
    vector = asked.vector
    row = (
        run,
        asked.position,
        asked.stage,
        asked.batch,
        asked.key,
        None if vector is None else struct.pack(f"<{len(vector)}d", *vector),
        storable_real(asked.beat),
        json.dumps([float(loss) for loss in asked.losses]),
        storable_real(asked.complexity),
        int(asked.bound),
    )
    return sealed(row)


def row_to_asked(row: Sequence[Any]) -> Asked:
    """The inverse; the run's own column is the first and says nothing new."""
    run, position, stage, batch, key, packed, beat, losses, complexity, bound = unsealed(row)
    if not is_run_id(run):
        raise BadRow(f"{run!r} is no name that a run is given")
    vector = None if packed is None else struct.unpack(f"<{len(packed) // 8}d", packed)
    return Asked(position, stage, batch, key, losses_of(losses), stored_real(complexity), bool(bound), beat, vector)


def same_question(one: Asked, other: Asked) -> bool:
    """Whether the same point was asked for at the same place, whatever the answer."""
    return (one.position, one.stage, one.batch, one.key, one.vector) == (
        other.position,
        other.stage,
        other.batch,
        other.key,
        other.vector,
    )
