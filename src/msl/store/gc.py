"""Remove old runs from a store, with the evaluations, models and reports that no other run needs."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from msl.store.schema import TABLES
from msl.store.store import Store, is_orphan
from msl.store.store_error import StoreError, translated
from msl.store.stored_run import Run


@dataclass(frozen=True, slots=True)
class Garbage:
    """What is or would be removed. `database_bytes` counts the content of rows, without indexes."""

    runs: tuple[str, ...]
    evaluations: int
    files: tuple[Path, ...]
    database_bytes: int
    file_bytes: int

    @property
    def bytes(self) -> int:
        return self.database_bytes + self.file_bytes


def old_runs(runs: Iterable[Run], *, keep: int | None = None, before: datetime | None = None) -> list[str]:
    """Which runs to drop: all but the latest `keep`, and those started `before`; never one that is still running."""
    newest_first = sorted(runs, key=lambda run: (run.started, run.id), reverse=True)
    return [
        run.id
        for place, run in enumerate(newest_first)
        if run.status != "running"
        and ((keep is not None and place >= keep) or (before is not None and run.started < before))
    ]


def collect(store: Store, drop: Collection[str] = (), *, dry_run: bool = False) -> Garbage:
    """Removes the runs in `drop` and everything that belongs to no other run; with `dry_run` nothing is removed."""
    # List the files before reading the runs: a run is stored before its first file, so that no file of a run that
    # starts meanwhile looks like an orphan.
    files = _files_to_remove(store, drop)
    file_bytes = sum(_size(file) for file in files)
    with store.database.transaction(keep=not dry_run) as connection:
        for run in drop:
            if store.runs.get(run).status == "running":
                raise StoreError("MSL511", f"the run `{run}` is going on", "end it first, or keep it")
        database_bytes = sum(_content_bytes(connection, table, "run", drop) for table in ("asks", "events", "sources"))
        database_bytes += _content_bytes(connection, "runs", "id", drop)
        connection.executemany("DELETE FROM runs WHERE id = ?", [(run,) for run in drop])
        evaluations, freed = _delete_rows(connection, "evaluations", _UNUSED_EVALUATIONS)
        outputs, of_outputs = _delete_rows(connection, "outputs", "key NOT IN (SELECT key FROM evaluations)")
        _, texts = _delete_rows(connection, "texts", "digest NOT IN (SELECT digest FROM sources)")
    if not dry_run:
        with translated(store.folder):
            for file in files:
                file.unlink(missing_ok=True)
        if drop or evaluations or outputs:
            store.database.shrink()
    return Garbage(tuple(drop), evaluations, tuple(files), database_bytes + freed + of_outputs + texts, file_bytes)


_UNUSED_EVALUATIONS = (
    "key NOT IN (SELECT key FROM asks WHERE key IS NOT NULL) AND (run IS NULL OR run NOT IN (SELECT id FROM runs))"
)


def _delete_rows(connection: sqlite3.Connection, table: str, condition: str) -> tuple[int, int]:
    """Deletes rows; returns how many, and the bytes of their content."""
    freed = connection.execute(f"SELECT {_length(table)} FROM {table} WHERE {condition}").fetchone()[0]
    return connection.execute(f"DELETE FROM {table} WHERE {condition}").rowcount, int(freed)


def _content_bytes(connection: sqlite3.Connection, table: str, column: str, runs: Collection[str]) -> int:
    query = f"SELECT {_length(table)} FROM {table} WHERE {column} = ?"
    return sum(int(connection.execute(query, (run,)).fetchone()[0]) for run in runs)


def _length(table: str) -> str:
    """The SQL expression for the bytes of whole rows."""
    columns = " + ".join(f"coalesce(length(CAST({column} AS BLOB)), 0)" for column in TABLES[table])
    return f"coalesce(sum({columns}), 0)"


def _files_to_remove(store: Store, drop: Collection[str]) -> list[Path]:
    present = store.files.everything()
    kept = set(store.runs.ids()) - set(drop)
    return [file for file in present if is_orphan(file, kept)]


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
