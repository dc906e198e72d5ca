"""A real installed package that offers strategies: modules, a declaration and a .dist-info folder with entry points."""

from __future__ import annotations

from pathlib import Path

MODULE = '''
from msl.search.base import Query as Ask, Event

def anneal(setting):
    """Steps around the best point so far, by ever less."""
    here, size = setting.first_point(), 0.5
    (best,) = yield [Ask(here)]
    for _ in range(int(setting.options["evaluations"]) - 1):
        step = size * (2 * setting.rng.random(len(here)) - 1)
        (new,) = yield [Ask((best.vector + step).clip(0, 1))]
        best = new if new.loss < best.loss else best
        size *= float(setting.options["cooling"])
        setting.note(Event("step", {"size": size, "best": best.loss}, (best,)))

NUMBER = 7
'''
DECLARATION = """
# Simulated annealing, all but the heat.
block anneal: strategy "annealing.search.steps:anneal" {
  evaluations: int 1..1_000_000 default 20,
  cooling: real 0.1..1 default 0.9,
}
"""
ENTRY_POINTS = """
[msl.strategies]
anneal = annealing.search.steps:anneal
bare = bare:search
broken = annealing.search.missing:anneal
number = annealing.search.steps:NUMBER
pso = annealing.search.steps:anneal
"""


def install(folder: Path, declaration: str | None = DECLARATION, entry_points: str = ENTRY_POINTS) -> None:
    """As pip would leave it. Importing the package writes a file, so that a test can see that nobody did."""
    package = folder / "annealing" / "search"
    package.mkdir(parents=True)
    (folder / "annealing" / "__init__.py").write_text(f"open({str(folder / 'imported')!r}, 'w').close()\n")
    (package / "__init__.py").write_text("")
    (package / "steps.py").write_text(MODULE)
    if declaration is not None:
        (folder / "annealing" / "strategies.msl").write_text(f"msl 1\n{declaration}")
    (folder / "bare.py").write_text("from annealing.search.steps import anneal as search\n")
    info = folder / "annealing-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: annealing\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)


def was_imported(folder: Path) -> bool:
    return (folder / "imported").exists()
