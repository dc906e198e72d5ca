"""Many processes and threads on one store at once: nothing is lost, nothing is mixed up."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from run_examples import asked, evaluation, is_whole, order

from msl.store import database
from msl.store.store import DATABASE, Store
from msl.store.store_error import StoreError

WRITER = Path(__file__).parent / "batch_writer.py"


@pytest.mark.slow
def test_eight_writers_begin_a_store_and_fill_it_together(tmp_path: Path) -> None:
    folder, batches, size = tmp_path / ".msl", 25, 4
    writers = [
        subprocess.Popen(
            [sys.executable, str(WRITER), str(folder), f"w{number}", str(batches), str(size)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for number in range(8)
    ]
    complaints = [writer.communicate()[1].decode() for writer in writers]
    assert complaints == [""] * 8
    assert [writer.returncode for writer in writers] == [0] * 8
    with Store.open(folder) as store:
        assert len(store.evaluations) == 8 * batches * size
        assert sorted(run.name for run in store.runs.all()) == [f"w{number}" for number in range(8)]
        for run in store.runs.all():
            assert run.status == "finished"
            assert store.runs.queries(run.id) == [asked(position, run.name, size) for position in range(batches * size)]
            assert len(store.runs.events(run.id)) == batches
            assert store.evaluations.made_by(run.id) == batches * size
    assert is_whole(folder / DATABASE)


def test_a_reader_is_not_held_up_by_a_writer(store: Store) -> None:
    store.evaluations.write([evaluation(1)])
    with (
        store.database.transaction() as connection,
        Store.open(store.folder, read_only=True, patience=0.0) as reader,
    ):
        connection.execute("DELETE FROM evaluations")
        assert len(reader.evaluations) == 1
        assert len(store.evaluations) == 0


def test_a_store_that_stays_locked_is_a_problem_in_words(store: Store) -> None:
    with (
        store.database.transaction(),
        Store.open(store.folder, patience=0.05) as other,
        pytest.raises(StoreError, match=r"keeps .* locked") as caught,
    ):
        other.evaluations.write([evaluation(1)])
    assert caught.value.code == "MSL505"
    with Store.open(store.folder, patience=0.05) as other:
        other.evaluations.write([evaluation(1)])


def test_a_writer_waits_for_another(store: Store) -> None:
    written = threading.Event()

    def write() -> None:
        with Store.open(store.folder) as other:
            other.evaluations.write([evaluation(1)])
        written.set()

    with store.database.transaction():
        thread = threading.Thread(target=write)
        thread.start()
        assert not written.wait(0.2)
    thread.join()
    assert len(store.evaluations) == 1


def test_threads_take_turns(store: Store) -> None:
    run = store.runs.start(order()).id
    threads = [
        threading.Thread(target=lambda n=number: [store.record(run, [evaluation(i, n)]) for i in range(20)])
        for number in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.evaluations) == 80


def test_transactions_do_not_nest(store: Store) -> None:
    with store.database.transaction(), pytest.raises(RuntimeError, match="do not nest"):
        store.evaluations.write([evaluation(1)])


def test_an_exact_value_survives_a_late_bound_from_another_process(store: Store) -> None:
    exact = replace(evaluation(7), bound=False, cutoff=None, losses=(0.3,))
    with Store.open(store.folder) as other:
        store.evaluations.write([evaluation(7)])
        other.evaluations.write([exact])
        store.evaluations.write([evaluation(7)])
    assert store.evaluations.read([exact.key])[exact.key].losses == (0.3,)


@pytest.mark.skipif(sys.platform == "win32", reason="the other ways of locking are those of POSIX")
def test_without_shared_memory_the_store_works_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite's locks by files have no shared memory, as some network folders have none."""
    connect = sqlite3.connect

    def connect_with_file_locks(place: str, **options: object) -> sqlite3.Connection:
        return connect(f"{place}&vfs=unix-dotfile", **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(sqlite3, "connect", connect_with_file_locks)
    with Store.open(tmp_path) as store:
        assert "does not allow write-ahead logging" in store.note
        store.evaluations.write([evaluation(1)])
        assert not (tmp_path / f"{DATABASE}-wal").exists()
    with Store.open(tmp_path) as store:
        assert len(store.evaluations) == 1


def test_a_network_folder_is_not_trusted_with_shared_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(tmp_path) as store:
        assert store.note == ""
        store.evaluations.write([evaluation(1)])
    monkeypatch.setattr(database, "is_on_network", lambda folder: True)
    with Store.open(tmp_path) as store:
        assert "it is on a network" in store.note
        store.evaluations.write([evaluation(2)])
        assert len(store.evaluations) == 2
    with closing(sqlite3.connect(tmp_path / DATABASE)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
