"""`use boosting` from the spec to the exported file: any number of workers, missing libraries, export without msl."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from msl import blocks
from msl.export.python_file import Exportable
from msl.runner.versions import versions_of_targets

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


@pytest.mark.parametrize("block", ["lightgbm", "balanced_xgboost"])
def test_code_fits_with_the_weights_of_the_run(tmp_path: Path, msl: Msl, block: str) -> None:
    pytest.importorskip(LIBRARIES[block.removeprefix("balanced_")])
    spec, table = prepared(tmp_path, f"{block}(n_estimators = 20, rest = default)")
    text = Path(spec).read_text(encoding="utf-8").replace("data(", "data(weight = w, ")
    Path(spec).write_text(text, encoding="utf-8")
    first, *lines = Path(table).read_text(encoding="utf-8").splitlines()
    weighed = [f"w,{first}", *(f"{1 + place % 5},{line}" for place, line in enumerate(lines))]
    Path(table).write_text("\n".join(weighed), encoding="utf-8")
    ran = msl("run", spec, table, "--on", "inprocess")
    assert ran.code == 0, ran.err
    done = msl("export", "@", "-o", str(tmp_path / "model.py"), "--store", str(tmp_path / ".msl"))
    assert done.code == 0, done.err
    assert "the same predictions as the run" in done.err
    assert "from msl" not in (tmp_path / "model.py").read_text(encoding="utf-8")


def test_the_same_for_one_and_two_workers(tmp_path: Path, msl_process: Callable[..., Any]) -> None:
    known = [name for name, package in LIBRARIES.items() if find_spec(package) is not None]
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


def test_a_saved_model_whose_library_is_missing(tmp_path: Path, msl: Msl, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("lightgbm")
    spec, table = prepared(tmp_path, "lightgbm(n_estimators = 20, rest = default)")
    assert msl("run", spec, table, "--on", "inprocess").code == 0
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    said = msl("predict", "@", table, "--store", str(tmp_path / ".msl"))
    assert said.code == 2
    assert "needs `lightgbm`, which is not installed" in said.err


def test_evaluations_depend_on_the_version_of_the_library() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    versions = versions_of_targets(frozenset({"msl.blocks:LightGBM*"}))
    assert versions["lightgbm"] == lightgbm.__version__
    assert "catboost" not in versions


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


@pytest.mark.parametrize(
    ("block", "task", "reason"),
    [
        ("lightgbm", "classification", ""),
        ("xgboost", "regression", ""),
        ("catboost", "classification", "statistics of symbols"),
        ("hist_boosting", "regression", "splits on sets of symbols"),
    ],
)
def test_onnx_where_the_library_can(tmp_path: Path, msl: Msl, block: str, task: str, reason: str) -> None:
    pytest.importorskip(LIBRARIES[block])
    pytest.importorskip("onnxmltools")
    runtime = pytest.importorskip("onnxruntime")
    chain = f"{block}({rounds(block)} = 20, rest = default)"
    assert msl("run", *prepared(tmp_path, chain, task), "--on", "inprocess").code == 0
    done = msl("export", "@", "--onnx", str(tmp_path / "model.onnx"), "--store", str(tmp_path / ".msl"))
    if reason:
        assert done.code == 2
        assert reason in done.err
        return
    assert done.code == 0, done.err
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    said = session.run(None, {"X": np.array([[0.3, 2.0, 1.0, -0.2], [2.5, 1.0, 2.0, 0.1]])})[0]
    assert len(said) == 2


@pytest.mark.parametrize("library", ["LightGBM", "XGBoost", "CatBoost"])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_onnx_of_numbers_says_the_same(library: str, n_classes: int) -> None:
    pytest.importorskip(library.lower())
    pytest.importorskip("onnxmltools")
    pytest.importorskip("onnxruntime")
    from msl.export.onnx import export_onnx

    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(200, 3))
    signal = X[:, 0] + X[:, 1] ** 2
    y = signal if not n_classes else np.searchsorted([0.5, 2.0][: n_classes - 1], signal)
    learner = getattr(blocks, library + ("Classifier" if n_classes else "Regressor"))(n_estimators=10, random_state=1)
    kind = blocks.ChainClassifier if n_classes else blocks.ChainRegressor
    chain = kind([], learner)
    chain.fit_arrays(X, y, n_classes)
    given = Exportable(
        title="",
        text="",
        estimator=chain,
        columns=("a", "b", "c"),
        symbols={},
        target="y",
        classes=tuple(range(n_classes)),
        missing=(),
        separator=None,
        ranges=np.column_stack([X.min(axis=0), X.max(axis=0)]),
    )
    assert export_onnx(given).content  # it compares what the file says with the model itself
