"""A store of an older version becomes a new one with all it had; one that is newer, or not ours, is left alone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from run_examples import asked, evaluation, order

from msl.store import database, schema
from msl.store.doctor import is_sound
from msl.store.schema import APPLICATION, MIGRATIONS, TABLES, migrate, selection
from msl.store.store import DATABASE, Store
from msl.store.store_error import StoreError
from msl.store.stored_run import Event

#: Stores of every version so far, as SQL that was once dumped from one.
OLD_STORES = sorted((Path(__file__).parent / "old_stores").glob("version_*.sql"))


def make(folder: Path, script: str) -> Path:
    folder.mkdir(exist_ok=True)
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        connection.executescript(script)
    return folder


def add_note(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE evaluations ADD COLUMN note TEXT NOT NULL DEFAULT 'old'")


def fail_half_way(connection: sqlite3.Connection) -> None:
    add_note(connection)
    connection.execute("CREATE TABLE half (way)")
    connection.execute("SELECT nonsense FROM nowhere")


def use_migrations(patch: pytest.MonkeyPatch, *migrations: schema.Migration) -> None:
    patch.setattr(database, "MIGRATIONS", migrations)


def test_there_is_an_old_store_for_every_version() -> None:
    assert [path.stem for path in OLD_STORES] == [f"version_{number}" for number in range(1, len(MIGRATIONS) + 1)]


@pytest.mark.parametrize("path", OLD_STORES, ids=lambda path: path.stem)
def test_a_store_of_every_version_can_be_used(tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each dump holds ten evaluations of a run, what it asked, and its events, under the keys of its time."""
    if path.stem == "version_1":
        monkeypatch.setattr("msl.store.evaluation.KEY_FORMAT", 1)
    make(tmp_path, path.read_text())
    with Store.open(tmp_path) as store:
        (run,) = store.runs.all()
        assert (run.name, run.status) == ("psms", "finished")
        assert store.runs.sources(run.id) == order().sources
        assert store.runs.queries(run.id) == [asked(position) for position in range(10)]
        found = store.evaluations.read(evaluation(number).key for number in range(10))
        assert [found[evaluation(number).key].text for number in range(10)] == [evaluation(n).text for n in range(10)]
        assert [event.figures for event in store.runs.events(run.id)] == [{"best": 0.5}]
        kept = store.outputs.read(evaluation(number).key for number in range(10))
        assert len(kept) == (0 if path.stem == "version_1" else 2)
        store.record(run.id, [evaluation(11)], [asked(10)])
        for table in TABLES:
            assert all(is_sound(table, row) for row in store.database.rows(selection(table)))


def test_an_older_store_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(tmp_path) as store:
        store.evaluations.write([evaluation(1)])
    use_migrations(monkeypatch, *MIGRATIONS, add_note)
    with Store.open(tmp_path) as store:
        assert store.evaluations.read([evaluation(1).key])
        store.evaluations.write([evaluation(2)])
        assert store.database.rows("SELECT note FROM evaluations") == [("old",), ("old",)]
        assert store.database.rows("PRAGMA user_version") == [(len(MIGRATIONS) + 1,)]


def test_a_migration_that_fails_leaves_the_store_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(tmp_path) as store:
        store.evaluations.write([evaluation(1)])
    with monkeypatch.context() as patch:
        use_migrations(patch, *MIGRATIONS, fail_half_way)
        with pytest.raises(StoreError):
            Store.open(tmp_path)
    with Store.open(tmp_path) as store:
        assert store.database.rows("PRAGMA user_version") == [(len(MIGRATIONS),)]
        assert store.database.rows("SELECT name FROM sqlite_schema WHERE name = 'half'") == []
        assert store.evaluations.read([evaluation(1).key])


def test_an_older_store_is_read_without_changing_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(tmp_path) as store:
        store.evaluations.write([evaluation(1)])
    before = (tmp_path / DATABASE).read_bytes()
    use_migrations(monkeypatch, *MIGRATIONS, add_note)
    with Store.open(tmp_path, read_only=True) as store:
        assert store.database.rows("SELECT note FROM evaluations") == [("old",)]
        with pytest.raises(StoreError, match="opened to be read"):
            store.evaluations.write([evaluation(2)])
    assert (tmp_path / DATABASE).read_bytes() == before


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_store_is_left_alone(tmp_path: Path, read_only: bool) -> None:
    make(tmp_path, f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = 99; CREATE TABLE runs (id);")
    before = (tmp_path / DATABASE).read_bytes()
    with pytest.raises(StoreError, match="newer version of MSL") as caught:
        Store.open(tmp_path, read_only=read_only)
    assert caught.value.code == "MSL504"
    assert (tmp_path / DATABASE).read_bytes() == before


def test_the_database_of_someone_else_is_left_alone(tmp_path: Path) -> None:
    make(tmp_path, "CREATE TABLE songs (title);")
    before = (tmp_path / DATABASE).read_bytes()
    with pytest.raises(StoreError, match="not one of MSL") as caught:
        Store.open(tmp_path)
    assert caught.value.code == "MSL510"
    assert (tmp_path / DATABASE).read_bytes() == before


def test_the_tables_are_those_that_are_written_down() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        migrate(connection)
        for table, columns in TABLES.items():
            told = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            assert sorted(told) == sorted(columns)
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        assert tables == set(TABLES)


def test_tables_begin_at_the_same_pages_after_a_vacuum(tmp_path: Path) -> None:
    """What the rescue of a file with a damaged first page rests on."""
    pages = "SELECT name, rootpage FROM sqlite_schema ORDER BY name"
    with Store.open(tmp_path / "new") as store:
        fresh = store.database.rows(pages)
    with Store.open(tmp_path / "used") as store:
        run = store.runs.start(order()).id
        for number in range(200):
            store.record(run, [evaluation(number)], [asked(number)], [Event("iteration", position=number)])
        with store.database.transaction() as connection:
            connection.execute("DELETE FROM evaluations WHERE rowid % 2")
        store.database.shrink()
        assert store.database.rows(pages) == fresh
