"""Kinds of columns: numbers, symbols, missing values, dates, and what is said about odd ones."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from msl.data.data_errors import DataError
from msl.data.options import DataOptions
from msl.data.read import read_table
from msl.data.table import Column, Table


def table_of(values: list[object], **options: object) -> Table:
    """A table with one feature `v` of these values and a target that needs no attention."""
    frame = pl.DataFrame({"v": pl.Series(values, strict=False), "class": [row % 2 for row in range(len(values))]})
    return read_table(frame, options=DataOptions(**options))  # type: ignore[arg-type]


def feature(values: list[object], **options: object) -> tuple[Column, list[float | None]]:
    table = table_of(values, **options)
    return table.schema.columns[0], [None if np.isnan(value) else value for value in table.X[:, 0]]


def codes(table: Table) -> list[str]:
    return [each.code for each in table.warnings if each.code != "MSL470"]


NUMERIC = Column("v", "numeric")


@pytest.mark.parametrize(
    ("values", "column", "encoded"),
    [
        ([1, 2, 3, None], NUMERIC, [1, 2, 3, None]),
        ([1.5, float("nan"), 2.0, None], NUMERIC, [1.5, None, 2, None]),
        (["1", " 2.5 ", "NA", "?", "null", "", "-", "n/a", "NaN"], NUMERIC, [1, 2.5, *[None] * 7]),
        (["b", "a", None, "b", " a "], Column("v", "symbolic", ("a", "b")), [1, 0, None, 1, 0]),
        ([True, False, None, True], Column("v", "symbolic", ("false", "true")), [1, 0, None, 1]),
        (["True", "FALSE", "NA", "true"], Column("v", "symbolic", ("false", "true")), [1, 0, None, 1]),
        (["a", "NA", "b", "b"], Column("v", "symbolic", ("NA", "a", "b")), [1, 0, 2, 2]),
        (["x10", "x9", "X", "x9"], Column("v", "symbolic", ("X", "x10", "x9")), [1, 2, 0, 2]),
        (["1.5", "1,5", "a", "b"], Column("v", "symbolic", ("1,5", "1.5", "a", "b")), [1, 0, 2, 3]),
        (["0x10", "1_000", "0x11", "7"], Column("v", "symbolic", ("0x10", "0x11", "1_000", "7")), [0, 2, 1, 3]),
        ([None, None, None, None], NUMERIC, [None] * 4),
        (["?", "NA", "", "?"], NUMERIC, [None] * 4),
    ],
)
def test_inferred(values: list[object], column: Column, encoded: list[float | None]) -> None:
    assert feature(values) == (column, encoded)


@pytest.mark.parametrize(
    ("values", "options", "column", "encoded"),
    [
        ([2, -10, -2, None], {"categorical": ("v",)}, Column("v", "symbolic", ("-10", "-2", "2")), [2, 0, 1, None]),
        ([2, 10, 2, None], {"categorical": ("v",)}, Column("v", "symbolic", ("2", "10")), [0, 1, 0, None]),
        (["02", "10.0", "2", "NA"], {"categorical": ("v",)}, Column("v", "symbolic", ("2", "10")), [0, 1, 0, None]),
        ([1.0, 2.5, 1.0, 3.0], {"categorical": ("v",)}, Column("v", "symbolic", ("1", "2.5", "3")), [0, 1, 0, 2]),
        ([True, False, True, None], {"numeric": ("v",)}, NUMERIC, [1, 0, 1, None]),
        ([1, -999, 2, 3], {"missing": (-999,)}, NUMERIC, [1, None, 2, 3]),
        (["1", "-999.0", "2", "3"], {"missing": ("-999",)}, NUMERIC, [1, None, 2, 3]),
        (["1", "gone", "2", "3"], {"missing": ("gone",)}, NUMERIC, [1, None, 2, 3]),
        (["a", "?", "b", "b"], {"missing": ("?",)}, Column("v", "symbolic", ("a", "b")), [0, None, 1, 1]),
        ([1.0, float("inf"), 2.0, 3.0], {"missing": ("inf",)}, NUMERIC, [1, None, 2, 3]),
        (["1,5", "2", "3,25", "4"], {"decimal": ","}, None, []),
    ],
)
def test_given(
    tmp_path: Path, values: list[object], options: dict[str, object], column: Column | None, encoded: list[float | None]
) -> None:
    if column is None:  # decimal signs belong to text files
        path = tmp_path / "t.csv"
        path.write_text("v;class\n" + "".join(f"{value};{row % 2}\n" for row, value in enumerate(values)))
        assert read_table(path, options=DataOptions(decimal=",")).X[:, 0].tolist() == [1.5, 2, 3.25, 4]
    else:
        assert feature(values, **options) == (column, encoded)


@pytest.mark.parametrize(
    "values",
    [
        [datetime.date(2024, 1, 31), datetime.date(2024, 2, 1), None, None],
        [datetime.time(12, 30), datetime.time(12, 31), None, None],
        ["2024-01-31", "2024-02-01", "", "2024-02-03"],
        ["2024-01-31T12:30:00.5Z", "2024-02-01 12:30", "2024-02-01", None],
        ["31.1.2024", "1.2.2024", "2.2.2024", "3.2.2024"],
        ["1/31/24", "2/1/24 1:30 PM", "2/2/24", "2/3/24"],
        ["12:30", "12:31:05", "0:00", "1:00"],
    ],
)
def test_dates_become_columns(values: list[object]) -> None:
    table = table_of(values)
    assert table.names
    assert all(name.startswith("v: ") for name in table.names)
    assert table_of(values, categorical=("v",)).is_symbolic.tolist() == [True]


@pytest.mark.parametrize("values", [["30-39", "40-49", "50-59", "20-29"], ["1.2.3", "1.2.4", "1.3.0", "2.0.0"]])
def test_what_only_resembles_dates_is_symbolic(values: list[object]) -> None:
    assert table_of(values).is_symbolic.tolist() == [True]


def test_infinite_values_are_refused_with_advice() -> None:
    with pytest.raises(DataError, match=r'missing = \["inf", "-inf"\]') as caught:
        table_of([1.0, 2.0, float("-inf"), 3.0])
    assert [(each.code, each.row) for each in caught.value.problems] == [("MSL318", 3)]


def test_text_where_numbers_are_demanded() -> None:
    with pytest.raises(DataError) as caught:
        table_of(["1", "2", "x1", "x2"], numeric=("v",))
    assert [(each.code, each.row) for each in caught.value.problems] == [("MSL317", 3)]


@pytest.mark.parametrize("values", [[[1], [2], [3]], [{"a": 1}, {"a": 2}, {"a": 3}], [b"a", b"b", b"c"]])
def test_structures_are_refused(values: list[object]) -> None:
    with pytest.raises(DataError) as caught:
        table_of(values)
    assert caught.value.problems[0].code == "MSL316"
    assert read_table(
        pl.DataFrame({"v": values, "w": [1, 2, 4], "class": [0, 1, 0]}), options=DataOptions(ignore=("v",))
    ).names == ("w",)


THIRTY = range(30)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([5.0] * 30, ["MSL333"]),
        (["a"] * 29 + [None], ["MSL333"]),
        ([None] * 30, ["MSL334"]),
        ([f"p{row}" for row in THIRTY], ["MSL335"]),
        ([row + 100 for row in THIRTY], ["MSL335"]),
        ([(row * 7) % 30 for row in THIRTY], ["MSL335"]),
        ([row / 2 for row in THIRTY], []),
        ([row * row for row in THIRTY], []),
        ([row % 29 for row in THIRTY], []),
        ([f"{row}" for row in range(29)] + ["oops"], ["MSL337"]),
        ([f"{row}.5" for row in range(20)] + ["unknown"] * 10, ["MSL337"]),
        ([f"{row % 3}" for row in range(20)] + ["many"] * 10, []),
        ([f"{row}%" for row in range(10)] * 3, ["MSL337"]),
        (["$1,200.50", "-3 400 €", "17"] * 10, ["MSL337"]),
        (["1.2.3", "192.168.0.1"] * 15, []),
        (["a", "b", "?"] * 10, ["MSL338"]),
        (["a", "b", "none"] * 10, []),
        ([2**53 + row % 2 for row in THIRTY], ["MSL336", "MSL333"]),
        ([2**60 + (row % 7) * 2**10 for row in THIRTY], []),
    ],
)
def test_odd_columns_are_kept_and_said(values: list[object], expected: list[str]) -> None:
    table = table_of(values)
    assert codes(table) == expected
    assert table.names == ("v",)
    assert all(each.severity == "warning" for each in table.warnings)


@pytest.mark.parametrize("name", ["id", "Patient ID", "row_number", "customerId", "Unnamed: 0"])
def test_identifiers_are_known_by_name_too(name: str) -> None:
    frame = pl.DataFrame({name: [row * row for row in THIRTY], "class": [row % 2 for row in THIRTY]})
    assert codes(read_table(frame)) == ["MSL335"]
    assert codes(read_table(frame.rename({name: "width"}))) == []


def test_features_stand_in_natural_order() -> None:
    frame = pl.DataFrame({"f10": [1, 2, 1], "f2": ["a", "b", "b"], "f1": [5, 6, 7], "class": [0, 1, 0]})
    table = read_table(frame)
    assert table.names == ("f1", "f2", "f10")
    assert table.X.tolist() == [[5, 0, 1], [6, 1, 2], [7, 1, 1]]
    assert table.is_symbolic.tolist() == [False, True, False]


def test_description_and_facts() -> None:
    frame = pl.DataFrame(
        {
            "note": ["x", "y", "z"],
            "b": ["u", None, "v"],
            "who": [7, 7, 8],
            "a": [0.5, 2.0, 1.0],
            "when": [3, 1, 2],
            "class": ["n", "p", "p"],
        }
    )
    options = DataOptions(ignore=("note",), groups="who", order="when", categorical=("b",))
    table = read_table(frame, options=options)
    assert [(each.name, each.role, each.kind, each.is_given, each.missing) for each in table.describe()] == [
        ("note", "ignored", None, True, 0),
        ("b", "feature", "symbolic", True, 1),
        ("who", "groups", None, True, 0),
        ("a", "feature", "numeric", False, 0),
        ("when", "order", None, True, 0),
        ("class", "target", "symbolic", False, 0),
    ]
    assert [each.values for each in table.describe()][1::2] == [
        "2 symbols: u and v",
        "0.5 … 2",
        "2 classes: n (1) and p (2)",
    ]
    facts = table.facts
    assert (facts.n_samples, facts.n_features, facts.n_classes, facts.task) == (3, 2, 2, "classification")
    assert (facts.columns, facts.symbolic, facts.incomplete) == (("a", "b"), ("b",), ("b",))
    assert table.groups is not None
    assert table.order is not None
    assert table.groups.tolist() == [0, 0, 1]
    assert table.order.tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["2024-02-01", "2023-12-31", "2024-02-01", "2024-02-02"], [1, 0, 1, 2]),
        (["2024-01-01T10:00Z", "2024-01-01T11:30+02:00", "2024-01-01T10:00+00:00", "2025-01-01T00:00Z"], [1, 0, 1, 2]),
        ([datetime.date(2024, 1, day) for day in (3, 1, 3, 2)], [2, 0, 2, 1]),
        (["10", "9", "8.5", "10.0"], [2, 1, 0, 2]),
    ],
)
def test_orders(values: list[object], order: list[int]) -> None:
    frame = pl.DataFrame({"when": values, "v": [1, 2, 4, 8], "class": [0, 1, 0, 1]})
    table = read_table(frame, options=DataOptions(order="when"))
    assert table.order is not None
    assert table.order.tolist() == order
    assert table.names == ("v",)


@pytest.mark.parametrize(
    ("values", "option", "code"),
    [
        (["31.1.2024", "1.2.2024", "2.2.2024", "3.13.2024"], "order", "MSL324"),
        (["early", "late", "late", "early"], "order", "MSL324"),
        ([1, None, 2, 3], "order", "MSL323"),
        (["a", "b", None, "a"], "groups", "MSL323"),
    ],
)
def test_arrangements_that_are_none(values: list[object], option: str, code: str) -> None:
    frame = pl.DataFrame({"w": values, "v": [1, 2, 4, 8], "class": [0, 1, 0, 1]})
    with pytest.raises(DataError) as caught:
        read_table(frame, options=DataOptions(**{option: "w"}))  # type: ignore[arg-type]
    assert caught.value.problems[0].code == code


def test_the_same_of_many_columns_is_told_a_few_times_and_then_as_one() -> None:
    frame = pl.DataFrame({f"c{place}": [1.0] * 6 for place in range(300)} | {"v": range(6), "class": [0, 1] * 3})
    warnings = read_table(frame).warnings
    assert [each.column for each in warnings] == ["c0", "c1", "c2", "c3", None]
    assert "296 times more, with `c4`, `c5`" in warnings[-1].message
