"""Parameters of parts: the values that they take together, and what a part comes to with values put in.

`part both(k: int 1..10) = select(fmax = k) >> knn(k = k)` is a `Marked` node with the parameter `k`. Where its steps
use it there is a `Computed` node, whose formula names the parameter (`variable`). The models of the part are those of
its steps with values put in, for every combination of values.

Integers, booleans, alternatives and reals with a step have a list of values. An open real is one of two things: it is
one value of every model, and then its range takes the place of that value; or it only counts within `floor` and
`ceil`, and then one value stands for all that come to the same. The checker refuses other uses.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import product

from msl.diagnostics.user_error import UserError
from msl.space.formulas import FACTS, Facts, Formula, depends_on, substituted
from msl.space.nodes import (
    Algebra,
    Arrange,
    BlockUse,
    Bool,
    Choice,
    Computed,
    Const,
    Empty,
    IntRange,
    Marked,
    Node,
    Param,
    RealRange,
    Repeat,
    Sized,
    Subset,
    Symbol,
    alternatives,
    bottom_up,
    children,
    choice_of,
    combined,
    fold,
    follows_table,
    rebuilt,
    weighted_options,
    with_children,
)
from msl.space.numbers import constant_pieces, ends, level_count, level_value, value_count, whole_numbers
from msl.space.values import Value

#: Combinations of values of the parameters of one part.
MOST_SETTINGS = 10_000
#: No value at all: what a formula comes to outside the domain of its parameter.
NO_VALUE = Choice(())

#: A value for each parameter of a part, in their order; a range for one that stays open.
Setting = tuple[Value | RealRange, ...]


class TooManySettings(UserError):
    """The parameters of a part have too many combinations of values to be told apart."""

    def __init__(self, mark: str) -> None:
        name = mark.rpartition(":")[2]
        text = f"the parameters of `{name}` have more than {MOST_SETTINGS:,} combinations of values"
        super().__init__(text, "narrow them, or give them a step")


def variable(mark: str, name: str) -> str:
    """The name of a part's parameter in formulas. No part contains itself, so it means one thing everywhere."""
    return f"{mark}.{name}"


def has_parameters(root: Node) -> bool:
    """Whether a space has parts with parameters, or values that follow from them."""
    return any(
        isinstance(node, Computed) or (bool(node.params) if isinstance(node, Marked) else node == NO_VALUE)
        for node in bottom_up(root)
        if isinstance(node, Computed | Marked | Choice)
    )


# --- values put in ---


def put_in(root: Node, values: Mapping[str, Value | RealRange]) -> Node:
    """A node with values put in. Its shape stays, with `NO_VALUE` where a formula leaves its domain."""
    return rebuilt(root, lambda node: _computed(node, values) if isinstance(node, Computed) else node)


def _computed(node: Computed, values: Mapping[str, Value | RealRange]) -> Node:
    if not node.formula.operands:
        value = values.get(node.formula.operation, node.formula)
        if isinstance(value, RealRange | IntRange):
            return value if isinstance(value, IntRange) else _within(value, node.within)
        if isinstance(value, Formula):
            return node
        return replace(node, formula=_held(value)) if _awaits_table(node.within) else fitting(node.within, value)
    try:
        amount = substituted(node.formula, values)
    except (ArithmeticError, ValueError):
        return NO_VALUE
    if isinstance(amount, Formula):
        return replace(node, formula=amount)
    return replace(node, formula=_held(amount)) if _awaits_table(node.within) else fitting(node.within, amount)


def _awaits_table(within: Node) -> bool:
    return any(follows_table(node) for node in bottom_up(within))


def _held(value: Value) -> Formula:
    """A value whose domain waits for the table."""
    return Formula("min", (value,))  # type: ignore[arg-type]  # texts are values of the domain already


def with_facts(node: Computed, facts: Facts) -> Node:
    """A computed value for a table; `within` is resolved already."""
    return _computed(node, {name: getattr(facts, name) for name in FACTS})


