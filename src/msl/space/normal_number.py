"""Normal numbers: amounts that may follow the table, ranges and sets of whole numbers, each in its one plain form."""

from __future__ import annotations

import math
from collections.abc import Iterable

from msl.space.entries import Entries, Key, Plain
from msl.space.formula import Amount, Formula
from msl.space.node import IntRange, RealRange
from msl.space.number import level_count

#: Stepped ranges up to this size are taken apart when other numbers stand beside them.
_MOST_LISTED = 1_000
_COMMUTATIVE = frozenset("+ * min max".split())
_ASSOCIATIVE = frozenset("min max".split())


def number_key(entries: Entries, number: int | float) -> Key:
    """A number with its kind; there is one zero."""
    return entries.add("real", number + 0.0) if isinstance(number, float) else entries.add("int", number)


def amount_key(entries: Entries, amount: Amount) -> Key:
    if not isinstance(amount, Formula):
        return number_key(entries, amount)
    if not amount.operands:
        return entries.add("fact", amount.operation)
    return computed_key(entries, amount.operation, [amount_key(entries, operand) for operand in amount.operands])


def computed_key(entries: Entries, operation: str, operands: list[Key]) -> Key:
    """An operation on terms: operands sorted where their order means nothing, `min` and `max` without nesting."""
    if operation in _ASSOCIATIVE:
        flat = (piece for operand in operands for piece in _operands(entries, operation, operand))
        operands = list(dict.fromkeys(flat))
        if len(operands) == 1:
            return operands[0]
    if operation in _COMMUTATIVE:
        operands = sorted(operands)
    return entries.add("computed", operation, *operands)


def _operands(entries: Entries, operation: str, key: Key) -> Iterable[Key]:
    entry = entries[key]
    return map(str, entry[2:]) if entry[:2] == ("computed", operation) else (key,)


def int_range_key(entries: Entries, node: IntRange) -> Key:
    low, high = node.low, node.high
    if isinstance(low, Formula) or isinstance(high, Formula):
        return entries.add("int_range", amount_key(entries, low), amount_key(entries, high), node.log, node.step)
    first, last = math.ceil(low), math.floor(high)
    last -= (last - first) % node.step
    if node.log and first < last:
        return entries.add("log_ints", first, last, node.step)
    return _progression_key(entries, first, last, node.step)


def _progression_key(entries: Entries, first: int, last: int, step: int) -> Key:
    return entries.add("int", first) if first == last else entries.add("ints", first, last, step)


def real_range_key(entries: Entries, node: RealRange) -> Key:
    """A range of reals; a stepped one by its low end, its step and how many values it has."""
    low, high, step = _as_real(node.low), _as_real(node.high), node.step
    if isinstance(low, Formula) or isinstance(high, Formula):
        return entries.add("real_range", amount_key(entries, low), amount_key(entries, high), node.log, step)
    if low == high:
        return number_key(entries, low)
    if step is None:
        return entries.add("reals", low + 0.0, high + 0.0, node.log)
    levels = level_count(node)
    return number_key(entries, low) if levels == 1 else entries.add("grid", low + 0.0, step, levels, node.log)


def _as_real(amount: Amount) -> float | Formula:
    return amount if isinstance(amount, Formula) else float(amount)


def merge_ints(entries: Entries, options: list[Key]) -> list[Key]:
    """Alternatives with their whole numbers as one set: `1 | 2 | 3`, `int 1..3` and `3 | int 1..2` are the same.

    Logarithmic ranges stay what they are: their scale is part of the space.
    """
    others = [key for key in options if not _is_listed(entries[key])]
    if len(others) == len(options):
        return others
    runs = _runs(span for key in options if _is_listed(entries[key]) for span in _spans(entries[key]))
    if (step := _common_step(runs)) is not None:
        return [*others, _progression_key(entries, runs[0][0], runs[-1][1], step)]
    return [*others, *(_progression_key(entries, first, last, 1) for first, last in runs)]


def _is_listed(entry: tuple[Plain, ...]) -> bool:
    match entry:
        case ("int", _):
            return True
        case ("ints", int(first), int(last), int(step)):
            return step == 1 or (last - first) // step < _MOST_LISTED
    return False


def _spans(entry: tuple[Plain, ...]) -> Iterable[tuple[int, int]]:
    match entry:
        case ("int", int(only)):
            yield only, only
        case ("ints", int(first), int(last), int(step)) if step == 1:
            yield first, last
        case ("ints", int(first), int(last), int(step)):
            yield from ((value, value) for value in range(first, last + 1, step))


def _runs(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest stretches of neighbouring numbers, in order."""
    runs: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if runs and first <= runs[-1][1] + 1:
            runs[-1] = runs[-1][0], max(runs[-1][1], last)
        else:
            runs.append((first, last))
    return runs


def _common_step(runs: list[tuple[int, int]]) -> int | None:
    """The step of an arithmetic progression, if that is what the runs are."""
    if len(runs) == 1:
        return 1
    step = runs[1][0] - runs[0][0]
    even = all(first == last == runs[0][0] + i * step for i, (first, last) in enumerate(runs))
    return step if even else None
