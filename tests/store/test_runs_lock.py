"""The lock file says what a spec came to, line by line, and what is different now."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msl.store.lock import Lock, differences, lock_path, lock_to_text, read_lock, text_to_lock, write_lock
from msl.store.store_error import StoreError

LOCK = Lock(
    seed=7,
    digests={"space": "a1", "evaluation": "b2", "search": "c3", "data": "d4"},
    bounds={"select.ftest.fmax": "int 2..30", "knn.k": 5},
    versions={"msl": "0.1.0", "scikit-learn": "1.8.0"},
)

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
plain = st.one_of(names, st.booleans(), st.integers(), st.floats())
locks = st.builds(
    Lock,
    seed=st.integers(),
    digests=st.dictionaries(names, names, max_size=3),
    bounds=st.dictionaries(names, plain, max_size=4),
    versions=st.dictionaries(names, names, max_size=3),
)


def test_a_lock_is_toml_that_can_be_compared_by_line() -> None:
    assert lock_to_text(LOCK) == (
        "# Written by `msl lock`; commit it beside the spec. `msl run --locked` refuses when anything here is"
        " different.\n"
        "format = 1\n"
        "seed = 7\n"
        "\n"
        "[digests]\n"
        'data = "d4"\n'
        'evaluation = "b2"\n'
        'search = "c3"\n'
        'space = "a1"\n'
        "\n"
        "[bounds]\n"
        '"knn.k" = 5\n'
        '"select.ftest.fmax" = "int 2..30"\n'
        "\n"
        "[versions]\n"
        'msl = "0.1.0"\n'
        'scikit-learn = "1.8.0"\n'
    )


@given(lock=locks)
def test_a_lock_comes_back_as_it_was(lock: Lock) -> None:
    text = lock_to_text(lock)
    tomllib.loads(text)
    again = text_to_lock(text)
    assert differences(lock, again) == []
    assert lock_to_text(again) == text


@given(one=locks, other=locks)
def test_locks_without_difference_have_the_same_text(one: Lock, other: Lock) -> None:
    assert (differences(one, other) == []) == (lock_to_text(one) == lock_to_text(other))
    flipped = [replace(each, locked=each.current, current=each.locked) for each in differences(one, other)]
    assert repr(flipped) == repr(differences(other, one))


def test_every_difference_is_shown() -> None:
    current = Lock(
        seed=8,
        digests={**LOCK.digests, "data": "d5"},
        bounds={"knn.k": 5.0},
        versions={**LOCK.versions, "numpy": "2.3"},
    )
    assert [str(difference) for difference in differences(LOCK, current)] == [
        "seed: locked 7, now 8",
        'digests.data: locked "d4", now "d5"',
        "bounds.knn.k: locked 5, now 5.0",
        'bounds.select.ftest.fmax: locked "int 2..30", now nothing',
        'versions.numpy: locked nothing, now "2.3"',
    ]


def test_only_the_digest_of_a_space_may_differ_because_an_earlier_version_made_it() -> None:
    older = replace(LOCK, versions={"numpy": "2.3"})
    current = replace(
        LOCK,
        digests={name: f"{digest}'" for name, digest in LOCK.digests.items()},
        versions={"numpy": "2.3", "a:B": "1"},
    )
    notes = {one.name: one.note for one in differences(older, current)}
    assert "in another way" in notes.pop("space")
    assert notes == {"evaluation": "", "search": "", "data": ""}
    assert not any(one.note for one in differences(replace(older, versions=current.versions), current))


def test_a_lock_lies_beside_its_spec(tmp_path: Path) -> None:
    assert lock_path(Path("specs/psms.v2.msl")) == Path("specs/psms.v2.lock")
    assert lock_path(Path("specs/psms.v2")) == Path("specs/psms.v2.lock")
    write_lock(LOCK, tmp_path / "psms.lock")
    assert read_lock(tmp_path / "psms.lock") == LOCK
    assert [file.name for file in tmp_path.iterdir()] == ["psms.lock"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<<<<<<< HEAD\nseed = 1\n", "Invalid statement"),
        (lock_to_text(LOCK).replace("format = 1", "format = 2"), "only 1 is known"),
        (lock_to_text(LOCK).replace("[bounds]", "[limits]"), "bounds"),
        (lock_to_text(LOCK).replace("seed = 7", "seed = 7.0"), "whole number"),
        (lock_to_text(LOCK).replace('"d4"', "4"), r"\[digests\]"),
        (lock_to_text(LOCK).replace('"int 2..30"', "[2, 30]"), r"\[bounds\]"),
        ("", "format is None"),
    ],
)
def test_a_file_that_is_no_lock_is_a_problem(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "psms.lock"
    path.write_text(text)
    with pytest.raises(StoreError, match=words) as caught:
        read_lock(path)
    assert caught.value.code == "MSL513"


def test_a_lock_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no lock file"):
        read_lock(tmp_path / "psms.lock")
    (tmp_path / "psms.lock").write_bytes(b"\xff\xfe")
    with pytest.raises(StoreError, match="cannot be read"):
        read_lock(tmp_path / "psms.lock")
    (tmp_path / "folder.lock").mkdir()
    with pytest.raises(StoreError):
        read_lock(tmp_path / "folder.lock")
