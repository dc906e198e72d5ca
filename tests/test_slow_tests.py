"""What is called slow is there, and nothing is left out of a whole run."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from slow_tests import FILES, FOLDERS, is_slow

TESTS = Path(__file__).parent


def test_whatever_is_called_slow_is_there() -> None:
    """A file that was renamed would be quick by mistake."""
    files = {path.name for path in TESTS.rglob("test_*.py")}
    assert [name for names in FILES.values() for name in names if name not in files] == []
    assert [name for name in FOLDERS if not (TESTS / name).is_dir()] == []


def test_every_folder_but_the_slow_ones_has_tests_for_a_first_look() -> None:
    folders = {path.parent for path in TESTS.rglob("test_*.py") if path.parent.name not in FOLDERS}
    assert [folder.name for folder in folders if all(map(is_slow, folder.glob("test_*.py")))] == []


def test_a_whole_run_leaves_nothing_out() -> None:
    """Markers are only looked at by those who ask."""
    options = (TESTS.parent / "pyproject.toml").read_text(encoding="utf-8").partition("[tool.pytest.ini_options]")[2]
    assert "-m" not in options.partition("addopts = ")[2].splitlines()[0].split()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "imported"),
    [
        ((), {"slow", "quick"}),
        (("-m", "not slow"), {"quick"}),
        (("-m", "not slow", "test_limits.py::test_it", "test_quick.py"), {"slow", "quick"}),
    ],
)
def test_a_first_look_imports_slow_files_only_by_name(
    tmp_path: Path, arguments: tuple[str, ...], imported: set[str]
) -> None:
    for name in ("conftest.py", "slow_tests.py", "winner_cases.py"):
        shutil.copy(TESTS / name, tmp_path)
    for name, word in (("test_limits.py", "slow"), ("test_quick.py", "quick")):
        text = f"print('imported', '{word}')\n\n\ndef test_it():\n    pass\n"
        (tmp_path / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout
    assert {word for word in ("slow", "quick") if f"imported {word}" in done.stdout} == imported
