"""Small spaces: hypothesis strategies for spaces that brute force can enumerate, and for other spellings of them.

The alphabet is tiny on purpose, so that two spaces drawn apart are often the same set.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from msl.space.column_selectors import on_columns
from msl.space.conditions import (
    AllOf,
    AnyOf,
    Comparison,
    Computed,
    Condition,
    IsTrue,
    Literal,
    Negation,
    Parameter,
    PartIs,
    Present,
    Requirement,
    Sibling,
    Term,
    ValueIs,
)
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
    Repeat,
    Sequence,
    Sized,
    Subset,
    Symbol,
    Union,
)
from msl.space.spec import Space
from msl.space.values import BlockType

A = BlockType("a", "one", "transformer", None, "pkg:A")
B = BlockType("b", "one", "transformer", None, "pkg:B")
#: The same class as A under another name: only requirements can tell them apart.
A2 = BlockType("a2", "two", "transformer", None, "pkg:A")
MARKS = ("one:p", "one:q")
_MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}

constants = st.sampled_from(
    [Const(1), Const(2), Const(3), Const(1.0), Const(True), Const("x"), Const("y"), Const(None)]
)
ranges = st.sampled_from([IntRange(1, 2), IntRange(1, 3), IntRange(1, 3, step=2), IntRange(2, 2), Bool()])
symbols = st.builds(Symbol, st.sampled_from("xy"), st.sampled_from([(), (Param("u", IntRange(1, 2)),)]))
_lone = st.builds(BlockUse, st.sampled_from([A, B, A2]), st.sampled_from([(), (Param("u", IntRange(1, 2)),)]))
_optional = st.builds(Choice, st.tuples(_lone, st.one_of(_lone, st.just(Empty()))))
pipelines = st.builds(
    Pipeline,
    st.one_of(
        _lone,
        _optional,
        st.builds(Sequence, st.tuples(_optional, _lone)),
        st.builds(Choice, st.tuples(_lone, st.builds(Sequence, st.tuples(_lone, _lone)))),
        st.builds(Marked, st.sampled_from(MARKS), _optional),
    ),
)
domains = st.one_of(
    constants,
    ranges,
    symbols,
    pipelines,
    st.builds(Listing, st.tuples(st.sampled_from([IntRange(1, 2), Const(1)]))),
    st.builds(Choice, st.lists(st.one_of(constants, ranges, symbols), min_size=1, max_size=3).map(tuple)),
)
_params = st.one_of(
    st.just(()),
    domains.map(lambda node: (Param("u", node),)),
    st.tuples(domains, domains).map(
        lambda nodes: (
            Param("n", nodes[0]),
            Param("u", nodes[1], condition=Comparison("==", Sibling("n"), Literal(1))),
        )
    ),
)
selectors = st.sampled_from(["numbers", "rest", ("age",), ("age", "income_*")])
uses = st.builds(BlockUse, st.sampled_from([A, B, A2]), _params)


def _combined(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    some = st.lists(inner, min_size=1, max_size=3).map(tuple)
    two = st.lists(inner, min_size=1, max_size=2).map(tuple)
    bounds = st.sampled_from([(0, 1), (1, 1), (0, 2), (1, 2), (2, 2)])
    return st.one_of(
        st.builds(Choice, some),
        st.builds(Sequence, two),
        st.builds(Union, two),
        st.builds(Subset, two),
        st.builds(Permute, two),
        st.tuples(bounds, two).map(lambda p: Arrange(min(p[0][0], len(p[1])), min(p[0][1], len(p[1])), p[1])),
        st.tuples(bounds, inner).map(lambda p: Repeat(*p[0], p[1])),
        st.builds(Marked, st.sampled_from(MARKS), inner),
        st.builds(lambda selector, node: Sequence((on_columns(selector), node)), selectors, inner),
    )


nodes = st.recursive(st.one_of(uses, st.just(Empty())), _combined, max_leaves=4)

_terms = st.one_of(
    st.builds(Parameter, st.sampled_from([A, B, A2]), st.just("u"), st.sampled_from([None, *MARKS])),
    st.sampled_from([Literal(1), Literal(2.0)]),
)
_leaves = st.one_of(
    st.builds(Present, st.sampled_from([A, B, A2]), st.sampled_from([None, *MARKS])),
    st.builds(PartIs, st.sampled_from(MARKS), st.sampled_from([(A,), (None,), (B, None), (A, A2)])),
    st.builds(ValueIs, _terms, st.sampled_from([(1,), ("x", None), (True, 2)])),
    st.builds(Comparison, st.sampled_from(list(_MIRROR)), _terms, _terms),
)
conditions = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.builds(Negation, inner),
        st.builds(AllOf, st.lists(inner, min_size=1, max_size=2).map(tuple)),
        st.builds(AnyOf, st.lists(inner, min_size=1, max_size=2).map(tuple)),
    ),
    max_leaves=3,
)
requirements = st.lists(st.builds(Requirement, conditions, st.none() | conditions), max_size=2).map(tuple)
spaces = st.builds(Space, nodes, requirements)


# --- other spellings ----------------------------------------------------------------------------------------------


@st.composite
def respelt(draw: st.DrawFn, space: Space) -> Space:
    """The same space in other words."""
    names = draw(st.sampled_from([{}, {"a": "alpha", "b": "beta", "a2": "again"}, {"a": "b", "b": "a"}]))
    marks = draw(st.sampled_from([{}, {MARKS[0]: MARKS[1], MARKS[1]: MARKS[0]}, {MARKS[0]: "other.msl:z"}]))
    speller = _Respeller(draw, names, marks)
    said = [replace(r, text="") for r in map(speller.requirement, space.requirements)]
    return Space(speller.node(space.root), tuple(draw(st.permutations([*said, *said[:1]]))), space.facts)


class _Respeller:
    def __init__(self, draw: st.DrawFn, names: dict[str, str], marks: dict[str, str]) -> None:
        self.draw, self.names, self.marks = draw, names, marks

    def flip(self) -> bool:
        return self.draw(st.booleans())

    def shuffled(self, items: list[Node]) -> tuple[Node, ...]:
        return tuple(self.draw(st.permutations(items)))

    def block(self, block: BlockType) -> BlockType:
        return replace(block, name=self.names.get(block.name, block.name))

    def node(self, node: Node) -> Node:
        spelt = self._node(node)
        return Marked("nobody:speaks_of_it", spelt) if self.flip() and not isinstance(node, Const | IntRange) else spelt

    def nodes(self, nodes: tuple[Node, ...]) -> list[Node]:
        return [self.node(node) for node in nodes]

    def _node(self, node: Node) -> Node:
        match node:
            case IntRange(low=int(low), high=int(high), step=step, log=False) if self.flip():
                return Choice(self.shuffled([Const(value) for value in range(low, high + 1, step)]))
            case Bool() if self.flip():
                return Choice(self.shuffled([Const(True), Const(False)]))
            case Const(value=int(value)) if not isinstance(value, bool) and self.flip():
                return IntRange(value, value, log=self.flip() and value > 0)
            case Symbol(name=name, params=(), own=False) if self.flip():
                return Const(name)
            case Symbol(params=params):
                return replace(node, params=self.params(params))
            case BlockUse(block=block, params=params):
                return BlockUse(self.block(block), self.params(params))
            case Pipeline(node=Choice(options=options)) if self.flip():
                return Choice(self.shuffled([Pipeline(option) for option in self.nodes(options)]))
            case Pipeline(node=BlockUse() as alone) if self.flip():
                return self.node(alone)
            case Pipeline(node=inner):
                return Pipeline(self.node(inner))
            case Listing(elements=elements):
                return Listing(tuple(self.nodes(elements)))
            case Marked(mark=mark, node=inner):
                return Marked(self.marks.get(mark, mark), self.node(inner))
            case Choice(options=options):
                spelt = self.nodes(options)
                if self.flip():
                    spelt.append(self.node(options[0]))
                order = self.shuffled(spelt)
                return Choice((Choice(order[:2]), *order[2:])) if self.flip() else Choice(order)
            case Sequence(steps=steps):
                return self.row(Sequence, self.nodes(steps))
            case Union(branches=branches):
                return self.row(Union, self.nodes(branches))
            case Subset(members=members) if self.flip():
                return Sequence(tuple(Choice((Empty(), member)) for member in self.nodes(members)))
            case Subset(members=members):
                return Subset(tuple(self.nodes(members)))
            case Permute(members=members):
                spelt = self.nodes(members)
                return Arrange(len(spelt), len(spelt), self.shuffled(spelt)) if self.flip() else self.with_empty(spelt)
            case Arrange(low=low, high=high, members=members):
                return Arrange(low, high, self.shuffled(self.nodes(members)))
            case Repeat(low=low, high=high, member=member) if low == high and self.flip():
                return Sequence((self.node(member),) * low)
            case Repeat(low=0, high=high, member=member) if self.flip():
                return Choice((Repeat(1, high, self.node(member)), Empty()))
            case Repeat(low=low, high=high, member=member):
                return Repeat(low, high, self.node(member))
        return node

    def row(self, kind: type[Sequence] | type[Union], spelt: list[Node]) -> Node:
        if self.flip():
            spelt.insert(self.draw(st.integers(0, len(spelt))), Empty())
        if self.flip():
            spelt = [kind(tuple(spelt[:2])), *spelt[2:]]
        return kind(tuple(spelt))

    def with_empty(self, members: list[Node]) -> Permute:
        return Permute(self.shuffled([*members, Empty()] if self.flip() else members))

    def params(self, params: tuple[Param, ...]) -> tuple[Param, ...]:
        spelt = [replace(param, node=self._node(param.node), default=1, has_default=self.flip()) for param in params]
        asks = any(param.condition is not None or isinstance(param.node, Sized) for param in params)
        in_any_order = not asks  # a condition and a length look at what comes before them
        return tuple(self.draw(st.permutations(spelt))) if in_any_order else tuple(spelt)

    def requirement(self, requirement: Requirement) -> Requirement:
        condition = self.condition(requirement.condition)
        when = None if requirement.when is None else self.condition(requirement.when)
        if when is not None and self.flip():
            return Requirement(AnyOf((condition, Negation(when))))
        return Requirement(condition, when)

    def condition(self, condition: Condition) -> Condition:
        spelt = self._condition(condition)
        return Negation(Negation(spelt)) if self.flip() else spelt

    def _condition(self, condition: Condition) -> Condition:
        match condition:
            case Present(block=block, mark=mark):
                return Present(self.block(block), self.mark(mark))
            case PartIs(mark=mark, options=options):
                spelt = [None if option is None else self.block(option) for option in options]
                return PartIs(self.marks.get(mark, mark), tuple(self.draw(st.permutations(spelt))))
            case ValueIs(subject=subject, options=options) if self.flip():
                return AnyOf(tuple(ValueIs(self.term(subject), (option,)) for option in options))
            case ValueIs(subject=subject, options=options):
                return ValueIs(self.term(subject), tuple(self.draw(st.permutations(options))))
            case Comparison(operator=sign, left=left, right=right) if self.flip():
                return Comparison(_MIRROR[sign], self.term(right), self.term(left))
            case Comparison(operator=sign, left=left, right=right):
                return Comparison(sign, self.term(left), self.term(right))
            case IsTrue(term=term):
                return IsTrue(self.term(term))
            case Negation(item=item):
                return Negation(self.condition(item))
            case AllOf(items=items):
                spelt_items = tuple(self.draw(st.permutations([self.condition(item) for item in items])))
                if self.flip():
                    return Negation(AnyOf(tuple(Negation(item) for item in spelt_items)))
                return AllOf((AllOf(spelt_items),) if self.flip() else spelt_items)
            case AnyOf(items=items):
                return AnyOf(tuple(self.draw(st.permutations([self.condition(item) for item in items]))))
        return condition

    def term(self, term: Term) -> Term:
        if isinstance(term, Parameter):
            return replace(term, block=self.block(term.block), mark=self.mark(term.mark))
        if isinstance(term, Computed):
            return replace(term, operands=tuple(self.term(operand) for operand in term.operands))
        return term

    def mark(self, mark: str | None) -> str | None:
        return None if mark is None else self.marks.get(mark, mark)
