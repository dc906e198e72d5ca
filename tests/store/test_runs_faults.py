"""What the world does to a store: processes killed at any moment, full disks, folders that may not be written."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest
from run_examples import asked, evaluation, is_whole, order

from msl.store.doctor import examine, repair
from msl.store.store import DATABASE, Store, write_atomically
from msl.store.store_error import StoreError

HERE = Path(__file__).parent
SIZE = 5  # evaluations a batch
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX")


# --- kill -9 ---


def start_writer(folder: Path, name: str, batches: int = 10_000) -> subprocess.Popen[str]:
    command = [sys.executable, str(HERE / "batch_writer.py"), str(folder), name, str(batches), str(SIZE)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def kill(process: subprocess.Popen[str]) -> list[str]:
    """Ends a process as a loss of power would, and gives what it had said until then."""
    process.send_signal(signal.SIGKILL)
    told, _ = process.communicate()
    return told.split("\n")[:-1]


@posix
def test_a_killed_writer_loses_at_most_the_batch_in_flight(tmp_path: Path) -> None:
    folder, chance = tmp_path / ".msl", random.Random(20)
    for number in range(12):
        writer = start_writer(folder, f"w{number}")
        assert writer.stdout is not None
        _, run = writer.stdout.readline().split()
        said = [writer.stdout.readline() for _ in range(chance.randrange(12))]
        time.sleep(chance.random() * 0.004)
        said += kill(writer)
        assert is_whole(folder / DATABASE)
        with Store.open(folder) as store:
            assert store.runs.get(run).status == "interrupted"
            asks = store.runs.queries(run)
            stored = len(asks) // SIZE
            assert len(said) <= stored <= len(said) + 1
            assert asks == [asked(position, f"w{number}", SIZE) for position in range(stored * SIZE)]
            assert len(store.runs.events(run)) == stored
            assert store.evaluations.made_by(run) == stored * SIZE
            keys = [one.key for one in asks if one.key]
            assert len(store.evaluations.read(keys)) == len(keys)


@posix
def test_a_store_whose_maker_was_killed_can_be_used(tmp_path: Path) -> None:
    chance = random.Random(21)
    for number in range(10):
        folder = tmp_path / str(number)
        writer = start_writer(folder, "w")
        while not folder.exists() and writer.poll() is None:
            time.sleep(0.0005)
        time.sleep(chance.random() * 0.03)
        kill(writer)
        with Store.open(folder) as store:
            store.record(store.runs.start(order()).id, [evaluation(1)], [asked(1)])
        assert is_whole(folder / DATABASE)


@posix
def test_a_writer_goes_on_while_others_are_killed(tmp_path: Path) -> None:
    folder, chance = tmp_path / ".msl", random.Random(22)
    with Store.open(folder) as store:
        run = store.runs.start(order()).id
        for round_ in range(4):
            victims = [start_writer(folder, f"v{round_}{number}") for number in range(2)]
            for victim in victims:
                assert victim.stdout is not None
                victim.stdout.readline()
            for batch in range(round_ * 20, round_ * 20 + 20):
                record_batches(store, run, [batch])
                if batch % 20 == chance.randrange(4, 15) and victims:
                    kill(victims.pop())
            for victim in victims:
                kill(victim)
        assert store.runs.queries(run) == [asked(position) for position in range(80 * SIZE)]
    assert is_whole(folder / DATABASE)


@posix
def test_a_repair_that_is_killed_can_be_done_again(tmp_path: Path) -> None:
    """At every moment the damaged file or the rebuilt one is there, with all that could be read."""
    folder, chance = tmp_path / ".msl", random.Random(23)
    with Store.open(folder) as store:
        store.evaluations.write(evaluation(number) for number in range(600))
    healthy = (folder / DATABASE).read_bytes()
    script = (
        "import sys; from pathlib import Path; from msl.store.doctor import repair;"
        " print('ready', flush=True); repair(Path(sys.argv[1]))"
    )
    for _ in range(4):
        (folder / DATABASE).write_bytes(b"\0" * 4096 + healthy[4096:])
        doctor = subprocess.Popen([sys.executable, "-c", script, str(folder)], stdout=subprocess.PIPE, text=True)
        assert doctor.stdout is not None
        doctor.stdout.readline()
        time.sleep(chance.random() * 0.3)
        kill(doctor)
        assert (folder / DATABASE).stat().st_size > 100_000
        repair(folder)
        with Store.open(folder) as store:
            assert len(store.evaluations) == 600


# --- full disks ---


@posix
def test_when_files_may_grow_no_more_all_that_was_stored_is_safe(tmp_path: Path) -> None:
    """Every place in the life of a store where a write can fail, by limits on the size of files in small steps."""
    command = [sys.executable, str(HERE / "limited_writer.py"), str(tmp_path), "0", "480000", "12007"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    told = [json.loads(line) for line in lines]
    assert len(told) == 40
    for one in told:
        assert one["whole"], one
        assert one["found"] == one["stored"] * SIZE, one
        assert one["code"] == ("MSL502" if one["stored"] < 8 else ""), one
    assert told[0]["stored"] == 0
    assert told[-1]["stored"] == 8
    assert len({one["stored"] for one in told}) > 5


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if not mount(disk, "size=1m", "-t", "tmpfs", "tmpfs"):
        pytest.skip("only root may mount a file system")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def mount(disk: Path, options: str, *more: str) -> bool:
    command = shutil.which("mount")
    if command is None or os.name != "posix" or os.geteuid() != 0:
        return False
    return subprocess.run([command, "-o", options, *more, str(disk)], capture_output=True).returncode == 0


def fill_up(store: Store, run: str, first: int = 0) -> int:
    """Writes batches until the disk is full; the number of the one that no longer fitted."""
    batches = count(first)
    with pytest.raises(StoreError, match="the disk is full") as caught:
        record_batches(store, run, batches)
    assert caught.value.code == "MSL502"
    assert "msl gc" in caught.value.help
    return next(batches) - 1


def record_batches(store: Store, run: str, batches: Iterable[int]) -> None:
    for batch in batches:
        positions = range(batch * SIZE, batch * SIZE + SIZE)
        store.record(run, map(evaluation, positions), list(map(asked, positions)))


def test_a_full_disk_is_a_problem_in_words_and_work_goes_on_when_there_is_room(small_disk: Path) -> None:
    with Store.open(small_disk / ".msl") as store:
        run = store.runs.start(order()).id
        stored = fill_up(store, run)
        assert store.runs.queries(run) == [asked(position) for position in range(stored * SIZE)]
        with pytest.raises(StoreError) as caught:
            write_atomically(store.files.report(run), "x" * 2_000_000)
        assert caught.value.code == "MSL502"
        assert store.files.everything() == []
        with Store.open(small_disk / ".msl", read_only=True) as reader:
            assert len(reader.evaluations) == stored * SIZE

        assert mount(small_disk, "remount,size=3m")
        assert fill_up(store, run, stored) > stored
    assert is_whole(small_disk / ".msl" / DATABASE)


def test_a_store_on_a_full_disk_can_be_left_and_opened_again(small_disk: Path) -> None:
    folder = small_disk / ".msl"
    with Store.open(folder) as store:
        stored = fill_up(store, store.runs.start(order()).id)
    with suppress(OSError):
        (small_disk / "ballast").write_bytes(b"x" * 1_000_000)
    assert shutil.disk_usage(small_disk).free == 0
    assert [finding.kind for finding in examine(folder)] == ["disk"]
    with Store.open(folder, read_only=True) as store:
        assert len(store.evaluations) == stored * SIZE
    with Store.open(folder) as store:
        stored = fill_up(store, store.runs.ids()[0], stored)  # the journal may have room for a few
    with pytest.raises(StoreError) as caught:
        Store.open(small_disk / "new")
    assert caught.value.code == "MSL502"
    assert mount(small_disk, "remount,size=3m")
    assert [finding.kind for finding in examine(folder) if finding.severity == "error"] == []
    with Store.open(folder) as store:
        store.evaluations.write([evaluation(10**7)])
        assert len(store.runs.queries(store.runs.ids()[0])) == stored * SIZE


# --- folders that may not be written ---


def locked_by_mount(disk: Path) -> None:
    assert mount(disk, "remount,ro")


def locked_by_mode(disk: Path) -> None:
    for path in [disk, *disk.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)


@pytest.fixture
def lockable(tmp_path: Path) -> Iterator[tuple[Path, Callable[[Path], None]]]:
    """A folder and a way to forbid writing there; for root, modes forbid nothing."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if hasattr(os, "geteuid") and os.geteuid() != 0:
        yield disk, locked_by_mode
        for path in [disk, *disk.rglob("*")]:
            path.chmod(0o755)
    elif mount(disk, "size=4m", "-t", "tmpfs", "tmpfs"):
        yield disk, locked_by_mount
        subprocess.run(["umount", str(disk)], check=True)
    else:
        pytest.skip("no way to forbid writing")


