"""What `--trust` lets in: the packages that are named, and nothing else that lies beside a spec."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

#: Modules that some part of a run imports, here and in its workers, now or later.
TEMPTING = ("json", "skops", "numpy", "sklearn", "polars", "random", "pickle", "msl", "zipfile", "sitecustomize")
TRAP = "open({trap!r}, 'a').write(__name__ + chr(10))\nraise ImportError('a trap')\n"
LEARNER = """\
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
{more}
class Mean(ClassifierMixin, BaseEstimator):
    def __init__(self, a=0.5):
        self.a = a
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self
    def predict(self, X):
        return self.classes_[(X[:, 0] > self.a).astype(int)]
"""
SPEC = """\
block mean: learner for classification "{module}:Mean" {{ a: 0.25 | 0.5 | 0.75 }}
chain m = mean
minimize error by cv(folds = 2)
search grid
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder that somebody has sent: a spec, a table, a learner, and traps."""
    folder = tmp_path / "sent"
    folder.mkdir()
    for name in TEMPTING:
        (folder / f"{name}.py").write_text(TRAP.format(trap=str(tmp_path / "trapped")), encoding="utf-8")
    write_spec(folder, "own_block")
    (folder / "own_block.py").write_text(LEARNER.format(more=""), encoding="utf-8")
    rows = [f"{place / 20:.3f},{'ab'[place > 9]}" for place in range(20)]
    (folder / "t.csv").write_text("\n".join(["x,class", *rows]) + "\n", encoding="utf-8")
    return folder


def write_spec(folder: Path, module: str) -> None:
    (folder / "m.msl").write_text(SPEC.format(module=module), encoding="utf-8")


def msl(folder: Path, *arguments: str, installed: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command as it is installed: the current folder is not on its path."""
    environment = {**os.environ, "NO_COLOR": "1"}
    if installed is not None:
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(installed), os.environ.get("PYTHONPATH")]))
    program = [sys.executable, "-P", "-c", "from msl.cli.main import main; main()"]
    return subprocess.run([*program, *arguments], cwd=folder, env=environment, capture_output=True, text=True)


def trapped(folder: Path) -> list[str]:
    file = folder.parent / "trapped"
    return file.read_text().split() if file.exists() else []


def configure(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str | bytes) -> Path:
    """The user's own file of trusted packages."""
    file = folder.parent / "config" / "msl" / "trust"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder.parent / "config"))
    return file


def test_only_the_named_module_beside_a_spec_is_imported(here: Path) -> None:
    ran = msl(here, "run", "m.msl", "t.csv", "--trust", "own_block", "--jobs", "1")
    assert (ran.returncode, trapped(here)) == (0, []), ran.stderr
    for verb in (["predict", "@", "t.csv"], ["export", "@", "--skops", "m.skops"]):
        used = msl(here, *verb, "--trust", "own_block")
        assert (used.returncode, trapped(here)) == (0, []), used.stderr


def test_a_run_without_trust_imports_nothing_from_the_current_folder(here: Path) -> None:
    (here / "m.msl").write_text("use clop\nchain m = zarbi | naive\nminimize error by cv(folds = 2)\nsearch grid\n")
    ran = msl(here, "run", "m.msl", "t.csv", "--jobs", "1")
    assert (ran.returncode, trapped(here)) == (0, []), ran.stderr


def test_what_a_trusted_module_imports_has_to_be_trusted_too(here: Path) -> None:
    (here / "own_block.py").write_text(LEARNER.format(more="import own_parts"), encoding="utf-8")
    (here / "own_parts.py").write_text("", encoding="utf-8")
    refused = msl(here, "run", "m.msl", "t.csv", "--trust", "own_block", "--jobs", "1")
    assert refused.returncode == 1
    assert "No module named 'own_parts'" in refused.stderr
    assert "if you trust its code, add `--trust own_parts`" in refused.stderr
    both = msl(here, "run", "m.msl", "t.csv", "--trust", "own_block", "--trust", "own_parts", "--jobs", "1")
    assert both.returncode == 0, both.stderr


