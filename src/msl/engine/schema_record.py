"""Schema record: the schema of a table as JSON values and back, checked on the way in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from msl.evaluate.options import DataOptions
from msl.evaluate.table import Column, Schema

_LISTS = ("ignore", "missing", "categorical", "numeric")


def schema_to_record(schema: Schema) -> dict[str, Any]:
    options = {field.name: getattr(schema.options, field.name) for field in fields(DataOptions)}
    return {
        "columns": [
            {"name": column.name, "kind": column.kind}
            | ({"symbols": list(column.categories)} if column.kind == "symbolic" else {})
            for column in schema.columns
        ],
        "target": schema.target,
        "task": schema.task,
        "classes": list(schema.classes),
        "options": {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in options.items()
            if value is not None
        },
    }


def record_to_schema(record: Mapping[str, Any]) -> Schema:
    """The schema of a record; a ValueError, KeyError or TypeError where it is none."""
    columns = tuple(_column(each) for each in record["columns"])
    task, classes = record["task"], tuple(_label(label) for label in record["classes"])
    if task not in ("classification", "regression") or (task == "regression") == bool(classes):
        raise ValueError(f"the task {task!r} does not go with {len(classes)} classes")
    options = dict(record["options"])
    options.update({name: tuple(options[name]) for name in _LISTS if name in options})
    return Schema(columns, _text(record["target"]), task, classes, DataOptions(**options))


def _column(record: Mapping[str, Any]) -> Column:
    kind = record["kind"]
    if kind not in ("numeric", "symbolic"):
        raise ValueError(f"{kind!r} is no kind of column")
    symbols = tuple(map(_text, record["symbols"])) if kind == "symbolic" else ()
    return Column(_text(record["name"]), kind, symbols)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _label(value: Any) -> str | int | float:
    if not isinstance(value, str | int | float):
        raise TypeError(f"{value!r} is no label")
    return value
