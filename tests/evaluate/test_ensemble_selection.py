"""Greedy selection from outputs: the metrics of many outputs at once, and the choice itself, against plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from msl.check.names.scoring_declarations import metric_named
from msl.evaluate.dataset import Dataset
from msl.evaluate.ensemble_selection import MANY_ROWS, MemberPool, metric_of_many, rows_to_choose_by, select_members
from msl.evaluate.metrics import score
from msl.space.spec import Estimate, Measured, Objective

OF_CLASSES = "auc logloss brier ber error accuracy f1 mcc balanced_logloss average_precision".split()
OF_NUMBERS = "rmse mae mse r2 mape median_absolute_error".split()


def outputs_of_classes(rng: np.random.Generator, models: int, y: np.ndarray, k: int, step: float | None) -> Any:
    """Probabilities that know a little of the classes; with `step` many are equal."""
    raw = rng.normal(size=(models, len(y), k)) + 1.5 * np.eye(k)[y]
    shares = np.exp(raw) / np.exp(raw).sum(axis=2, keepdims=True)
    return (
        shares
        if step is None
        else (np.round(shares / step) + 0.01) / (np.round(shares / step) + 0.01).sum(axis=2, keepdims=True)
    )


def objective_of(name: str) -> Objective:
    metric = metric_named(name)
    return Objective(name, Measured(name, metric), Estimate("cv", ""), minimize=not metric.larger_is_better)


@pytest.mark.parametrize("name", OF_CLASSES)
@pytest.mark.parametrize(("k", "step"), [(2, None), (2, 0.25), (3, None), (3, 0.25)])
def test_a_metric_of_many_outputs_is_that_of_each(name: str, k: int, step: float | None) -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(0, k, 60)
    outputs = outputs_of_classes(rng, 4, y, k, step).astype(np.float32).astype(np.float64)
    weights = rng.integers(1, 4, 60).astype(float)
    metric = metric_named(name)
    if step is not None and name == "auc":  # of two classes the second alone is ranked, in single precision
        outputs[:, :, 0] = 1.0 - outputs[:, :, 1] if k == 2 else outputs[:, :, 0]
    expected = [score(metric, y, one, weights) for one in outputs]
    assert metric_of_many(metric, y, outputs, weights) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_and_of_numbers(name: str) -> None:
    rng = np.random.default_rng(4)
    y, weights = rng.uniform(1, 5, 50), rng.integers(1, 4, 50).astype(float)
    outputs = y + rng.normal(size=(5, 50))
    expected = [score(metric_named(name), y, one, weights) for one in outputs]
    assert metric_of_many(metric_named(name), y, outputs, weights) == pytest.approx(expected)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("rare", [False, True])
def test_areas_of_many_rows_are_right_to_four_digits(k: int, rare: bool) -> None:
    """They are computed in bins of log-odds, which tell apart what is near 0 and 1."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, k, MANY_ROWS + 500)
    y[rng.random(len(y)) < 0.97] = 0 if rare else y[0]
    outputs = outputs_of_classes(rng, 3, y, k, None) ** (4.0 if rare else 1.0)
    outputs /= outputs.sum(axis=2, keepdims=True)
    outputs[0, :9], outputs[1, 9:30] = np.eye(k)[0], 1.0 / k
    weights = rng.integers(1, 4, len(y)).astype(float)
    metric = metric_named("auc")
    if k == 2:
        outputs[:, :, 0] = 1.0 - outputs[:, :, 1]
    expected = [score(metric, y, one, weights) for one in outputs]
    found = metric_of_many(metric, y, outputs, weights)
    assert found == pytest.approx(expected, abs=2e-5)
    assert not np.array_equal(found, expected)


