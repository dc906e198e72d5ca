"""Versions: of what a model's classes come from — a distribution's number, or the digest of local source."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from msl import __version__
from msl.space.truth import occurrences
from msl.space.value import Model

#: What our own blocks compute with: another version may give other digits.
_BEHIND_MSL = ("numpy", "scipy", "scikit-learn")
_DISTRIBUTIONS = {"sklearn": "scikit-learn"}


def versions_of(model: Model) -> dict[str, str]:
    """The versions that the outcome of a model depends on."""
    packages = {found.block.target.split(":")[0].split(".")[0] for found in occurrences(model.steps)}
    return dict(versions_of_packages(frozenset(packages)))


@cache
def versions_of_packages(packages: frozenset[str]) -> Mapping[str, str]:
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
    """Local code has no version: its text is what changes."""
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
