"""Together: several small searches that ask at the same time, so that many workers have something to do."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from msl.search.ask import Told
from msl.search.setting import Asks

#: A search that is part of another one: it ends with the best point that it found.
Inner = Generator[Asks, list[Told], Told]


def together(searches: Sequence[Inner]) -> Generator[Asks, list[Told], list[Told]]:
    """What each search found, in their order. A batch holds the next asks of all that are still running."""
    found: dict[int, Told] = {}
    asking: dict[int, Asks] = {}
    answers: dict[int, list[Told] | None] = dict.fromkeys(range(len(searches)))
    while answers:
        for number, answer in answers.items():
            try:
                asking[number] = next(searches[number]) if answer is None else searches[number].send(answer)
            except StopIteration as end:
                found[number] = end.value
                asking.pop(number, None)
        if not asking:
            break
        told = iter((yield [ask for asks in asking.values() for ask in asks]))
        answers = {number: [next(told) for _ in asks] for number, asks in asking.items()}
    return [found[number] for number in range(len(searches))]
