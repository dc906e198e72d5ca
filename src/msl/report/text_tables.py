"""Format figures and align tables as plain text, and make figures fit for JSON."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any


def aligned(rows: Sequence[Sequence[str]], right: Collection[int] = (), indent: str = "") -> str:
    """One line a row; columns in `right` stand at their right edge. Rows are equally long."""
    if not rows:
        return ""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(f"{indent}{'  '.join(cells)}".rstrip() + "\n")
    return "".join(lines)


def shown(figure: Any) -> str:
    """A figure in a few characters: numbers with four digits, a missing one as `-`."""
    match figure:
        case None:
            return "-"
        case bool():
            return "yes" if figure else "no"
        case int():
            return f"{figure:,}"
        case float():
            return "-" if math.isnan(figure) else f"{figure:.4g}"
        case Mapping():
            return ", ".join(f"{name} {shown(value)}" for name, value in figure.items())
        case str():
            return figure
        case Sequence():
            return ", ".join(map(shown, figure))
    return str(figure)


def named_figures(figures: Mapping[str, Any]) -> str:
    """Such as `ber = 0.03546, features = 3`."""
    return ", ".join(f"{name} = {shown(value)}" for name, value in figures.items())


def estimate_words(values: Mapping[str, Any], intervals: Any) -> str:
    """Such as `ber = 0.04338 (95 % interval 0.02132 … 0.07859)`, of those that are known."""
    words = []
    for name, value in values.items():
        ends = intervals.get(name) if isinstance(intervals, Mapping) else None
        between = f" (95 % interval {shown(ends[0])} … {shown(ends[1])})" if ends else ""
        words += [f"{name} = {shown(value)}{between}"] if value is not None else []
    return ", ".join(words)


# --- JSON: it has neither infinity nor NaN, which become null ---------------------------------------------------------


def finite(value: Any) -> Any:
    """The same figures with None for infinite numbers and NaN."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    return value
