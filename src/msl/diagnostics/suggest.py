"""Suggest the known names that a misspelt name was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_SHORTEST_BEGINNING = 4  # letters of a name that was cut short
_LONGEST = 60  # longer "names" are not typos, and the distance is quadratic


def closest(name: str, candidates: Iterable[str], most: int = 3) -> list[str]:
    """Up to `most` candidates that `name` may be a misspelling of, the most likely first."""
    if len(name) > _LONGEST:
        return []
    allowed = max(1, len(name) // 3) if len(name) > 1 else 0  # any two letters are one edit apart
    wanted = name.casefold()
    letters = set(wanted)
    scored = []
    candidates = set(candidates)
    for candidate in candidates:
        folded = candidate.casefold()
        same = _same_words(wanted, folded)
        if not same and (abs(len(folded) - len(wanted)) > allowed or len(letters ^ set(folded)) > 2 * allowed):
            continue  # each edit changes at most two letters' presence
        distance = 0 if same else _edits(wanted, folded, allowed)
        if distance <= allowed:
            scored.append((distance, candidate[:1].casefold() != wanted[:1], candidate))
    if not scored and len(wanted) >= _SHORTEST_BEGINNING:
        begun = sorted((len(each), each) for each in candidates if each.casefold().startswith(wanted))
        return [each for _, each in begun[:most]]
    scored.sort()
    best = scored[0][0] if scored else 0
    return [candidate for distance, _, candidate in scored if distance <= best + 1][:most]


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """The sentence for a `help:` line, or None if no candidate is similar."""
    names = closest(name, candidates)
    if not names:
        return None
    return f"did you mean {alternatives(names)}?"


def alternatives(names: Sequence[str]) -> str:
    """Names to choose from: `a`, `b` or `c`."""
    *most, last = [f"`{name}`" for name in names]
    return f"{', '.join(most)} or {last}" if most else last


def listing(names: Iterable[str], most: int = 12) -> str:
    """Names for the end of a sentence: `a`, `b`, `c` and 4 more."""
    ordered = sorted(names)
    shown = ", ".join(f"`{name}`" for name in ordered[:most])
    return shown if len(ordered) <= most else f"{shown} and {len(ordered) - most} more"


def _same_words(one: str, other: str) -> bool:
    return one.replace("_", "").replace("-", "") == other.replace("_", "").replace("-", "")


def _edits(one: str, other: str, limit: int) -> int:
    """Damerau-Levenshtein distance (neighbouring letters swapped count once); it stops once it exceeds `limit`."""
    before: list[int] = []
    previous = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        current = [i]
        for j, b in enumerate(other, 1):
            cost = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            current.append(cost)
        if min(current) > limit:
            return limit + 1
        before, previous = previous, current
    return previous[-1]
