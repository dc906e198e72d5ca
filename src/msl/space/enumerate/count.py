"""Count, draw and list the models of a space, each once, without writing them out.

A space is a set: a model that can be derived in two ways counts once. Requirements are respected. Where telling
models apart would take too long, `count` gives an estimate with an interval, and says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

from msl.diagnostics.user_error import UserError
from msl.record import paused_collector
from msl.space.enumerate.chain_automaton import ChainAutomaton, one_row
from msl.space.enumerate.disjoint_sets import Enumeration, TooCostly, WorkLimit, disjoint_union
from msl.space.formulas import Amount, Formula, limits
from msl.space.lengths import most_elements
from msl.space.membership import Membership, NotInSpace
from msl.space.model_traits import Abstraction
from msl.space.nodes import (
    Algebra,
    BlockUse,
    Computed,
    IntRange,
    Marked,
    Node,
    Param,
    RealRange,
    Regions,
    Sized,
    Symbol,
    Vector,
    bottom_up,
    combined,
    fold,
    follows_table,
    rebuilt,
)
from msl.space.numbers import level_count, value_count
from msl.space.part_parameters import expanded
from msl.space.spec import Space
from msl.space.values import Model

# --- the interval of a share, estimated from independent draws ---


_HALVINGS = 60


def share_interval(hits: int, draws: int, confidence: float) -> tuple[float, float]:
    """The Clopper-Pearson interval: it misses the true share at most as often as the confidence allows."""
    tail = (1 - confidence) / 2
    low = 0.0 if hits == 0 else _crossing(lambda share: 1 - _at_most(hits - 1, draws, share) > tail)
    high = 1.0 if hits == draws else _crossing(lambda share: _at_most(hits, draws, share) < tail)
    return low, high


def _crossing(is_above: Callable[[float], bool]) -> float:
    """Where something that is false for small shares becomes true."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_above(middle) else (middle, high)
    return (low + high) / 2


def _at_most(hits: int, draws: int, share: float) -> float:
    """The probability of at most so many hits."""
    if share <= 0.0 or share >= 1.0:
        return 1.0 if share <= 0.0 or hits == draws else 0.0
    return math.fsum(
        math.exp(
            math.lgamma(draws + 1)
            - math.lgamma(k + 1)
            - math.lgamma(draws - k + 1)
            + k * math.log(share)
            + (draws - k) * math.log1p(-share)
        )
        for k in range(hits + 1)
    )


# --- the set of models ---


#: How much work may be done to tell cases apart before an exact answer is given up: some seconds.
MOST_WORK = 1_000_000


class Models:
    """The distinct models of a resolved space. Raises TooCostly where telling them apart takes too long.

    With `steps`, open reals take so many values, evenly on their scale. Without requirements (`free`), the models of
    the structure alone.
    """

    def __init__(self, space: Space, steps: int | None = None, free: bool = False, work: int = MOST_WORK) -> None:
        self._chains = accepted(space, steps, free, False, work)

    @property
    def number(self) -> int:
        """How many; an open real counts as one."""
        return 0 if self._chains is None else self._chains.weight

    @property
    def reals(self) -> int:
        """The most open reals that one model has; with any, there are infinitely many models."""
        return 0 if self._chains is None else self._chains.reals

    def draw(self, rng: Random) -> Model:
        """One of them, each as likely; an open real is uniform on its scale."""
        if self._chains is None:
            raise UserError("the space is empty: no model meets its requirements")
        return Model(one_row(self._chains.draw(rng)))

    def __iter__(self) -> Iterator[Model]:
        """All of them; the last step of a chain changes fastest. An open real raises OpenReal."""
        if self._chains is not None:
            yield from (Model(one_row(word)) for word in self._chains)