def fitting(within: Node, value: Value) -> Node:
    """A value as one of a domain: in its kind, an alternative with its parameters at their defaults; or NO_VALUE."""
    from msl.space.defaults import closed

    for option in alternatives(within):
        match option:
            case Const(value=own) if own == value and isinstance(own, bool) == isinstance(value, bool):
                return option
            case Symbol(name=name) if name == value:
                return closed(option)
            case Bool() if isinstance(value, bool):
                return Const(value)
            case IntRange() | RealRange() if isinstance(value, int | float) and not isinstance(value, bool):
                if (number := _in_range(option, value)) is not None:
                    return Const(number)
    return NO_VALUE


def _in_range(domain: IntRange | RealRange, value: int | float) -> int | float | None:
    if isinstance(domain, IntRange):
        is_whole = math.isfinite(value) and value == math.floor(value)
        return int(value) if is_whole and int(value) in whole_numbers(domain) else None
    low, high = ends(domain)
    if not low <= value <= high:
        return None
    if level_count(domain) is None or domain.step is None:
        return float(value)
    nearest = level_value(domain, round((value - low) / domain.step))
    return nearest if abs(nearest - value) <= 1e-9 * domain.step else None


def _within(domain: RealRange, within: Node) -> Node:
    """An open range as far as it lies in a domain."""
    for option in alternatives(within):
        if isinstance(option, RealRange) and option.step is None:
            low, high = max(ends(domain)[0], ends(option)[0]), min(ends(domain)[1], ends(option)[1])
            if low <= high:
                return replace(domain, low=low, high=high)
    return NO_VALUE


# --- the combinations of values ---


def domain_values(node: Node) -> list[Value] | None:
    """The values of a domain; None for an open real."""
    match node:
        case Const(value=value):
            return [value]  # type: ignore[list-item]
        case IntRange():
            return list(whole_numbers(node))
        case RealRange():
            count = level_count(node)
            return None if count is None else [level_value(node, level) for level in range(count)]
        case Bool():
            return [False, True]
        case Symbol(name=name, params=()):
            return [name]
        case Choice(options=options):
            found = [domain_values(option) for option in options]
            return None if None in found else [value for values in found for value in values or ()]
    raise TypeError(f"{type(node).__name__} is no domain of a part's parameter")


def domain_size(node: Node) -> int:
    """How many values a domain has; an open real counts as one."""
    match node:
        case Choice(options=options):
            return sum(map(domain_size, options))
        case IntRange() | RealRange() | Bool():
            count = value_count(node)
            assert count is not None  # it is for every range
            return count
    return 1


def awaits(part: Marked) -> bool:
    """Whether the values of a part's parameters depend on a table that is not there."""
    if any(isinstance(param.node, Computed) or _awaits_table(param.node) for param in part.params):
        return True
    stepped = [param.name for param in part.params if _is_open(param.node) and not is_single_value(part, param.name)]
    names = [variable(part.mark, name) for name in stepped]
    formulas = (node.formula for node in bottom_up(part.node) if isinstance(node, Computed))
    return any(depends_on(formula, names) and depends_on(formula, FACTS) for formula in formulas)


def settings(part: Marked) -> list[Setting]:
    """Every combination of values of a part's parameters, one for all those that come to the same models."""
    if math.prod(domain_size(param.node) for param in part.params) > MOST_SETTINGS:
        raise TooManySettings(part.mark)
    lists = [domain_values(param.node) for param in part.params]
    open_at = [place for place, values in enumerate(lists) if values is None]
    if not open_at:
        return list(product(*(values or () for values in lists)))
    ranges = [part.params[place].node for place in open_at]
    if all(is_single_value(part, part.params[place].name) for place in open_at):
        for place, domain in zip(open_at, ranges, strict=True):
            lists[place] = [domain]  # type: ignore[list-item]
        return list(product(*(values or () for values in lists)))
    return list(_with_open_reals(part, lists, open_at))


