"""Runs that are killed and given again, compared with one that was left alone: all that must be the same is."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from msl.store.store import DATABASE, Store
from msl.store.stored_run import Run

_CLASSES = """use clop
chain m = standardize? >> ftest(fmax: int 2..8, rest = default)? >> (zarbi | naive | svc(rest = default)) >> bias
"""
_CHOICES = "use clop\nchain m = standardize? >> (zarbi | naive | rf(units = 10, mtry: 1 | 2)) >> bias?\n"
_BITS = "use sbm\nchain m = keep(features: vector(n_features) of bool) >> knn(k: 1 | 3 | 5, rest = default)\n"
_NEAREST = """use sbm
chain m = sbm(
  distance: euclidean | manhattan | canberra, k: int 1..6, weighting: uniform | inverse, rest = default
)
"""
_ONE, _TWO = "minimize ber by cv(folds = 3)\n", "minimize error by cv(folds = 3), features\n"

#: A space, objectives and a small search for every strategy that ships, and for two of them in a row.
SPECS = {
    "pso": f"{_CLASSES}{_ONE}search pso(swarm = 4, iterations = 4)\nensemble swarm()\n",
    "bpso": f"{_BITS}{_ONE}search bpso(swarm = 5, iterations = 6)\n",
    "pattern": f"{_CLASSES}{_ONE}search pattern(evaluations = 30)\n",
    "random": f"{_CLASSES}{_ONE}search random(evaluations = 40)\nensemble vote(top = 3)\n",
    "grid": f"{_CHOICES}{_ONE}search grid()\n",
    "best_first": f"{_NEAREST}{_ONE}search best_first(channels = [k, distance, weighting])\n",
    "occam_ga": f"{_CLASSES}{_ONE}search occam_ga(population = 6, generations = 5)\n",
    "nspso": f"{_BITS}{_TWO}search nspso(swarm = 6, iterations = 5)\n",
    "cmdpso": f"{_BITS}{_TWO}search cmdpso(swarm = 6, iterations = 5)\n",
    "halving": f"{_CLASSES}{_ONE}search halving(evaluations = 30, factor = 2)\n",
    "auto": f"{_CLASSES}{_ONE}search auto(evaluations = 30)\n",
    "confirm": f"{_CLASSES}{_ONE}search random(evaluations = 12) then confirm(top = 5, repeats = 3)\nensemble vote\n",
    "then": f"{_CLASSES}{_ONE}search random(evaluations = 10) then pso(swarm = 4, iterations = 4)\n",
}
#: What a run costs, what it found in the store and what it is called is not what it comes to.
_COSTS = "run seconds top_seconds reused failures fits fits_saved folds_skipped kept outside_space new".split()
_LOOKS = ("ledger", "test_table", "interval_of_runs")


@dataclass(frozen=True)
class Command:
    """`msl …`, where, killed after how many seconds, and with how large files."""

    arguments: list[str]
    folder: str
    kill: float | None = None
    size: int | None = None


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, negative for a signal, what it said, and how long it took."""

    code: int
    said: str
    seconds: float


Start = Callable[[Command], Ended]


class Forker:
    """Commands in processes that need no time to start."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def together(self, commands: Sequence[Command]) -> list[Ended]:
        """All of them at the same time."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([asdict(command) for command in commands]), file=self._process.stdin, flush=True)
        return [Ended(**one) for one in json.loads(self._process.stdout.readline())]

    def __call__(self, command: Command) -> Ended:
        return self.together([command])[0]


@contextmanager
def forker() -> Iterator[Forker]:
    program = [sys.executable, str(Path(__file__).with_name("run_forker.py"))]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        try:
            yield Forker(process)
        finally:
            process.stdin.close()


def plain_start(command: Command) -> Ended:
    """A command as its users give it."""
    start = time.monotonic()
    program = [sys.executable, "-c", "from msl.cli.main import main; main()", *command.arguments]
    process = subprocess.Popen(program, cwd=command.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        said, _ = process.communicate(timeout=command.kill)
    except subprocess.TimeoutExpired:
        process.kill()
        said, _ = process.communicate()
    return Ended(process.returncode, said, time.monotonic() - start)


def content(store: Path, which: Callable[[Run], bool] = lambda run: True) -> dict[str, Any]:
    """All that a store knows of one run and of what it asked for, without times, costs and the run's name."""
    with Store.open(store, read_only=True) as opened:
        (run,) = filter(which, opened.runs.all())
        asks = opened.runs.queries(run.id)
        asked = opened.evaluations.read(asked.key for asked in asks if asked.key is not None)
        return {
            "status": run.status,
            "result": _without_others(run.result),
            "evaluations": {
                key: repr((one.text, one.losses, one.metrics, one.complexity, one.bound, one.cutoff, one.failure))
                for key, one in asked.items()
            },
            "outputs": opened.outputs.read(asked),
            "asks": repr(asks),
            "events": [(event.position, event.kind, repr(event.figures)) for event in opened.runs.events(run.id)],
            "model": opened.files.model(run.id, ".msl").read_text(encoding="utf-8"),
            "files": sorted(file.name.partition(".")[2] for file in opened.files.of_run(run.id)),
        }


def _without_others(result: Mapping[str, Any]) -> dict[str, Any]:
    """Without costs, and without what other runs in the store change by their looks at the same rows."""
    kept = {name: value for name, value in result.items() if name not in (*_COSTS, *_LOOKS)}
    return {name: _without_others(value) if name == "corrected" else value for name, value in kept.items()} | (
        {"front": [_without_others(one) for one in kept["front"]]} if "front" in kept else {}
    )


def is_finished(store: Path) -> bool:
    """Whether the one run of a store has come to its end, as far as anything was written down."""
    if not (store / DATABASE).exists():
        return False
    with Store.open(store) as opened:
        return [run.status for run in opened.runs.all()] == ["finished"]


def check_same(expected: dict[str, Any], found: dict[str, Any], where: str) -> None:
    for what, value in expected.items():
        assert found[what] == value, f"{what} differs: {where}"


def run_command(name: str, table: Path, folder: Path, *more: str) -> Command:
    """`msl run` of a strategy's spec, which is written into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.msl").write_text(SPECS[name], encoding="utf-8")
    return Command(["run", f"{name}.msl", str(table), "--test", str(table), "--json", *more], str(folder))


def left_alone(start: Start, command: Command) -> tuple[dict[str, Any], float]:
    """What a run comes to that nobody disturbs, and how long it takes."""
    ended = start(command)
    assert ended.code == 0, ended.said
    return content(Path(command.folder) / ".msl"), ended.seconds


def kill_and_resume(
    start: Start, name: str, table: Path, folder: Path, kills: int, chance: random.Random, more: Sequence[str]
) -> int:
    """Kills runs of one strategy so many times, each at a random moment, and lets each come to its end at last.

    Fails unless every one ends with what a run that was left alone ends with. Gives the number of runs.
    """
    expected, seconds = left_alone(start, run_command(name, table, folder / "alone", *more))
    killed = runs = 0
    while killed < kills:
        place = folder / f"killed{runs}"
        command = run_command(name, table, place, *more)
        runs += 1
        while True:
            moment = chance.uniform(0.0, seconds) if killed < kills else None
            ended = start(Command(command.arguments, command.folder, moment))
            if ended.code == 0:
                seconds = min(seconds, ended.seconds)  # of a run that was not disturbed by others either
                break
            assert ended.code == -9, ended.said
            killed += 1
            if is_finished(place / ".msl"):
                break  # it was killed on its way out
        check_same(expected, content(place / ".msl"), f"{name} after {killed} kills in {place}")
    return runs
