"""Comparison: what is paired with what, and what is said of too few pairs."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from msl.report.compare_runs import (
    Pairing,
    figures_by_place,
    paired,
    pairings_table,
    runs_table,
    spec_labels,
    too_little,
)
from msl.store.stored_run import Digests, Process, Run

NOW = datetime(2025, 11, 16, tzinfo=UTC)


def run(spec: str, table: str, seed: int, value: float, test: float | None = None) -> Run:
    result = {"objectives": {"ber": value}, **({} if test is None else {"test": {"ber": test}})}
    digests = Digests("s", "r", table, "e", "q")
    identity = f"{spec}-{table}-{seed}"
    return Run(identity, "m", spec, digests, seed, {}, {}, "finished", NOW, NOW, NOW, Process("h", 1, ""), result)


def test_pairs_are_of_the_same_table_and_seed() -> None:
    runs = [run("a.msl", table, seed, 0.1 * seed) for table in "xy" for seed in (1, 2)]
    runs += [run("b.msl", "y", seed, 0.2 * seed) for seed in (2, 1, 3)]
    (pair,) = paired(figures_by_place(runs))
    assert (pair.one, pair.other, pair.figure) == ("a", "b", "ber")
    assert pair.ones == (0.1, 0.2)
    assert pair.others == (0.2, 0.4)
    assert pair.mean_difference == pytest.approx(-0.15)


def test_tests_count_where_every_run_has_one() -> None:
    runs = [run("a.msl", "x", 0, 0.1, 0.3), run("b.msl", "x", 0, 0.2, 0.4)]
    (pair,) = paired(figures_by_place(runs))
    assert (pair.figure, pair.ones, pair.others) == ("test ber", (0.3,), (0.4,))
    (pair,) = paired(figures_by_place([*runs, run("b.msl", "y", 0, 0.5)]))
    assert (pair.figure, pair.ones) == ("ber", (0.1,))


def test_of_equal_runs_the_first_given_counts() -> None:
    runs = [run("a.msl", "x", 0, 0.1), run("a.msl", "x", 0, 0.9), run("b.msl", "x", 0, 0.2)]
    (pair,) = paired(figures_by_place(runs))
    assert pair.ones == (0.1,)


def test_every_two_specs_are_a_pair_and_all_tests_are_corrected_together() -> None:
    runs = [run(f"{name}.msl", "x", seed, seed + shift) for shift, name in enumerate("abc") for seed in range(8)]
    pairs = paired(figures_by_place(runs))
    assert [(pair.one, pair.other) for pair in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert all(pair.test.p == pytest.approx(2 / 2**8) for pair in pairs)
    assert all(pair.corrected == pytest.approx(6 / 2**8) for pair in pairs)
    assert all(pair.test.effect == -1.0 for pair in pairs)
    assert too_little(pairs) is None
    assert pairings_table(pairs).count("-1.000") == 3


def test_files_of_one_name_are_told_apart_by_their_folders() -> None:
    runs = [run("old/a.msl", "x", 0, 0.1), run("new/a.msl", "x", 0, 0.2), run("b.msl", "x", 0, 0.2)]
    assert spec_labels(runs) == {"old/a.msl": "old/a.msl", "new/a.msl": "new/a.msl", "b.msl": "b"}


def test_few_pairs_are_said_to_be_too_few() -> None:
    def pairs(count: int) -> list[Pairing]:
        runs = [run(f"{name}.msl", "x", seed, ord(name)) for name in "ab" for seed in range(count)]
        return paired(figures_by_place(runs))

    assert "1 pair cannot show" in (too_little(pairs(1)) or "")
    assert "0.0625" in (too_little(pairs(5)) or "")
    assert too_little(pairs(6)) is None
    assert too_little([]) is None


def test_the_table_has_a_gap_where_a_run_has_no_figure() -> None:
    lines = runs_table([run("a.msl", "x", 0, 0.1), run("b.msl", "x", 0, 0.2, 0.25)]).splitlines()
    assert lines[0].split()[4:7] == ["ber", "test", "ber"]
    assert lines[1].split()[4:6] == ["0.1", "-"]
    assert lines[2].split()[4:6] == ["0.2", "0.25"]