def _with_open_reals(part: Marked, lists: list[list[Value] | None], open_at: list[int]) -> Iterator[Setting]:
    """Combinations with open reals that count only within `floor` and `ceil`, each cut where something changes."""
    found = 0
    names = [variable(part.mark, param.name) for param in part.params]
    computed = [node for node in bottom_up(part.node) if isinstance(node, Computed)]
    for fixed in product(*([None] if values is None else values for values in lists)):
        known = {name: value for name, value in zip(names, fixed, strict=True) if value is not None}
        choices: list[list[Value | RealRange]] = [[value] for value in fixed]
        for place in open_at:
            domain = part.params[place].node
            assert isinstance(domain, RealRange)
            if is_single_value(part, part.params[place].name):
                choices[place] = [domain]
                continue
            own = [node for node in computed if depends_on(node.formula, (names[place],))]
            choices[place] = list(constant_pieces(domain, names[place], own, known, MOST_SETTINGS))
        for setting in product(*choices):
            found += 1
            if found > MOST_SETTINGS:
                raise TooManySettings(part.mark)
            yield setting


def _is_open(node: Node) -> bool:
    return not isinstance(node, Computed) and any(
        isinstance(option, RealRange) and not follows_table(option) and level_count(option) is None
        for option in alternatives(node)
    )


# --- how a part uses a parameter ---


class _Most(Algebra[int]):
    """The most places of one model at which something stands."""

    nothing = 0

    def one_of(self, options: list[int]) -> int:
        return max(options, default=0)

    def all_of(self, members: list[int]) -> int:
        return sum(members)

    def some_of(self, members: list[int], low: int, high: int) -> int:
        return sum(sorted(members, reverse=True)[:high])

    def repeated(self, member: int, low: int, high: int) -> int:
        return member * high


_MOST = _Most()


def is_single_value(part: Marked, name: str) -> bool:
    """Whether a parameter is never more than one value of a model, as it is."""
    own = Formula(variable(part.mark, name))

    def places(node: Node, below: list[int]) -> int:
        if isinstance(node, Computed):
            return 1 if node.formula == own else 2 * depends_on(node.formula, (own.operation,))
        if isinstance(node, Sized):
            return 2 * below[0]
        return combined(node, below, _MOST)

    return fold(part.node, places) <= 1


# --- a space without parameters of parts ---


def expanded(root: Node, observed: Collection[str] = ()) -> Node:
    """The same models without parameters of parts: each is a choice of what it comes to, one for each setting.

    Parts in `observed` keep the values of their parameters. A part whose values depend on a missing table stays.
    """
    if not has_parameters(root):
        return root
    found = _Expansion(observed).node(root)
    return NO_VALUE if found is None else found


