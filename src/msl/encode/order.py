"""Order: orders and arrangements of members by their number, and back."""

from __future__ import annotations

import math


def arrangement_count(members: int, low: int, high: int) -> int:
    """In how many ways `low` to `high` of so many members can stand in a row."""
    return sum(math.perm(members, size) for size in range(low, high + 1))


def arrangement(number: int, members: int, low: int, high: int) -> tuple[int, ...]:
    """The arrangement with this number: short ones first, then in the order of a dictionary."""
    for size in range(low, high + 1):
        if number < math.perm(members, size):
            return _row(number, members, size)
        number -= math.perm(members, size)
    raise ValueError("there are not so many arrangements")


def arrangement_number(row: tuple[int, ...], members: int, low: int) -> int:
    """The number of an arrangement."""
    number = sum(math.perm(members, size) for size in range(low, len(row)))
    left = list(range(members))
    for place, member in enumerate(row):
        number += left.index(member) * math.perm(members - place - 1, len(row) - place - 1)
        left.remove(member)
    return number


def _row(number: int, members: int, size: int) -> tuple[int, ...]:
    left, row = list(range(members)), []
    for place in range(size):
        which, number = divmod(number, math.perm(members - place - 1, size - place - 1))
        row.append(left.pop(which))
    return tuple(row)
