"""What can stand together, found from the structure, agrees with looking at every model."""

from __future__ import annotations

from itertools import permutations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from msl.check.constraints.requirements import Combinations
from msl.space.conditions import AllOf, Condition, PartIs, Present, Requirement
from msl.space.model_traits import Abstraction, BlockTrait, PartTrait, Traits
from msl.space.nodes import Arrange, BlockUse, Choice, Empty, Marked, Node, Param, Permute, Repeat, Sequence, Subset
from msl.space.values import BlockType

SLOT = BlockUse(BlockType("slot", "test", "distance", None, "test:slot"))


def block(name: str, slot: bool = False) -> BlockUse:
    params = (Param("inner", Choice((SLOT, BlockUse(BlockType("other", "test", "distance", None, "test:o"))))),)
    return BlockUse(BlockType(name, "test", "transformer", None, f"test:{name}"), params if slot else ())


A, B, C = block("a"), block("b"), block("c", slot=True)
LEAVES = st.sampled_from([A, B, C, Empty()])
KEYS = {A.block.key, B.block.key, SLOT.block.key}
INSIDE = {A.block.key, B.block.key}
Outcome = tuple[Traits, tuple[tuple[str, str], ...]]


def named(*conditions: Condition) -> Abstraction:
    return Abstraction([Requirement(AllOf(conditions))], None, values=False)


NAMED = named(
    Present(A.block), Present(SLOT.block), Present(A.block, "p"), Present(B.block, "p"), PartIs("p", (A.block, B.block))
)


def grown(below: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    members = st.lists(below, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        members.map(Choice),
        members.map(Sequence),
        members.map(Subset),
        members.map(Permute),
        below.map(lambda node: Marked("p", node)),
        st.tuples(st.integers(0, 1), st.integers(1, 2), st.lists(below, min_size=2, max_size=3).map(tuple)).map(
            lambda t: Arrange(*t)
        ),
        st.tuples(st.integers(0, 2), st.integers(2, 3), below).map(lambda t: Repeat(*t)),
    )


def outcomes(node: Node) -> set[Outcome]:
    """Every model's facts and steps, written out."""

    def joined(parts: list[set[Outcome]]) -> set[Outcome]:
        return {
            (frozenset().union(*(facts for facts, _ in choice)), sum((steps for _, steps in choice), ()))
            for choice in product(*parts)
        }

    match node:
        case BlockUse(block=found):
            own = frozenset({BlockTrait(None, found.key)}) if found.key in KEYS else frozenset()
            slots = [{SLOT.block.key, ("test", "other")}] if node.params else [set()]
            inner = [frozenset({BlockTrait(None, key)}) if key in KEYS else frozenset() for key in slots[0]] or [
                frozenset()
            ]
            return {(own | facts, (found.key,)) for facts in inner}
        case Choice(options=options):
            return set().union(*map(outcomes, options))
        case Sequence(steps=steps):
            return joined([outcomes(step) for step in steps])
        case Subset(members=members):
            return joined([outcomes(member) | {(frozenset(), ())} for member in members])
        case Permute(members=members):
            return joined([outcomes(member) for member in members])
        case Arrange(low=low, high=high, members=members):
            orders = [order for count in range(low, high + 1) for order in permutations(members, count)]
            return set().union(*(joined([outcomes(m) for m in order]) for order in orders))
        case Repeat(low=low, high=high, member=member):
            return set().union(*(joined([outcomes(member)] * count) for count in range(low, high + 1)))
        case Marked(mark=mark, node=inner_node):
            return {(_inside(mark, facts, steps), steps) for facts, steps in outcomes(inner_node)}
    return {(frozenset(), ())}


def _inside(mark: str, facts: Traits, steps: tuple[tuple[str, str], ...]) -> Traits:
    within = {BlockTrait(mark, f.block) for f in facts if isinstance(f, BlockTrait) and f.mark is None}
    outcome = None if not steps else steps[0] if len(steps) == 1 and steps[0] in INSIDE else False
    return facts | {trait for trait in within if trait.block in INSIDE} | {PartTrait(mark, outcome)}


@settings(max_examples=200)
@given(st.recursive(LEAVES, grown, max_leaves=5))
def test_combinations_are_those_of_the_models(node: Node) -> None:
    assert Combinations(node).of(NAMED) == {facts for facts, _ in outcomes(node)}


def test_a_thousand_choices_are_looked_at_without_listing_them() -> None:
    chain = Sequence((*[Choice((A, B, C, Empty()))] * 1000, B))
    found = Combinations(chain).of(named(Present(A.block)))
    assert found == {frozenset(), frozenset({BlockTrait(None, ("test", "a"))})}


def test_more_outcomes_than_can_be_told_apart_are_no_answer() -> None:
    blocks = [block(f"b{i}") for i in range(12)]
    assert Combinations(Subset(tuple(blocks))).of(named(*(Present(use.block) for use in blocks))) is None


def test_looks_are_counted_over_all_requirements() -> None:
    combinations = Combinations(Choice((A, B)), most_looks=5)
    assert combinations.of(named(Present(A.block))) is not None
    assert combinations.of(named(Present(A.block))) is None
