"""Radial basis functions, as small parameter objects."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.special import xlogy

from msl.blocks.base import Floats
from msl.blocks.public import public
from msl.blocks.slot import Filling


class Basis(Filling):
    """The response of a unit by the distance v to its centre and its width σ."""

    def values(self, squares: Floats, widths: Floats) -> Floats:
        """`squares` are v², `widths` are σ, one a column."""
        raise NotImplementedError


@public
class GaussianBasis(Basis):
    """exp(-v² / σ²)."""

    def values(self, squares: Floats, widths: Floats) -> Floats:
        # Beyond this the response is nothing beside any other, and numbers near underflow are slow to compute with.
        exponents = squares / -np.square(widths)
        np.maximum(exponents, -300.0, out=exponents)
        return np.exp(exponents, out=exponents)


@public
class ThinPlateBasis(Basis):
    """v² log v, which has no width."""

    def values(self, squares: Floats, widths: Floats) -> Floats:
        return np.asarray(0.5 * xlogy(squares, squares))


@public
class MultiquadricBasis(Basis):
    """(v² + σ²)^½."""

    def values(self, squares: Floats, widths: Floats) -> Floats:
        return np.sqrt(squares + np.square(widths))


@public
class InverseMultiquadricBasis(Basis):
    """(v² + σ²)^-½."""

    def values(self, squares: Floats, widths: Floats) -> Floats:
        return np.asarray(1.0 / np.sqrt(squares + np.square(widths)))


BASES: Mapping[str, type[Basis]] = {
    "gaussian": GaussianBasis,
    "thin_plate": ThinPlateBasis,
    "multiquadric": MultiquadricBasis,
    "inverse_multiquadric": InverseMultiquadricBasis,
}
