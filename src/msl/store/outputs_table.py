"""The outputs that evaluated models were judged by, within a limit of bytes: those of the worst models are dropped."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from msl.store.database import Database
from msl.store.schema import UNREADABLE, insertion, losses_of, selection, stored_real, with_checksum, without_checksum
from msl.store.store_error import damaged

_KEYS_AT_ONCE = 500
_REPLACE = insertion("outputs", "OR REPLACE")
#: What is left when outputs are dropped, so that not every batch has to drop some.
_LEFT = 0.9
#: Without a limit of the user's: what a store takes without outputs is about 70 kB and 1.2 kB for each evaluation; of
#: outputs that is 1.4 times as much, since they leave room on their pages. But never more than the last, and of small
#: stores not less than the floor, which nobody misses: on small tables no model is then without outputs.
_FOR_STORE, _FOR_EVALUATION, _FLOOR, _MOST = 100_000, 1_700, 2_000_000, 100_000_000
#: The best models, of which outputs are then kept in any case: the choice is among these above all.
_BEST = 20
_OF_TABLE = "FROM outputs o JOIN evaluations e ON e.key = o.key WHERE e.data = ? AND e.protocol = ?"


@dataclass(frozen=True, slots=True)
class NewOutputs:
    """Packed outputs by the keys of their evaluations, which are about one table with one protocol.

    `most` are the bytes that all outputs about these may take. None makes the store at most about three times as large
    as it would be without them, but keeps 2 MB in any case, and those of the best models whatever they take.
    """

    data: str
    protocol: str
    most: int | None
    packed: Mapping[str, bytes]


def outputs_to_row(key: str, packed: bytes | None) -> tuple[Any, ...]:
    """A row of the table; None for outputs that were dropped."""
    return with_checksum((key, 0 if packed is None else len(packed), packed))


def row_to_outputs(row: Any) -> bytes | None:
    """The inverse of `outputs_to_row`; raises BadRow, or another of UNREADABLE, for a damaged one."""
    _, size, packed = without_checksum(row)
    if packed is not None and (not isinstance(packed, bytes) or len(packed) != size):
        raise ValueError("the outputs have another length than was written")
    return packed


class OutputsTable:
    """The outputs of all runs of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database
        #: The bytes of the outputs about a table with a protocol, as far as this process knows.
        self._bytes: dict[tuple[str, str], int] = {}

    def read(self, keys: Iterable[str]) -> dict[str, bytes]:
        """The outputs of those among these evaluations that have some."""
        wanted = list(dict.fromkeys(keys))
        found: dict[str, bytes] = {}
        for start in range(0, len(wanted), _KEYS_AT_ONCE):
            some = wanted[start : start + _KEYS_AT_ONCE]
            marks = ", ".join("?" * len(some))
            for row in self._database.rows(f"{selection('outputs')} WHERE key IN ({marks})", some):
                try:
                    packed = row_to_outputs(row)
                except UNREADABLE as bad:
                    raise damaged(self._database.path, f"the outputs of a model cannot be read: {bad}") from bad
                if packed is not None:
                    found[str(row[0])] = packed
        return found

    def put(self, connection: sqlite3.Connection, new: NewOutputs) -> None:
        """Writes outputs as part of an open transaction, after their evaluations."""
        rows = [outputs_to_row(key, packed) for key, packed in new.packed.items()]
        connection.executemany(_REPLACE, rows)
        scope = (new.data, new.protocol)
        if scope in self._bytes:
            self._bytes[scope] += sum(row[1] for row in rows)
        else:
            found = connection.execute(f"SELECT coalesce(sum(o.size), 0) {_OF_TABLE}", scope).fetchone()
            self._bytes[scope] = int(found[0])

    def drop_worst(self, connection: sqlite3.Connection, new: NewOutputs) -> None:
        """Drops the outputs of the worst models if all take more than `new.most` bytes, as part of a transaction.

        The worst are dominated by the most others; with one objective they have the highest losses.
        """
        scope = (new.data, new.protocol)
        most, best = new.most, 0
        if most is None:
            if self._bytes.get(scope, 0) <= _FLOOR:
                return
            most, best = self._usual(connection, scope), _BEST
        if self._bytes.get(scope, 0) <= most:
            return
        rows = connection.execute(
            f"SELECT o.key, o.size, e.losses, e.complexity {_OF_TABLE} AND o.size > 0 ORDER BY o.key", scope
        ).fetchall()
        total = sum(size for _, size, _, _ in rows)
        if total > most:
            losses = [losses_of(text) for _, _, text, _ in rows]
            ranks = [
                (times, *own, stored_real(row[3]), row[0])
                for times, own, row in zip(_times_dominated(losses), losses, rows, strict=True)
            ]
            best_first = [row for _, row in sorted(zip(ranks, rows, strict=True))]
            ends = list(accumulate(size for _, size, _, _ in best_first))
            dropped = [
                row
                for place, (row, end) in enumerate(zip(best_first, ends, strict=True))
                if end > (_LEFT * most if place >= best else _MOST)
            ]
            connection.executemany(_REPLACE, [outputs_to_row(row[0], None) for row in dropped])
            total -= sum(size for _, size, _, _ in dropped)
        self._bytes[scope] = total

    def _usual(self, connection: sqlite3.Connection, scope: tuple[str, str]) -> int:
        """The limit where the user has set none."""
        counted = "SELECT count(*) FROM evaluations WHERE data = ? AND protocol = ?"
        (evaluations,) = connection.execute(counted, scope).fetchone()
        return min(_MOST, max(_FLOOR, _FOR_STORE + _FOR_EVALUATION * int(evaluations)))

    def kept(self) -> int:
        """How many evaluations of the store have outputs."""
        return int(self._database.rows("SELECT count(*) FROM outputs WHERE size > 0")[0][0])


def _times_dominated(losses: list[tuple[float, ...]]) -> list[int]:
    """How many others are better in one objective and not worse in any; 0 for all where there is one objective."""
    if len(losses[0]) == 1:
        return [0] * len(losses)
    import numpy as np  # only here, because most commands that open a store do without it

    table = np.array(losses)
    return [int(((table <= one).all(axis=1) & (table < one).any(axis=1)).sum()) for one in table]
