"""The fork server: a process without threads that has everything imported, and forks workers from itself.

It also ends whatever workers have started. A child that calls `setsid` or forks twice leaves its process group, and one
whose parent ends becomes the child of another process. Below a process that adopts orphans it can still be found.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import resource
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import NoReturn

from msl.workers.worker import work

_PR_SET_CHILD_SUBREAPER = 36
_PATIENCE = 5.0  # seconds to wait for killed processes; one that waits for a broken disk never ends


def adopt_orphans() -> None:
    """Keeps all descendants below this process. Only on Linux."""
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
    """Kills every process that was started with this mark in its environment, even if its parents are gone."""
    _repeat(lambda: sum(_kill(pid) for pid in _marked(mark.encode())) > 0)


def _repeat(end: Callable[[], bool]) -> None:
    """Repeats until nothing is left: a process may start others while the list is read."""
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
        with contextlib.suppress(OSError):  # it has ended, or belongs to another user
            if mark in Path(f"/proc/{pid}/environ").read_bytes():
                yield pid


def _pids() -> list[int]:
    if sys.platform != "linux":
        return []
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


# --- The server. ------------------------------------------------------------------------------------------------------
#
# A fork of a process with threads can hang, and a new interpreter takes seconds to import scikit-learn; a fork of this
# process is safe and takes milliseconds. Workers are in process groups of their own, so that a signal reaches all that
# they have started, and Ctrl-C does not reach them. When the parent dies, the server ends all workers and itself.
#
# Third-party modules may change anything when they are imported, so that this process never imports them. A branch
# does: a fork that is a server too. All workers for models of the same modules are forks of the same branch, and
# workers for other models are not affected.


START, REAP, IMPORT, BRANCH = b"S", b"R", b"I", b"B"
REQUEST = struct.Struct("=cq")
REPLY = struct.Struct("=qqq")
DESCRIPTORS = 3
_PR_SET_PDEATHSIG = 1


def serve(control_descriptor: int, foreign: list[str] | None = None) -> None:
    """Answers requests until the other end is closed; a branch first imports its modules.

    The first reply is the process id and the number of threads that imports have started; a branch must have none.
    """
    parent = os.getppid()
    control = socket.socket(fileno=control_descriptor)
    adopt_orphans()
    threads = _threads()
    _import(foreign or [])
    own = (
        children() if foreign else set()
    )  # workers and branches, and what a module has started, which all workers share
    with contextlib.suppress(ConnectionError):
        control.sendall(REPLY.pack(os.getpid(), max(_threads() - threads, 0), 0))
    try:
        while _wait_for_request(control, parent):
            request, descriptors, _, _ = socket.recv_fds(control, REQUEST.size, DESCRIPTORS)
            if len(request) < REQUEST.size:
                return
            control.sendall(REPLY.pack(*_reply(request, descriptors, control, own)))
    finally:
        end_descendants()
        for pid in own:  # where the parents of processes are not known
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)


def _reply(request: bytes, descriptors: list[int], control: socket.socket, own: set[int]) -> tuple[int, int, int]:
    kind, number = REQUEST.unpack(request)
    if kind == START:
        return _fork(control, descriptors, own, []), 0, 0
    if kind == REAP:
        return _reap(number, own)
    modules = control.recv(number, socket.MSG_WAITALL).decode().split()
    if kind == BRANCH:
        return _fork(control, descriptors, own, modules), 0, 0
    _import(modules)
    return 0, 0, 0


def _wait_for_request(control: socket.socket, parent: int) -> bool:
    """Waits for a request. The death of the parent is noticed even if a fork of it keeps the connection open."""
    while os.getppid() == parent:
        if select.select([control], [], [], 1.0)[0]:
            return True
    return False


def _fork(control: socket.socket, descriptors: list[int], own: set[int], foreign: list[str]) -> int:
    """The process id of a new worker, or of a branch that imports modules; or a negative error number."""
    server = os.getpid()
    try:
        pid = os.fork()
        if pid == 0:
            _run_child(control, descriptors, server, foreign)
    except OSError as reason:
        return -(reason.errno or 1)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    with contextlib.suppress(OSError):
        os.setpgid(pid, pid)  # in both processes, so that the group exists whichever is first
    own.add(pid)
    return pid


def _run_child(control: socket.socket, descriptors: list[int], server: int, foreign: list[str]) -> NoReturn:
    status = 1
    try:
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        _die_with(server)
        control.close()
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):  # output of blocks and libraries would mix with that of the parent
            os.dup2(silence, stream)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if foreign:
            serve(descriptors[0], foreign)
        else:
            _run_worker(descriptors)
        status = 0
    finally:
        os._exit(status)


def _run_worker(descriptors: list[int]) -> None:
    # By default Python raises an exception on SIGINT, after which a worker would seem to have ended itself.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(
            "1000"
        )  # if memory runs out, this process is killed, not the parent
    adopt_orphans()
    work(*descriptors)


def _die_with(server: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != server:
            os._exit(1)


def _reap(pid: int, own: set[int]) -> tuple[int, int, int]:
    """Waits for a worker or a branch: its id, its status as `waitpid` returns it, and its peak memory in bytes.

    Processes that it has left behind have become children of this process, and are ended too.
    """
    own.discard(pid)
    try:
        _, status, used = os.wait4(pid, 0)
    except ChildProcessError:
        return 0, 0, 0
    end_descendants(spared=own)
    unit = 1 if sys.platform == "darwin" else 1024
    return pid, status, used.ru_maxrss * unit


def _import(modules: list[str]) -> None:
    for module in modules:
        # What cannot be imported is reported by the evaluation that needs it.
        with contextlib.suppress(Exception):
            importlib.import_module(module)
    gc.collect()
    gc.freeze()  # the collector would touch pages that workers share


def _threads() -> int:
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        import threading

        return threading.active_count()
