"""What libraries warn of does not come through raw: it is counted, told in one line, and kept for `msl show`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from sklearn.datasets import load_iris

SPEC = """
use sklearn
block noisy: learner for classification "noisy_learners:Noisy" {}
chain m = standard_scaler? >> noisy
minimize error by cv(folds = 3)
search grid
ensemble vote(top = 2)
"""


def write(folder: Path) -> None:
    X, y = load_iris(return_X_y=True)
    lines = ["a,b,c,d,kind", *(",".join([*map(str, row), f"kind {label}"]) for row, label in zip(X, y, strict=True))]
    (folder / "iris.csv").write_text("\n".join(lines[::2]) + "\n", encoding="utf-8")
    (folder / "spec.msl").write_text(SPEC, encoding="utf-8")


def msl(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from msl.cli.main import main; main()", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent), "NO_COLOR": "1", **environment},
    )


def test_no_verb_lets_warnings_through(tmp_path: Path) -> None:
    write(tmp_path)
    trust = ("--trust", "noisy_learners")
    done = msl(tmp_path, "run", "spec.msl", "iris.csv", "--test", "iris.csv", "--jobs", "2", *trust)
    assert done.returncode == 0, done.stderr
    for words in ("Warning:", "warnings.warn", "invalid value", "Maximum number"):
        assert words not in done.stderr, done.stderr
    assert "warning: this package is old" in done.stderr, "that of the import, in one line"
    assert "2 kinds of warnings, see msl show" in done.stdout
    shown = msl(tmp_path, "show", "@").stdout
    assert "× Maximum number of iteration reached after 0 steps" in shown
    assert "× invalid value encountered in predict" in shown
    kept = json.loads(msl(tmp_path, "show", "@", "--json").stdout)["result"]["warnings"]
    by_kind = {each["warning"].split()[0]: each["models"] for each in kept}
    assert by_kind["Maximum"] == by_kind["invalid"] == 6  # five models, and the winners on every row

    predicted = msl(tmp_path, "predict", "@", "iris.csv", *trust)
    assert predicted.returncode == 0, predicted.stderr
    assert predicted.stdout.count("\n") == 76
    lines = predicted.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("warning: ")
    assert "(and 1 more)" in lines[0] or "encountered" in lines[0]
    for verb in (("plan", "spec.msl", "iris.csv"), ("export", "@", "-o", "model.py")):
        said = msl(tmp_path, *verb, *trust)
        assert said.returncode == 0, said.stderr
        assert "warnings.warn" not in said.stderr
        assert "Warning:" not in said.stderr


def test_who_asks_python_for_warnings_gets_them(tmp_path: Path) -> None:
    write(tmp_path)
    done = msl(
        tmp_path, "plan", "spec.msl", "iris.csv", "--trust", "noisy_learners", PYTHONWARNINGS="default::FutureWarning"
    )
    assert "FutureWarning: this package is old" in done.stderr
