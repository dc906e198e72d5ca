"""Recover a damaged database: copy every row that can be read and has its checksum to a new one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from msl.store.database import Row, copy_database, journal_of
from msl.store.evaluation import row_to_query
from msl.store.evaluation_table import UPSERT, row_to_evaluation
from msl.store.run_table import row_to_event, row_to_run
from msl.store.schema import TABLES, insertion, migrate
from msl.store.store_error import translated
from msl.store.stored_run import is_run_id

_CHILDREN = ("sources", "asks", "events")
# Events without a position have no key, so those that were read from both ends of the table are there twice.
_DROP_REPEATED_EVENTS = """
DELETE FROM events WHERE position IS NULL
AND rowid NOT IN (SELECT min(rowid) FROM events WHERE position IS NULL GROUP BY run, at, kind, figures)
"""
_LAST_ROW = 2**63 - 1


@dataclass(slots=True)
class RecoveredRows:
    """The number of rows in each table of the new database, and of rows that were read but had a wrong checksum."""

    rows: dict[str, int] = field(default_factory=dict)
    rejected: int = 0


def is_sound(table: str, row: Row) -> bool:
    """Whether a row has its checksum and can be decoded."""
    try:
        match table:
            case "evaluations":
                return row_to_evaluation(row).key == str(row[0])
            case "sources":
                return is_run_id(row[0]) and isinstance(row[1], str)
            case "texts":
                return sha256(row[1].encode()).hexdigest() == str(row[0])
            case "runs":
                row_to_run(row)
            case "asks":
                row_to_query(row)
            case "events":
                row_to_event(row)
    except Exception:  # a damaged row may be anything
        return False
    return True


def recover(damaged: Path, rebuilt: Path) -> RecoveredRows:
    """Copies all sound rows of the database `damaged` to the new database `rebuilt`; `damaged` is not changed."""
    recovered = RecoveredRows()
    with (
        translated(rebuilt),
        TemporaryDirectory(dir=rebuilt.parent, prefix="rescue-") as folder,
        closing(_new_database(rebuilt)) as target,
    ):
        target.execute("BEGIN")
        copy = copy_database(damaged, Path(folder) / "copy.sqlite")
        if not _copy_tables(copy, target, recovered):
            # The first page says where each table begins. In a new store the tables begin at the same pages.
            copy = copy_database(damaged, Path(folder) / "first-page-replaced.sqlite")
            if _replace_first_page(copy, Path(folder) / "new.sqlite"):
                _copy_tables(copy, target, recovered)
        for table in _CHILDREN:
            target.execute(f"DELETE FROM {table} WHERE run NOT IN (SELECT id FROM runs)")
        target.execute(_DROP_REPEATED_EVENTS)
        recovered.rows = {table: target.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES}
        target.execute("COMMIT")
    return recovered


def _new_database(path: Path) -> sqlite3.Connection:
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    migrate(connection)
    return connection


def _copy_tables(source: Path, target: sqlite3.Connection, recovered: RecoveredRows) -> bool:
    """Copies the sound rows of all tables; returns whether every table could be read from its beginning to its end."""
    complete = True
    with closing(sqlite3.connect(source, isolation_level=None)) as connection:
        for table in TABLES:
            statement = UPSERT if table == "evaluations" else insertion(table, "OR IGNORE")
            reader = _Reader(connection, table)
            for row in reader.rows():
                if is_sound(table, row):
                    target.execute(statement, row)
                else:
                    recovered.rejected += 1
            complete = complete and not reader.met_damage
    return complete


class _Reader:
    """Reads the rows of a damaged table: from the beginning, and if something cannot be read, from the end as well."""

    def __init__(self, connection: sqlite3.Connection, table: str) -> None:
        self._connection, self._table, self.met_damage = connection, table, False

    def rows(self) -> Iterator[Row]:
        yield from self._read_rows("rowid > ?", "ASC", 0, 1)
        if self.met_damage:
            yield from self._read_rows("rowid < ?", "DESC", _LAST_ROW, -1)

    def _read_rows(self, beyond: str, order: str, place: int, direction: int) -> Iterator[Row]:
        """Rows in one direction. Where rows cannot be read, it skips 1, 2, 4, … row ids until it can read again."""
        query = (
            f"SELECT rowid, {', '.join(TABLES[self._table])} FROM {self._table} NOT INDEXED"
            f" WHERE {beyond} ORDER BY rowid {order}"
        )
        skip = 1
        while 0 <= place <= _LAST_ROW:
            try:
                for rowid, *row in self._connection.execute(query, (place,)):
                    if (rowid - place) * direction <= 0:
                        break  # only damage puts rows out of order
                    place, skip = rowid, 1
                    yield tuple(row)
                else:
                    return
            except (sqlite3.Error, UnicodeError, OverflowError):
                pass
            self.met_damage = True
            place += direction * skip
            skip *= 2


def _replace_first_page(damaged: Path, fresh: Path) -> bool:
    """Replaces the first page of a damaged database by that of a new one; False if the file has no other page."""
    with closing(_new_database(fresh)) as connection:
        page_size = int(connection.execute("PRAGMA page_size").fetchone()[0])
    pages = damaged.stat().st_size // page_size if damaged.exists() else 0
    write_ahead = journal_of(damaged).exists()
    if pages < 2 and not write_ahead:
        return False
    with fresh.open("rb") as stream:
        first = bytearray(stream.read(page_size))
    _adapt_header(first, max(pages, 1), write_ahead=write_ahead)
    damaged.touch()
    with damaged.open("r+b") as stream:
        stream.write(first)
        stream.truncate(max(pages, 1) * page_size)
    return True


def _adapt_header(page: bytearray, pages: int, *, write_ahead: bool) -> None:
    """Sets the fields of the header that depend on the rest of the file: whether it has a journal, and its size."""
    page[18:20] = b"\2\2" if write_ahead else b"\1\1"
    page[28:32] = pages.to_bytes(4, "big")
