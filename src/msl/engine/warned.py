"""Warned: the kinds of warnings that a run met, in its evaluations and in what it fitted at its end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from msl.engine.loop import Search

#: Kinds that are kept; of more than these nobody reads.
_MOST = 20
#: What differs between warnings of one kind: the numbers in them.
_NUMBER = re.compile(r"[-+]?\d[\d_,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")


def kinds_of_warnings(found: Search, at_end: Iterable[str]) -> list[dict[str, Any]]:
    """The kinds, the most frequent first: the first of each, and how many models came with one. What was raised when
    the winner was fitted on every row counts as one more."""
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    told = [dict.fromkeys(one.warnings) for _, one in found.answers.met.values()]
    for warnings in (*told, dict.fromkeys(at_end)):
        kinds = {_NUMBER.sub("#", words): words for words in reversed(list(warnings))}
        counts.update(kinds.keys())
        for kind, words in kinds.items():
            first.setdefault(kind, words)
    return [{"warning": first[kind], "models": count} for kind, count in counts.most_common(_MOST)]
