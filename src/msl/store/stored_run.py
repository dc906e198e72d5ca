"""Run: one search from beginning to end — what was asked for, who works on it, how it stands."""

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
    """Which space, which table, how models are judged and searched; `run` is of all of it together, seed included."""

    space: str
    run: str
    data: str
    evaluation: str
    search: str


@dataclass(frozen=True, slots=True)
class NewRun:
    """What a run is to do.

    `sources` holds the text of every file it reads under the name the spec uses for it; `spec` is the main one's.
    `options` and `versions` are kept for the reports.
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
    """A run as the store knows it; `sources` are read apart.

    `status` is what it is now: a run that says it is going on, but whose process is gone, is interrupted. `seen` is
    when it last wrote something; `result` is whatever it was finished with.
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
    """Something that happened in a run, and its figures.

    What the strategy tells has a `position`, counted from 0, and happens again in a replay. What befell the run itself
    (it was resumed, its time was up) has none.
    """

    kind: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    position: int | None = None
    #: The store's: it fills it in.
    at: datetime | None = None


# --- Process: who works on a run, and whether it still does. ----------------------------------------------------------


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


# --- Run name: the names of runs — made so that they sort by time and can be said aloud, and found again from a part.


_CONSONANTS, _VOWELS = "bdfghjklmnprstvz", "aiou"
_RECENT = re.compile(r"@(\d*)")
_ID = re.compile(rf"[0-9]{{8}}-[0-9]{{6}}-(?:[{_CONSONANTS}][{_VOWELS}]){{2}}[{_CONSONANTS}]")


def make_run_id(digest: str, started: datetime, attempt: int = 0) -> str:
    """Such as `20251116-025301-lusab`: when it started in UTC, and a word for what it is.

    Another `attempt` gives another word, for a run of the same thing in the same second.
    """
    bits = int(content_hash(("msl run id", digest, started.isoformat(), attempt))[:4], 16)
    return f"{started.astimezone(UTC):%Y%m%d-%H%M%S}-{_word(bits)}"


def is_run_id(text: object) -> bool:
    """Whether a name is one that `make_run_id` makes. Ids become names of files and words of code: no other is used."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def _word(bits: int) -> str:
    """Sixteen bits as a word that people can say: consonant, vowel, consonant, vowel, consonant."""
    letters = []
    for place, kind in enumerate((_CONSONANTS, _VOWELS, _CONSONANTS, _VOWELS, _CONSONANTS)):
        shift = (0, 4, 6, 10, 12)[place]
        letters.append(kind[bits >> shift & len(kind) - 1])
    return "".join(letters)


def find_run_id(name: str, ids: Sequence[str]) -> str:
    """The run that a name means, among those given from the latest to the oldest.

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
