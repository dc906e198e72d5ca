"""Diff matching: which pieces of one list are, in another list, the same ones — by order, or whatever the order."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from msl.space.node import Node

_LARGEST_TABLE = 250_000

Pair = tuple[int, int]
Likeness = Callable[[Node], Hashable]


@dataclass(slots=True)
class Matching:
    """Positions that belong together, and those of either list that stand alone."""

    pairs: list[Pair] = field(default_factory=list)
    old: list[int] = field(default_factory=list)
    new: list[int] = field(default_factory=list)


def match_by(old: list[Node], new: list[Node], *likenesses: tuple[Likeness, Likeness]) -> Matching:
    """Pairs pieces that are alike: first by the first likeness, then what is left by the next.

    A likeness is a pair of functions, one for each list; None is like nothing.
    """
    found = Matching(old=list(range(len(old))), new=list(range(len(new))))
    for of_old, of_new in likenesses:
        waiting: dict[Hashable, list[int]] = {}
        for j in found.new:
            if (kind := of_new(new[j])) is not None:
                waiting.setdefault(kind, []).append(j)
        queues = ((i, waiting.get(of_old(old[i]))) for i in found.old)
        paired = [(i, queue.pop(0)) for i, queue in queues if queue]
        gone, met = {i for i, _ in paired}, {j for _, j in paired}
        found.old = [i for i in found.old if i not in gone]
        found.new = [j for j in found.new if j not in met]
        found.pairs.extend(paired)
    found.pairs.sort()
    return found


def align(old: list[Node], new: list[Node], closeness: Callable[[Node, Node], float]) -> Matching:
    """Pairs pieces without crossing, so that the sum of their closeness is largest; closeness 0 never pairs.

    Lists too long for a table of all pairs are not looked into.
    """
    rows, columns = len(old), len(new)
    if rows * columns > _LARGEST_TABLE:
        return Matching(old=list(range(rows)), new=list(range(columns)))
    score = [[closeness(one, other) for other in new] for one in old]
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            together = score[i][j] + best[i + 1][j + 1] if score[i][j] > 0 else 0.0
            best[i][j] = max(together, best[i + 1][j], best[i][j + 1])
    found = Matching()
    i = j = 0
    while i < rows and j < columns:
        if score[i][j] > 0 and best[i][j] == score[i][j] + best[i + 1][j + 1]:
            found.pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            found.old.append(i)
            i += 1
        else:
            found.new.append(j)
            j += 1
    found.old.extend(range(i, rows))
    found.new.extend(range(j, columns))
    return found
