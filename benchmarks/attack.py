"""A soak that attacks runs for as long as it is given, and counts what was tried, survived and came out identical.

    python -m benchmarks attack --minutes 10 [--seed 0] [--only TEXT]

Runs of every strategy, with worker processes, are disturbed at random moments: the parent, a worker, the fork server or
the whole group killed, stopped or interrupted, the disk full. Each is given again until it ends, and must end with the
store and the winner of a run that was left alone. Beside them: several runs on one store, stores that cannot be
written, damaged stores and models, mutated specs, hostile tables. *Survived* means that nothing ended as a bug of the
program or with a traceback, and that what was asked for could still be had afterwards.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path[:0] = [str(_TESTS), str(_TESTS / "store"), str(_TESTS / "check"), str(_TESTS / "language")]

from killed_runs import SPECS, content, is_finished, run_command  # noqa: E402
from winner_cases import write_table  # noqa: E402

_PROGRAM = [sys.executable, "-c", "from msl.cli.main import main; main()"]
#: Exit codes of a program that is in order: fine, refused, wrong use, interrupted, terminated.
_IN_ORDER = (0, 1, 2, 130, 143)
_LONGEST = 300.0  # seconds after which a command counts as hanging


@dataclass
class Count:
    """What became of one kind of attack; `notes` are about those that did not go well."""

    tried: int = 0
    survived: int = 0
    compared: int = 0
    identical: int = 0
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Ended:
    """How a command ended; its code is negative for a signal."""

    code: int
    said: str

    @property
    def is_in_order(self) -> bool:
        return self.code in _IN_ORDER and "Traceback" not in self.said


class Hostile(Exception):
    """Something did not survive, or did not come out identical."""


def msl(
    *arguments: str,
    folder: Path,
    disturb: Callable[[subprocess.Popen[str]], None] | None = None,
    size: int | None = None,
) -> Ended:
    """One command, perhaps disturbed while it runs, perhaps with files that may not grow beyond a size."""

    def limit() -> None:
        if size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    process = subprocess.Popen(
        [*_PROGRAM, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        preexec_fn=limit,
    )
    try:
        if disturb is not None:
            disturb(process)
        said, _ = process.communicate(timeout=_LONGEST)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Hostile(f"hangs: msl {' '.join(arguments)}") from None
    return Ended(process.returncode, said)


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have, the oldest first."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                parents.setdefault(parent, []).append(int(entry.name))
    found, left = [], [pid]
    while left:
        children = sorted(parents.get(left.pop(0), []))
        found += children
        left += children
    return found


# --- runs that are disturbed ------------------------------------------------------------------------


class Soak:
    """Where the attacks happen, and the runs that nobody disturbed."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder, self.chance = folder, chance
        self.table = write_table("wine", folder)
        self._references: dict[str, tuple[dict[str, Any], float, Path]] = {}
        self._places = 0

    def place(self) -> Path:
        self._places += 1
        place = self.folder / f"p{self._places}"
        place.mkdir()
        return place

    def reference(self, name: str) -> tuple[dict[str, Any], float, Path]:
        """What a run that was left alone comes to, how long it took, and where it is."""
        if name not in self._references:
            place = self.place()
            command = run_command(name, self.table, place, "--jobs", "2")
            began = time.monotonic()
            ended = msl(*command.arguments, folder=place)
            if ended.code != 0:
                raise Hostile(f"{name} fails by itself: {ended.said[-300:]}")
            self._references[name] = (content(place / ".msl"), time.monotonic() - began, place)
        return self._references[name]

    def disturbed(self, disturb: Callable[[subprocess.Popen[str]], None], more: tuple[str, ...] = ()) -> bool:
        """One run disturbed some times and then left to end; whether it came out as one that was left alone."""
        name = self.chance.choice(list(SPECS))
        expected, seconds, _ = self.reference(name)
        place = self.place()
        arguments = run_command(name, self.table, place, "--jobs", str(self.chance.randint(1, 3)), *more).arguments

        def later(process: subprocess.Popen[str]) -> None:
            with contextlib.suppress(subprocess.TimeoutExpired, ProcessLookupError):
                process.wait(self.chance.uniform(0.0, 1.1 * seconds))
                return
            disturb(process)

        for _ in range(self.chance.randint(1, 3)):
            ended = msl(*arguments, folder=place, disturb=later)
            if ended.code == 0 or is_finished(place / ".msl"):
                break
            if ended.code > 0 and not ended.is_in_order:
                raise Hostile(f"{name} ends with {ended.code}: {ended.said[-400:]}")
        else:
            ended = msl(*arguments, folder=place)
        if not is_finished(place / ".msl"):
            raise Hostile(f"{name} does not come to its end: {ended.code}, {ended.said[-400:]}")
        found = content(place / ".msl")
        differing = [what for what, value in expected.items() if found[what] != value]
        if differing:
            raise Hostile(f"{name} differs in {', '.join(differing)} ({place})")
        shutil.rmtree(place)
        return True


