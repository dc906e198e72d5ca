"""Ending: how a worker process ended, and what that says about the evaluation that it was at."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from msl.evaluate.outcome import Failure

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
class Ending:
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
