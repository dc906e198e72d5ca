"""Tables with their schema, and the fingerprint of their content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from msl.data.data_errors import DataProblem, listed
from msl.data.derived_columns import LENGTH, DateColumns, Derived
from msl.data.infer_types import Kind
from msl.data.options import DataOptions, Label
from msl.data.table_rows import Digests
from msl.data.target import spell_label
from msl.space.formulas import Facts, Task

_ROWS_AT_ONCE = 4096


def fingerprint_table(table: Table) -> str:
    """SHA-256 of names, kinds, symbols, values, rows in their order, target, classes, groups, order, folds, weights.

    The format of the file, the order of its columns, its ignored columns and the spelling of its numbers leave it
    unchanged: features stand in the table in an order of their own, and numbers are digested by value.
    """
    schema = table.schema
    arrays = {"X": table.X, "y": table.y, "groups": table.groups, "order": table.order, "folds": table.folds}
    if table.weights is not None:
        arrays["weights"] = table.weights
    outline = {
        "format": "msl table 1",
        "features": [[column.name, column.kind, column.categories] for column in schema.columns],
        "target": schema.target,
        "task": schema.task,
        "classes": schema.classes,
        "arrays": {name: array.shape for name, array in arrays.items() if array is not None},
    }
    digest = hashlib.sha256(json.dumps(outline, separators=(",", ":")).encode())
    for array in arrays.values():
        if array is not None:
            for start in range(0, len(array), _ROWS_AT_ONCE):
                digest.update(_canonical(array[start : start + _ROWS_AT_ONCE]))
    return digest.hexdigest()


def _canonical(values: NDArray[Any]) -> bytes:
    """The values as bytes that are the same on every machine: one zero, one NaN, little-endian."""
    if values.dtype.kind != "f":
        return values.astype("<i8").tobytes()
    values = values + 0.0
    values[np.isnan(values)] = np.nan
    return values.astype("<f8", copy=False).tobytes()


# --- the table ---


Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Role = Literal["feature", "target", "groups", "order", "fold", "weight", "ignored"]


@dataclass(frozen=True, slots=True)
class Column:
    """A feature: numeric, or categorical and stored in `X` as indices into `categories`.

    An ordered feature has its categories from the lowest to the highest, so that their indices are numbers to compare.
    """

    name: str
    kind: Kind
    categories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Schema:
    """What is needed to read another table for the same model; plain data, so that a saved model can hold it.

    The features are in their natural order (f2 before f10), whatever their order in the source: a model that numbers
    features, or draws some by chance, then means the same for the same data in another file.
    """

    columns: tuple[Column, ...]
    target: str
    task: Task
    #: Sorted, of two the positive one last; empty for regression.
    classes: tuple[Label, ...]
    options: DataOptions
    #: What some of the columns are made of.
    derived: tuple[Derived, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that a table has to have: those that others are made of instead of these."""
        made = {name: one.source for one in self.derived for name in one.names}
        return tuple(dict.fromkeys(made.get(name, name) for name in self.names))

    @property
    def symbols(self) -> dict[str, tuple[str, ...]]:
        """The categories of the columns that have any."""
        return {column.name: column.categories for column in self.columns if column.kind != "numeric"}

    def made_of(self, kind: Literal["dates", "text"]) -> tuple[str, ...]:
        """The columns that are made of dates, or of text."""
        made = {name for one in self.derived for name in one.names if isinstance(one, DateColumns) == (kind == "dates")}
        return tuple(name for name in self.names if name in made)


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """One line about a column of the source, for people."""

    name: str
    role: Role
    kind: Kind | Literal["date", "text"] | None
    #: Whether the kind was inferred or given by the user.
    is_given: bool
    missing: int
    values: str
    warnings: tuple[str, ...]


