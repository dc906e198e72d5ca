"""What the tests of executors ask the system about processes, and how they wait."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path


def wait_until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Fails when a condition does not come true; how fast it does is not tested."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"still not so after {seconds} s")
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that is only waiting to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def none_alive(pids: Iterable[int]) -> Callable[[], bool]:
    return lambda: not any(map(is_alive, pids))


def children(pid: int) -> set[int]:
    """All processes that descend from one."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found: set[int] = set()
    while new := {child for child, parent in parents.items() if parent in found | {pid}} - found:
        found |= new
    return found


def smaps(pid: int, *fields: str) -> int:
    """Bytes of a process, summed over fields such as Pss, or Private_Clean and Private_Dirty."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.partition(":")[0] in fields)
