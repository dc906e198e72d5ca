"""Tables with mistakes: each is told with its column, its first rows and what to write, or goes on with a warning."""

from __future__ import annotations

import bz2
import io
import lzma
import zipfile
from pathlib import Path

import polars as pl
import pytest

from msl.check.check_spec import data_span
from msl.data.data_errors import DataError, DataProblem
from msl.data.options import DataOptions
from msl.data.profile import profile_columns
from msl.data.read import read_like, read_source, read_table
from msl.data.suggest_options import first_options
from msl.data.table import Table
from msl.diagnostics.source import Source
from msl.export import table_reader

LABELS = ["no", "yes"] * 15
SMALL: list[object] = [i % 7 for i in range(30)]


def table(columns: dict[str, list[object]], **options: object) -> Table:
    return read_table(pl.DataFrame({**columns, "y": LABELS}), options=DataOptions(**{"target": "y"} | options))  # type: ignore[arg-type]


def error(columns: dict[str, list[object]], **options: object) -> DataProblem:
    with pytest.raises(DataError) as caught:
        table(columns, **options)
    return caught.value.problems[0]


def dates(wrong: str) -> list[object]:
    found: list[object] = [f"2024-0{1 + i % 9}-{10 + i % 17}" for i in range(30)]
    found[16] = wrong
    return found


def test_a_date_that_cannot_be_read_is_missing_and_told_with_its_row() -> None:
    found = table({"day": dates("soon")})
    (warning,) = found.warnings
    assert (warning.code, warning.column, warning.row) == ("MSL363", "day", 17)
    assert 'missing = ["soon"]' in warning.help
    assert not table({"day": dates("soon")}, missing=("soon",)).warnings


def test_a_first_spec_takes_dates_with_a_mistake_among_them_for_dates() -> None:
    """Nearly all of them differ, so that they looked like an identifier."""
    reading = read_source(pl.DataFrame({"x": [*range(15)] * 2, "day": dates("2024-02-31"), "y": LABELS}))
    first = first_options(reading, profile_columns(reading), DataOptions(target="y"))
    assert first.uses["day"] == "feature"


def test_a_column_of_numbers_that_holds_text_shows_its_first_rows() -> None:
    few: list[object] = [str(i) for i in range(30)]
    few[4], few[9] = "about 5", "?!"
    wrong = error({"x": few}, numeric=("x",))
    assert (wrong.code, wrong.column, wrong.row) == ("MSL317", "x", 5)
    assert "row 5 holds 'about 5', row 10 holds '?!'" in wrong.message
    assert 'missing = ["about 5"]' in wrong.help
    assert 'categorical = ["x"]' in error({"x": list("abc") * 10}, numeric=("x",)).help
    assert 'dates = ["x"]' in error({"x": dates("soon")}, numeric=("x",)).help


@pytest.mark.parametrize("values", [[float(i) for i in range(30)], [str(i) for i in range(30)]])
def test_numbers_are_no_text(values: list[object]) -> None:
    wrong = error({"x": values}, text=("x",))
    assert (wrong.code, wrong.column, wrong.row) == ("MSL366", "x", 1)


@pytest.mark.parametrize("option", ["dates", "text"])
def test_nothing_is_made_of_the_target(option: str) -> None:
    assert error({"x": SMALL}, **{option: ("y",)}).code == "MSL314"


@pytest.mark.parametrize("option", ["dates", "text"])
def test_a_warning_names_a_column_of_the_table_not_one_that_is_made_of_it(option: str) -> None:
    found = table({"x": SMALL, "empty": [""] * 30}, **{option: ("empty",)})
    assert [(each.code, each.column) for each in found.warnings] == [("MSL334", "empty")]
    same = table({"text": [f"good day {i % 3 * 'sir '}" for i in range(30)], "x": SMALL}, text=("text",))
    assert not [each for each in same.warnings if ": " in str(each.column)]


def test_a_class_with_one_row_is_told_with_its_row_and_can_be_left_out() -> None:
    frame = pl.DataFrame({"x": SMALL, "y": [*LABELS[:4], "maybe", *LABELS[5:]]})
    (warning,) = read_table(frame, options=DataOptions(target="y")).warnings
    assert (warning.code, warning.row) == ("MSL470", 5)
    assert "row 5" in warning.message
    assert 'missing = ["maybe"] and missing_target = drop' in warning.help
    without = read_table(frame, options=DataOptions(target="y", missing=("maybe",), missing_target="drop"))
    assert (len(without), without.classes, without.warnings) == (29, ("no", "yes"), ())


# --- encodings ---


