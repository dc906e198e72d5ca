"""msl diff of runs: what changed in their specs, tables, seeds and versions, and what they came to."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_store import LEAN, Ran

from msl.store.run_table import run_checksum
from msl.store.store import Store

Verb = Callable[..., Any]


@pytest.fixture(autouse=True)
def here(ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ran.folder)


def test_two_runs_differ_in_what_their_specs_differ_in(msl: Verb, ran: Ran) -> None:
    shown = msl("diff", ran.runs["lean", 0], ran.runs["wide", 0])
    assert shown.code == 1
    assert "- step standardize" in shown.out
    assert "~ search: random(" in shown.out
    assert ran.runs["lean", 0] in shown.out
    assert ran.runs["wide", 0] in shown.out
    specs = json.loads(msl("diff", "lean.msl", "wide.msl", "--json").out)
    runs = json.loads(msl("diff", ran.runs["lean", 0], ran.runs["wide", 0], "--json").out)
    assert runs["changes"] == specs["changes"]
    assert runs["digests"] == specs["digests"]


def test_another_seed_is_a_change_and_results_stand_abreast(msl: Verb, ran: Ran) -> None:
    shown = msl("diff", ran.runs["lean", 0], ran.runs["lean", 1])
    assert shown.code == 1
    assert "~ seed: 0 -> 1" in shown.out
    assert shown.out.count("seed") == 1
    with Store.open(ran.store, read_only=True) as store:
        values = [store.runs.get(ran.runs["lean", seed]).result["objectives"]["ber"] for seed in (0, 1)]
    assert values[0] != values[1]
    (line,) = [line for line in shown.out.splitlines() if line.startswith("estimate ber")]
    assert line.split()[2:] == [f"{value:.4g}" for value in values]


def test_a_run_and_itself_are_the_same(msl: Verb) -> None:
    shown = msl("diff", "@", "@")
    assert shown.code == 0
    assert "the same spec, table, seed and versions" in shown.out
    assert "winner of both: " in shown.out
    assert json.loads(msl("diff", "@", "@", "--json").out)["same"] is True


def test_a_spec_is_compared_with_what_a_run_was_of(msl: Verb, tmp_path: Path) -> None:
    assert msl("diff", "lean.msl", "lean.msl").code == 0
    edited = tmp_path / "edited.msl"
    edited.write_text(LEAN.replace("zarbi | naive", "zarbi | naive | kridge").replace("seed", ""))
    shown = msl("diff", ".//@7", str(edited))
    assert shown.code == 1
    assert "kridge" in shown.out
    assert "+ " in shown.out
    assert "evaluations" not in shown.out
    back = msl("diff", str(edited), "./@7")
    assert "- " in back.out
    assert msl("diff", "lean.msl", "@7").code == 0
    assert msl("diff", "lean.msl", "@6").code == 1  # that one had another seed


def test_other_versions_and_another_table_are_changes(msl: Verb, ran: Ran, tmp_path: Path) -> None:
    shutil.copytree(ran.store, tmp_path / ".msl")
    run = ran.runs["lean", 0]
    with Store.open(tmp_path / ".msl") as store:
        connection = store.database._connection
        versions = {**store.runs.get(run).versions, "numpy": "1.0"}
        connection.execute(
            "UPDATE runs SET versions = ?, data_digest = ? WHERE id = ?", (json.dumps(versions), "f" * 64, run)
        )
        (row,) = connection.execute("SELECT * FROM runs WHERE id = ?", (run,))
        connection.execute("UPDATE runs SET checksum = ? WHERE id = ?", (run_checksum(row), run))
    shown = msl("diff", f"{tmp_path}/{run}", run)
    assert shown.code == 1
    assert "~ version of numpy: 1.0 -> " in shown.out
    assert "~ table: ffffffffffffffff" in shown.out


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["nobody", "@"], ["there is no run `nobody`", "not a file either"]),
        (["@", "@99"], ["there is no run `@99`"]),
        (["@", "nowhere.msl"], ["there is no file `nowhere.msl`"]),
        (["nowhere/@", "@"], ["there is no store in nowhere"]),
    ],
)
def test_what_is_not_there_is_told(msl: Verb, names: list[str], words: list[str]) -> None:
    shown = msl("diff", *names)
    assert (shown.code, shown.out) == (2, "")
    assert all(word in shown.err for word in words), shown.err
