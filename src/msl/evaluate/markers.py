"""Markers of missing values: those that every column of numbers knows, and those that the user gives."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from msl.evaluate.options import Label

#: Taken as missing where a column otherwise holds numbers or truth values, in any mixture of capitals.
_USUAL = frozenset({"na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none", "?", "-", "."})
#: Those that are hardly ever meant as a symbol; `none` or `-` often are.
_SUSPICIOUS = frozenset({"na", "n/a", "#n/a", "<na>", "nan", "null", "?"})


def is_usual(text: str) -> bool:
    return text.strip().lower() in _USUAL


def is_suspicious(symbol: str) -> bool:
    return symbol.lower() in _SUSPICIOUS


@dataclass(frozen=True, slots=True)
class Markers:
    """The markers that the user gives: compared as text in text, and by value among numbers."""

    texts: frozenset[str]
    numbers: tuple[float, ...]

    @classmethod
    def given(cls, labels: Iterable[Label]) -> Markers:
        texts = frozenset(str(label).strip() for label in labels)
        return cls(texts, tuple(sorted(number for text in texts if (number := _number(text)) is not None)))


#: What is compared where the user gives no markers.
NONE = Markers(frozenset(), ())


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else number
