"""Lists as long as a sibling parameter says: `n_layers: int 1..4, units: vector(n_layers) of int 8..256`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product

from msl.space.conditions import Sibling, Term, nested_terms
from msl.space.evaluate_conditions import term_beside
from msl.space.formulas import limits
from msl.space.nodes import Computed, Const, IntRange, Listing, Node, Param, Sized, alternatives
from msl.space.values import Value

#: Every element has a dimension of its own, and each length is counted by itself.
MOST_LENGTH = 100


def length_beside(sized: Sized, siblings: Mapping[str, Value]) -> int | None:
    """How many elements there are beside these siblings; None where one that is needed is not there."""
    found = term_beside(sized.length, siblings)
    return found if isinstance(found, int) else None


def list_of(sized: Sized, length: int) -> Node:
    """The list of so many elements."""
    return Listing((sized.element,) * length)


def list_beside(sized: Sized, siblings: Mapping[str, Value]) -> Node | None:
    """The list beside these siblings; None where there is none, because they are not there."""
    length = length_beside(sized, siblings)
    return None if length is None else list_of(sized, length)


def names_in(length: Term) -> set[str]:
    """The siblings that a length is computed from."""
    return {term.name for term in nested_terms(length) if isinstance(term, Sibling)}


def lengths_of(length: Term, siblings: Iterable[Param]) -> set[int] | None:
    """The lengths that are possible beside siblings with these domains; None where no number bounds them."""
    named = names_in(length)
    domains = {param.name: _whole_values(param.node) for param in siblings if param.name in named}
    if len(domains) < len(named) or any(values is None for values in domains.values()):
        return None
    rows = product(*(values or () for values in domains.values()))
    found = [term_beside(length, dict(zip(domains, row, strict=True))) for row in rows]
    return {value for value in found if isinstance(value, int)}


def most_elements(sized: Sized, siblings: Iterable[Param]) -> int:
    """The length of the longest list."""
    return max(lengths_of(sized.length, siblings) or (0,))


def with_known_lengths(params: tuple[Param, ...]) -> tuple[Param, ...]:
    """The parameters with plain lists where the siblings leave only one length."""
    if not any(isinstance(param.node, Sized) for param in params):
        return params
    always = [param for param in params if param.condition is None]
    found = []
    for param in params:
        if isinstance(param.node, Sized):
            lengths = lengths_of(param.node.length, always)
            if lengths is not None and len(lengths) == 1:
                param = replace(param, node=list_of(param.node, lengths.pop()))
        found.append(param)
    return tuple(found)


def _whole_values(node: Node) -> list[int] | None:
    """The whole numbers that a domain may hold whatever the table; None if it holds anything else, or too many."""
    found: list[int] = []
    for option in alternatives(node):
        match option:
            case IntRange(low=low, high=high, step=step):
                first, last = limits(low)[0], limits(high)[1]
                if not (math.isfinite(first) and math.isfinite(last)) or last - first > _MOST_VALUES:
                    return None
                found.extend(range(math.ceil(first), math.floor(last) + 1, step))
            case Const(value=int(value)) if not isinstance(value, bool):
                found.append(value)
            case Computed(within=within):
                values = _whole_values(within)
                if values is None:
                    return None
                found.extend(values)
            case _:
                return None
    return found


_MOST_VALUES = 10_000
