"""Run name: the names of runs — made so that they sort by time and can be said aloud, and found again from a part."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from datetime import UTC, datetime

from msl.runs.problem import StoreProblem
from msl.space.entries import content_hash

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
        raise StoreProblem("MSL506", f"there is no run `{name}`: the store has no runs yet", "start one with `msl run`")
    if name in ids:
        return name
    if recent := _RECENT.fullmatch(name):
        return _recent(name, int(recent[1] or 0), ids)
    fitting = [each for each in ids if name and (each.startswith(name) or _word_of(each).startswith(name))]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise StoreProblem("MSL507", f"`{name}` fits {len(fitting)} runs", f"write more of it: {_listed(fitting)}")
    words = {_word_of(each): each for each in reversed(ids)}
    close = difflib.get_close_matches(name, [*ids, *words], n=1)
    help = f"did you mean `{words.get(close[0], close[0])}`?" if close else f"the latest runs are {_listed(ids)}"
    raise StoreProblem("MSL506", f"there is no run `{name}`", help)


def _recent(name: str, back: int, ids: Sequence[str]) -> str:
    if back < len(ids):
        return ids[back]
    runs = "is 1 run" if len(ids) == 1 else f"are {len(ids)} runs"
    oldest = f"@{len(ids) - 1}" if len(ids) > 1 else "@"
    raise StoreProblem("MSL506", f"there is no run `{name}`: there {runs}", f"`{oldest}` is the oldest, {ids[-1]}")


def _word_of(run: str) -> str:
    return run.rpartition("-")[2]


def _listed(ids: Sequence[str], most: int = 5) -> str:
    more = f" and {len(ids) - most} more" if len(ids) > most else ""
    return ", ".join(f"`{each}`" for each in ids[:most]) + more
