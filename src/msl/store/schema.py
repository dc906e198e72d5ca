"""Define the tables of a store, migrate older stores, and convert values for SQLite."""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from zlib import crc32

#: "MSL1" in the header of the file, which distinguishes a store from other databases.
APPLICATION = 0x4D534C31

#: Every table with its columns, in the order in which rows are written. Some names are older than the words of the code
#: and stay, so that existing stores can be read: `asks` holds queries, `question` the inputs without columns of their
#: own, `measures` the metrics, `beat` the cutoff.
TABLES: dict[str, tuple[str, ...]] = {
    "runs": tuple(
        "id name spec space_digest run_digest data_digest evaluation_digest search_digest seed versions options status"
        " started ended seen host pid born result checksum".split()
    ),
    "texts": ("digest", "text"),
    "sources": ("run", "path", "digest"),
    "evaluations": tuple(
        "key model data protocol question text grade loss losses measures complexity beat cause message step"
        " peak_memory seconds fits fits_saved folds_skipped warnings run created tool checksum".split()
    ),
    "asks": tuple("run position stage batch key vector beat losses complexity bound checksum".split()),
    "events": tuple("run position at kind figures checksum".split()),
    "outputs": ("key", "size", "content", "checksum"),
}
#: Tables that stores did not have from the beginning.
LATER_TABLES = frozenset({"outputs"})


def insertion(table: str, otherwise: str = "") -> str:
    """The statement that writes a whole row; `otherwise` resolves conflicts, such as `OR IGNORE`."""
    columns = TABLES[table]
    return f"INSERT {otherwise} INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def selection(table: str) -> str:
    """The beginning of a query for whole rows."""
    return f"SELECT {', '.join(TABLES[table])} FROM {table}"


Migration = Callable[[sqlite3.Connection], None]


def _create(connection: sqlite3.Connection) -> None:
    """Creates the tables first and then the indexes, as VACUUM does, so that the tables begin at known pages."""
    for statement in _FIRST_SCHEMA.split(";"):
        connection.execute(statement)


# Every table has a rowid, so that a damaged one can be read in pieces. Keys of evaluations are no foreign keys, because
# a query may remain when its evaluation is lost; the evaluation is then repeated.
_FIRST_SCHEMA = """
CREATE TABLE runs (
    id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, spec TEXT NOT NULL,
    space_digest TEXT NOT NULL, run_digest TEXT NOT NULL, data_digest TEXT NOT NULL,
    evaluation_digest TEXT NOT NULL, search_digest TEXT NOT NULL,
    seed TEXT NOT NULL, versions TEXT NOT NULL, options TEXT NOT NULL, status TEXT NOT NULL,
    started TEXT NOT NULL, ended TEXT, seen TEXT NOT NULL,
    host TEXT NOT NULL, pid INTEGER NOT NULL, born TEXT NOT NULL, result TEXT NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE TABLE texts (digest TEXT PRIMARY KEY NOT NULL, text TEXT NOT NULL);
CREATE TABLE sources (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, path TEXT NOT NULL, digest TEXT NOT NULL,
    UNIQUE (run, path)
);
CREATE TABLE evaluations (
    key TEXT PRIMARY KEY NOT NULL, model TEXT NOT NULL, data TEXT NOT NULL, protocol TEXT NOT NULL,
    question TEXT NOT NULL, text TEXT NOT NULL,
    grade INTEGER NOT NULL, loss REAL NOT NULL, losses TEXT NOT NULL, measures TEXT NOT NULL,
    complexity REAL, beat REAL, cause TEXT, message TEXT, step TEXT, peak_memory INTEGER,
    seconds REAL NOT NULL, fits INTEGER NOT NULL, fits_saved INTEGER NOT NULL, folds_skipped INTEGER NOT NULL,
    warnings TEXT NOT NULL, run TEXT, created TEXT NOT NULL, tool TEXT NOT NULL, checksum INTEGER NOT NULL
);
CREATE TABLE asks (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, position INTEGER NOT NULL,
    stage INTEGER NOT NULL, batch INTEGER NOT NULL, key TEXT, vector BLOB, beat REAL,
    losses TEXT NOT NULL, complexity REAL, bound INTEGER NOT NULL, checksum INTEGER NOT NULL,
    UNIQUE (run, position)
);
CREATE TABLE events (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, position INTEGER, at TEXT NOT NULL,
    kind TEXT NOT NULL, figures TEXT NOT NULL, checksum INTEGER NOT NULL,
    UNIQUE (run, position)
);
CREATE INDEX runs_by_digest ON runs (run_digest);
CREATE INDEX evaluations_by_protocol ON evaluations (data, protocol)
"""
_INDEXES = _FIRST_SCHEMA.split(";")[-2:]