# Without slots, so that what is computed on demand can be kept.
@dataclass(frozen=True, eq=False)
class Table:
    """A table of data with its target. Its arrays are read-only; any may be replaced by a mapped copy of itself."""

    schema: Schema
    #: C-contiguous, a row for each sample and a column for each feature; NaN where missing, never infinite.
    #: A symbolic feature holds the places of its symbols among its categories.
    X: Floats
    #: Codes of classes (intp) or numbers (float64); `None` where the target is not known.
    y: NDArray[Any] | None
    #: The group of each row as a number, and its place in time (equal where simultaneous).
    groups: Codes | None = None
    order: Codes | None = None
    #: The fold of each row, from 0; -1 where a row is never tested.
    folds: Codes | None = None
    #: How much each row counts, in fits and in metrics: positive numbers.
    weights: Floats | None = None
    #: The names of all columns as the source has them.
    source_names: tuple[str, ...] = ()
    origin: str = ""
    #: Rows that were left out because their target is missing.
    n_dropped: int = 0
    #: How many rows there were before a sample was drawn; 0 if none was.
    n_sampled_from: int = 0
    #: By what each row is known in other versions of the table; None for a table that is not learnt from.
    row_digests: Digests | None = None
    target_reason: str = ""
    task_reason: str = ""
    warnings: tuple[DataProblem, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.X, self.y, self.groups, self.order, self.folds, self.weights):
            if array is not None:
                array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        rows, features = self.X.shape
        return f"<Table {self.origin}: {rows} × {features}, {self.task} of {self.target}>"

    @property
    def names(self) -> tuple[str, ...]:
        """The features, in the order of the columns of `X`."""
        return self.schema.names

    @property
    def target(self) -> str:
        return self.schema.target

    @property
    def task(self) -> Task:
        return self.schema.task

    @property
    def classes(self) -> tuple[Label, ...]:
        return self.schema.classes

    @property
    def _guess(self) -> str:
        """Which column was taken for the target and why, unless the user named it or the task."""
        options = self.schema.options
        is_guess = options.target is None and options.task is None and self.target_reason
        return f"`{self.target}` was taken for the target, as {self.target_reason}" if is_guess else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was inferred or left out: not problems, but good to know."""
        found = []
        if self.schema.options.target is None and self.target_reason:
            found.append(f"target: `{self.target}` (guessed: {self.target_reason}; say `data(target = …)`)")
        if self.n_dropped:
            rows = "1 row" if self.n_dropped == 1 else f"{self.n_dropped:,} rows"
            found.append(f"{rows} without a value of the target `{self.target}` left out, {len(self):,} used")
        if self.n_sampled_from:
            found.append(f"rows: a sample of {len(self):,} of {self.n_sampled_from:,} rows (`data(rows = …)`)")
        if self.folds is not None:
            spare = int((self.folds < 0).sum())
            never = f"; {spare:,} rows are never tested" if spare else ""
            found.append(f"folds: the {int(self.folds.max()) + 1} values of `{self.schema.options.fold}`{never}")
        if self.weights is not None:
            lowest, highest = self.weights.min(), self.weights.max()
            found.append(f"weights of rows: {lowest:g} to {highest:g}, in fits and in metrics")
        return tuple(found)

    @property
    def rows_in_words(self) -> str:
        """`100,000 of 327,346 rows` of a sample, `150 rows` of a whole table."""
        return f"{len(self):,} of {self.n_sampled_from:,} rows" if self.n_sampled_from else f"{len(self):,} rows"

    @cached_property
    def is_symbolic(self) -> NDArray[np.bool_]:
        """For each feature, whether its column of `X` holds codes."""
        return np.array([column.kind == "symbolic" for column in self.schema.columns])

    @cached_property
    def missing_counts(self) -> NDArray[np.intp]:
        """For each feature, in how many rows it is missing."""
        counts: NDArray[np.intp] = np.isnan(self.X).sum(axis=0, dtype=np.intp)
        return counts

    @cached_property
    def fingerprint(self) -> str:
        """A digest of everything that can change a fitted model; see `fingerprint_table`."""
        return fingerprint_table(self)

    @cached_property
    def facts(self) -> Facts:
        rows, features = self.X.shape
        return Facts(
            n_samples=rows,
            n_features=features,
            n_classes=len(self.classes),
            task=self.task,
            columns=self.names,
            symbolic=tuple(column.name for column in self.schema.columns if column.kind == "symbolic"),
            dates=self.schema.made_of("dates"),
            texts=self.schema.made_of("text"),
            ordered=tuple(column.name for column in self.schema.columns if column.kind == "ordered"),
            incomplete=tuple(name for name, count in zip(self.names, self.missing_counts, strict=True) if count),
            classes=tuple(spell_label(label) for label in self.classes),
            n_folds=None if self.folds is None else int(self.folds.max()) + 1,
            guessed_target=self._guess,
            has_weights=self.weights is not None,
        )

    def describe(self) -> tuple[ColumnSummary, ...]:
        """How each column of the source was read, in the order of the source."""
        return tuple(self._summaries())

    def _summaries(self) -> Iterator[ColumnSummary]:
        options = self.schema.options
        kinds = (options.categorical, options.numeric, options.dates, options.text)
        given = {name for names in (*kinds, [name for name, *_ in options.ordered or ()]) for name in names or ()}
        derived = {one.source: one for one in self.schema.derived}
        places = {name: place for place, name in enumerate(self.names)}
        roles: dict[str | None, Role] = {self.target: "target", options.groups: "groups", options.order: "order"}
        roles |= {options.fold: "fold", options.weight: "weight"}
        for name in self.source_names:
            codes = tuple(each.code for each in self.warnings if each.column == name)
            if name in places:
                column, missing = self.schema.columns[places[name]], int(self.missing_counts[places[name]])
                values = self._values(column, self.X[:, places[name]], missing)
                yield ColumnSummary(name, "feature", column.kind, name in given, missing, values, codes)
            elif name in derived:
                one = derived[name]
                missing = int(self.missing_counts[places[one.names[0]]])
                is_date = isinstance(one, DateColumns)
                values = self._made(one)
                role: Role = "order" if name == options.order else "feature"
                yield ColumnSummary(name, role, "date" if is_date else "text", name in given, missing, values, codes)
            elif name == self.target and self.y is not None:
                kind: Kind = "symbolic" if self.task == "classification" else "numeric"
                is_given = options.task is not None
                yield ColumnSummary(name, "target", kind, is_given, 0, self._target_values(self.y), codes)
            else:
                yield ColumnSummary(name, roles.get(name, "ignored"), None, True, 0, "", codes)

    def _made(self, one: Derived) -> str:
        if isinstance(one, DateColumns):
            return f"{len(one.parts)} parts: {listed(one.parts, shown=7)}" if len(one.parts) > 1 else one.parts[0]
        return f"{LENGTH} and {len(one.words)} words: {listed(one.words)}"

    def _values(self, column: Column, values: Floats, missing: int) -> str:
        if missing == len(values):
            return "none"
        if column.kind == "numeric":
            return f"{np.nanmin(values):g} … {np.nanmax(values):g}"
        if column.kind == "ordered":
            return f"{len(column.categories)} symbols: {' < '.join(column.categories[:7])}" + (
                " < …" if len(column.categories) > 7 else ""
            )
        return f"{len(column.categories)} symbols: {listed(column.categories)}"

    def _target_values(self, y: NDArray[Any]) -> str:
        if self.task == "regression":
            return f"{y.min():g} … {y.max():g}"
        counts = np.bincount(y, minlength=len(self.classes))
        pairs = zip(self.classes, counts, strict=True)
        return f"{len(self.classes)} classes: {listed(f'{spell_label(label)} ({count})' for label, count in pairs)}"
