"""Stored runs: their digests, their status, the process that runs them, their events, and their ids."""

from __future__ import annotations

import difflib
import os
import re
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal

from msl.space.canonical.content_hash import content_hash
from msl.store.store_error import StoreError

Status = Literal["running", "finished", "interrupted", "failed"]


@dataclass(frozen=True, slots=True)
class Digests:
    """Digests of the space, the table, the evaluation and the search; `run` is that of all of them and the seed."""

    space: str
    run: str
    data: str
    evaluation: str
    search: str


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run that is about to start.

    `sources` holds the text of every file that it reads, by the name that the spec uses for it; `spec` is the name of
    the spec itself. `options` and `versions` are kept for the reports.
    """

    name: str
    spec: str
    sources: Mapping[str, str]
    digests: Digests
    seed: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.spec not in self.sources:
            raise ValueError(f"the text of the spec `{self.spec}` is not among the sources")


@dataclass(frozen=True, slots=True)
class Run:
    """A stored run, without its sources, which are read separately.

    `status` is the current one: a run that is stored as running, but whose process is gone, is interrupted. `seen` is
    the time at which it last wrote something; `result` is its summary.
    """

    id: str
    name: str
    spec: str
    digests: Digests
    seed: int
    versions: Mapping[str, str]
    options: Mapping[str, Any]
    status: Status
    started: datetime
    ended: datetime | None
    seen: datetime
    process: Process
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a run, with figures about it.

    An event of the strategy has a `position`, counted from 0, and happens again when the run is replayed. An event of
    the run itself (it was resumed, its time was up) has none.
    """

    kind: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    position: int | None = None
    #: Filled in by the store.
    at: datetime | None = None


# --- The process of a run. --------------------------------------------------------------------------------------------


_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Process:
    """`born` distinguishes a process from a later one with the same id; it is empty if it is unknown."""

    host: str
    pid: int
    born: str = ""


def this_process() -> Process:
    pid = os.getpid()
    return Process(socket.gethostname(), pid, _born(pid) or "")


def is_alive(process: Process) -> bool | None:
    """Whether a process runs; None if that is unknown, on another machine or on some systems."""
    if process.host != socket.gethostname():
        return None
    if process.pid == os.getpid():
        return process.born in ("", _born(process.pid))
    if process.born:
        return _born(process.pid) == process.born
    return _exists(process.pid)


def _born(pid: int) -> str | None:
    """The boot and the tick at which a process started; None for one that has ended, zombies included."""
    try:
        # The name of the command, in brackets, may contain anything; the fields after the last bracket are fixed.
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
        return None  # on Windows, signal 0 is Ctrl-C
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


# --- Ids of runs: they sort by time, can be pronounced, and can be abbreviated. ---------------------------------------


_CONSONANTS, _VOWELS = "bdfghjklmnprstvz", "aiou"
_RECENT = re.compile(r"@(\d*)")
_ID = re.compile(rf"[0-9]{{8}}-[0-9]{{6}}-(?:[{_CONSONANTS}][{_VOWELS}]){{2}}[{_CONSONANTS}]")


def make_run_id(digest: str, started: datetime, attempt: int = 0) -> str:
    """An id such as `20251116-025301-lusab`: the start of the run in UTC, and a word made from its digest.

    Another `attempt` gives another word, for runs of the same digest in the same second.
    """
    bits = int(content_hash(("msl run id", digest, started.isoformat(), attempt))[:4], 16)
    return f"{started.astimezone(UTC):%Y%m%d-%H%M%S}-{_word(bits)}"


def is_run_id(text: object) -> bool:
    """Whether a text has the form of an id. Ids become names of files and parts of code, so no other form is safe."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def _word(bits: int) -> str:
    """Sixteen bits as a word that can be pronounced: consonant, vowel, consonant, vowel, consonant."""
    letters = []
    for place, kind in enumerate((_CONSONANTS, _VOWELS, _CONSONANTS, _VOWELS, _CONSONANTS)):
        shift = (0, 4, 6, 10, 12)[place]
        letters.append(kind[bits >> shift & len(kind) - 1])
    return "".join(letters)


def find_run_id(name: str, ids: Sequence[str]) -> str:
    """The id that a name stands for, among ids from the latest to the oldest.

    A name is a full id, `@` for the latest, `@1` for the one before, or the beginning of an id or of its word.
    """
    if not ids:
        raise StoreError("MSL506", f"there is no run `{name}`: the store has no runs yet", "start one with `msl run`")
    if name in ids:
        return name
    if recent := _RECENT.fullmatch(name):
        return _recent(name, int(recent[1] or 0), ids)
    fitting = [each for each in ids if name and (each.startswith(name) or _word_of(each).startswith(name))]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise StoreError("MSL507", f"`{name}` fits {len(fitting)} runs", f"write more of it: {_listed(fitting)}")
    words = {_word_of(each): each for each in reversed(ids)}
    close = difflib.get_close_matches(name, [*ids, *words], n=1)
    help = f"did you mean `{words.get(close[0], close[0])}`?" if close else f"the latest runs are {_listed(ids)}"
    raise StoreError("MSL506", f"there is no run `{name}`", help)


def _recent(name: str, back: int, ids: Sequence[str]) -> str:
    if back < len(ids):
        return ids[back]
    runs = "is 1 run" if len(ids) == 1 else f"are {len(ids)} runs"
    oldest = f"@{len(ids) - 1}" if len(ids) > 1 else "@"
    raise StoreError("MSL506", f"there is no run `{name}`: there {runs}", f"`{oldest}` is the oldest, {ids[-1]}")


def _word_of(run: str) -> str:
    return run.rpartition("-")[2]


def _listed(ids: Sequence[str], most: int = 5) -> str:
    more = f" and {len(ids) - most} more" if len(ids) > most else ""
    return ", ".join(f"`{each}`" for each in ids[:most]) + more
