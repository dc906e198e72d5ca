"""Ending: how a worker process ended, and what that says about the evaluation that it was at."""

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

#: What the kernel sends to a process for what its own code does; any other deadly signal was sent by somebody.
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
    """By a signal, or with an exit status; both are None if nobody can tell any more. `peak` is in bytes."""

    signal: int | None = None
    status: int | None = None
    peak: int | None = None
    #: The process had cut its connection and had to be ended.
    is_forced: bool = False

    @property
    def is_known(self) -> bool:
        return self.signal is not None or self.status is not None

    @property
    def is_from_outside(self) -> bool:
        """Whether somebody else may have ended it: it was sent a signal, or its server was gone."""
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
        """What is said of the evaluation that the process did not survive."""
        cause = "crash" if self.status is None or self.is_forced else "exit"
        return Failure(cause, f"the process {self.manner}", step, self.peak)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # those for real time have no names
        return f"signal {number}"


# --- Nursery: starts worker processes in milliseconds, and tells how they ended. --------------------------------------


_T = TypeVar("_T")

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
_PROGRAM = (
    "import json, sys; given = json.loads(sys.argv[1]); sys.path[:] = given['path'];"
    "from msl.blocks.base.load import allow_all; allow_all(given['local']);"
    "from msl.workers.fork_server_process import serve; serve(int(sys.argv[2]))"
)
#: How often a server is started again in a row that somebody kills: the system may, when others have taken all memory.
_MOST_LAUNCHES = 4
_MOST_BRANCHES = 8  # kept at once; each holds the modules of its models
_NOBODY = -1


class ForkServerError(WorkersLost):
    """Worker processes cannot be started, or no longer."""


