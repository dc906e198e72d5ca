"""A verb is added by one file in the folder of verbs, or by an entry point of another package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from msl.cli import main, verbs

VERB = '''
from typing import Annotated
import typer
from msl.cli.shared.console import Exit, write
from msl.diagnostics.user_error import UserError

PLACE = ("Understand", 99)

def greet(name: str, loudly: Annotated[bool, typer.Option("--loudly", help="In capitals.")] = False) -> Exit:
    """Greet someone by name."""
    if name == "nobody":
        raise UserError("there is nobody to greet", "name someone")
    write(f"hello {name.upper() if loudly else name}\\n")
    return Exit.FINE
'''


def msl(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from msl.cli.main import main; main()", *arguments]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(place), *sys.path])}
    return subprocess.run(command, capture_output=True, text=True, cwd=place, env=env, check=False)


def install(place: Path, entry_points: str) -> None:
    """As pip would leave it."""
    (place / "greeting.py").write_text(VERB)
    info = place / "greeting-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[msl.verbs]\n{entry_points}\n")


def test_a_file_in_the_folder_is_a_verb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "greet.py").write_text(VERB)
    monkeypatch.setattr(verbs, "__path__", [*verbs.__path__, str(tmp_path)])
    assert "greet" in main.shipped_verbs()
    told = CliRunner().invoke(main.command_line(), ["greet", "Ada", "--loudly"])
    assert (told.exit_code, told.stdout) == (0, "hello ADA\n")
    assert [verb.name for verb in main.all_verbs()][-1] == "greet"
    del sys.modules["msl.cli.verbs.greet"]


@pytest.mark.slow
def test_a_package_adds_a_verb(tmp_path: Path) -> None:
    install(tmp_path, "greet = greeting:greet")
    told = msl(tmp_path, "greet", "Ada")
    assert (told.returncode, told.stdout) == (0, "hello Ada\n")
    shown = msl(tmp_path, "--help").stdout
    assert "Greet someone by name." in shown
    wrong = msl(tmp_path, "greet", "nobody")
    assert (wrong.returncode, wrong.stderr) == (2, "error: there is nobody to greet\nhelp: name someone\n")


@pytest.mark.slow
def test_a_package_cannot_replace_a_verb_that_ships(tmp_path: Path) -> None:
    install(tmp_path, "check = greeting:greet")
    assert "Greet someone" not in msl(tmp_path, "check", "--help").stdout
    assert "Greet someone" not in msl(tmp_path, "--help").stdout


@pytest.mark.slow
def test_a_verb_that_cannot_be_loaded_hurts_no_other(tmp_path: Path) -> None:
    install(tmp_path, "greet = greeting:missing")
    told = msl(tmp_path, "greet", "Ada")
    assert told.returncode == 2
    assert "the verb `greet` of the package `greeting` cannot be loaded" in told.stderr
    assert "Traceback" not in told.stderr
    shown = msl(tmp_path, "--help")
    assert shown.returncode == 0
    assert "cannot be loaded" in shown.stderr
    assert "Understand" in shown.stdout


@pytest.mark.slow
def test_a_named_verb_is_imported_alone(tmp_path: Path) -> None:
    install(tmp_path, "greet = greeting:greet")
    code = "import sys; sys.argv[1:] = ['explain', 'MSL009']; from msl.cli.main import main\n"
    code += "try: main()\nexcept SystemExit: pass\nprint('greeting' in sys.modules, 'msl.cli.verbs.run' in sys.modules)"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    assert done.stdout.endswith("False False\n")