@pytest.mark.parametrize("killed", [False, True])
def test_a_read_only_folder_can_be_read(lockable: tuple[Path, Callable[[Path], None]], killed: bool) -> None:
    """Also when its last writer was killed, and most of what it wrote is still in the journal."""
    disk, lock = lockable
    folder = disk / ".msl"
    writer = start_writer(folder, "w", batches=10_000 if killed else 10)
    assert writer.stdout is not None
    for _ in range(9):
        writer.stdout.readline()
    if killed:
        kill(writer)
    else:
        writer.communicate()
    assert (folder / f"{DATABASE}-wal").exists() == killed
    lock(disk)
    with Store.open(folder, read_only=True) as store:
        run = store.runs.find("@")
        assert run.status == ("interrupted" if killed else "finished")
        assert len(store.runs.queries(run.id)) >= 8 * SIZE
    for path in (folder, disk / "new"):
        with pytest.raises(StoreError, match="cannot be written") as caught, Store.open(path) as store:
            store.evaluations.write([evaluation(10**6)])
        assert caught.value.code == "MSL501"
        assert "--store" in caught.value.help
    assert "folder" in {finding.kind for finding in examine(folder)}


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / ".msl").write_text("not a folder")
    with pytest.raises(StoreError) as caught:
        Store.open(tmp_path / ".msl")
    assert caught.value.code == "MSL501"


def test_a_folder_where_the_database_should_be(tmp_path: Path) -> None:
    (tmp_path / DATABASE).mkdir()
    with pytest.raises(StoreError) as caught:
        Store.open(tmp_path)
    assert caught.value.code == "MSL501"


def test_reading_makes_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store") as caught:
        Store.open(tmp_path / ".msl", read_only=True)
    assert caught.value.code == "MSL514"
    with pytest.raises(StoreError, match="there is no store"):
        examine(tmp_path / ".msl")
    assert list(tmp_path.iterdir()) == []
