"""The command.

python -m benchmarks NAME --data DIR [--quick | --reduced] [--json FILE] [--store FOLDER] [--jobs N] [--only TEXT]
python -m benchmarks attack [--minutes N] [--seed N] [--only TEXT]
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path

from benchmarks.benchmark import Benchmark
from benchmarks.journal import Journal
from benchmarks.markdown import report_to_markdown
from benchmarks.registry import BENCHMARKS
from benchmarks.report import Report
from benchmarks.results import DOCUMENT, write_results
from benchmarks.speed import measure_speed, speed_report
from benchmarks.workers import run_cells

NAMES = (*BENCHMARKS, "speed", "results", "attack")
#: Finished cells are kept with the code, so that long protocols go on from one machine to the next.
STORE = Path(__file__).parent / "records"


def main(arguments: list[str] | None = None) -> int:
    """Runs the named benchmarks; the exit code is 2 for a mistake in the command."""
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["attack"]:
        from benchmarks.attack import main as attack

        return attack(given[1:])
    options = _parser().parse_args(given)
    if options.jobs < 1:
        print("--jobs is the number of cells worked at once, at least 1", file=sys.stderr)
        return 2
    if options.name == "results":
        print(f"{write_results(options.store)} benchmarks are in {DOCUMENT}")
        return 0
    if options.name == "speed":
        _write([_speed(options)], options.json)
        return 0
    chosen = [each for name, each in BENCHMARKS.items() if name == options.name or name.startswith(f"{options.name}.")]
    if not chosen:
        print(f"no benchmark is called {options.name}; there are {', '.join(NAMES)}", file=sys.stderr)
        return 2
    if options.data is None or not options.data.is_dir():
        print("give the folder of the data sets with --data", file=sys.stderr)
        return 2
    # Blocks and peers warn about models that the search is there to reject.
    warnings.filterwarnings("ignore")
    reports = [run_benchmark(each, options) for each in chosen]
    _write(reports, options.json)
    return 0


def run_benchmark(benchmark: Benchmark, options: argparse.Namespace) -> Report:
    """Works the cells, prints the report of those that are done; an interruption is followed by the report too."""
    is_reduced = options.reduced and benchmark.reduced is not None
    protocol = benchmark.reduced() if is_reduced else benchmark.cells(options.quick)  # type: ignore[misc]
    cells = [cell for cell in protocol if options.only in cell.key]
    try:
        run_cells(benchmark, cells, options.data, options.store, options.jobs, _say)
    except KeyboardInterrupt:
        _say(f"{benchmark.name}: stopped; the same command goes on")
    wanted = set(cells)
    records = [record for record in Journal(options.store / f"{benchmark.name}.jsonl").read() if record.cell in wanted]
    report = benchmark.report(records)
    print(report_to_markdown(report))
    return report


def _speed(options: argparse.Namespace) -> Report:
    """Ratios are measured anew each time; of every part the last ones are kept."""
    measure_speed(options.quick, options.only, options.store, _say)
    report = speed_report(Journal(options.store / "speed.jsonl").read())
    print(report_to_markdown(report))
    return report


def _write(reports: list[Report], path: Path | None) -> None:
    if path is not None:
        path.write_text(json.dumps([report.as_json() for report in reports], indent=1, ensure_ascii=False))


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks", description="Measures every claim of the project.")
    parser.add_argument("name", help=f"one of {', '.join(NAMES)}, or papers for all that begin so")
    parser.add_argument("--data", type=Path, help="the folder of the data sets")
    parser.add_argument("--quick", action="store_true", help="a small part with small budgets; the report says so")
    parser.add_argument("--reduced", action="store_true", help="what takes days with smaller budgets, fewer repeats")
    parser.add_argument("--json", type=Path, help="writes the reports to this file too")
    parser.add_argument(
        "--store", type=Path, default=STORE, help="where results are kept, benchmarks/records by default"
    )
    parser.add_argument("--jobs", type=int, default=1, help="cells worked at once, 1 by default")
    parser.add_argument(
        "--only",
        default="",
        metavar="TEXT",
        help="only cells whose data/split/method, or parts of speed whose name, has this text",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
