"""Numbers with signs around them and words among them: what is said of such columns, and how they are read."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msl.data.data_errors import DataError, DataProblem
from msl.data.infer_types import signed_numbers
from msl.data.options import DataOptions
from msl.data.read import read_like, read_table
from msl.data.table import Table


def read(folder: Path, content: str, **options: object) -> Table:
    path = folder / "t.csv"
    path.write_text(content, encoding="utf-8")
    return read_table(path, options=DataOptions(**options))  # type: ignore[arg-type]


def refusal(folder: Path, content: str, **options: object) -> DataProblem:
    with pytest.raises(DataError) as caught:
        read(folder, content, **options)
    return caught.value.problems[0]


def grouped(cents: int, decimal: str, thousands: str) -> str:
    """A number of cents as people write it, put together by hand."""
    whole, rest = divmod(abs(cents), 100)
    digits = str(whole)
    parts = []
    while len(digits) > 3:
        digits, last = digits[:-3], digits[-3:]
        parts.insert(0, last)
    return ("-" if cents < 0 else "") + thousands.join([digits, *parts]) + f"{decimal}{rest:02}"


STYLES = [("${}", ".", ","), ("{} €", ",", "."), ("{}", ",", "."), ("{} %", ".", ","), ("CHF {}", ".", "'")]


@given(
    cents=st.lists(st.integers(-(10**11), 10**11), min_size=1, max_size=20),
    style=st.sampled_from(STYLES),
    gap=st.booleans(),
)
def test_what_is_written_with_signs_is_read_back(cents: list[int], style: tuple[str, str, str], gap: bool) -> None:
    frame, decimal, thousands = style
    texts: list[str | None] = [frame.format(grouped(each, decimal, thousands)) for each in cents]
    found = signed_numbers(pl.Series([*texts, None] if gap else texts), (decimal,))
    assert found is not None
    assert found.numbers.drop_nulls().to_list() == [each / 100 for each in cents]


@pytest.mark.parametrize(
    "texts",
    [["(1)", "(2)"], ["12 %", "0.12"], ["$5", "€5"], ["12", "3 kg"], ["1.2.3"], ["1,23,456.0"], ["192.168.0.1"], []],
)
def test_what_is_no_one_column_of_numbers_is_not_read_as_one(texts: list[str]) -> None:
    assert signed_numbers(pl.Series(texts, dtype=pl.String), (".",)) is None


def test_brackets_of_bookkeepers_mean_minus() -> None:
    found = signed_numbers(pl.Series(["$1,200.50", "($300.25)", "-$4"]))
    assert found is not None
    assert found.numbers.to_list() == [1200.5, -300.25, -4.0]


TARGETS = {
    "german": ("x;price\n" + "".join(f"{i % 13};1.{i},{i % 100:02}\n" for i in range(100, 160)), 1100.0),
    "dollars": ("x,price\n" + "".join(f'{i % 13},"$1,{i}"\n' for i in range(100, 160)), 1100.0),
    "shares": ("x,price\n" + "".join(f"{i % 13},{i} %\n" for i in range(100, 160)), 100.0),
}


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_with_signs_is_not_taken_for_classes(name: str, tmp_path: Path) -> None:
    content, first = TARGETS[name]
    problem = refusal(tmp_path, content)
    assert problem.code == "MSL360"
    assert "would be taken for 60 classes" in problem.message
    assert 'numeric = ["price"]' in problem.help
    for options in ({"numeric": ("price",)}, {"task": "regression"}):
        table = read(tmp_path, content, **options)
        assert table.task == "regression"
        assert table.y is not None
        assert table.y[0] == first
        again = read_like(table.schema, tmp_path / "t.csv")
        assert again.y is not None
        assert (again.y == table.y).all()
    assert read(tmp_path, content, task="classification").task == "classification"


def test_a_few_labels_with_signs_are_classes_with_a_warning(tmp_path: Path) -> None:
    table = read(tmp_path, "x,rate\n" + "".join(f"{i},{(5, 10)[i % 2]} %\n" for i in range(30)))
    assert table.classes == ("10 %", "5 %")
    assert [each.code for each in table.warnings if each.column == "rate"] == ["MSL337"]


def test_a_target_of_numbers_with_a_word_is_not_taken_for_classes(tmp_path: Path) -> None:
    content = "x,y\n" + "".join(f"{i % 7},{i * 1.5 if i != 9 else 'unknown'}\n" for i in range(60))
    problem = refusal(tmp_path, content)
    assert (problem.code, problem.row) == ("MSL360", 10)
    assert 'missing = ["unknown"]' in problem.help
    assert refusal(tmp_path, content, task="regression").code == "MSL317"
    table = read(tmp_path, content, missing=("unknown",), missing_target="drop")
    assert (table.task, len(table), table.n_dropped) == ("regression", 59, 1)


def test_a_feature_with_signs_is_told_and_read_where_the_user_says_so(tmp_path: Path) -> None:
    content = "price,class\n" + "".join(f'"${i},000",{"ab"[i % 2]}\n' for i in range(1, 31))
    table = read(tmp_path, content)
    (odd,) = table.warnings
    assert (odd.code, odd.column) == ("MSL337", "price")
    assert 'numeric = ["price"] to read it as 1000' in odd.help
    table = read(tmp_path, content, numeric=("price",))
    assert table.X[:, 0].tolist() == [1000.0 * i for i in range(1, 31)]
    assert read_like(table.schema, pl.DataFrame({"price": ["$7,500"]})).X.tolist() == [[7500.0]]


def test_signs_in_a_second_table_are_no_numbers_where_the_first_had_none(tmp_path: Path) -> None:
    """0.12 and `12 %` would be two different things."""
    table = read(tmp_path, "share,class\n" + "".join(f"0.{i},{'ab'[i % 2]}\n" for i in range(10, 40)))
    with pytest.raises(DataError, match="has to be numeric"):
        read_like(table.schema, pl.DataFrame({"share": ["12 %"]}))


def test_a_word_among_numbers_with_decimal_commas_is_told(tmp_path: Path) -> None:
    content = "g;class\n" + "".join(f"{i * 37 % 101},{i % 10};{'ab'[i % 2]}\n" for i in range(40)) + "unbekannt;a\n"
    (odd,) = read(tmp_path, content).warnings
    assert (odd.code, odd.column, odd.row) == ("MSL337", "g", 41)
    table = read(tmp_path, content, missing=("unbekannt",))
    assert table.X[1, 0] == 37.1
    assert table.warnings == ()