def accepted(space: Space, steps: int | None, free: bool, structures: bool, work: int) -> Enumeration | None:
    """The chains of a space that meet its requirements; None if there are none."""
    abstraction = Abstraction(() if free else space.requirements, space.facts)
    root = expanded(space.root, abstraction.observed_settings)
    try:
        chains = ChainAutomaton(abstraction, space.facts, WorkLimit(work), steps, structures).chains(root)
    except RecursionError:
        raise TooCostly("branches or parameters nest too deep") from None
    kept = [paths for seen, paths in chains.items() if any(abstraction.first_broken(traits) is None for traits in seen)]
    return disjoint_union(kept) if kept else None


# --- the size of a space ---


#: How many models are drawn where the share that meets the requirements is estimated, and how sure the interval is.
_DRAWS = 2_000
_CONFIDENCE = 0.99
#: Stands for no bound at all where a bound depends on the table.
_FAR = 10**15


@dataclass(frozen=True, slots=True)
class Interval:
    """Between these two, both included."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Count:
    """The size of a space.

    `models` is None where there are infinitely many (a real is open) or the table decides; `reason` says which. A
    structure is which blocks in which order; blocks that are values of parameters do not count. Codes are the settings
    of the structural choices as they are encoded, requirements aside, so the same structure may have several.
    `open_reals` is the most reals that one model leaves open, None where the table decides that. Where `exact` is
    false, `models` or `structures` is an estimate, and its interval says how far off it may be.
    """

    models: int | None
    structures: int
    codes: int
    open_reals: int | None = 0
    exact: bool = True
    models_interval: Interval | None = None
    structures_interval: Interval | None = None
    reason: str = ""


@paused_collector()
def count(space: Space, work: int = MOST_WORK) -> Count:
    """The size of a space; without a table, as far as no table is needed. `work` bounds what exactness may cost."""
    depends = any(map(follows_table, bottom_up(space.root)))
    has_open_size = depends and any(map(_has_open_size, bottom_up(space.root)))
    if depends:
        space = Space(rebuilt(space.root, _widened), space.requirements, space.facts)
    structures, structures_interval, why = _structures(space, work)
    models, reals, interval = 0, 0, None
    if structures_interval is None:
        try:
            found = Models(space, work=work)
            models, reals = found.number, found.reals
        except TooCostly as reason:
            why = str(reason)
    if why:  # what tells structures apart also tells models apart, so it is not tried in vain
        models, reals, interval = _estimate(space, work)
    exact = not why
    open_reals = None if reals and has_open_size else reals
    codes = code_count(space.root)
    if reals or depends:
        why = why or (f"infinitely many: {_in_words(open_reals)}" if reals else "depends on the data")
        return Count(None, structures, codes, open_reals, exact, None, structures_interval, why)
    return Count(models, structures, codes, open_reals, exact, interval, structures_interval, why)


def _in_words(open_reals: int | None) -> str:
    if open_reals is None:
        return "reals are open, and how many depends on the data"
    return f"up to {open_reals} real{'s are' if open_reals > 1 else ' is'} open in one model"


# --- structures and codes -----------------------------------------------------------------------------


def _structures(space: Space, work: int) -> tuple[int, Interval | None, str]:
    """How many structures there are; where that is too costly, how many at most, an interval, and why."""
    try:
        found = accepted(space, None, False, True, work)
        return (0 if found is None else found.weight), None, ""
    except TooCostly as reason:
        most = _most_structures(space, work)
        return most, Interval(0, most), str(reason)


def _most_structures(space: Space, work: int) -> int:
    """How many structures there are at most: those without requirements."""
    try:
        found = accepted(space, None, True, True, work)
    except TooCostly:
        return code_count(space.root)
    return 0 if found is None else found.weight


def code_count(root: Node) -> int:
    """The settings of the structural choices of a space, those that are in use."""
    return fold(root, _ways, parameters=False)


def _way_count(root: Node) -> int:
    """In how many ways a model can be put together: at least as many as there are models. An open real counts once."""
    return fold(root, _ways)


def _ways(node: Node, below: list[int]) -> int:
    """In how many ways a node can be put together, given those of what it is made of."""
    values = value_count(node)
    if isinstance(node, BlockUse | Symbol):
        below = [_list_ways(p.node, ways, node.params) for p, ways in zip(node.params, below, strict=False)]
    return combined(node, below, _WAYS) if values is None else values


def _list_ways(node: Node, ways: int, params: tuple[Param, ...]) -> int:
    """Of a list with a length by its siblings, no fewer ways than it has at any length."""
    return ways ** most_elements(node, params) if isinstance(node, Sized) else ways


class _Ways(Algebra[int]):
    nothing = 1

    def one_of(self, options: list[int]) -> int:
        return sum(options)

    def all_of(self, members: list[int]) -> int:
        return math.prod(members)

    def in_any_order(self, members: list[int]) -> int:
        return math.factorial(len(members)) * math.prod(members)

    def some_of(self, members: list[int], low: int, high: int) -> int:
        return sum(math.factorial(size) * ways for size, ways in enumerate(_chosen(members)) if low <= size <= high)

    def repeated(self, member: int, low: int, high: int) -> int:
        return sum(member**times for times in range(low, high + 1))


_WAYS = _Ways()


def _chosen(ways: list[int]) -> list[int]:
    """For each size, the ways to take so many members, whatever their order (elementary symmetric polynomials)."""
    sums = [1]
    for way in ways:
        sums = [old + way * before for old, before in zip([*sums, 0], [0, *sums], strict=True)]
    return sums


# --- estimates ----------------------------------------------------------------------------------------


def _estimate(space: Space, work: int) -> tuple[int, int, Interval]:
    """The number of models by drawing from those of the structure alone, with the open reals and an interval."""
    try:
        free = Models(space, free=True, work=work)
    except TooCostly:
        most = _way_count(space.root)
        return most, int(any(_is_open_real(node) for node in bottom_up(space.root))), Interval(0, most)
    if free.reals or not free.number:
        return free.number, free.reals, Interval(0, free.number)
    rng, deriver = Random(0), Membership(space)
    hits = sum(_is_in(deriver, free.draw(rng)) for _ in range(_DRAWS))
    low, high = (Fraction(bound) * free.number for bound in share_interval(hits, _DRAWS, _CONFIDENCE))
    return free.number * hits // _DRAWS, 0, Interval(math.floor(low), math.ceil(high))


def _is_in(deriver: Membership, model: Model) -> bool:
    try:
        deriver.derive(model)
    except NotInSpace:
        return False
    return True


# --- bounds that follow the table ---------------------------------------------------------------------


def _has_open_size(node: Node) -> bool:
    match node:
        case Vector(size=Formula()) | Regions(count=Formula()) | Regions(width=Formula()):
            return True
    return False


def _is_open_real(node: Node) -> bool:
    return isinstance(node, Regions) or (isinstance(node, RealRange) and level_count(node) is None)


def _widened(node: Node) -> Node:
    """A node with room for every table: what is possible for one of them must not be missed among structures."""
    match node:
        case IntRange(low=low, high=high):
            return replace(node, low=math.ceil(_least(low)), high=math.floor(_most(high)))
        case RealRange(low=low, high=high):
            return replace(node, low=_least(low), high=_most(high))
        case Vector(size=size, element=element):
            return replace(node, size=_known_size(size), element=_widened(element))  # type: ignore[arg-type]  # a range stays one
        case Regions(count=count, width=width):
            return Regions(_known_size(count), _known_size(width))
        case Computed(within=within):
            return within
        case Marked(params=params) if params:
            return Marked(node.mark, node.node)
    return node


def _known_size(size: Amount) -> Amount:
    return 1 if isinstance(size, Formula) else size


def _least(low: Amount) -> int | float:
    return max(limits(low)[0], -_FAR) if isinstance(low, Formula) else low


def _most(high: Amount) -> int | float:
    return min(limits(high)[1], _FAR) if isinstance(high, Formula) else high
