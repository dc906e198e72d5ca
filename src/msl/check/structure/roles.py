"""Prove that every path of a chain has exactly one learner, with transformers before it and posts after it.

Each piece of a chain maps the states "before the learner" and "after the learner" to new states. There are few such
effects, so the effects of a piece follow from those of its parts, without listing all models. Each effect keeps one
path as an example, which the message shows.
"""

from __future__ import annotations

from collections.abc import Iterable

from msl.record import record
from msl.space.nodes import (
    Arrange,
    BlockUse,
    Choice,
    Marked,
    Node,
    Permute,
    Repeat,
    Sequence,
    Subset,
    Union,
)
from msl.space.values import BlockType

BEFORE, AFTER = "before", "after"
_LONGEST_PATH = 8


@record
class Fault:
    """What is wrong with a path, the block that causes it, None if a block is missing, and what to write instead."""

    problem: str
    block: BlockType | None = None
    help: str = ""


State = str | Fault


@record
class Effect:
    """The new state, or the fault, for each state."""

    before: State
    after: State

    def then(self, other: Effect) -> Effect:
        return Effect(other.on(self.before), other.on(self.after))

    def on(self, state: State) -> State:
        return self.before if state == BEFORE else self.after if state == AFTER else state


Path = tuple[BlockType | str, ...]
Effects = dict[Effect, Path]

_NOTHING = Effect(BEFORE, AFTER)
NO_LEARNER = Fault("a path of this chain has no learner")


def broken_paths(root: Node) -> list[tuple[Fault, str]]:
    """The faults of a chain, each with a path that has it; empty if every path is valid."""
    faults: dict[Fault, str] = {}
    for effect, path in _Prover().effects(root).items():
        outcome = effect.on(BEFORE)
        if outcome == BEFORE:
            faults.setdefault(NO_LEARNER, _shown(path))
        elif isinstance(outcome, Fault):
            faults.setdefault(outcome, _shown(path))
    return list(faults.items())


class _Prover:
    def __init__(self) -> None:
        self._done: dict[int, tuple[Node, Effects]] = {}

    def effects(self, node: Node) -> Effects:
        if id(node) not in self._done:
            self._done[id(node)] = (node, self._found(node))
        return self._done[id(node)][1]

    def _found(self, node: Node) -> Effects:
        match node:
            case BlockUse():
                return {_block_effect(node): (node.block,)}
            case Choice(options=options):
                return _either(self.effects(option) for option in options)
            case Sequence(steps=steps):
                return _sequence([self.effects(step) for step in steps])
            case Union(branches=branches):
                return self._union(branches)
            case Subset(members=members):
                return _sequence([_either([self.effects(member), {_NOTHING: ()}]) for member in members])
            case Permute(members=members):
                return self._orders(members, len(members), len(members))
            case Arrange(low=low, high=high, members=members):
                return self._orders(members, low, high)
            case Repeat(low=low, high=high, member=member):
                return self._repeat(self.effects(member), low, high)
            case Marked(node=inner):
                return self.effects(inner)
        return {_NOTHING: ()}

    def _union(self, branches: tuple[Node, ...]) -> Effects:
        """Branches contain transformers and selectors; a learner in one is always wrong."""
        for branch in branches:
            for effect, path in self.effects(branch).items():
                outcome = effect.on(BEFORE)
                if outcome == AFTER:
                    learner = next(block for block in path if isinstance(block, BlockType) and block.role == "learner")
                    instead = f"`predictions({learner.name})`, of the catalogue `compose`"
                    outcome = Fault(
                        f"`{learner.name}` is a learner in a branch of `&`, which takes transformers and selectors",
                        learner,
                        f"for its predictions as columns write {instead}",
                    )
                if outcome != BEFORE:
                    return {Effect(outcome, outcome): path}
        joined = " & ".join(_shown(next(iter(self.effects(branch).values()))) for branch in branches)
        after = Fault("a branch of `&` comes after the learner")
        return {Effect(BEFORE, after): (f"({joined})",)}

    def _orders(self, members: tuple[Node, ...], low: int, high: int) -> Effects:
        """Every order of `low` to `high` members, by which members have been placed."""
        placed: dict[int, Effects] = {0: {_NOTHING: ()}}
        result: list[Effects] = [placed[0]] if low == 0 else []
        for count in range(1, high + 1):
            grown: dict[int, Effects] = {}
            for mask, effects in placed.items():
                for position, member in enumerate(members):
                    if mask & 1 << position:
                        continue
                    more = _sequence([effects, self.effects(member)])
                    grown[mask | 1 << position] = _either([grown.get(mask | 1 << position, {}), more])
            placed = grown
            if count >= low:
                result.extend(placed.values())
        return _either(result)

    def _repeat(self, member: Effects, low: int, high: int) -> Effects:
        current: Effects = {_NOTHING: ()}
        result: list[Effects] = [current] if low == 0 else []
        for count in range(1, min(high, low + len(member) + 2) + 1):  # more repetitions have no new effect
            current = _sequence([current, member])
            if count >= low:
                result.append(current)
        return _either(result or [current])


def _block_effect(use: BlockUse) -> Effect:
    name = use.block.name
    match use.block.role:
        case "learner":
            return Effect(AFTER, Fault(f"`{name}` is a second learner", use.block))
        case "post":
            return Effect(
                Fault(f"`{name}` works on the output of a learner, but there is none before it", use.block), AFTER
            )
    return Effect(BEFORE, Fault(f"`{name}` is a {use.block.role}, but comes after the learner", use.block))


def _either(sets: Iterable[Effects]) -> Effects:
    joined: Effects = {}
    for effects in sets:
        for effect, path in effects.items():
            joined.setdefault(effect, path)
    return joined


def _sequence(sets: list[Effects]) -> Effects:
    result: Effects = {_NOTHING: ()}
    for effects in sets:
        joined: Effects = {}
        for first, head in result.items():
            for second, tail in effects.items():
                joined.setdefault(first.then(second), _shortened(head + tail))
        result = joined
    return result


def _shortened(path: Path) -> Path:
    return path if len(path) <= _LONGEST_PATH else (*path[: _LONGEST_PATH - 2], "…", path[-1])


def _shown(path: Path) -> str:
    names = [step if isinstance(step, str) else step.name for step in path]
    return " >> ".join(names) if names else "none"
