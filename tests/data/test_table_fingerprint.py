"""The fingerprint: the same for the same data however it is stored, another for any other data."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msl.data.data_errors import DataError
from msl.data.options import DataOptions
from msl.data.read import read_table

OPTIONS = DataOptions(target="class", header=True, decimal=".")

letters = st.characters(exclude_categories=("Cs",), exclude_characters="\0")
names = st.text(letters, min_size=1, max_size=6).map(str.strip).filter(lambda name: name not in {"", "class"})
kinds_of_values = st.sampled_from(
    [
        st.floats(allow_nan=False, allow_infinity=False),
        st.integers(-(2**63), 2**63 - 1),
        st.integers(-3, 3),
        st.booleans(),
        st.text(letters, max_size=5),
        st.text(st.sampled_from('ab",;\n\r\t 0.'), max_size=4),
        st.sampled_from(["1", "1.0", "NA", "?", "x", "true", "inf", "2024-01-01"]),
    ]
)


@st.composite
def frames(draw: st.DrawFn) -> pl.DataFrame:
    rows = draw(st.integers(2, 6))
    columns = {}
    for name in draw(st.lists(names, min_size=1, max_size=4, unique=True)):
        values = draw(kinds_of_values)
        columns[name] = draw(st.lists(st.none() | values, min_size=rows, max_size=rows))
    columns["class"] = ["p" if row % 2 else "n" for row in range(rows)]
    return pl.DataFrame(columns)


def outcome(source: object, separator: str = ",") -> object:
    """The fingerprint, or the reasons why there is none."""
    try:
        return read_table(source, options=dataclasses.replace(OPTIONS, separator=separator)).fingerprint
    except DataError as error:
        return [(each.code, each.column, each.row) for each in error.problems]


def fingerprint(frame: pl.DataFrame, **options: object) -> str:
    return read_table(frame, options=dataclasses.replace(OPTIONS, **options)).fingerprint  # type: ignore[arg-type]


@pytest.mark.slow
@settings(max_examples=150)
@given(frames())
def test_it_survives_every_format(frame: pl.DataFrame) -> None:
    expected = outcome(frame)
    with tempfile.TemporaryDirectory() as folder:
        writers: dict[str, Callable[[Path], object]] = {
            "t.csv": frame.write_csv,
            "t.tsv": lambda path: frame.write_csv(path, separator="\t", quote_style="always"),
            "t.csv.gz": lambda path: frame.write_csv(path, compression="gzip"),
            "t.parquet": frame.write_parquet,
        }
        for name, write in writers.items():
            write(Path(folder, name))
            assert outcome(Path(folder, name), "\t" if name == "t.tsv" else ",") == expected, name


@settings(max_examples=100)
@given(frames(), st.randoms(use_true_random=False))
def test_it_survives_other_orders_of_the_columns(frame: pl.DataFrame, random: object) -> None:
    shuffled = frame.columns
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    there, here = outcome(frame), outcome(frame.select(pl.Series(frame[name]) for name in shuffled))
    assert sorted(map(str, there)) == sorted(map(str, here)) if isinstance(there, list) else there == here  # type: ignore[call-overload]


@settings(max_examples=150)
@given(st.data())
def test_it_changes_with_every_cell(data: st.DataObject) -> None:
    shape = data.draw(st.tuples(st.integers(4, 9), st.integers(1, 4)))
    X = np.array(data.draw(st.lists(st.sampled_from([0.0, 1.0, 0.5, np.nan]), min_size=99, max_size=99)))
    X = X[: shape[0] * shape[1]].reshape(shape)
    y = np.arange(shape[0]) % 2
    row, column = data.draw(st.tuples(st.integers(0, shape[0] - 1), st.integers(0, shape[1])))
    changed_X, changed_y = X.copy(), y.copy()
    if column == shape[1]:
        changed_y[row] = 1 - y[row]
    else:
        changed_X[row, column] = 7.0
    assert read_table(X, y).fingerprint != read_table(changed_X, changed_y).fingerprint


BASE = pl.DataFrame({"a": [1.0, 2.0, None, 0.0], "b": ["u", "v", "u", None], "class": [0, 1, 1, 0]})


@pytest.mark.parametrize(
    "changed",
    [
        BASE.rename({"a": "A"}),
        BASE.select(a="b", b="a", **{"class": "class"}),
        BASE.reverse(),
        BASE.head(3),
        BASE.with_columns(b=pl.Series(["u", "w", "u", None])),
        BASE.with_columns(b=pl.Series(["v", "u", "v", None])),
        BASE.with_columns(b=pl.Series(["u", "v", "u", "u"])),
        BASE.with_columns(a=pl.Series([1.0, 2.0, None, None])),
        BASE.with_columns(a=pl.Series([1.0, 2.0, 0.0, 0.0])),
        BASE.with_columns(a=pl.Series([1.0, np.nextafter(2.0, 3.0), None, 0.0])),
        BASE.with_columns(c=pl.lit(1)),
        BASE.with_columns(pl.Series("class", [0, 2, 2, 0])),
        BASE.with_columns(pl.Series("class", ["no", "yes", "yes", "no"])),
    ],
)
def test_it_changes_with_what_matters(changed: pl.DataFrame) -> None:
    assert fingerprint(changed) != fingerprint(BASE)


def test_it_changes_with_options_that_matter() -> None:
    wide = BASE.with_columns(t=pl.Series([1, 1, 2, 3]))
    different = {
        fingerprint(wide),
        fingerprint(wide, ignore=("t",)),
        fingerprint(wide, categorical=("a",)),
        fingerprint(wide, task="regression"),
        fingerprint(wide, positive=0),
        fingerprint(wide, target="t"),
        fingerprint(wide, groups="t"),
        fingerprint(wide, order="t"),
        fingerprint(wide, missing=(2,)),
    }
    assert len(different) == 9


@pytest.mark.parametrize(
    "same",
    [
        BASE.with_columns(a=pl.Series(["1", "2e0", "NA", "-0.0"])),
        BASE.with_columns(a=pl.Series([1.0, 2.0, float("nan"), -0.0])),
        BASE.with_columns(a=pl.Series([1, 2, None, 0], dtype=pl.Int8)),
        BASE.with_columns(a=pl.Series([1, 2, None, 0], dtype=pl.Float32)),
        BASE.with_columns(a=pl.Series([1, 2, None, 0], dtype=pl.Decimal(10, 2))),
        BASE.with_columns(b=pl.Series([" u", "v ", "u", ""])),
        BASE.with_columns(b=pl.Series(["u", "v", "u", None], dtype=pl.Categorical)),
        BASE.with_columns(b=pl.Series(["u", "v", "u", None], dtype=pl.Enum(["w", "v", "u"]))),
        BASE.with_columns(pl.Series("class", ["0", "1.0", "1", "0"])),
    ],
)
def test_it_ignores_what_does_not_matter(same: pl.DataFrame) -> None:
    assert fingerprint(same) == fingerprint(BASE)


def test_it_ignores_names_of_groups_and_ignored_columns() -> None:
    one = BASE.with_columns(g=pl.Series(["p", "p", "q", "r"]), z=pl.lit(1))
    other = BASE.with_columns(g=pl.Series([9, 9, 3, 5]), z=pl.lit(2))
    options = {"groups": "g", "ignore": ("z",)}
    assert fingerprint(one, **options) == fingerprint(other, **options)


def test_it_is_a_fixed_value() -> None:
    """Stored evaluations are found by it, so it may only change together with the format it names."""
    assert fingerprint(BASE) == "afbbd8ff46a7020f5de0d3e00c36920cfc3e89740c0d4f20999f7dd72648dd62"