def _add_outputs(connection: sqlite3.Connection) -> None:
    """What models were judged by, under the keys of their evaluations; content that was dropped for others is NULL.

    The indexes are made anew, because VACUUM puts them after all tables.
    """
    connection.execute("DROP INDEX evaluations_by_protocol")
    connection.execute("DROP INDEX runs_by_digest")
    connection.execute(
        "CREATE TABLE outputs (key TEXT PRIMARY KEY NOT NULL, size INTEGER NOT NULL, content BLOB,"
        " checksum INTEGER NOT NULL)"
    )
    for statement in _INDEXES:
        connection.execute(statement)


#: Migration number n turns a store of version n into one of version n + 1; version 0 is an empty file.
MIGRATIONS: tuple[Migration, ...] = (_create, _add_outputs)


def schema_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Migrates a store to the newest version. Call it inside a transaction, so that it happens fully or not at all."""
    for version in range(schema_version(connection), len(migrations)):
        migrations[version](connection)
        connection.execute(f"PRAGMA user_version = {version + 1}")
    connection.execute(f"PRAGMA application_id = {APPLICATION}")


def is_foreign(connection: sqlite3.Connection) -> bool:
    """Whether the file is a database of another program: it is not empty and lacks some of our tables."""
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    if application == APPLICATION:
        return False
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    return bool(application or tables) and not tables >= TABLES.keys() - LATER_TABLES


def has_programs(connection: sqlite3.Connection) -> bool:
    """Whether the file has triggers, views or virtual tables, which SQLite would run by itself."""
    query = "SELECT count(*) FROM sqlite_schema WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%'"
    return bool(connection.execute(query).fetchone()[0])


# --- Times. -----------------------------------------------------------------------------------------------------------


Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)


def moment_to_text(moment: datetime) -> str:
    """A moment in UTC with microseconds; such texts sort as the moments do."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def text_to_moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


# --- Values, and a checksum for each row. -----------------------------------------------------------------------------
#
# SQLite has no checksums, so that a number that a failing disk has changed would go unnoticed.


class BadRow(ValueError):
    """A row that differs from what was written."""


#: What reading a crafted row may raise: it may have other types, other names, or deeply nested JSON.
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError, struct.error)


def checksum(values: Sequence[Any]) -> int:
    """The checksum of the values of a row, in the form in which they are read."""
    return crc32(repr(tuple(values)).encode("utf-8", "surrogatepass"))


def with_checksum(values: Sequence[Any]) -> tuple[Any, ...]:
    """A row with its checksum at the end."""
    return (*values, checksum(values))


def without_checksum(row: Sequence[Any]) -> Sequence[Any]:
    """The row without its checksum; raises BadRow if that is wrong."""
    values = row[:-1]
    if checksum(values) != row[-1]:
        raise BadRow(f"the row that begins with {row[0]!r} has a wrong checksum")
    return values


def storable_text(text: str) -> str:
    """The text with lone surrogates, as in names of files that are not UTF-8, escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def storable_real(number: float | None) -> float | None:
    """The number as SQLite can store it: NaN as NULL, and a negative zero as zero."""
    return None if number is None or number != number else float(number) + 0.0


def stored_real(stored: float | None) -> float:
    """The inverse of `storable_real`, for columns in which NULL means NaN."""
    return float("nan") if stored is None else stored


def figures_to_text(figures: Mapping[str, Any]) -> str:
    """A mapping as JSON; numpy's numbers and arrays become plain numbers and lists."""
    return json.dumps(dict(figures), default=_plain)


def figures_of(text: Any) -> dict[str, Any]:
    """The inverse of `figures_to_text`; raises BadRow if the text is not a mapping."""
    found = json.loads(text_of(text))
    if not isinstance(found, dict):
        raise BadRow(f"{text[:40]!r} is not a mapping")
    return found


def losses_of(text: Any) -> tuple[float, ...]:
    """The losses that are stored as JSON: one or more numbers."""
    found = json.loads(text_of(text))
    if not isinstance(found, list) or not found or not all(isinstance(one, int | float) for one in found):
        raise BadRow(f"{text[:40]!r} is not a list of losses")
    return tuple(float(loss) for loss in found)


def text_of(stored: Any) -> str:
    """The value, which has to be a text; SQLite does not enforce types."""
    if not isinstance(stored, str):
        raise BadRow(f"a {type(stored).__name__} where there should be a text")
    return stored


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} cannot be stored: use numbers, texts, lists and mappings of them")
