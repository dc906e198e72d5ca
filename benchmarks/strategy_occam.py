"""Strategy occam: Occam elitism against plain elitism on the Hermite curve, at each level of noise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.benchmark import Workplace
from benchmarks.cell import Cell
from benchmarks.papers.hermite import NOISE, work
from benchmarks.significance import trimmed_mean

Figure = tuple[str, float, float | None, str]

METHODS = ("occam", "plain")


def occam_figures(budget: str, repeats: int) -> Iterator[Figure]:
    """Units and error on the curve itself, each as a share of what plain elitism ends with."""
    for noise in NOISE:
        found = {
            method: np.array([_network(noise, seed, method, budget) for seed in range(repeats)]) for method in METHODS
        }
        units, errors = ({m: trimmed_mean(found[m][:, column].tolist()) for m in METHODS} for column in (0, 1))
        where = f"{budget}, noise {noise}, {repeats} curves"
        seen = f"{units['occam']:.1f} against {units['plain']:.1f}"
        yield f"occam_ga, units, {where}: {seen}", units["occam"] / units["plain"], 1.0, "of plain elitism"
        seen = f"{errors['occam']:.3f} against {errors['plain']:.3f}"
        yield f"occam_ga, test error, {where}: {seen}", errors["occam"] / errors["plain"], 1.0, "of plain elitism"


def _network(noise: str, seed: int, method: str, budget: str) -> tuple[float, float]:
    with TemporaryDirectory() as folder:
        outcome = work(Cell(noise, seed, method, budget), Workplace(Path(folder), Path(folder)))
    return float(outcome["units"]), float(outcome["rmse"])
