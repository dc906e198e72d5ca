"""What a strategy declares about itself is what `check` and `run` go by, wherever it is declared."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from offered_package import install

from msl.check.check_spec import Checked, check_source
from msl.check.names import catalogues
from msl.diagnostics.source import Source
from msl.search.stages import load_strategy

SPEC = """msl 1
use clop
chain model = svc(gamma: 1e-3..1 log, rest = default) | naive
minimize {objectives}
search {search}
"""
ONE, TWO, THREE = "ber by cv(folds = 2)", "ber by cv(folds = 2), features", "ber by cv(folds = 2), features, complexity"
#: A search around the best point, for two objectives or more, and a second look at what it found.
MODULE = """
from msl.search.base import CONFIRMED, FIRST_CONFIRMING_REPEAT, Event, Query

def around(setting):
    batch = [Query(point) for point in setting.first_points(int(setting.options["size"]))]
    for _ in range(int(setting.options["rounds"])):
        observations = yield batch
        setting.note(Event("round", {}, tuple(observations), kept=tuple(observations)))

def look_again(setting):
    best = min(setting.known, key=lambda one: one.losses)
    for repeat in range(int(setting.options["looks"])):
        (seen,) = yield [Query(best.vector, repeat=FIRST_CONFIRMING_REPEAT + repeat)]
        setting.note(Event(CONFIRMED, {"turn": repeat + 1}, (seen,), (seen,), stands=True))
"""
DECLARATIONS = """
# Points around the best.
block around: strategy "looking:around" {
  objectives = several,
  queries = size * rounds,
  leaves = swarm,
  size: int 1..100 default 4,
  rounds: int 1..100 default 2,
}

# The best model once more.
block look_again: strategy "looking:look_again" {
  reevaluates = looks,
  queries = looks,
  looks: int 1..100 default 3,
}
"""
ENTRY_POINTS = "[msl.strategies]\naround = looking:around\nlook_again = looking:look_again\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [f"{x / 10},{(x * 7) % 10},{'a' if x < 20 else 'b'}" for x in range(40)]
    (tmp_path / "data.csv").write_text("\n".join(["x,z,class", *rows]) + "\n")
    (tmp_path / "looking.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.fixture(params=["by a package", "in the catalogue"])
def planted(request: pytest.FixtureRequest, place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the two strategies are known."""
    if request.param == "by a package":
        install(place, entry_points=ENTRY_POINTS)
        (place / "looking.msl").write_text(f"msl 1\n{DECLARATIONS}")
        return place
    copy = place / "catalogue"
    shutil.copytree(catalogues._FOLDER, copy)
    with (copy / "strategies.msl").open("a") as file:
        file.write(DECLARATIONS)
    monkeypatch.setattr(catalogues, "_FOLDER", copy)
    (place / "sitecustomize.py").write_text(
        f"from pathlib import Path\nfrom msl.check.names import catalogues\ncatalogues._FOLDER = Path({str(copy)!r})\n"
    )
    return place


def checked(objectives: str, search: str) -> Checked:
    return check_source(Source("spec.msl", SPEC.format(objectives=objectives, search=search)))


def told(objectives: str, search: str) -> list[str]:
    return [f"{each.code}: {each.message}; {each.help}" for each in checked(objectives, search).diagnostics]


