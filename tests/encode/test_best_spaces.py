"""Spaces with `best` parameters against brute force: the searched space stands for exactly the models of the space."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest
from brute_force import all_models, typed_steps
from generators import BLOCKS, spaces, spelt_out, with_pipelines
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from part_spaces import spaces as spaces_with_parts

from msl.encode.codec import space_to_codec
from msl.encode.sample import enumerate_models
from msl.runner.search_space import space_to_search_space
from msl.space import best as best_module
from msl.space.best import (
    best_parameters,
    deciding_siblings,
    is_best,
    takes_numbers,
    tried_models,
    tried_values,
    without_best,
    worded_models,
)
from msl.space.canonical.digest import space_digest
from msl.space.conditions import Comparison, Literal, Parameter, Requirement, ValueIs
from msl.space.enumerate.count import count
from msl.space.membership import Membership, NotInSpace
from msl.space.nodes import BlockUse, Choice, Const, IntRange, Node, Param, RealRange, Symbol, bottom_up, rebuilt
from msl.space.spec import Space
from msl.space.to_text import node_to_text
from msl.space.values import Model

encodings = st.sampled_from(["shared", "separate"])
slow_draws = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


@st.composite
def spaces_with_best(draw: st.DrawFn) -> Space:
    """Small spaces in which some parameters are `best`, in pipelines and in parts with parameters too."""
    space = draw(st.one_of(spaces(), with_pipelines(), spaces_with_parts))

    def marked(node: Node) -> Node:
        if not isinstance(node, BlockUse | Symbol):
            return node
        return replace(node, params=tuple(map(perhaps_best, node.params)))

    def perhaps_best(param: Param) -> Param:
        return replace(param, best=takes_numbers(param.node) and draw(st.booleans()))

    found = replace(space, root=rebuilt(space.root, marked))
    assume(best_parameters(found.root) and not deciding_siblings(found.root))
    if draw(st.booleans()):
        subject = st.sampled_from(sorted(_paths_to_best(found.root), key=repr))
        asked = draw(st.sampled_from([Comparison(">", draw(subject), Literal(1)), ValueIs(draw(subject), (2, 3))]))
        found = replace(found, requirements=(*found.requirements, Requirement(asked)))
    return found


def _paths_to_best(root: Node) -> set[Parameter]:
    """How requirements name the `best` parameters, also those of alternatives with names of their own."""
    found = set()
    for use in (node for node in bottom_up(root) if isinstance(node, BlockUse)):
        open_nodes: list[tuple[tuple[str, ...], Node]] = [((), use)]
        while open_nodes:
            path, node = open_nodes.pop()
            for param in node.params if isinstance(node, BlockUse | Symbol) else ():
                own = (*path, param.name) if node is use or getattr(node, "own", False) else (*path[:-1], param.name)
                found |= {Parameter(use.block, ".".join(own))} if is_best(param) else set()
                options = param.node.options if isinstance(param.node, Choice) else (param.node,)
                open_nodes += [(own, option) for option in options if isinstance(option, Symbol)]
    return found or {Parameter(block, "u") for block in BLOCKS}


def _is_in(membership: Membership, model: Model) -> bool:
    try:
        membership.derive(model)
    except NotInSpace:
        return False
    return True


@pytest.fixture(scope="module", autouse=True)
def all_values() -> object:
    """All values are tried, however many there are."""
    before, best_module.MOST_TRIED = best_module.MOST_TRIED, 10**9
    yield
    best_module.MOST_TRIED = before


@settings(suppress_health_check=slow_draws, deadline=None)
@given(spaces_with_best(), encodings)
def test_the_searched_models_stand_for_the_models_of_the_space(space: Space, encoding: str) -> None:
    assume(count(space).models <= 300)
    searched, domains = without_best(space)
    codec = space_to_codec(searched, encoding)  # type: ignore[arg-type]
    membership = Membership(space)
    found = {
        typed_steps(model.steps)
        for worded in enumerate_models(codec)
        for model in tried_models(worded, domains)
        if _is_in(membership, model)
    }
    assert found == all_models(spelt_out(space))


@settings(suppress_health_check=slow_draws, deadline=None)
@given(spaces_with_best(), encodings)
def test_every_model_has_a_point_whose_tried_models_include_it(space: Space, encoding: str) -> None:
    assume(0 < count(space).models <= 300)
    searched, domains = without_best(space)
    points = space_to_search_space(searched, encoding, None, domains)  # type: ignore[arg-type]
    for model in islice(enumerate_models(space_to_codec(space, "shared")), 40):
        assert any(True for _ in worded_models(model, domains))
        point = points.encode(model)
        assert point is not None
        worded = points.decode(point)
        assert isinstance(worded, Model)
        assert model in tried_models(worded, domains)


@settings(suppress_health_check=slow_draws, deadline=None)
@given(spaces_with_best())
def test_best_changes_the_text_but_not_the_set(space: Space) -> None:
    def plain(node: Node) -> Node:
        if isinstance(node, BlockUse | Symbol):
            return replace(node, params=tuple(replace(param, best=False) for param in node.params))
        return node

    without = replace(space, root=rebuilt(space.root, plain))
    assert space_digest(space) == space_digest(without)
    assert count(space) == count(without)
    assert node_to_text(space.root) != node_to_text(without.root)


@pytest.mark.parametrize(
    ("domain", "values"),
    [
        (IntRange(1, 5), [1, 2, 3, 4, 5]),
        (IntRange(0, 1000), [0, 333, 667, 1000]),
        (IntRange(1, 1000, log=True), [1, 10, 100, 1000]),
        (IntRange(1, 15, step=2), [1, 5, 11, 15]),
        (IntRange(1, 6, log=True), [1, 2, 3, 6]),
        (RealRange(0.0, 1.0), [0.0, 1 / 3, 2 / 3, 1.0]),
        (RealRange(0.001, 1.0, log=True), [0.001, 0.01, 0.1, 1.0]),
        (RealRange(0.0, 1.0, step=0.25), [0.0, 0.25, 0.75, 1.0]),
        (Choice((Const(9), Const(1), Const(4))), [1, 4, 9]),
        (Choice(tuple(map(Const, range(10)))), [0, 3, 6, 9]),
    ],
)
def test_long_ranges_are_thinned_evenly_with_both_ends(domain: Node, values: list[float]) -> None:
    most = 5 if values == [1, 2, 3, 4, 5] else 4
    assert tried_values(domain, most) == pytest.approx(values)
