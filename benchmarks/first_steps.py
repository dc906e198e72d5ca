"""First steps: every command that a beginner types, on every real table, with the spec as `msl init` writes it.

`msl init`, `msl check --data`, `msl run`, `msl predict`, `msl export`, and the exported file on the table it was made
for and on rows it has not seen. No spec is edited. The memory of the processes of a run is watched meanwhile.
"""

from __future__ import annotations

import csv
import json
import resource
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl

from benchmarks.benchmark import Benchmark, Workplace
from benchmarks.cell import Cell, Record
from benchmarks.datasets import read_data
from benchmarks.report import Claim, Report, Table, made_by
from benchmarks.tables import SMALL, TARGETS, TRAINING

STEPS = ("init", "check", "run", "predict", "export", "test")
#: The memory that a worker may take, in sizes of the table.
MOST_MEMORY = 4.0
#: Seconds between two looks at the memory of the processes of a run.
_LOOK = 0.25


def cells(quick: bool) -> list[Cell]:
    """20 s are the preset `quick`; the largest table has more, so that a busy machine ends an evaluation in it."""
    if quick:
        return [Cell(name, 0, "msl", "5 seconds") for name in SMALL]
    return [Cell(name, 0, "msl", "180 seconds" if name == "flights" else "20 seconds") for name in TARGETS]


@dataclass
class Watch:
    """The most memory that each process below this one has had, in MB: all of it, and what it has for itself."""

    resident: dict[int, float] = field(default_factory=dict)
    own: dict[int, float] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    _done: threading.Event = field(default_factory=threading.Event)

    def of(self, process: subprocess.Popen[str]) -> None:
        while not self._done.wait(_LOOK):
            for pid in _family(process.pid):
                self._look(pid)

    def _look(self, pid: int) -> None:
        try:
            rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            name = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has ended meanwhile
            return
        sizes = {row.split(":")[0]: float(row.split()[1]) / 1024 for row in rows if row.endswith(" kB")}
        self.resident[pid] = max(self.resident.get(pid, 0.0), sizes.get("Rss", 0.0))
        self.own[pid] = max(self.own.get(pid, 0.0), sizes.get("Pss", 0.0))
        self.names[pid] = name

    def end(self) -> None:
        self._done.set()


