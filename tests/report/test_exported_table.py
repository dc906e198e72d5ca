"""Exported tables: an exported file reads a table as `read_like` does, or refuses it as it does."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from msl.data.data_errors import DataError
from msl.data.options import DataOptions
from msl.data.read import read_like
from msl.data.table import Column, Schema
from msl.export import table_reader
from msl.export.python_template import reading_text

#: Each column of a table draws from one of these.
NUMBERS = [
    ["1", "-2", "0.5", "1e3", "+4", ".5", "5.", "01", "9007199254740993", ""],
    ["1,5", "-0,25", "3", "NA", "", " 7 "],
    ["1", "2.5", "-999", "-999.0", "nan", "?", "-", ".", " ", "#N/A"],
    ["true", "FALSE", "NA", "True"],
    ["1", "1.000,5", "1_0", "inf", "1e400", "x", "٣", "0x1", "true", "1,5"],
]
SYMBOLS = [
    ["red", "green", "blue", "", " red ", "violet"],
    ["RED", "1", "01", "1.0", "2,5", "2.5", "1e0", "true", "TRUE", "none", "NA", "-999", "a;b", "a,b"],
]
LABELS = [["yes", "no", " no "], ["yes", "no", "YES", "", "NA", "maybe"]]
ROWS = st.tuples(*map(st.sampled_from, (NUMBERS, SYMBOLS, LABELS))).flatmap(
    lambda pools: st.lists(st.tuples(*map(st.sampled_from, pools)).map(list), min_size=1, max_size=6)
)
OPTIONS = st.builds(
    DataOptions,
    missing=st.sampled_from([None, (-999,), ("violet", "x"), ("-999.0",)]),
    separator=st.sampled_from([None, None, None, ";"]),
    decimal=st.sampled_from([None, None, ",", "."]),
    header=st.sampled_from([None, None, None, True, False]),
)


def exported(schema: Schema) -> Any:
    """The reader of an exported file for a schema, as a module."""
    options = schema.options
    names: dict[str, Any] = vars(ModuleType("exported"))
    modules = ("bz2", "codecs", "csv", "gzip", "io", "lzma", "re", "sys", "zipfile", "zlib", "np")
    names |= {each: getattr(table_reader, each) for each in (*modules, "Counter", "datetime", "timedelta")}
    names |= {
        "COLUMNS": list(schema.names),
        "SYMBOLS": {column.name: list(column.categories) for column in schema.columns if column.kind == "symbolic"},
        "TARGET": schema.target,
        "CLASSES": list(schema.classes),
        "MISSING": [str(marker).strip() for marker in options.missing or ()],
        "HEADER": options.header,
        "SEPARATOR": options.separator,
        "DECIMAL": options.decimal,
        "SIGNED": list(options.numeric or ()),
        "DATES": {},
        "WORDS": {},
    }
    exec(compile(reading_text(), "exported.py", "exec"), names)
    return names


def schema_of(options: DataOptions, names: tuple[str, ...] = ("x", "colour"), classes: Any = ("no", "yes")) -> Schema:
    symbols = ("1", "2.5", "blue", "green", "none", "red", "true")
    columns = (Column(names[0], "numeric"), Column(names[1], "symbolic", symbols))
    return Schema(columns, "class", "classification" if classes else "regression", classes, options)


def compare(path: Path, schema: Schema) -> bool:
    """Whether the table can be read; either way both readers have to agree."""
    names = exported(schema)
    for with_target in (False, True):
        try:
            expected = read_like(schema, str(path), with_target=with_target)
        except DataError:
            expected = None
        try:
            table = names["read_table"](path)
            X = names["features"](table)
            y = names["target"](table) if with_target and schema.target in table.columns else None
        except ValueError:
            X = None
        if with_target and X is not None and y is not None and np.isnan(y).any():
            # Rows without a target are left out of training; `read_like` takes none at all as nothing to judge by.
            assert expected is None or expected.y is None
            return True
        assert (X is None) == (expected is None), (X, expected)
        if X is None or expected is None:
            return False
        assert np.array_equal(X, expected.X, equal_nan=True)
        if with_target:
            assert (y is None) == (expected.y is None)
            assert y is None or np.array_equal(y, expected.y)
    return True


MONEY = [
    "$1,200",
    "$3",
    "-$5.50",
    "($7)",
    "€ 4",
    "1.234,50 €",
    "12 %",
    "8%",
    "12",
    "1 200",
    "1'000",
    "(3)",
    "",
    "NA",
    "x",
]


@given(cells=st.lists(st.sampled_from(MONEY), min_size=1, max_size=5), decimal=st.sampled_from([None, ",", "."]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_numbers_with_signs_are_read_alike(cells: list[str], decimal: str | None, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(written([["x", "colour"], *([cell, "red"] for cell in cells)], ";", csv.QUOTE_MINIMAL, "\n"))
    compare(path, schema_of(DataOptions(numeric=("x",), decimal=decimal, header=True)))


def written(rows: list[list[str]], separator: str, quoting: int, end: str) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, quoting=quoting, lineterminator=end).writerows(rows)  # type: ignore[arg-type]
    return text.getvalue()


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=ROWS,
    options=OPTIONS,
    header=st.sampled_from([["x", "colour", "class"], [" x", "colour ", "class"], ["x", "colour", "colour"], None]),
    separator=st.sampled_from(";,|\t"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    end=st.sampled_from(["\n", "\r\n"]),
    coding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    packed=st.booleans(),
    blank=st.booleans(),
    surprise=st.sampled_from([False] * 7 + [True]),
)
def test_any_text_is_read_as_the_run_reads_it(
    tmp_path: Path,
    rows: list[list[str]],
    options: DataOptions,
    header: list[str] | None,
    separator: str,
    quoting: int,
    end: str,
    coding: str,
    packed: bool,
    blank: bool,
    surprise: bool,
) -> None:
    text = written([*([header] if header else []), *rows], separator, quoting, end)
    content = (text + end * blank).encode(coding)
    path = tmp_path / "table.csv"
    path.write_bytes(gzip.compress(content) if packed else content)
    is_numbered = (header is None) != surprise
    compare(path, schema_of(options, ("f1", "f2") if is_numbered else ("x", "colour")))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    numbers=st.lists(st.integers(-1000, 1000) | st.floats(width=32) | st.none(), min_size=2, max_size=5),
    kind=st.sampled_from([pl.Float64, pl.Float32, pl.Int64, pl.String, pl.Boolean]),
    missing=st.sampled_from([None, (-999,), (2.5,)]),
)
def test_parquet_is_read_as_the_run_reads_it(tmp_path: Path, numbers: list[Any], kind: Any, missing: Any) -> None:
    x = pl.Series(numbers, dtype=pl.Float64, strict=False).cast(kind, strict=False)
    colour = (
        pl.Series([1.0, 2.5] * 3).head(len(numbers))
        if kind == pl.Float64
        else pl.Series(["red", "blue"] * 3).head(len(numbers))
    )
    label = pl.Series(["no", "yes"] * 3).head(len(numbers)).cast(pl.Categorical)
    path = tmp_path / "table.parquet"
    pl.DataFrame({"x": x, "colour": colour, "class": label}).write_parquet(path)
    compare(path, schema_of(DataOptions(missing=missing)))


@pytest.mark.parametrize("classes", [(0, 1), (0.5, 1.5), ()])
@pytest.mark.parametrize(
    "cells", [["0", "1"], ["0.0", "1"], ["0,5", "1,5"], ["0.5", "1.5"], ["0", ""], ["7", "1"], ["a", "b"]]
)
def test_targets_of_numbers(tmp_path: Path, classes: Any, cells: list[str]) -> None:
    path = tmp_path / "table.csv"
    path.write_text("x;colour;class\n" + "".join(f"{place};red;{cell}\n" for place, cell in enumerate(cells)))
    compare(path, schema_of(DataOptions(), classes=classes))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"x,colour,class\n",
        b"x,colour,class\n1,red\n",
        b'x,colour,class\n1,"red,yes\n',
        b"x,colour,class\n1,r\xe9d,yes\n",
        b"x\0,colour,class\n1,red,yes\n",
        b"PAR1 is no table",
        b"\x1f\x8b no gzip",
        codecs.BOM_UTF16_LE + b"\x00",
        b"colour,class\nred,yes\n",
        b"x,colour,class,x\n1,red,yes,2\n",
        b",x,colour,class\n9,1,red,yes\n",
        b"x,colour,class\n\n1,red,yes\n   \n2,green,no\n",
        b'x,colour,class\n"1\n2",red,yes\n',
        b"x\n1\n",
    ],
)
def test_what_is_odd_or_broken(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    compare(path, schema_of(DataOptions()))
