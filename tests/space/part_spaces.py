"""Hypothesis strategies for spaces with parameters of parts, small enough for brute force."""

from __future__ import annotations

from generators import choices, with_steered_values
from hypothesis import strategies as st
from small_spaces import A2, A, B, constants, nodes

from msl.space.column_selectors import on_columns
from msl.space.conditions import Comparison, Literal, Parameter, Requirement, Sibling, ValueIs
from msl.space.formulas import Formula
from msl.space.nodes import (
    Arrange,
    BlockUse,
    Bool,
    Choice,
    Computed,
    Const,
    Empty,
    IntRange,
    Listing,
    Marked,
    Node,
    Param,
    Permute,
    Pipeline,
    Prior,
    RealRange,
    Repeat,
    Sequence,
    Sized,
    Subset,
    Symbol,
    Union,
)
from msl.space.spec import Space
from msl.space.values import part_as_block

OUTER, INNER = "one:outer", "one:inner"

_domains = {
    "k": st.sampled_from(
        [
            IntRange(1, 3),
            IntRange(0, 4, step=2),
            IntRange(1, 4, log=True),
            IntRange(1, 3, prior=Prior("normal", 3, 0.5)),
            Choice((Const(1), Const(3)), (1.0, 3.0)),
            Const(2),
        ]
    ),
    "w": st.sampled_from(
        [Choice((Const("x"), Const(None), Const(2)), (), True), Choice((Const(1), IntRange(3, 4))), Const("x")]
    ),
    "b": st.just(Bool()),
    "s": st.just(RealRange(0.0, 1.5, step=0.5)),
    "p": st.sampled_from([RealRange(0.0, 1.0), RealRange(0.5, 2.0, log=True)]),
}
_withins = st.sampled_from(
    [
        IntRange(1, 3),
        IntRange(0, 6),
        IntRange(0, 6, step=2),
        RealRange(0.0, 6.0, step=0.5),
        Bool(),
        Choice((Const("x"), Const(None), IntRange(1, 2))),
        Choice((Const(1), Const(3), Const(True))),
    ]
)


#: Of a list whose length follows from parameters.
_elements = st.sampled_from(
    [
        IntRange(1, 2, prior=Prior("lognormal", 2, 0.5)),
        Choice((Const("x"), Const(2)), (3.0, 1.0)),
        Choice((Const("x"), Const(None)), (), True),
        Choice((Symbol("x", (Param("v", IntRange(1, 2)),), own=True), Symbol("y", (), own=True)), (0.5, 2.0)),
    ]
)
#: How long it may be.
_few = st.sampled_from([IntRange(0, 2), IntRange(1, 3), Choice((Const(0), Const(2)))])


def _formulas(mark: str, names: list[str]) -> st.SearchStrategy[Formula]:
    """Values that follow from parameters; an open real counts within `floor` and `ceil` alone."""
    of = {name: Formula(f"{mark}.{name}") for name in names}
    found: list[Formula] = [of[name] for name in names if name != "p"]
    for name in names:
        if name in ("k", "s", "w"):
            found += [Formula("*", (2, of[name])), Formula("floor", (Formula("/", (of[name], 2)),))]
            found += [Formula("-", (4, of[name])), Formula("min", (of[name], 2)), Formula("/", (4, of[name]))]
            found += [Formula("^", (of[name], 2)), Formula("^", (2, of[name]))]
        if name == "p":
            found += [Formula("floor", (Formula("*", (3, of[name])),)), Formula("ceil", (Formula("*", (2, of[name])),))]
            found += [Formula("-", (3, Formula("floor", (Formula("*", (4, of[name])),))))]
    if "k" in names and "p" in names:
        found.append(Formula("floor", (Formula("*", (of["k"], of["p"])),)))
        found.append(Formula("+", (of["k"], Formula("floor", (Formula("*", (2, of["p"])),)))))
    return st.sampled_from(found)


@st.composite
def _steps(draw: st.DrawFn, mark: str, names: list[str], others: list[Node]) -> Node:
    computed = st.builds(Computed, _formulas(mark, names), _withins)
    value = st.one_of(computed, computed, computed, constants, st.just(IntRange(1, 2)), _within_values(computed))
    length = st.builds(Computed, _formulas(mark, names), _few)
    one = value.map(lambda node: (Param("u", node),))
    params = st.one_of(one, one, st.tuples(value, value).map(_conditional), _sized(length))
    use = st.builds(BlockUse, st.sampled_from([A, B, A2]), params)
    level: st.SearchStrategy[Node] = st.one_of(use, use, use, st.just(Empty()), *map(st.just, others))
    for _ in range(2):
        level = st.one_of(level, _combined(level))
    return draw(level)


