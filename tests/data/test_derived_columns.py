"""Columns made of dates and of text: what they hold, and that later tables and exported files make them too."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

import msl
from msl.data.data_errors import DataError
from msl.data.derived_columns import is_day_first, moment, parse_moments, words_of
from msl.data.options import DataOptions
from msl.data.read import read_like, read_table
from msl.data.table import Table
from msl.export import table_reader
from msl.runner.session import NoModel
from msl.runner.trained_model import record_to_schema, schema_to_record

N = 60
MOMENTS = [datetime(2024, 2, 27, 22, 30) + timedelta(hours=7 * place) for place in range(N)]
LABELS = ["a", "b"] * (N // 2)
PROSE = [f"{['Oil', 'Ink'][place % 2]} on {['canvas', 'paper'][place % 3 > 0]}, no. {place}" for place in range(N)]


def table_of(values: list[Any], **options: Any) -> Table:
    return read_table(pl.DataFrame({"v": values, "class": LABELS[: len(values)]}), options=DataOptions(**options))


def column(table: Table, name: str) -> list[float]:
    values: list[float] = table.X[:, table.names.index(name)].tolist()
    return values


FORMS = ["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%SZ", "%d.%m.%Y %H:%M", "%m/%d/%Y %I:%M %p", None]
NAMED = ["%d %b %Y %H:%M", "%B %d, %Y %I:%M %p", "%a, %d %b %Y %H:%M:%S", "%d-%b-%yT%H:%M:%SZ", "%Y-%b-%d %H:%M"]


@pytest.mark.parametrize("form", [*FORMS, *NAMED])
def test_parts_of_dates_are_those_of_pandas(form: str | None) -> None:
    table = table_of([each.strftime(form) for each in MOMENTS] if form else MOMENTS)
    reference = pd.Series(MOMENTS)
    parts = {
        "month": reference.dt.month,
        "day": reference.dt.day,
        "weekday": reference.dt.day_of_week + 1,
        "yearday": reference.dt.day_of_year,
        "hour": reference.dt.hour + reference.dt.minute / 60,
        "days": (reference - pd.Timestamp(0)) / pd.Timedelta(days=1),
    }
    assert set(table.names) == {f"v: {part}" for part in parts}  # the year is always the same
    for part, expected in parts.items():
        np.testing.assert_allclose(column(table, f"v: {part}"), expected, rtol=1e-12)


@given(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)), st.integers(-14 * 60, 14 * 60))
def test_moments_are_read_as_python_writes_them(at: datetime, offset: int) -> None:
    whole = at.replace(microsecond=0)
    sign, minutes = "-" if offset < 0 else "+", abs(offset)
    zone = f"{sign}{minutes // 60:02}:{minutes % 60:02}"
    assert moment(at.isoformat(), False) == at
    assert moment(whole.isoformat() + "Z", False) == whole
    assert moment(whole.isoformat() + zone, False) == datetime.fromisoformat(whole.isoformat() + zone).replace(
        tzinfo=None
    ) - timedelta(minutes=offset)
    day = f"{at.year:04}"
    assert moment(f"{at.day}.{at.month}.{day}", True) == datetime(at.year, at.month, at.day)
    assert moment(f"{at.month}/{at.day}/{day}", False) == datetime(at.year, at.month, at.day)


@pytest.mark.parametrize(
    "text",
    [
        *("", "2024-02-30", "2024-13-01", "1.2", "31/31/2024", "25:00", "13:00 PM", "2024", "x"),
        *(
            "may",
            "3 May",
            "Jan 15",
            "22 mar",
            "31 Feb 2024",
            "mars 2020",
            "decade 2020",
            "12 Jan 5 2020",
            "may be 2020",
        ),
        *("13/2021", "2021-00", "1234-05", "0000-00-00"),
    ],
)
def test_what_is_no_date(text: str) -> None:
    assert moment(text, True) is None
    assert moment(text, False) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5 Jan 2024", (2024, 1, 5)),
        ("05-JAN-24", (2024, 1, 5)),
        ("5 Mar 99", (1999, 3, 5)),
        ("12JAN2021", (2021, 1, 12)),
        ("January 5th, 2024", (2024, 1, 5)),
        ("Sept. 4, 2001", (2001, 9, 4)),
        ("2024-Jan-05", (2024, 1, 5)),
        ("Dec-2018", (2018, 12, 1)),
        ("May 2020", (2020, 5, 1)),
        ("2021-04", (2021, 4, 1)),
        ("4/2021", (2021, 4, 1)),
    ],
)
def test_months_have_names_and_may_stand_alone(text: str, expected: tuple[int, int, int]) -> None:
    assert moment(text, False) == moment(text, True) == datetime(*expected)


WRITTEN = st.text(alphabet="0123456789-/.:TZ +APMamp", max_size=24)
PIECES = st.lists(
    st.sampled_from(["Jan", "may", "SEPT", "5", "05", "2024", "24", "st", " ", "-", ", ", "Mon", " 1:30"])
)


@given(WRITTEN | PIECES.map("".join), st.booleans())
def test_an_exported_file_reads_the_same_moments(text: str, day_first: bool) -> None:
    assert table_reader._moment(text, day_first) == moment(text, day_first)


def test_years_of_two_digits_and_halves_of_days() -> None:
    assert moment("1/31/24 1:30 PM", False) == datetime(2024, 1, 31, 13, 30)
    assert moment("1/31/69 12:05 am", False) == datetime(1969, 1, 31, 0, 5)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["13/1/2024", "1/2/2024"], True),
        (["1/13/2024", "1/2/2024"], False),
        (["1.2.2024", "2.2.2024"], True),
        (["1/2/2024", "2/2/2024"], None),
        (["2024-01-02"], False),
    ],
)
def test_which_number_is_the_day(texts: list[str], expected: bool | None) -> None:
    assert is_day_first(pl.Series(texts)) is expected


def test_doubtful_days_are_told_and_can_be_settled() -> None:
    values = [f"{place % 12 + 1}/{place % 11 + 1}/2024" for place in range(N)]
    table = table_of(values)
    assert [each.code for each in table.warnings] == ["MSL364"]
    assert "day_first = true" in table.warnings[0].help
    assert column(table, "v: month")[:3] == [1, 2, 3]
    settled = table_of(values, day_first=True)
    assert not settled.warnings
    assert column(settled, "v: day")[:3] == [1, 2, 3]


def test_a_date_that_cannot_be_read_is_missing_and_told() -> None:
    values = [f"{each:%Y-%m-%d}" for each in MOMENTS]
    values[16], values[40] = "soon", "2024-02-30"
    table = table_of(values)
    (warning,) = table.warnings
    assert (warning.code, warning.column, warning.row) == ("MSL363", "v", 17)
    assert "not in 2 rows, first in row 17: 'soon' and '2024-02-30'" in warning.message
    assert np.flatnonzero(np.isnan(table.X[:, 0])).tolist() == [16, 40]


def test_dates_that_databases_write_for_none_are_missing() -> None:
    values = [f"{each:%Y-%m-%d}" for each in MOMENTS]
    for place, none in enumerate(["0000-00-00", "00.00.0000", "0000-00-00 00:00:00"] * 10):
        values[2 * place] = none
    table = table_of(values)
    assert not table.warnings
    assert np.flatnonzero(np.isnan(table.X[:, 0])).tolist() == list(range(0, 60, 2))


def test_dates_of_which_many_cannot_be_are_dates_all_the_same() -> None:
    table = table_of([f"{each:%Y-%m-%d}" if place % 3 else "2024-13-01" for place, each in enumerate(MOMENTS)])
    assert [(each.code, each.row) for each in table.warnings] == [("MSL363", 1)]
    assert np.isnan(table.X[:, 0]).sum() == 20


def test_times_of_day_and_durations() -> None:
    assert table_of([f"{place % 24}:30" for place in range(N)]).names == ("v: hour",)
    lengths = table_of([timedelta(hours=place) for place in range(N)])
    assert lengths.names == ("v: days",)
    assert column(lengths, "v: days")[12] == 0.5


def test_words_are_those_of_scikit_learn() -> None:
    table = table_of(PROSE)
    counter = CountVectorizer(min_df=5)
    counts = counter.fit_transform(PROSE).toarray()
    words = [word for word, place in counter.vocabulary_.items() if (counts[:, place] > 0).sum() < N]
    assert sorted(words) == ["canvas", "ink", "oil", "paper"]
    assert set(table.names) == {f"v: {word}" for word in [*words, "number of words"]}
    for word in words:
        assert column(table, f"v: {word}") == counts[:, counter.vocabulary_[word]].tolist()
    assert column(table, "v: number of words") == [float(len(words_of(text))) for text in PROSE]


def test_the_most_frequent_words_are_kept() -> None:
    told = [[f"w{word}" for word in range(300) if place % (word + 1) == 0] for place in range(400)]
    texts = [" ".join([*words, f"b{place}"]) for place, words in enumerate(told)]
    frame = pl.DataFrame({"v": texts, "class": ["a", "b"] * 200})
    words = read_table(frame, options=DataOptions(text=("v",))).schema.derived[0]
    assert len(words.names) <= 101
    assert "v: w1" in words.names
    assert "v: w0" not in words.names  # in every text


def test_kinds_can_be_said() -> None:
    short = ["red blue", "blue", "red"] * (N // 3)
    assert table_of(short).is_symbolic.tolist() == [True]
    assert set(table_of(short, text=("v",)).names) == {"v: blue", "v: number of words", "v: red"}
    assert table_of(PROSE, categorical=("v",)).names == ("v",)
    with pytest.raises(DataError, match=r"named both in `(text` and in `dates|dates` and in `text)`"):
        DataOptions(text=("v",), dates=("v",))
    with pytest.raises(DataError, match="row 1 holds 'red blue'"):
        table_of(short, dates=("v",))


def test_a_column_of_that_name_is_there_already() -> None:
    frame = pl.DataFrame({"v": MOMENTS, "v: hour": range(N), "class": LABELS})
    with pytest.raises(DataError, match="the table has one of that name"):
        read_table(frame)


def messy() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "when": [None if place % 9 == 4 else f"{each:%d/%m/%Y %H:%M}" for place, each in enumerate(MOMENTS)],
            "note": [None if place % 11 == 3 else text for place, text in enumerate(PROSE)],
            "x": rng.normal(size=N),
            "class": ["late" if each.hour >= 12 else "early" for each in MOMENTS],
        }
    )


def test_a_later_table_gets_the_same_columns() -> None:
    first = read_table(messy())
    again = read_like(first.schema, messy())
    assert again.fingerprint == first.fingerprint
    later = pl.DataFrame({"x": [0.5], "when": ["31/12/2031 23:30"], "note": ["ink, INK and ölfarbe"]})
    table = read_like(first.schema, later)
    assert column(table, "when: day") == [31]
    assert column(table, "note: ink") == [2]
    assert column(table, "note: number of words") == [4]
    assert first.schema.sources == ("note", "when", "x")
    with pytest.raises(DataError, match="lacks the column `when`"):
        read_like(first.schema, later.drop("when"))
    with pytest.raises(DataError, match="column `when` should hold dates or times, but row 1 holds '7'"):
        read_like(first.schema, later.with_columns(when=pl.lit(7)))


def test_a_schema_is_written_and_read() -> None:
    schema = read_table(messy()).schema
    assert record_to_schema(schema_to_record(schema)) == schema
    broken = schema_to_record(schema)
    broken["derived"][0] = {"date": "when", "parts": ["age"], "day_first": False}
    with pytest.raises(ValueError, match="parts of a date"):
        record_to_schema(broken)


def test_branches_select_what_is_made_of_a_column(tmp_path: Path) -> None:
    """As many components as columns can be had, and not one more."""
    for selector, count in (("dates", 6), ("text", 5), ("[when]", 6), ('["note: *"]', 5), ("numbers", 1)):
        for components in (count, count + 1):
            text = 'use sklearn\nblock project: selector "sklearn.decomposition:PCA" { n_components: int 1..20 }\n'
            text += f"data(target = class)\nchain m = on {selector} (project(n_components = {components})) >> dummy\n"
            text += 'block dummy: learner "sklearn.dummy:Dummy*" {}\nsearch random(evaluations = 1)\nseed 1\n'
            if components == count:
                assert not msl.run(text, messy(), store=tmp_path).evaluations[0]["failure"]
            else:
                with pytest.raises(NoModel, match=rf"min\(n_samples, n_features\)={count}"):
                    msl.run(text, messy(), store=tmp_path)


@pytest.mark.slow
def test_an_exported_file_makes_the_columns_itself(tmp_path: Path) -> None:
    messy().write_csv(tmp_path / "t.csv")
    messy().with_columns(pl.col("when").str.to_datetime("%d/%m/%Y %H:%M")).write_parquet(tmp_path / "t.parquet")
    (tmp_path / "s.msl").write_text(
        "use sklearn\ndata(target = class)\nchain m = decision_tree(rest = default)\n"
        "search random(evaluations = 1)\nseed 1\n",
        encoding="utf-8",
    )

    def run(*words: str) -> str:
        done = subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("-m", "msl", "run", "s.msl", "t.csv", "--on", "inprocess")
    run("-m", "msl", "export", "@", "-o", "model.py")
    predicted = run("-m", "msl", "predict", "@", "t.csv").split()
    for table in ("t.csv", "t.parquet"):
        assert run("model.py", "t.csv", table).split()[-N:] == predicted[-N:]
    assert len(set(predicted[-N:])) == 2


def test_many_moments_are_read_once_each() -> None:
    texts = pl.Series(["2024-01-01"] * 5 + [None, "x"])
    assert parse_moments(texts, False).to_list()[:1] == [19_723 * 86_400_000_000]
    assert parse_moments(texts, False).null_count() == 2


def test_the_calendar_parts_of_the_order_are_features_if_dates_names_it(tmp_path: Path) -> None:
    days = [f"2024-{1 + i // 20:02}-{1 + i % 20:02}" for i in range(60)]
    frame = pl.DataFrame({"x": [i % 7 for i in range(60)], "day": days, "y": [i % 5 * 1.5 for i in range(60)]})
    alone = read_table(frame, options=DataOptions(target="y", order="day"))
    assert alone.names == ("x",)
    table = read_table(frame, options=DataOptions(target="y", order="day", dates=("day",)))
    assert table.names == ("day: day", "day: days", "day: month", "day: weekday", "day: yearday", "x")
    assert table.order is not None
    assert alone.order is not None
    assert table.order.tolist() == alone.order.tolist() == list(range(60))
    like = read_like(table.schema, frame[::-1])
    assert like.X.tolist() == table.X[::-1].tolist()
    assert like.order is not None
    assert like.order.tolist() == list(range(60))[::-1]
    assert ("day", "order", "date") in [(each.name, each.role, each.kind) for each in table.describe()]
    assert read_table(frame.drop("x"), options=DataOptions(target="y", order="day", dates=("day",))).names
