"""Outcome: what a run was finished with, read from its record; whatever is not there is empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msl.report.used_model import UsedModel, used_model


@dataclass(frozen=True, slots=True)
class Frontier:
    """A model of the front, and its objectives."""

    model: str
    objectives: Mapping[str, float]
    complexity: float | None = None


@dataclass(frozen=True, slots=True)
class Preference:
    """How often an alternative of a choice was asked for: among all, and among the best quarter."""

    choice: str
    block: str
    asked: int
    share: float
    best_share: float


@dataclass(frozen=True, slots=True)
class Judged:
    """What a model said of rows that it was not fitted on, beside what was true.

    `confusion` counts rows by their true class, then by the class that was said; weighted rows count in part.
    """

    kind: str
    classes: tuple[str, ...] = ()
    confusion: tuple[tuple[float, ...], ...] = ()
    actual: tuple[float, ...] = ()
    predicted: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that a run says of itself at its end."""

    best: str | None = None
    objectives: Mapping[str, float] = field(default_factory=dict)
    #: What the objectives were computed from, where they are not measures themselves.
    measures: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: float | None = None
    ending: str = ""
    complexity: float | None = None
    front: tuple[Frontier, ...] = ()
    ensemble: tuple[str, ...] = ()
    #: What predicts, with its figures; those below are of the best model alone.
    used: UsedModel = field(default_factory=lambda: UsedModel(False, ""))
    ensemble_objectives: Mapping[str, float] = field(default_factory=dict)
    test: Mapping[str, float] = field(default_factory=dict)
    ensemble_test: Mapping[str, float] = field(default_factory=dict)
    interval: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    gap: Mapping[str, float] = field(default_factory=dict)
    preferred: tuple[Preference, ...] = ()
    judged: Judged | None = None
    test_judged: Judged | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


_COUNTS = ("evaluations", "reused", "repeats", "outside", "failures", "fits", "fits_saved")


def result_to_outcome(result: Mapping[str, Any]) -> Outcome:
    """The record of a run in its own types."""
    return Outcome(
        best=result.get("best"),
        objectives=_numbers(result.get("objectives")),
        measures=_numbers(result.get("measures")),
        counts={name: int(result[name]) for name in _COUNTS if result.get(name) is not None},
        seconds=result.get("seconds"),
        ending=result.get("ending") or "",
        complexity=result.get("complexity"),
        front=tuple(
            Frontier(one["model"], _numbers(one["objectives"]), one.get("complexity"))
            for one in result.get("front") or ()
        ),
        ensemble=tuple(result.get("ensemble") or ()),
        used=used_model(result),
        ensemble_objectives=_numbers(result.get("ensemble_objectives")),
        test=_numbers(result.get("test")),
        ensemble_test=_numbers(result.get("ensemble_test")),
        interval={
            name: (float(ends[0]), float(ends[1])) for name, ends in (result.get("interval") or {}).items() if ends
        },
        gap=_numbers(result.get("gap")),
        preferred=tuple(
            Preference(one["choice"], one["block"], int(one["asked"]), float(one["share"]), float(one["best_share"]))
            for one in result.get("preferred") or ()
        ),
        judged=_judged(result.get("judged")),
        test_judged=_judged(result.get("test_judged")),
        data=result.get("data") or {},
    )


def _numbers(found: Mapping[str, Any] | None) -> dict[str, float]:
    return {name: float(value) for name, value in (found or {}).items() if value is not None}


def _judged(found: Mapping[str, Any] | None) -> Judged | None:
    if not found:
        return None
    return Judged(
        kind=found["kind"],
        classes=tuple(map(str, found.get("classes") or ())),
        confusion=tuple(tuple(map(float, row)) for row in found.get("confusion") or ()),
        actual=_reals(found.get("actual")),
        predicted=_reals(found.get("predicted")),
    )


def _reals(found: Sequence[float | None] | None) -> tuple[float, ...]:
    return tuple(float("nan") if value is None else float(value) for value in found or ())
