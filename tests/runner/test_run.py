"""msl run from end to end: results, reuse, resuming, workers, test tables, failures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_wine
from typer.testing import CliRunner

from msl.cli.main import command_line
from msl.cli.shared.load_spec import load
from msl.runner.loop import search
from msl.runner.plan import make_plan
from msl.runner.session import RunRequest, start_or_resume
from msl.store.store import Store
from msl.workers.local import open_executor

RUN = CliRunner()
APP = command_line(["run"])
SPACE = "use clop\nchain m = standardize? >> (zarbi | naive | kridge(degree = 1, coef0 = 1)) >> bias\n"
PSO = "search pso(swarm = 4, iterations = 4)\n"


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.msl"
    path.write_text(SPACE + PSO, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Wine, every third row kept for the test."""
    folder = tmp_path_factory.mktemp("tables")
    X, y = load_wine(return_X_y=True)
    names = ",".join(f"f{i + 1}" for i in range(X.shape[1])) + ",class"
    lines = [",".join(map(str, row)) + f",{'abc'[label]}" for row, label in zip(X, y, strict=True)]
    train, test = folder / "train.csv", folder / "test.csv"
    train.write_text("\n".join([names, *(line for i, line in enumerate(lines) if i % 3)]), encoding="utf-8")
    test.write_text("\n".join([names, *lines[::3]]), encoding="utf-8")
    return str(train), str(test)


def run(spec: Path, table: str, *arguments: str, code: int = 0) -> dict[str, Any]:
    command = ["run", str(spec), table, "--json", *arguments]
    if "--jobs" not in arguments:
        command += ["--on", "inprocess"]
    result = RUN.invoke(APP, command)
    assert result.exit_code == code, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_the_object_at_the_end_has_what_it_promises(spec: Path, tables: tuple[str, str]) -> None:
    found = run(spec, tables[0], "--test", tables[1])
    assert found["evaluations"] == 4 * 5
    assert found["best"].endswith(">> bias")
    assert 0 <= found["objectives"]["ber"] < 0.1
    assert 0 <= found["test"]["ber"] < 0.15
    assert found.keys() >= {"run", "digest", "best", "objectives", "evaluations", "reused", "failures", "seconds"}


def test_the_same_command_again_evaluates_nothing(spec: Path, tables: tuple[str, str]) -> None:
    first, second = run(spec, tables[0]), run(spec, tables[0])
    assert (second["best"], second["objectives"]) == (first["best"], first["objectives"])
    assert second["fits"] == 0
    assert second["reused"] == second["evaluations"] - second["outside"]


def test_an_edited_spec_keeps_what_is_still_in_its_space(spec: Path, tables: tuple[str, str]) -> None:
    run(spec, tables[0])
    spec.write_text(SPACE.replace("m = ", "renamed = ") + PSO, encoding="utf-8")
    assert run(spec, tables[0])["fits"] == 0
    spec.write_text(SPACE + "search random(evaluations = 30)\n", encoding="utf-8")
    found = run(spec, tables[0])
    assert found["reused"] > 0


def test_another_seed_is_another_run(spec: Path, tables: tuple[str, str]) -> None:
    assert run(spec, tables[0])["digest"] != run(spec, tables[0], "--seed", "5")["digest"]


def test_the_number_of_workers_changes_nothing(spec: Path, tables: tuple[str, str], tmp_path: Path) -> None:
    alone = run(spec, tables[0], "--store", str(tmp_path / "one"))
    both = run(spec, tables[0], "--store", str(tmp_path / "two"), "--jobs", "2")
    assert (both["best"], both["objectives"]) == (alone["best"], alone["objectives"])


def interrupted(spec: Path, table: str, folder: Path, batches: int) -> None:
    """A run that is stopped after some batches."""
    loaded = load(str(spec), table)
    assert loaded.table is not None
    plan = make_plan(loaded.spec, loaded.table)
    done = 0

    def stopped() -> bool:
        nonlocal done
        done += 1
        return done >= batches

    with Store.open(folder) as store, open_executor(plan.job, "inprocess") as executor:
        identity, _ = start_or_resume(store, RunRequest(plan, loaded.source, loaded.checked.sources))
        assert search(plan, store, identity, executor, stopped=stopped).ending == "interrupted"
        store.runs.end(identity, "interrupted")


