"""Read text tables: CSV, TSV and others with a separator, plain or packed."""

from __future__ import annotations

from pathlib import Path

from msl.data.csv import read_delimited
from msl.data.file_bytes import open_payload
from msl.data.raw_columns import ReadHints, Reading, TableFormat


def read(path: Path, hints: ReadHints) -> Reading:
    return read_delimited(open_payload(path), hints.options, hints.known_names, hints.as_text)


FORMAT = TableFormat("CSV", (".csv", ".tsv", ".gz", ".bz2", ".xz", ".zip"), read)
