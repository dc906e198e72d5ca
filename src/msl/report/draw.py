"""Draw: a space as a picture, an SVG that stands on its own, or as a tree of lines for the terminal."""

from __future__ import annotations

from msl.report.outline import space_to_outline
from msl.report.railway import outline_to_svg
from msl.report.tree import outline_to_tree
from msl.space.space import Space


def space_to_svg(space: Space, *, title: str = "model") -> str:
    """The space as a railway diagram: light or dark as the reader's system is, without scripts or outside files."""
    return outline_to_svg(space_to_outline(space), title)


def space_to_tree(space: Space, *, title: str = "model", width: int = 100, ascii_only: bool = False) -> str:
    """The space as a tree of lines; `ascii_only` for terminals that know nothing else."""
    return outline_to_tree(space_to_outline(space), title, width, ascii_only)
