"""Nursery server: a process without threads that has everything imported, and forks workers from itself.

A fork of a process with threads can hang, and a fresh interpreter takes seconds to import scikit-learn; a fork of this
process is safe and takes milliseconds. Workers are in process groups of their own, so that a signal reaches whatever
they have started, and Ctrl-C does not reach them. When the keeper dies, the server ends all workers and itself.
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
from pathlib import Path
from typing import NoReturn

from msl.evaluate.executors.worker import work

START, REAP, IMPORT = b"S", b"R", b"I"
REQUEST = struct.Struct("=cq")
REPLY = struct.Struct("=qqq")
DESCRIPTORS = 3
_PR_SET_PDEATHSIG = 1


def serve(control_descriptor: int) -> None:
    """Answers requests until the other end is closed."""
    keeper = os.getppid()
    control = socket.socket(fileno=control_descriptor)
    workers: set[int] = set()
    gc.collect()
    gc.freeze()  # the collector would touch pages that workers share
    control.sendall(REPLY.pack(os.getpid(), 0, 0))
    try:
        while _hears(control, keeper):
            request, descriptors, _, _ = socket.recv_fds(control, REQUEST.size, DESCRIPTORS)
            if len(request) < REQUEST.size:
                return
            kind, number = REQUEST.unpack(request)
            if kind == START:
                control.sendall(REPLY.pack(_start(control, descriptors, workers), 0, 0))
            elif kind == REAP:
                control.sendall(REPLY.pack(*_reap(number, workers)))
            else:
                _import(control.recv(number, socket.MSG_WAITALL).decode().split())
                control.sendall(REPLY.pack(0, 0, 0))
    finally:
        for pid in workers:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)


def _hears(control: socket.socket, keeper: int) -> bool:
    """Waits for a request. The keeper's death shows even if a fork of it keeps the connection open."""
    while os.getppid() == keeper:
        if select.select([control], [], [], 1.0)[0]:
            return True
    return False


def _start(control: socket.socket, descriptors: list[int], workers: set[int]) -> int:
    """The process id of a new worker, or a negative error number."""
    server = os.getpid()
    try:
        pid = os.fork()
        if pid == 0:
            _become_worker(control, descriptors, server)
    except OSError as reason:
        return -(reason.errno or 1)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    with contextlib.suppress(OSError):
        os.setpgid(pid, pid)  # in both processes, so that the group is there whoever comes first
    workers.add(pid)
    return pid


def _become_worker(control: socket.socket, descriptors: list[int], server: int) -> NoReturn:
    status = 1
    try:
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        _die_with(server)
        control.close()
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):  # words of blocks and of the libraries below would mix with those of the keeper
            os.dup2(silence, stream)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")  # if memory runs out, this process goes, not the keeper
        work(*descriptors)
        status = 0
    finally:
        os._exit(status)


def _die_with(server: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != server:
            os._exit(1)


def _reap(pid: int, workers: set[int]) -> tuple[int, int, int]:
    """How a worker ended (as `waitpid` says it), and the most bytes that it held."""
    workers.discard(pid)
    try:
        _, status, used = os.wait4(pid, 0)
    except ChildProcessError:
        return 0, 0, 0
    unit = 1 if sys.platform == "darwin" else 1024
    return pid, status, used.ru_maxrss * unit


def _import(modules: list[str]) -> None:
    for module in modules:
        # What cannot be imported is reported by the evaluation that needs it.
        with contextlib.suppress(Exception):
            importlib.import_module(module)
    gc.collect()
    gc.freeze()
