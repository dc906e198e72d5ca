"""Journal: the finished cells of a benchmark as lines of JSON, so that one that was stopped goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.cell import Environment, Record

#: Alone in a line: with what the records behind it were run, until the next such line.
_ENVIRONMENT = "environment"


class Journal:
    """One file, only ever appended to. A line that was cut off by a kill is passed over, and written again."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Record]:
        """Every record; of a cell that was run twice, the later."""
        latest = {record.cell: record for record in self._records()}
        return list(latest.values())

    def write(self, record: Record) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        torn = self.path.exists() and not self.path.read_bytes().endswith(b"\n")
        lines = [record.as_json()]
        if record.environment != self._last_environment():
            lines.insert(0, {_ENVIRONMENT: dict(record.environment)})
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(("\n" if torn else "") + text)

    def _records(self) -> Iterator[Record]:
        environment: Environment = {}
        for line in self._lines():
            if _ENVIRONMENT in line:
                environment = line[_ENVIRONMENT]
                continue
            try:
                yield Record.of_json(line, environment)
            except (KeyError, TypeError):
                continue

    def _last_environment(self) -> Environment:
        return next((line[_ENVIRONMENT] for line in reversed(list(self._lines())) if _ENVIRONMENT in line), {})

    def _lines(self) -> Iterator[dict[str, Any]]:
        if not self.path.exists():
            return
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict):
                yield found
