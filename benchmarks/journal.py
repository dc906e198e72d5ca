"""Journal: the finished cells of a benchmark as lines of JSON, so that one that was stopped goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks.cell import Record


class Journal:
    """One file, only ever appended to. A line that was cut off by a kill is passed over, and written again."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Record]:
        """Every record; of a cell that was run twice, the later."""
        latest = {record.cell: record for record in self._lines()}
        return list(latest.values())

    def write(self, record: Record) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        torn = self.path.exists() and not self.path.read_bytes().endswith(b"\n")
        with self.path.open("a", encoding="utf-8") as file:
            file.write(("\n" if torn else "") + json.dumps(record.as_json(), ensure_ascii=False) + "\n")

    def _lines(self) -> Iterator[Record]:
        if not self.path.exists():
            return
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                yield Record.of_json(json.loads(line))
            except (ValueError, KeyError, TypeError):
                continue
