"""Evaluation: what was asked of a model, what it came to, and when a stored answer will do."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Any

from msl.space.canonical.content_hash import content_hash
from msl.store.schema import BadRow, losses_of, sealed, storable_real, stored_real, unsealed
from msl.store.stored_run import is_run_id

#: Part of every key: a change of what keys are made of is a new number here, never a silent one.
KEY_FORM = 2


def evaluation_key(
    *,
    model: str,
    versions: Mapping[str, str],
    data: str,
    protocol: str,
    seed: int,
    share: float = 1.0,
    repeat: int = 0,
) -> str:
    """The SHA-256 of everything that an outcome depends on, and of nothing else.

    `model` and `protocol` are digests (the protocol's is of the objectives and their estimates), `data` is the table's
    fingerprint, `versions` those of the packages behind the model's blocks. `share` is the share of the rows that are
    judged, `repeat` the number of the draw where each evaluation draws its own rows.
    """
    return content_hash(
        (
            "msl evaluation",
            KEY_FORM,
            {
                "model": model,
                "versions": dict(versions),
                "data": data,
                "protocol": protocol,
                "seed": int(seed),
                "share": float(share) + 0.0,
                "turn": int(repeat),
            },
        )
    )


@dataclass(frozen=True, slots=True)
class EvaluationInputs:
    """Which model is judged, on what, and how; as in `evaluation_key`."""

    model: str
    versions: Mapping[str, str]
    data: str
    protocol: str
    seed: int
    share: float = 1.0
    repeat: int = 0
    #: Asked for many times on the way of one evaluation, so it is hashed once.
    key: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        key = evaluation_key(
            model=self.model,
            versions=self.versions,
            data=self.data,
            protocol=self.protocol,
            seed=self.seed,
            share=self.share,
            repeat=self.repeat,
        )
        object.__setattr__(self, "key", key)


@dataclass(frozen=True, slots=True)
class StoredFailure:
    """Why a model has no loss: the kind of trouble, the words of whoever complained, the block it came from."""

    cause: str
    message: str
    step: str = ""
    peak_memory: int | None = None


class Grade(IntEnum):
    """How much is known; a better grade replaces a lower one under the same key, never the reverse."""

    BOUND = 0
    FAILURE = 1
    VALUE = 2


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One row of the store.

    With `bound` the one loss is only a lower bound, found when racing against `cutoff`. The last three fields are the
    store's: it fills them in.
    """

    question: EvaluationInputs
    #: The model as MSL.
    text: str
    losses: tuple[float, ...]
    measures: Mapping[str, float] = field(default_factory=dict)
    complexity: float = 0.0
    bound: bool = False
    cutoff: float | None = None
    trouble: StoredFailure | None = None
    seconds: float = 0.0
    fits: int = 0
    fits_saved: int = 0
    folds_skipped: int = 0
    warnings: tuple[str, ...] = ()
    #: The run that made it.
    run: str | None = None
    created: datetime | None = None
    tool: str = ""

    def __post_init__(self) -> None:
        if not self.losses or any(loss != loss for loss in self.losses):
            raise ValueError(f"an evaluation has a number for each objective, not {self.losses}")
        if self.bound and (len(self.losses) != 1 or self.trouble is not None or self.cutoff is None):
            raise ValueError("a bound is the one loss of a race that was run against `cutoff`, and no failure")
        if self.bound and self.cutoff is not None and not self.losses[0] >= self.cutoff:
            raise ValueError(f"a bound of {self.losses[0]} has not lost against {self.cutoff}")

    @property
    def key(self) -> str:
        return self.question.key

    @property
    def grade(self) -> Grade:
        if self.bound:
            return Grade.BOUND
        return Grade.VALUE if self.trouble is None else Grade.FAILURE

    def answers(self, cutoff: float | None) -> bool:
        """Whether nothing has to be evaluated for someone to whom losses from `cutoff` on are all the same.

        A value and a failure answer everyone; a bound only those whose `cutoff` it reaches.
        """
        return not self.bound or (cutoff is not None and cutoff <= self.losses[0])


# --- Asked: one point that a strategy asked for and what it was told; the sequence of them is the run. ----------------


@dataclass(frozen=True, slots=True)
class StoredQuery:
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
    cutoff: float | None = None
    vector: tuple[float, ...] | None = None


def asked_to_row(run: str, asked: StoredQuery) -> tuple[Any, ...]:
    """The values in the order of the table's columns."""
    vector = asked.vector
    row = (
        run,
        asked.position,
        asked.stage,
        asked.batch,
        asked.key,
        None if vector is None else struct.pack(f"<{len(vector)}d", *vector),
        storable_real(asked.cutoff),
        json.dumps([float(loss) for loss in asked.losses]),
        storable_real(asked.complexity),
        int(asked.bound),
    )
    return sealed(row)


def row_to_asked(row: Sequence[Any]) -> StoredQuery:
    """The inverse; the run's own column is the first and says nothing new."""
    run, position, stage, batch, key, packed, cutoff, losses, complexity, bound = unsealed(row)
    if not is_run_id(run):
        raise BadRow(f"{run!r} is no name that a run is given")
    vector = None if packed is None else struct.unpack(f"<{len(packed) // 8}d", packed)
    return StoredQuery(
        position, stage, batch, key, losses_of(losses), stored_real(complexity), bool(bound), cutoff, vector
    )


def same_question(one: StoredQuery, other: StoredQuery) -> bool:
    """Whether the same point was asked for at the same place, whatever the answer."""
    return (one.position, one.stage, one.batch, one.key, one.vector) == (
        other.position,
        other.stage,
        other.batch,
        other.key,
        other.vector,
    )