def _within_values(computed: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    """Values that follow from parameters deeper inside a value: of a pipeline, of an alternative, in a list."""
    use = computed.map(lambda node: BlockUse(A, (Param("u", node),)))
    row = st.tuples(use, st.one_of(use, st.just(Choice((BlockUse(B), Empty()))))).map(Sequence)
    return st.one_of(
        st.one_of(use, row).map(Pipeline),
        computed.map(lambda node: Symbol("x", (Param("v", node),), own=True)),
        computed.map(lambda node: Choice((Symbol("x", (Param("v", node),)), Const("y")), (2.0, 1.0))),
        st.tuples(computed, st.just(IntRange(1, 2))).map(Listing),
        choices(st.one_of(computed, st.just(Const("y"))), 2, 2),
        st.tuples(computed, choices(computed, 2, 2)).map(Listing),
    )


def _sized(number: st.SearchStrategy[Node]) -> st.SearchStrategy[tuple[Param, ...]]:
    """A list whose length follows from parameters."""
    return st.builds(
        lambda length, element: (Param("n", length), Param("list", Sized(Sibling("n"), element))), number, _elements
    )


def _conditional(nodes: tuple[Node, Node]) -> tuple[Param, ...]:
    """The second parameter exists only for one value of the first."""
    return Param("u", nodes[0]), Param("w", nodes[1], condition=Comparison("==", Sibling("u"), Literal(2)))


def _combined(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    two = st.lists(inner, min_size=1, max_size=2).map(tuple)
    return st.one_of(
        st.builds(Choice, two),
        st.builds(Sequence, two),
        st.builds(Sequence, two),
        st.builds(Union, two),
        st.builds(Subset, two),
        st.builds(Permute, two),
        two.map(lambda members: Arrange(1, len(members), members)),
        inner.map(lambda node: Repeat(1, 2, node)),
        st.tuples(st.sampled_from(["numbers", ("age",)]), inner).map(
            lambda pair: Sequence((on_columns(pair[0]), pair[1]))
        ),
    )


@st.composite
def parts(draw: st.DrawFn, mark: str, others: list[Node]) -> Marked:
    names = sorted(draw(st.sets(st.sampled_from(list("kwbsp")), min_size=1, max_size=2)))
    params = tuple(Param(name, draw(_domains[name])) for name in names)
    return Marked(mark, draw(_steps(mark, names, others)), params)


@st.composite
def _nested(draw: st.DrawFn) -> Marked:
    """A part that gives its own parameters to another."""
    inner = draw(parts(INNER, []))
    names = ["k", "b"]
    given = []
    for param in inner.params:
        formula = draw(_formulas(OUTER, names))
        free = param.node if draw(st.booleans()) or param.name == "p" else Computed(formula, param.node)
        given.append(Param(param.name, free))
    use = Marked(INNER, inner.node, tuple(given))
    params = tuple(Param(name, draw(_domains[name])) for name in names)
    return Marked(OUTER, draw(_steps(OUTER, names, [use, use])), params)


_roots = st.one_of(parts(OUTER, []), _nested(), parts(OUTER, []).map(lambda part: Choice((part, Empty()))))
_mixed = st.one_of(
    _roots,
    st.tuples(_roots, nodes).map(Choice),
    st.tuples(_roots, nodes).map(Sequence),
    st.tuples(with_steered_values(finite=True), _roots).map(Sequence),
    choices(_roots, 2, 2),
    st.tuples(_roots, parts("one:third", [])).map(Sequence),
    parts(OUTER, []).map(lambda part: Sequence((part, part))),
    parts(OUTER, []).map(lambda part: Repeat(0, 2, part)),
)
_terms = st.builds(Parameter, st.sampled_from([part_as_block(OUTER), part_as_block(INNER)]), st.sampled_from("kwbs"))
_conditions = st.one_of(
    st.builds(
        Comparison, st.sampled_from(["<", ">=", "==", "!="]), _terms, st.sampled_from([Literal(2), Literal(1.5)])
    ),
    st.builds(Comparison, st.sampled_from(["<", "=="]), _terms, st.builds(Parameter, st.just(A), st.just("u"))),
    st.builds(ValueIs, _terms, st.sampled_from([("x",), (True,), (None, 2)])),
)
_requirements = st.lists(st.builds(Requirement, _conditions, st.none() | _conditions), max_size=1).map(tuple)

spaces = st.builds(Space, _mixed, _requirements)
