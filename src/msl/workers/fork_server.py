"""Start worker processes within milliseconds through a fork server, and find out how they ended.

This is the client's side; `fork_server_process` is the server's.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from types import TracebackType
from typing import Self, TypeVar

from msl.blocks.base.load import allowed_local_modules
from msl.evaluate.outcome import Failure
from msl.workers.executor import WorkersLost
from msl.workers.fork_server_process import BRANCH, IMPORT, REAP, REPLY, REQUEST, START, end_marked
from msl.workers.task import foreign_modules

#: Signals that the kernel sends for what a process itself does; any other deadly signal was sent from outside.
_OWN_DOING = frozenset(
    {
        signal.SIGSEGV,
        signal.SIGABRT,
        signal.SIGBUS,
        signal.SIGFPE,
        signal.SIGILL,
        signal.SIGSYS,
        signal.SIGTRAP,
        signal.SIGXCPU,
        signal.SIGXFSZ,
    }
)


@dataclass(frozen=True, slots=True)
class WorkerEnd:
    """How a worker ended: by a signal or with an exit status; both are None if unknown. `peak` is in bytes."""

    signal: int | None = None
    status: int | None = None
    peak: int | None = None
    #: The process had closed its connection and had to be killed.
    is_forced: bool = False

    @property
    def is_known(self) -> bool:
        return self.signal is not None or self.status is not None

    @property
    def is_from_outside(self) -> bool:
        """Whether it may have been killed from outside: by a signal, or together with its server."""
        return not self.is_forced and self.status is None and self.signal not in _OWN_DOING

    @property
    def manner(self) -> str:
        if self.is_forced:
            return "closed its connection"
        if self.signal is not None:
            hint = ", as the system does when memory runs out" if self.signal == signal.SIGKILL else ""
            return f"was killed by {_signal_name(self.signal)} ({signal.strsignal(self.signal)}){hint}"
        return "was lost" if self.status is None else f"ended itself with status {self.status}"

    def failure(self, step: str) -> Failure:
        """The failure of the evaluation during which the process ended."""
        cause = "crash" if self.status is None or self.is_forced else "exit"
        return Failure(cause, f"the process {self.manner}", step, self.peak)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no names
        return f"signal {number}"


# --- The client of the server. ----------------------------------------------------------------------------------------


_T = TypeVar("_T")

#: Workers must not compete for cores, nor differ from one another or from run to run. They raise the number of threads
#: themselves where a job says so.
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
_PROGRAM = (
    "import json, sys; given = json.loads(sys.argv[1]); sys.path[:] = given['path'];"
    "from msl.blocks.base.load import allow_all; allow_all(given['local']);"
    "from msl.workers.fork_server_process import serve; serve(int(sys.argv[2]))"
)
#: How often in a row a killed server is restarted: the system may kill it when other programs take all memory.
_MOST_LAUNCHES = 4
_MOST_BRANCHES = 8  # kept at once; each holds the imported modules of its models
_NOBODY = -1


class ForkServerError(WorkersLost):
    """Worker processes cannot be started (any more)."""


class _Connection:
    """The connection to a server: to the main one, or to a branch of it."""

    def __init__(self) -> None:
        self.control, self.theirs = socket.socketpair()
        self.pid = _NOBODY
        self.imported: set[str] = set()
        self.workers: set[int] = set()

    def request(self, message: bytes, descriptors: Sequence[int] = ()) -> tuple[int, int, int]:
        socket.send_fds(self.control, [message], descriptors)
        return self.receive()

    def receive(self) -> tuple[int, int, int]:
        reply = self.control.recv(REPLY.size, socket.MSG_WAITALL)
        if len(reply) < REPLY.size:
            raise ConnectionResetError
        first, second, third = REPLY.unpack(reply)
        return first, second, third

    def start(self, descriptors: Sequence[int]) -> int:
        pid, _, _ = self.request(REQUEST.pack(START, 0), descriptors)
        if pid < 0:
            raise ForkServerError(f"a worker process cannot be started: {os.strerror(-pid)}")
        self.workers.add(pid)
        return pid

    def prepare(self, modules: frozenset[str]) -> None:
        if new := modules - self.imported:
            self.imported |= new
            names = _joined(new)
            self.request(REQUEST.pack(IMPORT, len(names)) + names)

    def close(self) -> None:
        self.control.close()
        self.theirs.close()


class ForkServer:
    """Serves any number of executors, each of which starts its own unless it is given one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._why_closed = ""
        self._launch()

    def _launch(self) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the fork_server
        self._main = _Connection()
        self._branches: dict[frozenset[str], _Connection] = {}
        self._without_branch: set[frozenset[str]] = set()
        self._is_ready = False
        self._mark = f"MSL_FORK_SERVER={uuid.uuid4().hex}"
        given = {"path": [entry or os.getcwd() for entry in sys.path], "local": allowed_local_modules()}
        mark, _, marked = self._mark.partition("=")
        with self._main.theirs as theirs:
            self._process = subprocess.Popen(
                # Without -P, a `json.py` in the current folder would be imported in the place of Python's own.
                [sys.executable, "-P", "-c", _PROGRAM, json.dumps(given), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._stderr,
                env=os.environ | _ENVIRONMENT | {mark: marked},
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def start(self, descriptors: Sequence[int], modules: Iterable[str] = ()) -> int:
        """The process id of a new worker that works with these descriptors, for models with blocks of these modules.

        Their modules are imported in the server before it forks: our own in the main one, third-party ones in a branch.
        """
        wanted = frozenset(modules)
        foreign = foreign_modules(wanted)
        own = wanted - foreign  # importing these starts no thread

        def begin() -> int:
            self._main.prepare(own)
            connection = self._branch(foreign) if foreign else self._main
            if connection is not self._main:
                try:
                    connection.prepare(own)
                    return connection.start(descriptors)
                except OSError:  # it was killed; the next worker gets a new one
                    self._drop(foreign)
            return self._main.start(descriptors)

        return self._with_server(begin)

    def reap(self, pid: int) -> WorkerEnd:
        """Waits for a worker to end. If its server has died, nothing is known."""

        def wait() -> WorkerEnd:
            for modules, branch in self._branches.items():
                if pid in branch.workers:
                    branch.workers.discard(pid)
                    try:
                        return _worker_end(branch.request(REQUEST.pack(REAP, pid)))
                    except OSError:
                        self._drop(modules)
                        return WorkerEnd()
            self._main.workers.discard(pid)
            return _worker_end(self._main.request(REQUEST.pack(REAP, pid)))

        return self._with_server(wait)

    def close(self) -> None:
        """Ends the server, and with it all its workers."""
        with self._lock:
            self._why_closed = self._why_closed or "the fork server is closed"
            self._end()

    def _end(self) -> None:
        for connection in (*self._branches.values(), self._main):
            connection.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stderr.close()
        end_marked(self._mark)  # processes that have escaped from a server that was killed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _with_server(self, what: Callable[[], _T]) -> _T:
        """Calls a function that uses the server. If the server was killed, and its workers with it, it is restarted."""
        with self._lock:
            if self._why_closed:
                raise ForkServerError(self._why_closed)
            for _ in range(_MOST_LAUNCHES):
                try:
                    if not self._is_ready:
                        self._main.pid, _, _ = self._main.receive()
                        self._is_ready = True
                    return what()
                except OSError:
                    pass
                words, was_ready = self._last_error_line(), self._is_ready
                was_killed = self._died_by_signal()
                self._end()
                if not was_ready and not was_killed:  # it cannot start, now or later
                    self._why_closed = f"worker processes cannot be started: {words}"
                    raise ForkServerError(self._why_closed)
                self._launch()
            raise ForkServerError(f"the process that starts workers dies: {words}")

    def _died_by_signal(self) -> bool:
        try:
            return self._process.wait(5) < 0
        except subprocess.TimeoutExpired:
            return False

    # --- branches ---

    def _branch(self, modules: frozenset[str]) -> _Connection:
        """The server that has imported third-party modules; the main one if they cannot be imported before forking."""
        if modules in self._without_branch:
            return self._main
        known = self._branches.pop(modules, None)
        connection = known or self._new_branch(modules)
        if connection is None:
            self._without_branch.add(modules)
            return self._main
        self._branches[modules] = connection  # moves it to the end: the first is the least recently used
        return connection

    def _new_branch(self, modules: frozenset[str]) -> _Connection | None:
        """A new branch; None if importing starts threads or kills it, so that each worker has to import by itself."""
        idle = [each for each, connection in self._branches.items() if not connection.workers]
        if idle and len(self._branches) >= _MOST_BRANCHES:
            self._drop(idle[0])
        names = _joined(modules)
        for _ in range(_MOST_LAUNCHES):
            connection = _Connection()
            with connection.theirs as theirs:
                pid, _, _ = self._main.request(REQUEST.pack(BRANCH, len(names)) + names, [theirs.fileno()])
            connection.pid = pid
            if pid < 0:
                connection.close()
                raise ForkServerError(f"a worker process cannot be started: {os.strerror(-pid)}")
            try:
                _, new_threads, _ = connection.receive()
            except OSError:
                if not self._end_branch(connection).is_from_outside:
                    return None
                continue
            if not new_threads:
                return connection
            self._end_branch(connection)
            return None
        return None

    def _drop(self, modules: frozenset[str]) -> None:
        self._end_branch(self._branches.pop(modules))

    def _end_branch(self, connection: _Connection) -> WorkerEnd:
        connection.close()
        return _worker_end(self._main.request(REQUEST.pack(REAP, connection.pid)))

    def _last_error_line(self) -> str:
        self._stderr.seek(0)
        words = self._stderr.read().decode(errors="replace").strip().splitlines()
        return words[-1] if words else "it said nothing"


def _joined(modules: Iterable[str]) -> bytes:
    """Sorted, so that modules are always imported in the same order."""
    return " ".join(sorted(modules)).encode()


def _worker_end(reply: tuple[int, int, int]) -> WorkerEnd:
    found, code, peak = reply
    if not found:
        return WorkerEnd()
    status = os.waitstatus_to_exitcode(code)
    return WorkerEnd(signal=-status, peak=peak) if status < 0 else WorkerEnd(status=status, peak=peak)
