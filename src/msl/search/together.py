"""Together: several small searches that ask at the same time, so that many workers have something to do."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence

from msl.search.ask import Told
from msl.search.setting import Asks

#: A search that is part of another one: it ends with the best point that it found.
Inner = Generator[Asks, list[Told], Told]
#: Searches are not begun while so many points are asked for: a batch of a large space would not fit into memory.
_AT_ONCE = 512


def together(searches: Sequence[Inner]) -> Generator[Asks, list[Told], list[Told]]:
    """What each search found, in their order. A batch holds the next asks of all that are under way."""
    found: dict[int, Told] = {}
    asking: dict[int, Asks] = {}
    waiting = deque(enumerate(searches))
    answers: dict[int, list[Told]] = {}
    while True:
        for number, answer in answers.items():
            try:
                asking[number] = searches[number].send(answer)
            except StopIteration as end:
                found[number] = end.value
                del asking[number]
        while waiting and sum(map(len, asking.values())) < _AT_ONCE:
            number, search = waiting.popleft()
            try:
                asking[number] = next(search)
            except StopIteration as end:
                found[number] = end.value
        if not asking:
            return [found[number] for number in range(len(searches))]
        told = iter((yield [ask for asks in asking.values() for ask in asks]))
        answers = {number: [next(told) for _ in asks] for number, asks in asking.items()}
