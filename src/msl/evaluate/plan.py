"""Plan: a model taken apart once, to be fitted on many folds — its steps with the names that caches know them by."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from msl.blocks.adapt import ColumnKinds, adapt_model
from msl.blocks.build import Recipe, flat_parameters, inner_place, recipe_of
from msl.blocks.construct import split_at_learner
from msl.space.value import BlockValue, Branches, Model, Step, Value


@dataclass(frozen=True, slots=True, eq=False)
class PlannedStep:
    """A block, or branches side by side, which have no recipe.

    Steps with the same `text` do the same to the same rows. `drawn_at` is the place that it draws random numbers from,
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
        """A fresh one of the block."""
        assert self.recipe is not None
        return self.recipe.make()

    def part_text(self, parameters: frozenset[str]) -> str:
        """The text with these of its parameters alone: the same for siblings that differ in others."""
        if parameters not in self._part_texts:
            assert self.recipe is not None
            chosen = {name: value for name, value in self.parameters.items() if name in parameters}
            of_class = f"{self.recipe.found.__module__}:{self.recipe.found.__qualname__}"
            self._part_texts[parameters] = f"{of_class}{_spelled_parameters(chosen)}{self.drawn_at}"
        return self._part_texts[parameters]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The steps before the learner, the learner, and those after it."""

    before: tuple[PlannedStep, ...]
    learner: PlannedStep
    after: tuple[PlannedStep, ...]


class Planner:
    """Makes plans for one table, one task and one seed."""

    def __init__(self, columns: ColumnKinds, task: str, seed: int, trusted: Collection[str]) -> None:
        self._columns, self._task, self._seed, self._trusted = columns, task, seed, trusted

    def plan(self, model: Model) -> Plan:
        """Raises BlockProblem for a model that this table has no use for."""
        adapted = adapt_model(model, self._columns, self._task, self._trusted)
        before, _, _ = split_at_learner(adapted)
        steps = tuple(self._step(step, f"{self._seed}/{position}") for position, step in enumerate(adapted.steps))
        return Plan(steps[: len(before)], steps[len(before)], steps[len(before) + 1 :])

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
    return repr(value)


def _spelled_parameters(parameters: dict[str, Value]) -> str:
    return f"({','.join([f'{name}={spelled(given)}' for name, given in parameters.items()])})"
