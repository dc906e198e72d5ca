"""Import the class of a declared block, if its package is trusted, and the function of a metric or an estimate.

Modules beside a spec can be imported when they are trusted by name. BlockProblem says why a block cannot be built.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from importlib import import_module, invalidate_caches
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

import sklearn
from sklearn.linear_model import LogisticRegression

from msl.blocks.public import packages_behind
from msl.diagnostics.user_error import UserError
from msl.space.values import BlockType

TRUSTED = frozenset({"msl", "sklearn"})
_SUFFIX = {"classification": "Classifier", "regression": "Regressor"}
_METHODS = {
    "learner": ("fit", "predict"),
    "transformer": ("fit", "transform"),
    "selector": ("fit", "transform"),
    "post": ("fit", "transform"),
}


def load_class(block: BlockType, task: str, trusted: Collection[str] = ()) -> type:
    """The class of a block for a task; raises BlockProblem if it is not trusted or cannot be used."""
    target = block.target.replace("*", _SUFFIX[task])
    package = target.split(".")[0].split(":")[0]
    if package not in TRUSTED and package not in trusted:
        message = f"`{block.name}` is a class of `{package}`, which is not trusted"
        raise BlockProblem("MSL401", message, f"if you trust its code, add `--trust {package}`", block.name)
    demand_release(block)
    demand_packages(block)
    return _imported(target, block.name, block.role)


@cache
def _imported(target: str, name: str, role: str) -> type:
    module, _, attribute = target.partition(":")
    try:
        imported = importlib.import_module(module)
    except Exception as reason:  # a module may raise anything while it is imported
        message = f"`{name}`: {reason}"
        raise BlockProblem("MSL402", message, _import_help(reason), name) from None
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


def _import_help(reason: Exception) -> str:
    lacking = reason.name if isinstance(reason, ModuleNotFoundError) else None
    if lacking and is_untrusted_neighbour(lacking):
        return f"`{lacking}` is beside the spec, but not trusted: if you trust its code, add `--trust {lacking}`"
    return "install the package, or mend the path"


@cache
def parameter_names(found: type) -> frozenset[str]:
    """The parameters of a class's constructor."""
    return frozenset(inspect.signature(found.__init__).parameters)  # type: ignore[misc]


# --- Modules beside a spec --------------------------------------------------------------------------------------------
#
# Only those that are trusted by name can be imported, and they are looked for last. A file beside a spec can therefore
# never replace an installed package or a module of Python, even under a trusted name: `--trust lightgbm` means the
# installed one.


class LocalModules(MetaPathFinder):
    """Finds top-level modules with given names in a folder; submodules are found by the path of their package."""

    def __init__(self, folder: str, names: Collection[str]) -> None:
        self.folder, self.names = folder, set(names)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is not None or fullname not in self.names:
            return None
        return PathFinder.find_spec(fullname, [self.folder], target)

    def has(self, name: str) -> bool:
        """Whether there is such a module in the folder, trusted or not."""
        return PathFinder.find_spec(name, [self.folder]) is not None


def allow_local_modules(folder: Path | str, names: Collection[str]) -> None:
    """Lets these modules of a folder be imported, here and in worker processes that are started later."""
    if not names:
        return
    place = str(Path(folder).absolute())
    invalidate_caches()  # a module may have been written a moment ago
    known = _finders()
    for finder in known:
        if finder.folder == place:
            finder.names.update(names)
            return
    # After all other finders, but before those of folders that were named earlier.
    where = sys.meta_path.index(known[0]) if known else len(sys.meta_path)
    sys.meta_path.insert(where, LocalModules(place, names))


def allowed_local_modules() -> dict[str, list[str]]:
    """The folders and names that are allowed so far, to be passed to worker processes."""
    return {finder.folder: sorted(finder.names) for finder in _finders()}


def allow_all(allowed: Mapping[str, Collection[str]]) -> None:
    for folder, names in allowed.items():
        allow_local_modules(folder, names)


def is_untrusted_neighbour(name: str) -> bool:
    """Whether a module cannot be imported only because its name is not among the trusted ones."""
    return any(name not in finder.names and finder.has(name) for finder in _finders())


def _finders() -> list[LocalModules]:
    return [finder for finder in sys.meta_path if isinstance(finder, LocalModules)]


# --- Why a block cannot be built --------------------------------------------------------------------------------------

#: Every code for classes and functions of blocks, in one line.
MEANINGS: dict[str, str] = {
    "MSL391": "a class takes the columns as they are in the table, and they do not reach it like that",
    "MSL401": "the code of a block is not trusted",
    "MSL402": "the module of a block cannot be imported, or has no such class",
    "MSL403": "the target of a block is no class of its role",
    "MSL404": "a class or function does not take a parameter that its declaration has",
    "MSL405": "a model cannot be estimated in this way",
    "MSL406": "a model keeps only columns of a kind that the table does not have",
    "MSL407": "a model has no learner",
}


class BlockProblem(UserError):
    """A class cannot be imported, is not trusted, lacks a method or rejects a parameter.

    The caller adds where in the spec the block is.
    """

    help: str

    def __init__(self, code: str, message: str, help: str, block: str) -> None:
        super().__init__(message, help)
        self.args = (code, message, help, block)
        self.code, self.block = code, block

    def __str__(self) -> str:
        return self.message


