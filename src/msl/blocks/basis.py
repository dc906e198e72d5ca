"""Radial basis functions, as small parameter objects."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.special import xlogy

from msl.blocks.base import Floats
from msl.blocks.slot import Filling


class Basis(Filling):
    """The response of a unit by the distance v to its centre and its width σ."""

    def values(self, squares: Floats, widths: Floats) -> Floats:
        """`squares` are v², `widths` are σ, one a column."""
        raise NotImplementedError


class Gaussian(Basis):
    """exp(-v² / σ²)."""

    def values(self, squares: Floats, widths: Floats) -> Floats:
        # Beyond this the response is nothing beside any other, and numbers near underflow are slow to compute with.
        exponents = squares / -np.square(widths)
        np.maximum(exponents, -300.0, out=exponents)
        return np.exp(exponents, out=exponents)


class ThinPlate(Basis):
    """v² log v, which has no width."""

    def values(self, squares: Floats, widths: Floats) -> Floats:
        return np.asarray(0.5 * xlogy(squares, squares))


class Multiquadric(Basis):
    """(v² + σ²)^½."""

    def values(self, squares: Floats, widths: Floats) -> Floats:
        return np.sqrt(squares + np.square(widths))


class InverseMultiquadric(Basis):
    """(v² + σ²)^-½."""

    def values(self, squares: Floats, widths: Floats) -> Floats:
        return np.asarray(1.0 / np.sqrt(squares + np.square(widths)))


BASES: Mapping[str, type[Basis]] = {
    "gaussian": Gaussian,
    "thin_plate": ThinPlate,
    "multiquadric": Multiquadric,
    "inverse_multiquadric": InverseMultiquadric,
}
