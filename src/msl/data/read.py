"""Reading: from a file, an array or a frame to a table. The two doors to this folder's data."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from msl.data.assemble import build_table
from msl.data.conform import conform_table
from msl.data.csv import read_delimited
from msl.data.data_errors import DataError, problem
from msl.data.file_bytes import check_path, is_parquet, open_payload
from msl.data.frames import read_memory
from msl.data.options import DataOptions
from msl.data.reading import Reading, check_width, unique_names
from msl.data.table import Schema, Table


def read_table(
    source: Any, y: Any = None, *, options: DataOptions | None = None, names: Sequence[str] | None = None
) -> Table:
    """The table in a file (CSV, gzipped CSV, Parquet), an array, or a frame of polars or pandas.

    With an array or a frame the target may be given apart as `y`. What is wrong raises a `DataError`; what is only odd
    stands in the table's warnings.
    """
    options = options or DataOptions()
    return build_table(read_source(source, y, options=options, names=names), options)


def read_source(
    source: Any, y: Any = None, *, options: DataOptions | None = None, names: Sequence[str] | None = None
) -> Reading:
    """The columns of a file, an array or a frame as they came, before anything is made of them."""
    options = options or DataOptions()
    if isinstance(source, str | Path):
        return _read_file(Path(source), options, as_text=options.categorical or ())
    return read_memory(source, y, names, options.target)


def read_like(
    schema: Schema, source: Any, y: Any = None, *, names: Sequence[str] | None = None, is_judged: bool = True
) -> Table:
    """A second table, to test or to predict, read as the first was.

    Its columns may be in any order and more than needed, and the target may be absent. Symbols that the first table
    does not have become missing, with a warning. Without `is_judged` the target is not looked at.
    """
    if isinstance(source, str | Path):
        symbolic = [column.name for column in schema.columns if column.kind == "symbolic"]
        if schema.classes and isinstance(schema.classes[0], str):
            symbolic.append(schema.target)
        # Predictions stand in the order of the rows, so that none of these may be left out.
        options = schema.options if is_judged else replace(schema.options, ragged=None)
        return conform_table(_read_file(Path(source), options, schema.names, symbolic), schema, is_judged)
    return conform_table(read_memory(source, y, names, schema.target), schema, is_judged)


def _read_file(
    path: Path, options: DataOptions, known_names: Collection[str] = (), as_text: Collection[str] = ()
) -> Reading:
    check_path(path)
    if is_parquet(path):
        return _read_parquet(path)
    return read_delimited(open_payload(path), options, known_names, as_text)


def _read_parquet(path: Path) -> Reading:
    try:
        frame = pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, OSError) as reason:
        message = f"{path} is Parquet, but damaged: {str(reason).splitlines()[0]}"
        raise DataError([problem("MSL308", message, "write the file again")]) from None
    check_width(frame.width, str(path))
    if frame.is_empty():
        raise DataError([problem("MSL305", f"{path} has column names but no rows", "add rows")])
    return Reading.of(frame, unique_names(frame.columns), str(path))
