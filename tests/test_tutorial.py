"""The tutorial does what it says: its commands, typed in their order in a folder with the tables it names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
_FENCE = re.compile(r"```(msl|sh)\n(.*?)```", re.DOTALL)


def test_the_commands_of_the_tutorial_work(tmp_path: Path) -> None:
    for table in ("wine.csv", "wine_test.csv"):
        shutil.copy(ROOT / "specs" / table, tmp_path)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    shown = ""
    for kind, text in _FENCE.findall((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")):
        if kind == "msl":
            (tmp_path / "mine.msl").write_text(text, encoding="utf-8")
            continue
        for command in text.splitlines():
            done = subprocess.run(
                command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
            )
            differs = command.startswith("msl diff")  # which says so by its exit code, as diff does
            assert done.returncode == int(differs), f"{command}\n{done.stdout}\n{done.stderr}"
            shown += done.stdout + done.stderr
    assert "test gap" in shown
    assert "~ search auto.evaluations: 40 -> 50" in shown
    assert "the same predictions as the run" in shown
    assert "the same: 40 queries" in shown
    for name in ("report.html", "predicted.csv", "model.py", "mine.lock"):
        assert (tmp_path / name).stat().st_size > 0
