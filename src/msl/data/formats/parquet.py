"""Read Parquet files."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from msl.data.raw_columns import ReadHints, TableFormat


def read(path: Path, hints: ReadHints) -> pl.DataFrame:
    return pl.read_parquet(path, glob=False)


FORMAT = TableFormat("Parquet", (".parquet",), read, magic=b"PAR1")
