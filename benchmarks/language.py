"""What the language costs: the start of `msl check`, how checking grows with a file, and 20,000 specs full of mistakes.

    python benchmarks/language.py [--quick]

Times are compared within one run, the two sides in turn, so that a busy machine disturbs both alike. The CPU time of a
process is user and system time together; the clock is shown beside it. Compiled modules and the tables of the grammar
are kept in a folder of their own and warmed first, as they are for an installed package from the second start on:
`PYTHONDONTWRITEBYTECODE` is unset for the processes that are measured, or each start would compile this package anew
while lark and typer were compiled by pip.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")
ROOT = Path(__file__).resolve().parents[1]
IMPORTS = [sys.executable, "-c", "import lark, typer"]
CHECK = [sys.executable, "-m", "msl", "check", str(ROOT / "specs" / "psms.msl")]
CASES = 20_000
_TIMED = """
import sys, time
from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
text = sys.stdin.read()
check_source(Source("warm.msl", "use clop\\nchain m = svc\\n"))
start = time.process_time()
checked = check_source(Source("large.msl", text))
print(time.process_time() - start)
assert checked.spec is not None, [d.message for d in checked.diagnostics if d.is_error][:3]
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured, beside the most that it may be."""

    name: str
    value: float
    target: float
    unit: str

    @property
    def is_met(self) -> bool:
        return self.value <= self.target


@dataclass(frozen=True, slots=True)
class Times:
    """What a process took, in seconds."""

    cpu: float
    clock: float


def measure(quick: bool) -> list[tuple[str, float, float, str]]:
    """Every figure with its name, target and unit; `quick` takes fewer repeats and mutated specs."""
    return [(figure.name, figure.value, figure.target, figure.unit) for figure in figures(quick)]


def figures(quick: bool) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder, "XDG_CACHE_HOME": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        return [
            *start_up(environment, 5 if quick else 21),
            *growth(environment, 1 if quick else 5),
            *mutated(CASES // 40 if quick else CASES),
        ]


def start_up(environment: dict[str, str], repeats: int) -> list[Figure]:
    """`msl check` of a paper's spec against importing the two packages that it is built on."""
    pairs = in_turn(lambda command: times_of(command, environment), CHECK, IMPORTS, repeats)
    name = "`msl check specs/psms.msl` / `import lark, typer`"
    return [
        Figure(f"{name}, CPU", statistics.median(one.cpu / other.cpu for one, other in pairs), 2.5, "ratio"),
        Figure(f"{name}, clock", statistics.median(one.clock / other.clock for one, other in pairs), 2.5, "ratio"),
    ]


def growth(environment: dict[str, str], repeats: int) -> list[Figure]:
    """The CPU time of checking ten times as many statements."""

    def checked(text: str) -> float:
        done = subprocess.run(
            [sys.executable, "-c", _TIMED], input=text, env=environment, check=True, capture_output=True, text=True
        )
        return float(done.stdout)

    found = []
    for name, make in SHAPES.items():
        pairs = in_turn(checked, make(10_000), make(1_000), repeats)
        ratio = statistics.median(one / other for one, other in pairs)
        found.append(Figure(f"10,000 / 1,000 statements: {name}, CPU", ratio, 12, "ratio"))
    return found


def mutated(cases: int) -> list[Figure]:
    """Specs with seeded mistakes through check, every renderer and the formatter: what fails, and what takes long."""
    sys.path[:0] = [str(ROOT / "tests" / "check"), str(ROOT / "tests" / "language")]
    try_case = import_module("mutated_specs").try_case
    failed, longest = 0, 0.0
    for number in range(cases):
        start = time.process_time()
        try:
            try_case(number)
        except Exception as error:
            failed += 1
            print(f"case {number}: {error!r}", file=sys.stderr)
        longest = max(longest, time.process_time() - start)
    return [
        Figure(f"{cases:,} mutated specs: unfit answers", failed, 0, "cases"),
        Figure(f"{cases:,} mutated specs: the slowest, CPU", longest, 1, "s"),
    ]


def in_turn(measure: Callable[[T], R], one: T, other: T, repeats: int) -> list[tuple[R, R]]:
    """Both sides once to warm up, then each in turn."""
    measure(one), measure(other)
    return [(measure(one), measure(other)) for _ in range(repeats)]


def times_of(command: list[str], environment: dict[str, str]) -> Times:
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    clock = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)  # the process is waited for: Popen need not
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return Times(usage.ru_utime + usage.ru_stime, clock)


# --- files of many statements ----------------------------------------------------------------------------------------


def parts(statements: int) -> str:
    """Parts that choose among blocks with arguments, all in one chain."""
    names = [f"p{i}" for i in range(statements - 2)]
    lines = [f"part {name} = (ftest(fmax: 2..{i % 90 + 5}) | relief)?" for i, name in enumerate(names)]
    return "\n".join(["use clop", *lines, f"chain model = {' >> '.join(names)} >> svc", ""])


def blocks(statements: int) -> str:
    """Derived blocks, each an alternative of the chain."""
    names = [f"b{i}" for i in range(statements - 2)]
    lines = [f"block {name} = rf {{ units: 10..{i % 900 + 50} }}" for i, name in enumerate(names)]
    return "\n".join(["use clop", *lines, f"chain model = {' | '.join(names)}", ""])


def requirements(statements: int) -> str:
    """Requirements on a small space."""
    lines = [f"require svc.gamma < {i + 1}e-2 if rf.units > {i % 90 + 5}" for i in range(statements - 4)]
    head = ["use clop", "part scale = standardize | normalize | none", "part learn = svc | rf"]
    return "\n".join([*head, "chain model = scale >> learn", *lines, ""])


def mixed(statements: int) -> str:
    """Parts, derived blocks and requirements in turn."""
    thirds = (statements - 2) // 3
    lines = []
    for i in range(thirds):
        lines.append(f"block b{i} = rf {{ units: 10..{i % 900 + 50} }}")
        lines.append(f"part p{i} = standardize >> (b{i} | svc(gamma: 1e-3..{i % 9 + 1}))")
        lines.append(f"require b{i}.mtry <= {i % 9 + 1} if p{i} is b{i}")
    return "\n".join(["use clop", *lines, f"chain model = {' | '.join(f'p{i}' for i in range(thirds))}", ""])


SHAPES: dict[str, Callable[[int], str]] = {
    "parts": parts,
    "derived blocks": blocks,
    "requirements": requirements,
    "mixed": mixed,
}


def table(found: list[Figure]) -> str:
    rows = [("what", "figure", "target")]
    for figure in found:
        met = "met" if figure.is_met else "MISSED"
        rows.append((figure.name, f"{figure.value:.3g} {figure.unit}", f"<= {figure.target:g} {met}"))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repeats, fewer mutated specs")
    print(table(figures(parser.parse_args().quick)))


if __name__ == "__main__":
    main()
