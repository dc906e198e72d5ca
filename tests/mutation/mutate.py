"""Plants faults in the source, one at a time, and says which of them no test notices.

    python tests/mutation/mutate.py                          # 50 faults in the core
    python tests/mutation/mutate.py runner search --sample 20 --seed 2
    python tests/mutation/mutate.py runner --slow            # those that only slow tests notice count as noticed
    python tests/mutation/mutate.py --only runner/loop --sample 0 --list

It works on a copy of the tree in a temporary folder; the checkout is never touched. For each fault tests are run until
one fails: those of its package that name the module, the others of the package, then those of packages that use it and
any that name the module. With `--slow`, the slow ones of these meet the faults that the quick ones have missed. The
same seed draws the same faults from the same source. It stands with the tests, since it is they that it measures;
benchmarks measure what the tests hold true.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Literal

from mutants import Mutant, mutants_of

#: Folders of the source, the folder of tests that is to notice their faults, and those of their users, whose tests may.
#: This is all that knows the layout.
SOURCE, TESTS = "src/msl", "tests"
RELATED: Mapping[str, tuple[str, ...]] = {
    "space": ("space", "check", "encode"),
    "check": ("check", "language", "diagnostics"),
    "encode": ("encode", "search"),
    "search": ("search", "runner"),
    "data": ("data", "cli"),
    "evaluate": ("evaluate", "runner"),
    "workers": ("workers", "runner"),
    "store": ("store", "runner", "cli"),
    "runner": ("runner", "store", "report"),
}
#: What the copy is made of; the rest of a checkout is history, stores and caches.
COPIED = ("src", "tests", "grammar", "specs", "benchmarks", "docs", "editors", "pyproject.toml", "README.md", "LICENSE")
_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".msl", ".hypothesis", "*.pyc")
#: Options of pytest: always the same generated cases, few of them, and no search for the simplest that fails.
SAME_CASES = ("--hypothesis-seed=0", "--hypothesis-profile=unshrunk")
#: Exit codes of pytest: all tests passed, or none was left to run.
_PASSED = (0, 5)

#: Folders whose tests are too slow to be asked about faults of a package.
LEFT_TO_OTHERS = ("attack", "mutation")

Verdict = Literal["killed", "timeout", "survived"]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the packages of a tree and their tests are, and the options with which these are run."""

    source: str = SOURCE
    tests: str = TESTS
    related: tuple[tuple[str, tuple[str, ...]], ...] = tuple(RELATED.items())
    options: tuple[str, ...] = ()

    def package_of(self, path: str) -> str:
        return path.removeprefix(f"{self.source}/").split("/")[0]

    def stages(self, root: Path, path: str) -> list[list[str]]:
        """The files of tests that are to notice a fault in a module, in the order in which they are asked."""
        module = path.removeprefix("src/").removesuffix(".py").replace("/", ".")
        named = re.compile(rf"\b{re.escape(module)}\b")
        own, *users = (root / self.tests / folder for folder in dict(self.related)[self.package_of(path)])
        first, rest, elsewhere = [], [], []
        for file in sorted((root / self.tests).rglob("test_*.py")):
            names_it = named.search(file.read_text(encoding="utf-8")) is not None
            if own in file.parents:
                (first if names_it else rest).append(str(file.relative_to(root)))
            elif file.parent in users or (names_it and file.parent.name not in LEFT_TO_OTHERS):
                elsewhere.append(str(file.relative_to(root)))
        return [files for files in (first, rest, elsewhere) if files]


@dataclass(frozen=True, slots=True)
class MutantResult:
    """What became of a mutant; `by` is the test that noticed."""

    mutant: Mutant
    verdict: Verdict
    seconds: float
    by: str = ""


def drawn(root: Path, layout: Layout, packages: Sequence[str], only: str, sample: int, seed: int) -> list[Mutant]:
    """The mutants of some packages, all of them or a sample; in the order of the source."""
    every: list[Mutant] = []
    for package in packages:
        for file in sorted((root / layout.source / package).rglob("*.py")):
            path = file.relative_to(root).as_posix()
            if only in path:
                every += mutants_of(path, file.read_text(encoding="utf-8"))
    if not sample or sample >= len(every):
        return every
    return [every[place] for place in sorted(random.Random(seed).sample(range(len(every)), sample))]


