"""Plan the fit of a model: its steps, each with a text that identifies it in caches, and the data between them."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin

from msl.blocks.base.block import Codes, Floats
from msl.blocks.base.build import ColumnKinds, adapt_model
from msl.blocks.base.learner_paths import LearnerPath
from msl.blocks.base.recipes import Recipe, flat_parameters, inner_place, recipe_of, split_at_learner
from msl.blocks.preprocessing.prepare import Columns, Prepare
from msl.blocks.selection.selectors import FeatureSelector
from msl.evaluate.dataset import LazyRows
from msl.evaluate.splits import Split
from msl.space.values import BlockValue, Branches, Model, PipelineValue, Step, Value


@dataclass(frozen=True, slots=True, eq=False)
class PlannedStep:
    """A block, or parallel branches, which have no recipe.

    Steps with the same `text` do the same to the same rows. `drawn_at` names the stream of its random numbers; it is
    empty when it draws none.
    """

    name: str
    role: str
    text: str
    drawn_at: str = ""
    recipe: Recipe | None = None
    parameters: dict[str, Value] = field(default_factory=dict)
    branches: tuple[tuple[PlannedStep, ...], ...] = ()
    _part_texts: dict[frozenset[str], str] = field(default_factory=dict)

    @property
    def n_fits(self) -> int:
        """How many blocks there are to fit."""
        return sum(inner.n_fits for branch in self.branches for inner in branch) if self.branches else 1

    def estimator(self) -> Any:
        """A new, unfitted estimator."""
        assert self.recipe is not None
        return self.recipe.make()

    def part_text(self, parameters: frozenset[str]) -> str:
        """The text with only these parameters: the same for blocks that differ in others."""
        if parameters not in self._part_texts:
            assert self.recipe is not None
            chosen = {name: value for name, value in self.parameters.items() if name in parameters}
            of_class = f"{self.recipe.found.__module__}:{self.recipe.found.__qualname__}"
            self._part_texts[parameters] = f"{of_class}{_spelled_parameters(chosen)}{self.drawn_at}"
        return self._part_texts[parameters]


@dataclass(frozen=True, slots=True, eq=False)
class ModelPlan:
    """The steps before the learner, the learner, and those after it."""

    before: tuple[PlannedStep, ...]
    learner: PlannedStep
    after: tuple[PlannedStep, ...]


class ModelPlanner:
    """Makes plans for one table, one task and one seed."""

    def __init__(self, columns: ColumnKinds, task: str, seed: int, trusted: Collection[str]) -> None:
        self._columns, self._task, self._seed, self._trusted = columns, task, seed, trusted

    def plan(self, model: Model) -> ModelPlan:
        """Raises BlockProblem for a model that cannot be used on this table."""
        adapted = adapt_model(model, self._columns, self._task, self._trusted)
        before, _, _ = split_at_learner(adapted)
        steps = tuple(self._step(step, f"{self._seed}/{position}") for position, step in enumerate(adapted.steps))
        return ModelPlan(steps[: len(before)], steps[len(before)], steps[len(before) + 1 :])

    def _step(self, step: Step, place: str) -> PlannedStep:
        if isinstance(step, Branches):
            branches = tuple(
                tuple(self._step(inner, inner_place(place, row, column)) for column, inner in enumerate(branch))
                for row, branch in enumerate(step.branches)
            )
            texts = (">>".join(inner.text for inner in branch) for branch in branches)
            return PlannedStep("&", "selector", f"({'&'.join(texts)})", branches=branches)
        recipe = recipe_of(step, self._task, place, self._trusted)
        parameters = flat_parameters(step)
        drawn_at = f"@{place}" if recipe.is_random else ""
        text = f"{step.block.target}{_spelled_parameters(parameters)}{drawn_at}"
        return PlannedStep(step.block.name, step.block.role, text, drawn_at, recipe, parameters)


def spelled(value: Value) -> str:
    """A text that is the same only for values that mean the same: 1, 1.0 and true are three."""
    if isinstance(value, BlockValue):
        return f"{value.block.target}{_spelled_parameters(flat_parameters(value))}"
    if isinstance(value, PipelineValue):
        return f"({_spelled_steps(value.steps)})"
    if isinstance(value, tuple) and any(isinstance(inner, BlockValue | PipelineValue) for inner in value):
        return f"[{','.join(map(spelled, value))}]"
    return repr(value)


def _spelled_steps(steps: tuple[Step, ...]) -> str:
    return ">>".join(
        f"({'&'.join(map(_spelled_steps, step.branches))})" if isinstance(step, Branches) else spelled(step)
        for step in steps
    )


def _spelled_parameters(parameters: dict[str, Value]) -> str:
    return f"({','.join([f'{name}={spelled(given)}' for name, given in parameters.items()])})"


# --- data on its way through a model ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """A split with the targets to fit on; `key` names it in the cache, None if only one evaluation uses it.

    It does not hold its rows, which would stay in memory until the last step is done. With `is_weighed` the complexity
    of learners is computed, which may cost more than their fit; with `is_generalised` the generalised cross-validation
    of their fit.
    """

    key: Hashable | None
    split: Split
    y: NDArray[Any]
    is_weighed: bool
    is_generalised: bool = False
    #: How much each training row counts.
    weights: Floats | None = None

    def key_of(self, *parts: str) -> Hashable | None:
        return None if self.key is None else (self.key, *parts)


@dataclass(frozen=True, slots=True, eq=False)
class FoldData:
    """The training and test rows of a fold after some steps, all read-only; `seconds` is the time that fitting the last
    step took.

    On one fold, data with the same `identity` has the same rows.
    """

    identity: str
    X: Floats
    X_test: Floats | LazyRows
    sources: Codes
    complexity: float = 0.0
    seconds: float = 0.0


@dataclass(slots=True, eq=False)
class PrefixResult:
    """The data after some steps, and the complexity and seconds of all of them. The rows between steps are not held:
    for a large table they would take many times its memory. It belongs to one evaluation, which deletes `end` when it
    does not need it any more."""

    end: FoldData
    complexity: float
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Outputs for the test rows, and for the training rows where a later step needs them; and the complexity and the
    seconds of the block that gave them. `gcv` is None where the fold does not ask for it or the learner has none."""

    identity: str
    outputs: Floats
    training_outputs: Floats | None
    complexity: float
    seconds: float
    features: float = 0.0
    gcv: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PathFit:
    """The learner with the largest value of a path parameter on one fold, and the rows that it predicts.

    `counts_rows` is false where rows have weights that it does not take.
    """

    prefix: PrefixResult
    path: LearnerPath
    rows: Floats
    sources: Codes
    seconds: float
    counts_rows: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class PathFits:
    """What models that differ in a path parameter alone share: their fits, by the fold and the steps before the
    learner. `values` are those of the parameter by the texts of the learners, `largest` the learner that is fitted."""

    parameter: str
    largest: PlannedStep
    values: Mapping[str, int]
    fits: dict[Hashable, PathFit | None] = field(default_factory=dict)


