"""Models and reports are written whole; garbage is what no kept run needs; a process is alive or it is not."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from run_examples import asked, evaluation, is_whole, order

from msl.store import stored_run
from msl.store.database import file_system_of
from msl.store.gc import collect, old_runs
from msl.store.store import Store, run_of_file, store_folder, write_atomically
from msl.store.store_error import MEANINGS, StoreError
from msl.store.stored_run import Event, Process, is_alive, this_process

RUN, OTHER = "20251116-025301-lusab", "20251116-025301-lusaf"

# --- files ---


def test_a_store_lies_beside_its_spec_and_out_of_version_control(tmp_path: Path) -> None:
    folder = store_folder(tmp_path / "psms.msl")
    assert folder == tmp_path / ".msl"
    with Store.open(folder):
        pass
    assert sorted(path.name for path in folder.iterdir()) == [".gitignore", "models", "reports", "store.sqlite"]
    assert (folder / ".gitignore").read_text().endswith("*\n")


def test_a_file_is_written_whole_or_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.html"
    write_atomically(path, "old, with an é")
    assert path.read_text(encoding="utf-8") == "old, with an é"

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StoreError) as caught:
        write_atomically(path, b"new")
    assert caught.value.code == "MSL502"
    assert [file.name for file in tmp_path.iterdir()] == ["run.html"]
    assert path.read_text(encoding="utf-8") == "old, with an é"


def test_files_are_named_after_their_run(store: Store) -> None:
    files = store.files
    write_atomically(files.model(RUN), b"model")
    write_atomically(files.model(RUN, ".member1.skops"), b"model")
    write_atomically(files.report(RUN), "report")
    write_atomically(files.report(OTHER), "report")
    assert [file.name for file in files.of_run(RUN)] == [f"{RUN}{end}" for end in (".member1.skops", ".skops", ".html")]
    assert {run_of_file(file) for file in files.everything()} == {RUN, OTHER}


def test_what_a_dead_process_left_half_written_is_an_orphan(store: Store) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        part = store.files.models / f"{RUN}.skops.{other.pid}.part"
        part.write_bytes(b"half")
        assert store.files.orphans([]) == []
        other.communicate(b"\n")
    assert store.files.orphans(["run"]) == [part]


def test_the_next_one_to_write_a_file_clears_what_a_dead_process_left_of_it(store: Store) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        alive = store.files.models / f"{RUN}.skops.{other.pid}.part"
        alive.write_bytes(b"half")
        with subprocess.Popen([sys.executable, "-c", ""]) as gone:
            pass
        dead = store.files.models / f"{RUN}.skops.{gone.pid}.part"
        dead.write_bytes(b"half")
        write_atomically(store.files.model(RUN), b"whole")
        assert store.files.everything() == [store.files.model(RUN), alive]
        other.communicate(b"\n")


# --- garbage ---


def fill(store: Store, name: str, positions: range) -> str:
    run = store.runs.start(order(name)).id
    store.record(run, map(evaluation, positions), list(map(asked, positions)), [Event("iteration", {}, 0)])
    write_atomically(store.files.model(run), b"m" * 1000)
    write_atomically(store.files.report(run), "r" * 500)
    store.runs.end(run, "finished")
    return run


def content(store: Store) -> list[object]:
    tables = ("runs", "asks", "events", "sources", "texts", "evaluations")
    return [*(store.database.rows(f"SELECT * FROM {table}") for table in tables), store.files.everything()]


def test_nothing_that_a_run_needs_is_garbage(store: Store) -> None:
    fill(store, "psms", range(10))
    before = content(store)
    garbage = collect(store)
    assert (garbage.runs, garbage.evaluations, garbage.files, garbage.bytes) == ((), 0, (), 0)
    assert content(store) == before


def test_dropping_a_run_drops_what_only_it_needs(store: Store) -> None:
    old, new = fill(store, "psms", range(30)), fill(store, "kms", range(20, 50))
    store.evaluations.write([evaluation(99)])
    stray = store.files.report("20200101-000000-nobod")
    write_atomically(stray, "report")
    before, bytes_before = content(store), store.database.size()

    garbage = collect(store, [old], dry_run=True)
    assert content(store) == before

    assert collect(store, [old]) == garbage
    assert garbage.runs == (old,)
    assert garbage.evaluations == 20 + 1
    assert set(garbage.files) == {store.files.model(old), store.files.report(old), stray}
    assert garbage.file_bytes == 1000 + 500 + 6
    assert garbage.database_bytes > 21 * len(evaluation(1).key)
    assert store.runs.ids() == [new]
    assert [one.key for one in store.runs.queries(new)] == [evaluation(number).key for number in range(20, 50)]
    assert len(store.evaluations.read(evaluation(number).key for number in range(20, 50))) == 30
    assert len(store.evaluations) == 30
    assert store.runs.sources(new) == order("kms").sources
    assert store.database.rows("SELECT count(*) FROM texts") == [(2,)]
    assert store.database.size() < bytes_before
    assert is_whole(store.database.path)


def test_an_evaluation_whose_run_was_killed_before_it_was_told_is_kept(store: Store) -> None:
    run = store.runs.start(order()).id
    store.evaluations.write([evaluation(1)], run)
    assert collect(store).evaluations == 0


def test_a_run_that_is_going_on_is_never_dropped(store: Store) -> None:
    run = store.runs.start(order()).id
    with pytest.raises(StoreError, match="is going on"):
        collect(store, [run])
    assert old_runs(store.runs.all(), keep=0) == []
    assert store.runs.ids() == [run]


def test_old_runs_are_chosen_by_number_and_by_age(store: Store) -> None:
    first, second, third = (fill(store, "psms", range(3)) for _ in range(3))
    runs = store.runs.all()
    assert old_runs(runs) == []
    assert old_runs(runs, keep=1) == [second, first]
    assert old_runs(runs, before=store.runs.get(second).started) == [first]
    assert old_runs(runs, keep=2, before=runs[0].started + timedelta(seconds=1)) == [third, second, first]


# --- processes and folders ---


def test_this_process_is_alive_and_its_number_may_come_again() -> None:
    assert is_alive(this_process()) is True
    assert is_alive(replace(this_process(), born="another boot:1")) is False
    assert is_alive(Process("elsewhere.example", 1)) is None


@pytest.mark.parametrize("with_proc", [True, False])
def test_a_killed_process_is_gone(with_proc: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        if not with_proc:
            monkeypatch.setattr(stored_run, "_PROC", tmp_path)
        born = stored_run._born(other.pid)
        assert (born is not None) == (with_proc and Path("/proc").is_dir())
        known = Process(socket.gethostname(), other.pid, born or "")
        assert is_alive(known) is True
        other.send_signal(signal.SIGKILL)
        if not born:
            other.wait()  # without /proc, a process counts until its parent has taken notice
        else:
            os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)  # dead, but not yet buried
        assert is_alive(known) is False
    finally:
        with suppress(ProcessLookupError):
            other.kill()
        other.communicate()


MOUNTS = [
    r"22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw",
    r"30 22 0:40 / /home/team rw - nfs4 server:/team rw",
    r"31 30 0:41 / /home/team/my\040disk rw - ext4 /dev/sdb rw",
    r"32 22 0:42 / /mnt/covered rw - nfs server:/x rw",
    r"33 22 0:43 / /mnt/covered rw - tmpfs tmpfs rw",
    "nonsense",
]


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/work", "ext4"),
        ("/home/team", "nfs4"),
        ("/home/team/a/b", "nfs4"),
        ("/home/teams", "ext4"),
        ("/home/team/my disk/a", "ext4"),
        ("/mnt/covered", "tmpfs"),
    ],
)
def test_a_folder_is_where_its_deepest_mount_is(folder: str, kind: str) -> None:
    assert file_system_of(Path(folder), MOUNTS) == kind


def test_every_code_has_a_meaning_and_nothing_else_is_a_code() -> None:
    assert list(MEANINGS) == [f"MSL{number}" for number in range(501, 501 + len(MEANINGS))]
    assert str(StoreError("MSL502", "full", "make room")) == "error[MSL502]: full\nhelp: make room"
    with pytest.raises(KeyError):
        StoreError("MSL999", "", "")
