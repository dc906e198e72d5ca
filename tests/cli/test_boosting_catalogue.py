"""`use boosting` from the spec to the exported file: any number of workers, missing libraries, export without msl."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Msl = Callable[..., Any]
LIBRARIES = {"lightgbm": "lightgbm", "xgboost": "xgboost", "catboost": "catboost", "hist_boosting": "sklearn"}


def write_table(path: Path, task: str) -> None:
    rng = np.random.default_rng(7)
    lines = ["a,b,c,d,target"]
    for _ in range(240):
        number, symbol, other = rng.normal(), rng.integers(9), rng.integers(4)
        signal = float(symbol in (1, 4, 7)) + 0.7 * number + 0.5 * float(other == 2)
        word = "" if rng.random() < 0.1 else f"s{symbol}"
        target = f"{signal:.4f}" if task == "regression" else ["low", "mid", "high"][int(signal > 0) + int(signal > 1)]
        lines.append(f"{number:.4f},{word},t{other},{rng.normal():.4f},{target}")
    path.write_text("\n".join(lines), encoding="utf-8")


def spec_of(chain: str, task: str = "classification", search: str = "grid") -> str:
    metric = "rmse" if task == "regression" else "ber"
    data = f"data(target = target, task = {task})"
    return f"{data}\nuse boosting\nchain m = {chain}\nminimize {metric} by cv(folds = 2)\nsearch {search}\n"


def prepared(folder: Path, chain: str, task: str = "classification", search: str = "grid") -> tuple[str, str]:
    write_table(folder / "t.csv", task)
    (folder / "m.msl").write_text(spec_of(chain, task, search), encoding="utf-8")
    return str(folder / "m.msl"), str(folder / "t.csv")


def rounds(block: str) -> str:
    return "max_iter" if "hist" in block else "n_estimators"


@pytest.mark.parametrize(
    ("block", "task"),
    [
        ("lightgbm", "classification"),
        ("balanced_xgboost", "classification"),
        ("catboost", "classification"),
        ("hist_boosting", "regression"),
    ],
)
def test_a_winner_becomes_code_without_msl(tmp_path: Path, msl: Msl, block: str, task: str) -> None:
    pytest.importorskip(LIBRARIES[block.removeprefix("balanced_")])
    chain = f"{block}({rounds(block)} = 20, early_stopping = 5, rest = default)"
    ran = msl("run", *prepared(tmp_path, chain, task), "--on", "inprocess")
    assert ran.code == 0, ran.err
    files = ["-o", str(tmp_path / "model.py"), "--skops", str(tmp_path / "model.skops")]
    done = msl("export", "@", *files, "--store", str(tmp_path / ".msl"))
    assert done.code == 0, done.err
    assert "the same predictions as the run" in done.err
    text = (tmp_path / "model.py").read_text(encoding="utf-8")
    assert "import msl" not in text
    assert "from msl" not in text
    again = msl("predict", "@", str(tmp_path / "t.csv"), "--store", str(tmp_path / ".msl"))
    assert again.code == 0, again.err


def test_a_vote_of_several_becomes_code_without_msl(tmp_path: Path, msl: Msl) -> None:
    pytest.importorskip("lightgbm")
    chain = "lightgbm(n_estimators: 20 | 25, rest = default)"
    spec, table = prepared(tmp_path, chain)
    with Path(spec).open("a", encoding="utf-8") as file:
        file.write("ensemble vote(top = 2, always = true)\n")
    ran = msl("run", spec, table, "--on", "inprocess")
    assert ran.code == 0, ran.err
    done = msl("export", "@", "-o", str(tmp_path / "model.py"), "--store", str(tmp_path / ".msl"))
    assert done.code == 0, done.err
    text = (tmp_path / "model.py").read_text(encoding="utf-8")
    assert "members[1].fit(X, y, categorical_feature=[1, 2])" in text
    assert "from msl" not in text


def test_the_same_for_one_and_two_workers(tmp_path: Path, msl_process: Callable[..., Any]) -> None:
    known = [name for name, package in LIBRARIES.items() if not pytest_missing(package)]
    chain = " | ".join(f"{name}({rounds(name)}: 20..25, early_stopping: 5..6, rest = default)" for name in known)
    spec, table = prepared(tmp_path, chain, search="random(evaluations = 6)")
    said = []
    for jobs in ("1", "2"):
        ran = msl_process("run", spec, table, "--jobs", jobs, "--store", str(tmp_path / f"store{jobs}"), "--json")
        assert ran.returncode == 0, ran.stderr
        report = json.loads(ran.stdout.splitlines()[0])
        assert report["failures"] == 0
        said.append([report[key] for key in ("digest", "best", "objectives", "complexity", "evaluations")])
    assert said[0] == said[1]


def pytest_missing(package: str) -> bool:
    from importlib.util import find_spec

    return find_spec(package) is None


# --- where a library is not installed ---------------------------------------------------------------------------------


@pytest.fixture
def without_xgboost(monkeypatch: pytest.MonkeyPatch) -> None:
    from msl.blocks.base import load

    find = load.find_spec
    monkeypatch.setattr(load, "find_spec", lambda name: None if name == "xgboost" else find(name))
    monkeypatch.delitem(sys.modules, "xgboost", raising=False)


@pytest.mark.usefixtures("without_xgboost")
@pytest.mark.parametrize("verb", ["check", "plan", "run"])
def test_a_library_that_is_missing_is_told_once_and_first(tmp_path: Path, msl: Msl, verb: str) -> None:
    spec, table = prepared(tmp_path, "xgboost | balanced_xgboost | hist_boosting")
    given = [spec, "--data", table] if verb == "check" else [spec, table]
    said = msl(verb, *given)
    assert said.code == 1
    assert said.err.count("MSL216") + said.out.count("MSL216") == 1
    shown = said.err + said.out
    assert "`xgboost` needs `xgboost-cpu`, which is not installed" in shown
    assert "pip install 'msl-lang[boosting]'" in shown
    assert "m.msl:3:11" in shown
    assert not (tmp_path / ".msl").exists()
    assert msl("check", spec).code == 0


def test_checking_without_a_table_imports_no_library(tmp_path: Path) -> None:
    spec, _ = prepared(tmp_path, "lightgbm | xgboost | catboost | hist_boosting")
    program = (
        "import sys; from msl.cli.main import main\n"
        f"sys.argv = ['msl', 'check', {spec!r}]\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(sorted({'lightgbm', 'xgboost', 'catboost', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_a_class_of_the_library_itself_still_has_to_be_trusted(tmp_path: Path, msl: Msl) -> None:
    pytest.importorskip("lightgbm")
    block = (
        'block own: learner "lightgbm:LGBM*" { n_estimators = 20, max_bin = 31, min_data_in_leaf = 5, verbosity = -1 }'
    )
    spec, table = prepared(tmp_path, "own")
    Path(spec).write_text(f"{block}\n{Path(spec).read_text(encoding='utf-8')}", encoding="utf-8")
    said = msl("run", spec, table, "--on", "inprocess")
    assert said.code == 1
    assert "--trust lightgbm" in said.err
    assert msl("run", spec, table, "--on", "inprocess", "--trust", "lightgbm").code == 0
    given = ["--store", str(tmp_path / ".msl"), "--trust", "lightgbm"]
    done = msl("export", "@", "-o", str(tmp_path / "model.py"), *given)
    assert done.code == 0, done.err
    text = (tmp_path / "model.py").read_text(encoding="utf-8")
    assert "max_bin=31" in text
    assert "min_data_in_leaf=5" in text


def test_what_a_block_is_can_be_read(msl: Msl) -> None:
    shown = msl("blocks", "boosting.lightgbm")
    assert shown.code == 0
    assert "LightGBM: trees that grow leaf by leaf" in shown.out
    assert "early_stopping" in shown.out
