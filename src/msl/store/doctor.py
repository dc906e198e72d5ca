"""Find what is wrong with a store, and repair it as far as possible, as `msl doctor` does."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from msl.store.database import Database, Row, copy_database, is_on_network, journal_of
from msl.store.evaluation import row_to_query
from msl.store.evaluation_table import UPSERT, row_to_evaluation
from msl.store.outputs_table import row_to_outputs
from msl.store.run_table import RunTable, row_to_event, row_to_run
from msl.store.schema import LATER_TABLES, TABLES, Clock, insertion, migrate, selection, utc_now
from msl.store.store import DATABASE, Files, Store, no_store
from msl.store.store_error import StoreError, translated
from msl.store.stored_run import is_run_id, this_process

Kind = Literal[
    "damage", "problem", "folder", "disk", "network", "stale run", "lost evaluations", "orphan", "model", "leftover",
    "rebuilt",
]  # fmt: skip
Severity = Literal["error", "warning", "note"]

_MOST_LINES = 5
_LITTLE_SPACE = 50_000_000
_DAMAGED_COPIES = "store.damaged-*.sqlite"


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem or remark; `repaired` says that it has been fixed since."""

    kind: Kind
    severity: Severity
    message: str
    help: str = ""
    repaired: bool = False


def examine(folder: Path, *, clock: Clock = utc_now) -> list[Finding]:
    """Everything that is wrong or worth knowing. It changes nothing."""
    path = folder / DATABASE
    if not path.exists() and not journal_of(path).exists():
        raise no_store(folder)
    findings = _folder_findings(folder)
    try:
        with Store.open(folder, read_only=True, clock=clock) as store:
            findings += _damage(store.database) or _inconsistencies(store)
    except StoreError as error:
        findings.append(_error_to_finding(error))
    return [*findings, *_old_copies(folder)]


def repair(folder: Path, *, clock: Clock = utc_now) -> list[Finding]:
    """Repairs what it can; returns what was found, with what was repaired marked."""
    findings = examine(folder, clock=clock)
    before: list[Finding] = []
    if any(finding.kind == "damage" for finding in findings):
        before = [*_mark_repaired([one for one in findings if one.kind == "damage"], "damage"), _rebuild(folder, clock)]
        findings = examine(folder, clock=clock)
    if any(finding.kind == "stale run" for finding in findings):
        with Store.open(folder, clock=clock) as store:
            store.runs.mark_interrupted()
        findings = _mark_repaired(findings, "stale run")
    return [*before, *findings]


def _mark_repaired(findings: list[Finding], kind: Kind) -> list[Finding]:
    return [replace(one, help="", repaired=True) if one.kind == kind else one for one in findings]


# --- examining ---


def _damage(database: Database) -> list[Finding]:
    """The result of SQLite's integrity check; if it finds nothing, rows with a wrong checksum."""
    lines = [str(line) for (line,) in database.rows(f"PRAGMA integrity_check({_MOST_LINES})")]
    if lines == ["ok"]:
        lines = []
        for table in TABLES:
            bad = sum(not is_sound(table, row) for row in database.rows(selection(table)))
            if bad:
                lines.append(f"{bad} rows of the table {table} are not what was written")
    if not lines:
        return []
    message = f"the database {database.path} is damaged: {'; '.join(lines[:_MOST_LINES])}"
    return [Finding("damage", "error", message, "`msl doctor --repair` rebuilds it from what can be read")]


def _inconsistencies(store: Store) -> list[Finding]:
    """Runs without their process, queries without their evaluation, and files that do not fit the runs."""
    findings = [
        Finding(
            "stale run",
            "warning",
            f"the run `{run}` is stored as running, but its process is gone",
            "give its command again to continue it; `msl doctor --repair` marks it as interrupted",
        )
        for run in store.runs.stale()
    ]
    lost = store.database.rows(
        "SELECT run, count(DISTINCT key) FROM asks WHERE key IS NOT NULL AND key NOT IN (SELECT key FROM evaluations)"
        " GROUP BY run ORDER BY run"
    )
    findings += [
        Finding(
            "lost evaluations",
            "warning",
            f"{count} evaluations of the run `{run}` are gone",
            "a replay makes them again",
        )
        for run, count in lost
    ]
    findings += [
        Finding("orphan", "note", f"{file} belongs to no run ({file.stat().st_size:,} bytes)", _about_orphans(store))
        for file in store.files.orphans(store.runs.ids())
    ]
    return [*findings, *_model_findings(store)]


def _about_orphans(store: Store) -> str:
    if any(store.folder.glob(_DAMAGED_COPIES)):
        return "it may be of a run that was lost with the damaged database: `msl gc` removes it for good"
    return "`msl gc` removes it"


def _model_findings(store: Store) -> Iterator[Finding]:
    """Models of finished runs that are missing or have changed since they were saved."""
    for name in store.runs.ids():
        run = store.runs.get(name)
        if run.status == "finished" and run.result.get("best") is not None:
            damage = _model_damage(store.files, name)
            if damage is not None:
                help = "its command again trains it anew, and evaluates nothing twice"
                yield Finding("model", "error", f"the model of the run `{name}` {damage}", help)


