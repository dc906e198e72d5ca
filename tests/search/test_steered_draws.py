"""Priors and weights of a spec reach every strategy: its first points, its draws and its mutations."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from strategy_options import options

from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.runner.search_space import ModelSearchSpace, space_to_search_space
from msl.search.operators.initialise import UnseenPoints, uniform_points
from msl.search.operators.mutation_and_crossover import uniform, with_added
from msl.search.operators.surrogate import _near
from msl.search.operators.swarm import scattered
from msl.search.stages import load_strategy
from msl.search.strategies.random import random
from msl.search.strategy_context import Setting
from msl.space.canonical.digest import space_digest
from msl.space.spec import Spec
from msl.space.values import BlockValue, Model

TEXT = """
block a: learner "m:A" { p: real 0..1 normal(0.8, 0.02), n: int 1..50 }
block b: learner "m:B" { p: real 0..1 }
block c: transformer "m:C" { q: int 1..9 log lognormal(2, 0.1) }
block d: transformer "m:D" {}
chain model = (c weight 20 | d | none) >> (a weight 9 | b)
"""


def _spec(text: str = TEXT) -> Spec:
    checked = check_source(Source("m.msl", text))
    assert checked.spec is not None, checked.diagnostics
    return checked.spec


def _space(text: str = TEXT, encoding: str = "shared") -> ModelSearchSpace:
    return space_to_search_space(_spec(text).space, encoding)  # type: ignore[arg-type]


def _learners(space: ModelSearchSpace, points: np.ndarray | list[np.ndarray]) -> tuple[Counter[str], list[float]]:
    """The learners of some points, and the values of `p` of `a`."""
    names, values = Counter[str](), []
    for point in points:
        model = space.decode(point)
        assert isinstance(model, Model)
        last = model.steps[-1]
        assert isinstance(last, BlockValue)
        names[last.block.name] += 1
        if last.block.name == "a":
            values.append(float(dict(last.params)["p"]))  # type: ignore[arg-type]
    return names, values


def _are_steered(space: ModelSearchSpace, points: np.ndarray) -> bool:
    names, values = _learners(space, points)
    return names["a"] > 0.8 * len(points) and abs(float(np.mean(values)) - 0.8) < 0.01 and np.std(values) < 0.04


@pytest.mark.parametrize("encoding", ["shared", "separate"])
def test_first_points_and_candidates_are_steered(encoding: str) -> None:
    space, rng = _space(encoding=encoding), np.random.default_rng(0)
    assert _are_steered(space, Setting(space, {}, rng).first_points(300))
    assert _are_steered(space, uniform_points(space, 300, rng))
    plain = _space(TEXT.replace(" weight 9", "").replace(" normal(0.8, 0.02)", ""), encoding)
    assert not _are_steered(plain, Setting(plain, {}, rng).first_points(300))


@pytest.mark.parametrize("draw", ["choices", "models"])
def test_random_search_is_steered(draw: str) -> None:
    space = _space()
    setting = Setting(space, {"evaluations": 96, "draw": draw}, np.random.default_rng(0))
    queries = next(random(setting))
    names, values = _learners(space, np.array([query.vector for query in queries]))
    assert names["a"] >= 24
    assert abs(float(np.mean(values)) - 0.8) < 0.02


@pytest.mark.parametrize("encoding", ["shared", "separate"])
@pytest.mark.parametrize(
    ("strategy", "objectives"),
    [
        ("random(evaluations = 96)", 1),
        ("auto(evaluations = 100)", 1),
        ("auto(evaluations = 400, resource = rows)", 1),
        ("halving(evaluations = 400)", 1),
        ("pso(swarm = 60)", 1),
        ("bpso(swarm = 60)", 1),
        ("occam_ga(population = 60)", 1),
        ("cmdpso(swarm = 60)", 2),
        ("nspso(swarm = 60)", 2),
    ],
)
def test_the_first_population_of_a_strategy_follows_priors_and_weights(
    strategy: str, objectives: int, encoding: str
) -> None:
    """Without them as many have `b` as `a`, and `p` is 0.5 on average."""
    space = _space(encoding=encoding)
    setting = Setting(space, options(strategy), np.random.default_rng(0), objectives=objectives)
    queries = next(load_strategy(strategy.split("(")[0])(setting))
    names, values = _learners(space, np.array([query.vector for query in queries]))
    assert len(queries) >= 20
    assert names["a"] > 0.7 * len(queries)
    # One may be the reference; alternatives that nobody drew have a model each.
    assert abs(float(np.median(values)) - 0.8) < 0.02


def test_idle_particles_restart_where_priors_say() -> None:
    space, rng = _space(), np.random.default_rng(0)
    still = rng.random((200, space.n_dimensions))
    anew, _ = scattered(space, still, still, np.zeros_like(still), rng)
    assert _are_steered(space, anew)


def test_models_near_the_best_that_a_surrogate_weighs_are_drawn_by_weight() -> None:
    space, rng = _space(), np.random.default_rng(0)
    with_b = np.array([point for point in rng.random((900, space.n_dimensions)) if _learners(space, [point])[0]["b"]])
    (place,) = np.flatnonzero((with_b.min(axis=0) > 0.45) | (with_b.max(axis=0) < 0.55))  # where the learner is chosen
    near = _near(Setting(space, {}, rng), with_b)
    chosen_anew = near[~np.isin(near[:, place], with_b[:, place])]
    names, _ = _learners(space, chosen_anew)
    assert len(chosen_anew) > 50
    assert names["a"] > 0.8 * len(chosen_anew)  # one half if alternatives were drawn alike


def test_mutation_draws_by_the_prior_and_leaves_the_rest() -> None:
    space, rng = _space(), np.random.default_rng(0)
    parents = Setting(space, {}, rng).first_points(400)
    names, _ = _learners(space, parents)
    (place,) = space.codec.layout.dimensions_of("a.p") or space.codec.layout.dimensions_of("p")
    only = np.arange(space.n_dimensions) == place
    children = uniform(space, parents, 1.0, only, rng)
    np.testing.assert_array_equal(np.delete(children, place, axis=1), np.delete(parents, place, axis=1))
    assert (children[:, place] != parents[:, place]).all()
    after, values = _learners(space, children)
    assert after == names
    assert abs(float(np.mean(values)) - 0.8) < 0.01


def test_what_is_added_is_drawn_by_weight() -> None:
    space, rng = _space(), np.random.default_rng(0)
    (switch,) = np.flatnonzero(space.switches)
    parents = rng.random((400, space.n_dimensions))
    parents[:, switch] = (space.absent[switch] + 0.5) / space.levels[switch]
    added = with_added(space, parents, 1.0, rng)
    cells = Counter(space.cells(added)[:, switch].tolist())
    assert cells[float(space.absent[switch])] == 0
    assert cells.most_common(1)[0][1] > 350


def test_a_narrow_prior_does_not_end_a_random_search() -> None:
    text = 'block a: learner "m:A" { n: int 1..40 normal(20, 0.01) }\nchain model = a'
    space, rng = _space(text), np.random.default_rng(0)
    found = UnseenPoints(space).draws(
        lambda size: space.steered(rng.random((size, 1))), 40, otherwise=lambda size: rng.random((size, 1))
    )
    assert len({space.decode(point) for point in found}) == 40


def test_priors_change_no_digest_of_the_space() -> None:
    plain = TEXT
    for prior in (" normal(0.8, 0.02)", " lognormal(2, 0.1)", " weight 20", " weight 9"):
        assert prior in plain
        plain = plain.replace(prior, "")
    assert space_digest(_spec(plain).space) == space_digest(_spec().space)


def test_priors_change_the_digest_of_a_run() -> None:
    from msl.runner.plan import written_space

    assert written_space(_spec()) != written_space(_spec(TEXT.replace("weight 9", "weight 8")))
    assert written_space(_spec()) != written_space(_spec(TEXT.replace("0.02", "0.03")))
