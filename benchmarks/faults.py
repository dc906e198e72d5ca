"""Faults: runs of every strategy killed with SIGKILL at random moments and resumed, until each has met its share.

    python benchmarks/faults.py [--kills 30] [--strategy pso]… [--jobs 2] [--plain] [--seed 0]

Every resumed run must end with the store and the winner of a run that was left alone: the same evaluations, asks,
events, result and model, whatever was killed when. The tests do this with a few kills; this is the long form. With
`--plain` each command is a process started anew, so that kills also hit its start; else it is forked from one that has
imported everything, and kills hit the run itself.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path[:0] = [str(_TESTS), str(_TESTS / "store")]

from killed_runs import SPECS, Start, forker, kill_and_resume, plain_start  # noqa: E402
from winner_cases import write_table  # noqa: E402

#: No worker processes but the run's own.
_ALONE = ["--on", "inprocess"]


def measure(quick: bool) -> Iterator[tuple[str, float, float | None, str]]:
    """How many of the killed searches end otherwise than those that were left alone."""
    kills = 2 if quick else 10
    with tempfile.TemporaryDirectory() as folder, forker() as start:
        table = write_table("wine", Path(folder))
        differing = [name for name in SPECS if verdict(start, name, table, Path(folder, name), kills, 0, _ALONE)[1]]
    what = f"{len(SPECS)} searches killed {kills} times each and resumed: " + (", ".join(differing) or "all identical")
    yield what, float(len(differing)), 0.0, "searches that differ"


def verdict(
    start: Start, name: str, table: Path, place: Path, kills: int, seed: int, more: list[str]
) -> tuple[int, str]:
    """The runs that it took, and what differs in the end, if anything."""
    try:
        return kill_and_resume(start, name, table, place, kills, random.Random(f"{seed} {name}"), more), ""
    except AssertionError as reason:
        return 0, str(reason).splitlines()[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=30, help="how often each strategy is killed")
    parser.add_argument("--strategy", action="append", choices=list(SPECS), help="only this one; may be repeated")
    parser.add_argument("--jobs", type=int, help="worker processes; by default none but the run's own")
    parser.add_argument("--plain", action="store_true", help="start every command anew")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    given = parser.parse_args()
    more = _ALONE if given.jobs is None else ["--jobs", str(given.jobs)]
    wrong = 0
    print(f"{'strategy':<12}{'kills':>6}{'runs':>6}{'seconds':>9}  verdict")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        start = plain_start if given.plain else stack.enter_context(forker())
        table = write_table("wine", Path(folder))
        for name in given.strategy or SPECS:
            began = time.monotonic()
            runs, difference = verdict(start, name, table, Path(folder, name), given.kills, given.seed, more)
            wrong += bool(difference)
            said = f"DIFFERENT: {difference}" if difference else "identical"
            print(f"{name:<12}{given.kills:>6}{runs:>6}{time.monotonic() - began:>9.1f}  {said}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
