"""Read a table from a file, an array or a frame: `read_table` for the first one, `read_like` for those like it.

The format of a file is found by its first bytes or its suffix; `formats/` has those that ship."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import polars as pl

from msl.data import formats
from msl.data.assemble import build_table
from msl.data.conform import conform_table
from msl.data.data_errors import DataError, problem
from msl.data.file_bytes import check_path
from msl.data.formats import text
from msl.data.frames import read_memory
from msl.data.options import DataOptions
from msl.data.raw_columns import ReadHints, Reading, TableFormat, check_width, unique_names
from msl.data.table import Schema, Table


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
        return _read_file(Path(source), options, as_text=_told_as_text(options))
    return read_memory(source, y, names, options.target)


def read_like(
    schema: Schema, source: Any, y: Any = None, *, names: Sequence[str] | None = None, with_target: bool = True
) -> Table:
    """A second table, to test or to predict, read as the first was.

    Its columns may be in any order and more than needed, and the target may be absent. Categories that the first table
    does not have become missing, with a warning. Without `with_target` its target is ignored.
    """
    if isinstance(source, str | Path):
        symbolic = list(schema.symbols)
        symbolic += [one.source for one in schema.derived]
        if schema.classes and isinstance(schema.classes[0], str):
            symbolic.append(schema.target)
        # Predictions are in the order of the rows, so none of these may be left out.
        options = schema.options if with_target else replace(schema.options, ragged=None)
        return conform_table(_read_file(Path(source), options, schema.sources, symbolic), schema, with_target)
    return conform_table(read_memory(source, y, names, schema.target), schema, with_target)


def _told_as_text(options: DataOptions) -> tuple[str, ...]:
    """The columns whose values are texts, by what the user says of them."""
    of_text = (options.categorical, options.dates, options.text, [name for name, *_ in options.ordered or ()])
    return tuple(name for names in of_text for name in names or ())


def _read_file(
    path: Path, options: DataOptions, known_names: Collection[str] = (), as_text: Collection[str] = ()
) -> Reading:
    check_path(path)
    return read_file(path, ReadHints(options, known_names, as_text))


# --- The format of a file ---------------------------------------------------------------------------------------------


ENTRY_POINTS = "msl.tables"


def read_file(path: Path, hints: ReadHints) -> Reading:
    """The columns of a file that exists."""
    found = find_format(path)
    try:
        table = found.read(path, hints)
    except (pl.exceptions.PolarsError, OSError) as reason:
        message = f"{path} is {found.name}, but damaged or not readable: {str(reason).splitlines()[0]}"
        raise DataError([problem("MSL308", message, "write the file again")]) from None
    if isinstance(table, Reading):
        return table
    check_width(table.width, str(path))
    if not table.width:
        raise DataError([problem("MSL304", f"{path} has no columns", "write the file again")])
    if table.is_empty():
        raise DataError([problem("MSL305", f"{path} has column names but no rows", "add rows")])
    return Reading.of(table, unique_names(table.columns), str(path))


def find_format(path: Path) -> TableFormat:
    """By the first bytes, then by the suffix; anything else is read as text."""
    shipped = shipped_formats()
    with path.open("rb") as file:
        start = file.read(max(len(each.magic) for each in shipped))
    for each in shipped:
        if each.magic and start.startswith(each.magic):
            return each
    suffix = path.suffix.lower()
    for each in shipped:
        if suffix in each.suffixes and not each.magic:  # a file without the magic bytes only has the name of the format
            return each
    points = _offered()
    return _loaded(points[suffix]) if suffix in points else text.FORMAT


def shipped_formats() -> tuple[TableFormat, ...]:
    """The formats of the folder."""
    names = sorted(module.name for module in iter_modules(formats.__path__))
    return tuple(_module_format(f"{formats.__name__}.{name}") for name in names)


def format_names() -> list[str]:
    """What messages call the formats that can be read, text first; those of other packages are called by suffix."""
    shipped = shipped_formats()
    others = sorted(each.name for each in shipped if each is not text.FORMAT)
    known = {suffix for each in shipped for suffix in each.suffixes}
    return [text.FORMAT.name, *others, *sorted(_offered().keys() - known)]


def known_suffixes() -> set[str]:
    """How the names of files end that can be read."""
    return {suffix for each in shipped_formats() for suffix in each.suffixes} | _offered().keys()


@cache
def _module_format(module: str) -> TableFormat:
    found: TableFormat = import_module(module).FORMAT
    return found


def _offered() -> dict[str, EntryPoint]:
    """The formats of other packages by their suffix; if several offer one, the first by its target has it."""
    points = sorted(entry_points(group=ENTRY_POINTS), key=lambda point: (point.name, point.value), reverse=True)
    return {f".{point.name.lower().lstrip('.')}": point for point in points}


def _loaded(point: EntryPoint) -> TableFormat:
    package = point.module if point.dist is None else point.dist.name
    try:
        found = point.load()
    except (ImportError, AttributeError) as trouble:
        message = f"the table format `{point.name}` of the package `{package}` cannot be loaded: {trouble}"
        raise DataError([problem("MSL303", message, f"repair or remove `{package}`")]) from trouble
    if not isinstance(found, TableFormat):
        message = f"the table format `{point.name}` of the package `{package}` is not a `TableFormat`"
        raise DataError([problem("MSL303", message, f"repair or remove `{package}`")])
    return found
