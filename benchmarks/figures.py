"""Figures: what a benchmark measured, each with its name, its target and its unit, printed one a line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from statistics import median
from time import process_time
from typing import TypeVar

T = TypeVar("T")

#: Name, figure, target if there is one, unit. A unit with `times as` is better when larger, any other when smaller.
Row = tuple[str, float, float | None, str]
#: Sections of a benchmark by name; each takes whether it has to be quick.
Sections = Mapping[str, Callable[[bool], Iterable[Row]]]


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Seconds of processor time, since others may be at work on the same machine, and what the work came to."""
    start = process_time()
    done = work()
    return process_time() - start, done


def in_turns(ours: Callable[[], object], theirs: Callable[[], object], times: int) -> tuple[float, float]:
    """The median seconds of both, taken in turns so that a busy moment of the machine hits both."""
    ours()
    theirs()
    pairs = [(timed(ours)[0], timed(theirs)[0]) for _ in range(times)]
    return median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)


def measured(sections: Sections, chosen: Iterable[str], quick: bool) -> list[Row]:
    return [row for name in chosen for row in sections[name](quick)]


def show(sections: Sections, arguments: list[str]) -> None:
    """Prints the sections that are named, or all, each row as soon as it is known; `--quick` for fewer repeats."""
    quick = "--quick" in arguments
    for name in [argument for argument in arguments if argument != "--quick"] or sections:
        for what, figure, target, unit in sections[name](quick):
            wanted = "" if target is None else f"{'at least' if 'times as' in unit else 'at most'} {target:g}"
            print(f"{name:<10} {what:<78} {figure:>10.4g} {unit:<24} {wanted}", flush=True)
