"""Make the estimators of blocks and steps from their parameters: `recipe_of`, `step_to_estimator`.

The `random_state` of a block is a hash of the seed, the block and its place in the model. It does not depend on the
order in which models are built, and models with the same block in the same place use the same one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sklearn.pipeline import make_pipeline, make_union

from msl.blocks.base.chain import Branch, ChainClassifier, ChainRegressor
from msl.blocks.base.load import BlockProblem, add_implied, load_class, parameter_names
from msl.space.values import (
    BlockValue,
    Branches,
    Model,
    PipelineValue,
    Step,
    SymbolValue,
    Value,
)


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """The class of a block and its arguments, from which estimators are made as often as needed."""

    block: str
    found: type
    #: The arguments of the class, without the blocks in its slots, which are made anew each time.
    arguments: Mapping[str, Any]
    slots: Mapping[str, SlotRecipe]
    #: Whether the block, or one in a slot of it, draws random numbers.
    is_random: bool

    def make(self) -> Any:
        """Raises BlockProblem if the class rejects its arguments."""
        inner = {name: recipe.make() for name, recipe in self.slots.items()}
        try:
            return self.found(**self.arguments, **inner)
        except Exception as reason:
            message = f"`{self.block}` rejects its parameters: {reason}"
            raise BlockProblem("MSL404", message, "mend the parameters in its declaration", self.block) from None


class SlotRecipe(Protocol):
    """Makes what fills a slot of a block: an estimator, a pipeline, or a list of them."""

    @property
    def is_random(self) -> bool: ...
    def make(self) -> Any: ...


@dataclass(frozen=True, slots=True, eq=False)
class PipelineRecipe:
    """A pipeline inside a block: scikit-learn's own, or one of ours if steps follow the learner."""

    steps: tuple[SlotRecipe, ...]
    posts: tuple[SlotRecipe, ...]
    task: str

    @property
    def is_random(self) -> bool:
        return any(step.is_random for step in (*self.steps, *self.posts))

    def make(self) -> Any:
        *steps, learner = (step.make() for step in self.steps)
        if not self.posts:
            return make_pipeline(*steps, learner)
        kind = ChainClassifier if self.task == "classification" else ChainRegressor
        return kind(steps, learner, [post.make() for post in self.posts])


@dataclass(frozen=True, slots=True, eq=False)
class _UnionRecipe:
    """Branches inside a pipeline of scikit-learn."""

    branches: tuple[tuple[SlotRecipe, ...], ...]

    @property
    def is_random(self) -> bool:
        return any(step.is_random for branch in self.branches for step in branch)

    def make(self) -> Any:
        rows = ([step.make() for step in branch] for branch in self.branches)
        return make_union(*(row[0] if len(row) == 1 else make_pipeline(*row) for row in rows))


@dataclass(frozen=True, slots=True, eq=False)
class _ListRecipe:
    items: tuple[SlotRecipe, ...]

    @property
    def is_random(self) -> bool:
        return any(item.is_random for item in self.items)

    def make(self) -> list[Any]:
        return [item.make() for item in self.items]


def _slot_recipe(given: Value, task: str, place: str, trusted: Collection[str]) -> SlotRecipe | None:
    """The recipe of a value that holds blocks; None for any other value."""
    match given:
        case BlockValue():
            return recipe_of(given, task, place, trusted)
        case PipelineValue(steps=steps):
            before, learner, after = split_at_learner(Model(steps))
            recipes = [_step_recipe(s, task, f"{place}/{i}", trusted) for i, s in enumerate((*before, learner, *after))]
            return PipelineRecipe(tuple(recipes[: len(before) + 1]), tuple(recipes[len(before) + 1 :]), task)
        case tuple():
            found = [_slot_recipe(inner, task, f"{place}/{i}", trusted) for i, inner in enumerate(given)]
            items = tuple(item for item in found if item is not None)
            return _ListRecipe(items) if items and len(items) == len(found) else None
    return None


def _step_recipe(step: Step, task: str, place: str, trusted: Collection[str]) -> SlotRecipe:
    if not isinstance(step, Branches):
        return recipe_of(step, task, place, trusted)
    return _UnionRecipe(
        tuple(
            tuple(_step_recipe(s, task, inner_place(place, row, column), trusted) for column, s in enumerate(branch))
            for row, branch in enumerate(step.branches)
        )
    )


def recipe_of(value: BlockValue, task: str, place: str, trusted: Collection[str] = ()) -> Recipe:
    """The recipe of a block; `place` is the seed and the position of the step, as in `0/2` or `0/1/0/3`."""
    found = load_class(value.block, task, trusted)
    arguments: dict[str, Any] = {}
    slots: dict[str, SlotRecipe] = {}
    for name, given in flat_parameters(value).items():
        slot = _slot_recipe(given, task, f"{place}/{name}", trusted)
        if slot is None:
            arguments[name] = given
        else:
            slots[name] = slot
    add_implied(found, arguments)
    is_random = "random_state" in parameter_names(found)
    if is_random and "random_state" not in arguments:
        arguments["random_state"] = _random_state(place, value.block.target)
    return Recipe(value.block.name, found, arguments, slots, is_random or any(r.is_random for r in slots.values()))


def step_to_estimator(step: Step, task: str, place: str, trusted: Collection[str] = ()) -> Any:
    """The estimator of a step, or of branches whose columns are joined."""
    if not isinstance(step, Branches):
        return recipe_of(step, task, place, trusted).make()
    return Branch(
        [
            [
                step_to_estimator(inner, task, inner_place(place, row, column), trusted)
                for column, inner in enumerate(branch)
            ]
            for row, branch in enumerate(step.branches)
        ]
    )


def inner_place(place: str, branch: int, step: int) -> str:
    """The place of a step in one of the branches at a place."""
    return f"{place}/{branch}/{step}"


def flat_parameters(value: BlockValue) -> dict[str, Any]:
    """The arguments of the class: parameters of a chosen alternative stand beside it, as in `kernel="rbf", gamma=1`;
    one with names of its own is a dictionary, as in `layer={"name": "conv", "width": 3}`."""
    flat: dict[str, Any] = {}
    for name, given in value.params:
        _flatten(name, given, flat)
    return flat


def _flatten(name: str, given: Value, flat: dict[str, Any]) -> None:
    if not isinstance(given, SymbolValue) or given.own:
        flat[name] = _plain(given)
        return
    flat[name] = given.name
    for inner, value in given.params:
        _flatten(inner, value, flat)


def _plain(given: Value) -> Any:
    """An alternative with names of its own as a dictionary: its name and its parameters; lists of such as tuples."""
    match given:
        case SymbolValue(name=name, params=params, own=True):
            inner: dict[str, Any] = {}
            for key, value in params:
                _flatten(key, value, inner)
            return {"name": name, **inner}
        case SymbolValue(name=name, params=params):  # an element of a list has nothing beside it
            return {"name": name, **{key: _plain(value) for key, value in params}}
        case tuple():
            return tuple(map(_plain, given))
    return given


def _random_state(place: str, target: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{place}/{target}".encode()).digest()[:4], "big")


def split_at_learner(model: Model) -> tuple[tuple[Step, ...], BlockValue, tuple[Step, ...]]:
    """The steps before the learner, the learner, and the steps after it."""
    for position, step in enumerate(model.steps):
        if isinstance(step, BlockValue) and step.block.role == "learner":
            return model.steps[:position], step, model.steps[position + 1 :]
    raise BlockProblem("MSL407", "a model without a learner predicts nothing", "end the chain in a learner", "")
