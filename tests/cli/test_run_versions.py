"""msl plan, msl lock and msl replay: what a run would do, what it depends on, and that it comes out the same."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from msl.store.store import Store

Run = Callable[..., Any]
SPEC = (
    'use clop, "learners.msl"\n'
    "chain m = ftest(fmax: int 2..n_features, rest = default) >> learn >> bias\n"
    "minimize ber by cv(folds = 3)\n"
    "search random(evaluations = 4) then pso(swarm = 3, iterations = 2)\n"
    "budget(time = 10min, each = 30s)\n"
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    lines = ["f1,f2,f3,class"]
    for place in range(60):
        kind = place % 2
        lines.append(f"{kind + rng.normal(0, 0.5):.3f},{rng.normal():.3f},{rng.normal():.3f},{'ab'[kind]}")
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "m.msl").write_text(SPEC, encoding="utf-8")
    (tmp_path / "learners.msl").write_text("use clop\npart learn = zarbi | naive\n", encoding="utf-8")
    return tmp_path


def run(msl: Run, *arguments: str) -> dict[str, Any]:
    shown = msl("run", "m.msl", "t.csv", "--on", "inprocess", "--json", *arguments)
    assert shown.code == 0, shown.err
    found: dict[str, Any] = json.loads(shown.out)
    return found


# --- plan ---

PLAN = """\
chain        m
table        60 rows, 3 features, 2 classes (classification)
models       4
structures   2
objectives   ber by cv
search       random in 2 dimensions, at most 4 evaluations
             pso in 2 dimensions, at most 9 evaluations
