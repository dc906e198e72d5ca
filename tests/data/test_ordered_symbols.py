"""Ordered symbols: the order that is told or plain, numbers that follow it, and every place where it has to hold."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from typer.testing import CliRunner

from msl import ModelSearch
from msl.api import run
from msl.blocks.preprocessing.encoders import Thermometer
from msl.cli.main import command_line
from msl.data.data_errors import DataError
from msl.data.options import DataOptions
from msl.data.ordered_symbols import infer_order
from msl.data.profile import profile_columns
from msl.data.read import read_like, read_source, read_table
from msl.data.table import Column, Table
from msl.runner.trained_model import record_to_schema, schema_to_record

app = command_line()
SIZES = ["M", "S", "L", "S", "XL", "M"]


def table_of(values: list[object], **options: object) -> Table:
    frame = pl.DataFrame({"v": pl.Series(values, strict=False), "class": [row % 2 for row in range(len(values))]})
    return read_table(frame, options=DataOptions(**options))  # type: ignore[arg-type]


def problem(values: list[object], *order: str) -> str:
    with pytest.raises(DataError) as wrong:
        table_of(values, ordered=(("v", *order),))
    (found,) = wrong.value.problems
    return f"{found.code}: {found.message}; {found.help}"


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("size", ["XS", "S", "M", "L", "XL"]),
        ("size", ["small", "medium", "large"]),
        ("answer", ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly Agree"]),
        ("how often", ["Never", "Rarely", "Sometimes", "Often", "Always"]),
        ("travel", ["Non-Travel", "Travel_Rarely", "Travel_Frequently"]),
        ("pool", ["No_Pool", "Fair", "Typical", "Good", "Excellent"]),
        ("risk", ["1 - low", "2 - medium", "3 - high"]),
        ("place", ["1st", "2nd", "3rd", "10th"]),
        ("class", ["level 1", "level 2", "level 10"]),
        ("age", ["<18", "18-24", "25-34", "35-64", "65+"]),
        ("employed", ["< 1 year", "1 year", "2 years", "9 years", "10+ years"]),
        ("employed", ["emp_lt_1", "emp_1", "emp_2", "emp_ge_10"]),
        ("income", ["$0 - $9,999", "$10,000 - $19,999", "$20,000 or more"]),
        ("income", ["<=50K", "50K-100K", ">100K"]),
        ("bin", ["(0, 10]", "(10, 20]", "(20, 30]"]),
        ("sub_grade", ["A1", "A2", "B1", "B5", "C2"]),
        ("grade", ["A+", "A", "A-", "B"]),
        ("doors", ["2", "3", "4", "5more"]),
    ],
)
def test_a_plain_order_is_found_however_the_symbols_stand(name: str, order: list[str]) -> None:
    for shuffled in (order, order[::-1], sorted(order), order[1::2] + order[::2]):
        assert infer_order(name, shuffled) == tuple(order)


@pytest.mark.parametrize(
    ("name", "symbols"),
    [
        ("colour", ["red", "green", "blue"]),
        ("answer", ["yes", "no", "maybe"]),
        ("quality", ["good", "excellent", "unheard of"]),
        ("level", ["low", "Low", "high"]),  # one of two spellings is a mistake
        ("income", ["high", "low"]),  # two symbols: a yes or no
        ("age", ["10-20", "15-25", "25-30"]),  # overlapping ranges are groups of something else
        ("room", ["A1", "A2", "B1"]),  # not called a grade
        ("place", ["10 km", "20 miles", "5-8 km"]),
        ("season", ["2019-20", "2020-21", "2021-22"]),
        ("code", ["1-1", "1-2", "2-1"]),
        ("score", ["3-0", "2-1", "1-1"]),
        ("quarter", ["Q1", "Q2", "Q3"]),
        ("state", ["NY", "CA", "OK"]),
    ],
)
def test_no_order_is_invented(name: str, symbols: list[str]) -> None:
    assert infer_order(name, symbols) is None


@given(st.lists(st.text(max_size=12), min_size=3, max_size=8, unique=True), st.text(max_size=5))
@settings(max_examples=200)
def test_an_order_has_every_symbol_once(symbols: list[str], name: str) -> None:
    order = infer_order(name, symbols)
    assert order is None or sorted(order) == sorted(symbols)


def test_a_told_order_numbers_the_symbols_and_those_that_no_row_has() -> None:
    table = table_of(["hi", "lo", None, "hi", "mid"], ordered=(("v", "lo", "mid", "hi", "top"),))
    assert table.schema.columns[0] == Column("v", "ordered", ("lo", "mid", "hi", "top"))
    assert np.array_equal(table.X[:, 0], [2, 0, np.nan, 2, 1], equal_nan=True)
    assert table.facts.ordered == ("v",)
    assert table.facts.symbolic == ()


def test_an_order_that_is_not_told_is_inferred_and_unknown_is_missing() -> None:
    table = table_of([*SIZES, "unknown", "n/a"], ordered=(("v",),))
    assert table.schema.columns[0].categories == ("S", "M", "L", "XL")
    assert np.array_equal(table.X[:, 0], [1, 0, 2, 0, 3, 1, np.nan, np.nan], equal_nan=True)


def test_codes_of_an_ordered_column_can_be_numbers() -> None:
    table = table_of([3, 1, 2, 1], ordered=(("v", "3", "1", "2"),))
    assert table.X[:, 0].tolist() == [0, 1, 2, 1]


def test_what_is_wrong_with_an_order_is_told_with_rows_and_what_to_write() -> None:
    assert problem(["red", "green", "blue", "red"]) == (
        "MSL481: the order of the symbols of column `v` is not plain: 'red', 'green' and 'blue'; "
        'write them from the lowest to the highest: ordered = ["v"("blue" < "green" < "red")]'
    )
    assert problem(["lo", "hi", "huge", "hi", "huge"], "lo", "hi") == (
        "MSL480: the order of column `v` lacks 'huge': row 3 holds 'huge', row 5 holds 'huge'; "
        'give each a place in `"lo" < "hi"`, or write missing = ["huge"] if it means nothing'
    )
    assert "numbers, which have their order already" in problem([3, 1, 2, 5])
    assert "an order needs at least 3" in problem(["lo", "hi", "hi", "lo"])


@pytest.mark.parametrize("other", ["categorical", "numeric", "text"])
def test_an_ordered_column_is_of_no_other_kind(other: str) -> None:
    with pytest.raises(DataError) as wrong:
        table_of(SIZES, ordered=(("v",),), **{other: ("v",)})
    assert wrong.value.problems[0].code == "MSL314"


def test_a_new_table_follows_the_order_and_an_unseen_level_is_missing_with_a_warning() -> None:
    schema = table_of(SIZES, ordered=(("v",),)).schema
    like = read_like(schema, pl.DataFrame({"v": ["L", "XXS", None, "S"]}))
    assert np.array_equal(like.X[:, 0], [2, np.nan, np.nan, 0], equal_nan=True)
    assert [(each.code, each.column) for each in like.warnings] == [("MSL471", "v")]


def test_a_symbol_that_says_nothing_is_missing_without_a_word_in_other_tables_too() -> None:
    known = pl.DataFrame({"v": ["S", "M", "L", "XL", "unknown"] * 4, "y": ["a", "b"] * 10})
    table = read_table(known, options=DataOptions(target="y", ordered=(("v",),)))
    again = read_like(table.schema, known)
    assert np.isnan(again.X[:, 0]).sum() == 4
    assert again.warnings == ()


def test_a_saved_model_keeps_the_order() -> None:
    schema = table_of(SIZES, ordered=(("v",),)).schema
    assert record_to_schema(schema_to_record(schema)) == schema


def test_orders_are_part_of_what_a_table_is_known_by() -> None:
    told = table_of(SIZES, ordered=(("v", "S", "M", "L", "XL"),))
    other = table_of(SIZES, ordered=(("v", "XL", "L", "M", "S"),))
    assert len({told.fingerprint, other.fingerprint, table_of(SIZES).fingerprint}) == 3


def test_ordered_categories_of_pandas_are_taken_at_their_word() -> None:
    kind = pd.CategoricalDtype(["dull", "so so", "lovely"], ordered=True)
    frame = pd.DataFrame({"v": pd.Series(["lovely", "dull", None, "so so"] * 3, dtype=kind), "y": [0, 1, 0, 1] * 3})
    table = read_table(frame)
    assert table.schema.columns[0] == Column("v", "ordered", ("dull", "so so", "lovely"))
    as_symbols = read_table(frame, options=DataOptions(categorical=("v",)))
    assert as_symbols.schema.columns[0].kind == "symbolic"
    assert profile_columns(read_source(frame))["v"].order == ("dull", "so so", "lovely")


def test_thermometer_against_comparisons_by_hand() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (60, 2)).astype(float)
    X[3, 1] = np.nan
    block = clone(Thermometer()).fit(X)
    new = np.array([[0.0, 4.0], [2.0, np.nan], [9.0, 1.0]])
    expected = [
        [*(value >= level if value == value else np.nan for value in row for level in range(1, 5))] for row in new
    ]
    assert np.array_equal(block.transform(new), np.array(expected, dtype=float), equal_nan=True)
    assert block.transform(X).shape == (60, 8)
    few = Thermometer(most=3).fit(rng.normal(size=(500, 1)))
    shares = few.transform(rng.normal(size=(4000, 1))).mean(axis=0)
    assert np.allclose(shares, [0.75, 0.5, 0.25], atol=0.06)


def _table(rows: int = 240) -> pl.DataFrame:
    """The target grows with the level, but not with the letters of its name."""
    rng = np.random.default_rng(1)
    levels = ["Low", "Medium", "High", "Very High"]
    places = rng.integers(0, 4, rows)
    return pl.DataFrame(
        {
            "level": [levels[place] for place in places],
            "colour": rng.choice(["red", "green", "blue"], rows),
            "noise": rng.normal(size=rows),
            "y": np.array([0.0, 1.0, 5.0, 5.5])[places] + 0.1 * rng.normal(size=rows),
        }
    )


SPEC = """msl 1
use sklearn
use tables
data(target = y, task = regression, ordered = [level(Low < Medium < High < "Very High")])
chain model = {chain}
minimize rmse by cv(3)
search random
budget(evaluations = 1)
"""


def test_learners_get_levels_as_numbers_and_a_linear_model_every_step(tmp_path: Path) -> None:
    data = _table()
    losses = {}
    for name, chain in {
        "number": "on ordered (impute) >> ridge(alpha = 0.001)",
        "steps": "on ordered (impute >> thermometer(rest = default)) >> ridge(alpha = 0.001)",
        "tree": "on ordered (impute) >> decision_tree(rest = default)",
    }.items():
        found = run(SPEC.format(chain=chain), data, store=tmp_path / name)
        losses[name] = found.objectives["rmse"]
        said = found.trained.predict(
            found.trained.read(pl.DataFrame({"level": ["Low", "High"], "colour": "red", "noise": 0.0}))
        )
        assert said[0] < said[1]
    # By hand: a line through 0, 1, 5, 5.5 at evenly spaced places leaves about 0.85; the steps leave the noise.
    assert losses["steps"] < 0.15 < 0.7 < losses["number"]
    assert losses["tree"] < 0.15


def test_an_exported_file_reads_levels_in_their_order(tmp_path: Path) -> None:
    data = _table()
    data.write_csv(tmp_path / "data.csv")
    (tmp_path / "spec.msl").write_text(
        SPEC.format(chain="(on ordered (impute) & on rest (impute)) >> ridge(alpha = 1)"), encoding="utf-8"
    )
    call = CliRunner().invoke
    ran = call(app, ["run", str(tmp_path / "spec.msl"), str(tmp_path / "data.csv"), "--quiet"])
    assert ran.exit_code == 0, ran.output
    store = str(tmp_path / ".msl")
    done = call(
        app, ["export", "@", "--store", store, "-o", str(tmp_path / "model.py"), "--data", str(tmp_path / "data.csv")]
    )
    assert done.exit_code == 0, done.output
    new = pl.DataFrame({"noise": [0.0, 0.5], "colour": ["blue", "red"], "level": ["Very High", "Huge"]})
    new.write_csv(tmp_path / "new.csv")
    command = [sys.executable, str(tmp_path / "model.py"), str(tmp_path / "data.csv"), str(tmp_path / "new.csv")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[1:]
    call(app, ["predict", "@", str(tmp_path / "new.csv"), "--store", store, "-o", str(tmp_path / "said.csv")])
    ours = (tmp_path / "said.csv").read_text().splitlines()[1:]
    assert np.allclose([float(each) for each in said], [float(each) for each in ours])


def test_the_best_estimator_of_a_search_reads_levels_in_their_order() -> None:
    data = _table(120)
    spec = SPEC.format(chain="(on ordered (impute) & on rest (impute)) >> ridge(alpha = 1)")
    frame = pd.DataFrame(data.drop("y").to_dict(as_series=False))
    search = ModelSearch(spec).fit(frame, data["y"].to_numpy())
    new = frame.head(7)
    assert np.allclose(search.best_estimator_.predict(new), search.predict(new))


def test_init_and_data_show_the_order_and_its_spec_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _table().write_csv("data.csv")
    call = CliRunner().invoke
    shown = call(app, ["data", "data.csv"]).output
    assert "Low < Medium < High < Very High" in shown
    assert call(app, ["init", "data.csv", "-o", "first.msl"]).exit_code == 0
    assert 'ordered = [level("Low" < "Medium" < "High" < "Very High")]' in Path("first.msl").read_text()
    checked = call(app, ["check", "first.msl", "--data", "data.csv"])
    assert checked.exit_code == 0, checked.output
