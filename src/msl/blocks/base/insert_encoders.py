"""Insert encoders and imputers into a model where a table has categorical columns or missing values.

Categorical columns are encoded and missing values imputed as late as possible: a `Prepare`, fitted like any other
step, is inserted before the first step that cannot take them. Branches without columns are dropped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import get_tags

from msl.blocks.base.block import Block
from msl.blocks.base.load import BlockProblem, load_class, parameter_names
from msl.blocks.base.recipe import step_to_estimator
from msl.blocks.preprocessing.prepare import Columns, Passthrough, TargetEncode
from msl.blocks.selection.selectors import KeepFeatures
from msl.space.values import BlockType, BlockValue, Branches, Model, Step, Value, side_by_side

PREPARE = BlockType("prepare", "msl", "transformer", None, "msl.blocks:Prepare")
#: Transformers whose output never has missing values.
_LEAVE_NOTHING_MISSING = (SimpleImputer, KNNImputer, MissingIndicator, OneHotEncoder, TargetEncode)


@dataclass(frozen=True, slots=True)
class ColumnKinds:
    """The number of columns of a table, which of them are categorical and which have missing values."""

    n_columns: int
    symbolic: tuple[int, ...] = ()
    incomplete: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Stream:
    """The input of a step. `columns` are column numbers of the table, or None once a step has changed the columns;
    from then on all of them are numeric."""

    columns: tuple[int, ...] | None
    is_incomplete: bool


def adapt_model(model: Model, kinds: ColumnKinds, task: str, trusted: Collection[str] = ()) -> Model:
    """The model with encoders and imputers where its blocks need them; raises BlockProblem if no column is left."""
    adapter = _Adapter(kinds, task, trusted)
    steps = adapter.steps(model.steps, adapter.table())
    if steps is None:
        message = "this table has no column of the kind that the model keeps"
        raise BlockProblem("MSL406", message, "keep columns that the table has", "columns")
    return Model(steps[0])


class _Adapter:
    """Follows the columns of a table through the steps of a model."""

    def __init__(self, kinds: ColumnKinds, task: str, trusted: Collection[str]) -> None:
        self.kinds, self.task, self.trusted = kinds, task, trusted
        self._symbolic, self._incomplete = frozenset(kinds.symbolic), frozenset(kinds.incomplete)

    def table(self) -> _Stream:
        return self._only(range(self.kinds.n_columns))

    def _only(self, columns: Iterable[int]) -> _Stream:
        """Columns as they are in the table."""
        known = tuple(columns)
        return _Stream(known, not self._incomplete.isdisjoint(known))

    def _symbols(self, stream: _Stream) -> tuple[int, ...]:
        """The positions of the categorical columns."""
        if not self._symbolic or stream.columns is None:
            return ()
        return tuple(place for place, column in enumerate(stream.columns) if column in self._symbolic)

    def steps(self, steps: tuple[Step, ...], stream: _Stream) -> tuple[tuple[Step, ...], _Stream] | None:
        """The adapted steps and their output; None when no column is left."""
        adapted: list[Step] = []
        for position, step in enumerate(steps):
            if isinstance(step, Branches):
                joined = self._branches(step, stream)
                if joined is None:
                    return None
                below, stream = joined
                adapted.extend(below)
                continue
            before, step, stream = self._step(step, stream)
            adapted.extend((*before, step))
            if stream.columns == ():
                return None
            if step.block.role == "learner":
                return (*adapted, *steps[position + 1 :]), stream
        return tuple(adapted), stream

    def _branches(self, step: Branches, stream: _Stream) -> tuple[tuple[Step, ...], _Stream] | None:
        found = [result for branch in step.branches if (result := self.steps(branch, stream)) is not None]
        if not found:
            return None
        is_incomplete = any(end.is_incomplete for _, end in found)
        known = [end.columns for _, end in found]
        if all(columns is not None for columns in known):
            joined = tuple(column for columns in known for column in columns or ())
            return side_by_side(below for below, _ in found), _Stream(joined, is_incomplete)
        # Categorical columns have to be encoded while it is known which they are.
        encoded = [(*below, *self._prepare(end, encode=True, impute=False)) for below, end in found]
        return side_by_side(encoded), _Stream(None, is_incomplete)

    def _prepare(self, stream: _Stream, encode: bool, impute: bool) -> tuple[BlockValue, ...]:
        symbols = self._symbols(stream)
        encode, impute = encode and bool(symbols), impute and stream.is_incomplete
        if not encode and not impute:
            return ()
        params: tuple[tuple[str, Value], ...] = (("symbolic_columns", symbols), ("encode", encode), ("impute", impute))
        return (BlockValue(PREPARE, params),)

    def _step(self, value: BlockValue, stream: _Stream) -> tuple[tuple[BlockValue, ...], BlockValue, _Stream]:
        """The steps to insert before the block, the block with parameters for this table, and its output."""
        found = load_class(value.block, self.task, self.trusted)
        before: tuple[BlockValue, ...] = ()
        if stream.is_incomplete or self._symbols(stream):
            estimator = step_to_estimator(value, self.task, "", self.trusted)
            encode, impute = not _takes_symbols(estimator), not _takes_missing(estimator)
            before = self._prepare(stream, encode, impute)
            stream = self._prepared(stream, encode, impute)
        symbols = self._symbols(stream)
        if symbols and "symbolic_columns" in parameter_names(found):
            value = BlockValue(value.block, (*value.params, ("symbolic_columns", symbols)))
        return before, value, self._after(value, found, stream)

    def _prepared(self, stream: _Stream, encode: bool, impute: bool) -> _Stream:
        if encode and (symbols := self._symbols(stream)):
            assert stream.columns is not None
            numbers = [column for place, column in enumerate(stream.columns) if place not in symbols]
            return _Stream(None, not impute and self._only(numbers).is_incomplete)
        return _Stream(stream.columns, stream.is_incomplete and not impute)

    def _after(self, value: BlockValue, found: type, stream: _Stream) -> _Stream:
        if issubclass(found, Columns):
            return self._of_kind(stream, str(dict(value.params).get("kind", "numeric")))
        if issubclass(found, KeepFeatures):
            return self._masked(stream, dict(value.params).get("features"))
        if issubclass(found, Passthrough):
            return stream
        if issubclass(found, Block) and found.fills_missing:
            return _Stream(stream.columns, False)
        return _Stream(None, stream.is_incomplete and not issubclass(found, _LEAVE_NOTHING_MISSING))

    def _of_kind(self, stream: _Stream, kind: str) -> _Stream:
        """The output of `columns`; once a step has changed the columns, all of them are numeric."""
        if stream.columns is None:
            return _Stream((), False) if kind == "symbolic" else stream
        if kind == "all":
            return stream
        return self._only([column for column in stream.columns if (column in self._symbolic) == (kind == "symbolic")])

    def _masked(self, stream: _Stream, mask: Value) -> _Stream:
        """The output of `keep`: the first column if its mask keeps none. A mask of the wrong length fails later."""
        if stream.columns is None or not isinstance(mask, tuple) or len(mask) != len(stream.columns):
            return stream
        kept = [column for column, stays in zip(stream.columns, mask, strict=True) if stays]
        return self._only(kept or stream.columns[:1])


def _takes_symbols(estimator: Any) -> bool:
    if isinstance(estimator, Block) and estimator.takes_symbols:
        return True
    if "symbolic_columns" in parameter_names(type(estimator)) or isinstance(estimator, MissingIndicator):  # type: ignore[arg-type]
        return True
    return bool(_input_tag(estimator, "categorical"))


def _takes_missing(estimator: Any) -> bool:
    return bool(_input_tag(estimator, "allow_nan"))


def _input_tag(estimator: Any, name: str) -> bool:
    try:
        return bool(getattr(get_tags(estimator).input_tags, name))
    except Exception:  # not a scikit-learn estimator, so it has no tags
        return False
