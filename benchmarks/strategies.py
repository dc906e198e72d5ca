"""Strategies against their peers, each figure with its target: what the search promises, measured.

    python -m benchmarks.strategies [swarms|fronts|adaptive|occam|cost] [--quick] [--data DIR]

Needs pyswarms and pymoo, which are no dependencies of the project. With a folder of data, `adaptive` searches more
tables than those that scikit-learn has.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks.strategy_adaptive import adaptive_figures
from benchmarks.strategy_cost import cost_figures
from benchmarks.strategy_fronts import front_figures
from benchmarks.strategy_occam import occam_figures
from benchmarks.strategy_swarms import swarm_figures

#: What was measured, the figure, its target, and its unit, which says whether more is better (`at least`, `times as`).
Figure = tuple[str, float, float | None, str]

PARTS: dict[str, Callable[[bool, Path | None], Iterable[Figure]]] = {
    "swarms": lambda quick, data: swarm_figures(8 if quick else 30),
    "fronts": lambda quick, data: front_figures(3, ((30, 100),)) if quick else front_figures(15),
    "adaptive": lambda quick, data: adaptive_figures(2 if quick else 10, data),
    "occam": lambda quick, data: occam_figures(100, 30, 3) if quick else occam_figures(500, 100, 20),
    "cost": lambda quick, data: cost_figures(30 if quick else 100),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=PARTS, help="all of them, if it is left out")
    parser.add_argument("--quick", action="store_true", help="few seeds and small sizes")
    parser.add_argument("--data", type=Path, help="a folder of tables")
    options = parser.parse_args()
    for part in PARTS if options.part is None else (options.part,):
        for what, figure, target, unit in PARTS[part](options.quick, options.data):
            goal = "" if target is None else f"  target {target:.4g}"
            print(f"{figure:8.4g} {unit:34}{goal:16}  {what}", flush=True)


if __name__ == "__main__":
    main()
