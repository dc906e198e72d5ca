"""msl gc: what is removed is told, and what is kept goes on working."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_store import Ran

from msl.store.run_table import run_checksum
from msl.store.store import Store

Verb = Callable[..., Any]


@pytest.fixture
def folder(ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the store, in the current folder, that may be changed."""
    shutil.copytree(ran.store, tmp_path / ".msl")
    monkeypatch.chdir(tmp_path)
    return tmp_path / ".msl"


def content(folder: Path) -> tuple[list[str], int, list[str]]:
    with Store.open(folder, read_only=True) as store:
        return store.runs.ids(), len(store.evaluations), [file.name for file in store.files.everything()]


def test_a_healthy_store_has_nothing_to_remove(msl: Verb, folder: Path, ran: Ran) -> None:
    before = content(folder)
    shown = msl("gc")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out == f"nothing to remove; {len(ran.runs)} runs\n"
    assert content(folder) == before


def test_a_dry_run_says_what_then_goes_and_removes_nothing(msl: Verb, folder: Path) -> None:
    before = content(folder)
    said = msl("gc", "--keep", "3", "--dry-run")
    assert said.code == 0
    assert content(folder) == before
    done = msl("gc", "--keep", "3")
    assert done.out == said.out.replace("would remove", "removed").replace("would free", "freed")
    runs, evaluations, files = content(folder)
    assert runs == before[0][:3]
    assert evaluations < before[1]
    assert len(files) == 15
    assert all(name.partition(".")[0] in runs for name in files)
    assert all(f"removed run {run}" in done.out for run in before[0][3:])


@pytest.mark.slow
def test_what_is_kept_still_predicts_and_shows(msl: Verb, folder: Path, ran: Ran) -> None:
    msl("gc", "--keep", "2")
    assert msl("predict", "@1", str(ran.folder / "wine.csv")).code == 0
    record = json.loads(msl("show", "@1", "--json").out)
    assert record["run"] == ran.runs["front", 0]
    with Store.open(folder, read_only=True) as store:
        keys = [asked.key for asked in store.runs.queries(record["run"]) if asked.key]
        assert set(store.evaluations.read(keys)) == set(keys)
    assert msl("doctor").out.endswith("is in order\n")


def test_runs_beyond_an_age_go(msl: Verb, folder: Path, ran: Ran) -> None:
    with Store.open(folder) as store:
        connection = store.database._connection
        for run in (ran.runs["lean", 0], ran.runs["wide", 1]):
            connection.execute("UPDATE runs SET started = '2020-01-01T00:00:00.000000Z' WHERE id = ?", (run,))
            (row,) = connection.execute("SELECT * FROM runs WHERE id = ?", (run,))
            connection.execute("UPDATE runs SET checksum = ? WHERE id = ?", (run_checksum(row), run))
    assert msl("gc", "--older", "30d").code == 0
    runs, _, _ = content(folder)
    assert set(runs) == set(ran.runs.values()) - {ran.runs["lean", 0], ran.runs["wide", 1]}


def test_files_of_no_run_go_without_being_asked_for(msl: Verb, folder: Path) -> None:
    stray = folder / "models" / "20200101-000000-nobod.skops"
    stray.write_bytes(b"x" * 100)
    shown = msl("gc")
    assert f"removed {Path('.msl/models') / stray.name}" in shown.out
    assert "freed 100 bytes" in shown.out
    assert not stray.exists()


def test_a_run_that_is_going_on_is_never_removed(msl: Verb, folder: Path, ran: Ran) -> None:
    run = ran.runs["lean", 0]
    with Store.open(folder) as store:
        store.runs.claim(run)
        assert store.runs.get(run).process.pid == os.getpid()
    assert msl("gc", "--keep", "0").code == 0
    runs, _, files = content(folder)
    assert runs == [run]
    assert {name.partition(".")[0] for name in files} == {run}


@pytest.mark.parametrize("age", ["soon", "30", "-1d", "1y", "99999999999999d"])
def test_what_is_no_age_is_told(msl: Verb, folder: Path, age: str) -> None:
    before = content(folder)
    shown = msl("gc", f"--older={age}")
    assert (shown.code, shown.out) == (2, "")
    assert "30d" in shown.err
    assert content(folder) == before
