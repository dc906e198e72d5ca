"""Stored evaluations and queries: their fields, their keys, and when a stored evaluation can be reused."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Any

from msl.space.canonical.content_hash import content_hash
from msl.store.schema import BadRow, losses_of, storable_real, stored_real, with_checksum, without_checksum
from msl.store.stored_run import is_run_id

#: Part of every key. Increase it when the content of keys changes, so that no old evaluation is found by mistake.
KEY_FORMAT = 2


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
    """The SHA-256 of everything that the result of an evaluation depends on, and of nothing else.

    `model` and `protocol` are digests (the protocol consists of the objectives and their estimates), `data` is the
    fingerprint of the table, `versions` are those of the packages that the model's blocks come from. `share` is the
    share of the rows that is used, `repeat` tells apart evaluations of one model on different random splits.
    """
    return content_hash(
        (
            "msl evaluation",
            KEY_FORMAT,
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
    """Everything that the result of an evaluation depends on; see `evaluation_key`."""

    model: str
    versions: Mapping[str, str]
    data: str
    protocol: str
    seed: int
    share: float = 1.0
    repeat: int = 0
    #: Computed once, because one evaluation needs it many times.
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
    """Why a model has no loss: the cause, the message of the exception, and the block that raised it."""

    cause: str
    message: str
    step: str = ""
    peak_memory: int | None = None


class Grade(IntEnum):
    """How much is known. Under one key a higher grade replaces a lower one, never the reverse."""

    BOUND = 0
    FAILURE = 1
    VALUE = 2


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A stored evaluation.

    With `bound` there is one loss, which is only a lower bound: the race against `cutoff` was lost. The store fills in
    the last three fields.
    """

    inputs: EvaluationInputs
    #: The model in the MSL language.
    text: str
    losses: tuple[float, ...]
    metrics: Mapping[str, float] = field(default_factory=dict)
    complexity: float = 0.0
    bound: bool = False
    cutoff: float | None = None
    failure: StoredFailure | None = None
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
            raise ValueError(f"an evaluation has one number per objective, not {self.losses}")
        if self.bound and (len(self.losses) != 1 or self.failure is not None or self.cutoff is None):
            raise ValueError("a bound is the single loss of a race against `cutoff`, and not a failure")
        if self.bound and self.cutoff is not None and not self.losses[0] >= self.cutoff:
            raise ValueError(f"the bound {self.losses[0]} is below the cutoff {self.cutoff}")

    @property
    def key(self) -> str:
        return self.inputs.key

    @property
    def grade(self) -> Grade:
        if self.bound:
            return Grade.BOUND
        return Grade.VALUE if self.failure is None else Grade.FAILURE

    def answers(self, cutoff: float | None) -> bool:
        """Whether this is the answer to a query with this cutoff, so that nothing has to be evaluated.

        A value or a failure answers every query; a bound answers those whose cutoff it reaches.
        """
        return not self.bound or (cutoff is not None and cutoff <= self.losses[0])


# --- The queries of a strategy with their observations; a run is the sequence of them. --------------------------------


@dataclass(frozen=True, slots=True)
class StoredQuery:
    """A query of a strategy, and what it observed. `key` is that of the evaluation, None for a point outside the space.

    The losses are those that the strategy saw. The stored evaluation may be more exact by now, because another run has
    replaced a bound by a value; a resumed run must get the bound again to repeat its search.
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


def query_to_row(run: str, query: StoredQuery) -> tuple[Any, ...]:
    """The values in the order of the columns of the table."""
    vector = query.vector
    row = (
        run,
        query.position,
        query.stage,
        query.batch,
        query.key,
        None if vector is None else struct.pack(f"<{len(vector)}d", *vector),
        storable_real(query.cutoff),
        json.dumps([float(loss) for loss in query.losses]),
        storable_real(query.complexity),
        int(query.bound),
    )
    return with_checksum(row)


def row_to_query(row: Sequence[Any]) -> StoredQuery:
    """The inverse of `query_to_row`, without the run."""
    run, position, stage, batch, key, packed, cutoff, losses, complexity, bound = without_checksum(row)
    if not is_run_id(run):
        raise BadRow(f"{run!r} is not the id of a run")
    vector = None if packed is None else struct.unpack(f"<{len(packed) // 8}d", packed)
    return StoredQuery(
        position, stage, batch, key, losses_of(losses), stored_real(complexity), bool(bound), cutoff, vector
    )


def is_same_query(one: StoredQuery, other: StoredQuery) -> bool:
    """Whether two queries are the same point at the same position of a run, whatever was observed."""
    return (one.position, one.stage, one.batch, one.key, one.vector) == (
        other.position,
        other.stage,
        other.batch,
        other.key,
        other.vector,
    )
