"""Resolve a space for one table: every bound becomes a number, and what the table rules out is removed and listed."""

from __future__ import annotations

import math
from dataclasses import replace

from msl.record import record
from msl.space.formulas import Amount, Facts, Formula, evaluate, plain
from msl.space.nodes import (
    Arrange,
    BlockUse,
    Choice,
    Computed,
    Const,
    Empty,
    IntRange,
    Node,
    Param,
    Prior,
    RealRange,
    Regions,
    Repeat,
    Subset,
    Symbol,
    Vector,
    children,
    choice_of,
    weighted_options,
    with_children,
)
from msl.space.part_parameters import NO_VALUE, with_facts
from msl.space.spec import Space


@record
class Removal:
    """An alternative that the table rules out: what it is, and why."""

    what: str
    why: str


class NothingLeft(ValueError):
    """The table rules out every model; `removals` says why."""

    def __init__(self, removals: list[Removal]) -> None:
        reasons = "; ".join(f"{removal.what}: {removal.why}" for removal in removals) or "no alternative serves it"
        super().__init__(f"nothing in this space fits the table: {reasons}")
        self.removals = removals


def resolve(space: Space, facts: Facts) -> tuple[Space, list[Removal]]:
    """The space for a table with these facts, and the alternatives that it removed."""
    resolver = _Resolver(facts)
    root = resolver.node(space.root)
    if root is None:
        raise NothingLeft(resolver.removals)
    return replace(space, root=root, facts=facts), resolver.removals


class _Resolver:
    """Walks the shared tree once; None stands for a node that the table rules out."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.removals: list[Removal] = []
        self._done: dict[int, tuple[Node, Node | None]] = {}  # keeps the node, so its id stays its own

    def node(self, node: Node) -> Node | None:
        if id(node) not in self._done:
            self._done[id(node)] = (node, self._resolved(node))
        return self._done[id(node)][1]

    def _resolved(self, node: Node) -> Node | None:
        match node:
            case Const(value=Formula() as formula):
                return Const(self._number(formula))
            case Computed(within=within):
                domain = self.node(within)
                found = NO_VALUE if domain is None else with_facts(replace(node, within=domain), self.facts)
                return None if found == NO_VALUE else found
            case IntRange() | RealRange():
                return self._range(node)
            case Vector(size=size, element=element):
                inner = self.node(element)
                if isinstance(inner, Const):
                    return Const((inner.value,) * self._whole(size))  # type: ignore[arg-type]
                return None if inner is None else Vector(self._whole(size), inner)  # type: ignore[arg-type]
            case Regions(count=count, width=width):
                return Regions(self._whole(count), self._whole(width))
            case Symbol(params=params):
                kept = self._params(params)
                return None if kept is None else replace(node, params=kept)
            case BlockUse():
                return self._block(node)
            case Choice():
                return self._choice(node)
            case Subset(members=below):
                return Subset(self._some(below))
            case Arrange(low=low, high=high, members=below):
                left = self._some(below)
                return None if len(left) < low else Arrange(low, min(high, len(left)), left)
            case Repeat(low=low, member=member):
                inner = self.node(member)
                if inner is None:
                    return Empty() if low == 0 else None
                return replace(node, member=inner)
        below_it = [self.node(child) for child in children(node)]
        return None if None in below_it else with_children(node, [inner for inner in below_it if inner is not None])

    def _choice(self, node: Choice) -> Node | None:
        options = [(self.node(option), weight) for option, weight in weighted_options(node)]
        left = [(option, weight) for option, weight in options if option is not None]
        return None if not left else left[0][0] if len(left) == 1 else choice_of(left, node.ordered)

    def _some(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(resolved for node in nodes if (resolved := self.node(node)) is not None)

    def _block(self, use: BlockUse) -> BlockUse | None:
        if use.block.task not in (None, self.facts.task):
            self.removals.append(Removal(use.block.name, f"serves {use.block.task} only"))
            return None
        before = len(self.removals)
        kept = self._params(use.params)
        if kept is not None:
            return replace(use, params=kept)
        inner = self.removals[before:]
        del self.removals[before:]
        self.removals.append(Removal(use.block.name, "; ".join(f"{r.what} {r.why}" for r in inner)))
        return None

    def _params(self, params: tuple[Param, ...]) -> tuple[Param, ...] | None:
        kept = []
        for param in params:
            node = self.node(param.node)
            if node is None:
                self.removals.append(Removal(param.name, f"has no value left in {_shown(param.node)}"))
                return None
            default = param.default
            if isinstance(default, Formula):
                default = self._number(default)
            kept.append(replace(param, node=node, default=default))
        return tuple(kept)

    def _range(self, node: IntRange | RealRange) -> Node | None:
        low, high = evaluate(node.low, self.facts), evaluate(node.high, self.facts)
        if isinstance(node, IntRange):
            first, last = math.ceil(low), math.floor(high)
            if last < first:
                return None
            last -= (last - first) % node.step
            return replace(node, low=first, high=last, prior=self._prior(node.prior))
        if high < low:
            return None
        return replace(node, low=float(low), high=float(high), prior=self._prior(node.prior))

    def _prior(self, prior: Prior | None) -> Prior | None:
        """The prior with its numbers; None if they are none for this table, such as a spread of 0."""
        if prior is None:
            return None
        centre, spread = float(evaluate(prior.centre, self.facts)), float(evaluate(prior.spread, self.facts))
        is_sound = spread > 0 and (prior.kind == "normal" or centre > 0)
        return Prior(prior.kind, centre, spread) if is_sound else None

    def _number(self, formula: Formula) -> int | float:
        return plain(evaluate(formula, self.facts))

    def _whole(self, amount: Amount) -> int:
        return math.floor(evaluate(amount, self.facts))


def _shown(node: Node) -> str:
    if isinstance(node, IntRange | RealRange):
        return f"{node.low}..{node.high}"
    return "its domain"
