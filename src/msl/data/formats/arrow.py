"""Read Arrow files, also called Feather."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from msl.data.raw_columns import ReadHints, TableFormat


def read(path: Path, hints: ReadHints) -> pl.DataFrame:
    return pl.scan_ipc(path, glob=False).collect()


FORMAT = TableFormat("Arrow", (".arrow", ".feather", ".ipc"), read, magic=b"ARROW1")