class _Line:
    """The connection to a server: to the first one, or to a branch of it."""

    def __init__(self) -> None:
        self.control, self.theirs = socket.socketpair()
        self.pid = _NOBODY
        self.imported: set[str] = set()
        self.workers: set[int] = set()

    def ask(self, request: bytes, descriptors: Sequence[int] = ()) -> tuple[int, int, int]:
        socket.send_fds(self.control, [request], descriptors)
        return self.hear()

    def hear(self) -> tuple[int, int, int]:
        reply = self.control.recv(REPLY.size, socket.MSG_WAITALL)
        if len(reply) < REPLY.size:
            raise ConnectionResetError
        first, second, third = REPLY.unpack(reply)
        return first, second, third

    def start(self, descriptors: Sequence[int]) -> int:
        pid, _, _ = self.ask(REQUEST.pack(START, 0), descriptors)
        if pid < 0:
            raise ForkServerError(f"a worker process cannot be started: {os.strerror(-pid)}")
        self.workers.add(pid)
        return pid

    def prepare(self, modules: frozenset[str]) -> None:
        if new := modules - self.imported:
            self.imported |= new
            names = _joined(new)
            self.ask(REQUEST.pack(IMPORT, len(names)) + names)

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
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the nursery
        self._line = _Line()
        self._branches: dict[frozenset[str], _Line] = {}
        self._without_branch: set[frozenset[str]] = set()
        self._is_ready = False
        self._mark = f"MSL_NURSERY={uuid.uuid4().hex}"
        given = {"path": [entry or os.getcwd() for entry in sys.path], "local": allowed_local_modules()}
        mark, _, marked = self._mark.partition("=")
        with self._line.theirs as theirs:
            self._process = subprocess.Popen(
                # Without -P, a `json.py` in the current folder would be imported in the place of Python's own.
                [sys.executable, "-P", "-c", _PROGRAM, json.dumps(given), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._words,
                env=os.environ | _ENVIRONMENT | {mark: marked},
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def start(self, descriptors: Sequence[int], modules: Iterable[str] = ()) -> int:
        """The process id of a new worker that works with these descriptors, for models with blocks of these modules.

        What is known of them is imported ahead as far as that is safe; what is from elsewhere, in a branch.
        """
        wanted = frozenset(modules)
        foreign = foreign_modules(wanted)
        own = wanted - foreign  # importing these starts no thread

        def begin() -> int:
            self._line.prepare(own)
            line = self._branch(foreign) if foreign else self._line
            if line is not self._line:
                try:
                    line.prepare(own)
                    return line.start(descriptors)
                except OSError:  # somebody has killed it; the next worker gets a new one
                    self._drop(foreign)
            return self._line.start(descriptors)

        return self._do(begin)

    def reap(self, pid: int) -> WorkerEnd:
        """Waits for the end of a worker. Of one whose server has died, nothing is known."""

        def wait() -> WorkerEnd:
            for modules, branch in self._branches.items():
                if pid in branch.workers:
                    branch.workers.discard(pid)
                    try:
                        return _ending(branch.ask(REQUEST.pack(REAP, pid)))
                    except OSError:
                        self._drop(modules)
                        return WorkerEnd()
            self._line.workers.discard(pid)
            return _ending(self._line.ask(REQUEST.pack(REAP, pid)))

        return self._do(wait)

    def close(self) -> None:
        """Ends the server, and with it all its workers."""
        with self._lock:
            self._why_closed = self._why_closed or "the nursery is closed"
            self._end()

    def _end(self) -> None:
        for line in (*self._branches.values(), self._line):
            line.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._words.close()
        end_marked(self._mark)  # what has got away from a server that was killed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _do(self, what: Callable[[], _T]) -> _T:
        """Does something with the server. One that was killed, and all its workers with it, is replaced."""
        with self._lock:
            if self._why_closed:
                raise ForkServerError(self._why_closed)
            for _ in range(_MOST_LAUNCHES):
                try:
                    if not self._is_ready:
                        self._line.pid, _, _ = self._line.hear()
                        self._is_ready = True
                    return what()
                except OSError:
                    pass
                words, was_ready = self._last_words(), self._is_ready
                was_killed = self._died_by_signal()
                self._end()
                if not was_ready and not was_killed:  # it cannot be started, and will not be the next time
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

    def _branch(self, modules: frozenset[str]) -> _Line:
        """The server that has imported modules; the first one if they cannot be imported ahead."""
        if modules in self._without_branch:
            return self._line
        known = self._branches.pop(modules, None)
        line = known or self._grown(modules)
        if line is None:
            self._without_branch.add(modules)
            return self._line
        self._branches[modules] = line  # the one used last is the last
        return line

    def _grown(self, modules: frozenset[str]) -> _Line | None:
        """A new branch; none if it starts threads or dies, and whoever needs its modules has to import them."""
        idle = [each for each, line in self._branches.items() if not line.workers]
        if idle and len(self._branches) >= _MOST_BRANCHES:
            self._drop(idle[0])
        names = _joined(modules)
        for _ in range(_MOST_LAUNCHES):
            line = _Line()
            with line.theirs as theirs:
                pid, _, _ = self._line.ask(REQUEST.pack(BRANCH, len(names)) + names, [theirs.fileno()])
            line.pid = pid
            if pid < 0:
                line.close()
                raise ForkServerError(f"a worker process cannot be started: {os.strerror(-pid)}")
            try:
                _, new_threads, _ = line.hear()
            except OSError:
                if not self._cut(line).is_from_outside:
                    return None
                continue
            if not new_threads:
                return line
            self._cut(line)
            return None
        return None

    def _drop(self, modules: frozenset[str]) -> None:
        self._cut(self._branches.pop(modules))

    def _cut(self, line: _Line) -> WorkerEnd:
        line.close()
        return _ending(self._line.ask(REQUEST.pack(REAP, line.pid)))

    def _last_words(self) -> str:
        self._words.seek(0)
        words = self._words.read().decode(errors="replace").strip().splitlines()
        return words[-1] if words else "it said nothing"


def _joined(modules: Iterable[str]) -> bytes:
    """Sorted, so that modules are imported in the same order always."""
    return " ".join(sorted(modules)).encode()


def _ending(reply: tuple[int, int, int]) -> WorkerEnd:
    found, code, peak = reply
    if not found:
        return WorkerEnd()
    status = os.waitstatus_to_exitcode(code)
    return WorkerEnd(signal=-status, peak=peak) if status < 0 else WorkerEnd(status=status, peak=peak)
