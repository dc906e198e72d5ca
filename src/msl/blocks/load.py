"""Load: from a declared block to the class behind it, which is imported only when its package is trusted."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Collection
from functools import cache

from msl.blocks.local_modules import is_untrusted_neighbour
from msl.blocks.problem import BlockProblem
from msl.blocks.releases import demand_release
from msl.space.value import BlockType

TRUSTED = frozenset({"msl", "sklearn"})
_SUFFIX = {"classification": "Classifier", "regression": "Regressor"}
_METHODS = {
    "learner": ("fit", "predict"),
    "transformer": ("fit", "transform"),
    "selector": ("fit", "transform"),
    "post": ("fit", "transform"),
}


def load_class(block: BlockType, task: str, trusted: Collection[str] = ()) -> type:
    """The class behind a block, for a task."""
    target = block.target.replace("*", _SUFFIX[task])
    package = target.split(".")[0].split(":")[0]
    if package not in TRUSTED and package not in trusted:
        message = f"`{block.name}` is a class of `{package}`, which is not trusted"
        raise BlockProblem("MSL401", message, f"if you trust its code, add `--trust {package}`", block.name)
    demand_release(block)
    return _imported(target, block.name, block.role)


@cache
def _imported(target: str, name: str, role: str) -> type:
    module, _, attribute = target.partition(":")
    try:
        imported = importlib.import_module(module)
    except Exception as reason:  # a module may raise anything while it is imported
        message = f"`{name}`: {reason}"
        raise BlockProblem("MSL402", message, _way_out(reason), name) from None
    found = getattr(imported, attribute, None)
    if found is None:
        message = f"`{name}`: `{module}` has no `{attribute}`"
        raise BlockProblem("MSL402", message, "mend the class in its declaration", name)
    if not isinstance(found, type):
        raise BlockProblem("MSL403", f"`{name}`: `{target}` is not a class", "name a class", name)
    missing = [method for method in _METHODS.get(role, ()) if not callable(getattr(found, method, None))]
    if missing:
        message = f"`{name}`: `{target}` has no method `{missing[0]}`, which a {role} needs"
        raise BlockProblem("MSL403", message, "give the block another role, or the class the method", name)
    return found


def _way_out(reason: Exception) -> str:
    lacking = reason.name if isinstance(reason, ModuleNotFoundError) else None
    if lacking and is_untrusted_neighbour(lacking):
        return f"`{lacking}` is beside the spec, but not trusted: if you trust its code, add `--trust {lacking}`"
    return "install the package, or mend the path"


@cache
def parameter_names(found: type) -> frozenset[str]:
    """What the constructor of a class takes."""
    return frozenset(inspect.signature(found.__init__).parameters)  # type: ignore[misc]
