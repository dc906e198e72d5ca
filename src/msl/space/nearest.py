"""Find the model of a space that is nearest to a given one: what to write instead of a model that is not in it.

Numbers are put into their range, an alternative that is not offered becomes the nearest one, a step is replaced, left
out or put in. The distance is that of an edit: a number counts by the share of its range that it moves, another
alternative as one, a step as `_STEP`. Requirements are not followed; who asks tests the result for membership.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isfinite, log

from msl.space.conditions import Condition
from msl.space.defaults import closed, default_node
from msl.space.evaluate_conditions import holds
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
    RealRange,
    Repeat,
    Subset,
    Symbol,
    Union,
    children,
)
from msl.space.numbers import ends, level_count, level_value, tidy, whole_numbers
from msl.space.part_parameters import expanded
from msl.space.values import BlockValue, Branches, Model, Step, SymbolValue, Value, side_by_side, symbol_value

#: What it costs to put a step in, to leave one out, or to replace one.
_STEP = 5.0
#: More members than this are not tried in every order.
_MOST_MEMBERS = 8

Steps = tuple[Step, ...]
#: The cheapest way to read the given steps up to each position, and the steps that come out.
_Ways = dict[int, tuple[float, Steps]]


def nearest_model(root: Node, model: Model) -> Model | None:
    """The nearest model of a resolved space without requirements; None if there is none."""
    ways = _Nearest(model.steps).ways(expanded(root), 0)
    left_out = [(cost + _STEP * (len(model.steps) - end), steps) for end, (cost, steps) in ways.items()]
    return Model(min(left_out, key=lambda way: way[0])[1]) if left_out else None


class _Nearest:
    """One row of steps, read against nodes."""

    def __init__(self, given: Steps) -> None:
        self._given = given
        self._known: dict[tuple[int, int], _Ways] = {}

    def ways(self, node: Node, start: int) -> _Ways:
        """The ways to read the steps from `start` on as this node."""
        key = (id(node), start)
        if key not in self._known:
            self._known[key] = self._ways(node, start)
        return self._known[key]

    def _ways(self, node: Node, start: int) -> _Ways:
        match node:
            case Empty():
                return {start: (0.0, ())}
            case Marked(node=inner):
                return self.ways(inner, start)
            case BlockUse():
                return self._step(node, start)
            case Union(branches=branches):
                return self._union(branches, start)
            case Choice(options=options):
                return _cheapest(way for option in options for way in self.ways(option, start).items())
            case Subset(members=members):
                return self._row([Choice((member, Empty())) for member in members], start)
            case Repeat(low=low, high=high, member=member):
                most = min(high, max(low, len(self._given) - start + 1))
                counts = (self._row([member] * times, start) for times in range(low, most + 1))
                return _cheapest(way for ways in counts for way in ways.items())
            case Permute(members=members):
                return self._ordered(members, len(members), len(members), start)
            case Arrange(low=low, high=high, members=members):
                return self._ordered(members, low, high, start)
        return self._row(list(children(node)), start)

    def _row(self, nodes: Sequence[Node], start: int, before: _Ways | None = None) -> _Ways:
        ways = before or {start: (0.0, ())}
        for node in nodes:
            ways = _cheapest(
                (end, (cost + more, (*steps, *further)))
                for middle, (cost, steps) in ways.items()
                for end, (more, further) in self.ways(node, middle).items()
            )
        return ways

    def _ordered(self, members: tuple[Node, ...], low: int, high: int, start: int) -> _Ways:
        """Members in any order; of very many, in the order in which they are written."""
        if len(members) > _MOST_MEMBERS:
            return self._row(members[: max(low, min(high, len(self._given) - start))], start)
        sets: dict[frozenset[int], _Ways] = {frozenset(): {start: (0.0, ())}}
        found: list[_Ways] = [sets[frozenset()]] if low == 0 else []
        for size in range(1, high + 1):
            larger: dict[frozenset[int], list[_Ways]] = {}
            for used, ways in sets.items():
                for number, member in enumerate(members):
                    if number not in used:
                        larger.setdefault(used | {number}, []).append(self._row([member], start, ways))
            sets = {used: _cheapest(w for ways in several for w in ways.items()) for used, several in larger.items()}
            if size >= low:
                found.extend(sets.values())
        return _cheapest(way for ways in found for way in ways.items())

    def _step(self, use: BlockUse, start: int) -> _Ways:
        """This block instead of one of the given steps, those before it left out; or put in between them."""
        put_in = _closed_block(use)
        ways: _Ways = {} if put_in is None else {start: (_STEP, (put_in,))}
        for place in range(start, len(self._given)):
            given = self._given[place]
            skipped = _STEP * (place - start)
            if isinstance(given, BlockValue) and given.block == use.block:
                cost, value = _nearest_block(use, given)
                ways[place + 1] = (skipped + cost, (value,))
            elif put_in is not None:
                ways[place + 1] = (skipped + _STEP, (put_in,))
        return ways

    def _union(self, branches: tuple[Node, ...], start: int) -> _Ways:
        """Branches in the order in which they are written; a step that has none is one branch."""
        found: list[tuple[int, tuple[float, Steps]]] = []
        for end in range(start, min(start + 1, len(self._given)) + 1):
            step = self._given[start] if end > start else None
            given: Sequence[Steps] = step.branches if isinstance(step, Branches) else ((step,),) if step else ()
            rows: list[Steps] = []
            cost = _STEP * max(len(given) - len(branches), 0)
            for number, node in enumerate(branches):
                row = given[number] if number < len(given) else ()
                nearest = _Nearest(row).ways(node, 0)
                if not nearest:
                    return {}
                each = [(way + _STEP * (len(row) - at), steps) for at, (way, steps) in nearest.items()]
                least, steps = min(each, key=lambda way: way[0])
                cost += least
                rows.append(steps)
            found.append((end, (cost, side_by_side(rows))))
        return _cheapest(found)


def _cheapest(ways: Iterable[tuple[int, tuple[float, Steps]]]) -> _Ways:
    best: _Ways = {}
    for end, way in ways:
        if end not in best or way[0] < best[end][0]:
            best[end] = way
    return best


# --- values ---


def _closed_block(use: BlockUse) -> BlockValue | None:
    """A block at its defaults; None if one of them still depends on the table."""
    closed_use = closed(use)
    assert isinstance(closed_use, BlockUse)
    given = BlockValue(use.block, ())
    return _nearest_block(replace(use, params=closed_use.params), given)[1]


def _nearest_block(use: BlockUse, given: BlockValue) -> tuple[float, BlockValue]:
    cost, params = _nearest_params(use.params, dict(given.params))
    return cost, BlockValue(use.block, params)


def _nearest_params(params: tuple[Param, ...], given: dict[str, Value]) -> tuple[float, tuple[tuple[str, Value], ...]]:
    cost, values = 0.0, dict[str, Value]()
    for param in params:
        if not _exists(param.condition, values):
            continue
        if param.name in given:
            more, values[param.name] = _nearest_value(param.node, given[param.name])
            cost += more
        else:
            values[param.name] = _nearest_value(default_node(param), None)[1]
    return cost, tuple(values.items())


def _exists(condition: Condition | None, values: dict[str, Value]) -> bool:
    return condition is None or holds(condition, values)


def _nearest_value(node: Node, value: Value) -> tuple[float, Value]:
    """The value of a domain that is nearest to one, and how far it is: 0 if it is the same."""
    number = value if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) else None
    match node:
        case Const(value=own):
            same = own == value and isinstance(own, bool) == isinstance(value, bool)
            return (0.0 if same else _apart(own, number)), own  # type: ignore[return-value]
        case Bool():
            return (0.0, value) if isinstance(value, bool) else (1.0, False)
        case IntRange():
            numbers = whole_numbers(node)
            if number is None:
                return 1.0, numbers[0]
            place = min(max(round((number - numbers.start) / numbers.step), 0), len(numbers) - 1)
            return _moved(number, numbers[place], numbers[0], numbers[-1]), numbers[place]
        case RealRange():
            low, high = ends(node)
            if number is None:
                return 1.0, low
            real = min(max(float(number), low), high)
            count = level_count(node)
            if count is not None and node.step is not None:
                real = level_value(node, min(max(round((real - low) / node.step), 0), count - 1))
            return _moved(number, real, low, high), tidy(node, real)
        case Choice(options=options):
            return min((_nearest_value(option, value) for option in options), key=lambda found: found[0])
        case Marked(node=inner):
            return _nearest_value(inner, value)
        case Symbol(name=name, params=params):
            same = name == (value.name if isinstance(value, SymbolValue) else value)
            given = dict(value.params) if isinstance(value, SymbolValue) and same else {}
            cost, values = _nearest_params(params, given)
            return (cost if same else 1.0), symbol_value(name, values)
        case BlockUse(block=block):
            same = isinstance(value, BlockValue) and value.block == block
            cost, found = _nearest_block(node, value if same else BlockValue(block, ()))  # type: ignore[arg-type]
            return (cost if same else 1.0), found
        case Listing(elements=elements):
            items = value if isinstance(value, tuple) and len(value) == len(elements) else (None,) * len(elements)
            pairs = [_nearest_value(element, item) for element, item in zip(elements, items, strict=True)]
            cost = sum(pair[0] for pair in pairs) if isinstance(value, tuple) and len(value) == len(elements) else 1.0
            return cost, tuple(pair[1] for pair in pairs)
    return 0.0, value  # vectors over features and points in regions are taken as they are


def _apart(own: object, number: float | None) -> float:
    """How far two single values are from each other: numbers by their ratio, so that 5 is nearer to 4 than to 16."""
    if number is None or not isinstance(own, int | float) or isinstance(own, bool):
        return 1.0
    return min(1.0, 0.01 + 0.1 * abs(log((abs(own) + 1) / (abs(number) + 1))) + (0.5 if own * number < 0 else 0.0))


def _moved(value: float, to: float, low: float, high: float) -> float:
    return 0.0 if value == to else min(0.01 + abs(value - to) / ((high - low) or 1.0), 1.0)
