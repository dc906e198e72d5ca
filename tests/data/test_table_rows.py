"""Samples of rows, and the digests by which rows are known again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msl.check.check_spec import check_source
from msl.data.options import DataOptions
from msl.data.read import read_like, read_table
from msl.data.table_rows import compare_rows, digest_rows, sampled_rows
from msl.diagnostics.source import Source
from msl.export import table_reader

FRAME = pl.DataFrame(
    {
        "x": [float(i) for i in range(300)],
        "k": [f"k{i % 7}" for i in range(300)],
        "y": ["rare" if i in (50, 250) else "ab"[i % 3 == 0] for i in range(300)],
    }
)


@given(st.lists(st.integers(0, 3), min_size=6, max_size=200), st.integers(2, 250))
def test_every_class_has_its_share_of_a_sample(codes: list[int], wanted: int) -> None:
    y = np.array(codes)
    rows = sampled_rows(y, 4, wanted)
    counts, taken = np.bincount(y, minlength=4), np.bincount(y[rows], minlength=4)
    assert len(set(rows.tolist())) == len(rows)
    assert (np.diff(rows) > 0).all()
    assert (taken >= np.minimum(counts, 2)).all()
    assert (taken <= counts).all()
    if wanted < len(y):
        assert wanted <= len(rows) <= wanted + 8
        assert (np.abs(taken - counts * wanted / len(y)) <= 2).all()


def test_a_sample_is_mostly_the_same_after_rows_were_added_at_the_end() -> None:
    y = np.random.default_rng(0).integers(0, 2, 10_000)
    before, after = sampled_rows(y[:9_000], 2, 900), sampled_rows(y, 2, 1_000)
    assert len(set(before.tolist()) & set(after.tolist())) > 800
    assert 400 < (sampled_rows(y.astype(float), 0, 1_000) < 5_000).sum() < 600


def test_a_table_is_read_in_part_and_says_so() -> None:
    table = read_table(FRAME, options=DataOptions(target="y", rows=60))
    assert (len(table), table.n_sampled_from) == (61, 300)  # of `rare` both rows are kept
    assert table.rows_in_words == "61 of 300 rows"
    assert "rows: a sample of 61 of 300 rows (`data(rows = …)`)" in table.notes
    rows = table.X[:, 1].astype(int)
    assert {50, 250} <= set(rows.tolist())
    assert (np.diff(rows) > 0).all()
    whole = read_table(FRAME, options=DataOptions(target="y"))
    assert whole.y is not None
    assert table.y is not None
    assert table.y.tolist() == whole.y[rows].tolist()
    assert table.fingerprint != whole.fingerprint
    assert table.fingerprint == read_table(FRAME[rows], options=DataOptions(target="y")).fingerprint
    assert len(read_like(table.schema, FRAME)) == 300
    enough = read_table(FRAME, options=DataOptions(target="y", rows=300))
    assert (enough.fingerprint, enough.n_sampled_from) == (whole.fingerprint, 0)


def test_an_exported_file_draws_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FRAME.write_csv(tmp_path / "t.csv")
    table = read_table(tmp_path / "t.csv", options=DataOptions(target="y", rows=60))
    symbols = {column.name: list(column.categories) for column in table.schema.columns if column.categories}
    for name, value in {"COLUMNS": ["k", "x"], "SYMBOLS": symbols, "TARGET": "y", "ROWS": 60}.items():
        monkeypatch.setattr(table_reader, name, value)
    monkeypatch.setattr(table_reader, "CLASSES", list(table.classes))
    X, y = table_reader.training_rows(tmp_path / "t.csv")
    assert table.y is not None
    assert (X.tolist(), y.tolist()) == (table.X.tolist(), table.y.tolist())


@pytest.mark.parametrize("wrong", ["1", "1.5", "some", "10s"])
def test_a_sample_is_a_number_of_rows(wrong: str) -> None:
    text = f"use sklearn\ndata(rows = {wrong})\nchain m = k_neighbors\n"
    assert "MSL164" in {each.code for each in check_source(Source("s.msl", text)).diagnostics}


def test_a_row_is_known_by_its_names_and_values() -> None:
    columns = dict(zip(FRAME.columns, FRAME.get_columns(), strict=True))
    digests = digest_rows(columns)
    assert len(set(digests.tolist())) == 300
    assert digest_rows(dict(reversed(columns.items()))).tolist() == digests.tolist()
    assert not set(digest_rows({"z": columns["x"], "k": columns["k"], "y": columns["y"]})) & set(digests)
    assert digest_rows({"x": pl.Series([0.0, None])}).tolist() == digest_rows({"x": pl.Series([-0.0, np.nan])}).tolist()
    assert digest_rows({"k": pl.Series(["a", None])})[1] == digest_rows({"k": pl.Series([None], dtype=pl.String)})[0]


@given(st.lists(st.integers(0, 5), max_size=12), st.lists(st.integers(0, 5), max_size=12))
def test_versions_are_compared_by_rows(old: list[int], new: list[int]) -> None:
    found = compare_rows(np.array(old, np.uint64), np.array(new, np.uint64))
    rest = list(new)
    same = sum(1 for row in old if row in rest and (rest.remove(row) or True))
    assert found.same == same
    assert found.same + found.changed + found.removed == len(old)
    assert found.same + found.changed + found.added == len(new)
    assert min(found.same, found.added, found.removed, found.changed) >= 0


def test_a_row_that_changed_in_its_place_is_told_from_one_that_was_added() -> None:
    old = np.arange(10, dtype=np.uint64)
    new = np.append(np.where(old == 4, 99, old), [77, 78]).astype(np.uint64)
    found = compare_rows(old, new)
    assert (found.same, found.added, found.removed, found.changed) == (9, 2, 0, 1)
    moved = compare_rows(old, old[::-1])
    assert (moved.same, moved.changed) == (10, 0)