def _send(number: signal.Signals, whom: Callable[[Soak, int], int | None]) -> Callable[[Soak], bool]:
    def attack(soak: Soak) -> bool:
        def disturb(process: subprocess.Popen[str]) -> None:
            pid = whom(soak, process.pid)
            if pid is not None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)

        return soak.disturbed(disturb)

    return attack


def _parent(soak: Soak, pid: int) -> int | None:
    return pid


def _fork_server(soak: Soak, pid: int) -> int | None:
    children = descendants(pid)
    return children[0] if children else None


def _worker(soak: Soak, pid: int) -> int | None:
    children = descendants(pid)[1:]
    return soak.chance.choice(children) if children else None


def kill_group(soak: Soak) -> bool:
    def disturb(process: subprocess.Popen[str]) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        for pid in descendants(process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    return soak.disturbed(disturb)


def interrupt_twice(soak: Soak) -> bool:
    def disturb(process: subprocess.Popen[str]) -> None:
        process.send_signal(signal.SIGINT)
        time.sleep(soak.chance.uniform(0.0, 0.3))
        process.send_signal(signal.SIGINT)

    return soak.disturbed(disturb)


def _pause(whom: Callable[[Soak, int], int | None]) -> Callable[[Soak], bool]:
    def attack(soak: Soak) -> bool:
        def disturb(process: subprocess.Popen[str]) -> None:
            pid = whom(soak, process.pid)
            with contextlib.suppress(ProcessLookupError, TypeError):
                os.kill(pid, signal.SIGSTOP)  # type: ignore[arg-type]
                time.sleep(soak.chance.uniform(0.1, 1.5))
                os.kill(pid, signal.SIGCONT)  # type: ignore[arg-type]

        return soak.disturbed(disturb)

    return attack


def full_disk(soak: Soak) -> bool:
    """Files that may not grow: the database, the models, the report, whichever comes first."""
    name = soak.chance.choice(list(SPECS))
    expected, _, reference = soak.reference(name)
    largest = max(file.stat().st_size for file in (reference / ".msl").rglob("*") if file.is_file())
    place = soak.place()
    arguments = run_command(name, soak.table, place, "--jobs", "2").arguments
    ended = msl(*arguments, folder=place, size=soak.chance.randint(0, largest + 4096))
    if not ended.is_in_order:
        raise Hostile(f"{name} ends with {ended.code} on a full disk: {ended.said[-400:]}")
    if ended.code:
        ended = msl(*arguments, folder=place)
    if ended.code or not is_finished(place / ".msl"):
        raise Hostile(f"{name} does not go on after a full disk: {ended.said[-400:]}")
    if any(content(place / ".msl")[what] != value for what, value in expected.items()):
        raise Hostile(f"{name} differs after a full disk ({place})")
    shutil.rmtree(place)
    return True


def several_at_once(soak: Soak) -> bool:
    """Runs of different searches on one store at the same time."""
    names = soak.chance.sample(list(SPECS), 2)
    place = soak.place()
    commands = [run_command(name, soak.table, place, "--jobs", "1").arguments for name in names]
    running = [
        subprocess.Popen(
            [*_PROGRAM, *command],
            cwd=place,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        for command in commands
    ]
    for name, process in zip(names, running, strict=True):
        said, _ = process.communicate(timeout=_LONGEST)
        if process.returncode:
            raise Hostile(f"{name} fails beside another: {said[-400:]}")
    for name in names:
        expected, *_ = soak.reference(name)
        found = content(place / ".msl", lambda run, name=name: run.spec == f"{name}.msl")  # type: ignore[misc]
        if found["result"] != expected["result"] or found["asks"] != expected["asks"]:
            raise Hostile(f"{name} differs beside another ({place})")
    shutil.rmtree(place)
    return True


# --- what cannot be written, or was written by a stranger -------------------------------------------


def unwritable_store(soak: Soak) -> bool | None:
    """A store where there is a file, where nothing can be made, or that cannot be written any more."""
    name = soak.chance.choice(list(SPECS))
    place = soak.place()
    arguments = run_command(name, soak.table, place, "--jobs", "1").arguments
    (place / "file").write_text("not a store")
    where = soak.chance.choice([str(place / "file"), "/proc/msl-store", "/dev/null", str(place / "file" / "below")])
    ended = msl(*arguments, "--store", where, folder=place)
    if not ended.is_in_order or ended.code == 0:
        raise Hostile(f"a store at {where}: {ended.code}, {ended.said[-400:]}")
    return None


def _changed(data: bytes, chance: random.Random) -> bytes:
    """Bytes flipped, cut off, doubled, or overwritten."""
    changed = bytearray(data)
    match chance.randint(0, 3):
        case 0:
            for _ in range(chance.choice([1, 4, 64])):
                changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        case 1:
            del changed[chance.randrange(len(changed)) :]
        case 2:
            at = chance.randrange(len(changed))
            changed[at:at] = changed[at : at + 500]
        case _:
            at = chance.randrange(len(changed))
            changed[at : at + 200] = chance.randbytes(200)
    return bytes(changed)


def damaged_store(soak: Soak) -> bool | None:
    """Every verb says what it can about a damaged store, doctor mends it, and the same run gives the same winner."""
    name = soak.chance.choice(list(SPECS))
    expected, _, reference = soak.reference(name)
    place = soak.place()
    shutil.copytree(reference, place, dirs_exist_ok=True)
    files = [file for file in (place / ".msl").rglob("*") if file.is_file() and file.stat().st_size]
    victim = soak.chance.choice([file for file in files if file.suffix not in (".html",)])
    victim.write_bytes(_changed(victim.read_bytes(), soak.chance))
    arguments = run_command(name, soak.table, place, "--jobs", "1").arguments
    for verb in (["log"], ["show", "@"], ["doctor"], ["doctor", "--repair"], arguments):
        ended = msl(*verb, folder=place)
        if not ended.is_in_order:
            raise Hostile(f"{verb[0]} of a damaged {victim.name}: {ended.code}, {ended.said[-400:]} ({place})")
    if ended.code == 0 and json.loads(ended.said[ended.said.index("{") :])["best"] != expected["result"]["best"]:
        raise Hostile(f"another winner after {victim.name} was damaged ({place})")
    shutil.rmtree(place)
    return None


def tampered_model(soak: Soak) -> bool | None:
    """The model of a run with other bytes, whose digest is made to fit: our own errors, or a prediction."""
    import hashlib

    name = soak.chance.choice(list(SPECS))
    _, _, reference = soak.reference(name)
    place = soak.place()
    shutil.copytree(reference, place, dirs_exist_ok=True)
    model = soak.chance.choice(sorted((place / ".msl" / "models").glob("*.skops")))
    model.write_bytes(_changed(model.read_bytes(), soak.chance))
    described = model.with_suffix(".json")
    record = json.loads(described.read_text())
    record["sha256"] = hashlib.sha256(model.read_bytes()).hexdigest()
    described.write_text(json.dumps(record))
    for verb in (["predict", "@", str(soak.table)], ["export", "@", "-o", "model.py"]):
        ended = msl(*verb, folder=place)
        if not ended.is_in_order:
            raise Hostile(f"{verb[0]} of a tampered model: {ended.code}, {ended.said[-400:]} ({place})")
    shutil.rmtree(place)
    return None


def mutated_spec(soak: Soak) -> bool | None:
    """Twenty specs with mistakes: answered, never with a traceback."""
    from mutated_specs import text_of

    place = soak.place()
    names = []
    for _ in range(20):
        number = soak.chance.randrange(10**9)
        names.append(f"m{number}.msl")
        (place / names[-1]).write_bytes(text_of(number).encode("utf-8", "surrogatepass"))
    for verb in (["check", *names], ["info", names[0]], ["fmt", "--check", *names]):
        ended = msl(*verb, folder=place)
        if not ended.is_in_order:
            raise Hostile(f"{verb[0]} of mutated specs: {ended.code}, {ended.said[-400:]} ({place})")
    shutil.rmtree(place)
    return None


_CELLS = [
    *("", "NA", "?", "-999", "0", "1", "1e400", "-0.0", "nan", "inf", "1.234,50", "$1,200", "12 %", "2024-01-31"),
    *(
        "31.12.2023 23:59",
        "12:30",
        "TRUE",
        "no",
        '"a ""quoted"" one"',
        "=1+1",
        "ä€😀",
        "\x1b[31mred",
        "a" * 5000,
        "\x00",
    ),
]


def hostile_table(soak: Soak) -> bool | None:
    """A table that nobody would write: described, started from, or refused in words."""
    chance, place = soak.chance, soak.place()
    columns, rows = chance.choice([1, 2, 5, 40]), chance.choice([0, 1, 2, 7, 60])
    separator = chance.choice([",", ";", "\t", "|", " "])
    names = [chance.choice([f"c{n}", "c", "", "class", " x ", "größe", '"a,b"', "1"]) for n in range(columns)]
    lines = [separator.join(names)]
    kinds = [chance.sample(_CELLS, chance.choice([1, 2, 5, len(_CELLS)])) for _ in range(columns)]
    for _ in range(rows):
        cells = [chance.choice(kind) for kind in kinds]
        if chance.random() < 0.05:
            cells.append("one too many")
        lines.append(separator.join(cells))
    data = chance.choice(["\n", "\r\n"]).join(lines).encode(chance.choice(["utf-8", "utf-16", "utf-8-sig"]))
    (place / "t.csv").write_bytes(_changed(data, chance) if data and chance.random() < 0.3 else data)
    for verb in (
        ["init", "t.csv"],
        ["check", "t.msl", "--data", "t.csv"],
        ["run", "t.msl", "t.csv", "--set", "budget.time=3s"],
    ):
        ended = msl(*verb, folder=place)
        if not ended.is_in_order:
            raise Hostile(f"{verb[0]} of a hostile table: {ended.code}, {ended.said[-400:]} ({place})")
        if ended.code:
            break
    shutil.rmtree(place)
    return None


#: Each gives whether the outcome was identical, or None where there is nothing to compare; or raises Hostile.
ATTACKS: dict[str, Callable[[Soak], bool | None]] = {
    "SIGKILL of the parent": _send(signal.SIGKILL, _parent),
    "SIGKILL of a worker": _send(signal.SIGKILL, _worker),
    "SIGKILL of the fork server": _send(signal.SIGKILL, _fork_server),
    "SIGKILL of the whole group": kill_group,
    "SIGINT once": _send(signal.SIGINT, _parent),
    "SIGINT twice": interrupt_twice,
    "SIGTERM": _send(signal.SIGTERM, _parent),
    "SIGSTOP of the parent": _pause(_parent),
    "SIGSTOP of a worker": _pause(_worker),
    "disk full": full_disk,
    "several runs on one store": several_at_once,
    "store that cannot be written": unwritable_store,
    "damaged store": damaged_store,
    "tampered model": tampered_model,
    "mutated specs": mutated_spec,
    "hostile table": hostile_table,
}


def soak(minutes: float, seed: int, only: str = "", say: Callable[[str], None] = print) -> dict[str, Count]:
    """Attacks in turn until the time is up, each kind at least once."""
    counts = {name: Count() for name in ATTACKS if only in name}
    end = time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory(prefix="msl-attack-") as folder:
        place = Soak(Path(folder), random.Random(seed))
        for name in _in_turn(list(counts), end):
            count = counts[name]
            count.tried += 1
            try:
                identical = ATTACKS[name](place)
            except Hostile as reason:
                count.notes.append(str(reason))
                say(f"{name}: {reason}")
                if "differs" in str(reason):
                    count.survived += 1
                    count.compared += 1
                continue
            count.survived += 1
            count.compared += identical is not None
            count.identical += bool(identical)
    return counts


def _in_turn(names: list[str], end: float) -> Iterator[str]:
    yield from names
    while time.monotonic() < end:
        for name in names:
            if time.monotonic() < end:
                yield name


def as_table(counts: dict[str, Count]) -> str:
    lines = [f"{'attack':<30}{'tried':>7}{'survived':>10}{'identical':>11}"]
    for name, count in counts.items():
        identical = f"{count.identical}/{count.compared}" if count.compared else "–"
        lines.append(f"{name:<30}{count.tried:>7}{count.survived:>10}{identical:>11}")
    return "\n".join(lines)


def is_unharmed(counts: dict[str, Count]) -> bool:
    return all(one.survived == one.tried and one.identical == one.compared for one in counts.values())


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks attack", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="how long; each attack at least once")
    parser.add_argument("--seed", type=int, default=0, help="of the moments and the mutations")
    parser.add_argument("--only", default="", metavar="TEXT", help="only attacks whose name has this text")
    given = parser.parse_args(arguments)
    counts = soak(given.minutes, given.seed, given.only, lambda line: print(line, file=sys.stderr, flush=True))
    print(as_table(counts))
    return 0 if is_unharmed(counts) else 1
