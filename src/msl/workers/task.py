"""Define what executors run: a job, which all evaluations of a search share, and tasks within limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from msl.blocks.base.load import TRUSTED
from msl.blocks.public import target_modules
from msl.diagnostics.user_error import UserError
from msl.evaluate.cross_validate import EvaluationRequest, PathRequest
from msl.evaluate.dataset import Dataset
from msl.evaluate.evaluator import DEFAULT_CACHE_BYTES, Evaluator
from msl.evaluate.final_fits import FinalFitter, FitRequest, OutputsRequest
from msl.evaluate.kept_outputs import Keeps
from msl.evaluate.outcome import Effort, Failure, Outcome
from msl.space.spec import Budget, MetricLimit, Objective
from msl.space.values import BlockValue, Branches, Model, PipelineValue, Step, SymbolValue, Value

#: One evaluation: a model, and the other arguments of `Evaluator.evaluate`.
Task = EvaluationRequest
#: What executors take: an evaluation, several on one path, or outputs and fits for the end of a run.
AnyTask = EvaluationRequest | PathRequest | OutputsRequest | FitRequest


@dataclass(frozen=True, slots=True)
class Limits:
    """What one evaluation may take; None is no limit.

    `each` and `fit` are seconds on the wall clock, for the whole evaluation and for one block (its fit, and what is
    computed with it before the next block starts). `memory` is bytes that the evaluation may add to what its process
    already holds, where the table and the caches are.
    """

    each: float | None = None
    fit: float | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        for name in ("each", "fit", "memory"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise UserError(f"the limit `{name}` must be larger than 0, not {value}; leave it out for no limit")

    @classmethod
    def of(cls, budget: Budget) -> Limits:
        """The limits of one evaluation that a spec sets."""
        return cls(budget.each, budget.fit, budget.memory)

    def checked(self, outcome: Outcome) -> Outcome:
        """The outcome, or a timeout if it took too long and whatever checks the clock was late itself."""
        if self.each is None or outcome.failure is not None or outcome.effort.seconds <= self.each:
            return outcome
        return failed(len(outcome.losses), Failure("timeout", self.each_message()), outcome.effort)

    def each_message(self) -> str:
        return f"the evaluation took longer than {self.each:g} s"

    def fit_message(self) -> str:
        return f"one block took longer than {self.fit:g} s"

    def memory_message(self) -> str:
        return f"the evaluation needed more memory than {spell_bytes(self.memory or 0)}"


@dataclass(frozen=True, slots=True)
class Job:
    """What every worker needs once: the rows, how models are evaluated on them, and within which limits."""

    dataset: Dataset
    objectives: tuple[Objective, ...]
    seed: int = 0
    trusted: tuple[str, ...] = ()
    cache_bytes: int = DEFAULT_CACHE_BYTES
    limits: Limits = field(default_factory=Limits)
    #: Threads of BLAS and OpenMP in each worker. Another number may change the last digits of losses.
    threads: int = 1
    #: What outcomes bring along of the outputs that models were judged by.
    keeps: Keeps = "nothing"
    #: What the spec requires of metrics.
    required: tuple[MetricLimit, ...] = ()

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise UserError(f"`threads` must be at least 1, not {self.threads}")

    @property
    def evaluates_together(self) -> bool:
        """Whether several models cost less when they are evaluated at once."""
        return any(objective.estimate.shortcut == "gcv" for objective in self.objectives)

    def evaluator(self, on_step: Callable[[str], None] | None = None) -> Evaluator:
        """Raises ValueError when the rows cannot be split as the objectives ask."""
        return Evaluator(
            self.dataset,
            self.objectives,
            self.seed,
            self.trusted,
            self.cache_bytes,
            on_step,
            self.keeps,
            self.required,
        )

    def final_fitter(self) -> FinalFitter:
        """For what a run asks of its last models."""
        return FinalFitter(self.dataset, self.objectives, self.seed, self.trusted, self.cache_bytes)


def is_limited(task: AnyTask) -> bool:
    """Whether the limits of an evaluation hold for a task: what kept them on folds may take longer on all rows."""
    return isinstance(task, EvaluationRequest | PathRequest)


def failed(n_losses: int, failure: Failure, effort: Effort | None = None) -> Outcome:
    """The outcome of an evaluation that came to nothing."""
    return Outcome((math.inf,) * n_losses, failure=failure, effort=effort or Effort())


def modules_of(model: Model) -> set[str]:
    """The modules that hold the classes of a model's blocks."""
    found: set[str] = set()
    _visit(model.steps, lambda value: found.update(target_modules(value.block.target)))
    return found


def foreign_modules(modules: Iterable[str]) -> frozenset[str]:
    """Those among modules whose code is neither ours nor scikit-learn's, and may leave anything behind."""
    return frozenset(module for module in modules if module.partition(".")[0] not in TRUSTED)


def _visit(part: Step | Value | tuple[Step, ...], see: Callable[[BlockValue], object]) -> None:
    match part:
        case BlockValue():
            see(part)
            _visit(tuple(value for _, value in part.params), see)
        case SymbolValue():
            _visit(tuple(value for _, value in part.params), see)
        case PipelineValue():
            _visit(part.steps, see)
        case Branches():
            for branch in part.branches:
                _visit(branch, see)
        case tuple():
            for each in part:
                _visit(each, see)


def spell_bytes(count: int) -> str:
    """A number of bytes for people: 1.5 GB."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"
