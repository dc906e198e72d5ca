"""msl export of classes that are not ours: every parameter is kept, no `msl` is imported, and votes are written out."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from run_store import run_msl
from winner_cases import write_table

BESIDE = Path(__file__).parent / "foreign_blocks.py"
FOREIGN = (
    "\n".join(
        f'block {kind.lower()}: learner "foreign_blocks:{kind}" {{ max_depth: int 1..9, min_samples_leaf: int 1..60, '
        f"criterion: gini | entropy }}"
        for kind in ("Telling", "Silent", "Setting", "Bare", "SVC")
    )
    + '\nblock single: transformer "foreign_blocks:Single" {}\n'
)


def finished(folder: Path, text: str, table: str = "wine") -> list[str]:
    """A run in a folder with the foreign classes beside its spec; the options that the other verbs need."""
    shutil.copy(BESIDE, folder / "foreign_blocks.py")
    (folder / "spec.msl").write_text(FOREIGN + text, encoding="utf-8")
    data = write_table(table, folder)
    trust = ["--trust", "foreign_blocks"]
    store = ["--store", str(folder / ".msl")]
    code, _, err = run_msl("run", str(folder / "spec.msl"), str(data), "--on", "inprocess", *store, *trust)
    assert code == 0, err
    return [*store, *trust]


def exported(folder: Path, options: list[str]) -> tuple[str, set[str]]:
    """The text of the file, and the packages that it imports."""
    path = folder / "out" / "model.py"
    path.parent.mkdir()
    code, out, err = run_msl("export", "@", "-o", str(path), "--no-verify", *options)
    assert (code, out) == (0, ""), err
    text = path.read_text(encoding="utf-8")
    nodes = list(ast.walk(ast.parse(text)))
    modules = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return text, {module.partition(".")[0] for module in modules} - set(sys.stdlib_module_names)


def predicted(folder: Path, options: list[str], table: str) -> None:
    """The file alone, without msl in sight, predicts what `msl predict` does."""
    _, expected, _ = run_msl("predict", "@", str(folder / table), *options)
    hidden = folder / "hidden"
    hidden.mkdir()
    (hidden / "msl.py").write_text("raise ImportError('msl is not to be needed')\n", encoding="utf-8")
    shutil.copy(BESIDE, folder / "out")
    command = [sys.executable, str(folder / "out" / "model.py"), str(folder / table), str(folder / table)]
    environment = {**os.environ, "PYTHONPATH": str(hidden)}
    said = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert said.returncode == 0, said.stderr
    assert said.stderr.endswith("the same predictions as the run\n")
    assert said.stdout == expected


@pytest.mark.parametrize("kind", ["telling", "silent", "setting", "bare"])
def test_what_came_through_kwargs_is_kept(tmp_path: Path, kind: str) -> None:
    chain = f"chain m = {kind}(max_depth = 2, min_samples_leaf = 30, criterion = entropy)\nsearch grid\n"
    options = finished(tmp_path, chain)
    text, packages = exported(tmp_path, options)
    assert packages == {"foreign_blocks", "numpy", "polars"}
    call = next(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Return) and node.value)
    written = {each.arg: each.value.value for each in call.value.keywords}  # type: ignore[union-attr]
    assert written["min_samples_leaf"] == 30
    assert written["criterion"] == "entropy"
    assert "foreign_blocks" in text.partition("It needs ")[2].partition("\n")[0]
    predicted(tmp_path, options, "wine.csv")


LAYERED = """block layered: learner "foreign_blocks:Layered" {
  n_layers: int 1..2,
  units: vector(n_layers) of int 1..2,
  layers: vector(n_layers) of (conv { width: 3 | 5 } | pool {}),
}
"""


def test_layers_run_again_and_are_kept(tmp_path: Path) -> None:
    chain = "chain m = layered(n_layers = 2, units = [1, 2], layers = [conv { width = 3 }, pool {}]) | layered\n"
    options = finished(tmp_path, f"{LAYERED}{chain}search random(evaluations = 5)\nensemble vote(top = 2)\n")
    command = ["run", str(tmp_path / "spec.msl"), str(tmp_path / "wine.csv"), "--on", "inprocess", *options]
    code, out, err = run_msl(*command)
    assert code == 0, err
    assert "0 new" in out + err
    text, _ = exported(tmp_path, options)
    assert "units=(" in text
    assert "{'name': 'pool'}" in text or "{'name': 'conv', 'width': " in text
    predicted(tmp_path, options, "wine.csv")


def test_containers_of_the_standard_library_need_no_trust(tmp_path: Path) -> None:
    options = finished(tmp_path, "chain m = telling(min_samples_leaf = 9, rest = default)\nsearch grid\n")
    assert run_msl("predict", "@", str(tmp_path / "wine.csv"), *options)[0] == 0
    code, _, err = run_msl("predict", "@", str(tmp_path / "wine.csv"), *options[:2])
    assert code == 2
    assert "add `--trust foreign_blocks`" in err
    assert "collections" not in err


VOTES = {
    "hard": "ensemble vote(top = 4, voting = hard, always = true)\n",
    "weighted": "ensemble vote(top = 4, weighted = true, voting = hard, always = true)\n",
    "soft": "ensemble vote(top = 4, voting = soft, always = true)\n",
    "soft and weighted": "ensemble vote(top = 4, voting = soft, weighted = true, always = true)\n",
}
MEMBERS = (
    "use sklearn\nchain m = min_max(rest = default) >> (linear_svc(rest = default) | lda(rest = default)"
    " | telling(max_depth: int 1..2, min_samples_leaf = 20, criterion = gini))\n"
    "minimize ber by cv(folds = 2)\nsearch grid\n"
)


@pytest.mark.parametrize("vote", list(VOTES))
def test_a_vote_of_public_classes_is_written_out(tmp_path: Path, vote: str) -> None:
    options = finished(tmp_path, MEMBERS + VOTES[vote])
    text, packages = exported(tmp_path, options)
    assert packages <= {"foreign_blocks", "numpy", "polars", "sklearn"}
    assert "def vote(members, X):" in text
    predicted(tmp_path, options, "wine.csv")


def test_a_vote_of_numbers_is_the_mean(tmp_path: Path) -> None:
    learners = " | ".join(f"{one}(rest = default)" for one in ("ridge", "linear_regression", "lars"))
    spec = f"use sklearn\nchain m = {learners}\nsearch grid\nensemble vote(top = 3, weighted = true, always = true)\n"
    options = finished(tmp_path, spec, "diabetes")
    _, packages = exported(tmp_path, options)
    assert packages == {"numpy", "polars", "sklearn"}
    _, expected, _ = run_msl("predict", "@", str(tmp_path / "diabetes.csv"), *options)
    command = [sys.executable, str(tmp_path / "out" / "model.py"), *[str(tmp_path / "diabetes.csv")] * 2]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (said.returncode, said.stderr) == (0, "the same predictions as the run\n")
    pairs = zip(said.stdout.split()[1:], expected.split()[1:], strict=True)
    assert all(float(one) == pytest.approx(float(other), rel=1e-9) for one, other in pairs)


def test_classes_of_one_name_are_told_apart(tmp_path: Path) -> None:
    other = "svc(max_depth = 2, min_samples_leaf = 5, criterion = gini)"
    spec = f"use sklearn\nchain m = svm(rest = default) | {other}\nsearch grid\n"
    options = finished(tmp_path, spec + "ensemble vote(top = 2, voting = soft, always = true)\n")
    text, packages = exported(tmp_path, options)
    assert packages == {"foreign_blocks", "numpy", "polars", "sklearn"}
    assert "import SVC as SVC_2" in text
    predicted(tmp_path, options, "wine.csv")


def test_a_step_that_hands_on_other_than_plain_numbers(tmp_path: Path) -> None:
    options = finished(tmp_path, "use sklearn\nchain m = single >> lda(rest = default)\nsearch grid\n")
    text, packages = exported(tmp_path, options)
    assert packages == {"foreign_blocks", "numpy", "polars", "sklearn"}
    assert "FunctionTransformer(dense)" in text
    predicted(tmp_path, options, "wine.csv")
