"""Process: who works on a run, and whether it still does."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Process:
    """`born` tells a process from a later one with the same number; it is empty where the system does not say."""

    host: str
    pid: int
    born: str = ""


def this_process() -> Process:
    pid = os.getpid()
    return Process(socket.gethostname(), pid, _born(pid) or "")


def is_alive(process: Process) -> bool | None:
    """None where it cannot be known: on another machine, or on a system that does not say."""
    if process.host != socket.gethostname():
        return None
    if process.pid == os.getpid():
        return process.born in ("", _born(process.pid))
    if process.born:
        return _born(process.pid) == process.born
    return _exists(process.pid)


def _born(pid: int) -> str | None:
    """The boot and the tick at which a process began; None for one that is gone or only waits to be buried."""
    try:
        # The name of the command stands in brackets and may hold anything; what follows the last one is fixed.
        fields = (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    state, start = fields[0], fields[19]
    return None if state in "ZX" else f"{_boot()}:{start}"


@cache
def _boot() -> str:
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()[:8]
    except OSError:
        return ""


def _exists(pid: int) -> bool | None:
    if os.name != "posix":
        return None  # there, signal 0 is not a question but Ctrl-C
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
