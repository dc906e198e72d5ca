"""Gc: removes what no kept run needs any more — old runs, their evaluations, models and reports — and says how much."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from msl.store.files import is_orphan
from msl.store.schema import TABLES
from msl.store.store import Store
from msl.store.store_error import StoreError, translated
from msl.store.stored_run import Run


@dataclass(frozen=True, slots=True)
class Garbage:
    """What is removed, or would be. Bytes of the database are those of the rows' content, without indexes."""

    runs: tuple[str, ...]
    evaluations: int
    files: tuple[Path, ...]
    database_bytes: int
    file_bytes: int

    @property
    def bytes(self) -> int:
        return self.database_bytes + self.file_bytes


def old_runs(runs: Iterable[Run], *, keep: int | None = None, before: datetime | None = None) -> list[str]:
    """Which runs to drop: those beyond the latest `keep`, and those started `before`; never one that is going on."""
    newest_first = sorted(runs, key=lambda run: (run.started, run.id), reverse=True)
    return [
        run.id
        for place, run in enumerate(newest_first)
        if run.status != "running"
        and ((keep is not None and place >= keep) or (before is not None and run.started < before))
    ]


def collect(store: Store, drop: Collection[str] = (), *, dry_run: bool = False) -> Garbage:
    """Removes the runs in `drop`, and everything that no other run asked for or made; `dry_run` only says what."""
    # Files before runs: a run is written down before its first file, so a file of a new run is never an orphan here.
    files = _files(store, drop)
    file_bytes = sum(_size(file) for file in files)
    with store.database.transaction(keep=not dry_run) as connection:
        for run in drop:
            if store.runs.get(run).status == "running":
                raise StoreError("MSL511", f"the run `{run}` is going on", "end it first, or keep it")
        database_bytes = sum(_content(connection, table, "run", drop) for table in ("asks", "events", "sources"))
        database_bytes += _content(connection, "runs", "id", drop)
        connection.executemany("DELETE FROM runs WHERE id = ?", [(run,) for run in drop])
        evaluations, freed = _sweep(connection, "evaluations", _UNWANTED)
        _, texts = _sweep(connection, "texts", "digest NOT IN (SELECT digest FROM sources)")
    if not dry_run:
        with translated(store.folder):
            for file in files:
                file.unlink(missing_ok=True)
        if drop or evaluations:
            store.database.shrink()
    return Garbage(tuple(drop), evaluations, tuple(files), database_bytes + freed + texts, file_bytes)


_UNWANTED = (
    "key NOT IN (SELECT key FROM asks WHERE key IS NOT NULL) AND (run IS NULL OR run NOT IN (SELECT id FROM runs))"
)


def _sweep(connection: sqlite3.Connection, table: str, unwanted: str) -> tuple[int, int]:
    """Deletes rows; how many, and the bytes of their content."""
    freed = connection.execute(f"SELECT {_length(table)} FROM {table} WHERE {unwanted}").fetchone()[0]
    return connection.execute(f"DELETE FROM {table} WHERE {unwanted}").rowcount, int(freed)


def _content(connection: sqlite3.Connection, table: str, column: str, runs: Collection[str]) -> int:
    query = f"SELECT {_length(table)} FROM {table} WHERE {column} = ?"
    return sum(int(connection.execute(query, (run,)).fetchone()[0]) for run in runs)


def _length(table: str) -> str:
    """The bytes of a whole row, summed over rows."""
    columns = " + ".join(f"coalesce(length(CAST({column} AS BLOB)), 0)" for column in TABLES[table])
    return f"coalesce(sum({columns}), 0)"


def _files(store: Store, drop: Collection[str]) -> list[Path]:
    present = store.files.everything()
    kept = set(store.runs.ids()) - set(drop)
    return [file for file in present if is_orphan(file, kept)]


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
