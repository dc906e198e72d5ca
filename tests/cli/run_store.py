"""A folder with specs, a table and the runs that the command itself made of them, for the verbs that look back."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from winner_cases import write_table

from msl.cli.main import main

LEAN = """use clop
chain lean = standardize >> (zarbi | naive)
minimize ber by cv(folds = 6)
search random(evaluations = 2)
"""
#: Some of its models ask for more components than the table has columns.
WIDE = """use sklearn
block components = pca { n_components: int 2..40 }
chain wide = components(n_components: int 2..40, rest = default) >> lda(rest = default)
minimize ber by cv(folds = 6)
search pso(swarm = 4, iterations = 2) then pattern(evaluations = 6)
"""
FRONT = """use sbm
chain front = keep(features: vector(n_features) of bool) >> knn(k = 3, rest = default)
minimize error by cv(folds = 3), features
search cmdpso(swarm = 4, iterations = 2)
"""
LEVELS = """use sbm
chain nearest = sbm(distance: euclidean | manhattan, k: int 1..4, rest = default)
minimize error by loo()
search best_first(start = sbm(k = 1, distance = euclidean), channels = [k, distance])
"""
SPECS = {"lean": LEAN, "wide": WIDE, "front": FRONT, "levels": LEVELS}


@dataclass(frozen=True)
class Ran:
    """The folder, and the ids of the runs by spec and seed."""

    folder: Path
    runs: dict[tuple[str, int], str]

    @property
    def store(self) -> Path:
        return self.folder / ".msl"


def run_msl(*arguments: str) -> tuple[int, str, str]:
    """The command in this process: its exit code and what it wrote."""
    out, err = io.StringIO(), io.StringIO()
    with patch.object(sys, "argv", ["msl", *arguments]), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as left:
            return int(left.code or 0), out.getvalue(), err.getvalue()
    raise AssertionError("the command did not end")


def make_runs(folder: Path) -> Ran:
    """Runs of every spec on one table; of two of them with three seeds, judged on the table as a test too."""
    table = str(write_table("wine", folder))
    runs = {}
    for name, text in SPECS.items():
        spec = folder / f"{name}.msl"
        spec.write_text(text, encoding="utf-8")
        for seed in (0, 1, 2) if name in ("lean", "wide") else (0,):
            given = ["run", str(spec), table, "--on", "inprocess", "--json", "--seed", str(seed), "--test", table]
            code, out, err = run_msl(*given)
            assert code == 0, err
            runs[name, seed] = json.loads(out)["run"]
    return Ran(folder, runs)
