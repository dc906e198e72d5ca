"""Rows of a text table with more or fewer fields than there are columns: refused, or left out where that is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from msl.data.data_errors import DataError
from msl.data.options import DataOptions
from msl.data.read import read_like, read_table
from msl.runner.starter_spec import read_for_starter_spec, starter_spec_text

HEAD = "id,note,age,left\n"


def write(folder: Path, *lines: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(HEAD + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def table_with_commas(folder: Path) -> Path:
    sound = [f"K{place:04},good,{20 + place},{'yes' if place % 2 else 'no'}" for place in range(40)]
    return write(folder, *sound[:20], "K9001,late, often,33,yes", "K9002,31,no", *sound[20:])


def test_a_row_too_long_is_told_with_its_line_and_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(DataError) as wrong:
        read_table(table_with_commas(tmp_path))
    (found,) = wrong.value.problems
    assert (found.code, found.line) == ("MSL309", 22)
    assert "data(ragged = drop)" in found.help


def test_they_are_left_out_with_a_count(tmp_path: Path) -> None:
    table = read_table(table_with_commas(tmp_path), options=DataOptions(ragged="drop"))
    assert len(table) == 40
    (told,) = [each.message for each in table.warnings if each.code == "MSL473"]
    assert "2 of 42 rows" in told
    assert told.endswith("lines 22 and 23")


def test_a_sound_table_is_the_same_with_the_option(tmp_path: Path) -> None:
    path = write(tmp_path, *(f"K{place},a,{place},{'yes' if place % 2 else 'no'}" for place in range(20)))
    plain, dropped = read_table(path), read_table(path, options=DataOptions(ragged="drop"))
    assert plain.fingerprint == dropped.fingerprint
    assert not [each for each in dropped.warnings if each.code == "MSL473"]


def test_none_is_left_out_of_what_is_predicted(tmp_path: Path) -> None:
    """Predictions stand beside the rows of the table, in their order."""
    path = table_with_commas(tmp_path)
    schema = read_table(path, options=DataOptions(ragged="drop")).schema
    assert len(read_like(schema, path)) == 40
    with pytest.raises(DataError, match="line 22"):
        read_like(schema, path, with_target=False)


def test_a_first_spec_leaves_them_out_and_says_so(tmp_path: Path) -> None:
    table, first = read_for_starter_spec(table_with_commas(tmp_path), DataOptions(target="left"))
    text = starter_spec_text(table, first, "t.msl", "t.csv")
    assert "ragged = drop" in text
    assert "do not have 4 fields and are left out" in " ".join(text.split("#")).replace("\n", "").replace("  ", " ")
    assert len(table) == 40
