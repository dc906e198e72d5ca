"""Workers: the cells of a benchmark worked one after another or in several processes, each written down when done."""

from __future__ import annotations

import shutil
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

from benchmarks.benchmark import Benchmark, Workplace
from benchmarks.cell import Cell, Record
from benchmarks.journal import Journal
from benchmarks.provenance import code_digest, environment, today


def run_cells(
    benchmark: Benchmark, cells: Sequence[Cell], data: Path, store: Path, jobs: int, say: Callable[[str], None]
) -> None:
    """Works every cell that the journal does not have. One that fails is told of, and tried again the next time."""
    journal = Journal(store / f"{benchmark.name}.jsonl")
    store.mkdir(parents=True, exist_ok=True)
    done = {record.cell for record in journal.read()}
    left = [cell for cell in cells if cell not in done]
    waiting = [cell for cell in left if benchmark.can_work(cell)]
    say(f"{benchmark.name}: {len(cells) - len(left)} of {len(cells)} cells are done, {len(waiting)} to go")
    if lacking := sorted({cell.method for cell in left} - {cell.method for cell in waiting}):
        say(f"{benchmark.name}: not installed here and so left out: {', '.join(lacking)}")
    for number, record in enumerate(_finished(benchmark.name, waiting, data, store, jobs), start=1):
        if isinstance(record, str):
            say(record)
            continue
        journal.write(record)
        shutil.rmtree(cell_folder(store, benchmark.name, record.cell), ignore_errors=True)
        figures = ", ".join(f"{name} {value:.4g}" for name, value in record.outcome.items() if isinstance(value, float))
        say(f"{benchmark.name} {number}/{len(waiting)} {record.cell.key}: {figures} ({record.seconds:.0f} s)")


def cell_folder(store: Path, name: str, cell: Cell) -> Path:
    """Where a cell keeps its evaluations until it is finished."""
    return store / "unfinished" / name / cell.key.replace("/", "_").replace(" ", "_")


def _finished(name: str, cells: Sequence[Cell], data: Path, store: Path, jobs: int) -> Iterator[Record | str]:
    if jobs == 1:
        for cell in cells:
            yield _work(name, cell, data, store)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        futures: list[Future[Record | str]] = [pool.submit(_work, name, cell, data, store) for cell in cells]
        for future in as_completed(futures):
            yield future.result()


def _work(name: str, cell: Cell, data: Path, store: Path) -> Record | str:
    """The record of a cell, or what went wrong."""
    from benchmarks.registry import BENCHMARKS

    start = perf_counter()
    try:
        outcome = BENCHMARKS[name].work(cell, Workplace(data, cell_folder(store, name, cell)))
    except Exception as reason:
        with (store / "failures.log").open("a", encoding="utf-8") as log:
            log.write(f"{name} {cell.key}\n{traceback.format_exc()}\n")
        first = (str(reason).strip() or type(reason).__name__).splitlines()[0]
        return f"{name} {cell.key}: failed, {first} (all of it in {log.name})"
    return Record(cell, outcome, round(perf_counter() - start, 2), today(), code_digest(), environment())
