"""Salvage: every row of a damaged database that can still be read and is what was once written, in a new database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from msl.store.database import Row, copy_database, journal_of
from msl.store.evaluation import row_to_asked
from msl.store.evaluation_table import TAKE, row_to_evaluation
from msl.store.run_table import row_to_event, row_to_run
from msl.store.schema import TABLES, insertion, migrate
from msl.store.store_error import translated
from msl.store.stored_run import is_run_id

_CHILDREN = ("sources", "asks", "events")
# Events without a position have no key, so nothing stops those that were read from both ends from being there twice.
_DROP_REPEATED_EVENTS = """
DELETE FROM events WHERE position IS NULL
AND rowid NOT IN (SELECT min(rowid) FROM events WHERE position IS NULL GROUP BY run, at, kind, figures)
"""
_LAST_ROW = 2**63 - 1


@dataclass(slots=True)
class Saved:
    """How many rows each table of the new database has, and how many were read but not what was once written."""

    rows: dict[str, int] = field(default_factory=dict)
    rejected: int = 0


def is_sound(table: str, row: Row) -> bool:
    """Whether a row is what was written, by its checksum."""
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
                row_to_asked(row)
            case "events":
                row_to_event(row)
    except Exception:  # a damaged row may be anything
        return False
    return True


def salvage(damaged: Path, rebuilt: Path) -> Saved:
    """Reads all it can from a copy of `damaged` and writes it to the new database `rebuilt`."""
    saved = Saved()
    with (
        translated(rebuilt),
        TemporaryDirectory(dir=rebuilt.parent, prefix="rescue-") as folder,
        closing(_new_database(rebuilt)) as target,
    ):
        target.execute("BEGIN")
        copy = copy_database(damaged, Path(folder) / "copy.sqlite")
        if not _take_all(copy, target, saved):
            # The first page says where each table begins. A new database of ours has them in the same places.
            copy = copy_database(damaged, Path(folder) / "replanted.sqlite")
            if _replant(copy, Path(folder) / "new.sqlite"):
                _take_all(copy, target, saved)
        for table in _CHILDREN:
            target.execute(f"DELETE FROM {table} WHERE run NOT IN (SELECT id FROM runs)")
        target.execute(_DROP_REPEATED_EVENTS)
        saved.rows = {table: target.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES}
        target.execute("COMMIT")
    return saved


def _new_database(path: Path) -> sqlite3.Connection:
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    migrate(connection)
    return connection


def _take_all(source: Path, target: sqlite3.Connection, saved: Saved) -> bool:
    """Whether every table could be read from one end to the other."""
    complete = True
    with closing(sqlite3.connect(source, isolation_level=None)) as connection:
        for table in TABLES:
            statement = TAKE if table == "evaluations" else insertion(table, "OR IGNORE")
            reader = _Reader(connection, table)
            for row in reader.rows():
                if is_sound(table, row):
                    target.execute(statement, row)
                else:
                    saved.rejected += 1
            complete = complete and not reader.stumbled
    return complete


class _Reader:
    """Reads a table around its damaged places: from the beginning, and if that stumbles, from the end as well."""

    def __init__(self, connection: sqlite3.Connection, table: str) -> None:
        self._connection, self._table, self.stumbled = connection, table, False

    def rows(self) -> Iterator[Row]:
        yield from self._walk("rowid > ?", "ASC", 0, 1)
        if self.stumbled:
            yield from self._walk("rowid < ?", "DESC", _LAST_ROW, -1)

    def _walk(self, beyond: str, order: str, place: int, direction: int) -> Iterator[Row]:
        """Rows in one direction. After a stumble it leaps, farther each time, until it finds ground again."""
        query = (
            f"SELECT rowid, {', '.join(TABLES[self._table])} FROM {self._table} NOT INDEXED"
            f" WHERE {beyond} ORDER BY rowid {order}"
        )
        leap = 1
        while 0 <= place <= _LAST_ROW:
            try:
                for rowid, *row in self._connection.execute(query, (place,)):
                    if (rowid - place) * direction <= 0:
                        break  # only damage puts rows out of order
                    place, leap = rowid, 1
                    yield tuple(row)
                else:
                    return
            except (sqlite3.Error, UnicodeError, OverflowError):
                pass
            self.stumbled = True
            place += direction * leap
            leap *= 2


def _replant(damaged: Path, fresh: Path) -> bool:
    """Puts the first page of a new database in the place of a damaged one; False where there is nothing but it."""
    with closing(_new_database(fresh)) as connection:
        page_size = int(connection.execute("PRAGMA page_size").fetchone()[0])
    pages = damaged.stat().st_size // page_size if damaged.exists() else 0
    write_ahead = journal_of(damaged).exists()
    if pages < 2 and not write_ahead:
        return False
    with fresh.open("rb") as stream:
        first = bytearray(stream.read(page_size))
    _set_header(first, max(pages, 1), write_ahead=write_ahead)
    damaged.touch()
    with damaged.open("r+b") as stream:
        stream.write(first)
        stream.truncate(max(pages, 1) * page_size)
    return True


def _set_header(page: bytearray, pages: int, *, write_ahead: bool) -> None:
    """The fields of the header that depend on the rest of the file: whether a journal goes with it, and its size."""
    page[18:20] = b"\2\2" if write_ahead else b"\1\1"
    page[28:32] = pages.to_bytes(4, "big")
