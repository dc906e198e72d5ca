"""A damaged store is told from a healthy one, rebuilt from what can be read, and never gives a wrong number."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from run_examples import BEGINNING, Ticking, asked, evaluation, is_whole, order

from msl.store import doctor
from msl.store.doctor import Finding, examine, recover, repair
from msl.store.evaluation import Evaluation, StoredQuery
from msl.store.schema import APPLICATION
from msl.store.store import DATABASE, Store, write_atomically
from msl.store.store_error import StoreError
from msl.store.stored_run import Event, Process

PAGE = 4096
COUNT = 300


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a finished run of three hundred evaluations, to be copied and damaged."""
    folder = tmp_path_factory.mktemp("healthy") / ".msl"
    with Store.open(folder, clock=Ticking()) as store:
        run = store.runs.start(order()).id
        for first in range(0, COUNT, 50):
            positions = range(first, first + 50)
            events = [Event("iteration", {"best": first}, first // 50)]
            store.record(run, map(evaluation, positions), list(map(asked, positions)), events)
        store.runs.add_event(run, Event("time is up"))
        store.runs.add_event(run, Event("time is up"))
        store.runs.end(run, "finished", {"best": None})
    return folder


@pytest.fixture
def folder(healthy: Path, tmp_path: Path) -> Path:
    shutil.copytree(healthy, tmp_path / ".msl")
    return tmp_path / ".msl"


def kinds(findings: list[Finding]) -> list[str]:
    return [finding.kind for finding in findings]


def content(folder: Path) -> tuple[dict[str, Evaluation], list[StoredQuery], int]:
    with Store.open(folder) as store:
        found = store.evaluations.read(evaluation(number).key for number in range(COUNT))
        asks = [one for run in store.runs.ids() for one in store.runs.queries(run)]
        return found, asks, len(store.evaluations)


def check_content(folder: Path, at_least: int) -> None:
    """All that is there is what was written, and enough of it is there."""
    assert is_whole(folder / DATABASE)
    found, asks, stored = content(folder)
    assert stored == len(found)
    assert len(found) >= at_least
    expected = {evaluation(number).key: evaluation(number) for number in range(COUNT)}
    for key, one in found.items():
        assert (one.text, one.losses, one.metrics) == (
            expected[key].text,
            expected[key].losses,
            expected[key].metrics,
        )
    assert all(one == asked(one.position) for one in asks)


# --- damage ---


def truncate(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2 + 100)


def zero_first_page(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\0" * PAGE)


def spoil_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"no database at all")


def spoil_numbers_in_header(path: Path) -> None:
    """The version of the schema, and whose database it is."""
    with path.open("r+b") as file:
        file.seek(60)
        file.write(b"\x7f\1\2\3")
        file.seek(68)
        file.write(b"\0\1\2\3")


def spoil_schema(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(120)
        file.write(random.Random(3).randbytes(900))


def spoil_middle(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // PAGE // 2 * PAGE)
        file.write(random.Random(4).randbytes(2 * PAGE))


def spoil_every_tenth_page(path: Path) -> None:
    with path.open("r+b") as file:
        for page in range(10, path.stat().st_size // PAGE, 10):
            file.seek(page * PAGE)
            file.write(b"\xff" * PAGE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "at_least"),
    [
        (truncate, 60),
        (zero_first_page, COUNT),
        (spoil_header, COUNT),
        (spoil_schema, COUNT),
        (spoil_numbers_in_header, COUNT),
        (spoil_middle, COUNT - 30),
        (spoil_every_tenth_page, COUNT // 2),
    ],
)
def test_a_damaged_store_is_rebuilt(folder: Path, damage: Callable[[Path], None], at_least: int) -> None:
    path = folder / DATABASE
    damage(path)
    spoilt = path.read_bytes()
    assert "damage" in kinds(examine(folder))
    assert path.read_bytes() == spoilt

    findings = repair(folder, clock=lambda: BEGINNING)
    assert kinds(findings)[:2] == ["damage", "rebuilt"]
    assert all(finding.repaired for finding in findings[:2])
    aside = folder / "store.damaged-20251116-025301.sqlite"
    assert aside.read_bytes() == spoilt
    assert str(aside) in findings[1].message
    check_content(folder, at_least)
    assert {finding.kind for finding in examine(folder)} <= {"leftover", "lost evaluations", "orphan"}


def test_a_rebuilt_store_with_everything_is_the_old_one(folder: Path) -> None:
    with Store.open(folder) as store:
        tables = ("runs", "texts", "sources", "evaluations", "asks", "events")
        before = [store.database.rows(f"SELECT * FROM {table}") for table in tables]
    zero_first_page(folder / DATABASE)
    repair(folder)
    with Store.open(folder) as store:
        assert [store.database.rows(f"SELECT * FROM {table}") for table in tables] == before
        run = store.runs.start(order()).id
        store.record(run, [evaluation(COUNT)], [asked(COUNT)])


@pytest.mark.parametrize("damage", [truncate, zero_first_page, spoil_header, spoil_schema])
def test_a_damaged_store_is_a_problem_in_words(folder: Path, damage: Callable[[Path], None]) -> None:
    damage(folder / DATABASE)
    with pytest.raises(StoreError, match="is damaged") as caught, Store.open(folder) as store:
        list(store.evaluations.about("d" * 64, "p" * 64))
    assert caught.value.code == "MSL503"
    assert "msl doctor --repair" in caught.value.help


@pytest.mark.slow
def test_damage_anywhere_never_gives_a_wrong_number_nor_a_raw_exception(folder: Path) -> None:
    """Bytes turned to garbage at random places: found out and mended, or harmless."""
    path, chance = folder / DATABASE, random.Random(5)
    healthy = path.read_bytes()
    found_out = 0
    for _ in range(25):
        spoilt = bytearray(healthy)
        for _ in range(chance.randrange(1, 4)):
            place = chance.randrange(len(spoilt))
            some = chance.randbytes(chance.choice([1, 20, 3000]))
            spoilt[place : place + len(some)] = some[: len(spoilt) - place]
        path.write_bytes(spoilt)
        found_out += "damage" in kinds(examine(folder))
        repair(folder)
        check_content(folder, at_least=COUNT // 2)
    assert found_out > 12


def test_a_row_that_was_changed_is_left_out(folder: Path) -> None:
    with Store.open(folder) as store, store.database.transaction() as connection:
        connection.execute("UPDATE evaluations SET losses = '[0.0]' WHERE key = ?", (evaluation(5).key,))
        connection.execute("UPDATE texts SET text = 'msl 2' WHERE rowid = 1")
    (finding,) = examine(folder)
    assert "1 rows of the table texts are not what was written" in finding.message
    assert "1 rows of the table evaluations are not what was written" in finding.message
    findings = repair(folder)
    assert "2 rows were not what was written" in findings[1].message
    check_content(folder, COUNT - 1)
    assert "lost evaluations" in kinds(examine(folder))


@pytest.mark.parametrize("order", [("bound", "whole"), ("whole", "bound")])
def test_of_two_rows_for_one_evaluation_the_one_that_says_more_is_saved(tmp_path: Path, order: tuple[str, str]) -> None:
    """Without its index a table can hold a key twice."""
    whole = evaluation(5)
    known = {"whole": whole, "bound": replace(whole, metrics={}, bound=True, cutoff=whole.losses[0] / 2)}
    for name, one in known.items():
        with Store.open(tmp_path / name, clock=Ticking()) as store:
            store.evaluations.write([one])
    first, second = (tmp_path / name / DATABASE for name in order)
    with closing(sqlite3.connect(first)) as connection:
        connection.executescript(
            "CREATE TABLE loose AS SELECT * FROM evaluations; DROP TABLE evaluations;"
            f"ALTER TABLE loose RENAME TO evaluations; ATTACH '{second}' AS other;"
            "INSERT INTO evaluations SELECT * FROM other.evaluations;"
        )
    rebuilt = tmp_path / "rebuilt" / DATABASE
    rebuilt.parent.mkdir()
    assert recover(first, rebuilt).rows["evaluations"] == 1
    with Store.open(rebuilt.parent) as store:
        (saved,) = store.evaluations.read([whole.key]).values()
        assert (saved.bound, saved.metrics) == (False, whole.metrics)


def test_the_journal_is_saved_too(healthy: Path, tmp_path: Path) -> None:
    """A killed writer leaves most of its work in the journal; a lost database takes only what was not there."""
    folder = tmp_path / ".msl"
    with Store.open(tmp_path / "elsewhere") as store:
        run = store.runs.start(order()).id
        store.record(run, map(evaluation, range(100)), list(map(asked, range(100))))
        store.runs.end(run, "finished")
        shutil.copytree(store.folder, folder)  # as a kill would leave it
    (folder / f"{DATABASE}-shm").unlink()
    for damage in (lambda path: path.write_bytes(b""), lambda path: path.unlink(), zero_first_page):
        broken = tmp_path / "broken"
        shutil.copytree(folder, broken)
        damage(broken / DATABASE)
        if damage is not zero_first_page:  # there, the journal has the page
            with pytest.raises(StoreError, match="journal is still there") as caught:
                Store.open(broken)
            assert caught.value.code == "MSL503"
            assert kinds(repair(broken))[:2] == ["damage", "rebuilt"]
        check_content(broken, 100)
        shutil.rmtree(broken)


def test_a_file_of_garbage_gives_an_empty_store(folder: Path) -> None:
    (folder / DATABASE).write_bytes(random.Random(6).randbytes(50_000))
    assert kinds(repair(folder))[:2] == ["damage", "rebuilt"]
    assert content(folder) == ({}, [], 0)


def test_repairs_in_the_same_second_keep_both_files(folder: Path) -> None:
    for _ in range(2):
        zero_first_page(folder / DATABASE)
        repair(folder, clock=lambda: BEGINNING)
    names = sorted(path.name for path in folder.glob("store.damaged-*"))
    assert names == ["store.damaged-20251116-025301-2.sqlite", "store.damaged-20251116-025301.sqlite"]


def test_a_store_that_someone_works_on_is_not_replaced(folder: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        with Store.open(folder) as store:
            run = store.runs.start(order("kms")).id
            with store.database.transaction() as connection:
                connection.execute("UPDATE runs SET pid = ?, born = '' WHERE id = ?", (other.pid, run))
        zero_first_page(folder / DATABASE)
        spoilt = (folder / DATABASE).read_bytes()
        with pytest.raises(StoreError, match=f"process {other.pid}"):
            repair(folder)
        assert (folder / DATABASE).read_bytes() == spoilt
        assert list(folder.glob("store.*")) == [folder / DATABASE]
        other.communicate(b"\n")
    repair(folder)
    check_content(folder, COUNT)


# --- what is not damage ---


def test_a_healthy_store_gives_no_findings(folder: Path) -> None:
    assert examine(folder) == []
    assert repair(folder) == []


def test_a_stale_run_is_written_down_as_interrupted(folder: Path) -> None:
    clock = Ticking()
    with Store.open(folder, clock=clock) as store:
        run = store.runs.start(order("kms")).id
        gone = Process("elsewhere.example", 1)
        with store.database.transaction() as connection:
            connection.execute("UPDATE runs SET host = ?, pid = ? WHERE id = ?", (gone.host, gone.pid, run))
    assert examine(folder, clock=clock) == []
    clock.now += timedelta(hours=2)
    (finding,) = examine(folder, clock=clock)
    assert (finding.kind, finding.repaired) == ("stale run", False)
    assert run in finding.message
    (finding,) = repair(folder, clock=clock)
    assert (finding.kind, finding.repaired) == ("stale run", True)
    assert examine(folder, clock=clock) == []


def test_lost_evaluations_and_orphan_files_are_told(folder: Path) -> None:
    with Store.open(folder) as store:
        with store.database.transaction() as connection:
            connection.execute("DELETE FROM evaluations WHERE rowid <= 3")
        (run,) = store.runs.ids()
        write_atomically(store.files.model(run), b"model")
        write_atomically(store.files.models / "nobody.skops", b"model")
    findings = examine(folder)
    assert [(finding.kind, finding.severity) for finding in findings] == [
        ("lost evaluations", "warning"),
        ("orphan", "note"),
    ]
    assert f"3 evaluations of the run `{run}`" in findings[0].message
    assert "nobody.skops belongs to no run (5 bytes)" in findings[1].message
    assert repair(folder) == findings


def test_a_network_folder_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "is_on_network", lambda folder: True)
    assert kinds(examine(folder)) == ["network"]


def test_a_newer_store_is_not_repaired(folder: Path) -> None:
    with Store.open(folder) as store, store.database.transaction() as connection:
        connection.execute("PRAGMA user_version = 99")
    before = (folder / DATABASE).read_bytes()
    (finding,) = repair(folder)
    assert (finding.kind, finding.severity) == ("problem", "error")
    assert "newer version of MSL" in finding.message
    assert (folder / DATABASE).read_bytes() == before
    assert APPLICATION.to_bytes(4, "big") == b"MSL1"
