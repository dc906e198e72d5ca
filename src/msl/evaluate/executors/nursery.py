"""Nursery: starts worker processes in milliseconds, and tells how they ended."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import BrokenExecutor
from threading import Lock
from types import TracebackType
from typing import Self

from msl.blocks.local_modules import allowed_local_modules
from msl.evaluate.executors.ending import Ending
from msl.evaluate.executors.nursery_server import IMPORT, REAP, REPLY, REQUEST, START

#: Workers must not fight for cores, nor differ from one another or from run to run. They raise the number of threads
#: themselves where a job asks for it.
_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "BLIS_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "LOKY_MAX_CPU_COUNT": "1",
    "PYTHONHASHSEED": "0",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",  # a server that forks must have no threads
}
_WITHOUT_THREADS = frozenset({"msl", "sklearn"})  # packages whose import starts no thread
_PROGRAM = (
    "import json, sys; given = json.loads(sys.argv[1]); sys.path[:] = given['path'];"
    "from msl.blocks.local_modules import allow_all; allow_all(given['local']);"
    "from msl.evaluate.executors.nursery_server import serve; serve(int(sys.argv[2]))"
)


class NurseryError(BrokenExecutor):
    """Worker processes cannot be started, or no longer."""


class Nursery:
    """Serves any number of executors, each of which starts its own unless it is given one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._is_closed = False
        self._launch()

    def _launch(self) -> None:
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the nursery
        self._control, theirs = socket.socketpair()
        self._is_ready = False
        self._imported: set[str] = set()
        given = {"path": [entry or os.getcwd() for entry in sys.path], "local": allowed_local_modules()}
        with theirs:
            self._process = subprocess.Popen(
                # Without -P, a `json.py` in the current folder would be imported in the place of Python's own.
                [sys.executable, "-P", "-c", _PROGRAM, json.dumps(given), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._words,
                env=os.environ | _ENVIRONMENT,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def start(self, descriptors: Sequence[int]) -> int:
        """The process id of a new worker that works with these descriptors."""
        pid, _, _ = self._ask(REQUEST.pack(START, 0), descriptors)
        if pid < 0:
            raise NurseryError(f"a worker process cannot be started: {os.strerror(-pid)}")
        return pid

    def reap(self, pid: int) -> Ending:
        """Waits for the end of a worker. Of one whose server has died, nothing is known."""
        found, code, peak = self._ask(REQUEST.pack(REAP, pid))
        if not found:
            return Ending()
        status = os.waitstatus_to_exitcode(code)
        return Ending(signal=-status, peak=peak) if status < 0 else Ending(status=status, peak=peak)

    def prepare(self, modules: Iterable[str]) -> None:
        """Imports modules ahead, for all workers to come, as far as that is safe."""
        new = {module for module in modules if module.partition(".")[0] in _WITHOUT_THREADS} - self._imported
        if new:
            self._imported |= new
            names = " ".join(sorted(new)).encode()
            self._ask(REQUEST.pack(IMPORT, len(names)) + names)

    def close(self) -> None:
        """Ends the server, and with it all its workers."""
        with self._lock:
            self._is_closed = True
            self._end()

    def _end(self) -> None:
        self._control.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._words.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, request: bytes, descriptors: Sequence[int] = ()) -> tuple[int, int, int]:
        with self._lock:
            if self._is_closed:
                raise NurseryError("the nursery is closed")
            try:
                self._wait_until_ready()
                return self._exchange(request, descriptors)
            except OSError:
                if not self._is_ready:
                    raise NurseryError(f"worker processes cannot be started: {self._last_words()}") from None
            # It was killed, and all its workers with it; another one takes over, once.
            self._end()
            self._launch()
            try:
                self._wait_until_ready()
                return self._exchange(request, descriptors)
            except OSError:
                raise NurseryError(f"the process that starts workers dies: {self._last_words()}") from None

    def _wait_until_ready(self) -> None:
        if not self._is_ready:
            self._receive()
            self._is_ready = True

    def _exchange(self, request: bytes, descriptors: Sequence[int]) -> tuple[int, int, int]:
        socket.send_fds(self._control, [request], descriptors)
        return self._receive()

    def _receive(self) -> tuple[int, int, int]:
        reply = self._control.recv(REPLY.size, socket.MSG_WAITALL)
        if len(reply) < REPLY.size:
            raise ConnectionResetError
        first, second, third = REPLY.unpack(reply)
        return first, second, third

    def _last_words(self) -> str:
        self._words.seek(0)
        words = self._words.read().decode(errors="replace").strip().splitlines()
        return words[-1] if words else "it said nothing"
