"""In which folder a run is looked for, and what is said where there is no store."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_examples import Ticking, order

from msl.store.store import DATABASE, Store, find_store, locate_run
from msl.store.store_error import StoreError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make_store(folder: Path, *names: str) -> list[str]:
    """A store with a run of each of these specs, the last one the latest."""
    with Store.open(folder, clock=Ticking()) as store:
        return [store.runs.start(order(name)).id for name in names]


def test_the_store_of_the_current_folder_is_the_default() -> None:
    make_store(Path(".msl"))
    assert find_store() == Path(".msl")


def test_a_store_is_named_by_its_folder_by_the_one_around_it_or_by_a_spec() -> None:
    make_store(Path("work/.msl"))
    spec = Path("work/psms.msl")
    spec.write_text("msl 1\n")
    assert find_store(Path("work/.msl")) == Path("work/.msl")
    assert find_store(Path("work")) == Path("work/.msl")
    assert find_store(spec) == spec.absolute().parent / ".msl"


def test_a_store_of_which_only_the_journal_is_left_is_still_one() -> None:
    Path(".msl").mkdir()
    Path(f".msl/{DATABASE}-wal").write_bytes(b"something")
    assert find_store() == Path(".msl")


def help_of(named: Path | None = None) -> str:
    with pytest.raises(StoreError) as caught:
        find_store(named)
    assert caught.value.code == "MSL514"
    return caught.value.help


def test_without_a_store_anywhere_a_run_is_suggested() -> None:
    assert "msl run" in help_of()


def test_one_store_below_is_told_with_the_option_that_names_it() -> None:
    make_store(Path("specs/.msl"))
    Path("empty/.msl").mkdir(parents=True)
    assert help_of() == "there is one in specs/.msl: add `--store specs/.msl`"
    assert help_of(Path("empty")).startswith("start a run")


def test_several_stores_below_are_listed() -> None:
    for name in ("b", "a", "c"):
        make_store(Path(name, ".msl"))
    assert help_of() == "there are stores in a/.msl, b/.msl, c/.msl: name one with `--store FOLDER`"
    for name in "defg":
        make_store(Path(name, ".msl"))
    assert "e/.msl and 2 more" in help_of()


def test_stores_two_levels_down_are_not_searched_for() -> None:
    make_store(Path("a/b/.msl"))
    assert help_of().startswith("start a run")


def test_a_name_alone_means_the_store_of_this_folder_or_the_one_that_is_named() -> None:
    make_store(Path(".msl"), "here")
    make_store(Path("there/.msl"), "there")
    assert locate_run("@").folder == Path(".msl")
    assert locate_run("@", Path("there")).folder == Path("there/.msl")


def test_a_folder_before_the_name_is_that_of_the_store() -> None:
    runs = make_store(Path("specs/.msl"), "one", "two")
    for name, run in (("specs/@", runs[1]), ("specs/@1", runs[0]), (f"specs/.msl/{runs[0]}", runs[0])):
        place = locate_run(name)
        with Store.open(place.folder, read_only=True) as store:
            assert place.run_in(store).id == run


def test_a_spec_means_its_latest_run() -> None:
    first, second, _ = make_store(Path("specs/.msl"), "psms", "psms", "sbm")
    assert first != second
    place = locate_run("specs/psms.msl")
    with Store.open(place.folder, read_only=True) as store:
        assert place.run_in(store).id == second
        with pytest.raises(StoreError, match=r"no run of `kms.msl`"):
            locate_run("specs/kms.msl").run_in(store)


def test_a_folder_that_has_no_store_is_told() -> None:
    make_store(Path("specs/.msl"), "psms")
    with pytest.raises(StoreError, match="there is no store in nowhere"):
        locate_run("nowhere/@")