# --- which features of the table the columns come from ----------------------------------------------------------------
#
# A feature that was encoded as several columns is one feature. Columns that are built from many, such as principal
# components, count as new features; their numbers are above those of the table's features.


def kept_columns(estimator: Any) -> Codes | None:
    """The columns that a fitted step passes through unchanged, in this order; None if it may do anything else."""
    kind = type(estimator)
    if isinstance(estimator, FeatureSelector):
        return estimator.selected_ if kind.transform_arrays is FeatureSelector.transform_arrays else None
    if isinstance(estimator, Columns):
        return estimator.kept_ if kind.transform_arrays is Columns.transform_arrays else None
    if isinstance(estimator, SelectorMixin) and kind.transform is SelectorMixin.transform:
        return np.flatnonzero(estimator.get_support())
    return None


def sources_after(estimator: Any, role: str, kept: Codes | None, sources: Codes, n_columns: int) -> Codes:
    """The sources of the `n_columns` that a fitted step makes of columns with these sources."""
    if kept is not None:
        return sources[kept]
    if isinstance(estimator, Prepare):
        return sources[estimator.sources_]
    if role == "transformer" and n_columns == len(sources):
        return sources
    return np.arange(n_columns) + first_built(sources)


def first_built(sources: Codes) -> int:
    return int(sources.max(initial=-1)) + 1


def joined_sources(branches: Sequence[Codes], before: Codes) -> Codes:
    """The sources of the joined columns of branches: columns that different branches built stay different."""
    lowest = free = first_built(before)
    joined = []
    for sources in branches:
        joined.append(np.where(sources >= lowest, sources + (free - lowest), sources))
        free = max(free, first_built(joined[-1]))
    return np.concatenate(joined)
