"""The classes behind the catalogues, all of them scikit-learn estimators: `from msl.blocks import NaiveBayes`."""

from __future__ import annotations

from importlib import import_module

from msl.blocks.public import HOMES


def __getattr__(name: str) -> object:
    """Imports the module of a class when the class is asked for."""
    if name not in HOMES:
        raise AttributeError(f"module `msl.blocks` has no attribute `{name}`")
    return getattr(import_module(HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(HOMES)
