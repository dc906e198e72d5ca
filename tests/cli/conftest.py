"""Running the command as its users do: inside this process for speed, or as a process of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from run_store import Ran, make_runs

from msl.cli.main import main


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture
def msl(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """`msl("fmt", "-", stdin="…")`: the command's exit code and what it wrote."""
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str, stdin: str | bytes = "") -> Outcome:
        content = stdin if isinstance(stdin, bytes) else stdin.encode("utf-8")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))
        monkeypatch.setattr(sys, "argv", ["msl", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        code = left.value.code
        captured = capsys.readouterr()
        return Outcome(code if isinstance(code, int) else 0, captured.out, captured.err)

    return run


@pytest.fixture
def msl_process() -> Callable[..., subprocess.CompletedProcess[str]]:
    """The same in a process of its own, without colours; `code` runs there instead of the command."""

    def run(*arguments: str, code: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
        program = code or "from msl.cli.main import main; main()"
        return subprocess.run(
            [sys.executable, "-c", program, *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, "NO_COLOR": "1", "PYTHONUTF8": "1", **environment},
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Runs of several specs in one store, made once; nobody may change them."""
    return make_runs(tmp_path_factory.mktemp("ran"))
