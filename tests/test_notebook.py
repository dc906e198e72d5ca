"""The cell magic: a cell is checked or run, and mistakes are told without a traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sklearn.datasets import load_iris

import msl


class Shell:
    """What the magic uses of IPython: variables, and a place to register a function."""

    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {}
        self.magics: dict[tuple[str, str], Callable[[str, str], None]] = {}

    def register_magic_function(self, function: Callable[[str, str], None], kind: str, name: str) -> None:
        self.magics[kind, name] = function


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    made = Shell()
    msl.load_ipython_extension(made)
    X, y = load_iris(return_X_y=True, as_frame=True)
    made.user_ns["table"] = pd.concat([X, y], axis=1)
    return made


def cell(shell: Shell, line: str, text: str) -> None:
    shell.magics["cell", "msl"](line, text)


SPEC = "use clop\nchain m = zarbi | naive\nsearch random(evaluations = 2)\n"


def test_a_cell_runs_on_a_variable(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    cell(shell, "table -o found --seed 1", SPEC)
    found = shell.user_ns["found"]
    assert capsys.readouterr().out == f"{found.best}\nber = {found.objectives['ber']:.4g}\n"
    assert found.trained.schema.target == "target"


def test_without_a_table_it_is_checked(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    cell(shell, "", SPEC)
    assert capsys.readouterr().out == "no problems\n"
    cell(shell, "", "use clop\nchain m = zarbj\n")
    assert "did you mean `zarbi`?" in capsys.readouterr().out


def test_mistakes_are_told(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    cell(shell, "table", "use clop\nchain m = zarbj\n")
    assert "did you mean `zarbi`?" in capsys.readouterr().out
    cell(shell, "nowhere.csv", SPEC)
    assert "nowhere.csv" in capsys.readouterr().out
    assert "result" not in shell.user_ns
    with pytest.raises(ValueError, match="unrecognized arguments: --sed"):
        cell(shell, "table --sed 3", SPEC)
