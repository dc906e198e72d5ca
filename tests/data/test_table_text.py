"""Text tables: dialects, headers, encodings, damage; each file is written to disk and read through the front door."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from msl.data import csv
from msl.data.data_errors import DataError, DataProblem
from msl.data.options import DataOptions
from msl.data.read import read_table
from msl.data.table import Table

HEADER_AND_ROWS = "a,b,class\n1,2.5,x\n3,4.5,y\n5,6.5,x\n"


def read(folder: Path, content: str | bytes, name: str = "t.csv", **options: object) -> Table:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(path, options=DataOptions(**options))  # type: ignore[arg-type]


def refusal(folder: Path, content: str | bytes, **options: object) -> DataProblem:
    with pytest.raises(DataError) as caught:
        read(folder, content, **options)
    return caught.value.problems[0]


def codes(table: Table) -> list[str]:
    """The codes of the warnings, but that of classes with a single row, which most tables here have."""
    return [each.code for each in table.warnings if each.code != "MSL470"]


def test_plain_table(tmp_path: Path) -> None:
    table = read(tmp_path, HEADER_AND_ROWS)
    assert table.names == ("a", "b")
    np.testing.assert_array_equal(table.X, [[1, 2.5], [3, 4.5], [5, 6.5]])
    assert table.X.flags.c_contiguous
    assert not table.X.flags.writeable
    assert table.classes == ("x", "y")
    assert table.y is not None
    assert table.y.tolist() == [0, 1, 0]
    assert table.y.dtype == np.intp
    assert codes(table) == []


@pytest.mark.parametrize(
    "content",
    [
        HEADER_AND_ROWS.replace(",", ";"),
        HEADER_AND_ROWS.replace(",", "\t"),
        HEADER_AND_ROWS.replace(",", "|"),
        HEADER_AND_ROWS.replace(",", ", "),
        HEADER_AND_ROWS.replace(",", " , "),
        HEADER_AND_ROWS.replace("\n", "\r\n"),
        HEADER_AND_ROWS.replace("\n", "\r"),
        HEADER_AND_ROWS.replace("\n", "\n\n"),
        HEADER_AND_ROWS.rstrip("\n"),
        HEADER_AND_ROWS + "\n\n\n",
        HEADER_AND_ROWS + "   \n",
        "\n" + HEADER_AND_ROWS,
        "\ufeff" + HEADER_AND_ROWS,
        HEADER_AND_ROWS.encode("utf-16"),
        gzip.compress(HEADER_AND_ROWS.encode(), mtime=0),
        '"a","b","class"\n"1","2.5","x"\n"3","4.5","y"\n"5","6.5","x"\n',
        'a;b;class\n1;"2,5";x\n3;"4,5";y\n5;"6,5";x\n',
        "a\tb\tclass\n1\t2,5\tx\n3\t4,5\ty\n5\t6,5\tx\n",
        "a,b,class\n01,2.50,x\n+3,45e-1,y\n5.,6.5,x\n",
    ],
)
def test_the_same_table_in_other_dress(tmp_path: Path, content: str | bytes) -> None:
    assert read(tmp_path, content).fingerprint == read(tmp_path, HEADER_AND_ROWS).fingerprint


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ('|,class\n"",n\n,p\n2,p\n', ("|",)),
        ("a;b,class\n1,n\n2,p\n", ("a;b",)),
        ("1,5;2,5;0\n2,5;3,5;1\n", ("f1", "f2")),
        ('note,class\n"a;b",x\n"c;d;e",y\n', ("note",)),
    ],
)
def test_separators_are_found(tmp_path: Path, content: str, names: tuple[str, ...]) -> None:
    assert read(tmp_path, content).names == names


def test_given_separator_and_decimal(tmp_path: Path) -> None:
    table = read(tmp_path, "a:b:class\n1:2,5:x\n3:4,5:y\n", separator=":")
    assert table.X.tolist() == [[1, 2.5], [3, 4.5]]
    assert read(tmp_path, 'a,class\n"1,5",0\n"2,5",1\n', decimal=",").X.tolist() == [[1.5], [2.5]]


def test_a_quoted_comma_in_a_comma_separated_file_is_no_decimal_sign(tmp_path: Path) -> None:
    table = read(tmp_path, 'a,class\n"1,000",0\n"2,500",1\n')
    assert table.schema.columns[0].categories == ("1,000", "2,500")


def test_points_among_decimal_commas_are_said(tmp_path: Path) -> None:
    table = read(tmp_path, "price;weight;class\n1.234;2,5;0\n2.500;3,5;1\n")
    assert codes(table) == ["MSL339"]
    assert "price" in table.warnings[-1].message


def test_quoted_and_foreign_names_and_symbols(tmp_path: Path) -> None:
    content = '"größe, in ""cm""","名前\nzwei",class\n1,"a,b\nc",x\n2,"ä ""q""",y\n'
    table = read(tmp_path, content)
    assert table.names == ('größe, in "cm"', "名前\nzwei")
    assert table.schema.columns[1].categories == ("a,b\nc", 'ä "q"')


