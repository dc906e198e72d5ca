"""The proof about roles agrees with looking at every path."""

from __future__ import annotations

from itertools import permutations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from msl.check.structure.roles import broken_paths
from msl.space.nodes import Arrange, BlockUse, Choice, Empty, Node, Permute, Repeat, Sequence, Subset
from msl.space.values import BlockType


def block(role: str) -> BlockUse:
    return BlockUse(BlockType(role, "test", role, None, f"test:{role}"))


ROLES = ("transformer", "selector", "learner", "post")
LEAVES = st.sampled_from([*map(block, ROLES), Empty()])


def grown(below: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    members = st.lists(below, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        members.map(Choice),
        members.map(Sequence),
        members.map(Subset),
        members.map(Permute),
        st.tuples(st.integers(0, 1), st.integers(1, 2), st.lists(below, min_size=2, max_size=3).map(tuple)).map(
            lambda t: Arrange(*t)
        ),
        st.tuples(st.integers(0, 1), st.integers(1, 2), below).map(lambda t: Repeat(*t)),
    )


def paths(node: Node) -> set[tuple[str, ...]]:
    """Every path, written out."""

    def joined(parts: list[set[tuple[str, ...]]]) -> set[tuple[str, ...]]:
        return {sum(combination, ()) for combination in product(*parts)}

    match node:
        case BlockUse(block=found):
            return {(found.role,)}
        case Choice(options=options):
            return set().union(*map(paths, options))
        case Sequence(steps=steps):
            return joined([paths(step) for step in steps])
        case Subset(members=members):
            return joined([paths(member) | {()} for member in members])
        case Permute(members=members):
            return set().union(*(joined([paths(m) for m in order]) for order in permutations(members)))
        case Arrange(low=low, high=high, members=members):
            orders = [order for count in range(low, high + 1) for order in permutations(members, count)]
            return set().union(*(joined([paths(m) for m in order]) for order in orders))
        case Repeat(low=low, high=high, member=member):
            return set().union(*(joined([paths(member)] * count) for count in range(low, high + 1)))
    return {()}


def is_sound(path: tuple[str, ...]) -> bool:
    if path.count("learner") != 1:
        return False
    at = path.index("learner")
    return all(role in ("transformer", "selector") for role in path[:at]) and set(path[at + 1 :]) <= {"post"}


@settings(max_examples=300)
@given(st.recursive(LEAVES, grown, max_leaves=6))
def test_a_chain_is_sound_exactly_when_all_its_paths_are(node: Node) -> None:
    assert (not broken_paths(node)) == all(is_sound(path) for path in paths(node))


def test_the_path_that_breaks_the_rule_is_named() -> None:
    chain = Sequence((block("transformer"), Choice((block("learner"), block("selector"))), block("post")))
    ((fault, path),) = broken_paths(chain)
    assert path == "transformer >> selector >> post"
    assert fault.problem == "`post` works on the output of a learner, but there is none before it"
    assert fault.block is not None
    assert fault.block.name == "post"


def test_a_thousand_choices_are_proved_without_listing_them() -> None:
    either = Choice((block("transformer"), block("selector"), Empty()))
    assert not broken_paths(Sequence((*[either] * 1000, block("learner"))))
