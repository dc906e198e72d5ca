"""Description: everything there is to say of a table before anything is learnt from it, as JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from msl.evaluate.assemble import build_table
from msl.evaluate.first_options import FirstOptions, first_options
from msl.evaluate.options import DataOptions
from msl.evaluate.problem import DataError, DataProblem
from msl.evaluate.profile import ColumnProfile, duplicate_rows, leaking_columns, profile_columns
from msl.evaluate.read import read_source
from msl.evaluate.reading import Reading
from msl.evaluate.table import Table
from msl.evaluate.target import NAMED, spell_label


def describe_source(source: Any, given: DataOptions, most_columns: int | None = None) -> dict[str, Any]:
    """The columns of a file or a frame, the target with its balance, and what is odd; of very many columns the first.

    Raises DataError where the source cannot be read at all. A table that nothing can be learnt from is described too.
    """
    reading = read_source(source, options=given)
    profiles = profile_columns(reading)
    problems: list[DataProblem] = list(reading.warnings)
    first: FirstOptions | None = None
    table: Table | None = None
    try:
        first = first_options(reading, profiles, given)
        table = build_table(reading, first.options)
        problems = [each for each in table.warnings if each.column is None or first.uses.get(each.column) != "ignore"]
    except DataError as wrong:
        problems += wrong.problems
    columns = list(profiles.values())[:most_columns]
    return {
        "table": reading.origin,
        "rows": _height(reading),
        "n_columns": len(profiles),
        "columns": [_column(column, _height(reading), first) for column in columns],
        "target": None if first is None else _target(first, table),
        "duplicate_rows": duplicate_rows(reading),
        "determine_target": [] if first is None else list(leaking_columns(profiles, str(first.options.target))),
        "decisions": [] if first is None else list(first.sentences),
        "problems": [asdict(each) for each in problems],
    }


def _height(reading: Reading) -> int:
    return len(next(iter(reading.columns.values())))


def _column(column: ColumnProfile, rows: int, first: FirstOptions | None) -> dict[str, Any]:
    limits = column.range()
    return {
        "name": column.name,
        "kind": column.kind,
        "missing": column.missing,
        "missing_share": column.missing / rows,
        "distinct": column.distinct(),
        "range": None if limits is None else list(limits),
        "common": [{"value": value, "rows": count} for value, count in column.common()],
        "use": None if first is None else first.uses[column.name],
        "reason": "" if first is None else first.reasons.get(column.name, ""),
    }


def _target(first: FirstOptions, table: Table | None) -> Mapping[str, Any]:
    found: dict[str, Any] = {
        "name": first.options.target,
        "reason": first.target_reason,
        "guessed": first.target_reason != NAMED,
    }
    if table is None or table.y is None:
        return found
    found |= {"task": table.task, "task_reason": table.task_reason, "left_out": table.n_dropped}
    if table.task == "regression":
        return found | {"range": [float(table.y.min()), float(table.y.max())]}
    counts = np.bincount(table.y, minlength=len(table.classes))
    return found | {
        "classes": [
            {"label": spell_label(label), "rows": int(count), "share": float(count / len(table))}
            for label, count in zip(table.classes, counts, strict=True)
        ]
    }
