"""Places: a network whose centres are places in regions is the same network on every fold as on all rows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from evaluation_cases import evaluator, models_of

from msl.blocks.base.block import Floats
from msl.blocks.base.build import model_to_chain
from msl.blocks.learners.rbf import RBFNetwork
from msl.data.read import read_table
from msl.evaluate.dataset import Dataset

NETWORK = "rbf_network(centers: regions(6), basis = gaussian, rest = default)"


def centres(chain: str, goal: str, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Floats], Floats]:
    """The centres of every network that an evaluation fits, and those of the model fitted on all rows."""
    seen: list[Floats] = []
    fit = RBFNetwork.fit_prepared

    def watched(self: RBFNetwork, *rest: object) -> None:
        fit(self, *rest)  # type: ignore[arg-type]
        seen.append(self.centers_)

    monkeypatch.setattr(RBFNetwork, "fit_prepared", watched)
    x = np.random.default_rng(1).uniform(-4, 4, 40)
    dataset = Dataset.of(read_table(pl.DataFrame({"x": x, "y": np.sin(x)})))
    model = models_of(f"use rbf, clop\nchain m = {chain}\n", dataset, 1)[0]
    assert evaluator(goal, dataset).evaluate(model).failure is None
    judged = list(seen)
    model_to_chain(model, dataset.task, 0, (), dataset.columns).fit_arrays(dataset.X, dataset.y, 0)
    return judged, seen[-1]


@pytest.mark.parametrize("goal", ["cv(folds = 3)", "holdout(0.5)", "bootstrap632(samples = 3)"])
def test_a_model_means_the_same_wherever_it_is_judged(goal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    judged, whole = centres(NETWORK, f"minimize mse by {goal}", monkeypatch)
    assert judged
    for each in judged:
        np.testing.assert_array_equal(each, whole)


def test_behind_other_steps_places_are_among_the_rows_of_the_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    judged, _ = centres(f"standardize(rest = default) >> {NETWORK}", "minimize mse by cv(folds = 2)", monkeypatch)
    assert not np.array_equal(*judged)