class _Expansion:
    """Walks from the root down, since the values of a part are put into the parts within it; None has no model."""

    def __init__(self, observed: Collection[str]) -> None:
        self._observed = observed
        self._done: dict[int, tuple[Node, Node | None]] = {}  # keeps the node, so its id stays its own

    def node(self, node: Node) -> Node | None:
        if id(node) not in self._done:
            self._done[id(node)] = node, self._expanded(node)
        return self._done[id(node)][1]

    def _expanded(self, node: Node) -> Node | None:
        match node:
            case Marked(params=params) if params and not awaits(node):
                return self._part(node)
            case Choice(ordered=ordered):
                found = [(self.node(option), weight) for option, weight in weighted_options(node)]
                kept = [(option, weight) for option, weight in found if option is not None]
                return None if not kept else kept[0][0] if len(kept) == 1 else choice_of(kept, ordered)
            case Subset(members=below):
                return Subset(self._some(below))
            case Arrange(low=low, high=high, members=below):
                left = self._some(below)
                return None if len(left) < low else Arrange(low, min(high, len(left)), left)
            case Repeat(low=low, member=member):
                inner = self.node(member)
                return (Empty() if low == 0 else None) if inner is None else replace(node, member=inner)
            case BlockUse(params=params) | Symbol(params=params) if any(p.condition is not None for p in params):
                return with_children(node, [self.node(child) or NO_VALUE for child in children(node)])
        below_it = [self.node(child) for child in children(node)]
        return None if None in below_it else with_children(node, [inner for inner in below_it if inner is not None])

    def _some(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(found for node in nodes if (found := self.node(node)) is not None)

    def _part(self, part: Marked) -> Node | None:
        is_seen = part.mark in self._observed
        names = [variable(part.mark, param.name) for param in part.params]
        options: dict[Node, None] = {}
        for setting in settings(part) if is_seen else _shortest(part):
            inner = self.node(put_in(part.node, dict(zip(names, setting, strict=True))))
            if inner is not None:
                options[Marked(part.mark, inner, fixed(part, setting) if is_seen else ())] = None
        return None if not options else next(iter(options)) if len(options) == 1 else Choice(tuple(options))


def fixed(part: Marked, setting: Setting) -> tuple[Param, ...]:
    """The parameters of a part at these values."""
    pairs = zip(part.params, setting, strict=True)
    return tuple(replace(p, node=value if isinstance(value, RealRange) else Const(value)) for p, value in pairs)


def _shortest(part: Marked) -> list[Setting]:
    """The settings, with ranges of integers that are one value of every model left whole."""
    kept: dict[int, Node] = {}
    for place, param in enumerate(part.params):
        if isinstance(param.node, IntRange) and is_single_value(part, param.name) and _fits_whole(part, param):
            kept[place] = param.node
    if not kept:
        return settings(part)
    params = tuple(replace(p, node=Const(0)) if place in kept else p for place, p in enumerate(part.params))
    found = settings(replace(part, params=params))
    return [tuple(kept.get(place, value) for place, value in enumerate(setting)) for setting in found]  # type: ignore[misc]


def _fits_whole(part: Marked, param: Param) -> bool:
    """Whether every value of a range of integers is in the domains at which it stands."""
    own = Formula(variable(part.mark, param.name))
    domains = [node.within for node in bottom_up(part.node) if isinstance(node, Computed) and node.formula == own]
    return all(isinstance(domain, IntRange) and _holds(domain, param.node) for domain in domains)  # type: ignore[arg-type]


def _holds(outer: IntRange, inner: IntRange) -> bool:
    if follows_table(outer) or follows_table(inner):
        return False
    numbers, own = whole_numbers(outer), whole_numbers(inner)
    return len(own) == 0 or (own[0] in numbers and own[-1] in numbers and inner.step % outer.step == 0)


# --- for the encoding ---


#: Integers that are one value of every model need no dimension of their own beyond so many.
_MOST_LISTED = 1_000


def without_open_reals(root: Node, observed: Collection[str] = ()) -> Node:
    """The same models with open reals of parts, and long ranges of integers, at the one place where they stand."""
    if not has_parameters(root):
        return root
    return _Inlining(observed).node(root)


class _Inlining:
    def __init__(self, observed: Collection[str]) -> None:
        self._observed = observed
        self._done: dict[int, tuple[Node, Node]] = {}

    def node(self, node: Node) -> Node:
        if id(node) not in self._done:
            own = node
            if isinstance(node, Marked) and node.params:
                own = self._part(node)
            self._done[id(node)] = node, with_children(own, [self.node(child) for child in children(own)])
        return self._done[id(node)][1]

    def _part(self, part: Marked) -> Marked:
        taken = {param.name: param.node for param in part.params if self._moves(part, param)}
        values = {variable(part.mark, name): domain for name, domain in taken.items()}
        left = tuple(param for param in part.params if param.name not in taken)
        return Marked(part.mark, put_in(part.node, values), left) if taken else part  # type: ignore[arg-type]

    def _moves(self, part: Marked, param: Param) -> bool:
        if isinstance(param.node, RealRange):
            return _is_open(param.node) and is_single_value(part, param.name)
        if not isinstance(param.node, IntRange) or follows_table(param.node) or part.mark in self._observed:
            return False
        is_long = len(whole_numbers(param.node)) > _MOST_LISTED
        return is_long and is_single_value(part, param.name) and _fits_whole(part, param)
