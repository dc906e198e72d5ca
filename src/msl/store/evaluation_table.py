"""Read and write the table of evaluations.

Under one key a value replaces a failure or a bound, never the reverse.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import msl
from msl.store.database import Database, Row
from msl.store.evaluation import Evaluation, EvaluationInputs, Grade, StoredFailure
from msl.store.schema import (
    TABLES,
    UNREADABLE,
    BadRow,
    Clock,
    figures_of,
    insertion,
    losses_of,
    moment_to_text,
    selection,
    storable_real,
    storable_text,
    stored_real,
    text_of,
    text_to_moment,
    with_checksum,
    without_checksum,
)
from msl.store.store_error import damaged
from msl.store.stored_run import is_run_id

# --- Evaluations as rows. ---------------------------------------------------------------------------------------------


COLUMNS = TABLES["evaluations"]
_MOST_CHARACTERS = 4000  # of messages: an exception may print a whole table


def evaluation_to_row(evaluation: Evaluation) -> tuple[Any, ...]:
    """The values in the order of COLUMNS; `created` has to be set."""
    assert evaluation.created is not None
    inputs, failure = evaluation.inputs, evaluation.failure
    other_inputs = {
        "versions": dict(inputs.versions),
        "seed": inputs.seed,
        "share": inputs.share,
        "turn": inputs.repeat,
    }
    row = (
        inputs.key,
        inputs.model,
        inputs.data,
        inputs.protocol,
        json.dumps(other_inputs, sort_keys=True),
        storable_text(evaluation.text),
        int(evaluation.grade),
        storable_real(evaluation.losses[0]),
        json.dumps([float(loss) for loss in evaluation.losses]),
        json.dumps({name: float(value) for name, value in evaluation.metrics.items()}),
        storable_real(evaluation.complexity),
        storable_real(evaluation.cutoff),
        failure and _shortened(failure.cause),
        failure and _shortened(failure.message),
        failure and _shortened(failure.step),
        failure.peak_memory if failure else None,
        storable_real(evaluation.seconds) or 0.0,
        int(evaluation.fits),
        int(evaluation.fits_saved),
        int(evaluation.folds_skipped),
        json.dumps([_shortened(warning) for warning in evaluation.warnings]),
        evaluation.run,
        moment_to_text(evaluation.created),
        evaluation.tool,
    )
    return with_checksum(row)


def row_to_evaluation(row: Sequence[Any]) -> Evaluation:
    """The inverse of `evaluation_to_row`; raises BadRow for a row that was damaged or crafted."""
    named = dict(zip(COLUMNS, without_checksum(row), strict=False))
    other_inputs = figures_of(named["question"])
    if named["run"] is not None and not is_run_id(named["run"]):
        raise BadRow(f"{named['run']!r} is not the id of a run")
    failure = None
    if named["cause"] is not None:
        cause, message, step = (text_of(named[name]) for name in ("cause", "message", "step"))
        failure = StoredFailure(cause, message, step, named["peak_memory"])
    return Evaluation(
        inputs=EvaluationInputs(
            model=named["model"],
            data=named["data"],
            protocol=named["protocol"],
            versions=other_inputs["versions"],
            seed=other_inputs["seed"],
            share=other_inputs["share"],
            repeat=other_inputs["turn"],
        ),
        text=text_of(named["text"]),
        losses=losses_of(named["losses"]),
        metrics={name: float(value) for name, value in figures_of(named["measures"]).items()},
        complexity=stored_real(named["complexity"]),
        bound=named["grade"] == Grade.BOUND,
        cutoff=named["beat"],
        failure=failure,
        seconds=named["seconds"],
        fits=named["fits"],
        fits_saved=named["fits_saved"],
        folds_skipped=named["folds_skipped"],
        warnings=tuple(map(text_of, json.loads(named["warnings"]))),
        run=named["run"],
        created=text_to_moment(named["created"]),
        tool=text_of(named["tool"]),
    )


def _shortened(message: str) -> str:
    return storable_text(message if len(message) <= _MOST_CHARACTERS else message[: _MOST_CHARACTERS - 1] + "…")


# --- The table. -------------------------------------------------------------------------------------------------------


_KEYS_AT_ONCE = 500
_ROWS_AT_ONCE = 2000
UPSERT = f"""
{insertion("evaluations")}
ON CONFLICT (key) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in COLUMNS if name != "key")}
WHERE excluded.grade > grade OR (excluded.grade = {int(Grade.BOUND)} AND grade = {int(Grade.BOUND)}
                                 AND excluded.loss > loss)
"""


class EvaluationTable:
    """The evaluations of all runs of a store; every method works on many at once."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock

    def read(self, keys: Iterable[str]) -> dict[str, Evaluation]:
        """The stored ones among these keys. `Evaluation.answers` says whether one can be reused."""
        wanted = list(dict.fromkeys(keys))
        found: dict[str, Evaluation] = {}
        for start in range(0, len(wanted), _KEYS_AT_ONCE):
            some = wanted[start : start + _KEYS_AT_ONCE]
            marks = ", ".join("?" * len(some))
            for row in self._database.rows(f"{selection('evaluations')} WHERE key IN ({marks})", some):
                found[row[0]] = self._evaluation(row)
        return found

    def write(self, evaluations: Iterable[Evaluation], run: str | None = None) -> None:
        """Writes all of them in one transaction; `run` is the run that made them."""
        with self._database.transaction() as connection:
            self.put(connection, evaluations, run)

    def put(self, connection: sqlite3.Connection, evaluations: Iterable[Evaluation], run: str | None) -> None:
        """Writes evaluations as part of an open transaction."""
        now = self._clock()
        made = (replace(one, run=run, created=now, tool=msl.__version__) for one in evaluations)
        connection.executemany(UPSERT, map(evaluation_to_row, made))

    def about(self, data: str, protocol: str) -> Iterator[Evaluation]:
        """All evaluations with a table and a protocol, in the order in which they were written."""
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
        """The failed evaluations among the queries of a run, in the order of the queries; each model once."""
        rows = self._database.rows(
            f"SELECT {', '.join(f'e.{name}' for name in COLUMNS)} FROM evaluations e"
            " JOIN (SELECT key, min(position) AS first FROM asks WHERE run = ? GROUP BY key) a ON a.key = e.key"
            " WHERE e.cause IS NOT NULL ORDER BY a.first",
            (run,),
        )
        return [self._evaluation(row) for row in rows]

    def timings(self, data: str, protocol: str) -> list[float]:
        """The seconds that complete evaluations with a table and a protocol took, in the order of writing."""
        rows = self._database.rows(
            "SELECT seconds FROM evaluations WHERE data = ? AND protocol = ? AND grade = ? ORDER BY rowid",
            (data, protocol, int(Grade.VALUE)),
        )
        return [seconds for (seconds,) in rows]

    def count_about(self, data: str) -> int:
        """How many evaluations there are about a table, with whatever protocol."""
        return int(self._database.rows("SELECT count(*) FROM evaluations WHERE data = ?", (data,))[0][0])

    def made_by(self, run: str) -> int:
        """How many evaluations a run made itself; its other queries were answered from the store."""
        return int(self._database.rows("SELECT count(*) FROM evaluations WHERE run = ?", (run,))[0][0])

    def __len__(self) -> int:
        return int(self._database.rows("SELECT count(*) FROM evaluations")[0][0])

    def _evaluation(self, row: Row | Sequence[object]) -> Evaluation:
        try:
            return row_to_evaluation(row)
        except UNREADABLE as bad:
            raise damaged(self._database.path, f"an evaluation cannot be read: {bad}") from bad
