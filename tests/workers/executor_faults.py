"""Blocks that do what no block should, to see that a run survives them. Tests trust this module by its name."""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin

from msl.blocks.base.load import BlockProblem

_kept: list[Any] = []


def hangs_in_c() -> None:
    """A call into C that never returns and keeps Python's lock, while SIGTERM is ignored."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    libc = ctypes.PyDLL(None)
    while True:
        libc.pause()


def sleeps() -> None:
    time.sleep(3600)


def segfaults() -> None:
    ctypes.string_at(0)


def aborts() -> None:
    os.abort()


def exits_hard() -> None:
    os._exit(7)


def exits() -> None:
    sys.exit("enough")


def allocates_at_once() -> None:
    np.ones(10**9)


def allocates_in_bits() -> None:
    while True:
        _kept.append(bytearray(1_000_000))


def allocates_shared() -> None:
    """Memory that no limit on a process's own counts."""
    while True:
        page = mmap.mmap(-1, 20_000_000)
        page.write(b"x" * 20_000_000)
        _kept.append(page)


def raises() -> None:
    raise ValueError("the block is unwell")


def raises_unspeakably() -> None:
    class Unspeakable(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    raise Unspeakable


def raises_at_length() -> None:
    raise ValueError("woe " * 1_000_000)


def floods_warnings() -> None:
    for number in range(2_000):
        warnings.warn(f"{number} {'careful ' * 1_000}", UserWarning, stacklevel=1)


def floods_terminal() -> None:
    for stream in (1, 2):
        os.write(stream, b"noise " * 100_000)
    print("noise", flush=True)


def closes_everything() -> None:
    os.closerange(3, 10_000)
    sleeps()


def forks_and_dies(note: str) -> None:
    """Leaves a child that sleeps for an hour and has the connection to the keeper open."""
    child = os.fork()
    if child == 0:
        sleeps()
    if note:
        Path(note).write_text(str(child))
    os._exit(3)


def starts_daemon(note: str) -> None:
    """Leaves a process that sleeps for an hour in a session of its own, and whose parent is gone."""
    if os.fork() == 0:
        os.setsid()
        child = os.fork()
        if child == 0:
            os.closerange(3, 10_000)
            sleeps()
        with open(note, "a") as file:
            file.write(f"{child}\n")
        os._exit(0)
    os.wait()


def starts_daemon_and_sleeps(note: str) -> None:
    starts_daemon(note)
    sleeps()


def kills_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kills_server() -> None:
    """Kills the process that starts workers, and so itself."""
    os.kill(os.getppid(), signal.SIGKILL)
    sleeps()


class Words(str):
    """Text that cannot be pickled."""

    def __reduce__(self) -> Any:
        raise TypeError("these words stay here")


def complains_unpicklably() -> None:
    raise BlockProblem("MSL404", Words("unwell"), "", "fault")


class Fault(TransformerMixin, BaseEstimator):
    """Does what a function of this module does, when it is fitted."""

    def __init__(self, what: str = "raises", marker: int = 0, note: str = "") -> None:
        self.what = what
        self.marker = marker
        self.note = note

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        do = globals()[self.what]
        if self.what in ("forks_and_dies", "starts_daemon", "starts_daemon_and_sleeps"):
            do(self.note)
        else:
            do()
        return self

    def transform(self, X: NDArray[Any]) -> NDArray[Any]:
        return X


class NotANumber(ClassifierMixin, BaseEstimator):
    """Its probabilities are NaN."""

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        return np.full(len(X), self.classes_[0])

    def predict_proba(self, X: NDArray[Any]) -> NDArray[Any]:
        return np.full((len(X), len(self.classes_)), np.nan)


class Sleeper(TransformerMixin, BaseEstimator):
    """Takes its time, and leaves the rows alone; writes down each fit, if there is a file to write to."""

    def __init__(self, seconds: float = 0.0, marker: int = 0, log: str = "") -> None:
        self.seconds = seconds
        self.marker = marker
        self.log = log

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        if self.log:
            with open(self.log, "a") as file:
                file.write(f"{self.marker} {os.getpid()}\n")
        time.sleep(self.seconds)
        return self

    def transform(self, X: NDArray[Any]) -> NDArray[Any]:
        return X


class Meeting(TransformerMixin, BaseEstimator):
    """Waits until so many processes are at it, so that each of as many workers has one evaluation."""

    def __init__(self, processes: int = 1, marker: int = 0, log: str = "") -> None:
        self.processes = processes
        self.marker = marker
        self.log = log

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        with open(self.log, "a") as file:
            file.write(f"{os.getpid()}\n")
        end = time.monotonic() + 60.0
        while len(set(Path(self.log).read_text().split())) < self.processes and time.monotonic() < end:
            time.sleep(0.01)
        return self

    def transform(self, X: NDArray[Any]) -> NDArray[Any]:
        return X


class SecondThoughts(TransformerMixin, BaseEstimator):
    """Crashes because of what ran before in the same process, which is its own first evaluation."""

    fitted = 0

    def __init__(self, marker: int = 0) -> None:
        self.marker = marker

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        type(self).fitted += 1
        if type(self).fitted > 3:  # the first evaluation has three folds
            os.abort()
        return self

    def transform(self, X: NDArray[Any]) -> NDArray[Any]:
        return X


class GlobalNoise(TransformerMixin, BaseEstimator):
    """Adds noise from NumPy's global generator, as careless blocks do."""

    def __init__(self, marker: int = 0) -> None:
        self.marker = marker

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        self.noise_ = np.random.normal(scale=3.0, size=X.shape[1])  # noqa: NPY002 - that is the point
        self.more_noise_ = len({f"symbol {number}" for number in range(20)}) / 20
        return self

    def transform(self, X: NDArray[Any]) -> NDArray[Any]:
        return X * (1.0 + self.noise_ * self.more_noise_)


class Threads(ClassifierMixin, BaseEstimator):
    """Complains about more threads of BLAS than one, by failing."""

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        from threadpoolctl import threadpool_info

        found = {library["num_threads"] for library in threadpool_info()}
        raise ValueError(f"threads: {sorted(found)}")

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        return np.zeros(len(X))