ROWS = [f"{i % 7},{('café', 'naïve', 'München')[i % 3]},{LABELS[i]}" for i in range(30)]
TEXT = "\n".join(["x,wörd,y", *ROWS, ""])
MIXED = b"\n".join(row.encode("cp1252" if place == 16 else "utf-8") for place, row in enumerate(TEXT.split("\n")))


@pytest.mark.parametrize(
    ("content", "codes"),
    [
        (TEXT.encode("latin-1"), ["MSL365"]),
        (MIXED, ["MSL365"]),
        (TEXT.encode("utf-16"), []),
        (TEXT.encode("utf-16-le"), []),
        (TEXT.encode("utf-16-be"), []),
        (TEXT.encode("utf-8-sig"), []),
    ],
)
def test_a_text_in_any_usual_encoding_is_the_same_table(content: bytes, codes: list[str], tmp_path: Path) -> None:
    path, same = tmp_path / "t.csv", tmp_path / "same.csv"
    path.write_bytes(content)
    same.write_text(TEXT, encoding="utf-8")
    found, expected = read_table(path), read_table(same)
    assert [each.code for each in found.warnings] == codes
    assert found.fingerprint == expected.fingerprint
    assert table_reader.read_table(path).columns == table_reader.read_table(same).columns


# --- what stands around a table ---


PLAIN = "x,word,y\n" + "".join(f"{i % 7},{'abc'[i % 3]},{LABELS[i]}\n" for i in range(30))
SPACED = PLAIN.replace(",", "  ")


def zipped(*names: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in names:
            archive.writestr(name, PLAIN)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "codes"),
    [
        (f"Sales of the year\n\n{PLAIN}".encode(), ["MSL367"]),
        (f"# made by a tool\n# version 2\n{PLAIN}".encode(), ["MSL367"]),
        (f"Sales of the year,,\n,,\n{PLAIN}".encode(), ["MSL367"]),
        (f"sep=;\n{PLAIN.replace(',', ';')}".encode(), []),
        (PLAIN.replace(",", " ").encode(), []),
        (SPACED.encode(), []),
        (PLAIN.replace(",", "^").encode(), []),
        (PLAIN.encode("utf-32"), []),
        (bz2.compress(PLAIN.encode()), []),
        (lzma.compress(PLAIN.encode()), []),
        (zipped("inner.csv"), []),
        (zipped("inner.csv", "__MACOSX/._inner.csv"), []),
    ],
)
def test_what_stands_around_a_table_is_left_out(content: bytes, codes: list[str], tmp_path: Path) -> None:
    path, same = tmp_path / "t.csv", tmp_path / "same.csv"
    path.write_bytes(content)
    same.write_text(PLAIN)
    found, expected = read_table(path), read_table(same)
    assert [each.code for each in found.warnings] == codes
    assert found.fingerprint == expected.fingerprint
    assert read_like(expected.schema, path).fingerprint == expected.fingerprint
    exported = {name: tuple(cells) for name, cells in table_reader.read_table(path).columns.items()}
    assert exported == {name: tuple(cells) for name, cells in table_reader.read_table(same).columns.items()}


def test_the_lines_above_a_table_are_told(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"Sales of the year\nby month\n{PLAIN}")
    (warning,) = read_table(tmp_path / "t.csv").warnings
    assert "lines 1 and 2" in warning.message
    assert "'Sales of the year'" in warning.message


def test_rows_that_are_too_short_are_no_titles(tmp_path: Path) -> None:
    """The first row has the names, however wrong the others are."""
    for text in ("a,b\n" + PLAIN.partition("\n")[2], "a,b,y\n1,2\n" + PLAIN.partition("\n")[2]):
        (tmp_path / "t.csv").write_text(text)
        with pytest.raises(DataError, match="MSL309"):
            read_table(tmp_path / "t.csv")


