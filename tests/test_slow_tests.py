"""What is called slow is there, and nothing is left out of a whole run."""

from __future__ import annotations

from pathlib import Path

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
