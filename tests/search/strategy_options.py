"""The options of strategies as a spec gives them, and fixed random numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from msl.testing.conformance import options_of as options

__all__ = ["FixedNumbers", "options"]


class FixedNumbers:
    """Stands in for a generator: gives the listed numbers, one after the other, in any shape."""

    def __init__(self, *numbers: float) -> None:
        self._numbers: Iterator[float] = iter(numbers)

    def random(self, shape: int | tuple[int, ...]) -> NDArray[np.float64]:
        return np.array([next(self._numbers) for _ in range(int(np.prod(shape)))]).reshape(shape)

    @property
    def left(self) -> int:
        return len(list(self._numbers))
