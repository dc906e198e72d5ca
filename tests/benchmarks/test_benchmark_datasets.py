"""Data sets and splits, on a small folder written here, and the made-up tables that ship."""

import csv
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.datasets import drawn_split, listed_split, published_split, read_data, stratified
from benchmarks.messy_table import tables


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table = pl.DataFrame({"f1": range(20), "class": ["a", "b"] * 10})
    table.write_csv(tmp_path / "toy.csv")
    np.savez(tmp_path / "toy.splits.npz", train=[np.arange(12)], test=[np.arange(12, 20)])
    (tmp_path / "raetsch_split_sizes.json").write_text(json.dumps({"toy": {"n_train": 12}}))
    (tmp_path / "toy.splits.json").write_text(
        json.dumps({"train": [0, 4], "valid": [5, 19], "note": "inclusive 0-based row ranges"})
    )
    return tmp_path


def test_a_published_split_comes_first_then_drawn_ones_of_its_size(folder: Path) -> None:
    published = published_split(folder, "toy", 0)
    assert published.origin == "published"
    assert published.train["f1"].to_list() == list(range(12))
    drawn = published_split(folder, "toy", 1)
    assert drawn.origin == "drawn"
    assert (len(drawn.train), len(drawn.test)) == (12, 8)
    assert sorted([*drawn.train["f1"], *drawn.test["f1"]]) == list(range(20))
    assert drawn.train.equals(published_split(folder, "toy", 1).train)
    assert not drawn.train.equals(published_split(folder, "toy", 2).train)


def test_ranges_include_both_ends(folder: Path) -> None:
    split = listed_split(folder, "toy", "train", "valid")
    assert split.train["f1"].to_list() == [0, 1, 2, 3, 4]
    assert len(split.test) == 15


def test_a_missing_table_is_named(folder: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.csv"):
        read_data(folder, "nothing")


def test_drawn_splits_keep_the_classes(folder: Path) -> None:
    split = drawn_split(read_data(folder, "toy"), "toy", 0, 0.6)
    assert split.train["class"].value_counts()["count"].to_list() == [6, 6]


@given(st.lists(st.integers(1, 30), min_size=2, max_size=5), st.floats(0.1, 0.9), st.integers(0, 99))
def test_stratified_rows_are_distinct_and_within_one_of_their_share(counts: list[int], share: float, seed: int) -> None:
    labels = np.repeat(np.arange(len(counts)), counts)
    size = round(share * len(labels))
    rows = stratified(labels, size, np.random.default_rng(seed))
    assert len(set(rows.tolist())) == len(rows) == size
    drawn = np.bincount(labels[rows], minlength=len(counts))
    assert (np.abs(drawn - np.array(counts) * size / len(labels)) < 1).all()


def test_the_tables_in_specs_are_those_of_their_generator() -> None:
    for name, rows in tables():
        with open(Path(__file__).parents[2] / "specs" / name, newline="", encoding="utf-8") as file:
            assert list(csv.reader(file)) == rows
