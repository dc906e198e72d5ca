"""Data sets: tables from a folder of CSV files, and the splits into training and test rows that papers used.

Where there are fewer published splits than wanted, more are drawn with the published sizes and a fixed seed; a split
says which kind it is.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

TARGET = "class"
Rows = NDArray[np.intp]
Origin = Literal["published", "drawn"]


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """One division of a table, of training rows to search on and test rows to judge by."""

    train: pl.DataFrame
    test: pl.DataFrame
    origin: Origin


@lru_cache(maxsize=4)
def read_data(folder: Path, name: str) -> pl.DataFrame:
    """A table by its name, gzipped or not."""
    for path in (folder / f"{name}.csv", folder / f"{name}.csv.gz"):
        if path.exists():
            return pl.read_csv(path, infer_schema_length=None)
    raise FileNotFoundError(f"there is no {name}.csv in {folder}; give the folder of the data with --data")


def published_split(folder: Path, name: str, number: int) -> Split:
    """Split `number` (from 0) of a data set of the Rätsch collection, or one drawn with its sizes."""
    table = read_data(folder, name)
    path = folder / f"{name}.splits.npz"
    if path.exists():
        with np.load(path) as known:
            if number < len(known["train"]):
                return Split(table[known["train"][number]], table[known["test"][number]], "published")
    sizes = json.loads((folder / "raetsch_split_sizes.json").read_text())[name]
    rows = _generator(name, number).permutation(len(table))
    train, test = np.split(rows, [sizes["n_train"]])
    return Split(table[train], table[test], "drawn")


def drawn_split(table: pl.DataFrame, name: str, number: int, train: float | int) -> Split:
    """A stratified split with this share, or this number, of training rows, the same on every machine."""
    size = train if isinstance(train, int) else round(train * len(table))
    rows = stratified(table[TARGET].to_numpy(), size, _generator(name, number))
    rest = np.setdiff1d(np.arange(len(table)), rows)
    return Split(table[np.sort(rows)], table[rest], "drawn")


def listed_split(folder: Path, name: str, first: str, second: str) -> Split:
    """A split that a JSON file lists by rows or by inclusive ranges of rows, under these two keys."""
    table = read_data(folder, name)
    found = json.loads((folder / f"{name}.splits.json").read_text())
    as_range = "ranges" in found.get("note", "")
    return Split(table[_rows(found[first], as_range)], table[_rows(found[second], as_range)], "published")


def stratified(labels: NDArray[np.generic], size: int, rng: np.random.Generator) -> Rows:
    """`size` rows drawn so that every class has its share, by the largest remainders."""
    classes, codes = np.unique(labels, return_inverse=True)
    exact = np.bincount(codes) * size / len(labels)
    counts = np.floor(exact).astype(int)
    short = size - counts.sum()
    counts[np.argsort(counts - exact, kind="stable")[:short]] += 1
    chosen = [rng.permutation(np.flatnonzero(codes == code))[: counts[code]] for code in range(len(classes))]
    return np.concatenate(chosen)


def _rows(listed: list[int], as_range: bool) -> Rows:
    """Rows as they are listed, or those of a range that includes both its ends."""
    return np.arange(listed[0], listed[1] + 1) if as_range else np.asarray(listed, dtype=np.intp)


def _generator(name: str, number: int) -> np.random.Generator:
    """Random numbers of one split; the name is hashed in a way that does not change between processes."""
    return np.random.default_rng([zlib.crc32(name.encode()), number])
