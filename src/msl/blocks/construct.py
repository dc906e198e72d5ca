"""Construct: from a model to the estimators that it describes — `model_to_chain`.

Classes outside this package and scikit-learn are imported only when their package is trusted by name.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
from collections.abc import Collection
from functools import cache
from typing import Any

from msl.blocks.chain import Branch, ChainClassifier, ChainRegressor
from msl.blocks.problem import BlockProblem
from msl.space.value import BlockType, BlockValue, Branches, Model, Step, SymbolValue, Value

TRUSTED = frozenset({"msl", "sklearn"})
_SUFFIX = {"classification": "Classifier", "regression": "Regressor"}
_METHODS = {
    "learner": ("fit", "predict"),
    "transformer": ("fit", "transform"),
    "selector": ("fit", "transform"),
    "post": ("fit", "transform"),
}


def model_to_chain(
    model: Model, task: str, seed: int = 0, trusted: Collection[str] = ()
) -> ChainClassifier | ChainRegressor:
    """The estimator of a model; its random blocks draw from the seed and from where they stand, nothing else."""
    before: list[Any] = []
    learner: Any = None
    posts: list[Any] = []
    for position, step in enumerate(model.steps):
        built = step_to_estimator(step, task, f"{seed}/{position}", trusted)
        role = step.block.role if isinstance(step, BlockValue) else "selector"
        if role == "learner":
            learner = built
        elif role == "post":
            posts.append(built)
        else:
            before.append(built)
    kind = ChainClassifier if task == "classification" else ChainRegressor
    return kind(steps=before, learner=learner, posts=posts)


def load_class(block: BlockType, task: str, trusted: Collection[str] = ()) -> type:
    """The class behind a block, for a task."""
    target = block.target.replace("*", _SUFFIX[task])
    package = target.split(".")[0].split(":")[0]
    if package not in TRUSTED and package not in trusted:
        message = f"`{block.name}` is a class of `{package}`, which is not trusted"
        raise BlockProblem("MSL401", message, f"if you trust its code, add `--trust {package}`", block.name)
    return _imported(target, block.name, block.role)


@cache
def _imported(target: str, name: str, role: str) -> type:
    module, _, attribute = target.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except ImportError as reason:
        raise BlockProblem("MSL402", f"`{name}`: {reason}", "install the package, or mend the path", name) from None
    except AttributeError:
        message = f"`{name}`: `{module}` has no `{attribute}`"
        raise BlockProblem("MSL402", message, "mend the class in its declaration", name) from None
    if not isinstance(found, type):
        raise BlockProblem("MSL403", f"`{name}`: `{target}` is not a class", "name a class", name)
    missing = [method for method in _METHODS.get(role, ()) if not callable(getattr(found, method, None))]
    if missing:
        message = f"`{name}`: `{target}` has no method `{missing[0]}`, which a {role} needs"
        raise BlockProblem("MSL403", message, "give the block another role, or the class the method", name)
    return found


def step_to_estimator(step: Step, task: str, place: str, trusted: Collection[str] = ()) -> Any:
    """The estimator of one step; `place` is the seed and where in the model it stands."""
    if isinstance(step, Branches):
        branches = [
            [step_to_estimator(inner, task, f"{place}/{row}/{column}", trusted) for column, inner in enumerate(branch)]
            for row, branch in enumerate(step.branches)
        ]
        return Branch(branches)
    return _built(step, task, place, trusted)


def _built(value: BlockValue, task: str, place: str, trusted: Collection[str]) -> Any:
    found = load_class(value.block, task, trusted)
    arguments: dict[str, Any] = {}
    for name, given in value.params:
        arguments |= _arguments(name, given, task, f"{place}/{name}", trusted)
    if "random_state" in _parameters(found) and "random_state" not in arguments:
        arguments["random_state"] = _random_state(place, value.block.target)
    try:
        return found(**arguments)
    except Exception as reason:
        message = f"`{value.block.name}` rejects its parameters: {reason}"
        raise BlockProblem("MSL404", message, "mend the parameters in its declaration", value.block.name) from None


def _arguments(name: str, value: Value, task: str, place: str, trusted: Collection[str]) -> dict[str, Any]:
    """What a parameter passes to the class; those of a chosen alternative are passed beside it."""
    if isinstance(value, SymbolValue):
        beside: dict[str, Any] = {name: value.name}
        for inner, given in value.params:
            beside |= _arguments(inner, given, task, f"{place}/{inner}", trusted)
        return beside
    if isinstance(value, BlockValue):
        return {name: _built(value, task, place, trusted)}
    return {name: value}


@cache
def _parameters(found: type) -> frozenset[str]:
    return frozenset(inspect.signature(found.__init__).parameters)  # type: ignore[misc]


def _random_state(place: str, target: str) -> int:
    """A number that depends on the seed and the block's place, never on the order of evaluation."""
    return int.from_bytes(hashlib.sha256(f"{place}/{target}".encode()).digest()[:4], "big")