class Copy:
    """A copy of the tree, in which one mutant at a time is planted."""

    def __init__(self, root: Path, folder: Path, layout: Layout, options: Sequence[str] = ()) -> None:
        self._folder, self._layout, self._options = folder, layout, options
        self._noticed: Counter[str] = Counter()  # by file of tests: one that notices much is asked early
        for name in COPIED:
            if (root / name).is_dir():
                shutil.copytree(root / name, folder / name, ignore=_LEFT_OUT)
            elif (root / name).exists():
                shutil.copy(root / name, folder / name)

    def tried(self, mutant: Mutant, patience: float) -> MutantResult:
        """Whether the tests notice a fault; one under which they do not end in time is noticed."""
        file = self._folder / mutant.path
        before, times = file.read_text(encoding="utf-8"), file.stat()
        started = monotonic()
        file.write_text(mutant.text, encoding="utf-8")
        try:
            verdict, by = self._verdict(mutant.path, patience)
        finally:
            file.write_text(before, encoding="utf-8")
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))  # so that its bytecode is still its own
        return MutantResult(mutant, verdict, monotonic() - started, by)

    def _verdict(self, path: str, patience: float) -> tuple[Verdict, str]:
        for files in self._layout.stages(self._folder, path):
            code, output = self.run_tests(sorted(files, key=lambda file: -self._noticed[file]), patience)
            if code is None:
                return "timeout", ""
            if code not in _PASSED:
                by = _first_failure(output)
                self._noticed[by.partition("::")[0]] += 1
                return "killed", by
        return "survived", ""

    def run_tests(self, files: Sequence[str], patience: float, *, keep_code: bool = False) -> tuple[int | None, str]:
        """The exit code of pytest, None if it had to be ended, and what it said."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *self._options, *files]
        path = os.pathsep.join(filter(None, [str(self._folder / "src"), os.environ.get("PYTHONPATH")]))
        environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
        # Bytecode of a fault would be taken for that of another one, of the same second and size.
        environment["PYTHONDONTWRITEBYTECODE"] = "" if keep_code else "1"
        process = subprocess.Popen(
            command,
            cwd=self._folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with all that its tests have started
            process.communicate()
            return None, ""
        return process.returncode, output


def _first_failure(output: str) -> str:
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
    return found[1] if found else "an error before the first test"


class NotSound(Exception):
    """The tests fail without a fault."""


def check_sound(copy: Copy, layout: Layout, root: Path, mutants: Sequence[Mutant], patience: float) -> float:
    """How long the slowest stage of tests takes where nothing is wrong; leaves the bytecode of all that they import."""
    slowest = 0.0
    first_of = {layout.package_of(mutant.path): mutant.path for mutant in reversed(mutants)}
    for package, path in first_of.items():
        for files in layout.stages(root, path):
            started = monotonic()
            code, output = copy.run_tests(files, patience, keep_code=True)
            if code not in _PASSED:
                raise NotSound(f"the tests of {package} fail, or take too long, without any fault:\n{output[-2000:]}")
            slowest = max(slowest, monotonic() - started)
    return slowest


@contextmanager
def copies(root: Path, layout: Layout, count: int, options: Sequence[str]) -> Iterator[list[Copy]]:
    with TemporaryDirectory(prefix="msl-mutants-") as folder:
        yield [Copy(root, Path(folder) / str(number), layout, [*layout.options, *options]) for number in range(count)]


def campaign(
    root: Path,
    mutants: Sequence[Mutant],
    layout: Layout,
    *,
    jobs: int = 1,
    patience: float = 600.0,
    options: Sequence[str] = (),
    say: Callable[[str], None] = lambda line: None,
) -> list[MutantResult]:
    """Tries all mutants, several copies side by side; raises NotSound."""
    with copies(root, layout, jobs, options) as made, ThreadPoolExecutor(jobs) as threads:
        usual = check_sound(made[0], layout, root, mutants, patience)
        say(f"the tests take {usual:.0f} s where nothing is wrong")
        patience = min(patience, 30 + 5 * usual)
        free: SimpleQueue[Copy] = SimpleQueue()
        for copy in made:
            free.put(copy)

        def tried(mutant: Mutant) -> MutantResult:
            copy = free.get()
            try:
                trial = copy.tried(mutant, patience)
            finally:
                free.put(copy)
            say(f"{trial.verdict:8}  {trial.seconds:5.1f} s  {mutant}{f'  by {trial.by}' if trial.by else ''}")
            return trial

        return list(threads.map(tried, mutants))


def report(trials: Sequence[MutantResult]) -> str:
    survivors = [trial.mutant for trial in trials if trial.verdict == "survived"]
    noticed = len(trials) - len(survivors)
    share = f" ({100 * noticed / len(trials):.0f} %)" if trials else ""
    lines = [f"{noticed} of {len(trials)} faults were noticed{share}", *(f"survived  {one}" for one in survivors)]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Plants faults in a copy of the source; says which no test notices.")
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=f"of {', '.join(RELATED)}; all of them if none")
    parser.add_argument("--sample", type=int, default=50, metavar="N", help="how many faults; 0 for all")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="which of them")
    parser.add_argument("--only", default="", metavar="TEXT", help="only files with this text in their path")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="how many at once")
    parser.add_argument("--timeout", type=float, default=300, metavar="SECONDS", help="for the tests of one stage")
    parser.add_argument("--slow", action="store_true", help="slow tests too")
    parser.add_argument("--list", action="store_true", help="only list the faults")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.packages if name not in RELATED]
    if unknown:
        parser.error(f"{unknown[0]} is none of {', '.join(RELATED)}")
    root, layout = Path(__file__).parents[2], Layout(options=SAME_CASES)
    mutants = drawn(root, layout, given.packages or list(RELATED), given.only, given.sample, given.seed)
    if given.list:
        print("\n".join(map(str, mutants)))
        return 0

    def tried(some: Sequence[Mutant], which: str) -> list[MutantResult]:
        def say(line: str) -> None:
            print(line, flush=True)

        return campaign(root, some, layout, jobs=given.jobs, patience=given.timeout, options=("-m", which), say=say)

    try:
        trials = tried(mutants, "not slow")
        left = [trial.mutant for trial in trials if trial.verdict == "survived"]
        if given.slow and left:
            trials = [trial for trial in trials if trial.verdict != "survived"] + tried(left, "slow")
    except NotSound as reason:
        print(reason, file=sys.stderr)
        return 1
    print(report(trials))
    return 0


if __name__ == "__main__":
    sys.exit(main())
