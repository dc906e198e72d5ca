"""Moments of rows that are used up: of many rows, the deviations that variances are made of would be one more copy."""

from __future__ import annotations

from typing import Any

from msl.blocks.base import Floats


def spent_moments(rows: Floats, axis: int | None = 0) -> tuple[Any, Any]:
    """Mean and variance of the columns, or of all numbers (`axis=None`), just as NumPy has them; the rows are lost."""
    mean = rows.mean(axis=axis)
    rows -= mean
    rows *= rows
    return mean, rows.mean(axis=axis)


def scaled_moments(rows: Floats, scale: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of the columns times a scale; the rows are lost."""
    rows *= scale
    return spent_moments(rows)
