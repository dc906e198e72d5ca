"""Evaluation table: evaluations under their keys — a value replaces a failure or a bound, never the reverse."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import msl
from msl.runs.clock import Clock
from msl.runs.database import Database, Row
from msl.runs.evaluation import Evaluation, Grade
from msl.runs.evaluation_row import COLUMNS, evaluation_to_row, row_to_evaluation
from msl.runs.problem import damaged
from msl.runs.schema import insertion, selection
from msl.runs.storable import UNREADABLE

_KEYS_AT_ONCE = 500
_ROWS_AT_ONCE = 2000
TAKE = f"""
{insertion("evaluations")}
ON CONFLICT (key) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in COLUMNS if name != "key")}
WHERE excluded.grade > grade OR (excluded.grade = {int(Grade.BOUND)} AND grade = {int(Grade.BOUND)}
                                 AND excluded.loss > loss)
"""


class EvaluationTable:
    """Reading and writing many at once; one table for all runs of a store."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock

    def read(self, keys: Iterable[str]) -> dict[str, Evaluation]:
        """Those that are stored, by key. Whether one will do is for `Evaluation.answers` to say."""
        wanted = list(dict.fromkeys(keys))
        found: dict[str, Evaluation] = {}
        for start in range(0, len(wanted), _KEYS_AT_ONCE):
            some = wanted[start : start + _KEYS_AT_ONCE]
            marks = ", ".join("?" * len(some))
            for row in self._database.rows(f"{selection('evaluations')} WHERE key IN ({marks})", some):
                found[row[0]] = self._evaluation(row)
        return found

    def write(self, evaluations: Iterable[Evaluation], run: str | None = None) -> None:
        """All of them in one transaction; `run` is the one that made them."""
        with self._database.transaction() as connection:
            self.put(connection, evaluations, run)

    def put(self, connection: sqlite3.Connection, evaluations: Iterable[Evaluation], run: str | None) -> None:
        """As part of a transaction that is going on."""
        now = self._clock()
        made = (replace(one, run=run, created=now, tool=msl.__version__) for one in evaluations)
        connection.executemany(TAKE, map(evaluation_to_row, made))

    def about(self, data: str, protocol: str) -> Iterator[Evaluation]:
        """Everything stored for a table and a protocol, whatever the model, in the order of writing."""
        after = 0
        while True:
            rows = self._database.rows(
                f"SELECT rowid, {', '.join(COLUMNS)} FROM evaluations"
                " WHERE data = ? AND protocol = ? AND rowid > ? ORDER BY rowid LIMIT ?",
                (data, protocol, after, _ROWS_AT_ONCE),
            )
            for _, *row in rows:
                yield self._evaluation(row)
            if len(rows) < _ROWS_AT_ONCE:
                return
            after = rows[-1][0]

    def failures(self, run: str) -> list[Evaluation]:
        """What a run asked for and could not be judged, in the order of asking; each model once."""
        rows = self._database.rows(
            f"SELECT {', '.join(f'e.{name}' for name in COLUMNS)} FROM evaluations e"
            " JOIN (SELECT key, min(position) AS first FROM asks WHERE run = ? GROUP BY key) a ON a.key = e.key"
            " WHERE e.cause IS NOT NULL ORDER BY a.first",
            (run,),
        )
        return [self._evaluation(row) for row in rows]

    def timings(self, data: str, protocol: str) -> list[float]:
        """The seconds that values for a table and a protocol took, in the order of writing."""
        rows = self._database.rows(
            "SELECT seconds FROM evaluations WHERE data = ? AND protocol = ? AND grade = ? ORDER BY rowid",
            (data, protocol, int(Grade.VALUE)),
        )
        return [seconds for (seconds,) in rows]

    def made_by(self, run: str) -> int:
        """How many of those stored a run made itself; its other asks were answered from the store."""
        return int(self._database.rows("SELECT count(*) FROM evaluations WHERE run = ?", (run,))[0][0])

    def __len__(self) -> int:
        return int(self._database.rows("SELECT count(*) FROM evaluations")[0][0])

    def _evaluation(self, row: Row | Sequence[object]) -> Evaluation:
        try:
            return row_to_evaluation(row)
        except UNREADABLE as bad:
            raise damaged(self._database.path, f"an evaluation cannot be read: {bad}") from bad
