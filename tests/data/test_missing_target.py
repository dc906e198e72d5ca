"""Rows whose target is missing: refused, or left out with a count where `data(missing_target = drop)` says so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import msl
from msl.data.data_errors import DataError
from msl.data.options import DataOptions
from msl.data.read import read_like, read_table

DROP = DataOptions(missing_target="drop")
FRAME = pl.DataFrame(
    {
        "size": [1.0, 2.0, float("inf"), 4.0, 5.0, 6.0],
        "colour": ["red", "blue", "only here", "red", "blue", "red"],
        "class": ["a", "b", None, "a", "b", "a"],
    }
)


def test_the_way_out_is_told() -> None:
    with pytest.raises(DataError, match="missing_target = drop"):
        read_table(FRAME.drop("size"))


def test_rows_without_a_target_are_left_out_as_if_they_were_not_there() -> None:
    dropped = read_table(FRAME, options=DROP)
    without = read_table(FRAME.filter(pl.col("class").is_not_null()))
    np.testing.assert_array_equal(dropped.X, without.X)
    assert dropped.schema.columns == without.schema.columns
    assert dropped.fingerprint == without.fingerprint
    assert (dropped.n_dropped, len(dropped)) == (1, 5)
    assert "1 row without a value of the target `class` left out, 5 used" in dropped.notes
    assert not any("left out" in note for note in without.notes)


def test_the_order_and_the_groups_lose_the_same_rows() -> None:
    frame = FRAME.with_columns(when=pl.Series([6, 5, None, 3, 2, 1]), who=pl.Series(["x", "x", None, "y", "y", "z"]))
    table = read_table(frame, options=DataOptions(missing_target="drop", order="when", groups="who"))
    assert table.order is not None
    assert table.order.tolist() == [4, 3, 2, 1, 0]
    assert table.groups is not None
    assert table.groups.tolist() == [0, 0, 1, 1, 2]


def test_a_second_table_is_judged_where_it_can_be_and_predicted_everywhere() -> None:
    table = read_table(FRAME, options=DROP)
    judged = read_like(table.schema, FRAME.with_columns(size=pl.lit(1.0)))
    assert judged.y is not None
    assert (len(judged), judged.n_dropped) == (5, 1)
    assert len(read_like(table.schema, FRAME.with_columns(size=pl.lit(1.0)), with_target=False)) == 6
    assert read_like(table.schema, FRAME.with_columns(size=pl.lit(1.0)).drop("class")).y is None


def test_a_class_called_none_is_no_missing_target() -> None:
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "class": ["none", "some", "none", "some"]})
    table = read_table(frame, options=DROP)
    assert (table.classes, table.n_dropped) == (("none", "some"), 0)
    assert read_like(table.schema, frame).n_dropped == 0


def test_a_target_without_any_value_is_refused() -> None:
    with pytest.raises(DataError, match="no values at all"):
        read_table(FRAME.drop("size").with_columns(pl.lit(None).alias("class")), options=DROP)


def test_a_run_on_a_frame_of_pandas_drops_them_too(tmp_path) -> None:  # type: ignore[no-untyped-def]
    frame = pd.DataFrame({"x": np.arange(40.0), "z": np.arange(40) % 3, "class": ["a", "b"] * 20})
    frame.loc[[3, 8], "class"] = None
    spec = "use clop data(missing_target = drop) chain m = naive | zarbi search random(evaluations = 2)"
    result = msl.run(spec, frame, store=tmp_path)
    assert result.trained.schema.classes == ("a", "b")
    with pytest.raises(DataError, match="missing_target = drop"):
        msl.run(spec.replace("data(missing_target = drop)", ""), frame, store=tmp_path)


def test_only_what_can_be_done_can_be_said() -> None:
    with pytest.raises(DataError, match="missing_target = drop"):
        DataOptions(missing_target="ignore")  # type: ignore[arg-type]