@pytest.mark.parametrize("name", ["^a.*$", "*", "", "0", "class_2"])
def test_names_that_mean_something_to_the_readers(tmp_path: Path, name: str) -> None:
    table = read(tmp_path, f'"{name}",class\n1,x\n9007199254740993,y\n', header=True)
    assert table.X[:, 0].tolist() == [1, 2.0**53]
    assert table.names == (name or "column1",)


def test_a_return_inside_a_name_is_no_line_end(tmp_path: Path) -> None:
    assert read(tmp_path, '"a\rb",class\n1,x\n2,y\n').X.tolist() == [[1], [2]]


def test_a_quote_in_the_middle_of_a_field_is_a_quote(tmp_path: Path) -> None:
    table = read(tmp_path, 'pipe,class\n5" wide,x\n6" wide,y\n')
    assert table.schema.columns[0].categories == ('5" wide', '6" wide')


@pytest.mark.parametrize(
    ("content", "has_header"),
    [
        ("1,2,3\n4,5,6\n7,8,6\n", False),
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n6.1,2.9,virginica\n", False),
        ("p,x,s\ne,x,s\np,b,t\ne,b,s\n", False),
        ("?,2,x\n1,2,y\n", False),
        ("name,kind,class\nanna,x,s\nbert,y,s\ncara,x,t\n", True),
        ("a,b,class\n1,2,x\n3,4,y\n", True),
        ("id,2001,2002\n1,2,0\n3,4,1\n", True),
        (",a,b\n0,1,x\n1,2,y\n", True),
    ],
)
def test_headers_are_found(tmp_path: Path, content: str, has_header: bool) -> None:
    table = read(tmp_path, content)
    assert ("MSL330" not in codes(table)) == has_header
    assert len(table) == content.count("\n") - has_header
    if not has_header:
        assert table.names == ("f1", "f2")
        assert table.target == "f3"


def test_a_given_header_is_not_doubted(tmp_path: Path) -> None:
    assert read(tmp_path, "1,2,3\n4,5,6\n7,8,9\n", header=True).names == ("1", "2")
    table = read(tmp_path, "a,b,class\n1,2,x\n3,4,y\n", header=False)
    assert len(table) == 3
    assert "MSL330" not in codes(table)


def test_repeated_names_are_renamed_and_said(tmp_path: Path) -> None:
    table = read(tmp_path, "x,x,x_2,class\n1,2,3,a\n4,5,6,b\n")
    assert table.source_names == ("x", "x_3", "x_2", "class")
    assert codes(table) == ["MSL331"]
    assert table.warnings[0].message == (
        "columns 1 and 2 are both named `x`: column 1 is `x` here, column 2 is called `x_3`"
    )
    first = read(tmp_path, "x,x,class\n1,2,a\n4,5,b\n", target="x")
    assert first.y is not None
    assert (first.names, codes(first)) == (("class", "x_2"), ["MSL331"])
    twice = read(tmp_path, "x,class,z,class\n1,a,7,c\n4,b,8,d\n")
    assert (twice.target, twice.classes) == ("class", ("a", "b"))
    assert read(tmp_path, "x,x,class\n1,2,a\n4,5,b\n", ignore=("x",)).names == ("x_2",)


def test_columns_without_a_name_get_one_and_it_is_said(tmp_path: Path) -> None:
    table = read(tmp_path, ",a,class\n7,1,x\n9,2,y\n")
    assert table.source_names == ("column1", "a", "class")
    assert codes(table) == ["MSL332"]


def test_whole_numbers_beyond_reals(tmp_path: Path) -> None:
    content = "k,class\n9007199254740992,x\n9007199254740993,y\n3,x\n"
    assert codes(read(tmp_path, content)) == ["MSL336"]
    table = read(tmp_path, content, categorical=("k",))
    assert table.schema.columns[0].categories == ("3", "9007199254740992", "9007199254740993")
    assert codes(read(tmp_path, "k,class\n1e300,x\n2e300,y\n")) == []


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        (b"", "MSL304", None),
        (b" \n\n ", "MSL304", None),
        (gzip.compress(b"", mtime=0), "MSL304", None),
        (b"a,b,class\n", "MSL305", None),
        (b"PK\x03\x04\x00\x00", "MSL308", None),
        (b"\x89HDF\r\n\x1a\n\x00\x00", "MSL306", None),
        ("a,b\né,1\nü\x07,2\n".encode("latin1"), "MSL307", 3),
        (b"\xff\xfea,b", "MSL307", None),
        (gzip.compress(HEADER_AND_ROWS.encode(), mtime=0)[:-9], "MSL308", None),
        (b"PAR1 is not enough", "MSL308", None),
        (b"a,b,class\n1,2,x\n3,4\n5,6,y\n", "MSL309", 3),
        (b"a,b,class\n1,2,x\n3,4,y,z\n5,6,y\n", "MSL309", 3),
        (b"a,b,class\n1,2,x,\n3,4\n5,6,y\n", "MSL309", 2),
        (b'a,b,class\n1,"p\nq",x\n3,4\n', "MSL309", 4),
        (b'a,class\n1,x\n"2,y\n3,x\n', "MSL310", 3),
        (b'a,class\n1,x\n"2"3,y\n3,x\n', "MSL310", 3),
        (b"just\nsome\nwords\n", "MSL311", None),
    ],
)
def test_what_is_no_table_is_refused_with_its_place(
    tmp_path: Path, content: bytes, code: str, line: int | None
) -> None:
    found = refusal(tmp_path, content)
    assert (found.code, found.severity, found.line) == (code, "error", line)
    assert found.help


