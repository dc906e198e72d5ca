"""Stores that are really broken, through the command: each is told in words, and repaired where that can be."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from run_store import Ran

from msl.store.store import DATABASE, Store

Verb = Callable[..., Any]
PAGE = 4096
READERS = (["log"], ["show", "@"], ["compare", "@", "@1"], ["diff", "@", "@1"], ["predict", "@", "x.csv"])


@pytest.fixture
def database(ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The database of a copy of the store, in the current folder, to be broken."""
    shutil.copytree(ran.store, tmp_path / ".msl")
    monkeypatch.chdir(tmp_path)
    return tmp_path / ".msl" / DATABASE


def test_a_healthy_store_is_in_order(msl: Verb, database: Path) -> None:
    shown = msl("doctor")
    assert (shown.code, shown.out, shown.err) == (0, ".msl is in order\n", "")
    assert json.loads(msl("doctor", "--json").out) == []
    assert msl("doctor", "--repair").code == 0


# --- MSL503: damage ---


def no_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"no database at all")


def zeroed_start(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\0" * PAGE)


def cut_short(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 + 100)


def garbled(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // PAGE // 2 * PAGE)
        file.write(random.Random(4).randbytes(2 * PAGE))


@pytest.mark.parametrize("damage", [no_header, zeroed_start, cut_short, garbled])
def test_damage_is_found_told_and_repaired(msl: Verb, database: Path, damage: Callable[[Path], None]) -> None:
    damage(database)
    found = msl("doctor")
    assert found.code == 1
    assert "damaged" in found.out
    assert "msl doctor --repair" in found.out
    assert not list(database.parent.glob("store.damaged-*.sqlite"))
    mended = msl("doctor", "--repair")
    assert mended.code == 0, mended.out
    assert "repaired: the database" in mended.out
    assert "rebuilt with" in mended.out
    assert len(list(database.parent.glob("store.damaged-*.sqlite"))) == 1
    again = msl("doctor")
    assert again.code == 0
    assert "damaged database from an earlier repair" in again.out
    assert msl("log").code == 0


@pytest.mark.parametrize("arguments", READERS, ids=lambda arguments: arguments[0])
def test_verbs_that_meet_damage_name_the_repair(msl: Verb, database: Path, arguments: list[str]) -> None:
    no_header(database)
    shown = msl(*arguments)
    assert (shown.code, shown.out) == (2, "")
    assert "is damaged" in shown.err
    assert "msl doctor --repair" in shown.err
    assert "Traceback" not in shown.err


def test_a_run_on_a_damaged_store_names_the_repair_and_works_after_it(msl: Verb, database: Path, ran: Ran) -> None:
    no_header(database)
    command = ["run", str(ran.folder / "lean.msl"), str(ran.folder / "wine.csv"), "--store", ".msl", "--on"]
    shown = msl(*command, "inprocess", "--quiet")
    assert (shown.code, shown.out) == (2, "")
    assert "msl doctor --repair" in shown.err
    assert msl("doctor", "--repair").code == 0
    done = msl(*command, "inprocess", "--json")
    assert done.code == 0
    assert json.loads(done.out)["reused"] == 2  # what was evaluated before has been saved


def test_a_changed_number_is_damage(msl: Verb, database: Path) -> None:
    """SQLite sees nothing wrong with it; the checksum of the row does."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE evaluations SET loss = loss + 1 WHERE rowid = 3")
    shown = msl("doctor")
    assert shown.code == 1
    assert "1 rows of the table evaluations are not what was written" in shown.out
    assert msl("doctor", "--repair").code == 0


def test_a_lost_database_with_its_journal_is_damage(msl: Verb, database: Path) -> None:
    database.write_bytes(b"")
    database.with_name(f"{DATABASE}-wal").write_bytes(b"x" * 100)
    assert "its journal is still there" in msl("log").err
    assert msl("doctor").code == 1
    assert msl("doctor", "--repair").code == 0
    assert "no runs yet" in msl("log").err


# --- the other problems ---


def test_a_store_of_a_newer_version_is_left_alone(msl: Verb, database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = database.read_bytes()
    for arguments in READERS:
        shown = msl(*arguments)
        assert (shown.code, shown.out) == (2, "")
        assert "newer version of MSL" in shown.err
        assert "pip install -U msl-lang" in shown.err
    shown = msl("doctor", "--repair")
    assert shown.code == 1
    assert "newer version of MSL" in shown.out
    assert database.read_bytes() == before


def test_a_database_of_someone_else_is_left_alone(msl: Verb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".msl").mkdir()
    with closing(sqlite3.connect(f".msl/{DATABASE}")) as connection, connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    before = Path(f".msl/{DATABASE}").read_bytes()
    assert "not one of MSL" in msl("log").err
    shown = msl("doctor", "--repair")
    assert shown.code == 1
    assert "not one of MSL" in shown.out
    assert Path(f".msl/{DATABASE}").read_bytes() == before


def test_a_store_that_another_process_keeps_locked_is_told(
    msl: Verb, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(Store.open.__func__.__kwdefaults__, "patience", 0.2)  # type: ignore[attr-defined]
    with closing(sqlite3.connect(database, isolation_level=None)) as owner:
        owner.execute("BEGIN IMMEDIATE")
        shown = msl("gc", "--keep", "1")
        assert msl("log").code == 0  # readers do not wait for a writer
        owner.execute("ROLLBACK")
    assert (shown.code, shown.out) == (2, "")
    assert "another process keeps" in shown.err
    assert "msl log" in shown.err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
@pytest.mark.parametrize("verb", ["gc", "run"])
def test_a_disk_that_is_full_is_told_and_nothing_is_lost(database: Path, ran: Ran, verb: str) -> None:
    with Store.open(database.parent, read_only=True) as store:
        before = store.runs.ids(), len(store.evaluations)
    spec, table = str(ran.folder / "wide.msl"), str(ran.folder / "wine.csv")
    wanted = {
        "gc": ["gc", "--keep", "0"],
        "run": ["run", spec, table, "--store", ".msl", "--on", "inprocess", "--quiet", "--seed", "77"],
    }
    program = "from msl.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, *wanted[verb]],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
    )
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "could not grow" in done.stderr
    assert "make room" in done.stderr
    assert "Traceback" not in done.stderr
    with Store.open(database.parent) as store:
        assert store.runs.ids()[-len(before[0]) :] == before[0]
        assert len(store.evaluations) >= before[1]


def test_a_folder_in_the_place_of_the_database_is_told(
    msl: Verb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(f".msl/{DATABASE}").mkdir(parents=True)
    shown = msl("log")
    assert shown.code == 2
    assert "Traceback" not in shown.err
    shown = msl("doctor", "--repair")
    assert shown.code == 1
    assert Path(f".msl/{DATABASE}").is_dir()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="for root, modes forbid nothing")
def test_a_folder_that_may_not_be_written_can_be_read(msl: Verb, database: Path) -> None:
    for path in (database, database.parent):
        path.chmod(path.stat().st_mode & 0o555)
    try:
        assert msl("log").code == 0
        shown = msl("gc", "--keep", "1")
        assert shown.code == 2
        assert "cannot be written" in shown.err
        shown = msl("doctor")
        assert shown.code == 0
        assert "cannot be written" in shown.out
    finally:
        database.parent.chmod(0o755)
        database.chmod(0o644)


def test_a_run_whose_process_is_gone_is_found_and_marked(msl: Verb, database: Path, ran: Ran) -> None:
    run = ran.runs["lean", 0]
    with Store.open(database.parent) as store:
        store.database._connection.execute(
            "UPDATE runs SET status = 'running', ended = NULL, pid = 999999999 WHERE id = ?", (run,)
        )
    shown = msl("doctor")
    assert shown.code == 0  # nothing is broken: its command continues it
    assert f"warning: the run `{run}` is stored as running" in shown.out
    shown = msl("doctor", "--repair")
    assert "repaired: the run" in shown.out
    assert "is in order" in msl("doctor").out


def test_files_of_no_run_and_lost_evaluations_are_noted(msl: Verb, database: Path) -> None:
    (database.parent / "models" / "20200101-000000-nobod.skops").write_bytes(b"x")
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("DELETE FROM evaluations WHERE rowid = 1")
    findings = json.loads(msl("doctor", "--json").out)
    assert {finding["kind"] for finding in findings} == {"orphan", "lost evaluations"}
    assert msl("doctor").code == 0


def test_without_a_store_there_is_nothing_to_examine(
    msl: Verb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for verb in ("doctor", "gc"):
        shown = msl(verb)
        assert (shown.code, shown.out) == (2, "")
        assert "there is no store in .msl" in shown.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda files: [file.unlink() for file in files.values()], "is gone"),
        (lambda files: files[".skops"].unlink(), "is not whole"),
        (lambda files: files[".json"].write_text("{", encoding="utf-8"), "cannot be read"),
        (lambda files: files[".skops"].write_bytes(b"other"), "is not what was saved"),
    ],
)
def test_models_that_are_lost_or_changed_are_found(
    msl: Verb, database: Path, spoil: Callable[[dict[str, Path]], Any], words: str
) -> None:
    with Store.open(database.parent, read_only=True) as store:
        run = store.runs.ids()[-1]
        spoil({suffix: store.files.model(run, suffix) for suffix in (".skops", ".json", ".msl")})
    shown = msl("doctor")
    assert shown.code == 1
    assert f"the model of the run `{run}` {words}" in shown.out + shown.err
    assert "its command again trains it anew" in shown.out + shown.err


def test_what_is_left_of_lost_runs_is_not_called_rubbish(msl: Verb, database: Path) -> None:
    os.truncate(database, PAGE // 2)
    msl("doctor", "--repair")
    shown = msl("doctor")
    assert "belongs to no run" in shown.out + shown.err
    assert "of a run that was lost with the damaged database" in shown.out + shown.err
