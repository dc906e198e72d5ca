"""What a file format of tables is: how it is recognised, and a function that reads it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from msl.data.options import DataOptions
from msl.data.reading import Reading


@dataclass(frozen=True, slots=True)
class ReadHints:
    """What is known of a table before it is read. Formats that have names and types of their own can ignore it.

    known_names  the columns of a table that this one should be like
    as_text      the columns whose values are not to be taken for numbers
    """

    options: DataOptions
    known_names: Collection[str] = ()
    as_text: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class TableFormat:
    """A file format.

    name      as messages call it
    suffixes  how the names of such files end
    read      the columns of a file. A frame is enough: names are made unique, and empty tables refused, for all formats
    magic     the first bytes of every such file, by which it is recognised whatever its name
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Path, ReadHints], pl.DataFrame | Reading]
    magic: bytes = b""
