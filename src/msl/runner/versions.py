"""Find the versions of the code that the result of a model depends on.

The version of a package is that of its distribution; for local code without one it is the digest of its source. Each of
our own blocks has a revision, so that an edited block is evaluated again while all other stored evaluations stay valid.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from msl import __version__
from msl.blocks.public import PACKAGE, packages_behind
from msl.blocks.revision import chain_revision, target_revision
from msl.space.evaluate_conditions import occurrences
from msl.space.nodes import blocks_in
from msl.space.spec import Space
from msl.space.values import Model

#: The libraries that our own blocks use: another version may give slightly different results.
_BEHIND_MSL = ("numpy", "scipy", "scikit-learn")
_DISTRIBUTIONS = {"sklearn": "scikit-learn"}


#: The name, among the revisions of blocks, of the code that all models are built with.
CHAIN = f"{PACKAGE}:chain"


def versions_of(model: Model) -> dict[str, str]:
    """The versions that the result of a model depends on."""
    return dict(versions_of_targets(frozenset(found.block.target for found in occurrences(model.steps))))


def versions_of_space(space: Space) -> Mapping[str, str]:
    """The versions that the results of the models of a space depend on."""
    return versions_of_targets(frozenset(block.target for block in blocks_in(space.root)))


@cache
def versions_of_targets(targets: frozenset[str]) -> Mapping[str, str]:
    """The versions of the packages that some blocks come from, and the revisions of our own blocks."""
    packages = frozenset(target.split(":")[0].split(".")[0] for target in targets).union(*map(packages_behind, targets))
    revisions = {target: revision for target in sorted(targets) if (revision := target_revision(target)) is not None}
    return {**versions_of_packages(packages), **revisions, CHAIN: chain_revision()}


def block_revisions(space: Space) -> dict[str, str]:
    """The revisions of our own blocks, for the digest of a run: it is not continued after a block was edited."""
    return {name: of for name, of in versions_of_space(space).items() if name.startswith(f"{PACKAGE}:")}


def changed_since(before: Mapping[str, str]) -> list[str]:
    """The packages and blocks whose version differs from the one that an evaluation was made with.

    Earlier versions of MSL stored no revisions of blocks; all their evaluations count as changed.
    """
    unknown = [] if CHAIN in before else [CHAIN]
    return [*unknown, *(name for name, version in before.items() if _current(name) != version)]


@cache
def _current(name: str) -> str | None:
    if name == CHAIN:
        return chain_revision()
    if name.startswith(f"{PACKAGE}:"):
        return target_revision(name)
    return versions_of_packages(frozenset({"msl"})).get(name) or _version(name)


@cache
def versions_of_packages(packages: frozenset[str]) -> Mapping[str, str]:
    """The versions of some packages; for `msl`, also those of the libraries that its blocks use."""
    found: dict[str, str] = {}
    for package in sorted(packages):
        if package == "msl":
            found["msl"] = __version__
            found |= {name: importlib.metadata.version(name) for name in _BEHIND_MSL}
        else:
            found[package] = _version(package)
    return found


def _version(package: str) -> str:
    name = _DISTRIBUTIONS.get(package) or next(iter(_providers().get(package, [])), package)
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return _source_digest(package)


@cache
def _providers() -> Mapping[str, list[str]]:
    return importlib.metadata.packages_distributions()


def _source_digest(package: str) -> str:
    """A digest of local code, which has no version."""
    spec = importlib.util.find_spec(package) if package not in sys.modules else sys.modules[package].__spec__
    origin = None if spec is None else spec.origin
    if origin is None:
        return "unknown"
    files = sorted(Path(origin).parent.rglob("*.py")) if origin.endswith("__init__.py") else [Path(origin)]
    return "source " + _digest(files)


def _digest(files: Iterable[Path]) -> str:
    whole = hashlib.sha256()
    for file in files:
        whole.update(file.read_bytes())
    return whole.hexdigest()[:16]
