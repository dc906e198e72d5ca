"""Evaluation: what was asked of a model, what it came to, and when a stored answer will do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum

from msl.space.entries import content_hash

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
    turn: int = 0,
) -> str:
    """The SHA-256 of everything that an outcome depends on, and of nothing else.

    `model` and `protocol` are digests (the protocol's is of the objectives and their estimates), `data` is the table's
    fingerprint, `versions` those of the packages behind the model's blocks. `share` is the share of the rows that are
    judged, `turn` the number of the draw where each evaluation draws its own rows.
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
                "turn": int(turn),
            },
        )
    )


@dataclass(frozen=True, slots=True)
class Question:
    """Which model is judged, on what, and how; as in `evaluation_key`."""

    model: str
    versions: Mapping[str, str]
    data: str
    protocol: str
    seed: int
    share: float = 1.0
    turn: int = 0
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
            turn=self.turn,
        )
        object.__setattr__(self, "key", key)


@dataclass(frozen=True, slots=True)
class Trouble:
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

    With `bound` the one loss is only a lower bound, found when racing against `beat`. The last three fields are the
    store's: it fills them in.
    """

    question: Question
    #: The model as MSL.
    text: str
    losses: tuple[float, ...]
    measures: Mapping[str, float] = field(default_factory=dict)
    complexity: float = 0.0
    bound: bool = False
    beat: float | None = None
    trouble: Trouble | None = None
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
        if self.bound and (len(self.losses) != 1 or self.trouble is not None or self.beat is None):
            raise ValueError("a bound is the one loss of a race that was run against `beat`, and no failure")
        if self.bound and self.beat is not None and not self.losses[0] >= self.beat:
            raise ValueError(f"a bound of {self.losses[0]} has not lost against {self.beat}")

    @property
    def key(self) -> str:
        return self.question.key

    @property
    def grade(self) -> Grade:
        if self.bound:
            return Grade.BOUND
        return Grade.VALUE if self.trouble is None else Grade.FAILURE

    def answers(self, beat: float | None) -> bool:
        """Whether nothing has to be evaluated for someone to whom losses from `beat` on are all the same.

        A value and a failure answer everyone; a bound only those whose `beat` it reaches.
        """
        return not self.bound or (beat is not None and beat <= self.losses[0])