# --- Differences between releases of scikit-learn ---------------------------------------------------------------------


VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
#: Blocks of the catalogue `sklearn` that need a newer release than the oldest supported one.
_SINCE = {"qda": (1, 8), "passive_aggressive": (1, 8), "passive_aggressive_regressor": (1, 8)}


def demand_release(block: BlockType, version: tuple[int, ...] = VERSION) -> None:
    """Raises BlockProblem for a block of the catalogue that the installed release cannot build."""
    since = _SINCE.get(block.name) if block.origin == "sklearn" else None
    if since is not None and version < since:
        needed, there = (".".join(map(str, each)) for each in (since, version))
        message = f"`{block.name}` needs scikit-learn {needed}, and this is {there}"
        raise BlockProblem("MSL402", message, "install a newer scikit-learn, or leave the block out", block.name)


def demand_packages(block: BlockType) -> None:
    """Raises BlockProblem for a block of ours whose library is not installed. Imports nothing."""
    for package in sorted(packages_behind(block.target)):
        if package not in sys.modules and find_spec(package) is None:
            brings = _DISTRIBUTIONS.get(package, package)
            message = f"`{block.name}` needs `{brings}`, which is not installed"
            help = (
                f"install it with `pip install {brings}`, or all of `boosting` with `pip install 'msl-lang[boosting]'`"
            )
            raise BlockProblem("MSL216", message, help, block.name)


#: Distributions that have another name than their package; XGBoost for graphics cards brings half a gigabyte.
_DISTRIBUTIONS = {"xgboost": "xgboost-cpu"}


def add_implied(found: type, arguments: dict[str, Any], version: tuple[int, ...] = VERSION) -> None:
    """Adds what older releases need: before 1.8 `l1_ratio` has an effect only with `penalty="elasticnet"`."""
    if version < (1, 8) and issubclass(found, LogisticRegression) and arguments.get("l1_ratio") is not None:
        arguments.setdefault("penalty", "elasticnet")


# --- Whose exception it is --------------------------------------------------------------------------------------------


_MARK = "_raised_by_estimator"


class _EstimatorCode:
    """`with estimator_code:` around calls of estimators marks what they raise, to tell it from a bug in msl.

    An estimator may raise anything, for reasons of the data that it is given: a model has failed, or a table cannot
    be predicted. Its exception passes through unchanged, because users who call an estimator themselves expect it. An
    exception without the mark was raised by msl itself; unless it is a `UserError`, it is a bug.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, reason: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(reason, Exception | SystemExit):
            BaseException.__setattr__(reason, _MARK, True)  # the class may have a `__setattr__` of its own


estimator_code = _EstimatorCode()


def is_raised_by_estimator(reason: BaseException) -> bool:
    """Whether an exception was raised by code called inside `with estimator_code:`."""
    return _MARK in BaseException.__getattribute__(reason, "__dict__")


# --- Functions behind metrics and estimates ---------------------------------------------------------------------------


class CannotLoad(UserError):
    """A function that is declared and cannot be imported, as its package is installed here."""


@cache
def load_function(kind: str, name: str, target: str) -> Callable[..., Any]:
    """The function of a metric or an estimate (`kind`) with this name. Raises CannotLoad.

    Targets come from declarations that the checker has read: of installed packages, or of a spec, where
    `load_own_function` has made sure that the package is trusted.
    """
    module, _, attribute = target.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as trouble:
        raise CannotLoad(f"the {kind} `{name}` cannot be loaded: {trouble}") from trouble
    if not callable(found):
        raise CannotLoad(f"the {kind} `{name}` is not a function but {type(found).__name__}")
    return found


def load_own_function(name: str, target: str, trusted: Collection[str], arguments: tuple[int, Sequence[str]]) -> None:
    """Loads the function of a metric that a spec declares. Raises BlockProblem if it is not trusted, cannot be imported
    or cannot be called with so many values and these keywords."""
    module, _, attribute = target.partition(":")
    package = module.partition(".")[0]
    if package not in TRUSTED and package not in trusted:
        message = f"`{name}` is a function of `{package}`, which is not trusted"
        raise BlockProblem("MSL401", message, f"if you trust its code, add `--trust {package}`", name)
    try:
        imported = importlib.import_module(module)
    except Exception as reason:  # a module may raise anything while it is imported
        raise BlockProblem("MSL402", f"`{name}`: {reason}", _import_help(reason), name) from None
    found = getattr(imported, attribute, None)
    if found is None:
        message = f"`{name}`: `{module}` has no `{attribute}`"
        raise BlockProblem("MSL402", message, "mend the function in its declaration", name)
    if not callable(found) or isinstance(found, type):
        raise BlockProblem("MSL403", f"`{name}`: `{target}` is not a function", "name a function", name)
    values, keywords = arguments
    try:
        signature = inspect.signature(found)
        signature.bind(*[None] * values, **dict.fromkeys(keywords))
    except ValueError:  # a function written in C has no signature
        return
    except TypeError as reason:
        told = f"{values} values" + (f" and {', '.join(f'`{each}`' for each in keywords)}" if keywords else "")
        message = f"`{name}`: `{target}` cannot be called with {told}: {reason}"
        help = f"it is `{attribute}{signature}`; `takes` in the declaration says how it is called"
        raise BlockProblem("MSL404", message, help, name) from None