def test_a_package_with_parts_is_trusted_as_a_whole(here: Path) -> None:
    (here / "own_package").mkdir()
    (here / "own_package" / "__init__.py").write_text("", encoding="utf-8")
    (here / "own_package" / "inner.py").write_text(LEARNER.format(more=""), encoding="utf-8")
    write_spec(here, "own_package.inner")
    ran = msl(here, "run", "m.msl", "t.csv", "--trust", "own_package", "--jobs", "1")
    assert ran.returncode == 0, ran.stderr


def installed_package(here: Path) -> Path:
    site = here.parent / "site"
    site.mkdir()
    (site / "made_elsewhere.py").write_text(LEARNER.format(more=""), encoding="utf-8")
    (here / "made_elsewhere.py").write_text((here / "json.py").read_text(), encoding="utf-8")
    write_spec(here, "made_elsewhere")
    return site


def test_an_installed_package_goes_before_a_module_beside_the_spec(here: Path) -> None:
    site = installed_package(here)
    ran = msl(here, "run", "m.msl", "t.csv", "--trust", "made_elsewhere", "--jobs", "1", installed=site)
    assert (ran.returncode, trapped(here)) == (0, []), ran.stderr


def test_trust_is_said_once_in_a_file_of_the_users(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = installed_package(here)
    refused = msl(here, "run", "m.msl", "t.csv", "--on", "inprocess", installed=site)
    assert refused.returncode == 1
    assert "add `--trust made_elsewhere`" in refused.stderr
    file = configure(here, monkeypatch, "# what I use\nlightgbm\n\nmade_elsewhere  # ours\n")
    ran = msl(here, "run", "m.msl", "t.csv", "--jobs", "1", installed=site)
    assert (ran.returncode, trapped(here)) == (0, []), ran.stderr
    assert f"note: `made_elsewhere` is trusted, as {file} says" in ran.stderr
    assert "lightgbm" not in ran.stderr  # it was not needed
    assert msl(here, "show", "@", installed=site).stdout.count("--trust made_elsewhere") == 1
    predicted = msl(here, "predict", "@", "t.csv", installed=site)
    assert predicted.returncode == 0, predicted.stderr
    assert f"note: `made_elsewhere` is trusted, as {file} says" in predicted.stderr


def test_the_users_file_does_not_let_in_what_lies_beside_a_spec(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user trusts a module of their own; somebody sends a folder with one of that name."""
    configure(here, monkeypatch, "own_block\n")
    refused = msl(here, "run", "m.msl", "t.csv", "--on", "inprocess")
    assert refused.returncode == 1
    assert "No module named 'own_block'" in refused.stderr


def test_no_file_beside_a_spec_says_what_is_trusted(here: Path) -> None:
    for name in ("trust", ".msl/trust", ".config/msl/trust", "msl/trust"):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text("own_block\n", encoding="utf-8")
    environment = {"XDG_CONFIG_HOME": "."}  # not absolute, so it counts for nothing
    program = [sys.executable, "-P", "-c", "from msl.cli.main import main; main()", "run", "m.msl", "t.csv"]
    home = {"HOME": str(here.parent)}
    refused = subprocess.run(
        [*program, "--on", "inprocess"],
        cwd=here,
        env={**os.environ, **environment, **home},
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 1
    assert "which is not trusted" in refused.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("own_block\nimport os\n", "line 2: `import os` is not the name of a package"),
        ("../own_block\n", "line 1: `../own_block` is not the name of a package"),
        (b"\xff\xfeo\x00", "is not UTF-8 text"),
        ("x\n" * 60_000, "is too large for a list of packages"),
    ],
)
def test_a_broken_file_is_told(here: Path, monkeypatch: pytest.MonkeyPatch, text: str | bytes, words: str) -> None:
    configure(here, monkeypatch, text)
    refused = msl(here, "run", "m.msl", "t.csv", "--on", "inprocess")
    assert refused.returncode == 2
    assert words in refused.stderr
    assert "Traceback" not in refused.stderr
