"""The Hermite function, the benchmark of the papers on radial basis function networks, with noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
