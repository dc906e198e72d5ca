"""The result of an evaluation: losses, or a failure with its cause, with the effort and the warnings."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from msl.blocks.base.check_outputs import BadOutputs
from msl.blocks.base.load import BlockProblem, is_raised_by_estimator
from msl.diagnostics.user_error import UserError


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a model has no loss: the cause, a message, and the block in which it happened.

    Causes: `block` (cannot be built), `exception`, `memory`, `shape` (outputs of the wrong shape), `not a number`
    (outputs or losses that are none), `prediction` (no class, number or probability), `metric` (a metric that raises an
    exception or returns no number), `estimate` (cannot be estimated in this way), `requirement` (a metric is not what
    the spec requires).
    """

    cause: str
    message: str
    step: str = ""
    peak_memory: int | None = None


@dataclass(frozen=True, slots=True)
class Effort:
    """The cost of an evaluation, and what caches and racing saved; `remembered` if it had been done before."""

    seconds: float = 0.0
    fits: int = 0
    fits_saved: int = 0
    folds_skipped: int = 0
    remembered: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """`losses` has one number an objective, infinite after a failure; with `bound` they are only lower bounds.

    `metrics` are those of the objectives; the second of two estimates that give one has its name added, as in
    `mse by gcv`. `complexity` is that of the first fit, or the mean over all fits where it is an objective. `product`
    is the result of a task that does not compute losses: outputs, or a fitted model. `outputs` are those that the model
    was judged by, packed, where they are kept (`kept_outputs`).
    """

    losses: tuple[float, ...]
    metrics: dict[str, float] = field(default_factory=dict)
    complexity: float = 0.0
    bound: bool = False
    failure: Failure | None = None
    effort: Effort = Effort()
    warnings: tuple[str, ...] = ()
    product: Any = None
    outputs: bytes | None = field(default=None, repr=False)


# --- failures ---------------------------------------------------------------------------------------------------------


#: Longer messages, such as those that print an array, are cut.
_LONGEST = 1000


class MetricFailed(Exception):
    """A metric that raised an exception or did not return a number."""


class RequirementBroken(Exception):
    """A metric is not what the spec requires; `metrics` are those that were computed."""

    def __init__(self, message: str, metrics: Mapping[str, float]) -> None:
        super().__init__(message)
        self.metrics = metrics


def is_model_failure(reason: BaseException) -> bool:
    """Whether an exception is the failure of the model that is evaluated; any other is a bug in msl.

    A model fails if an estimator raises, if its outputs cannot be used, or if memory runs out, which may happen
    anywhere. A `UserError` is a model that cannot be used with this table or estimate.
    """
    return isinstance(reason, BadOutputs | MetricFailed | MemoryError | UserError) or is_raised_by_estimator(reason)


def failure_of(reason: BaseException, step: str) -> Failure:
    """The failure for an exception; raises it again if it is a bug and not a failure of the model."""
    if not is_model_failure(reason):
        raise reason
    if isinstance(reason, BlockProblem):
        return Failure("block", reason.message, reason.block or step)
    if isinstance(reason, BadOutputs):
        return Failure(reason.cause, _message(reason), step)
    if isinstance(reason, MetricFailed):
        return Failure("metric", _message(reason))
    if isinstance(reason, MemoryError):
        return Failure("memory", _message(reason) or "not enough memory", step)
    kind = "ValueError" if type(reason) is UserError else type(reason).__name__  # as estimators of scikit-learn refuse
    return Failure("exception", f"{kind}: {_message(reason)}", step)


def _message(reason: BaseException) -> str:
    try:
        words = str(reason)
    except Exception:  # even its text may be broken
        return "(no words)"
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]} …"


# --- what is recorded during an evaluation ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WholeModelFigures:
    """The bytes of the model that is fitted on all rows, and the seconds of its predictions by the rows of a batch."""

    size: int = 0
    seconds: Mapping[int, float] = field(default_factory=dict)


@dataclass(slots=True)
class FitFigures:
    """Figures of the fits of one estimate, one entry per fit; complexities of some or all of them.

    `gcv` is the generalised cross-validation of the first fit on its own rows, where that is an estimate of its own.
    `whole` is about one more fit, on all rows.
    """

    features: list[float] = field(default_factory=list)
    complexities: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    gcv: float | None = None
    whole: WholeModelFigures = field(default_factory=WholeModelFigures)

    def add(self, features: float, complexity: float | None, seconds: float) -> None:
        self.features.append(features)
        if complexity is not None:
            self.complexities.append(complexity)
        self.seconds.append(seconds)

    @property
    def complexity(self) -> float:
        """The mean over the fits for which it was computed."""
        return sum(self.complexities) / len(self.complexities) if self.complexities else 0.0


@dataclass(slots=True)
class EvaluationLog:
    """`step` is the block at work, for the message of a failure; `on_step` is called with it."""

    on_step: Callable[[str], None] | None = None
    step: str = ""
    fits: int = 0
    fits_saved: int = 0
    folds_skipped: int = 0

    def at(self, step: str) -> None:
        """A block starts work."""
        self.step = step
        if self.on_step is not None:
            self.on_step(step)


# --- warnings ---------------------------------------------------------------------------------------------------------


#: The most different warnings that are kept.
_MOST = 5
_LONGEST_WARNING = 300


class WarningCapture:
    """A context manager that records the first few different warnings."""

    def __init__(self) -> None:
        self._warnings: dict[str, None] = {}
        self._guard = warnings.catch_warnings()

    @property
    def messages(self) -> tuple[str, ...]:
        return tuple(self._warnings)

    def forget(self) -> None:
        self._warnings.clear()

    def __enter__(self) -> Self:
        self._guard.__enter__()
        # "once" would keep a register of every message ever issued.
        warnings.simplefilter("always")
        warnings.showwarning = self._record  # type: ignore[assignment]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, reason: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._guard.__exit__(kind, reason, trace)

    def _record(self, message: Warning | str, *where: Any) -> None:
        if len(self._warnings) < _MOST:
            self._warnings.setdefault(str(message)[:_LONGEST_WARNING])
