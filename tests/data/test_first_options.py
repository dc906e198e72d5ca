"""What a column is taken for, and what a first spec does with it: nothing that a person calls a table is refused."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

from msl.data.assemble import build_table
from msl.data.data_errors import DataError
from msl.data.options import DataOptions
from msl.data.profile import duplicate_rows, leaking_columns, profile_columns
from msl.data.read import read_source, read_table
from msl.data.suggest_options import FirstOptions, first_options

N = 60
CLASS = ["a", "b", "b"] * (N // 3)
NUMBERS = [float(place * 7 % 11) for place in range(N)]
DAYS = [date(2024, 1, 1) + timedelta(days=place) for place in range(N)]
SHUFFLED = [DAYS[place * 7 % N] for place in range(N)]
PROSE = [f"the {word} of number {place}" for place, word in enumerate(["story", "song", "play"] * (N // 3))]


def decided(frame: object, target: str | None = None) -> FirstOptions:
    given = DataOptions(target=target)
    reading = read_source(frame, options=given)
    first = first_options(reading, profile_columns(reading), given)
    build_table(reading, first.options)  # what is decided can be read
    return first


@pytest.mark.parametrize(
    ("values", "kind", "use"),
    [
        (NUMBERS, "number", "feature"),
        (["red", "green", "blue"] * (N // 3), "category", "feature"),
        (["yes", "No"] * (N // 2), "yes/no", "feature"),
        ([0, 1, 1] * (N // 3), "yes/no", "feature"),
        ([True, False] * (N // 2), "yes/no", "feature"),
        ([2, 5] * (N // 2), "number", "feature"),
        (DAYS, "date", "order"),
        (DAYS[::-1], "date", "order"),
        ([str(day) for day in DAYS], "date", "order"),
        ([f"{day:%d.%m.%Y}" for day in DAYS], "date", "order"),
        (SHUFFLED, "date", "feature"),
        ([None, *DAYS[1:]], "date", "feature"),
        (["NA", *(str(day) for day in DAYS[1:])], "date", "feature"),
        ([datetime(2024, 1, 1, place % 24) for place in range(N)], "date", "feature"),
        (PROSE, "text", "feature"),
        ([f"C{place:04}" for place in range(N)], "identifier", "ignore"),
        (list(range(1, N + 1)), "identifier", "ignore"),
        ([7] * N, "constant", "ignore"),
        (["same", None] * (N // 2), "constant", "ignore"),
        ([None] * N, "empty", "ignore"),
        (["NA", "?"] * (N // 2), "empty", "ignore"),
        ([[1, 2]] * N, "other", "ignore"),
        ([b"bytes"] * N, "other", "ignore"),
        ([f"${place},500" for place in range(1, N + 1)], "number", "feature"),
        ([*(f"{place}.5" for place in range(N - 1)), "unknown"], "number", "feature"),
    ],
)
def test_the_kind_of_a_column_and_its_use(values: list[object], kind: str, use: str) -> None:
    frame = pl.DataFrame({"v": pl.Series(values, strict=False), "x": NUMBERS, "class": CLASS})
    assert profile_columns(read_source(frame))["v"].kind == kind
    first = decided(frame)
    assert first.uses == {"v": use, "x": "feature", "class": "target"}
    assert ("v" in first.reasons) == (use != "feature")


def test_numbers_of_rows_that_tell_of_the_target_are_named_and_nothing_warns_of_them() -> None:
    rng = np.random.default_rng(0)
    years = np.sort(rng.integers(1900, 2000, 300))
    numbers = (years + rng.integers(0, 60, 300)) * 300 + np.arange(300)
    frame = pl.DataFrame({"id": numbers, "x": rng.normal(size=300), "year": years + rng.normal(size=300)})
    first = decided(frame, "year")
    assert first.options.numeric == ("id",)
    assert "its numbers go with the target" in first.reasons["id"]
    named = build_table(read_source(frame), first.options)
    assert named.warnings == ()
    unnamed = read_table(frame, options=DataOptions(target="year"))
    assert [each.code for each in unnamed.warnings] == ["MSL335"]
    np.testing.assert_array_equal(named.X, unnamed.X)


def test_a_column_of_dates_in_a_frame_of_pandas() -> None:
    frame = pd.DataFrame({"x": NUMBERS, "class": CLASS})
    for moments in (
        pd.date_range("2024-01-01", periods=N),
        pd.date_range("2024-01-01", periods=N, tz="Europe/Madrid"),
        pd.period_range("2000-01", periods=N, freq="M"),
    ):
        first = decided(frame.assign(when=moments))
        assert (first.options.order, first.options.ignore) == ("when", None)
        assert "when: days" in read_table(frame.assign(when=moments)).names
        table = read_table(frame.assign(when=moments), options=DataOptions(ignore=("when",)))
        assert table.names == ("x",)


def test_rows_in_order_are_no_order_where_early_rows_lack_a_class() -> None:
    late = ["a"] * (N // 2) + ["b"] * (N // 2)
    first = decided(pl.DataFrame({"when": DAYS, "x": NUMBERS, "class": late}))
    assert (first.options.order, first.options.ignore) == (None, None)


def test_the_last_column_that_can_be_one_is_the_target() -> None:
    frame = pl.DataFrame({"x": NUMBERS, "z": CLASS, "when": SHUFFLED, "nothing": [None] * N, "same": [1] * N})
    first = decided(frame)
    assert (first.options.target, first.target_reason) == ("z", "the last column that could be one")
    assert first.options.ignore == ("nothing", "same")
    assert decided(frame, "x").target_reason == "named by the user"
    with pytest.raises(DataError, match="cannot be the target"):
        decided(frame, "when")
    with pytest.raises(DataError, match="no column `nowhere`"):
        decided(frame, "nowhere")


def test_names_that_mostly_stand_once_and_coordinates_are_no_guess_of_a_target() -> None:
    once = [f"car {min(row, N - 3)}" for row in range(N)]
    frame = pl.DataFrame({"mpg": NUMBERS, "origin": CLASS, "name": once})
    assert decided(frame).options.target == "origin"
    assert decided(frame, "name").options.target == "name", "who names it, means it"
    cut = pl.DataFrame({"x": NUMBERS, "y": NUMBERS, "z": NUMBERS, "cut": CLASS})
    assert decided(cut).options.target == "cut"
    assert decided(cut.drop("z")).options.target == "y"


def test_what_seems_useless_stays_where_there_is_nothing_else() -> None:
    first = decided(pl.DataFrame({"id": list(range(N)), "class": CLASS}))
    assert first.options.ignore is None
    assert "nothing else" in first.reasons["id"]
    with pytest.raises(DataError, match="besides the target `class`"):
        decided(pl.DataFrame({"when": [[1, 2]] * N, "class": CLASS}))


def test_what_the_target_needs_is_decided() -> None:
    frame = pl.DataFrame({"x": NUMBERS})
    gaps = decided(frame.with_columns(y=pl.Series([None, *np.arange(1.5, N)])))
    assert gaps.options.missing_target == "drop"
    words = decided(frame.with_columns(y=pl.Series(["unknown", *(f"{place}.5" for place in range(1, N))])))
    assert (words.options.missing, words.options.missing_target) == (("unknown",), "drop")
    marker = decided(frame.with_columns(y=pl.Series(["n/a", *CLASS[1:]])))
    assert (marker.options.missing, marker.options.missing_target) == (("n/a",), "drop")
    signs = decided(frame.with_columns(y=pl.Series([f"{place}.250,75 €" for place in range(1, N + 1)])))
    assert signs.options.numeric == ("y",)
    assert signs.sentences == ("`y` has signs around its numbers and is read as numeric: '1.250,75 €' is 1250.75",)
    endless = decided(pl.DataFrame({"x": [float("-inf"), *NUMBERS[1:]], "class": CLASS}))
    assert endless.options.missing == ("inf", "-inf")


def test_columns_that_determine_the_target() -> None:
    frame = pl.DataFrame(
        {
            "copy": [{"a": "A", "b": "B"}[label] for label in CLASS],
            "coarse": [label if place else "b" for place, label in enumerate(CLASS)],
            "apart": [place + (1000.5 if label == "a" else 0.5) for place, label in enumerate(CLASS)],
            "x": NUMBERS,
            "id": [f"C{place}" for place in range(N)],
            "class": CLASS,
        }
    )
    assert list(leaking_columns(profile_columns(read_source(frame)), "class")) == ["copy", "apart"]
    y = np.linspace(3.0, 4.0, N) ** 2
    numbers = pl.DataFrame({"double": 2 * y + 1, "near": 2 * y + np.sin(np.arange(N)), "y": y})
    assert list(leaking_columns(profile_columns(read_source(numbers)), "y")) == ["double"]


def test_duplicate_rows_are_counted() -> None:
    frame = pl.DataFrame({"x": NUMBERS, "class": CLASS})
    unique = len(set(zip(NUMBERS, CLASS, strict=True)))
    assert duplicate_rows(read_source(frame)) == N - unique
    assert duplicate_rows(read_source(frame.with_row_index())) == 0


def test_a_misspelt_target_gets_the_column_that_is_meant() -> None:
    with pytest.raises(DataError) as wrong:
        decided(pl.DataFrame({"fee": NUMBERS, "cancelled": CLASS}), "canceled")
    assert [(each.code, each.help) for each in wrong.value.problems] == [("MSL312", "did you mean `cancelled`?")]


def test_a_first_spec_leaves_out_a_date_whose_parts_are_there() -> None:
    first = decided(pl.DataFrame({"day": SHUFFLED, "day: month": NUMBERS, "x": NUMBERS, "class": CLASS}))
    assert (first.uses["day"], first.uses["day: month"]) == ("ignore", "feature")
    assert first.reasons["day"] == "columns such as `day: month` are made of it already"


def test_a_first_spec_takes_what_only_looks_like_dates_for_symbols() -> None:
    first = decided(pl.DataFrame({"code": [f"2024-{20 + n % 9}-01" for n in range(N)], "x": NUMBERS, "class": CLASS}))
    assert first.options.categorical == ("code",)
    assert "look like dates, but are none" in first.reasons["code"]


def test_a_first_spec_leaves_out_rows_with_an_infinite_target() -> None:
    first = decided(pl.DataFrame({"x": NUMBERS, "y": ["inf", *(str(n * 0.37) for n in range(1, N))]}), "y")
    assert first.options.missing_target == "drop"
    assert first.options.missing == ("inf", "-inf")


def test_a_target_beyond_exact_numbers_is_not_called_constant() -> None:
    with pytest.raises(DataError, match="beyond 2\\^53, and all become the same real number"):
        decided(pl.DataFrame({"x": NUMBERS, "y": [2**62 + place for place in range(N)]}), "y")