def _family(root: int) -> list[int]:
    """A process and all below it, by /proc; empty where there is none."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting += children.get(pid, [])
    return found


@dataclass(frozen=True)
class Walk:
    """One table from the first command to the exported file."""

    folder: Path
    target: str
    seconds: float
    taken: dict[str, float] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)
    watch: Watch = field(default_factory=Watch)

    def step(self, name: str, command: Sequence[str], watched: bool = False) -> str:
        before, start = _cpu(), perf_counter()
        process = subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
        )
        looking = threading.Thread(target=self.watch.of, args=(process,), daemon=True)
        if watched:
            looking.start()
        told, wrong = process.communicate()
        if watched:
            self.watch.end()
            looking.join()
        self.taken[name] = round(perf_counter() - start, 1)
        self.cpu[name] = round(_cpu() - before, 1)
        if process.returncode or "Traceback" in wrong:
            raise RuntimeError(f"{name}: exit {process.returncode}, {wrong.strip()[-600:] or 'no message'}")
        return told


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def work(cell: Cell, place: Workplace) -> Mapping[str, Any]:
    target, is_number = TARGETS[cell.data]
    folder = place.data if (place.data / f"{cell.data}.csv.gz").exists() else place.data / "real"
    table = read_data(folder, cell.data)
    rows = np.random.default_rng(cell.split).permutation(len(table))
    size = round(TRAINING * len(table))
    shutil.rmtree(place.folder, ignore_errors=True)
    place.folder.mkdir(parents=True)
    table[rows[:size]].write_csv(place.folder / "train.csv")
    table[rows[size:]].drop(target).write_csv(place.folder / "new.csv")
    walk = Walk(place.folder, target, float(cell.budget.split()[0]))
    return {**_walked(walk, is_number), "table": round(_size_of(place.folder / "train.csv"), 1)}


def _size_of(path: Path) -> float:
    """What the table takes as polars reads it, in MB."""
    return pl.read_csv(path, infer_schema_length=None).estimated_size("mb")


def _walked(walk: Walk, is_number: bool) -> dict[str, Any]:
    msl = [sys.executable, "-m", "msl"]
    walk.step("init", [*msl, "init", "train.csv", "--target", walk.target, "-o", "first.msl"])
    written = (walk.folder / "first.msl").read_bytes()
    walk.step("check", [*msl, "check", "first.msl", "--data", "train.csv"])
    budget = ["--set", f"budget.time={walk.seconds:g}s", "--set", f"budget.each={walk.seconds / 3:g}s"]
    answer = walk.step("run", [*msl, "run", "first.msl", "train.csv", *budget, "--seed", "0", "--json"], True)
    walk.step("predict", [*msl, "predict", "@", "new.csv", "-o", "predicted.csv", "--store", ".msl"])
    walk.step("export", [*msl, "export", "@", "-o", "model.py", "--store", ".msl"])
    said = walk.step("test", [sys.executable, "model.py", "train.csv", "new.csv"])
    if (walk.folder / "first.msl").read_bytes() != written:
        raise RuntimeError("the spec was changed on the way")
    (walk.folder / "exported.csv").write_text(said, encoding="utf-8")
    found = json.loads(answer)
    workers = [pid for pid, name in walk.watch.names.items() if "msl run" not in name and "-m msl" not in name]
    return {
        **{f"{name} seconds": walk.taken[name] for name in STEPS},
        **{f"{name} cpu": walk.cpu[name] for name in STEPS},
        "evaluations": found["evaluations"],
        "failures": found["failures"],
        "model": found["best"],
        "imports msl": "import msl" in (text := (walk.folder / "model.py").read_text()) or "from msl" in text,
        "differences": _differences(walk.folder, is_number),
        "resident": round(max(walk.watch.resident.values(), default=0.0), 1),
        "worker resident": round(max((walk.watch.resident[pid] for pid in workers), default=0.0), 1),
        "worker own": round(max((walk.watch.own[pid] for pid in workers), default=0.0), 1),
    }


def _differences(folder: Path, is_number: bool) -> int:
    """Of how many rows the exported file says something else than `msl predict`."""
    ours, theirs = (_said(folder / name) for name in ("predicted.csv", "exported.csv"))
    if len(ours) != len(theirs):
        raise RuntimeError(f"the exported file says something of {len(theirs)} rows, msl predict of {len(ours)}")
    if is_number:
        return int((~np.isclose(np.array(ours, float), np.array(theirs, float), rtol=1e-6)).sum())
    return sum(one != other for one, other in zip(ours, theirs, strict=True))


def _said(path: Path) -> list[str]:
    with path.open(newline="", encoding="utf-8") as file:
        _, *lines = csv.reader(file)
    return [line[0] for line in lines]


def report(records: Sequence[Record]) -> Report:
    rows = [
        (
            one.cell.data,
            *(one.outcome[f"{name} seconds"] for name in STEPS),
            one.outcome["evaluations"],
            one.outcome["differences"],
            "yes" if one.outcome["imports msl"] else "no",
            one.outcome["table"],
            one.outcome["worker resident"],
            one.outcome["worker own"],
        )
        for one in records
    ]
    heads = ("table", *STEPS, "evaluations", "other predictions", "needs msl", "MB", "worker MB", "of its own")
    done = {one.cell.data for one in records}
    lacking = sorted(set(TARGETS) - done)
    other = sum(one.outcome["differences"] for one in records)
    claims = (
        Claim(
            "every table goes from `init` to its exported file's own test without an edit of the spec",
            not lacking if records else None,
            f"{len(done)} of {len(TARGETS)}" + (f", not {', '.join(lacking)}" if lacking else ""),
        ),
        Claim("exported files predict what `msl predict` does", other == 0 if records else None, f"{other} rows"),
    )
    ran = "`init`, `check --data`, `run`, `predict`, `export` and the exported file, seconds of each."
    return Report("first_steps", "First steps", ran, (Table("Steps", heads, tuple(rows)),), claims, made_by(records))


BENCHMARK = Benchmark("first_steps", cells, work, report)
