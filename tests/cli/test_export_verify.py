"""msl export proves what it writes: on the table of the run the code predicts what the run did, or there is no file."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from winner_cases import Finished

from msl.export import python_template
from msl.export.verify import CheckFailed, check_python, check_skops
from msl.runner.trained_model import estimator_bytes

Run = Callable[..., Any]
Get = Callable[[str], Finished]


@pytest.mark.parametrize("case", ["plain", "forest", "boosting", "soft_vote", "numbers"])
def test_code_is_tested_on_the_table_of_the_run(msl: Run, finished: Get, tmp_path: Path, case: str) -> None:
    done = finished(case)
    shown = msl("export", "@", "-o", str(tmp_path / "model.py"), "--store", str(done.store))
    assert (shown.code, shown.out) == (0, "")
    assert shown.err == f"tested on {done.table}: the same predictions as the run\n"
    assert "def make_model():" in (tmp_path / "model.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            "return make_model().fit(X, y{{arguments}})",
            "return make_model().fit(X, y[::-1])",
            "does not predict what the model",
        ),
        (
            "return make_model().fit(X, y{{arguments}})",
            "return make_model().fit(X, z)",
            "does not run: NameError: name 'z'",
        ),
        ("return make_model().fit(X, y{{arguments}})", "sys.exit(3)", "does not run: it ended with 3"),
    ],
)
def test_what_fails_is_told_and_not_written(
    msl: Run, finished: Get, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, after: str, words: str
) -> None:
    monkeypatch.setattr(python_template, "FIT_ONE", python_template.FIT_ONE.replace(before, after))
    done = finished("plain")
    files = tmp_path / "model.py", tmp_path / "model.skops"
    given = ["-o", str(files[0]), "--skops", str(files[1]), "--store", str(done.store)]
    shown = msl("export", "@", *given)
    assert (shown.code, shown.out) == (1, "")
    assert words in shown.err
    assert "nothing was written" in shown.err
    assert "--no-verify" in shown.err
    assert list(tmp_path.iterdir()) == []
    assert msl("export", "@", *given, "--no-verify").code == 0
    assert all(file.exists() for file in files)


def test_a_test_that_does_not_end_is_ended(finished: Get, tmp_path: Path) -> None:
    child = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']).wait()"
    before = {each for each in os.listdir("/proc") if each.isdigit()} if Path("/proc").exists() else set()
    with pytest.raises(CheckFailed, match="not done after 2 s"):
        check_python(child, str(finished("plain").table), tmp_path, (), seconds=2)
    for each in {each for each in os.listdir("/proc") if each.isdigit()} - before if before else ():
        try:
            command = Path("/proc", each, "cmdline").read_bytes()
        except OSError:
            continue
        assert b"time.sleep(600)" not in command


def test_a_table_that_is_gone_or_changed_is_told(msl: Run, finished: Get, tmp_path: Path) -> None:
    done = finished("plain")
    moved = tmp_path / "elsewhere"
    shutil.copytree(done.store, moved / ".msl")
    other = tmp_path / "other.csv"
    lines = done.table.read_text(encoding="utf-8").splitlines()
    other.write_text("\n".join(lines[:-1]), encoding="utf-8")
    hidden = done.table.rename(done.table.with_suffix(".away"))
    try:
        output = ["-o", str(tmp_path / "model.py"), "--store", str(moved / ".msl")]
        shown = msl("export", "@", *output)
        assert shown.code == 0
        assert "warning: the code is not tested: there is no file" in shown.err
        assert "`--data TABLE`" in shown.err
        (tmp_path / "model.py").unlink()
        shown = msl("export", "@", *output, "--data", str(other))
        assert shown.code == 2
        assert "is not the table of the run" in shown.err
        assert not (tmp_path / "model.py").exists()
        shown = msl("export", "@", *output, "--data", str(hidden))
        assert (shown.code, shown.err) == (0, f"tested on {hidden}: the same predictions as the run\n")
    finally:
        hidden.rename(done.table)


def test_nothing_beside_the_file_or_the_spec_is_imported_but_what_is_trusted(
    finished: Get, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("csv", "numpy", "unheard_of", "mine"):
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('{name} was imported')\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    table = str(finished("plain").table)
    check_python("import csv, numpy\n", table, tmp_path, ("mine",))
    with pytest.raises(CheckFailed, match="No module named 'unheard_of'"):
        check_python("import unheard_of\n", table, tmp_path, ("mine",))
    with pytest.raises(CheckFailed, match="mine was imported"):
        check_python("import mine\n", table, tmp_path, ("mine",))


def test_a_saved_model_that_predicts_otherwise_is_not_written(
    msl: Run, finished: Get, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = finished("plain"), finished("boosting")
    check_skops(estimator_bytes(one.trained), one.trained, ())
    monkeypatch.setattr("msl.runner.trained_model.estimator_bytes", lambda trained: estimator_bytes(other.trained))
    path = tmp_path / "model.skops"
    shown = msl("export", "@", "--skops", str(path), "--store", str(one.store))
    assert (shown.code, shown.out) == (1, "")
    assert "does not predict what it predicts here; nothing was written" in shown.err
    assert not path.exists()
