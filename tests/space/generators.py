"""Generators: hypothesis strategies for spaces of every kind of node, nested three deep, with requirements on parts.

The alphabet is small on purpose, so that alternatives overlap, parts are empty, and requirements bite.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from msl.space.column_selectors import Selector, on_columns
from msl.space.conditions import (
    AllOf,
    AnyOf,
    Comparison,
    Computed,
    Condition,
    FactTerm,
    IsTrue,
    Literal,
    Negation,
    Parameter,
    PartIs,
    Present,
    Requirement,
    Sibling,
    ValueIs,
)
from msl.space.formulas import Facts
from msl.space.nodes import (
    Arrange,
    BlockUse,
    Bool,
    Choice,
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
    Regions,
    Repeat,
    Sequence,
    Sized,
    Subset,
    Symbol,
    Union,
    Vector,
    rebuilt,
)
from msl.space.numbers import level_count, level_value
from msl.space.spec import Space
from msl.space.values import BlockType, BlockValue, SymbolValue

FACTS = Facts(n_samples=50, n_features=3, n_classes=2, task="classification")
SCALER = BlockType("scaler", "one", "transformer", None, "pkg:Scaler")
MAPPER = BlockType("mapper", "one", "transformer", None, "pkg:Mapper")
#: The same class as SCALER under another name: equal in a model, told apart by requirements.
ALIAS = BlockType("alias", "two", "transformer", None, "pkg:Scaler")
NEAR = BlockType("near", "one", "distance", None, "pkg:Near")
FAR = BlockType("far", "one", "distance", None, "pkg:Far")
BLOCKS = (SCALER, MAPPER, ALIAS)
MARKS = ("one:p", "one:q")
NAMES = ("u", "v", "w")


# --- domains ----------------------------------------------------------------------------------------------------------

constants = st.sampled_from(
    [
        *(Const(value) for value in (1, 2, 3, 1.0, 0.5, True, "x", "y", None, (1, 2))),
        Const(SymbolValue("x", (("u", 1),))),
        Const(SymbolValue("x", (("u", 1),), own=True)),
        Const(BlockValue(NEAR, (("u", 2),))),
    ]
)
finite_numbers = st.sampled_from(
    [
        IntRange(1, 2),
        IntRange(1, 4),
        IntRange(1, 5, step=2),
        IntRange(2, 2),
        IntRange(1, 6, log=True),
        IntRange(1, 4, prior=Prior("normal", 2, 0.5)),
        IntRange(1, 6, log=True, prior=Prior("lognormal", 3, 0.7)),
        RealRange(0, 1, step=0.5),
        RealRange(0, 1, step=0.5, prior=Prior("normal", 0.9, 0.4)),
        RealRange(0.5, 0.5),
        Bool(),
    ]
)
open_numbers = st.sampled_from(
    [
        RealRange(0, 1),
        RealRange(-3.0, 7.5),
        RealRange(1e-4, 100, log=True),
        RealRange(0, 1, prior=Prior("normal", 0.2, 0.1)),
        RealRange(1e-4, 100, log=True, prior=Prior("lognormal", 0.1, 2)),
        RealRange(0.5, 100, prior=Prior("lognormal", 3, 1)),
        RealRange(0, 1, prior=Prior("normal", 60, 0.1)),
        RealRange(1e-30, 1e-20, log=True),
        RealRange(1_000_000.0, 1_000_001.0),
        RealRange(1 / 3, 2 / 3),
        IntRange(1, 100_000, log=True),
        IntRange(-5, 10_000, step=3),
        RealRange(0, 1, step=0.1),
    ]
)
#: Alternatives of an element, drawn by weights or with an order.
_weighted = Choice((Const("x"), Const(2)), (3.0, 1.0))
_layers = Choice((Symbol("x", (Param("u", IntRange(1, 2)),), own=True), Symbol("y", (), own=True)), (0.5, 2.0))
_ordered = Choice((Const("x"), Const(None), Const(2)), (), ordered=True)
finite_lists = st.sampled_from(
    [
        Vector(2, Bool()),
        Vector(2, IntRange(1, 2)),
        Vector(2, IntRange(1, 3, prior=Prior("normal", 3, 0.5))),
        Listing((_weighted, _weighted)),
        Listing((_layers, _layers)),
        Listing((_ordered, _ordered)),
        Vector(2, Const(1)),
        Listing((_weighted, IntRange(1, 2))),
        Listing((IntRange(1, 2), Const(2))),
        Listing((Choice((BlockUse(NEAR, (Param("u", IntRange(1, 2)),)), Const("x"))), Bool())),
        Listing(()),
    ]
)
open_lists = st.sampled_from(
    [
        Vector(3, RealRange(0, 1)),
        Vector(2, RealRange(0.5, 100, log=True, prior=Prior("lognormal", 3, 1))),
        Listing((Choice((RealRange(0, 1), Const("x")), (1.0, 3.0)), Bool())),
        Vector(4, Bool()),
        Regions(2, 2),
        Regions(3, 1),
        Listing((RealRange(0, 1), Bool())),
    ]
)


@st.composite
def domains(draw: st.DrawFn, finite: bool = True, depth: int = 2) -> Node:
    """What a parameter may be; alternatives and blocks with parameters of their own down to `depth`."""
    plain = [constants, finite_numbers, finite_lists]
    if not finite:
        plain += [open_numbers, open_lists]
    if depth == 0:
        return draw(st.one_of(*plain))
    inner = domains(finite=finite, depth=depth - 1)
    nested: list[st.SearchStrategy[Node]] = [
        st.builds(Symbol, st.sampled_from("xy"), parameters(finite, depth - 1), st.just(True)),
        st.builds(Symbol, st.sampled_from("xy"), parameters(finite, depth - 1, lists=False), st.just(False)),
        st.builds(BlockUse, st.sampled_from([NEAR, FAR]), parameters(finite, depth - 1)),
        choices(inner, 1, 3),
        _orders,
        st.builds(Pipeline, _rows(finite, depth - 1)),
    ]
    return draw(st.one_of(*plain, *nested))


def _rows(finite: bool, depth: int) -> st.SearchStrategy[Node]:
    """Short rows of steps, as the value of a parameter; some have numbers, and rows of steps inside."""
    blocks = st.sampled_from([NEAR, FAR, SCALER, ALIAS])
    plain = st.builds(BlockUse, blocks, st.just(()) | st.deferred(lambda: parameters(finite, depth)))
    inner = finite_numbers if depth <= 0 else st.one_of(finite_numbers, finite_numbers, _inner_rows)
    with_number = st.builds(lambda block, node: BlockUse(block, (Param("u", node),)), blocks, inner)
    use = st.one_of(plain, with_number)
    step = st.one_of(use, use, choices(st.one_of(use, st.just(Empty())), 2, 2))
    marked = st.one_of(step, st.builds(Marked, st.sampled_from(MARKS), step))
    return st.one_of(
        marked,
        st.builds(Sequence, st.tuples(marked, use)),
        st.builds(Choice, st.tuples(use, st.builds(Sequence, st.tuples(step, use)))),
        st.builds(Sequence, st.tuples(st.builds(Union, st.tuples(use, step)), use)),
        st.builds(Subset, st.tuples(use, marked)),
    )


#: A row inside a row.
_inner_rows = st.builds(
    lambda first, number: Pipeline(Sequence((BlockUse(first, (Param("u", number),)), BlockUse(NEAR)))),
    st.sampled_from([SCALER, ALIAS]),
    finite_numbers,
)


@st.composite
def choices(draw: st.DrawFn, options: st.SearchStrategy[Node], least: int, most: int) -> Choice:
    """A choice, one in three with weights."""
    found = tuple(draw(st.lists(options, min_size=least, max_size=most)))
    if draw(st.integers(0, 2)):
        return Choice(found)
    return Choice(found, tuple(draw(st.sampled_from([0.5, 1.0, 3.0])) for _ in found))


#: Alternatives with an order, some with weights.
_orders = st.builds(
    Choice,
    st.permutations([Const("x"), Const(None), Const(2), Const("y")]).map(lambda found: tuple(found[:3])),
    st.sampled_from([(), (1.0, 3.0, 0.5)]),
    st.just(True),
)


_sibling_conditions = st.sampled_from(
    [
        Comparison("==", Sibling("u"), Literal(1)),
        Comparison(">", Sibling("u"), Literal(1.5)),
        Comparison("<=", Sibling("u"), FactTerm("n_features")),
        Comparison("<", Computed("*", (Sibling("u"), Literal(2))), Literal(5)),
        ValueIs(Sibling("u"), ("x", None)),
        ValueIs(Sibling("u"), (NEAR, 2)),
        Negation(ValueIs(Sibling("u"), ("x",))),
        IsTrue(Sibling("v")),
        Comparison("<", Sibling("u.u"), Literal(2)),
        ValueIs(Sibling("u.v"), (1, "x", True)),
    ]
)
#: What tells the length of a list, and the lengths that it gives.
_counts = st.sampled_from(
    [IntRange(0, 2), IntRange(1, 2), Choice((Const(1), Const(2))), Const(2), IntRange(1, 3, step=2)]
)
_lengths = st.sampled_from([Sibling("n"), Sibling("n"), Computed("+", (Sibling("n"), Literal(1)))])
_elements = st.sampled_from(
    [
        Bool(),
        IntRange(1, 2),
        IntRange(1, 2, log=True),
        IntRange(1, 2, prior=Prior("lognormal", 2, 0.5)),
        _weighted,
        _layers,
        _ordered,
        Const(1),
        Choice((Symbol("x", (Param("u", IntRange(1, 2)),), own=True), Symbol("y", (), own=True))),
        Choice((Symbol("x", (Param("u", Bool()),)), Const("y"))),
        BlockUse(NEAR, (Param("u", IntRange(1, 2)),)),
    ]
)


@st.composite
def parameters(draw: st.DrawFn, finite: bool = True, depth: int = 1, lists: bool = True) -> tuple[Param, ...]:
    """None to three parameters, the later ones perhaps conditional on the earlier, and perhaps a list with its length.

    An alternative that shares its names with the block has no list: the checker refuses a second length of that name.
    """
    count = draw(st.sampled_from([0, 1, 1, 2, 2, 3]))
    found = []
    for name in NAMES[:count]:
        condition = draw(st.none() | _sibling_conditions) if found else None
        found.append(Param(name, draw(domains(finite=finite, depth=depth)), condition=condition))
    if lists and draw(st.integers(0, 5)) == 0:
        element = draw(_elements if finite else st.one_of(_elements, open_numbers))
        conditions = st.none() if not found else st.none() | _sibling_conditions
        found.append(Param("n", draw(_counts), condition=draw(conditions)))
        found.append(Param("list", Sized(draw(_lengths), element), condition=draw(conditions)))
    return tuple(found)


# --- columns by name, pattern, kind and rest ---

selectors = st.sampled_from(["numbers", "symbols", "rest", ("age",), ("age", "income_*"), ("numbers",)])


def selecting(selector: Selector, inner: Node) -> Node:
    """`on selector (inner)`."""
    return Sequence((on_columns(selector), inner))


# --- steps ------------------------------------------------------------------------------------------------------------


def _uses(finite: bool) -> st.SearchStrategy[Node]:
    return st.builds(BlockUse, st.sampled_from(BLOCKS), parameters(finite, 2 if not finite else 1))


def _combined(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    two = st.lists(inner, min_size=1, max_size=2).map(tuple)
    bounds = st.sampled_from([(0, 1), (1, 1), (0, 2), (1, 2), (2, 2)])
    return st.one_of(
        choices(inner, 1, 3),
        inner.map(lambda node: Choice((node, Empty()))),
        st.builds(Sequence, two),
        st.builds(Union, two),
        st.builds(Subset, two),
        st.builds(Permute, two),
        st.tuples(bounds, two).map(lambda p: Arrange(min(p[0][0], len(p[1])), min(p[0][1], len(p[1])), p[1])),
        st.tuples(bounds, inner).map(lambda p: Repeat(*p[0], p[1])),
        st.builds(Marked, st.sampled_from(MARKS), inner),
        st.builds(selecting, selectors, inner),
    )


def steps(finite: bool = True) -> st.SearchStrategy[Node]:
    """Chains nested three deep."""
    level: st.SearchStrategy[Node] = st.one_of(_uses(finite), _uses(finite), st.just(Empty()))
    for _ in range(3):
        level = st.one_of(level, _combined(level))
    return level


# --- requirements -----------------------------------------------------------------------------------------------------

_marks = st.sampled_from([None, None, *MARKS])
_paths = st.sampled_from([*NAMES, *NAMES, "n", "u.u", "u.v", "v.u.u"])
_parameters = st.builds(Parameter, st.sampled_from([*BLOCKS, NEAR]), _paths, _marks)
_terms = st.one_of(
    _parameters,
    st.sampled_from([Literal(1), Literal(2.0), FactTerm("n_features")]),
    st.builds(lambda p: Computed("+", (p, Literal(1))), _parameters),
)
_atoms = st.one_of(
    st.builds(Present, st.sampled_from([*BLOCKS, FAR]), _marks),
    st.builds(PartIs, st.sampled_from(MARKS), st.sampled_from([(SCALER,), (None,), (MAPPER, None), (SCALER, ALIAS)])),
    st.builds(ValueIs, _parameters, st.sampled_from([(1,), ("x", None), (True, 2), (NEAR,)])),
    st.builds(Comparison, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), _terms, _terms),
    st.builds(IsTrue, _parameters),
)
conditions: st.SearchStrategy[Condition] = st.recursive(
    _atoms,
    lambda inner: st.one_of(
        st.builds(Negation, inner),
        st.builds(AllOf, st.lists(inner, min_size=1, max_size=2).map(tuple)),
        st.builds(AnyOf, st.lists(inner, min_size=1, max_size=2).map(tuple)),
    ),
    max_leaves=3,
)
requirements = st.lists(st.builds(Requirement, conditions, st.none() | conditions), max_size=2).map(tuple)


def spaces(finite: bool = True) -> st.SearchStrategy[Space]:
    """Spaces resolved against FACTS; with `finite`, small enough to list most of the time.

    One in four has lists or rows of steps with weights, orders, priors and numbers in front, which are rare elsewhere.
    """
    level = steps(finite)
    in_front = st.builds(lambda *both: Sequence(both), with_steered_values(finite), level)
    return st.builds(Space, st.one_of(level, level, level, in_front), requirements, st.just(FACTS))


def with_steered_values(finite: bool) -> st.SearchStrategy[Node]:
    """A block with a list, or a row of steps, whose elements are steered or have numbers."""
    lists: list[Node] = [
        *(Listing((one, one)) for one in (_weighted, _layers, _ordered)),
        Vector(2, IntRange(1, 3, prior=Prior("normal", 3, 0.5))),
        Listing((_weighted, _ordered)),
    ]
    value = st.one_of(st.sampled_from(lists), st.builds(Pipeline, _rows(finite, 1)))
    sized = st.builds(
        lambda count, element: (Param("n", count), Param("list", Sized(Sibling("n"), element))), _counts, _elements
    )
    rows = st.one_of(value.map(lambda node: (Param("u", node),)), value.map(lambda node: (Param("u", node),)), sized)
    return st.builds(BlockUse, st.sampled_from(BLOCKS), rows)


@st.composite
def with_pipelines(draw: st.DrawFn) -> Space:
    """Spaces of a block whose parameter is a row of steps with numbers inside, perhaps beside another step."""
    rows = st.builds(Pipeline, _rows(finite=True, depth=1))
    own = Param("v", draw(st.one_of(rows, choices(rows, 2, 2))))
    number = draw(st.lists(st.builds(Param, st.just("u"), finite_numbers), max_size=1))
    use: Node = BlockUse(draw(st.sampled_from(BLOCKS)), (*number, own))
    if draw(st.booleans()):
        use = Sequence((use, draw(steps())))
    return Space(use, draw(requirements), FACTS)


# --- for brute force --------------------------------------------------------------------------------------------------


def spelt_out(space: Space) -> Space:
    """The same space with stepped reals as alternatives and facts as numbers, which brute force does not know."""

    def spell(node: Node) -> Node:
        if isinstance(node, RealRange) and node.step is not None:
            return Choice(tuple(Const(level_value(node, level)) for level in range(level_count(node) or 0)))
        if isinstance(node, Symbol | BlockUse):
            return replace(node, params=tuple(replace(p, condition=_without_facts(p.condition)) for p in node.params))
        return node

    return Space(rebuilt(space.root, spell), space.requirements, space.facts)


def _without_facts(condition: Condition | None) -> Condition | None:
    if isinstance(condition, Comparison) and condition.right == FactTerm("n_features"):
        return replace(condition, right=Literal(FACTS.n_features))
    return condition
