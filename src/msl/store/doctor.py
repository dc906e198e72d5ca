"""Find what is wrong with a store, and repair it as far as possible, as `msl doctor` does."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import Literal

from msl.store.database import Database, copy_database, is_on_network, journal_of
from msl.store.recover import RecoveredRows, is_sound, recover
from msl.store.run_table import RunTable
from msl.store.schema import TABLES, Clock, selection, utc_now
from msl.store.store import DATABASE, Files, Store, no_store
from msl.store.store_error import StoreError, translated
from msl.store.stored_run import this_process

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
