"""A spec that is edited keeps every evaluation that is still in its space: none of them is made again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner
from winner_cases import write_table

from msl.cli.main import command_line
from msl.store.store import Store

RUN = CliRunner()
APP = command_line(["run"])

#: The area under the curve cannot be raced, so that everything stored is a value.
BEFORE = """use clop
part scale = standardize | none
part learn = zarbi | naive | kridge(degree: int 1..3, rest = default)
chain m = scale >> learn
maximize auc by cv(folds = 3)
search random(evaluations = 8)
"""
EDITS = {
    "an alternative more": [("zarbi | naive", "zarbi | naive | klogistic(rest = default)")],
    "an alternative less": [("zarbi | naive", "naive")],
    "a narrower range": [("degree: int 1..3", "degree: int 1..2")],
    "a wider range": [("degree: int 1..3", "degree: int 0..3")],
    "another order": [("zarbi | naive", "naive | zarbi"), ("standardize | none", "none | standardize")],
    "other names": [("part scale", "part preparation"), ("m = scale", "m = preparation"), ("chain m", "chain model")],
    "no parts": [("part scale = standardize | none\n", ""), ("m = scale", "m = (standardize | none)")],
    "another strategy": [("random(evaluations = 8)", "grid()")],
    "two strategies": [("random(evaluations = 8)", "random(evaluations = 6) then pso(swarm = 3, iterations = 3)")],
    "an ensemble": [("8)\n", "8)\nensemble vote(top = 3)\n")],
    "comments": [("use clop", "# the same\nuse clop  # as before")],
    "a requirement": [("maximize", "require kridge.degree < 3 if scale is none\nmaximize")],
}


def run(spec: Path, table: Path) -> dict[str, Any]:
    done = RUN.invoke(APP, ["run", str(spec), str(table), "--json", "--on", "inprocess"])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_table("iris", tmp_path_factory.mktemp("table"))


@pytest.mark.parametrize("edit", list(EDITS))
def test_nothing_is_evaluated_again(table: Path, tmp_path: Path, edit: str) -> None:
    spec = tmp_path / "spec.msl"
    spec.write_text(BEFORE, encoding="utf-8")
    run(spec, table)
    with Store.open(tmp_path / ".msl", read_only=True) as store:
        (first,) = store.runs.all()
        before = {one.key for one in store.evaluations.about(first.digests.data, first.digests.evaluation)}
    text = BEFORE
    for old, new in EDITS[edit]:
        assert old in text
        text = text.replace(old, new)
    spec.write_text(text, encoding="utf-8")
    found = run(spec, table)
    with Store.open(tmp_path / ".msl", read_only=True) as store:
        asked = [one.key for one in store.runs.queries(found["run"]) if one.key is not None]
        made = store.evaluations.made_by(found["run"])
    new = set(asked) - before
    assert found["evaluations"] - found["outside"] - found["reused"] == len(new) == made
    assert before & set(asked), "an edit that keeps nothing proves nothing"


@pytest.mark.parametrize("edit", ["other names", "no parts", "another order", "comments", "an ensemble"])
def test_an_edit_that_leaves_the_models_as_they_are_evaluates_nothing(table: Path, tmp_path: Path, edit: str) -> None:
    """What the search asks for may come in another order; a search of all models shows that none is new."""
    spec = tmp_path / "spec.msl"
    everything = BEFORE.replace("random(evaluations = 8)", "grid()")
    spec.write_text(everything, encoding="utf-8")
    models = run(spec, table)["evaluations"]
    text = everything
    for old, new in EDITS[edit]:
        text = text.replace(old, new)
    spec.write_text(text.replace("8)\n", "grid()\n"), encoding="utf-8")
    found = run(spec, table)
    assert found["fits"] == 0
    assert found["reused"] == found["evaluations"] == models > 8
