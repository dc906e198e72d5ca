"""Tables with mistakes: each is told with its column, its first rows and what to write, or goes on with a warning."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from msl.check.check_spec import data_span
from msl.data.data_errors import DataError, DataProblem
from msl.data.options import DataOptions
from msl.data.profile import profile_columns
from msl.data.read import read_source, read_table
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
