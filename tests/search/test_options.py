"""Every option of every strategy changes what is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from strategy_options import options

from msl.check.check_spec import check_source
from msl.check.names.catalogues import shipped_strategies
from msl.data.read import read_table
from msl.diagnostics.source import Source
from msl.runner.plan import make_plan
from msl.search.base import Observation
from msl.search.stages import load_strategy, then
from msl.testing.conformance import Played, play
from msl.testing.toy_problems import (
    Problem,
    bits,
    conditional,
    features_against_error,
    mixed,
    rastrigin,
    sphere,
    two_bowls,
)

#: The strategy with small options, one option changed, and where to see it.
CHANGES: list[tuple[str, str, str, Problem]] = [
    ("pso", "swarm = 4, iterations = 8", "swarm = 5", sphere()),
    ("pso", "swarm = 4, iterations = 8", "iterations = 9", sphere()),
    ("pso", "swarm = 4, iterations = 8", "c1 = 1", sphere()),
    ("pso", "swarm = 4, iterations = 8", "c2 = 1", sphere()),
    ("pso", "swarm = 4, iterations = 8", "inertia = 0.5", sphere()),
    ("pso", "swarm = 4, iterations = 8", "vmax = 0.1", sphere()),
    ("pso", "swarm = 4, iterations = 8", "topology = ring(1)", sphere()),
    ("pso", "swarm = 4, iterations = 8", "wall = reflect", sphere()),
    ("pso", "swarm = 4, iterations = 8", "idle = scatter", mixed()),
    ("pso", "swarm = 4, iterations = 8", "stall = 1", rastrigin()),
    ("pso", "swarm = 4, iterations = 8", "restart = 1", bits(4)),
    ("bpso", "swarm = 4, iterations = 8", "swarm = 5", bits()),
    ("bpso", "swarm = 4, iterations = 8", "iterations = 9", bits()),
    ("bpso", "swarm = 4, iterations = 8", "c1 = 1", bits()),
    ("bpso", "swarm = 4, iterations = 8", "c2 = 1", bits()),
    ("bpso", "swarm = 4, iterations = 8", "inertia = 0.2", bits()),
    ("bpso", "swarm = 4, iterations = 8", "vmax = 0.1", bits()),
    ("bpso", "swarm = 4, iterations = 8", "stall = 1", bits()),
    ("bpso", "swarm = 4, iterations = 20", "restart = 1", bits(5)),
    ("pattern", "evaluations = 40", "evaluations = 41", sphere()),
    ("pattern", "evaluations = 40", "poll = complete", sphere()),
    ("pattern", "evaluations = 40", "halve = failed", sphere()),
    ("pattern", "evaluations = 40", "shuffle = true", bits(4)),
    ("random", "evaluations = 40", "evaluations = 41", sphere()),
    ("grid", "steps = 3", "steps = 4", sphere()),
    ("grid", "steps = 3", "evaluations = 5", sphere()),
    ("best_first", "gain = 0", "gain = 0.2", mixed()),
    ("best_first", "gain = 0", "beam = 2", mixed()),
    ("best_first", "gain = 0", "levels = 1", mixed()),
    ("best_first", "gain = 0", "step = 0.2", sphere()),
    ("best_first", "gain = 0", "patience = 0", bits()),
    *(
        ("best_first", "inner = auto", f"inner = {inner}", bits(5 if inner == "exhaustive" else 12))
        for inner in ("coordinate", "forward", "backward", "simplex")
    ),
    ("best_first", "inner = simplex", "inner = exhaustive", bits(7)),
    ("best_first", "inner = simplex", "inner = quantised", bits(7)),
    ("pso", "swarm = 5, iterations = 6", "units = native", mixed()),
    ("pso", "swarm = 8, iterations = 20", "wall = absolute", rastrigin()),
    ("pso", "swarm = 5, iterations = 6", "start_velocity = unit", sphere()),
    ("pso", "swarm = 5, iterations = 6", "leader = present", sphere()),
    ("pso", "swarm = 5, iterations = 6", "shuffle = true", sphere()),
    ("occam_ga", "population = 10, generations = 4", "population = 11", conditional()),
    ("occam_ga", "population = 10, generations = 4", "generations = 5", conditional()),
    ("occam_ga", "population = 10, generations = 4", "kappa = 2", bits()),
    ("occam_ga", "population = 10, generations = 4", "crossover = 0.1", sphere()),
    ("occam_ga", "population = 10, generations = 4", "mutation = 0.5", sphere()),
    ("occam_ga", "population = 10, generations = 4", "add = 0", bits()),
    ("occam_ga", "population = 10, generations = 4", "delete = 0", bits()),
    ("occam_ga", "population = 10, generations = 4", "tournament = 4", sphere()),
    ("occam_ga", "population = 10, generations = 4", "elitism = plain", bits()),
    ("occam_ga", "population = 10, generations = 4", "elitism = plain", features_against_error()),
    ("occam_ga", "population = 10, generations = 4", "shuffle = true", bits()),
    ("occam_ga", "population = 10, generations = 4", "grow = true", bits()),
    ("nspso", "swarm = 8, iterations = 6", "swarm = 9", two_bowls()),
    ("nspso", "swarm = 8, iterations = 6", "iterations = 7", two_bowls()),
    ("nspso", "swarm = 8, iterations = 6", "inertia = 0.2", two_bowls()),
    ("nspso", "swarm = 8, iterations = 6", "c1 = 1", two_bowls()),
    ("nspso", "swarm = 8, iterations = 6", "c2 = 1", two_bowls()),
    ("nspso", "swarm = 8, iterations = 6", "vmax = 0.01", two_bowls()),
    ("nspso", "swarm = 8, iterations = 6", "threshold = 0.2", features_against_error()),
    ("nspso", "swarm = 8, iterations = 6", "leaders = 1", two_bowls()),
    ("nspso", "swarm = 8, iterations = 6", "mutation = auto", two_bowls()),
    ("nspso", "swarm = 8, iterations = 6, mutation = auto", "mutation = 0.9", two_bowls()),
    ("nspso", "swarm = 8, iterations = 6", "encoding = binary", features_against_error()),
    ("cmdpso", "swarm = 8, iterations = 6", "swarm = 9", two_bowls()),
    ("cmdpso", "swarm = 8, iterations = 6", "iterations = 7", two_bowls()),
    ("cmdpso", "swarm = 8, iterations = 6", "inertia = 0.2", two_bowls()),
    ("cmdpso", "swarm = 8, iterations = 6", "c1 = 1", two_bowls()),
    ("cmdpso", "swarm = 8, iterations = 6", "c2 = 1", two_bowls()),
    ("cmdpso", "swarm = 8, iterations = 6", "vmax = 0.01", two_bowls()),
    ("cmdpso", "swarm = 8, iterations = 6", "threshold = 0.2", features_against_error()),
    ("cmdpso", "swarm = 8, iterations = 6", "mutation = 0.9", two_bowls()),
    ("cmdpso", "swarm = 8, iterations = 6", "mutation = none", two_bowls()),
    ("cmdpso", "swarm = 8, iterations = 6", "epsilon = 0.3", two_bowls()),
    ("cmdpso", "swarm = 8, iterations = 6", "encoding = binary", features_against_error()),
    ("halving", "evaluations = 40", "evaluations = 41", sphere()),
    ("halving", "evaluations = 40", "factor = 4", sphere()),
    ("halving", "evaluations = 40", "first = 0.5", sphere()),
    ("auto", "evaluations = 40", "evaluations = 41", sphere()),
    ("auto", "evaluations = 60", "evaluations = 80", two_bowls()),
    ("auto", "evaluations = 40", "resource = rows", sphere()),
]
#: What reaches a strategy by the cube that it is given, or by where it starts: seen from a whole plan.
BY_PLAN: list[tuple[str, str]] = [
    *((strategy, "encoding = separate") for strategy in ("pso", "bpso", "pattern", "occam_ga", "auto")),
    ("random", "draw = models"),
    ("pso", "shared_start = unit"),
    *((strategy, "floor = 40") for strategy in ("pso", "bpso")),
    ("best_first", "start = svc(degree = 2, gamma = 0.1, rest = default)"),
    ("best_first", "channels = [svc.degree]"),
]


def merged(strategy: str, base: str, change: str) -> str:
    named = dict(part.split(" = ", 1) for part in base.split(", "))
    name, value = change.split(" = ", 1)
    named[name] = value
    return f"{strategy}({', '.join(f'{_quoted(name)} = {value}' for name, value in named.items())})"


def _quoted(name: str) -> str:
    """The word `step` is reserved."""
    return f'"{name}"' if name == "step" else name


def trace(played: Played) -> list[object]:
    """What was asked, and what would be the answer."""
    asked = [(ask.vector.tobytes(), ask.share, ask.repeat) for ask in played.queries]
    chosen = [tuple(one.vector.tobytes() for one in event.chosen) for event in played.events]
    return [asked, chosen]


@pytest.mark.slow
@pytest.mark.parametrize(("strategy", "base", "change", "problem"), CHANGES, ids=lambda value: str(value)[:30])
def test_option_has_an_effect(strategy: str, base: str, change: str, problem: Problem) -> None:
    function = load_strategy(strategy)
    before = play(function, options(f"{strategy}({base})"), problem, seed=4)
    after = play(function, options(merged(strategy, base, change)), problem, seed=4)
    assert trace(before) != trace(after)


def asked_by_a_plan(place: Path, search: str) -> list[list[float]]:
    """The first points that a search asks for on a small table, all losses being equal."""
    rows = "".join(f"{x},{x % 3},{'ab'[x % 2]}\n" for x in range(20))
    (place / "table.csv").write_text(f"x,z,class\n{rows}")
    text = "use clop\nchain m = svc(gamma: 0.1..1, degree: 1..3, rest = default) | neural(units: 1..5, rest = default)"
    table = read_table(str(place / "table.csv"))
    checked = check_source(Source("spec.msl", f"{text}\nsearch {search}"), facts=table.facts)
    assert checked.spec is not None, checked.diagnostics
    running = then(make_plan(checked.spec, table).stages, seed=0)
    asks = next(running)
    asks += running.send([Observation(ask.vector, (1.0,)) for ask in asks])
    return [ask.vector.tolist() for ask in asks]


@pytest.mark.slow
@pytest.mark.parametrize(("strategy", "change"), BY_PLAN)
def test_option_has_an_effect_on_a_plan(strategy: str, change: str, tmp_path: Path) -> None:
    assert asked_by_a_plan(tmp_path, strategy) != asked_by_a_plan(tmp_path, f"{strategy}({change})")


def test_no_option_is_forgotten() -> None:
    tried = {(strategy, change.split(" = ")[0]) for strategy, _, change, _ in CHANGES}
    tried |= {(strategy, change.split(" = ")[0]) for strategy, change in BY_PLAN}
    forgotten = {
        (strategy, option)
        for strategy in shipped_strategies()
        if strategy not in ("confirm", "start", "portfolio")
        for option in options(strategy)
    } - tried
    forgotten -= {("halving", "resource")}  # its effect is on what is evaluated: tests/runner/test_fidelity_run.py
    assert not forgotten, "options without a test that sees their effect"
