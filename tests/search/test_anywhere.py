"""Points anywhere: optional parts are left out half the time, all else is uniform."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import kstest

from msl.check.check_spec import check_source
from msl.data.read import read_table
from msl.diagnostics.source import Source
from msl.runner.search_space import space_to_search_space
from msl.search.base import SearchSpace
from msl.search.operators.initialise import uniform_points
from msl.space.resolve import resolve


def test_an_optional_part_is_left_out_half_the_time() -> None:
    search_space = SearchSpace.of(
        [13, 2, 4, 0], ordered=[False, False, False, True], absent={0: 12, 1: 0, 2: 0}, optional=[0, 1]
    )
    points = uniform_points(search_space, 20_000, np.random.default_rng(0))
    cells = search_space.cells(points)
    assert np.mean(cells[:, 0] == 12) == pytest.approx(0.5, abs=0.02)
    assert np.mean(cells[:, 1] == 0) == pytest.approx(0.5, abs=0.02)
    assert np.mean(cells[:, 2] == 0) == pytest.approx(0.25, abs=0.02), "nothing is one of its alternatives"
    there = cells[cells[:, 0] != 12, 0]
    assert np.bincount(there.astype(int), minlength=12) / len(there) == pytest.approx(np.full(12, 1 / 12), abs=0.02)
    assert kstest(points[:, 3], "uniform").pvalue > 0.001


def test_without_optional_parts_points_are_plain() -> None:
    search_space = SearchSpace.continuous(3)
    points = uniform_points(search_space, 5, np.random.default_rng(1))
    assert np.array_equal(points, np.random.default_rng(1).random((5, 3)))


def test_which_parts_of_a_spec_are_optional() -> None:
    steps = "subset(standardize, normalize) >> (ttest | relief)? >> (zarbi | naive)"
    table = read_table(pl.DataFrame({"a": [0.5, 1.5] * 4, "b": [2.5, 1.5] * 4, "class": ["x", "y"] * 4}))
    spec = check_source(Source("m.msl", f"use clop\nchain m = {steps}"), facts=table.facts).spec
    assert spec is not None
    search_space = space_to_search_space(resolve(spec.space, table.facts)[0])
    assert search_space.optional.sum() == 1
    assert search_space.levels[search_space.optional].tolist() == [3]
    assert search_space.absent[search_space.optional].tolist() == [2]
