"""The authors' program of kernel model selection, against what is said of it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from benchmarks.datasets import TARGET, Split
from benchmarks.papers.kms_program import PROGRAMS, WAYS, Configuration, Program, drawn, fitted, run_program, voted


def rows() -> np.ndarray:
    return np.random.default_rng(3).normal(size=(60, 3))


def test_it_has_the_4500_configurations_of_the_paper_and_in_august_half_of_the_draws_are_naive_bayes() -> None:
    rng = np.random.default_rng(0)
    every = drawn(Program(), 10_000, rng)
    assert len(set(every)) == len(every) == 4500
    assert sum(each.neighbours is None for each in every) == 300
    august = drawn(PROGRAMS["program, August"], 10_000, rng)
    assert len(august) == 300
    assert 100 < sum(each.neighbours is None for each in august) < 200


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("distance", ["angle", "euclidean"])
def test_references_are_means_of_groups_that_have_all_rows(way: str, distance: str) -> None:
    configuration = Configuration(way, 8, False, distance, "linear", None)
    mapped = fitted(configuration, Program(kernels="paper"), rows(), np.random.default_rng(1))
    assert len(mapped.references) == len(mapped.sigmas) <= 8
    features = mapped.features(rows())
    for place, row in enumerate(rows()):
        for number, reference in enumerate(mapped.references):
            cosine = row @ reference / np.linalg.norm(row) / np.linalg.norm(reference)
            right = np.linalg.norm(row - reference) if distance == "euclidean" else np.arccos(cosine)
            assert features[place, number] == pytest.approx(right)


def test_sigma_as_printed_is_the_farthest_row_of_a_group_and_else_that_from_another_row() -> None:
    configuration = Configuration("fft", 4, True, "euclidean", "gaussian", None)
    table = rows()
    printed = fitted(configuration, Program(sigma_of_other_row=False), table, np.random.default_rng(1))
    nearest = np.linalg.norm(table[:, None] - printed.references, axis=2).argmin(axis=1)
    for number, center in enumerate(printed.references):
        group = table[nearest == number]
        assert printed.sigmas[number] == pytest.approx(np.linalg.norm(group - center, axis=1).max())
    other = fitted(configuration, Program(), table, np.random.default_rng(1))
    for number in range(4):
        group = table[nearest == number]
        assert other.sigmas[number] == pytest.approx(np.linalg.norm(group - table[number], axis=1).max())


def test_a_tie_of_the_vote_goes_to_the_last_class() -> None:
    assert voted(np.array([[0, 1, 2], [1, 1, 0]])).tolist() == [1, 1, 2]


@pytest.mark.parametrize("method", ["program, August", "program, November, all as printed"])
def test_it_learns_what_can_be_learned(method: str) -> None:
    rng = np.random.default_rng(0)
    table = pl.DataFrame(rng.normal(size=(120, 2)), schema=["a", "b"])
    table = table.with_columns(pl.when(pl.col("a") > 0).then(1).otherwise(-1).alias(TARGET))
    found = run_program(method, Split(table[:90], table[90:], "drawn"), 0, 20)
    assert found["ber"] < 0.2
    assert found == {**run_program(method, Split(table[:90], table[90:], "drawn"), 0, 20), "cpu": found["cpu"]}
