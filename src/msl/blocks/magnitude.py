"""The magnitude of numbers: powers of two that bring it near one, where squares neither overflow nor vanish."""

from __future__ import annotations

import numpy as np

from msl.blocks.base import Floats

#: Beyond this, sums of products of features leave the range of floating point.
LARGEST_FEATURE = 1e100
#: Powers of two whose inverse is a normal number too.
LARGEST_EXPONENT = 1022


def unit_scale(X: Floats, axis: int | None = None) -> Floats:
    """The power of two that brings the largest magnitude, of all or of each column (`axis=0`), into [1/2, 1).

    Multiplying by a power of two is exact, so nothing is lost by it. Zeros keep their scale, and the very ends of the
    floating-point range come as near as a power of two with a finite inverse brings them.
    """
    _, exponent = np.frexp(np.abs(X).max(axis=axis))
    scale: Floats = np.ldexp(1.0, np.clip(-exponent, -LARGEST_EXPONENT, LARGEST_EXPONENT))
    return scale


def reject_huge(X: Floats, name: str) -> None:
    """Refuses features with which the sums inside a learner would overflow."""
    largest = np.abs(X).max()
    if largest > LARGEST_FEATURE:
        raise ValueError(
            f"{name} cannot work with features as large as {largest:.0e}: their sums overflow; standardize them first"
        )
