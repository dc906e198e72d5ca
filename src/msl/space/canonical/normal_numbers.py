"""Amounts that may depend on the table, ranges and sets of numbers, each in one plain form.

Numbers on a linear and on a logarithmic scale are kept apart: the scale is part of the space.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from msl.space.canonical.content_hash import Entries, Key, Plain
from msl.space.formulas import Amount, Formula
from msl.space.nodes import IntRange, RealRange
from msl.space.numbers import decimals, level_count, level_value

#: Stepped ranges up to this size are taken apart when other numbers stand beside them.
MOST_LISTED = 1_000
#: So many values at least, one step apart, are a stepped range of reals rather than values on their own.
_SHORTEST_GRID = 3
#: A step with no more digits than this gives the same values however far above the last of them the range ends.
_SURE_DIGITS = 10
_REALS = ("real", "reals", "grid")
_COMMUTATIVE = frozenset("+ * min max".split())
_ASSOCIATIVE = frozenset("min max".split())


def number_key(entries: Entries, number: int | float) -> Key:
    """A number with its kind; there is one zero."""
    return entries.add("real", number + 0.0) if isinstance(number, float) else entries.add("int", number)


_NO_NAMES: Mapping[str, str] = {}


def amount_key(entries: Entries, amount: Amount, names: Mapping[str, str] = _NO_NAMES) -> Key:
    """An amount; `names` are those of the parameters of parts."""
    if not isinstance(amount, Formula):
        return number_key(entries, amount)
    if not amount.operands:
        return entries.add("fact", names.get(amount.operation, amount.operation))
    operands = [amount_key(entries, operand, names) for operand in amount.operands]
    return computed_key(entries, amount.operation, operands)


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
    levels = level_count(node) or 1
    if levels == 1:
        return number_key(entries, low)
    if float(f"{step:.{_SURE_DIGITS}g}") != step and decimals(node) != decimals(_grid(low, step, levels)):
        return entries.add(
            "grid", low + 0.0, step, levels, node.log, high
        )  # to how many places depends on the high end
    if node.log or levels > MOST_LISTED:
        return entries.add("grid", low + 0.0, step, levels, node.log)
    if levels < _SHORTEST_GRID:
        return entries.add("choice", *sorted(number_key(entries, level_value(node, level)) for level in range(levels)))
    if step != _step_of(low, level_value(node, levels - 1), levels):
        return _points_keys(entries, [level_value(node, level) for level in range(levels)], step)[0]
    return entries.add("grid", low + 0.0, step, levels, False)


def _as_real(amount: Amount) -> float | Formula:
    return amount if isinstance(amount, Formula) else float(amount)


# --- sets of numbers ------------------------------------------------------------------------------------


def merge_numbers(entries: Entries, options: list[Key]) -> list[Key]:
    """Alternatives with their numbers as one set: `1 | 2 | 3`, `int 1..3` and `3 | int 1..2` are the same."""
    kinds = [entries[key][0] for key in options]
    if "int" in kinds or "ints" in kinds:
        options = _merge_ints(entries, options)
    if kinds.count("log_ints") > 1:
        options = _merge_log_ints(entries, options)
    if len(kinds) > 1 and sum(map(kinds.count, _REALS)) > 1:
        options = _merge_reals(entries, options)
    return options


def _merge_ints(entries: Entries, options: list[Key]) -> list[Key]:
    others = [key for key in options if not _is_listed(entries[key])]
    if len(others) == len(options):
        return options
    runs = _runs(span for key in options if _is_listed(entries[key]) for span in int_spans(entries[key]))
    if (step := _common_step(runs)) is not None:
        return [*others, _progression_key(entries, runs[0][0], runs[-1][1], step)]
    return [*others, *(_progression_key(entries, first, last, 1) for first, last in runs)]


def _merge_log_ints(entries: Entries, options: list[Key]) -> list[Key]:
    spans: list[tuple[int, int]] = []
    others: list[Key] = []
    for key in options:
        match entries[key]:
            case ("log_ints", int(first), int(last), 1):
                spans.append((first, last))
            case _:
                others.append(key)
    return [*others, *(entries.add("log_ints", first, last, 1) for first, last in _runs(spans))]


def _is_listed(entry: tuple[Plain, ...]) -> bool:
    match entry:
        case ("int", _):
            return True
        case ("ints", int(first), int(last), int(step)):
            return step == 1 or (last - first) // step < MOST_LISTED
    return False


def int_spans(entry: tuple[Plain, ...]) -> Iterable[tuple[int, int]]:
    """The stretches of neighbouring numbers that an entry of whole numbers holds."""
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


def _merge_reals(entries: Entries, options: list[Key]) -> list[Key]:
    """Ranges that overlap or touch as one, without the single values and grids that lie in them."""
    others: list[Key] = []
    points: set[float] = set()
    stretches: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
    long_grids: list[tuple[Key, float, float, bool]] = []
    for key in options:
        match entries[key]:
            case ("reals", float(low), float(high), bool(log)):
                stretches[log].append((low, high))
            case ("grid", float(low), float(step), int(levels), bool(log)) if log or levels > MOST_LISTED:
                long_grids.append((key, low, level_value(_grid(low, step, levels), levels - 1), log))
            case ("real", _) | ("grid", _, _, _, _) as entry:
                points.update(real_points(entry))
            case _:
                others.append(key)
    merged = {log: _touching(found) for log, found in stretches.items()}
    for log, found in merged.items():
        others.extend(entries.add("reals", low, high, log) for low, high in found)
    others.extend(key for key, low, high, log in long_grids if not _is_inside(low, high, merged[log]))
    alone = sorted(point for point in points if not _is_inside(point, point, merged[False]))
    return [*others, *_points_keys(entries, alone)]


def _points_keys(entries: Entries, points: Sequence[float], step: float | None = None) -> list[Key]:
    """Rising reals: one grid if they are one step apart, by the shortest such step or else the one given."""
    if len(points) >= _SHORTEST_GRID:
        for tried in (_step_of(points[0], points[-1], len(points)), step):
            if tried is not None and tried > 0 and _is_grid(points, tried):
                return [entries.add("grid", points[0] + 0.0, tried, len(points), False)]
        if step is not None:
            return [entries.add("grid", points[0] + 0.0, step, len(points), False)]
    return [number_key(entries, point) for point in points]


def _is_grid(points: Sequence[float], step: float) -> bool:
    node = RealRange(points[0], points[-1], step=step)
    return level_count(node) == len(points) and all(level_value(node, i) == x for i, x in enumerate(points))


def _step_of(low: float, last: float, levels: int) -> float:
    """The step between evenly spaced values, without what doubles add to its last digits."""
    return float(f"{(last - low) / (levels - 1):.12g}")


def _grid(low: float, step: float, levels: int) -> RealRange:
    return RealRange(low, low + step * (levels - 1), step=step)


def real_points(entry: tuple[Plain, ...]) -> list[float]:
    """The values of a single real or of a short stepped range."""
    match entry:
        case ("real", float(only)):
            return [only]
        case ("grid", float(low), float(step), int(levels), False):
            node = _grid(low, step, levels)
            return [level_value(node, level) + 0.0 for level in range(levels)]
    raise ValueError(f"{entry[0]} is no list of reals")


def _touching(stretches: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Closed ranges such that none overlaps or touches another, in order."""
    merged: list[tuple[float, float]] = []
    for low, high in sorted(stretches):
        if merged and low <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], high)
        else:
            merged.append((low, high))
    return merged


def _is_inside(low: float, high: float, stretches: Iterable[tuple[float, float]]) -> bool:
    return any(first <= low and high <= last for first, last in stretches)
