"""What checking costs, as ratios in one run: the start of `msl check`, and how checking grows with a file.

    python benchmarks/language.py [--repeats N]

CPU time is compared, not the clock, and each side is run in turn, so that a busy machine disturbs both alike. Compiled
modules are kept in a folder of their own and warmed first, as they are for an installed package.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[1]
IMPORTS = [sys.executable, "-c", "import lark, typer"]
CHECK = [sys.executable, "-m", "msl", "check", str(ROOT / "specs" / "psms.msl")]
_TIMED = """
import sys, time
from msl.check.spec import check_source
from msl.text.source import Source
text = sys.stdin.read()
check_source(Source("warm.msl", "use clop\\nchain m = svc\\n"))
start = time.process_time()
checked = check_source(Source("large.msl", text))
print(time.process_time() - start)
assert checked.spec is not None, [d.message for d in checked.diagnostics if d.is_error][:3]
"""


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of two CPU times, measured several times, beside its target."""

    what: str
    target: float
    times: list[tuple[float, float]]

    @property
    def median(self) -> float:
        return statistics.median(one / other for one, other in self.times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7, help="how often each pair is measured")
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder, "XDG_CACHE_HOME": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)

        def started(command: list[str]) -> float:
            return cpu_of(command, environment)

        def checked(text: str) -> float:
            done = subprocess.run(
                [sys.executable, "-c", _TIMED], input=text, env=environment, check=True, capture_output=True, text=True
            )
            return float(done.stdout)

        ratios = [
            measured("`msl check specs/psms.msl` / `import lark, typer`", 2.5, started, CHECK, IMPORTS, repeats),
            *(
                measured(f"10,000 / 1,000 statements: {name}", 12, checked, make(10_000), make(1_000), repeats)
                for name, make in SHAPES.items()
            ),
        ]
    print(table(ratios))


def measured(what: str, target: float, measure: Callable[[T], float], one: T, other: T, repeats: int) -> Ratio:
    """Both sides once to warm up, then in turn."""
    measure(one), measure(other)
    return Ratio(what, target, [(measure(one), measure(other)) for _ in range(repeats)])


def cpu_of(command: list[str], environment: dict[str, str]) -> float:
    """The CPU time of a command, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


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


def table(ratios: list[Ratio]) -> str:
    rows = [("what", "median ratio", "target", "CPU seconds")]
    for ratio in ratios:
        one, other = (statistics.median(side) for side in zip(*ratio.times, strict=True))
        met = "met" if ratio.median <= ratio.target else "MISSED"
        rows.append((ratio.what, f"{ratio.median:.2f}", f"<= {ratio.target:g} {met}", f"{one:.3f} / {other:.3f}"))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)


if __name__ == "__main__":
    main()
