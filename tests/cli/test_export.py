"""msl export: the exported code, fitted on the same table, predicts what the winner of the run predicts."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import skops.io
from winner_cases import CASES, Finished

Run = Callable[..., Any]
Get = Callable[[str], Finished]
PLAIN = {"plain", "forest", "margin", "union", "numbers", "boosting"}


def exported(msl: Run, done: Finished, folder: Path) -> tuple[str, Any]:
    """The text of the exported file and what it defines."""
    path = folder / "model.py"
    shown = msl("export", "@", "-o", str(path), "--no-verify", "--store", str(done.store))
    assert (shown.code, shown.out, shown.err) == (0, "", "")
    text = path.read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "exported"}
    exec(compile(text, str(path), "exec"), names)
    return text, SimpleNamespace(**names)


@pytest.mark.parametrize("name", [case.name for case in CASES])
def test_exported_code_predicts_as_the_run_does(msl: Run, finished: Get, tmp_path: Path, name: str) -> None:
    done = finished(name)
    _, module = exported(msl, done, tmp_path)
    X, y = module.training_rows(done.table)
    table = done.trained.read(done.table)
    assert np.array_equal(X, table.X, equal_nan=True)
    model = module.fit(X, y)
    predicted, expected = module.predict(model, X), done.trained.predict(table)
    if expected.dtype.kind == "f":  # sums in another order differ in the last digits
        assert np.allclose(predicted, expected, rtol=1e-9, atol=0)
    else:
        assert predicted.tolist() == expected.tolist()
    assert module.self_test(model)


@pytest.mark.parametrize("name", [case.name for case in CASES])
def test_only_our_own_blocks_need_this_package(msl: Run, finished: Get, tmp_path: Path, name: str) -> None:
    text, _ = exported(msl, finished(name), tmp_path)
    modules = {node.module or "" for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)}
    own = {module for module in modules if module.startswith("msl")}
    assert (own == set()) == (name in PLAIN)
    assert own <= {"msl.blocks"}
    assert all(module.startswith("sklearn.") for module in modules - own - {"collections", "datetime"})
    assert not any(part.startswith("_") for module in modules for part in module.split("."))


def test_the_self_test_notices_another_model(msl: Run, finished: Get, tmp_path: Path) -> None:
    done = finished("plain")
    _, module = exported(msl, done, tmp_path)
    X, y = module.training_rows(done.table)
    assert module.self_test(module.fit(X, y))
    assert not module.self_test(module.fit(X, np.roll(y, 20)))


def test_the_file_is_a_command(msl: Run, finished: Get, tmp_path: Path) -> None:
    done = finished("forest")
    exported(msl, done, tmp_path)
    command = [sys.executable, str(tmp_path / "model.py"), str(done.table)]
    fine = subprocess.run([*command, str(done.table)], capture_output=True, text=True, check=False)
    assert (fine.returncode, fine.stderr) == (0, "the same predictions as the run\n")
    expected = done.trained.predict(done.trained.read(done.table)).tolist()
    assert fine.stdout.splitlines() == ["class", *expected]
    lines = done.table.read_text(encoding="utf-8").splitlines()
    (tmp_path / "other.csv").write_text("\n".join([lines[0], *lines[10:]][:60]), encoding="utf-8")
    other = subprocess.run([*command[:2], str(tmp_path / "other.csv")], capture_output=True, text=True, check=False)
    assert other.returncode == 1
    assert "NOT the predictions of the run" in other.stderr


def test_missing_columns_and_strange_classes_are_named(msl: Run, finished: Get, tmp_path: Path) -> None:
    done = finished("symbols")
    _, module = exported(msl, done, tmp_path)
    with pytest.raises(ValueError, match="lacks the columns colour, f3"):
        module.features(module.Table({"f0": ["1"], "f1": ["1"], "f2": ["1"]}))
    with pytest.raises(ValueError, match="has classes that the model does not know: kind 7"):
        module.target(module.Table({"class": ["kind 1", "kind 7"]}))
    cells = {"f0": ["1,5"], "f1": ["?"], "f2": ["1"], "f3": [""], "colour": ["violet"]}
    X = module.features(module.Table(cells, (".", ",")))
    assert X.shape == (1, 5)
    assert np.isnan(X[0]).tolist() == [True, False, True, False, True]


def test_skops_alone_reads_the_fitted_model(msl: Run, finished: Get, tmp_path: Path) -> None:
    done = finished("own_blocks")
    path = tmp_path / "model.skops"
    assert msl("export", "@", "--skops", str(path), "--store", str(done.store)).out == ""
    model = skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))
    table = done.trained.read(done.table)
    assert model.predict(table.X).tolist() == done.trained.predict(table).tolist()


def test_without_a_file_the_code_is_shown(msl: Run, finished: Get) -> None:
    shown = msl("export", "@", "--no-verify", "--store", str(finished("plain").store))
    assert "def make_model():" in shown.out


def test_wrong_names_are_told(msl: Run, finished: Get) -> None:
    shown = msl("export", "nobody", "--store", str(finished("plain").store))
    assert shown.code == 2
    assert "there is no run `nobody`" in shown.err
