"""Rows of a table as such: which are sampled, and by which digests a row is known in later versions of the table."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Places = NDArray[np.intp]
Digests = NDArray[np.uint64]

#: A class keeps at least this many rows, so that it can be both learnt and tested.
_FEWEST_OF_CLASS = 2


# --- samples ----------------------------------------------------------------------------------------------------------


def sampled_rows(y: NDArray[Any], n_classes: int, wanted: int) -> Places:
    """The rows of a sample in their order, with every class in its share; `y` holds codes of classes, or numbers.

    A row is drawn by a hash of its place, so that the sample depends on nothing but the table, and rows that are added
    at the end of the table leave most of it as it was. An exported file draws the same rows.
    """
    drawn = np.argsort(scattered(np.arange(len(y), dtype=np.uint64)), kind="stable")
    if not n_classes:
        return np.sort(drawn[:wanted])
    counts = np.bincount(y, minlength=n_classes)
    shares = counts * (wanted / len(y))
    quotas = np.maximum(np.floor(shares).astype(np.intp), np.minimum(counts, _FEWEST_OF_CLASS))
    for code in np.argsort(quotas - shares, kind="stable")[: max(0, wanted - int(quotas.sum()))]:
        quotas[code] = min(quotas[code] + 1, counts[code])
    return np.sort(np.concatenate([drawn[y[drawn] == code][:quota] for code, quota in enumerate(quotas)]))


def scattered(numbers: Digests) -> Digests:
    """A hash of each number, the same on every machine (the last step of SplitMix64)."""
    mixed = (numbers + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


# --- what rows are known by -------------------------------------------------------------------------------------------


def digest_rows(columns: Mapping[str, pl.Series]) -> Digests:
    """A digest of each row, from the names and values of its columns in any order."""
    found: Digests | None = None
    for name, column in columns.items():
        own = scattered(_digest_values(column) ^ _digest_text(name))
        found = own if found is None else found + own
    assert found is not None
    return scattered(found)


def _digest_values(column: pl.Series) -> Digests:
    """A number for each value: numbers by their bits, texts by a hash; one for what is missing."""
    if column.dtype in (pl.Categorical, pl.Enum, pl.Boolean):
        column = column.cast(pl.String)
    if column.dtype == pl.String:
        distinct = column.unique().drop_nulls()
        known = pl.Series([int(_digest_text(text)) for text in distinct], dtype=pl.UInt64)
        if distinct.is_empty():
            return np.zeros(len(column), np.uint64)
        return column.replace_strict(distinct, known, default=None).fill_null(0).to_numpy()
    numbers = column.to_physical().cast(pl.Float64).fill_null(float("nan")).to_numpy() + 0.0
    numbers[np.isnan(numbers)] = np.nan
    return numbers.view(np.uint64)


def _digest_text(text: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()))


@dataclass(frozen=True, slots=True)
class RowChanges:
    """How a table differs from an earlier version of it, in rows."""

    same: int
    added: int
    removed: int
    #: Rows at the same place of both tables with other values.
    changed: int


def compare_rows(earlier: Digests, later: Digests) -> RowChanges:
    """The rows that two versions have in common, whatever their order, and the others."""
    values, places = np.unique(np.concatenate([earlier, later]), return_inverse=True)
    old, new = places[: len(earlier)], places[len(earlier) :]
    counts_old, counts_new = (np.bincount(each, minlength=len(values)) for each in (old, new))
    same = int(np.minimum(counts_old, counts_new).sum())
    shorter = min(len(old), len(new))
    gone, fresh = counts_old > counts_new, counts_new > counts_old
    changed = int((gone[old[:shorter]] & fresh[new[:shorter]]).sum())
    changed = min(changed, len(old) - same, len(new) - same)
    return RowChanges(same, len(new) - same - changed, len(old) - same - changed, changed)
