"""The options of `data(…)`: how to read a table, where it should not be inferred."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any, Literal, get_args

from msl.data.data_errors import DataProblem, problem, raise_errors
from msl.space.formulas import Task

#: A class label or a marker, as a spec or a table writes it.
Label = str | int | float
#: What to do with rows whose target is missing: refuse the table, or leave them out.
MissingTarget = Literal["error", "drop"]
#: What to do with rows that have more or fewer fields than there are columns.
RaggedRows = Literal["error", "drop"]

#: The options that name a column which is no feature, beside the target.
SET_APART = ("groups", "order", "fold", "weight")


@dataclass(frozen=True, slots=True)
class DataOptions:
    """What the user says about the data; `None` means: infer it."""

    target: str | None = None
    task: Task | None = None
    #: The class whose `f1` is computed; it is the last of the classes.
    positive: Label | None = None
    ignore: tuple[str, ...] | None = None
    #: Markers of missing values in all columns, besides those of every numeric column.
    missing: tuple[Label, ...] | None = None
    categorical: tuple[str, ...] | None = None
    numeric: tuple[str, ...] | None = None
    #: Columns that hold dates or times, and free text; columns of numbers are made of them.
    dates: tuple[str, ...] | None = None
    text: tuple[str, ...] | None = None
    #: Columns whose symbols have an order: each with its symbols, the lowest first, or alone where that is inferred.
    ordered: tuple[tuple[str, ...], ...] | None = None
    #: Whether 1/2/2024 is the first of February.
    day_first: bool | None = None
    groups: str | None = None
    order: str | None = None
    #: The column whose values are the folds of `cv`.
    fold: str | None = None
    #: The column that says how much each row counts.
    weight: str | None = None
    header: bool | None = None
    decimal: str | None = None
    separator: str | None = None
    missing_target: MissingTarget | None = None
    ragged: RaggedRows | None = None
    #: Learn from a sample of this many rows.
    rows: int | None = None

    def __post_init__(self) -> None:
        raise_errors([*self._impossible_values(), *self._contradictions()])

    def overridden(self, by: DataOptions) -> DataOptions:
        """These options, with those that `by` gives: the command line overrides the spec."""
        given: dict[str, Any] = {field.name: getattr(by, field.name) for field in fields(by)}
        return replace(self, **{name: value for name, value in given.items() if value is not None})

    def named_columns(self) -> dict[str, tuple[str, ...]]:
        """The columns that each option names."""
        single = {name: getattr(self, name) for name in ("target", *SET_APART)}
        several = {"ignore": self.ignore, **self._kinds()}
        named = {option: (column,) for option, column in single.items() if column is not None}
        return named | {option: columns for option, columns in several.items() if columns}

    def set_apart(self) -> tuple[str, ...]:
        """The columns that say something about the rows: neither features nor the target."""
        return tuple(column for name in SET_APART if (column := getattr(self, name)) is not None)

    def _kinds(self) -> dict[str, tuple[str, ...] | None]:
        kinds = {"categorical": self.categorical, "numeric": self.numeric, "dates": self.dates, "text": self.text}
        return {**kinds, "ordered": tuple(name for name, *_ in self.ordered or ()) or None}

    def _impossible_values(self) -> Iterator[DataProblem]:
        if self.task is not None and self.task not in get_args(Task):
            yield problem("MSL314", f"`{self.task}` is not a task", "write task = classification or task = regression")
        if self.missing_target is not None and self.missing_target not in get_args(MissingTarget):
            yield problem(
                "MSL314",
                f"`{self.missing_target}` is not what can be done with rows whose target is missing",
                "write missing_target = drop to leave them out, or missing_target = error to refuse the table",
            )
        if self.ragged is not None and self.ragged not in get_args(RaggedRows):
            yield problem(
                "MSL314",
                f"`{self.ragged}` is not what can be done with rows that have too many or too few fields",
                "write ragged = drop to leave them out, or ragged = error to refuse the table",
            )
        if self.rows is not None and self.rows < 2:
            message = f"{self.rows} rows are no sample to learn from"
            yield problem("MSL314", message, "write rows = 100_000, or leave it out")
        if self.separator is not None and (len(self.separator) != 1 or self.separator in '"\r\n'):
            yield problem(
                "MSL314",
                f"the separator {self.separator!r} is not a single character that can stand between fields",
                'write for instance separator = ";"',
            )
        if self.decimal is not None and self.decimal not in (".", ","):
            yield problem("MSL314", f"{self.decimal!r} is not a decimal sign", 'write decimal = "." or decimal = ","')
        elif self.decimal is not None and self.decimal == self.separator:
            yield problem(
                "MSL314",
                f"{self.decimal!r} cannot be both the separator and the decimal sign",
                'files with decimal commas usually have separator = ";"',
            )

    def _contradictions(self) -> Iterator[DataProblem]:
        named = self.named_columns()
        for one, other in combinations(named, 2):
            made = "target" in (one, other) and not {one, other}.isdisjoint(("dates", "text", "ordered"))
            roles = {"target", "ignore", *SET_APART}
            if made or {one, other} <= roles or {one, other} <= self._kinds().keys():
                for column in sorted(set(named[one]) & set(named[other])):
                    yield problem(
                        "MSL314",
                        f"column `{column}` is named both in `{one}` and in `{other}`",
                        "name it in one of them",
                        column=column,
                    )
