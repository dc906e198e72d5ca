"""Read a table from a file, an array or a frame: `read_table` for the first one, `read_like` for those like it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from msl.data.assemble import build_table
from msl.data.conform import conform_table
from msl.data.file_bytes import check_path
from msl.data.frames import read_memory
from msl.data.options import DataOptions
from msl.data.reading import Reading
from msl.data.registry import read_file
from msl.data.table import Schema, Table
from msl.data.table_format import ReadHints


def read_table(
    source: Any, y: Any = None, *, options: DataOptions | None = None, names: Sequence[str] | None = None
) -> Table:
    """The table in a file (CSV, Parquet and the other `formats`), an array, or a frame of polars or pandas.

    With an array or a frame the target may be given apart as `y`. Raises a `DataError` for what is wrong; what is only
    suspicious is in the table's warnings.
    """
    options = options or DataOptions()
    return build_table(read_source(source, y, options=options, names=names), options)


def read_source(
    source: Any, y: Any = None, *, options: DataOptions | None = None, names: Sequence[str] | None = None
) -> Reading:
    """The columns of a file, an array or a frame, before anything is inferred."""
    options = options or DataOptions()
    if isinstance(source, str | Path):
        return _read_file(Path(source), options, as_text=options.categorical or ())
    return read_memory(source, y, names, options.target)


def read_like(
    schema: Schema, source: Any, y: Any = None, *, names: Sequence[str] | None = None, is_judged: bool = True
) -> Table:
    """A second table, to test or to predict, read as the first was.

    Its columns may be in any order and more than needed, and the target may be absent. Categories that the first table
    does not have become missing, with a warning. Without `is_judged` the target is ignored.
    """
    if isinstance(source, str | Path):
        symbolic = [column.name for column in schema.columns if column.kind == "symbolic"]
        if schema.classes and isinstance(schema.classes[0], str):
            symbolic.append(schema.target)
        # Predictions are in the order of the rows, so none of these may be left out.
        options = schema.options if is_judged else replace(schema.options, ragged=None)
        return conform_table(_read_file(Path(source), options, schema.names, symbolic), schema, is_judged)
    return conform_table(read_memory(source, y, names, schema.target), schema, is_judged)


def _read_file(
    path: Path, options: DataOptions, known_names: Collection[str] = (), as_text: Collection[str] = ()
) -> Reading:
    check_path(path)
    return read_file(path, ReadHints(options, known_names, as_text))
