"""Results: `docs/results.md`, written anew from what the store keeps of every benchmark."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark
from benchmarks.cell import Record
from benchmarks.explanations import EXPLANATIONS
from benchmarks.journal import Journal
from benchmarks.markdown import report_to_markdown
from benchmarks.registry import BENCHMARKS
from benchmarks.report import Claim, Report, Table

DOCUMENT = Path(__file__).parent.parent / "docs" / "results.md"
_HEAD = """# Results

Written by `python -m benchmarks results` from the records of finished runs; not to be edited. Each part says what was
run, by which versions and when. A benchmark that is not finished shows what it has; a quick one says so.
"""


def write_results(store: Path, document: Path = DOCUMENT) -> int:
    """Writes the document; how many benchmarks have something to show."""
    reports = list(stored_reports(store))
    parts = [_HEAD, _summary(reports)]
    for report in reports:
        parts.append(report_to_markdown(report))
        if report.name in EXPLANATIONS:
            parts.append(f"**Why.** {EXPLANATIONS[report.name]}\n")
    document.write_text("\n".join(parts), encoding="utf-8")
    return len(reports)


def stored_reports(store: Path) -> Iterator[Report]:
    """Of each benchmark that has records: of the fullest protocol that has any."""
    for benchmark in BENCHMARKS.values():
        records = fullest(benchmark, Journal(store / f"{benchmark.name}.jsonl").read())
        if records:
            yield benchmark.report(records)
    speed = store / "speed.json"
    if speed.exists():
        yield report_of_json(json.loads(speed.read_text(encoding="utf-8")))


def fullest(benchmark: Benchmark, records: list[Record]) -> list[Record]:
    """The records of one protocol: budgets do not mix."""
    for cells in benchmark.protocols():
        wanted = set(cells)
        if found := [record for record in records if record.cell in wanted]:
            return found
    return []


def report_of_json(found: Mapping[str, Any]) -> Report:
    """A report as it was written."""
    tables = tuple(
        Table(each["title"], tuple(each["columns"]), tuple(map(tuple, each["rows"])), tuple(each["notes"]))
        for each in found["tables"]
    )
    claims = tuple(Claim(**each) for each in found["claims"])
    return Report(found["name"], found["title"], found["ran"], tables, claims, found["made"])


def _summary(reports: list[Report]) -> str:
    claims = [claim for report in reports for claim in report.claims]
    counts = [sum(claim.holds is verdict for claim in claims) for verdict in (True, False, None)]
    return (
        f"Of {len(claims)} claims {counts[0]} hold, {counts[1]} do not, {counts[2]} have too little to be judged by.\n"
    )
