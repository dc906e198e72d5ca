"""Runs through kill -9, full disks and each other's company: nothing stored is lost, and they end the same."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from killed_runs import SPECS, Command, Forker, check_same, content, forker, kill_and_resume, left_alone, run_command
from run_examples import is_whole
from winner_cases import write_table

from msl.check.names.catalogues import shipped_strategies
from msl.store.store import DATABASE, Store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks, signals and limits of POSIX")
ALONE = ("--on", "inprocess")


@pytest.fixture(scope="module")
def start() -> Iterator[Forker]:
    with forker() as made:
        yield made


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_table("wine", tmp_path_factory.mktemp("table"))


def test_every_strategy_has_a_spec() -> None:
    reading = {"start", "portfolio"}  # they read models and propose nothing
    assert set(SPECS) | reading == {*shipped_strategies(), "then"}


@pytest.mark.parametrize("name", list(SPECS))
def test_a_killed_run_ends_as_one_that_was_left_alone(start: Forker, table: Path, tmp_path: Path, name: str) -> None:
    kill_and_resume(start, name, table, tmp_path, kills=2, chance=random.Random(name), more=ALONE)


def test_with_workers_a_killed_run_ends_as_one_without(start: Forker, table: Path, tmp_path: Path) -> None:
    expected, _ = left_alone(start, run_command("then", table, tmp_path / "alone", *ALONE))
    command = run_command("then", table, tmp_path / "killed", "--jobs", "2")
    for moment in (0.7, 1.4):
        start(Command(command.arguments, command.folder, moment))
    ended = start(command)
    assert ended.code == 0, ended.said
    check_same(expected, content(tmp_path / "killed" / ".msl", lambda run: run.status == "finished"), "with workers")


def test_eight_runs_on_one_store_and_the_killed_among_them_disturb_nobody(
    start: Forker, table: Path, tmp_path: Path
) -> None:
    """Six seeds of one spec and two of another; two of the eight are killed on their way."""
    shared, names = tmp_path / "shared", ["then"] * 6 + ["nspso"] * 2
    seeds = [0, 1, 2, 3, 4, 5, 0, 1]
    commands = [
        run_command(name, table, shared, *ALONE, "--seed", str(seed)) for name, seed in zip(names, seeds, strict=True)
    ]
    moments = [None, 0.5, None, None, 1.2, None, None, None]
    ended = start.together(
        [Command(command.arguments, command.folder, moment) for command, moment in zip(commands, moments, strict=True)]
    )
    for one, moment in zip(ended, moments, strict=True):
        assert one.code == 0 or (one.code == -9 and moment is not None), one.said
    assert is_whole(shared / ".msl" / DATABASE)
    for command, one in zip(commands, ended, strict=True):
        if one.code:
            again = start(command)
            assert again.code == 0, again.said
    for place in (0, 1, 7):
        name, seed = names[place], seeds[place]
        expected, _ = left_alone(
            start, run_command(name, table, tmp_path / f"alone{place}", *commands[place].arguments[6:])
        )
        found = content(
            shared / ".msl", lambda run, name=name, seed=seed: (run.spec, run.seed) == (f"{name}.msl", seed)
        )
        check_same(expected, found, f"{name} with seed {seed}")
    with Store.open(shared / ".msl", read_only=True) as store:
        assert [run.status for run in store.runs.all()] == ["finished"] * 8


def test_a_disk_that_fills_up_during_a_run_loses_nothing_of_it(start: Forker, table: Path, tmp_path: Path) -> None:
    expected, _ = left_alone(start, run_command("auto", table, tmp_path / "alone", *ALONE))
    asked = []
    for size in (60_000, 130_000, 200_000):
        place = tmp_path / str(size)
        command = run_command("auto", table, place, *ALONE)
        full = start(Command(command.arguments, command.folder, size=size))
        assert full.code == 2, full.said
        assert "could not grow" in full.said
        assert "give the same command again: it continues" in full.said
        assert "Traceback" not in full.said
        assert is_whole(place / ".msl" / DATABASE)
        with Store.open(place / ".msl", read_only=True) as store:
            asked.append(sum(store.runs.count_queries(run) for run in store.runs.ids()))
        again = start(command)
        assert again.code == 0, again.said
        check_same(expected, content(place / ".msl"), f"files of at most {size} bytes")
    assert asked == sorted(asked)
    assert asked[-1] > 0