@pytest.mark.slow
def test_a_bad_row_far_down_is_found(tmp_path: Path) -> None:
    lines = ["a,b,class", *(f"{n},{n / 2},{n % 2}" for n in range(30_000))]
    lines[20_000] += ",1"
    lines[20_001] = "7,8"
    assert refusal(tmp_path, "\n".join(lines)).line == 20_001


@pytest.mark.slow
def test_text_far_down_makes_a_column_symbolic(tmp_path: Path) -> None:
    rows = [f"{n},{n % 2}" for n in range(30_000)]
    rows[25_000] = "oops,1"
    table = read(tmp_path, "a,class\n" + "\n".join(rows))
    assert (table.warnings[0].code, table.warnings[0].row) == ("MSL337", 25_001)
    assert table.is_symbolic.tolist() == [True]


def test_the_first_names_missing_for_row_numbers(tmp_path: Path) -> None:
    assert "row numbers" in refusal(tmp_path, 'a,class\n"1",2,x\n"2",3,y\n').help


def test_places_that_hold_no_file(tmp_path: Path) -> None:
    (tmp_path / "iris.csv").write_text(HEADER_AND_ROWS)
    os.mkfifo(tmp_path / "pipe")
    for path, code, hint in [
        (tmp_path / "irsi.csv", "MSL301", "iris.csv"),
        (tmp_path / "nowhere" / "iris.csv", "MSL301", "path"),
        (tmp_path, "MSL302", "iris.csv"),
        (tmp_path / "pipe", "MSL303", "pipe"),
        (tmp_path / ("x" * 999), "MSL303", "name"),
    ]:
        with pytest.raises(DataError) as caught:
            read_table(str(path))
        assert caught.value.problems[0].code == code
        assert hint in caught.value.problems[0].help


cell = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-99, 99).map(str),
    st.text(st.sampled_from('ab",;\n é'), max_size=4),
    st.just(""),
)


@pytest.mark.slow
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(cell, cell, st.sampled_from("xy")), min_size=2, max_size=8), st.sampled_from(",;\t"))
def test_the_fast_and_the_careful_reader_agree(
    tmp_path: Path, rows: list[tuple[str, str, str]], separator: str
) -> None:
    """A blank line leaves a table as it is, but sends it to the careful reader."""
    rows = [*rows, ("", "", "x"), ("", "", "y")]
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.String, "class": pl.String}, orient="row")
    text = frame.write_csv(separator=separator)
    head, body = text.split("\n", 1)
    options = {"header": True, "separator": separator}
    fast = read(tmp_path, text, "fast.csv", **options)
    careful = read(tmp_path, f"{head}\n\n{body}", "careful.csv", **options)
    assert fast.fingerprint == careful.fingerprint


@pytest.mark.slow
def test_regular_text_never_needs_the_careful_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("the careful reader was called")

    monkeypatch.setattr(csv, "_read_carefully", fail)
    rows = "".join(f'{row},"a, ""b""\r\n{row % 7}",{row % 2}\r\n' for row in range(40_000))
    table = read(tmp_path, f"number,text,class\r\n{rows}\r\n")
    assert len(table) == 40_000
    assert table.schema.columns[1].categories == tuple(f'a, "b"\r\n{digit}' for digit in range(7))


def test_numbers_are_those_of_python(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=500) * 10.0 ** rng.integers(-300, 300, 500)
    text = io.StringIO()
    text.write("v,class\n")
    text.writelines(f"{value!r},{row % 2}\n" for row, value in enumerate(values.tolist()))
    table = read(tmp_path, text.getvalue())
    np.testing.assert_array_equal(table.X[:, 0], values)


def test_one_field_more_in_every_row_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "more.csv"
    path.write_text("a,b,class\n" + "".join(f"{row},2,x,7\n" for row in range(4)))
    with pytest.raises(DataError) as caught:
        read_table(path)
    assert "name the first column" in caught.value.problems[0].help
