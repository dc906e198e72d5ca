"""msl log: the runs of a store, the latest first, under the names that other verbs know them by."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_store import Ran

from msl.store.store import Store

Verb = Callable[..., Any]


@pytest.fixture(autouse=True)
def here(ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ran.folder)


def test_runs_are_listed_from_the_latest_to_the_oldest(msl: Verb, ran: Ran) -> None:
    shown = msl("log")
    assert (shown.code, shown.err) == (0, "")
    lines = shown.out.splitlines()
    assert lines[0].split() == ["run", "started", "spec", "status", "evaluations", "objectives", "seconds"]
    assert [line.split()[1] for line in lines[1:]] == list(reversed(ran.runs.values()))
    assert [line.split()[0] for line in lines[1:]] == ["@", *(f"@{place}" for place in range(1, len(ran.runs)))]
    (line,) = [line for line in lines if ran.runs["wide", 0] in line]
    assert "finished" in line
    assert "ber = " in line


def test_every_listed_name_means_its_run(msl: Verb, ran: Ran) -> None:
    for record in json.loads(msl("log", "--json").out):
        assert json.loads(msl("show", record["name"], "--json").out)["run"] == record["run"]


def test_a_record_holds_what_the_store_holds(msl: Verb, ran: Ran) -> None:
    records = {record["run"]: record for record in json.loads(msl("log", "--json").out)}
    with Store.open(ran.store, read_only=True) as store:
        for run in store.runs.all():
            record = records[run.id]
            assert record["objectives"] == run.result["objectives"]
            assert record["evaluations"] == len(store.runs.queries(run.id))
            assert record["digest"] == run.digests.run
            assert record["test"] == run.result["test"]


def test_a_few_are_shown_and_the_rest_is_told(msl: Verb, ran: Ran) -> None:
    shown = msl("log", "-n", "2")
    assert len(shown.out.splitlines()) == 3
    assert f"and {len(ran.runs) - 2} more" in shown.err
    assert f"-n {len(ran.runs)}" in shown.err
    assert len(json.loads(msl("log", "-n", "3", "--json").out)) == 3


@pytest.mark.parametrize("name", ["wide", "wide.msl"])
def test_runs_of_one_spec_keep_their_names(msl: Verb, ran: Ran, name: str) -> None:
    records = json.loads(msl("log", "--spec", name, "--json").out)
    assert [record["run"] for record in records] == [ran.runs["wide", seed] for seed in (2, 1, 0)]
    assert [record["name"] for record in records] == ["@2", "@3", "@4"]
    assert "no runs of `nobody`" in msl("log", "--spec", "nobody").err


def test_a_run_that_was_killed_is_listed_as_interrupted(msl: Verb, ran: Ran, tmp_path: Path) -> None:
    shutil.copytree(ran.store, tmp_path / ".msl")
    with Store.open(tmp_path / ".msl") as store:
        store.database._connection.execute(
            "UPDATE runs SET status = 'running', ended = NULL, pid = 999999999 WHERE id = ?", (ran.runs["lean", 0],)
        )
    records = json.loads(msl("log", "--json", "--store", str(tmp_path)).out)
    assert {record["run"]: record["status"] for record in records}[ran.runs["lean", 0]] == "interrupted"


def test_an_empty_store_and_none_are_told_apart(msl: Verb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = msl("log")
    assert (shown.code, shown.out) == (2, "")
    assert "there is no store in .msl" in shown.err
    Store.open(tmp_path / "specs" / ".msl").close()
    assert "--store specs/.msl" in msl("log").err
    shown = msl("log", "--store", "specs")
    assert (shown.code, shown.out) == (0, "")
    assert "no runs yet" in shown.err
    assert json.loads(msl("log", "--store", "specs", "--json").out) == []