def test_a_separator_at_the_end_of_every_row_makes_an_empty_column(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    head, _, rows = PLAIN.partition("\n")
    path.write_text(f"{head}\n" + rows.replace("\n", ",\n"))
    table = read_table(path, options=DataOptions(target="y"))
    assert table.names == ("column4", "word", "x")
    assert sorted(each.code for each in table.warnings) == ["MSL332", "MSL334"]
    assert list(table_reader.read_table(path).columns) == ["x", "word", "y", "column4"]


def test_a_column_of_two_words_is_not_torn_apart(tmp_path: Path) -> None:
    """Blanks separate fields only where nothing else does, and not in a table like one that is known."""
    schema = read_table(pl.DataFrame({"two words": ["red wine", "white wine"] * 15, "y": LABELS})).schema
    (tmp_path / "new.csv").write_text("two words\nred wine\nwhite wine\n")
    assert read_like(schema, tmp_path / "new.csv").X.tolist() == [[0.0], [1.0]]


def test_years_are_names_where_the_target_is_among_them(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("2019,2020,2021\n" + "".join(f"{i},{i % 7},{LABELS[i]}\n" for i in range(30)))
    table = read_table(tmp_path / "t.csv", options=DataOptions(target="2021"))
    assert (table.names, len(table)) == (("2019", "2020"), 30)


@pytest.mark.parametrize(
    ("content", "message", "help"),
    [
        (b"<!DOCTYPE html>\n<html><body>a,b</body></html>", "is a web page", "fetch the table"),
        (b'<?xml version="1.0"?>\n<a/>', "is XML", "as CSV"),
        (b'[{"x": 1, "y": 2},\n{"x": 2, "y": 1}]', "is JSON", "read_json"),
        (b'{"x": 1, "y": 2}\n{"x": 2, "y": 1}\n', "is JSON", "read_json"),
        (b"version https://git-lfs.github.com/spec/v1\noid 1\n", "a pointer of Git LFS", "git lfs pull"),
        (b"\x28\xb5\x2f\xfd\x00\x00", "packed by zstd", "zstd -d"),
        (zipped("a.csv", "b.csv"), "an archive of 2 files: a.csv and b.csv", "name the table in it"),
        (zipped("[Content_Types].xml", "xl/workbook.xml"), "a spreadsheet", "save the sheet as CSV"),
        (b"x,y\n1,a\n2,b\0\n", "the first NUL is in line 3", "tr -d"),
        (bz2.compress(PLAIN.encode())[:-9], "packed by bzip2, but damaged", "again"),
    ],
)
def test_a_file_of_another_kind_is_told_with_a_way_out(content: bytes, message: str, help: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DataError) as wrong:
        read_table(tmp_path / "t.csv")
    assert message in wrong.value.problems[0].message
    assert help in wrong.value.problems[0].help


def test_a_link_that_leads_nowhere_is_no_missing_file(tmp_path: Path) -> None:
    (tmp_path / "t.csv").symlink_to(tmp_path / "t.csv")
    with pytest.raises(DataError, match=r"t\.csv is a link to .*t\.csv, where no file is, or which leads back to it"):
        read_table(tmp_path / "t.csv")


def test_arrow_files_are_read_as_parquet_is(tmp_path: Path) -> None:
    frame = pl.read_csv(io.StringIO(PLAIN))
    frame.write_ipc(tmp_path / "t.arrow")
    frame.write_ipc(tmp_path / "packed.feather", compression="zstd")
    frame.write_parquet(tmp_path / "t.parquet")
    same = read_table(tmp_path / "t.parquet")
    for name in ("t.arrow", "packed.feather"):
        assert read_table(tmp_path / name).fingerprint == same.fingerprint
        columns = table_reader.read_table(tmp_path / name).columns
        assert columns == table_reader.read_table(tmp_path / "t.parquet").columns
    (tmp_path / "cut.arrow").write_bytes((tmp_path / "t.arrow").read_bytes()[:100])
    with pytest.raises(DataError, match="is Arrow, but damaged"):
        read_table(tmp_path / "cut.arrow")


def test_a_line_in_another_encoding_is_told_with_its_column(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(MIXED)
    (warning,) = read_table(tmp_path / "t.csv").warnings
    assert (warning.line, warning.column) == (17, "wörd")
    assert "'café' of column `wörd` was read as Windows-1252" in warning.message


def test_a_message_points_at_the_column_in_the_spec() -> None:
    text = 'use sklearn\ndata(target = y, numeric = ["a b", x])\n'
    source = Source("s.msl", text)
    for column, written in {"x": "x", "a b": '"a b"', "other": 'data(target = y, numeric = ["a b", x])'}.items():
        assert source.slice(data_span(source, column)) == written


def test_a_message_about_an_order_points_at_its_column() -> None:
    text = "data(target = y, ordered = [city(Rome < Oslo)])\n"
    span = data_span(Source("spec.msl", text), "city")
    assert text[span.start : span.end] == "city"


def test_weights_that_are_words_are_told_what_to_name() -> None:
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "w": ["a", "b", "c", "d"], "y": [0, 1, 0, 1]})
    with pytest.raises(DataError) as wrong:
        read_table(frame, options=DataOptions(weight="w"))
    assert "name a column of positive numbers" in wrong.value.problems[0].help
