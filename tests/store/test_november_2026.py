"""Stores, lock files and models of November 2026, from before blocks had public names and revisions, stay usable."""

from __future__ import annotations

import csv
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

import msl.blocks
from msl.blocks.public import PACKAGE, current_name
from msl.cli.main import main
from msl.store.lock import read_lock
from msl.store.store import Store

KEPT = Path(__file__).parent / "november_2026"
#: The table of each run, and what `msl log` calls the run: the run of `clop` was followed by one that was interrupted.
TABLES = {
    "clop": "wine.csv",
    "kms": "wine.csv",
    "rbf": "curve.csv",
    "sbm": "sales.csv",
    "mopso": "wine.csv",
    "failures": "signs.csv",
}
FINISHED = {name: "@1" if name == "clop" else "@" for name in TABLES}
LOCKED = {"clop": "wine.csv", "sbm": "sales.csv"}


@dataclass(frozen=True)
class Told:
    code: int
    out: str
    err: str


Run = Callable[..., Told]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Told]:
    """Runs a command in a folder that has everything as it was, with the stores unpacked."""
    folder = tmp_path / "november"
    shutil.copytree(KEPT, folder)
    for name in TABLES:
        with ZipFile(folder / f"{name}_store.zip") as archive:
            archive.extractall(folder / f"{name}_store")
    monkeypatch.chdir(folder)

    def command(*arguments: str) -> Told:
        monkeypatch.setattr(sys, "argv", ["msl", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        captured = capsys.readouterr()
        return Told(left.value.code if isinstance(left.value.code, int) else 0, captured.out, captured.err)

    return command


@pytest.mark.parametrize("name", TABLES)
def test_a_store_can_be_looked_at(run: Run, name: str) -> None:
    store = ["--store", f"{name}_store"]
    logged, shown = run("log", *store), run("show", FINISHED[name], *store)
    assert (logged.code, logged.err, shown.code, shown.err) == (0, "", 0, "")
    assert f"{name}.msl" in logged.out
    assert "finished" in shown.out
    assert ("6 failed" in shown.out) == (name == "failures")
    assert run("report", FINISHED[name], "-o", "report.html", *store).code == 0
    assert f"{name}.msl" in Path("report.html").read_text(encoding="utf-8")
    examined = run("doctor", *store)
    assert (examined.code, "in order" in examined.out + examined.err) == (0, True)


#: Blocks of `clop` have other parameters since: their models predict as before, and are not exported.
USABLE = [name for name in TABLES if name != "clop"]


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_a_model_predicts_what_it_predicted(run: Run, name: str) -> None:
    proba = [] if name == "rbf" else ["--proba"]
    told = run("predict", FINISHED[name], TABLES[name], *proba, "--store", f"{name}_store")
    assert told.code == 0, told.err
    before = list(csv.reader((KEPT / f"{name}_predictions.csv").read_text().splitlines()))
    now = list(csv.reader(told.out.splitlines()))
    assert now[0] == before[0]
    first_number = len(before[0]) > 1  # the first column has labels where there are probabilities
    assert [row[:first_number] for row in now] == [row[:first_number] for row in before]
    numbers, old_numbers = (
        np.array([row[first_number:] for row in rows[1:]], dtype=np.float64) for rows in (now, before)
    )
    assert np.allclose(numbers, old_numbers, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", USABLE)
def test_a_model_can_be_exported(run: Run, name: str) -> None:
    told = run("export", FINISHED[name], "-o", "model.py", "--data", TABLES[name], "--store", f"{name}_store")
    assert told.code == 0, told.err
    assert "the same predictions as the run" in told.out + told.err
    assert "msl.blocks." not in Path("model.py").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_model_whose_blocks_have_other_parameters_now_is_not_exported_as_another_one(run: Run) -> None:
    told = run("export", FINISHED["clop"], "-o", "model.py", "--data", "wine.csv", "--store", "clop_store")
    assert told.code == 2
    assert "an earlier version of MSL made this model, and `ReliefRanker` has had other parameters since" in told.err
    assert not Path("model.py").exists()


def test_the_model_of_an_interrupted_run_predicts(run: Run) -> None:
    told = run("predict", "@", "wine.csv", "--store", "clop_store")
    assert told.code == 0, told.err
    assert len(told.out.splitlines()) == len(Path("wine.csv").read_text().splitlines())


@pytest.mark.slow
def test_an_interrupted_run_starts_anew_and_says_why(run: Run) -> None:
    with Store.open(Path("clop_store"), read_only=True) as store:
        before = {one.id: one.status for one in store.runs.all()}
        stored = len(store.evaluations)
    interrupted = next(one for one, status in before.items() if status == "interrupted")
    command = ("run", "clop.msl", "wine.csv", "--seed", "4", "--on", "inprocess", "--store", "clop_store")
    told = run(*command)
    assert told.code == 0, told.err
    assert (
        f"kept 0, outside 0, {stored} not reused, because an earlier version of MSL made them, which did not record"
        f" revisions of blocks; the interrupted run {interrupted} is not continued for the same reason, and is kept"
    ) in told.err
    with Store.open(Path("clop_store"), read_only=True) as store:
        after = {one.id: one.status for one in store.runs.all()}
        assert before.items() <= after.items(), "nothing is lost"
        assert len(after) == len(before) + 1
        assert len(store.evaluations) > stored
    again = run(*command)
    assert "is not continued" not in again.err, "a run has followed it"
    assert "(0 new" in again.out


@pytest.mark.slow
@pytest.mark.parametrize(("name", "table"), LOCKED.items())
def test_a_lock_file_is_read_and_says_what_differs(run: Run, name: str, table: str) -> None:
    lock = read_lock(Path(f"{name}.lock"))
    assert lock.seed == 3
    given = [f"{name}.msl", table, "--seed", "3"]
    checked = run("lock", *given, "--check")
    why = "an earlier version of MSL wrote the lock file, and digests of spaces were made in another way then"
    listed = [line for line in checked.err.splitlines() if line.startswith(("  digests", "  bounds"))]
    assert checked.code == 1
    differing = [line.partition(":")[0].strip() for line in listed]
    assert differing[0] == "digests.space"
    # `clop` has linear scales since; nothing else has changed.
    assert all(name == "clop" and "log" in line for line in listed[1:])
    assert why in listed[0]
    refused = run("run", *given, "--locked", "--store", f"{name}_store")
    assert refused.code == 2
    assert why in refused.err
    assert f"write it anew with `msl lock {name}.msl DATA`" in refused.err
    assert run("lock", *given).code == 0
    assert run("lock", *given, "--check").code == 0


def test_the_classes_of_saved_models_are_found_by_their_former_names() -> None:
    former = (KEPT / "class_names.txt").read_text().split()
    for name in former:
        module, _, class_name = name.rpartition(".")
        package, today = current_name(module, class_name)
        assert package == PACKAGE
        assert isinstance(getattr(msl.blocks, today), type), name