budget       10 min in total, 30 s per model
stored       nothing of this table
run          would start a new run
time
"""


def test_a_plan_before_anything_ran(msl: Run, here: Path) -> None:
    shown = msl("plan", "m.msl", "t.csv", "--jobs", "2")
    said, time = shown.out.rsplit("time ", 1)
    assert (shown.code, f"{said}time\n", shown.err) == (0, PLAN, "")
    words = r"at most [\d.e-]+ (s|min) on 2 workers, at [\d.e-]+ s per model by a probe on few rows\n"
    assert re.fullmatch(words, time.lstrip())
    assert not (here / ".msl").exists()


def test_a_plan_after_a_run_and_an_edit(msl: Run, here: Path) -> None:
    done = run(msl)
    lines = dict(line.split(None, 1) for line in msl("plan", "m.msl", "t.csv").out.splitlines() if line[0] != " ")
    assert lines["stored"] == "kept 4, outside 0"
    assert lines["run"] == f"{done['run']} is finished; nothing would be evaluated again"
    assert lines["time"] == "next to none"
    (here / "learners.msl").write_text("use clop\npart learn = naive | klogistic\n", encoding="utf-8")
    found = json.loads(msl("plan", "m.msl", "t.csv", "--jobs", "2", "--json").out)
    assert found["stored"] == {"kept": 2, "outside": 2, "other": 0, "changed": [], "unread": 0}
    assert (found["run"], found["evaluations"], found["left"]) == (None, 13, 13)
    assert found["seconds"] == pytest.approx(13 * found["seconds_each"] / 2)
    assert [stage["strategy"] for stage in found["stages"]] == ["random", "pso"]
    assert found["budget"] == {"time": 600, "each": 30}
    again = json.loads(msl("plan", "m.msl", "t.csv", "--seed", "4", "--json").out)
    assert again["stored"] == {"kept": 0, "outside": 0, "other": 4, "changed": [], "unread": 0}


@pytest.mark.slow
def test_a_plan_of_a_run_that_would_go_on(msl: Run, here: Path) -> None:
    done = run(msl)
    with Store.open(here / ".msl") as store:
        store.runs.end(done["run"], "interrupted")
    found = json.loads(msl("plan", "m.msl", "t.csv", "--json").out)
    assert found["run"] == {"id": done["run"], "status": "interrupted", "goes_on": True}
    assert found["left"] == 13 - done["evaluations"]
    assert f"would resume {done['run']}" in msl("plan", "m.msl", "t.csv").out
    assert run(msl)["run"] == done["run"]


# --- lock ---


def test_a_lock_is_written_once_and_checked(msl: Run, here: Path) -> None:
    assert msl("lock", "m.msl", "t.csv").err == "wrote m.lock\n"
    first = (here / "m.lock").read_bytes()
    content = tomllib.loads(first.decode())
    assert content["bounds"] == {"ftest.fmax": "int 2..3"}
    assert content["seed"] == 0
    assert msl("lock", "m.msl", "t.csv").err == "m.lock is up to date already\n"
    assert (here / "m.lock").read_bytes() == first
    assert msl("lock", "m.msl", "t.csv", "--check").code == 0
    assert run(msl, "--locked")["digest"]


def test_a_difference_is_refused_and_shown(msl: Run, here: Path) -> None:
    msl("lock", "m.msl", "t.csv")
    lock = (here / "m.lock").read_bytes()
    old = tomllib.loads(lock.decode())["digests"]
    shown = msl("run", "m.msl", "t.csv", "--locked", "--seed", "3", "--set", "search.pso.swarm=4")
    assert shown.code == 2
    assert "  seed: locked 0, now 3\n" in shown.err
    assert f'  digests.search: locked "{old["search"]}", now "' in shown.err
    assert "digests.space" not in shown.err
    assert "nothing was run" in shown.err
    assert not (here / ".msl").exists()
    (here / "learners.msl").write_text("use clop\npart learn = zarbi\n", encoding="utf-8")
    checked = msl("lock", "m.msl", "t.csv", "--check")
    assert checked.code == 1
    assert f'digests.space: locked "{old["space"]}"' in checked.err
    assert (here / "m.lock").read_bytes() == lock
    with (here / "t.csv").open("a", encoding="utf-8") as file:
        file.write("1,2,3,a\n")
    assert "digests.data" in msl("lock", "m.msl", "t.csv", "--check").err


def test_another_table_shows_in_the_bounds(msl: Run, here: Path) -> None:
    msl("lock", "m.msl", "t.csv")
    lines = (here / "t.csv").read_text(encoding="utf-8").splitlines()
    wider = ["f0," + lines[0], *(f"{place % 7}.5,{line}" for place, line in enumerate(lines[1:]))]
    (here / "t.csv").write_text("\n".join(wider) + "\n", encoding="utf-8")
    assert 'bounds.ftest.fmax: locked "int 2..3", now "int 2..4"' in msl("lock", "m.msl", "t.csv", "--check").err


def test_a_lock_that_cannot_be_read_is_told(msl: Run, here: Path) -> None:
    assert "there is no lock file m.lock" in msl("lock", "m.msl", "t.csv", "--check").err
    (here / "m.lock").write_text("<<<<<<< ours\n", encoding="utf-8")
    shown = msl("run", "m.msl", "t.csv", "--locked")
    assert shown.code == 2
    assert "merge conflict" in shown.err
    assert msl("lock", "m.msl", "t.csv").err == "wrote m.lock\n"


# --- replay ---


@pytest.mark.slow
def test_a_run_comes_out_the_same_from_what_is_stored(msl: Run, here: Path) -> None:
    done = run(msl, "--test", "t.csv", "--set", "search.pso.swarm=2")
    (here / "m.msl").unlink()
    (here / "learners.msl").unlink()
    shown = msl("replay", "@", "--quiet")
    assert (shown.code, shown.err) == (0, "")
    asked = done["evaluations"]
    assert shown.out == f"the same: {asked} queries and their losses, and the result of {done['run']}\n"
    found = json.loads(msl("replay", done["run"], "--json").out)
    assert found == {"run": done["run"], "same": True, "evaluations": asked}


@pytest.mark.slow
def test_a_difference_from_what_is_stored_is_told(msl: Run, here: Path) -> None:
    done = run(msl)
    with Store.open(here / ".msl") as store:
        store.runs.end(done["run"], "finished", done | {"best": "zarbi"})
    shown = msl("replay", "@", "--quiet")
    assert shown.code == 1
    assert shown.out == f"different: `best` was zarbi, and is {done['best']}\n"
    assert json.loads(msl("replay", "@", "--json").out)["difference"]["what"] == "`best`"


def test_another_table_proves_nothing(msl: Run, here: Path) -> None:
    run(msl)
    moved = (here / "t.csv").rename(here / "moved.csv")
    assert msl("replay", "@", "--quiet").code == 1
    assert msl("replay", "@", "moved.csv", "--quiet").code == 0
    with moved.open("a", encoding="utf-8") as file:
        file.write("1,2,3,a\n")
    shown = msl("replay", "@", "moved.csv")
    assert shown.code == 2
    assert "the table is not the one of the run" in shown.err


def test_there_has_to_be_something_to_replay(msl: Run, here: Path) -> None:
    assert "there is no store" in msl("replay", "@").err
    run(msl)
    assert msl("replay", "nobody").code == 2