def _model_damage(files: Files, run: str) -> str | None:
    paths = [files.model(run, suffix) for suffix in (".json", ".msl", ".skops")]
    if absent := [path.name for path in paths if not path.exists()]:
        return f"is not whole: {', '.join(absent)} is gone" if len(absent) < len(paths) else "is gone"
    try:
        digest = json.loads(paths[0].read_bytes())["sha256"]
        is_same = hashlib.sha256(paths[-1].read_bytes()).hexdigest() == digest
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return f"cannot be read: {paths[0]} is broken"
    return None if is_same else f"is not what was saved: {paths[-1]} has changed"


def _old_copies(folder: Path) -> list[Finding]:
    return [
        Finding(
            "leftover",
            "note",
            f"{file} is a damaged database from an earlier repair ({file.stat().st_size:,} bytes)",
            "remove it when the rebuilt store has all that you need",
        )
        for file in sorted(folder.glob(_DAMAGED_COPIES))
    ]


def _folder_findings(folder: Path) -> list[Finding]:
    findings = []
    if not os.access(folder, os.W_OK):
        message = f"{folder} cannot be written: runs can be read, but none started or continued"
        findings.append(Finding("folder", "warning", message, "allow writing there, or use another store"))
    if (free := shutil.disk_usage(folder).free) < _LITTLE_SPACE:
        message = f"the disk of {folder} is almost full: {free:,} bytes are left"
        findings.append(Finding("disk", "warning", message, "make room; `msl gc` says what it would free"))
    if is_on_network(folder):
        message = f"{folder} is on a network: the store works, but runs wait for each other"
        findings.append(Finding("network", "note", message, "use it from one machine at a time"))
    return findings


def _error_to_finding(error: StoreError) -> Finding:
    kind: Kind = "damage" if error.code == "MSL503" else "problem"
    return Finding(kind, "error", error.message, error.help)


# --- rebuilding ---


def _rebuild(folder: Path, clock: Clock) -> Finding:
    """Replaces a damaged database by a new one with all rows that can be read. The old one is kept under a dated name.

    Nothing is replaced before both the new database and the copy of the old one are complete.
    """
    path, rebuilt = folder / DATABASE, folder / "store.rebuilt.sqlite"
    try:
        recovered = recover(path, rebuilt)
        _refuse_while_running(rebuilt, clock)
        old = _unused_name(folder, f"store.damaged-{clock():%Y%m%d-%H%M%S}")
        with translated(folder):
            copy_database(path, old)
            for companion in (journal_of(path), path.with_name(path.name + "-shm")):
                companion.unlink(missing_ok=True)
            rebuilt.replace(path)
    finally:
        rebuilt.unlink(missing_ok=True)
    return Finding("rebuilt", "note", _recovery_message(recovered, old), repaired=True)


def _refuse_while_running(rebuilt: Path, clock: Clock) -> None:
    """A process that has the damaged file open would write to a file that is no longer the store."""
    with closing(Database(rebuilt, read_only=True)) as database:
        for run in RunTable(database, clock).all():
            if run.status == "running" and run.process != this_process():
                raise StoreError(
                    "MSL511",
                    f"the run `{run.id}` is going on in process {run.process.pid} on {run.process.host}",
                    "end it (Ctrl-C), then repair the store and give its command again",
                )


def _unused_name(folder: Path, stem: str) -> Path:
    names = chain([stem], (f"{stem}-{number}" for number in count(2)))
    return next(path for name in names if not (path := folder / f"{name}.sqlite").exists())


def _recovery_message(recovered: RecoveredRows, old: Path) -> str:
    words = {"asks": "queries"}  # where the name of a table is not the user's word
    tables = ("runs", "evaluations", "asks", "events")
    rows = ", ".join(f"{recovered.rows[table]:,} {words.get(table, table)}" for table in tables)
    rejected = f"; {recovered.rejected:,} rows were not what was written and are left out" if recovered.rejected else ""
    return f"rebuilt with {rows}{rejected}; the damaged file is kept as {old}"


# --- recovering: every row that can be read and has its checksum is copied to a new database ---

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
                return hashlib.sha256(row[1].encode()).hexdigest() == str(row[0])
            case "runs":
                row_to_run(row)
            case "asks":
                row_to_query(row)
            case "events":
                row_to_event(row)
            case "outputs":
                from msl.evaluate.kept_outputs import check_packed  # only here: it takes a while to import

                packed = row_to_outputs(row)
                if packed is not None:
                    check_packed(packed)
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
            if table in LATER_TABLES and _lacks(connection, table):
                continue
            statement = UPSERT if table == "evaluations" else insertion(table, "OR IGNORE")
            reader = _Reader(connection, table)
            for row in reader.rows():
                if is_sound(table, row):
                    target.execute(statement, row)
                else:
                    recovered.rejected += 1
            complete = complete and not reader.met_damage
    return complete


def _lacks(connection: sqlite3.Connection, table: str) -> bool:
    """Whether a database was made before there was this table; False if that cannot be read."""
    try:
        return not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (table,)).fetchall()
    except sqlite3.Error:
        return False


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
