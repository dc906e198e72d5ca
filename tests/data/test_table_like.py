"""A second table read with the schema of the first: to test or to predict."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from msl.data.data_errors import DataError
from msl.data.options import DataOptions
from msl.data.read import read_like, read_table
from msl.data.table import Table

TRAIN = pl.DataFrame(
    {
        "size": [1.5, 2.0, None, 4.0],
        "shape": ["round", "flat", "round", "flat"],
        "code": ["01", "02", "A3", "?"],
        "flag": [True, False, True, True],
        "class": ["n", "p", "p", "n"],
    }
)


def first(**options: object) -> Table:
    return read_table(TRAIN, options=DataOptions(**options))  # type: ignore[arg-type]


def codes(table: Table) -> list[str]:
    return [each.code for each in table.warnings]


def refusals(frame: object, table: Table | None = None) -> list[str]:
    with pytest.raises(DataError) as caught:
        read_like((table or first()).schema, frame)
    return [each.code for each in caught.value.problems]


def test_the_same_data_is_the_same_table() -> None:
    again = read_like(first().schema, TRAIN)
    assert again.fingerprint == first().fingerprint
    assert codes(again) == []


def test_columns_in_any_order_and_more_of_them() -> None:
    other = TRAIN.select(reversed(TRAIN.columns)).with_columns(extra=pl.lit(1))
    again = read_like(first().schema, other)
    assert again.fingerprint == first().fingerprint
    assert codes(again) == ["MSL472"]


def test_a_schema_survives_pickling() -> None:
    schema = pickle.loads(pickle.dumps(first().schema))
    assert schema == first().schema


def test_the_target_may_be_absent_or_empty() -> None:
    without = read_like(first().schema, TRAIN.drop("class"))
    assert without.y is None
    np.testing.assert_array_equal(without.X, first().X)
    assert without.facts == first().facts
    empty = TRAIN.with_columns(pl.lit(None).alias("class"))
    assert read_like(first().schema, empty).y is None
    assert [each.role for each in read_like(first().schema, empty).describe()][-1] == "target"


def test_symbols_keep_their_codes_in_small_and_large_tables() -> None:
    for row in range(4):
        np.testing.assert_array_equal(read_like(first().schema, TRAIN[row]).X, first().X[[row]])


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_files_of_single_rows(tmp_path: Path, name: str) -> None:
    """A file of one row looks like numbers where the training data had symbols, and may look like having no header."""
    path = tmp_path / name
    write = pl.DataFrame.write_csv if name.endswith("csv") else pl.DataFrame.write_parquet
    for row in range(4):
        write(TRAIN[row].drop("class"), path)
        np.testing.assert_array_equal(read_like(first().schema, path).X, first().X[[row]])


def test_a_file_without_header_after_one_without(tmp_path: Path) -> None:
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("1,a,x\n2,b,y\n3,a,x\n4,b,y\n")
    table = read_table(train)
    test.write_text("5,b\n6,a\n")
    again = read_like(table.schema, test)
    assert again.X.tolist() == [[5, 1], [6, 0]]
    assert again.y is None
    test.write_text("?,b\n")
    np.testing.assert_array_equal(read_like(table.schema, test).X, [[np.nan, 1]])


def test_unseen_symbols_become_missing() -> None:
    other = TRAIN.with_columns(shape=pl.Series(["round", "oval", "NA", "square"]))
    again = read_like(first().schema, other)
    np.testing.assert_array_equal(np.isnan(again.X[:, again.names.index("shape")]), [False, True, True, True])
    assert codes(again) == ["MSL471"]
    assert "oval and square" in again.warnings[0].message


def test_other_spellings_are_recognised() -> None:
    table = read_table(
        pl.DataFrame({"k": [1, 2, 10], "f": [True, False, True], "class": [1, 0, 1]}),
        options=DataOptions(categorical=("k",)),
    )
    other = pl.DataFrame({"k": ["2.0", "010", "7"], "f": ["FALSE", "True", "no"], "class": ["0.0", "1", "1"]})
    again = read_like(table.schema, other)
    np.testing.assert_array_equal(again.X, [[0, 1], [1, 2], [np.nan, np.nan]])
    assert again.y is not None
    assert again.y.tolist() == [0, 1, 1]


@pytest.mark.parametrize(("separator", "code"), [(",", np.nan), (";", 0)])
def test_a_comma_is_a_decimal_sign_only_where_it_can_be(tmp_path: Path, separator: str, code: float) -> None:
    table = read_table(pl.DataFrame({"k": [1, 2], "class": [0, 1]}), options=DataOptions(categorical=("k",)))
    path = tmp_path / "t.csv"
    path.write_text(f'k{separator}class\n"1,000"{separator}0\n2{separator}1\n')
    np.testing.assert_array_equal(read_like(table.schema, path).X, [[code], [1]])


def test_groups_and_order_are_read_where_present() -> None:
    frame = pl.DataFrame({"g": ["a", "a", "b"], "t": [3, 1, 2], "v": [1, 2, 4], "class": [0, 1, 0]})
    table = read_table(frame, options=DataOptions(groups="g", order="t"))
    again = read_like(table.schema, frame.reverse())
    assert again.groups is not None
    assert again.order is not None
    assert (again.groups.tolist(), again.order.tolist()) == ([0, 1, 1], [1, 0, 2])
    bare = read_like(table.schema, frame.drop("g", "t"))
    assert (bare.groups, bare.order) == (None, None)


def test_refusals() -> None:
    assert refusals(TRAIN.drop("size", "shape")) == ["MSL325", "MSL325"]
    assert refusals(TRAIN.with_columns(pl.Series("class", ["n", "p", "q", "n"]))) == ["MSL326"]
    assert refusals(TRAIN.with_columns(pl.Series("class", ["n", None, "p", "n"]))) == ["MSL319"]
    assert refusals(TRAIN.with_columns(size=pl.lit("big"))) == ["MSL317"]
    assert refusals(TRAIN.with_columns(size=pl.lit(float("inf")))) == ["MSL318"]
    assert refusals(TRAIN.with_columns(size=pl.lit([1, 2]))) == ["MSL316"]
    numbers = read_table(pl.DataFrame({"v": [1, 2, 3], "class": [-1, 1, 1]}))
    assert refusals(pl.DataFrame({"v": [1, 2], "class": [1, 2]}), numbers) == ["MSL326"]
    assert refusals(pl.DataFrame({"v": [1, 2], "class": ["a", "1"]}), numbers) == ["MSL317"]


def test_a_missing_column_is_suggested() -> None:
    with pytest.raises(DataError, match="is it the column `Size`"):
        read_like(first().schema, TRAIN.rename({"size": "Size"}))


def test_regression_targets() -> None:
    table = read_table(pl.DataFrame({"v": [1, 2, 3], "y": [0.5, 1.5, 2.5]}))
    again = read_like(table.schema, np.array([[4.0]]), y=[9.0], names=["v"])
    assert again.y is not None
    assert (again.X.tolist(), again.y.tolist()) == ([[4.0]], [9.0])
    assert refusals(pl.DataFrame({"v": [1, 2], "y": [1.0, float("inf")]}), table) == ["MSL318"]
