"""Schema: the tables of a store, and how a store of each older version becomes one of the next."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

#: "MSL1" in the header of the file: tells a store from any other database.
APPLICATION = 0x4D534C31

#: Every table with its columns in the order in which rows are written and saved from a damaged file.
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
}


def insertion(table: str, otherwise: str = "") -> str:
    """The statement that writes a whole row; `otherwise` is what to do about one that is there, such as `OR IGNORE`."""
    columns = TABLES[table]
    return f"INSERT {otherwise} INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def selection(table: str) -> str:
    """The beginning of a query for whole rows."""
    return f"SELECT {', '.join(TABLES[table])} FROM {table}"


Migration = Callable[[sqlite3.Connection], None]


def _create(connection: sqlite3.Connection) -> None:
    """Tables first, indexes after them, which is also how VACUUM lays a file out: the tables begin at known pages."""
    for statement in _FIRST_SCHEMA.split(";"):
        connection.execute(statement)


# Every table has a rowid, so that a damaged one can be read in pieces. Keys of evaluations are no foreign keys: an
# ask may outlive its evaluation, which is then made again.
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

#: The migration at place n turns a store of version n into one of version n + 1; version 0 is an empty file.
MIGRATIONS: tuple[Migration, ...] = (_create,)


def schema_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Brings a store to the newest version. Inside a transaction: it arrives there whole, or stays what it was."""
    for version in range(schema_version(connection), len(migrations)):
        migrations[version](connection)
        connection.execute(f"PRAGMA user_version = {version + 1}")
    connection.execute(f"PRAGMA application_id = {APPLICATION}")


def is_foreign(connection: sqlite3.Connection) -> bool:
    """Whether the file is someone else's database. A new file is nobody's yet; one with all our tables is ours."""
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    if application == APPLICATION:
        return False
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    return bool(application or tables) and not tables >= TABLES.keys()


def has_programs(connection: sqlite3.Connection) -> bool:
    """Whether the file brings something that SQLite would run by itself."""
    query = "SELECT count(*) FROM sqlite_schema WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%'"
    return bool(connection.execute(query).fetchone()[0])
