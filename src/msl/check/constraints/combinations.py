"""Find which of the blocks and parts that a requirement names can stand together in one model.

Computed from the structure of the space, without listing models. What a node contributes is a set of outcomes, each the
traits that hold (`space/abstraction`, without the values of parameters) and the outcome of its steps.
"""

from __future__ import annotations

from functools import reduce

from msl.space.evaluate_conditions import Key, Outcome, joined_outcome
from msl.space.model_traits import NO_TRAITS, Abstraction, Traits
from msl.space.nodes import Algebra, BlockUse, Empty, Marked, Node, Symbol, bottom_up, children, combined

_Outcomes = frozenset[tuple[Traits, Outcome]]

_NOTHING: _Outcomes = frozenset({(NO_TRAITS, None)})
_MOST_OUTCOMES = 200


class _TooMany(Exception):
    """There are more outcomes than are worth telling apart."""


class Combinations:
    """The combinations of traits that the models of a space have.

    What a node contributes when nothing below it is named is computed once. For a requirement only the nodes above
    what it names are computed again, and for all requirements together at most `most_looks` of them.
    """

    def __init__(self, root: Node, most_looks: int = 1_000_000) -> None:
        self._looks_left = most_looks
        #: The nodes that hold blocks, with the places of those below each (None for mere values), lowest first.
        self._nodes: list[tuple[Node, list[int | None]]] = []
        self._above: list[list[int]] = []
        self._places: dict[Key | str, list[int]] = {}
        met: dict[int, int] = {}
        for node in bottom_up(root):
            below = [met.get(id(child)) for child in children(node)]
            if isinstance(node, BlockUse | Empty | Marked) or any(place is not None for place in below):
                met[id(node)] = len(self._nodes)
                self._add(node, below)
        nothing = Abstraction((), None, values=False)
        self._plain: list[_Outcomes] = []
        for node, below in self._nodes:
            inner = [_NOTHING if place is None else self._plain[place] for place in below]
            self._plain.append(_outcomes(node, inner, nothing))

    def _add(self, node: Node, below: list[int | None]) -> None:
        here = len(self._nodes)
        self._nodes.append((node, below))
        self._above.append([])
        for place in {place for place in below if place is not None}:
            self._above[place].append(here)
        if isinstance(node, BlockUse):
            self._places.setdefault(node.block.key, []).append(here)
        elif isinstance(node, Marked):
            self._places.setdefault(node.mark, []).append(here)

    def of(self, abstraction: Abstraction) -> set[Traits] | None:
        """Every set of traits that some model has, or None where there are too many to tell apart."""
        done: dict[int, _Outcomes] = {}
        try:
            for here in self._touched([*abstraction.blocks, *abstraction.parts]):
                node, below = self._nodes[here]
                self._looks_left -= len(below) + 1
                if self._looks_left < 0:
                    return None
                inner = [_NOTHING if p is None else done[p] if p in done else self._plain[p] for p in below]
                done[here] = _outcomes(node, inner, abstraction)
        except _TooMany:
            return None
        last = len(self._nodes) - 1
        return {traits for traits, _ in done.get(last, self._plain[last])}

    def _touched(self, named: list[Key | str]) -> list[int]:
        """The places of what is named and of everything above it, lowest first."""
        pending = [place for name in named for place in self._places.get(name, [])]
        found: set[int] = set()
        while pending:
            place = pending.pop()
            if place not in found:
                found.add(place)
                pending.extend(self._above[place])
        return sorted(found)


def _outcomes(node: Node, below: list[_Outcomes], abstraction: Abstraction) -> _Outcomes:
    match node:
        case BlockUse(block=block):
            own = abstraction.block_traits(block, ())
            outcome: Outcome = block.key if own else False
            return frozenset((traits | own, outcome) for traits, _ in _of_params(node, below))
        case Symbol():
            return _of_params(node, below)
        case Marked(mark=mark):
            if not abstraction.observes_part(mark):
                return below[0]
            return frozenset(_inside(mark, traits, outcome, abstraction) for traits, outcome in below[0])
    return combined(node, below, _COMBINE)


def _of_params(node: BlockUse | Symbol, below: list[_Outcomes]) -> _Outcomes:
    """Blocks that fill slots; a conditional parameter may not be there."""
    pairs = zip(node.params, below, strict=True)
    return _COMBINE.all_of([one if param.condition is None else one | _NOTHING for param, one in pairs])


def _inside(mark: str, traits: Traits, outcome: Outcome, abstraction: Abstraction) -> tuple[Traits, Outcome]:
    """With the traits of a part: the blocks that are inside it, and its outcome."""
    own = abstraction.part_traits(mark, abstraction.outcome(mark, outcome))
    return traits | abstraction.inside(mark, traits) | own, outcome


def _joined(one: _Outcomes, other: _Outcomes) -> _Outcomes:
    if one is _NOTHING:
        return other
    if other is _NOTHING:
        return one
    return _limited(frozenset((t1 | t2, joined_outcome(o1, o2)) for t1, o1 in one for t2, o2 in other))


def _limited(outcomes: _Outcomes) -> _Outcomes:
    if len(outcomes) > _MOST_OUTCOMES:
        raise _TooMany
    return outcomes


class _Combine(Algebra[_Outcomes]):
    """The outcomes of a node from those of its children."""

    nothing = _NOTHING

    def one_of(self, options: list[_Outcomes]) -> _Outcomes:
        return _limited(frozenset().union(*options))

    def optional(self, member: _Outcomes) -> _Outcomes:
        return member | _NOTHING

    def all_of(self, members: list[_Outcomes]) -> _Outcomes:
        return reduce(_joined, members, _NOTHING)

    def some_of(self, members: list[_Outcomes], low: int, high: int) -> _Outcomes:
        """Member by member, by how many were taken so far."""
        taken: list[_Outcomes] = [_NOTHING] + [frozenset()] * high
        for outcomes in members:
            for count in reversed(range(high)):
                taken[count + 1] = _limited(taken[count + 1] | _joined(taken[count], outcomes))
        return frozenset().union(*taken[low:])

    def repeated(self, member: _Outcomes, low: int, high: int) -> _Outcomes:
        """Once a further time adds nothing new, no number of times does."""
        current, found = _NOTHING, _NOTHING if low == 0 else frozenset()
        for count in range(1, high + 1):
            current = _joined(current, member)
            if count > low and current <= found:
                break
            if count >= low:
                found = _limited(found | current)
        return found


_COMBINE = _Combine()
