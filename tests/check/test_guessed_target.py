"""A message about the task says which column was taken for the target, where that was a guess."""

from __future__ import annotations

from pathlib import Path

import pytest

from msl.check.check_spec import check_source
from msl.data.options import DataOptions
from msl.data.read import read_table
from msl.diagnostics.source import Source


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    rows = [f"{place / 7:.3f},{place / 3:.3f},{'xyz'[place % 3]}" for place in range(30)]
    path.write_text("\n".join(["a,b,class", *rows]) + "\n", encoding="utf-8")
    return path


def told(path: Path, options: DataOptions) -> tuple[str, str | None]:
    text = "use sklearn\nchain m = random_forest\nminimize ber"
    (error,) = check_source(Source("a.msl", text), read_table(path, options=options).facts).diagnostics
    return error.message, error.help


def test_a_target_whose_place_was_taken_by_the_folds_is_explained(path: Path) -> None:
    message, help = told(path, DataOptions(fold="class"))
    assert "`b` was taken for the target, as the last column besides `class`, which has the folds" in message
    assert help is not None
    assert "data(target = …)" in help


def test_a_target_that_was_named_needs_no_explanation(path: Path) -> None:
    message, help = told(path, DataOptions(fold="class", target="b"))
    assert "taken for" not in message
    assert help == "write `rmse`, or set `task` in `data(…)`"
