"""Results: `docs/results.md`, written anew from what the store keeps of every benchmark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.benchmark import Benchmark
from benchmarks.cell import Record
from benchmarks.explanations import EXPLANATIONS
from benchmarks.journal import Journal
from benchmarks.markdown import report_to_markdown
from benchmarks.registry import BENCHMARKS
from benchmarks.report import Report
from benchmarks.speed import speed_report

DOCUMENT = Path(__file__).parent.parent / "docs" / "results.md"
_HEAD = """# Results

Written by `python -m benchmarks results` from the records of finished runs; not to be edited. Each part says what was
run, by which versions and when. A benchmark that is not finished shows what it has; a quick one says so.

To run one again: `python -m benchmarks NAME --data DIR`, with `--quick` for minutes instead of hours; `--help` names
them all. What is measured against other tools needs `pip install -e ".[peers]"`, and TPOT an environment of its own
with `pip install -e ".[tpot]"`. The peers of `tables` may have environments of their own in `benchmarks/environments`:
`autogluon` with `autogluon.tabular[lightgbm,catboost]`; `flaml` with `flaml[automl]`, `h2o` with `h2o` and a Java
runtime, and `lightgbm` with `lightgbm`, each with `pandas` and `scikit-learn`. A benchmark goes on where it was
stopped, leaves out what is not installed, and adds to the same records.
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
    if measured := Journal(store / "speed.jsonl").read():
        yield speed_report(measured)


def fullest(benchmark: Benchmark, records: list[Record]) -> list[Record]:
    """The records of one protocol: budgets do not mix."""
    for cells in benchmark.protocols():
        wanted = set(cells)
        if found := [record for record in records if record.cell in wanted]:
            return found
    return []


def _summary(reports: list[Report]) -> str:
    claims = [claim for report in reports for claim in report.claims]
    counts = [sum(claim.holds is verdict for claim in claims) for verdict in (True, False, None)]
    return (
        f"Of {len(claims)} claims {counts[0]} hold, {counts[1]} do not, {counts[2]} have too little to be judged by.\n"
    )
