"""The options of strategies as a spec gives them, with the defaults of the catalogue, and fixed random numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.check.spec import check_source
from msl.text.source import Source


@cache
def options(call: str) -> Mapping[str, Any]:
    """The options of a call such as `pso(swarm = 3)`."""
    text = f"msl 1\nuse sbm\nchain model = knn\nsearch {call}\n"
    if call.startswith(("nspso", "cmdpso")):
        text += "minimize error by cv(folds = 2), features\n"
    checked = check_source(Source("spec.msl", text, "spec.msl"))
    assert checked.spec is not None, [diagnostic.message for diagnostic in checked.diagnostics]
    return dict(checked.spec.search[0].call.options)


class FixedNumbers:
    """Stands in for a generator: gives the listed numbers, one after the other, in any shape."""

    def __init__(self, *numbers: float) -> None:
        self._numbers: Iterator[float] = iter(numbers)

    def random(self, shape: int | tuple[int, ...]) -> NDArray[np.float64]:
        return np.array([next(self._numbers) for _ in range(int(np.prod(shape)))]).reshape(shape)

    @property
    def left(self) -> int:
        return len(list(self._numbers))
