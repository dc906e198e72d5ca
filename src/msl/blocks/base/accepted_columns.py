"""What a block takes as it is in the table: symbols coded as numbers, missing values, symbols as categories."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import MissingIndicator
from sklearn.utils import get_tags

from msl.blocks.base.block import Block
from msl.blocks.base.load import load_class, parameter_names
from msl.space.values import BlockType, BlockValue, Step

#: Learners of scikit-learn that split on sets of symbols, and the parameter that names the columns.
_CATEGORICAL = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
_NAMES_CATEGORIES = "categorical_features"
#: The most symbols a column that they take where their declaration says nothing else.
_MOST_BINS = 255
MERGE_RARE = BlockType("merge_rare", "msl", "transformer", None, "msl.blocks:MergeRare")


def hands_on_columns(found: type) -> bool:
    """Whether the learner inside a block gets the columns as they reach the block."""
    return bool(getattr(found, "hands_on_columns", False))


def takes_symbols(estimator: Any) -> bool:
    if isinstance(estimator, Block) and estimator.takes_symbols:
        return True
    if "symbolic_columns" in parameter_names(type(estimator)) or isinstance(estimator, MissingIndicator):  # type: ignore[arg-type]
        return True
    return bool(_input_tag(estimator, "categorical"))


def takes_missing(estimator: Any) -> bool:
    return bool(_input_tag(estimator, "allow_nan"))


def _input_tag(estimator: Any, name: str) -> bool:
    try:
        return bool(getattr(get_tags(estimator).input_tags, name))
    except Exception:  # not a scikit-learn estimator, so it has no tags
        return False


# --- Symbols as categories --------------------------------------------------------------------------------------------


def takes_categories(found: type, value: BlockValue) -> bool:
    """Whether a learner takes symbols as categories, and its declaration does not say otherwise."""
    return issubclass(found, _CATEGORICAL) and all(name != _NAMES_CATEGORIES for name, _ in value.params)


def splits_on_symbols(following: tuple[Step, ...], task: str, trusted: Collection[str]) -> bool:
    """Whether the next step is a learner that splits on sets of symbols, so that they should not be encoded."""
    step = following[0] if following else None
    if not isinstance(step, BlockValue) or step.block.role != "learner":
        return False
    found = load_class(step.block, task, trusted)
    return takes_categories(found, step) or bool(getattr(found, "splits_on_symbols", False))


def joined_places(branches: Sequence[tuple[tuple[int, ...], int | None]]) -> tuple[int, ...] | None:
    """The places of symbols in the joined columns of branches, each with the places in it and how many columns it has;
    None if they are not known, because a branch of which that is not known comes before others."""
    start, places = 0, list[int]()
    for position, (symbols, width) in enumerate(branches):
        places += [start + place for place in symbols]
        if width is None and position + 1 < len(branches):
            return None
        start += width or 0
    return tuple(places)


def with_categories(value: BlockValue, symbols: tuple[int, ...]) -> tuple[BlockValue, BlockValue]:
    """The step that leaves no column more symbols than the learner takes, and the learner, told where they are."""
    most = dict(value.params).get("max_bins", _MOST_BINS)
    before = BlockValue(MERGE_RARE, (("symbolic_columns", symbols), ("most", most)))
    return before, BlockValue(value.block, (*value.params, (_NAMES_CATEGORIES, symbols)))
