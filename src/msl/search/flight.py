"""Flight: how particles move — the rule of their velocity, and the ways in which a velocity moves a gene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from msl.search.ask import Told, Vectors
from msl.search.terrain import Flags, Terrain

#: With an inertia above 1 a velocity can grow without end; this keeps it a number, and is far above any that matters.
_FASTEST = 1e9


@dataclass(frozen=True, slots=True)
class Flight:
    """v ← w·v + c1·r1·(own best − x) + c2·r2·(leader − x), with r1 and r2 uniform in [0, 1] for each gene."""

    c1: float
    c2: float
    vmax: float | None
    rng: np.random.Generator
    wall: str = "clip"

    def velocity(self, inertia: float, v: Vectors, x: Vectors, own: Vectors, leaders: Vectors) -> Vectors:
        v = inertia * v
        for pull, towards in ((self.c1, own), (self.c2, leaders)):
            step = self.rng.random(x.shape)  # in place: arrays of a large swarm cost more to make than to fill
            step *= pull
            step *= towards - x
            v += step
        fastest = _FASTEST if self.vmax is None else self.vmax
        return np.clip(v, -fastest, fastest, out=v)

    def moved(self, x: Vectors, v: Vectors) -> tuple[Vectors, Vectors]:
        """x ← x + v, and the velocity after it: a wall of the cube stops a particle, or throws it back."""
        beyond = x + v
        inside = np.clip(beyond, 0.0, 1.0)
        if self.wall == "clip":
            return inside, v
        return 1.0 - np.abs(beyond % 2.0 - 1.0), np.where(beyond == inside, v, -v)

    def tossed(self, x: Vectors, v: Vectors, bits: Flags) -> tuple[Vectors, Vectors]:
        """A bit is on with probability 1 / (1 + e^−v); genes with other values move as always."""
        chance = np.exp(-v)
        chance += 1.0
        np.reciprocal(chance, out=chance)
        drawn = self.rng.random(x.shape) < chance
        if bits.all():
            return drawn.astype(np.float64), v
        moved, after = self.moved(x, v)
        return np.where(bits, drawn, moved), np.where(bits, v, after)


def as_bits(x: Vectors, bits: Flags) -> Vectors:
    """Genes with two values as 0 and 1, the others as they are."""
    return np.where(bits, x >= 0.5, x) if bits.any() else x


def written_back(told: Sequence[Told]) -> Vectors:
    """The positions as the decoder clipped and rounded them, from which the next step is taken."""
    return np.array([one.vector for one in told])


def scattered(
    terrain: Terrain, before: Vectors, x: Vectors, v: Vectors, rng: np.random.Generator
) -> tuple[Vectors, Vectors]:
    """Particles that would not leave their model start again, at rest and anywhere."""
    is_idle = np.array([terrain.decode(old) == terrain.decode(new) for old, new in zip(before, x, strict=True)])
    return np.where(is_idle[:, None], rng.random(x.shape), x), np.where(is_idle[:, None], 0.0, v)