def msl(place: Path, objectives: str, search: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (place / "spec.msl").write_text(SPEC.format(objectives=objectives, search=search))
    path = os.pathsep.join([str(place), *sys.path])
    command = [sys.executable, "-c", "from msl.cli.main import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=place, env={**os.environ, "PYTHONPATH": path})


@pytest.mark.usefixtures("planted")
def test_the_number_of_objectives_is_checked() -> None:
    assert told(TWO, "around") == []
    (one,) = told(ONE, "around")
    assert one.startswith("MSL146: `around` looks for a front of several objectives, and there is one; use ")
    assert checked(TWO, "pso").spec is None


@pytest.mark.usefixtures("planted")
def test_a_strategy_that_reevaluates_comes_last() -> None:
    assert told(ONE, "random then look_again") == []
    (alone,) = told(ONE, "look_again")
    assert alone.startswith("MSL149: `look_again` evaluates again what other strategies found, so it comes last")
    assert told("ber by loo", "random then look_again")[0].startswith("MSL233")


@pytest.mark.usefixtures("planted")
def test_a_budget_that_is_too_small_is_told() -> None:
    few = "around(size = 5, rounds = 4) then look_again(looks = 8)\nbudget(evaluations = {})"
    assert told(TWO, few.format(28)) == []
    assert "`look_again` asks for 8 evaluations, and the budget leaves it 4: 4 of 8" in told(TWO, few.format(24))[0]
    assert "`look_again` never runs" in told(TWO, few.format(20))[0]


@pytest.mark.usefixtures("planted")
def test_what_it_leaves_behind_can_vote() -> None:
    assert told(TWO, "around\nensemble swarm") == []
    (none,) = told(ONE, "random\nensemble swarm")
    assert none.startswith("MSL148")


@pytest.mark.slow
def test_what_passes_check_runs(planted: Path) -> None:
    search = "around(size = 3, rounds = 2) then look_again(looks = 2)"
    assert msl(planted, TWO, search, "check", "spec.msl").returncode == 0
    ran = msl(planted, TWO, search, "run", "spec.msl", "data.csv", "--on", "inprocess", "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["evaluations"] == 8
    assert msl(planted, ONE, search, "check", "spec.msl").returncode == 1
    assert msl(planted, ONE, search, "run", "spec.msl", "data.csv", "--on", "inprocess").returncode == 1
    planned = msl(planted, TWO, search, "plan", "spec.msl", "data.csv", "--json")
    assert [stage["evaluations"] for stage in json.loads(planned.stdout)["stages"]] == [6, 2], planned.stdout


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ("objectivs = several", "`objectivs` is not a capability; did you mean `objectives`"),
        ("size = 3", "`size` is not a capability; it can state `complexity`, "),
        ("objectives = many", "`many` cannot be stated here"),
        ("objectives = one, objectives = two", "`objectives` is stated twice"),
        ("queries = sise", "`sise` cannot be stated here; did you mean `size`"),
        ("queries = size * none", "this is not a number of evaluations"),
        ("reevaluates = looks", "`looks` cannot be stated here"),
        ("leaves = bees", "`bees` cannot be stated here; write `swarm`"),
        ("complexity = size", "this is not an option with a value"),
    ],
)
def test_what_cannot_be_stated_is_told(place: Path, stated: str, message: str) -> None:
    install(place, entry_points="[msl.strategies]\naround = looking:around\n")
    declaration = f'block around: strategy "looking:around" {{ {stated}, size: int 1..100 default 4 }}'
    (place / "looking.msl").write_text(f"msl 1\n{declaration}\n")
    (found,) = [each for each in told(TWO, "around") if message in each]
    assert found.startswith("MSL141")


def test_a_declared_strategy_can_start_from_a_model(place: Path) -> None:
    install(place, entry_points="[msl.strategies]\naround = looking:around\n")
    declaration = 'block around: strategy "looking:around" { start = none, size: int 1..100 default 4 }'
    (place / "looking.msl").write_text(f"msl 1\n{declaration}\n")
    spec = checked(ONE, "around(start = naive)").spec
    assert spec is not None
    assert spec.search[0].start is not None


def test_capabilities_are_stated_for_every_strategy_that_ships() -> None:
    """`least` is what each makes in a space without end, `most` in one of seven models."""
    found = {}
    for name in catalogues.shipped_strategies():
        if name in ("start", "portfolio"):  # they evaluate what they are given
            continue
        search = f"random then {name}" if name == "confirm" else name
        spec = checked(ONE, search).spec or checked(TWO, search).spec
        assert spec is not None, name
        call = spec.search[-1].call
        options = dict(call.options)
        counts = (call.capabilities.least_evaluations(options, None), call.capabilities.most_evaluations(options, 7))
        found[name] = (call.capabilities.objectives, *counts, call.capabilities.leaves)
        assert callable(load_strategy(name))
    assert found == {
        "pso": ((1, 1), 255, 255, ("swarm",)),
        "bpso": ((1, 1), 3030, 3030, ("swarm",)),
        "pattern": ((1, 1), 0, 255, ()),
        "random": ((1, None), 100, 7, ()),
        "grid": ((1, None), 0, 7, ()),
        "best_first": ((1, 1), 0, None, ()),
        "occam_ga": ((1, 2), 125_500, 250_500, ()),
        "nspso": ((2, None), 3030, 3030, ("swarm",)),
        "cmdpso": ((2, None), 3030, 3030, ("swarm",)),
        "halving": ((1, None), 100, 7, ()),
        "auto": ((1, None), 255, 255, ("swarm",)),
        "confirm": ((1, None), 150, 150, ()),
    }
