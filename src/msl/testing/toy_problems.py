"""Small functions on the unit cube with known optima, to test strategies; and the Hermite function, for regression."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from msl.search.base import SearchSpace, Vector

Losses = tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A function of decoded points.

    `good` is the loss at which the problem counts as solved; with several objectives, the volume below `reference`.
    """

    name: str
    search_space: SearchSpace
    losses: Callable[[Vector], Losses]
    good: float
    complexity: Callable[[Vector], float] = lambda point: 0.0
    reference: Losses | None = None

    @property
    def objectives(self) -> int:
        return 1 if self.reference is None else len(self.reference)

    def written_back(self, vector: Vector) -> Vector:
        """The decoded point: clipped to the cube, values with levels in the middle of their bins."""
        return self.search_space.centres(self.search_space.cells(np.clip(vector, 0.0, 1.0)))


def sphere(n_dimensions: int = 2, good: float = 0.01) -> Problem:
    """A bowl with its lowest point off the centre and off every grid."""
    centre = 0.3 + 0.37 * np.arange(1, n_dimensions + 1) / n_dimensions

    def losses(point: Vector) -> Losses:
        return (float(np.sum((point - centre) ** 2)),)

    return Problem("sphere", SearchSpace.continuous(n_dimensions), losses, good)


def rosenbrock(n_dimensions: int = 2, good: float = 0.5) -> Problem:
    """A bent valley, on [-2, 2]."""

    def losses(point: Vector) -> Losses:
        x = 4.0 * point - 2.0
        return (float(np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)),)

    return Problem("rosenbrock", SearchSpace.continuous(n_dimensions), losses, good)


def rastrigin(n_dimensions: int = 2, good: float = 2.0) -> Problem:
    """Many valleys, on [-5.12, 5.12], the deepest off the centre."""
    centre = 0.17 * np.arange(1, n_dimensions + 1)

    def losses(point: Vector) -> Losses:
        x = 10.24 * point - 5.12 - centre
        return (float(10 * n_dimensions + np.sum(x**2 - 10 * np.cos(2 * np.pi * x))),)

    return Problem("rastrigin", SearchSpace.continuous(n_dimensions), losses, good)


def mixed() -> Problem:
    """A choice, a whole number, a bit and a real that has to fit the choice."""
    search_space = SearchSpace.of(
        [4, 7, 2, 0], ordered=[False, True, False, True], labels=("kind", "count", "flag", "rate")
    )
    offset = np.array([0.3, 0.0, 0.2, 0.5])
    best_rate = np.array([0.2, 0.7, 0.4, 0.9])

    def losses(point: Vector) -> Losses:
        kind, count, flag, rate = search_space.cells(point)
        there = int(kind)
        return (float(offset[there] + 0.05 * abs(count - 4) + 0.1 * (1 - flag) + (rate - best_rate[there]) ** 2),)

    return Problem("mixed", search_space, losses, 0.06)


class ConditionalSpace(SearchSpace):
    """One method has a rate, the other a depth, in a dimension of their own; an unused dimension has no effect."""

    __slots__ = ()

    def decode(self, vector: Vector) -> Hashable | None:
        method, rate, depth, extra = self.cells(vector)
        return (0.0, rate, 0.0, extra) if method == 0 else (1.0, 0.0, depth, extra)

    def encode(self, model: Hashable) -> Vector | None:
        return self.centres(np.array(model)) if isinstance(model, tuple) else None


def conditional() -> Problem:
    """Two methods with their own parameters and an optional step; the method that looks better at first is not."""
    search_space = ConditionalSpace.of(
        [2, 0, 5, 3],
        ordered=[False, True, True, False],
        groups=[0, 0, 0, 1],
        heads=[0, 3],
        absent={3: 0},
        labels=("method", "rate", "depth", "extra"),
        channels={"method": (0,), "rate": (1,), "depth": (2,), "extra": (3,)},
    )

    def losses(point: Vector) -> Losses:
        method, rate, depth, extra = search_space.cells(point)
        of_method = 0.2 + 0.1 * abs(rate - 0.6) if method == 0 else 0.1 + 0.1 * (depth - 3) ** 2
        return (float(of_method + (0.0, 0.05, -0.05)[int(extra)]),)

    def complexity(point: Vector) -> float:
        return 1.0 + float(search_space.cells(point)[3] > 0)

    return Problem("conditional", search_space, losses, 0.0501, complexity)


def bits(size: int = 12) -> Problem:
    """Features of which some help and the others harm; at least one is selected."""
    helps = np.arange(size) % 3 == 0
    search_space = SearchSpace.of(
        np.full(size, 2),
        groups=np.arange(size),
        heads=np.arange(size),
        absent=dict.fromkeys(range(size), 0),
        families=dict.fromkeys(range(size), 0),
        channels={"features": tuple(range(size))},
        start=np.full(size, 0.75),
    )

    def losses(point: Vector) -> Losses:
        on = point >= 0.5
        return (float(np.mean(on != helps)),) if on.any() else (float("inf"),)

    return Problem("bits", search_space, losses, 1.5 / size, complexity=lambda point: float(np.sum(point >= 0.5)))


def two_bowls(n_dimensions: int = 3, good: float = 0.5) -> Problem:
    """The distances from two points; the front lies between them. Its whole volume is 0.67."""
    a, b = np.full(n_dimensions, 0.25), np.full(n_dimensions, 0.75)
    apart = n_dimensions * 0.25

    def losses(point: Vector) -> Losses:
        return float(np.sum((point - a) ** 2) / apart), float(np.sum((point - b) ** 2) / apart)

    return Problem("two bowls", SearchSpace.continuous(n_dimensions), losses, good, reference=(1.0, 1.0))


def features_against_error(size: int = 12, good: float = 0.5) -> Problem:
    """Few features against a low error: each useful feature halves what is left of the error."""
    single = bits(size)
    helps = np.arange(size) % 3 == 0

    def losses(point: Vector) -> Losses:
        on = point >= 0.5
        if not on.any():
            return float("inf"), float("inf")
        error = 0.5 ** float(np.sum(on & helps)) + 0.01 * float(np.sum(on & ~helps))
        return error, float(np.mean(on))

    return Problem("features", single.search_space, losses, good, single.complexity, reference=(1.0, 1.0))


# --- The Hermite function ---------------------------------------------------------------------------------------------


Floats = NDArray[np.float64]
_LOW, _HIGH = -4.0, 4.0


def hermite_curve(x: Floats, *, printed: bool = False) -> Floats:
    """1.1 (1 - x + 2x²) exp(-x²/2); as one paper prints it, with -2x² for +2x²."""
    square = -2.0 if printed else 2.0
    curve: Floats = 1.1 * (1.0 - x + square * x**2) * np.exp(-(x**2) / 2.0)
    return curve


def hermite_rows(
    rows: int, noise: float, seed: int, *, even: bool = False, printed: bool = False
) -> tuple[Floats, Floats]:
    """x uniform on [-4, 4] or evenly spaced, and the function plus Gaussian noise of this variance."""
    rng = np.random.default_rng(seed)
    x = np.linspace(_LOW, _HIGH, rows) if even else rng.uniform(_LOW, _HIGH, rows)
    return x, hermite_curve(x, printed=printed) + rng.normal(0.0, np.sqrt(noise), rows)
