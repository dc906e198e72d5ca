"""Arrays and frames in memory as tables."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
import scipy.sparse
from sklearn.datasets import load_iris

from msl.data.data_errors import DataError
from msl.data.options import DataOptions
from msl.data.read import read_like, read_table


def refusal(*arguments: object, **options: object) -> str:
    with pytest.raises(DataError) as caught:
        read_table(*arguments, **options)  # type: ignore[arg-type]
    return caught.value.problems[0].code


def test_arrays() -> None:
    X, y = load_iris(return_X_y=True)
    table = read_table(X, y)
    np.testing.assert_array_equal(table.X, X)
    assert table.names == ("f1", "f2", "f3", "f4")
    assert (table.target, table.classes) == ("y", (0, 1, 2))
    assert table.y is not None
    np.testing.assert_array_equal(table.y, y)


def test_tables_do_not_share_memory_with_arrays_that_may_change() -> None:
    for width in (1, 3):
        X, y = np.random.default_rng(0).normal(size=(6, width)), np.arange(6) / 4
        table = read_table(X, y)
        assert table.y is not None
        assert not np.shares_memory(table.X, X)
        assert not np.shares_memory(table.y, y)
        before = table.fingerprint
        X[:], y[:] = 0, 0
        assert read_table(table.X, table.y).fingerprint == before


def test_lists_names_and_strings() -> None:
    table = read_table([[1, "a"], [2, None], [3.5, "b"]], ["n", "y", "n"], names=["size", "letter"])
    np.testing.assert_array_equal(table.X, [[0, 1], [np.nan, 2], [1, 3.5]])
    assert table.names == ("letter", "size")
    assert table.classes == ("n", "y")


def test_the_target_inside_the_array() -> None:
    table = read_table(np.array([[1, 5, 0], [2, 6, 1], [3, 8, 1]]))
    assert (table.names, table.target, table.classes) == (("f1", "f2"), "f3", (0, 1))


def test_kinds_of_arrays() -> None:
    y = [0, 1, 0]
    assert read_table(np.array([[True], [False], [True]]), y).schema.columns[0].categories == ("false", "true")
    assert read_table(np.array([[b"u"], [b"v"], [b"u"]]), y).schema.columns[0].categories == ("u", "v")
    assert read_table(np.array([["u"], ["v"], ["u"]]), y).schema.columns[0].categories == ("u", "v")
    assert read_table(np.array([[1], [2], [4]], dtype=np.float32), y).X.dtype == np.float64
    assert read_table(np.array([[1], [2], [4]], dtype=object), y).X.tolist() == [[1], [2], [4]]
    assert read_table(np.asfortranarray(np.eye(3)), y).X.flags.c_contiguous
    days = np.array([["2024-01-01"], ["2024-01-02"], ["2024-01-03"]], dtype="datetime64[D]")
    assert read_table(days, y).names == ("f1: day", "f1: days", "f1: weekday", "f1: yearday")
    assert refusal(np.eye(3) * 1j, y) == "MSL316"


def test_shapes_that_are_no_table() -> None:
    assert refusal(np.zeros(3)) == "MSL327"
    assert refusal(np.zeros((3, 2)), [1, 2]) == "MSL327"
    assert refusal(np.zeros((3, 2)), np.zeros((3, 2))) == "MSL327"
    assert refusal(np.zeros((3, 2)), [0, 1, 0], names=["a"]) == "MSL327"
    assert refusal([[1, 2], [3]]) == "MSL327"
    assert refusal(scipy.sparse.eye(3), [0, 1, 0]) == "MSL327"
    assert refusal(pl.DataFrame({"y": [1, 2], "v": [1, 2]}), [0, 1]) == "MSL327"
    assert refusal(np.zeros((0, 2)), []) == "MSL304"
    assert refusal(pl.DataFrame()) == "MSL304"


def test_polars_frames() -> None:
    frame = pl.DataFrame({"b": [1, 2, 3], "a": ["u", "v", None], "class": [0, 1, 0]})
    table = read_table(frame)
    assert read_table(frame.lazy()).fingerprint == table.fingerprint
    assert read_table(frame.drop("class"), frame["class"]).fingerprint == table.fingerprint
    renamed = read_table(frame.drop("class"), frame["class"].to_numpy(), options=DataOptions(target="class"))
    assert renamed.fingerprint == table.fingerprint


def test_a_table_can_be_sent_and_mapped() -> None:
    table = read_table(np.eye(4), [0, 1, 0, 1])
    sent = pickle.loads(pickle.dumps(table))
    assert sent.fingerprint == table.fingerprint
    mapped = dataclasses.replace(table, X=np.frombuffer(table.X.tobytes()).reshape(table.X.shape))
    assert mapped.fingerprint == table.fingerprint
    assert len(mapped) == 4


def test_pandas_frames() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "i": [1, 2, 3, 4],
            "f": [1.5, None, 2.0, 3.0],
            "b": [True, False, True, True],
            "I": pd.array([1, None, 3, 4], dtype="Int64"),
            "B": pd.array([True, None, False, True], dtype="boolean"),
            "s": ["a", "b", None, "a"],
            "S": pd.array(["a", "b", None, "c"], dtype="string"),
            "c": pd.Categorical(["x", "y", "x", None]),
            "m": [1, "a", 2.5, None],
            "u": np.array([1, 2, 3, 9], dtype="uint8"),
            "class": [0, 1, 0, 1],
        }
    )
    reference = pl.DataFrame(
        {
            "i": [1, 2, 3, 4],
            "f": [1.5, None, 2.0, 3.0],
            "b": [True, False, True, True],
            "I": [1, None, 3, 4],
            "B": [True, None, False, True],
            "s": ["a", "b", None, "a"],
            "S": ["a", "b", None, "c"],
            "c": ["x", "y", "x", None],
            "m": ["1", "a", "2.5", None],
            "u": [1, 2, 3, 9],
            "class": [0, 1, 0, 1],
        }
    )
    table = read_table(frame)
    assert table.fingerprint == read_table(reference).fingerprint
    assert read_table(frame.drop(columns="class"), frame["class"]).fingerprint == table.fingerprint
    assert read_like(table.schema, frame).fingerprint == table.fingerprint
    for zone in (None, "UTC"):
        days = read_table(frame.assign(day=pd.date_range("2024-01-01", periods=4, tz=zone)))
        assert days.X[:, days.names.index("day: weekday")].tolist() == [1, 2, 3, 4]
    doubled = pd.DataFrame([[1, 2, 0], [3, 5, 1]], columns=["x", "x", "class"])
    assert read_table(doubled).source_names == ("x", "x_2", "class")


@pytest.mark.slow
def test_pandas_is_not_imported_without_need() -> None:
    program = (
        "import sys, msl.data.read, numpy as np; msl.data.read.read_table(np.eye(4), [0, 1, 0, 1]);"
        "sys.exit('pandas' in sys.modules or 'sklearn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_masked_values_are_missing() -> None:
    X = np.ma.masked_equal(np.array([[1.0, 2.0], [3.0, -1.0], [4.0, 5.0]]), -1.0)
    np.testing.assert_array_equal(read_table(X, [0, 1, 0]).X, [[1, 2], [3, np.nan], [4, 5]])
    whole = np.ma.masked_equal(np.array([[1, 2], [3, -1], [4, 5]]), -1)
    np.testing.assert_array_equal(read_table(whole, [0, 1, 0]).X, [[1, 2], [3, np.nan], [4, 5]])


@pytest.mark.parametrize("cell", [[1, 2], (1, 2), {"a": 1}, {1}, np.zeros(2)], ids=lambda cell: type(cell).__name__)
def test_cells_with_several_values_are_refused(cell: object) -> None:
    X = np.empty((4, 2), dtype=object)
    X[:, 0] = [1.0, 2.0, 3.0, 4.0]
    for row in range(4):
        X[row, 1] = cell
    assert refusal(X, [0, 1, 0, 1]) == "MSL316"


def test_frames_that_are_not_what_they_seem() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"u": [1.0, 2.0, 3.0, 4.0]})
    classes = pd.Series(["a", "b", "a", "b"])
    assert refusal(frame.assign(w=frame["u"] * 1j), classes) == "MSL316"
    assert refusal(frame.assign(w=[[1]] * 4), classes) == "MSL316"
    months = read_table(frame.assign(w=pd.period_range("2000-01", periods=4, freq="M")), classes)
    assert months.X[:, months.names.index("w: month")].tolist() == [1, 2, 3, 4]
    assert refusal(frame, pd.DataFrame({"s": classes, "t": classes})) == "MSL327"
    assert read_table(frame, pd.DataFrame({"t": classes})).target == "y"


def test_a_table_of_arrow_is_read_as_a_frame_is() -> None:
    class Arrow:
        """All that a table of pyarrow, DuckDB or any other such library has to offer."""

        def __init__(self, frame: pl.DataFrame) -> None:
            self.__arrow_c_stream__ = frame.__arrow_c_stream__

    frame = pl.DataFrame({"a": [1.5, None, 3.0, 4.0], "b": ["x", "y", "z", "x"], "y": ["p", "q", "q", "p"]})
    table = read_table(Arrow(frame))
    assert table.fingerprint == read_table(frame).fingerprint
    assert table.names == ("a", "b")
