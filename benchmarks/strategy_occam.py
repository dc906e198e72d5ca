"""Strategy occam: Occam elitism against plain elitism on networks for the Hermite curve, at each level of noise.

The regions are laid out once, on all rows, as the paper has it, so that a chromosome means the same network wherever it
is judged: what is compared is the strategy, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.significance import trimmed_mean
from msl.blocks.numerics.kmeans import k_means
from msl.search.base import SearchSpace, Vector
from msl.search.stages import load_strategy
from msl.testing.conformance import options_of, play
from msl.testing.toy_problems import Problem, hermite_curve, hermite_rows

Figure = tuple[str, float, float | None, str]
Floats = NDArray[np.float64]

NOISE = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1)
ELITISMS = ("occam", "plain")
_ROWS, _REGIONS, _WIDTH = 40, 15, 5.0


def occam_figures(population: int, generations: int, repeats: int) -> Iterator[Figure]:
    """Units and error on the curve itself, each as a share of what plain elitism ends with."""
    size = f"{population} × {generations} generations"
    for noise in NOISE:
        ends = {
            elitism: np.array([_end(noise, seed, elitism, population, generations) for seed in range(repeats)])
            for elitism in ELITISMS
        }
        for column, what in enumerate(("units", "error on the curve")):
            occam, plain = (trimmed_mean(ends[elitism][:, column].tolist()) for elitism in ELITISMS)
            name = f"occam_ga {size}, {what}, noise {noise}, {repeats} curves: {occam:.3g}, plain {plain:.3g}"
            yield name, occam / plain, 1.0, "of plain elitism's"


def _end(noise: float, seed: int, elitism: str, population: int, generations: int) -> tuple[float, float]:
    """The units and the error of the network that the strategy answers with."""
    call = f"occam_ga(population = {population}, generations = {generations}, elitism = {elitism})"
    networks = Networks.of(noise, seed)
    problem = Problem("hermite", _terrain(), networks.holdout_error, 0.0, networks.units)
    played = play(load_strategy("occam_ga"), options_of(call), problem, seed, limit=10**9)
    answer = played.events[-1].chosen[0]
    return answer.complexity, networks.curve_error(answer.vector)


def _terrain() -> SearchSpace:
    """The overlap, then for each region whether its unit is on, and where in the region its centre is."""
    switches = range(1, 2 * _REGIONS + 1, 2)
    return SearchSpace.of(
        [0, *[2, 0] * _REGIONS],
        groups=[0, *np.repeat(np.arange(1, _REGIONS + 1), 2)],
        heads=list(switches),
        absent=dict.fromkeys(switches, 0),
        families=dict.fromkeys(switches, 0),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Networks:
    """Gaussian networks for some noisy rows of the curve, half of which are held out."""

    x: Floats
    y: Floats
    low: Floats
    high: Floats
    trained: NDArray[np.bool_]

    @classmethod
    def of(cls, noise: float, seed: int) -> Networks:
        x, y = hermite_rows(_ROWS, noise, seed)
        rng = np.random.default_rng(seed)
        clusters = k_means(x[:, None], _REGIONS, rng)
        members = [x[clusters.labels == label] for label in range(_REGIONS)]
        trained = np.isin(np.arange(_ROWS), rng.permutation(_ROWS)[: _ROWS // 2])
        return cls(x, y, np.array([m.min() for m in members]), np.array([m.max() for m in members]), trained)

    def units(self, point: Vector) -> float:
        return float((point[1::2] >= 0.5).sum())

    def holdout_error(self, point: Vector) -> tuple[float, ...]:
        if not self.units(point):
            return (float("inf"),)
        outputs = self._outputs(point, self.trained, self.x[~self.trained])
        return (float(np.mean((outputs - self.y[~self.trained]) ** 2)),)

    def curve_error(self, point: Vector) -> float:
        """Of the network fitted on all rows."""
        places = np.linspace(-4.0, 4.0, 200)
        outputs = self._outputs(point, np.ones(_ROWS, dtype=np.bool_), places)
        return float(np.sqrt(np.mean((outputs - hermite_curve(places)) ** 2)))

    def _outputs(self, point: Vector, rows: NDArray[np.bool_], places: Floats) -> Floats:
        on = np.flatnonzero(point[1::2] >= 0.5)
        centres = self.low[on] + point[2::2][on] * (self.high[on] - self.low[on])
        apart = np.abs(centres[:, None] - centres) + np.diag(np.full(len(on), 8.0))
        widths = _WIDTH * point[0] * apart.min(axis=1) + 1e-3
        weights, *_ = np.linalg.lstsq(self._design(self.x[rows], centres, widths), self.y[rows], rcond=None)
        return np.asarray(self._design(places, centres, widths) @ weights)

    def _design(self, places: Floats, centres: Floats, widths: Floats) -> Floats:
        units = np.exp(-(((places[:, None] - centres) / widths) ** 2))
        return np.column_stack([np.ones(len(places)), units])
