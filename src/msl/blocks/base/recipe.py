"""A block or a step as an estimator: its class, its arguments and its random state.

The `random_state` of a block is a hash of the seed, the block and its place in the model. It does not depend on the
order in which models are built, and models with the same block in the same place use the same one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from msl.blocks.base.chain import Branch
from msl.blocks.base.load import BlockProblem, add_implied, load_class, parameter_names
from msl.space.values import BlockValue, Branches, Step, SymbolValue, Value


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """The class of a block and its arguments, from which estimators are made as often as needed."""

    block: str
    found: type
    #: The arguments of the class, without the blocks in its slots, which are made anew each time.
    arguments: Mapping[str, Any]
    slots: Mapping[str, Recipe]
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


def recipe_of(value: BlockValue, task: str, place: str, trusted: Collection[str] = ()) -> Recipe:
    """The recipe of a block; `place` is the seed and the position of the step, as in `0/2` or `0/1/0/3`."""
    found = load_class(value.block, task, trusted)
    arguments: dict[str, Any] = {}
    slots: dict[str, Recipe] = {}
    for name, given in flat_parameters(value).items():
        if isinstance(given, BlockValue):
            slots[name] = recipe_of(given, task, f"{place}/{name}", trusted)
        else:
            arguments[name] = given
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


def flat_parameters(value: BlockValue) -> dict[str, Value]:
    """The arguments of the class: parameters of a chosen alternative stand beside it, as in `kernel="rbf", gamma=1`."""
    flat: dict[str, Value] = {}
    for name, given in value.params:
        _flatten(name, given, flat)
    return flat


def _flatten(name: str, given: Value, flat: dict[str, Value]) -> None:
    if not isinstance(given, SymbolValue):
        flat[name] = given
        return
    flat[name] = given.name
    for inner, value in given.params:
        _flatten(inner, value, flat)


def _random_state(place: str, target: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{place}/{target}".encode()).digest()[:4], "big")
