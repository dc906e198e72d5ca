"""Generated cases: no test fails because a case took long, and there is a profile with few of them for a first look."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent
CASES = """
from hypothesis import given, settings, strategies as st

@settings(max_examples=77)
@given(st.integers())
def test_own_number(number):
    print("own", end=" ")

@given(st.integers())
def test_usual_number(number):
    print("usual", end=" ")
"""


def timed_settings(path: Path) -> list[str]:
    """Where a file says how long a case may take."""
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    return [
        f"{path.name}:{call.lineno}: deadline={ast.unparse(given.value)}"
        for call in calls
        if ast.unparse(call.func).rpartition(".")[2] in ("settings", "register_profile")
        for given in call.keywords
        if given.arg == "deadline" and ast.unparse(given.value) != "None"
    ]


def test_no_test_has_a_deadline() -> None:
    assert settings().deadline is None
    assert [line for path in sorted(TESTS.rglob("*.py")) for line in timed_settings(path)] == []


def test_a_deadline_would_be_found(tmp_path: Path) -> None:
    path = tmp_path / "test_it.py"
    path.write_text("@settings(deadline=200)\n@settings(deadline=None)\ndef test(): pass\n", encoding="utf-8")
    assert timed_settings(path) == ["test_it.py:1: deadline=200"]


@pytest.mark.parametrize(("profile", "own", "usual"), [("default", 77, 100), ("fast", 10, 10), ("unshrunk", 10, 10)])
def test_a_profile_says_how_many_cases_there_are(tmp_path: Path, profile: str, own: int, usual: int) -> None:
    for name in ("conftest.py", "slow_tests.py", "winner_cases.py"):
        shutil.copy(TESTS / name, tmp_path)
    (tmp_path / "test_cases.py").write_text(CASES, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", f"--hypothesis-profile={profile}"]
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout
    words = done.stdout.split()
    assert (sum("own" in word for word in words), sum("usual" in word for word in words)) == (own, usual)
