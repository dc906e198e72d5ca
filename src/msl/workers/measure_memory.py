"""Measure the memory of processes as Linux reports it; None on other systems."""

from __future__ import annotations

import contextlib
import ctypes
import os
from mmap import PAGESIZE
from pathlib import Path
from typing import Any, NamedTuple

_PF_EXITING = 0x4  # as the kernel's sched.h has it
SUPPORTED = Path("/proc/self/statm").exists()


class Usage(NamedTuple):
    """`held` is the private memory of a process, without programs, files and shared memory; `reserved` is what counts
    against RLIMIT_DATA."""

    held: int
    reserved: int


class OwnUsage:
    """The memory of this process, read often."""

    def __init__(self) -> None:
        self._statm = _opened("/proc/self/statm", "rb")
        self._clear_refs = _opened("/proc/self/clear_refs", "wb")

    def now(self) -> Usage | None:
        if self._statm is None:
            return None
        _, resident, shared, _, _, data, _ = map(int, os.pread(self._statm.fileno(), 200, 0).split())
        return Usage((resident - shared) * PAGESIZE, data * PAGESIZE)

    def forget_peak(self) -> None:
        """Resets the peak; where that is not allowed, the peak is that since the process started."""
        if self._clear_refs is not None:
            self._clear_refs.write(b"5")

    def close(self) -> None:
        for file in (self._statm, self._clear_refs):
            if file is not None:
                file.close()


def peak_bytes() -> int | None:
    """The peak memory of this process since the last reset, with mapped programs and files."""
    return _status("self", ("VmHWM",)).get("VmHWM")


def held_bytes(pid: int | str = "self") -> int | None:
    """The private and shared memory that a process has filled."""
    found = _status(pid, ("RssAnon", "RssShmem"))
    return sum(found.values()) if found else None


def is_exiting(pid: int) -> bool:
    """Whether a process is exiting: it runs no more code, but may still be freeing memory."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return False
    return bool(int(fields[6]) & _PF_EXITING)


def machine_bytes() -> int | None:
    """The memory of the machine, or of the container that this process is in."""
    limits = [_number("/sys/fs/cgroup/memory.max"), _number("/sys/fs/cgroup/memory/memory.limit_in_bytes")]
    with contextlib.suppress(ValueError, OSError):
        limits.append(os.sysconf("SC_PHYS_PAGES") * PAGESIZE)
    return min((limit for limit in limits if limit is not None), default=None)


def _number(path: str) -> int | None:
    try:
        return int(Path(path).read_text())
    except (OSError, ValueError):  # no such file, or no limit
        return None


def _opened(path: str, mode: str) -> Any:
    try:
        return open(path, mode, buffering=0)
    except OSError:
        return None


def _status(pid: int | str, names: tuple[str, ...]) -> dict[str, int]:
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return {}
    lines = (line.partition(":") for line in text.splitlines())
    return {name: int(value.split()[0]) * 1024 for name, _, value in lines if name in names}


# --- The heap: how much freed memory glibc keeps; other allocators have rules of their own. ---------------------------


#: Freed arrays at least this large go back to the system; of smaller ones, up to twice as much is kept.
LARGE = 8_000_000
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # as malloc.h numbers them


class Heap:
    """The heap of this process.

    By default glibc adapts until it keeps arrays of up to 32 MB, 64 MB in all. In each of several workers on a large
    table, that is most of another copy of it.
    """

    def __init__(self) -> None:
        library = ctypes.CDLL(None)
        self._trim = getattr(library, "malloc_trim", None)  # only glibc has it
        if self._trim is not None:
            library.mallopt(_MMAP_THRESHOLD, LARGE)
            library.mallopt(_TRIM_THRESHOLD, 2 * LARGE)

    def trim(self) -> None:
        """Returns all free memory to the system."""
        if self._trim is not None:
            self._trim(0)
