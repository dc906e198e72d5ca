"""Releases: where scikit-learn's differ in what a declaration means — made to agree, or told."""

from __future__ import annotations

from typing import Any

import sklearn
from sklearn.linear_model import LogisticRegression

from msl.blocks.problem import BlockProblem
from msl.space.value import BlockType

VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
#: Blocks of the catalogue `sklearn` that older releases do not have, and the first that does.
_SINCE = {"qda": (1, 8), "passive_aggressive": (1, 8), "passive_aggressive_regressor": (1, 8)}


def demand_release(block: BlockType, version: tuple[int, ...] = VERSION) -> None:
    """Raises BlockProblem for a block of the catalogue that the installed release cannot build."""
    since = _SINCE.get(block.name) if block.origin == "sklearn" else None
    if since is not None and version < since:
        needed, there = (".".join(map(str, each)) for each in (since, version))
        message = f"`{block.name}` needs scikit-learn {needed}, and this is {there}"
        raise BlockProblem("MSL402", message, "install a newer scikit-learn, or leave the block out", block.name)


def add_implied(found: type, arguments: dict[str, Any], version: tuple[int, ...] = VERSION) -> None:
    """What newer releases understand and older ones have to be told: a share of the lasso means that penalty."""
    if version < (1, 8) and issubclass(found, LogisticRegression) and arguments.get("l1_ratio") is not None:
        arguments.setdefault("penalty", "elasticnet")
