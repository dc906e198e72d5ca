"""Build the estimator of a model, `model_to_chain`, and prepare the columns for its blocks, `adapt_model`.

Where a table has categorical columns or missing values, `adapt_model` inserts encoders and imputers as late as
possible: a `Prepare`, fitted like any other step, is inserted before the first step that cannot take them. A learner
that takes categories gets the symbols as they are. Branches without columns are dropped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from sklearn.base import OneToOneFeatureMixin
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from msl.blocks.base.accepted_columns import (
    hands_on_columns,
    joined_places,
    splits_on_symbols,
    takes_categories,
    takes_missing,
    takes_sparse,
    takes_symbols,
    with_categories,
)
from msl.blocks.base.block import Block
from msl.blocks.base.chain import ChainClassifier, ChainRegressor
from msl.blocks.base.check_outputs import FEWEST_SPARSE
from msl.blocks.base.load import BlockProblem, load_class, parameter_names
from msl.blocks.base.recipes import split_at_learner, step_to_estimator
from msl.blocks.from_table import behind_table
from msl.blocks.preprocessing.prepare import MOST_COLUMNS, Columns, Passthrough, TargetEncode
from msl.blocks.selection.selectors import KeepFeatures
from msl.space.column_selectors import REST, Selector, at_positions, named_first, selected, selector_of
from msl.space.values import (
    BlockType,
    BlockValue,
    Branches,
    Model,
    PipelineValue,
    Step,
    Value,
    pipeline_value,
    side_by_side,
    steps_of_value,
)

PREPARE = BlockType("prepare", "msl", "transformer", None, "msl.blocks:Prepare")
#: Transformers whose output never has missing values.
_LEAVE_NOTHING_MISSING = (SimpleImputer, KNNImputer, MissingIndicator, OneHotEncoder, TargetEncode)


@dataclass(frozen=True, slots=True)
class ColumnKinds:
    """The number of columns of a table, which of them are categorical and which have missing values."""

    n_columns: int
    symbolic: tuple[int, ...] = ()
    incomplete: tuple[int, ...] = ()
    #: The names of the columns, by which `on [age] (…)` selects them; empty where rows come without names.
    names: tuple[str, ...] = ()
    #: The names of the columns that are made of dates, and of text.
    dates: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    #: The names of the columns whose symbols have an order; their numbers are to be compared, as those of numbers are.
    ordered: tuple[str, ...] = ()
    #: The symbols of each column, in the order of their numbers; none for a column of numbers.
    symbols: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class _Stream:
    """The input of a step. `columns` are column numbers of the table, or None once a step has changed the columns;
    from then on all of them are numeric, but for those at the places in `symbols`."""

    columns: tuple[int, ...] | None
    is_incomplete: bool
    #: How many columns there are; None where a step has changed them and may have made any number.
    width: int | None = None
    symbols: tuple[int, ...] = ()


def adapt_model(model: Model, kinds: ColumnKinds, task: str, trusted: Collection[str] = ()) -> Model:
    """The model with encoders and imputers where its blocks need them; raises BlockProblem if no column is left."""
    adapter = _Adapter(kinds, task, trusted)
    steps = adapter.steps(model.steps, adapter.table())
    if steps is None:
        message = "this table has no column of the kind that the model keeps"
        raise BlockProblem("MSL406", message, "keep columns that the table has", "columns")
    return Model(_with_sparse_symbols(steps[0], task, trusted))


class _Adapter:
    """Follows the columns of a table through the steps of a model."""

    def __init__(self, kinds: ColumnKinds, task: str, trusted: Collection[str], is_inner: bool = False) -> None:
        #: Pipelines inside blocks are scikit-learn's, which would hand sparse rows on to what takes none.
        self._is_inner = is_inner
        self.kinds, self.task, self.trusted = kinds, task, trusted
        self._symbolic, self._incomplete = frozenset(kinds.symbolic), frozenset(kinds.incomplete)

    def table(self) -> _Stream:
        return self._only(range(self.kinds.n_columns))

    def _only(self, columns: Iterable[int]) -> _Stream:
        """Columns as they are in the table."""
        known = tuple(columns)
        return _Stream(known, not self._incomplete.isdisjoint(known), len(known))

    def _symbols(self, stream: _Stream) -> tuple[int, ...]:
        """The positions of the categorical columns."""
        if not self._symbolic or stream.columns is None:
            return stream.symbols
        return tuple(place for place, column in enumerate(stream.columns) if column in self._symbolic)

    def steps(
        self, steps: tuple[Step, ...], stream: _Stream, named: frozenset[int] = frozenset()
    ) -> tuple[tuple[Step, ...], _Stream] | None:
        """The adapted steps and their output; None when no column is left. `named` are the columns of the table that
        other branches name, for a first step that selects the rest."""
        adapted: list[Step] = []
        for position, step in enumerate(steps):
            if (selector := selector_of(step)) is not None:
                adapted_step, stream = self._on(selector, stream, frozenset() if position else named)
                if stream.columns == ():
                    return None
                adapted.append(adapted_step)
                continue
            if isinstance(step, Branches):
                joined = self._branches(step, stream, splits_on_symbols(steps[position + 1 :], self.task, self.trusted))
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

    def _branches(
        self, step: Branches, stream: _Stream, keeps_symbols: bool = False
    ) -> tuple[tuple[Step, ...], _Stream] | None:
        named = frozenset().union(*map(self._named, step.branches))
        found = [result for branch in step.branches if (result := self.steps(branch, stream, named)) is not None]
        if not found:
            return None
        is_incomplete = any(end.is_incomplete for _, end in found)
        known = [end.columns for _, end in found]
        if all(columns is not None for columns in known):
            joined = tuple(column for columns in known for column in columns or ())
            return side_by_side(below for below, _ in found), _Stream(joined, is_incomplete, len(joined))
        ends = [(self._symbols(end), end.width) for _, end in found]
        if keeps_symbols and (places := joined_places(ends)) is not None:
            return side_by_side(below for below, _ in found), _Stream(None, is_incomplete, None, places)
        # Categorical columns have to be encoded while it is known which they are.
        encoded = [(*below, *self._prepare(end, encode=True, impute=False)) for below, end in found]
        return side_by_side(encoded), _Stream(None, is_incomplete)

    def _on(self, selector: Selector, stream: _Stream, named: frozenset[int]) -> tuple[BlockValue, _Stream]:
        """The step that keeps selected columns, by their positions in its input, and its output."""
        if stream.columns is None:
            message = "a step before `on` changes the columns, so that those of the table are gone"
            raise BlockProblem("MSL340", message, "put `on` at the start of the chain", "on")
        chosen = self._selected(selector)
        stays = [(column not in named) if selector == REST else column in chosen for column in stream.columns]
        positions = [place for place, is_kept in enumerate(stays) if is_kept]
        return at_positions(positions), self._only([stream.columns[place] for place in positions])

    def _selected(self, selector: Selector) -> frozenset[int]:
        names = self.kinds.names
        if not names:
            if not isinstance(selector, str):
                message = f"these rows have no names of columns, by which `on [{', '.join(selector)}]` selects"
                raise BlockProblem("MSL341", message, "give a table with names, such as a data frame", "on")
            names = tuple(map(str, range(self.kinds.n_columns)))
        kinds, symbolic = self.kinds, {names[column] for column in self._symbolic}
        wanted = frozenset(selected(selector, names, symbolic, kinds.dates, kinds.texts, kinds.ordered))
        return frozenset(place for place, name in enumerate(names) if name in wanted)

    def _named(self, branch: tuple[Step, ...]) -> frozenset[int]:
        """The columns of the table that a branch names at its start."""
        return frozenset().union(*(self._selected(selector) for selector in named_first(branch)))

    def _prepare(
        self, stream: _Stream, encode: bool, impute: bool, may_be_sparse: bool = False
    ) -> tuple[BlockValue, ...]:
        symbols = self._symbols(stream)
        encode, impute = encode and bool(symbols), impute and stream.is_incomplete
        if not encode and not impute:
            return ()
        params: tuple[tuple[str, Value], ...] = (("symbolic_columns", symbols), ("encode", encode), ("impute", impute))
        if may_be_sparse and encode and self._has_many_symbols(stream):
            params += (("sparse", True),)
        return (BlockValue(PREPARE, params),)

    def _has_many_symbols(self, stream: _Stream) -> bool:
        """Whether these columns, encoded, become hundreds of columns that are almost all zero."""
        if self._is_inner or stream.columns is None or not self.kinds.symbols:
            return False
        widths = [
            min(len(self.kinds.symbols[column]), MOST_COLUMNS) if column in self._symbolic else 1
            for column in stream.columns
        ]
        return sum(widths) >= max(FEWEST_SPARSE, 4 * len(widths))

    def _step(self, value: BlockValue, stream: _Stream) -> tuple[tuple[BlockValue, ...], BlockValue, _Stream]:
        """The steps to insert before the block, the block with parameters for this table, and its output."""
        found = load_class(value.block, self.task, self.trusted)
        if (frame := getattr(found, "takes_frame", None)) is not None:
            wrapped = behind_table(value, frame, stream.columns, self.kinds.names, self.kinds.symbols)
            return (), wrapped, _Stream(None, stream.is_incomplete)
        before: tuple[BlockValue, ...] = ()
        symbols = self._symbols(stream)
        if symbols and takes_categories(found, value):
            merged, value = with_categories(value, symbols)
            return (merged,), value, _Stream(None, False)
        if hands_on_columns(found):
            value = self._with_inner(value, stream, alone=True)
        elif stream.is_incomplete or self._symbols(stream):
            estimator = step_to_estimator(value, self.task, "", self.trusted)
            encode = not takes_symbols(estimator)
            inner = self._with_inner(value, self._prepared(stream, encode, False))
            if inner is not value:
                estimator = step_to_estimator(inner, self.task, "", self.trusted)
            impute = not takes_missing(estimator)
            lacks = stream.is_incomplete and not impute
            before = self._prepare(stream, encode, impute, takes_sparse(estimator, lacks))
            stream = self._prepared(stream, encode, impute)
            value = self._with_inner(value, stream)
        else:
            value = self._with_inner(value, stream)
        symbols = self._symbols(stream)
        if symbols and "symbolic_columns" in parameter_names(found):
            value = BlockValue(value.block, (*value.params, ("symbolic_columns", symbols)))
        return before, value, self._after(value, found, stream)

    def _with_inner(self, value: BlockValue, stream: _Stream, alone: bool = False) -> BlockValue:
        """The block with the pipelines inside it adapted to what reaches them; if `alone`, single learners too."""
        if not any(isinstance(given, PipelineValue | BlockValue | tuple) for _, given in value.params):
            return value
        params = tuple((name, self._inner(given, stream, alone)) for name, given in value.params)
        return value if params == value.params else BlockValue(value.block, params)

    def _inner(self, given: Value, stream: _Stream, alone: bool) -> Value:
        if isinstance(given, tuple):
            return tuple(self._inner(inner, stream, alone) for inner in given)
        is_learner = isinstance(given, BlockValue) and given.block.role == "learner"
        if not isinstance(given, PipelineValue) and not (alone and is_learner):
            return given
        assert isinstance(given, PipelineValue | BlockValue)
        adapted = _Adapter(self.kinds, self.task, self.trusted, is_inner=True).steps(steps_of_value(given), stream)
        if adapted is None:
            message = "what reaches a pipeline inside a block has no column of the kind that it keeps"
            raise BlockProblem("MSL406", message, "keep columns before the block that holds it", "columns")
        return pipeline_value(adapted[0])

    def _prepared(self, stream: _Stream, encode: bool, impute: bool) -> _Stream:
        if encode and (symbols := self._symbols(stream)):
            numbers = [column for place, column in enumerate(stream.columns or ()) if place not in symbols]
            lacks = stream.is_incomplete if stream.columns is None else self._only(numbers).is_incomplete
            return _Stream(None, not impute and lacks)
        return replace(stream, is_incomplete=stream.is_incomplete and not impute)

    def _after(self, value: BlockValue, found: type, stream: _Stream) -> _Stream:
        if issubclass(found, Columns):
            return self._of_kind(stream, str(dict(value.params).get("kind", "numeric")))
        if issubclass(found, KeepFeatures):
            return self._masked(stream, dict(value.params).get("features"))
        if issubclass(found, Passthrough):
            return stream
        if issubclass(found, Block) and found.fills_missing:
            return replace(stream, is_incomplete=False)
        if hands_on_columns(found):
            return _Stream(None, False)
        width = stream.width if issubclass(found, OneToOneFeatureMixin) else None
        return _Stream(None, stream.is_incomplete and not issubclass(found, _LEAVE_NOTHING_MISSING), width)

    def _of_kind(self, stream: _Stream, kind: str) -> _Stream:
        """The output of `columns`; once a step has changed the columns, all of them are numeric."""
        if stream.columns is None:
            return _Stream((), False, 0) if kind == "symbolic" else stream
        if kind == "all":
            return stream
        return self._only([column for column in stream.columns if (column in self._symbolic) == (kind == "symbolic")])

    def _masked(self, stream: _Stream, mask: Value) -> _Stream:
        """The output of `keep`: the first column if its mask keeps none. A mask of the wrong length fails later."""
        if stream.columns is None or not isinstance(mask, tuple) or len(mask) != len(stream.columns):
            return stream
        kept = [column for column, stays in zip(stream.columns, mask, strict=True) if stays]
        return self._only(kept or stream.columns[:1])


def _with_sparse_symbols(
    steps: tuple[Step, ...], task: str, trusted: Collection[str], following: Step | None = None
) -> tuple[Step, ...]:
    """The steps with sparse rows from one-hot encoders in front of what takes them."""
    made: list[Step] = []
    for step, after in zip(steps, (*steps[1:], following), strict=True):
        if isinstance(step, Branches):
            branches = (_with_sparse_symbols(branch, task, trusted, after) for branch in step.branches)
            made.append(Branches(tuple(branches)))
            continue
        if isinstance(after, BlockValue) and ("sparse_output", False) in step.params:
            found = load_class(step.block, task, trusted)
            if issubclass(found, OneHotEncoder) and takes_sparse(step_to_estimator(after, task, "", trusted)):
                params = tuple((name, True if name == "sparse_output" else value) for name, value in step.params)
                step = BlockValue(step.block, params)
        made.append(step)
    return tuple(made)


# --- The estimator of a whole model -----------------------------------------------------------------------------------


def model_to_chain(
    model: Model,
    task: str,
    seed: int = 0,
    trusted: Collection[str] = (),
    columns: ColumnKinds | None = None,
) -> ChainClassifier | ChainRegressor:
    """The estimator of a model. With `columns`, it encodes categorical columns and imputes missing values as needed."""
    if columns is not None:
        model = adapt_model(model, columns, task, trusted)
    before, learner, after = split_at_learner(model)
    built = [
        step_to_estimator(step, task, f"{seed}/{position}", trusted)
        for position, step in enumerate((*before, learner, *after))
    ]
    kind = ChainClassifier if task == "classification" else ChainRegressor
    return kind(steps=built[: len(before)], learner=built[len(before)], posts=built[len(before) + 1 :])
