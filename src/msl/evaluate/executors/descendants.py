"""Descendants: the processes that a process has started, also those that wanted to get away, and their end.

A child that calls `setsid` or forks twice leaves its process group, and one whose parent ends becomes the child of
somebody else. Under a process that adopts orphans it stays below that process, where it is found.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from time import monotonic, sleep

_PR_SET_CHILD_SUBREAPER = 36
_PATIENCE = 5.0  # seconds for processes to end that were killed; one that waits for a broken disk takes for ever


def adopt_orphans() -> None:
    """Whatever descends from this process stays below it. Only Linux can do so."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> set[int]:
    """The children of this process that have not been reaped."""
    own = os.getpid()
    return {pid for pid, parent in _parents() if parent == own}


def end_descendants(spared: Collection[int] = ()) -> None:
    """Kills and reaps everything below this process, but for the children in `spared` and what is below them."""
    _repeat(lambda: _end_once(spared))


def end_marked(mark: str) -> None:
    """Kills every process whose environment, as it was given at its start, has this mark: its parents may be gone."""
    _repeat(lambda: sum(_kill(pid) for pid in _marked(mark.encode())) > 0)


def _repeat(end: Callable[[], bool]) -> None:
    """A process may start others while the list is read, so that it is over when a new list is empty."""
    give_up = monotonic() + _PATIENCE
    while end() and monotonic() < give_up:
        sleep(0.001)


def _end_once(spared: Collection[int]) -> bool:
    """Whether there was anything to end."""
    below: dict[int, list[int]] = {}
    for pid, parent in _parents():
        below.setdefault(parent, []).append(pid)
    first = [pid for pid in below.get(os.getpid(), ()) if pid not in spared]
    found = list(first)
    for pid in found:  # grows while it is read
        found.extend(below.get(pid, ()))
    for pid in found:
        _kill(pid)
    for pid in first:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    return bool(found)


def _kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _parents() -> Iterator[tuple[int, int]]:
    for pid in _pids():
        with contextlib.suppress(OSError):  # it has ended meanwhile
            # The name in parentheses may hold anything.
            yield pid, int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])


def _marked(mark: bytes) -> Iterator[int]:
    for pid in _pids():
        with contextlib.suppress(OSError):  # it has ended, or is somebody else's
            if mark in Path(f"/proc/{pid}/environ").read_bytes():
                yield pid


def _pids() -> list[int]:
    if sys.platform != "linux":
        return []
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]