def test_of_many_rows_a_draw_takes_some() -> None:
    """All of them where a class is so rare that few of it would be left."""
    rows = np.zeros((60_000, 1))
    even, rare = np.arange(60_000) % 2, (np.arange(60_000) % 100 == 0).astype(np.intp)
    assert rows_to_choose_by(15_000, Dataset.of_arrays(rows, even, 2)) == 15_000
    assert rows_to_choose_by(50_000, Dataset.of_arrays(rows, even, 2)) == 20_000
    assert rows_to_choose_by(50_000, Dataset.of_arrays(rows, rare, 2)) == 50_000
    assert rows_to_choose_by(50_000, Dataset.of_arrays(rows, rows[:, 0], 0)) == 20_000
    rng = np.random.default_rng(0)
    pool = MemberPool(1.0, np.arange(200), even[:200], np.ones(200), rng.random((3, 200, 2)).astype(np.float32))
    times = np.repeat([0.0, 1.0, 2.0, 3.0], 50)
    some = pool.drawn(times, 60, rng)
    assert len(set(some.places.tolist())) == 60
    np.testing.assert_array_equal(some.weights, times[some.places])
    np.testing.assert_array_equal(some.outputs, pool.outputs[:, some.places])
    assert len(pool.drawn(times, 150, rng).places) == 150, "those that are drawn are no more"


def test_without_rows_of_a_class_there_is_no_area() -> None:
    y, outputs = np.zeros(4, dtype=int), np.full((2, 4, 2), 0.5)
    assert np.isnan(metric_of_many(metric_named("auc"), y, outputs, np.ones(4))).all()
    assert np.isnan(metric_of_many(metric_named("ber"), y[:0], outputs[:, :0], np.ones(0))).all()


def plain_selection(name: str, pools: list[MemberPool], steps: int, most: int) -> list[int]:
    """The counts, by a loop over all that could join in each step."""
    metric = metric_named(name)

    def loss(members: list[int]) -> float:
        value = sum(
            pool.share * score(metric, pool.y, pool.outputs[members].astype(float).mean(axis=0), pool.weights)
            for pool in pools
        )
        return -value if metric.larger_is_better else value

    number = len(pools[0].outputs)
    members, best, best_loss = [0], [0], loss([0])
    for _ in range(steps):
        allowed = range(number) if len(set(members)) < most else sorted(set(members))
        losses = {each: loss([*members, each]) for each in allowed}
        chosen = min(losses, key=lambda each: (round(losses[each], 9), each))
        members = [*members, chosen]
        if losses[chosen] < best_loss - 1e-9:
            best, best_loss = list(members), losses[chosen]
    return [best.count(each) for each in range(number)]


@pytest.mark.parametrize("name", ["logloss", "brier", "rmse", "mae", "auc"])
@pytest.mark.parametrize("most", [2, 6])
def test_the_choice_is_that_of_a_plain_loop(name: str, most: int) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        is_number = name in ("rmse", "mae")
        pools = []
        for share, rows in ((0.75, 40), (0.25, 31)):
            y = rng.normal(size=rows) if is_number else rng.integers(0, 2, rows)
            outputs = (
                y + rng.normal(size=(6, rows)) if is_number else outputs_of_classes(rng, 6, np.asarray(y, int), 2, None)
            )
            pools.append(MemberPool(share, np.arange(rows), y, rng.uniform(0.5, 2.0, rows), outputs.astype(np.float32)))
        found = select_members(objective_of(name), pools, 7, most)
        assert found.tolist() == plain_selection(name, pools, 7, most)
        assert 1 <= np.count_nonzero(found) <= most


def test_members_cost_no_more_than_they_may() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=200)
    pool = MemberPool(1.0, np.arange(200), y, np.ones(200), (y + rng.normal(size=(6, 200))).astype(np.float32))
    costs = np.array([1.0, 5.0, 1.0, 5.0, 1.0, 5.0])
    free = select_members(objective_of("rmse"), [pool], 10, 6)
    assert costs[free > 0].sum() > 7.0
    bound = select_members(objective_of("rmse"), [pool], 10, 6, costs, 7.0)
    assert 1.0 < costs[bound > 0].sum() <= 7.0
    alone = select_members(objective_of("rmse"), [pool], 10, 6, costs, 0.5)
    assert np.flatnonzero(alone).tolist() == [0], "the best is there even if it takes too long"
