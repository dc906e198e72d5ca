"""Late rows: rows that are not made before they are needed, and views instead of copies where rows lie side by side.

Of a large table, what a fold is judged on need not be in memory while models are fitted on the rest of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base import Floats
from msl.evaluate.population import Rows


class LateRows:
    """Rows that are made when they are first asked for; what they are made of is let go then."""

    __slots__ = ("_made", "_make")

    #: What is still to be made has no size, so that no cache may keep it.
    nbytes: ClassVar[int] = sys.maxsize

    def __init__(self, make: Callable[[], Floats]) -> None:
        self._make: Callable[[], Floats] | None = make
        self._made: Floats | None = None

    def rows(self) -> Floats:
        if self._made is None:
            assert self._make is not None
            self._made = self._make()
            self._make = None
        return self._made


def at_hand(rows: Floats | LateRows) -> Floats:
    """The rows, made now if they are not there."""
    return rows.rows() if isinstance(rows, LateRows) else rows


def taken(values: NDArray[Any], rows: Rows) -> NDArray[Any]:
    """These rows, read-only: a view of rows that follow each other, such as all of them, else a copy."""
    if len(rows) and rows[-1] - rows[0] == len(rows) - 1 and (np.diff(rows) == 1).all():
        return read_only(values[rows[0] : rows[-1] + 1])
    return read_only(values[rows])


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The array, guarded: what models share must not be changed by one of them."""
    array.flags.writeable = False
    return array