@pytest.mark.parametrize("batches", [1, 3])
def test_a_resumed_run_ends_as_one_never_interrupted(
    spec: Path, tables: tuple[str, str], tmp_path: Path, batches: int
) -> None:
    whole = run(spec, tables[0], "--store", str(tmp_path / "whole"))
    interrupted(spec, tables[0], tmp_path / "cut", batches)
    resumed = run(spec, tables[0], "--store", str(tmp_path / "cut"))
    told = ("best", "objectives", "evaluations", "new", "reused", "failures", "outside")
    assert {name: resumed[name] for name in told} == {name: whole[name] for name in told}
    with Store.open(tmp_path / "whole", read_only=True) as one, Store.open(tmp_path / "cut", read_only=True) as other:
        (run_one,), (run_other,) = one.runs.all(), other.runs.all()
        assert one.runs.queries(run_one.id) == other.runs.queries(run_other.id)


def test_a_front_for_several_objectives(spec: Path, tables: tuple[str, str]) -> None:
    text = "use sbm\nchain m = keep >> knn(k = 3, rest = default)\nminimize error by cv(folds = 3), features\n"
    spec.write_text(text + "search cmdpso(swarm = 6, iterations = 4)\n", encoding="utf-8")
    found = run(spec, tables[0])
    values = [(point["objectives"]["error"], point["objectives"]["features"]) for point in found["front"]]
    assert values == sorted(values)
    assert all(a[1] > b[1] for a, b in pairwise(values))


def test_failures_are_rows_and_the_run_goes_on(spec: Path, tables: tuple[str, str]) -> None:
    text = 'use clop\nblock odd: learner for classification "sklearn.svm:NuSVC" { nu = 0.99 }\nchain m = odd | zarbi\n'
    spec.write_text(text + "search random(evaluations = 8)\n", encoding="utf-8")
    found = run(spec, tables[0])
    assert found["best"] == "zarbi"
    assert found["failures"] == 1


def test_a_class_that_is_not_trusted_stops_before_anything_runs(spec: Path, tables: tuple[str, str]) -> None:
    spec.write_text('block mine: learner "my_package:Thing" {}\nchain m = mine\n', encoding="utf-8")
    result = RUN.invoke(APP, ["run", str(spec), tables[0]])
    assert result.exit_code == 1
    assert "--trust my_package" in result.output
    assert not (spec.parent / ".msl").exists()


def test_one_worker_ends_when_the_time_is_up(tables: tuple[str, str], tmp_path: Path) -> None:
    """What waits behind the model under way is cancelled; nobody is left to wait for."""
    (tmp_path / "naps.py").write_text(
        "import time\nfrom sklearn.naive_bayes import GaussianNB\nclass Nap(GaussianNB):\n"
        "    def fit(self, X, y):\n        time.sleep(0.4)\n        return super().fit(X, y)\n",
        encoding="utf-8",
    )
    spec = tmp_path / "naps.msl"
    spec.write_text(
        'block nap: learner for classification "naps:Nap" { var_smoothing: real 1e-9..1 log }\nchain m = nap\n'
        "minimize ber by cv(folds = 2)\nsearch random(evaluations = 400)\nbudget(time = 6s)\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "msl", "run", str(spec), tables[0], "--json", "--jobs", "1", "--trust", "naps"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    # Far more than it takes; one that hangs is ended here.
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ending"] == "the time is up"


def test_a_spec_says_how_the_file_is_written(spec: Path, tmp_path: Path) -> None:
    lines = ["0|1|class", *(f"{place % 7},5|{place % 5}|{'ab'[place % 7 > 2]}" for place in range(30))]
    (tmp_path / "odd.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    layout = 'data(target = class, header = true, separator = "|", decimal = ",", numeric = ["1"])\n'
    spec.write_text(layout + spec.read_text(encoding="utf-8"), encoding="utf-8")
    about = run(spec, str(tmp_path / "odd.csv"))["data"]
    assert (about["rows"], about["features"], about["classes"]) == (30, 2, ["a", "b"])
    spec.write_text(
        spec.read_text(encoding="utf-8")
        .replace("header = true, ", "")
        .replace("target = class", "target = f3")
        .replace(', numeric = ["1"]', ""),
        encoding="utf-8",
    )
    assert run(spec, str(tmp_path / "odd.csv"), "--set", "data.header=false")["data"]["rows"] == 31
