"""The fingerprint of a table: a digest that names its content, not the file or the spelling it came in."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from msl.evaluate.table import Table

_ROWS_AT_ONCE = 4096


def fingerprint_table(table: Table) -> str:
    """SHA-256 of names, kinds, symbols, values, rows in their order, target, classes, groups and order.

    The format of the file, the order of its columns, its ignored columns and the spelling of its numbers leave it
    unchanged: features stand in the table in an order of their own, and numbers are digested by value.
    """
    schema = table.schema
    arrays = {"X": table.X, "y": table.y, "groups": table.groups, "order": table.order}
    outline = {
        "format": "msl table 1",
        "features": [[column.name, column.kind, column.categories] for column in schema.columns],
        "target": schema.target,
        "task": schema.task,
        "classes": schema.classes,
        "arrays": {name: array.shape for name, array in arrays.items() if array is not None},
    }
    digest = hashlib.sha256(json.dumps(outline, separators=(",", ":")).encode())
    for array in arrays.values():
        if array is not None:
            for start in range(0, len(array), _ROWS_AT_ONCE):
                digest.update(_canonical(array[start : start + _ROWS_AT_ONCE]))
    return digest.hexdigest()


def _canonical(values: NDArray[Any]) -> bytes:
    """The values as bytes that are the same on every machine: one zero, one NaN, little end first."""
    if values.dtype.kind != "f":
        return values.astype("<i8").tobytes()
    values = values + 0.0
    values[np.isnan(values)] = np.nan
    return values.astype("<f8", copy=False).tobytes()
