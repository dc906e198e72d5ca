"""A strategy of another package in a spec: checked without importing it, run by name, and put through the suite."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from offered_package import DECLARATION, install, was_imported

from msl.check.check_spec import check_source
from msl.diagnostics.source import Source

SPEC = """msl 1
use clop
chain model = svc(gamma: 1e-3..1 log, rest = default) | naive
minimize ber by cv(folds = 2)
search {search}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    rows = [f"{x / 10},{(x * 7) % 10},{'a' if x < 20 else 'b'}" for x in range(40)]
    (tmp_path / "data.csv").write_text("\n".join(["x,z,class", *rows]) + "\n")
    return tmp_path


@pytest.fixture(autouse=True)
def path(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    """What is installed in the folder is on the path, here and in processes that are started."""
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.setenv("PYTHONPATH", str(place))


def msl(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, into which nothing was imported before."""
    command = [sys.executable, "-c", "from msl.cli.main import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=place, check=False)


def problems(place: Path, search: str) -> str:
    """What is told of a spec: nothing if it is sound."""
    checked = check_source(Source("spec.msl", SPEC.format(search=search), str(place / "spec.msl")))
    return "\n".join(f"{d.primary.source.name}: {d.message}; {d.help}" for d in checked.diagnostics)


def test_its_options_are_checked_without_importing_it(place: Path) -> None:
    install(place)
    assert problems(place, "anneal(evaluations = 5) then pattern(evaluations = 3)") == ""
    assert "`0` is outside" in problems(place, "anneal(evaluations = 0)")
    assert "did you mean `cooling`" in problems(place, "anneal(coling = 0.5)")
    assert "takes one value" in problems(place, "anneal(cooling: 0.5..0.9)")
    assert "did you mean `anneal`" in problems(place, "aneal")
    (place / "spec.msl").write_text(SPEC.format(search="anneal"))
    assert msl(place, "check", "spec.msl").returncode == 0
    assert not was_imported(place)


def test_it_searches(place: Path) -> None:
    install(place)
    (place / "spec.msl").write_text(SPEC.format(search="anneal(evaluations = 6, cooling = 0.5)"))
    ran = msl(place, "run", "spec.msl", "data.csv", "--on", "inprocess", "--json")
    assert ran.returncode == 0, ran.stderr
    record = json.loads(ran.stdout)
    assert record["evaluations"] == 6
    assert record["objectives"]["ber"] < 0.3
    assert was_imported(place)


@pytest.mark.parametrize(
    ("declaration", "search", "told"),
    [
        (None, "anneal", "offers the strategy `anneal`, but does not declare it"),
        (DECLARATION.replace("anneal:", "other:"), "anneal", "does not declare it"),
        (DECLARATION.replace("steps:anneal", "steps:other"), "anneal", "does not declare it"),
        (DECLARATION.replace("strategy", "estimate"), "anneal", "does not declare it"),
        (DECLARATION.replace("int 1..1_000_000", "int 9..1"), "anneal", "strategies.msl"),
        (DECLARATION, "bare", "the package `annealing` offers the strategy `bare`, but does not declare it"),
    ],
    ids=["no file", "another name", "another function", "another role", "a mistake in it", "a module"],
)
def test_what_is_not_declared_is_told(place: Path, declaration: str | None, search: str, told: str) -> None:
    install(place, declaration)
    assert told in problems(place, search)
    assert not was_imported(place)


def test_a_single_module_has_its_declaration_beside_it(place: Path) -> None:
    install(place)
    (place / "bare.msl").write_text('msl 1\nblock bare: strategy "bare:search" { evaluations: int 1..9 default 4 }\n')
    assert problems(place, "bare(evaluations = 3)") == ""
    assert "`10` is outside" in problems(place, "bare(evaluations = 10)")


def test_a_function_that_cannot_be_loaded_is_told(place: Path) -> None:
    install(place, DECLARATION.replace("block anneal", "block broken").replace("search.steps", "search.missing"))
    (place / "spec.msl").write_text(SPEC.format(search="broken"))
    assert problems(place, "broken") == ""
    ran = msl(place, "run", "spec.msl", "data.csv", "--on", "inprocess")
    assert ran.returncode != 0
    assert "`broken` of the package `annealing` cannot be loaded: No module named" in ran.stderr
    assert "Traceback" not in ran.stderr
