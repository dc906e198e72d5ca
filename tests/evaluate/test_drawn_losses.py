"""Losses of many models on many draws are those of the metrics, computed one by one."""

from __future__ import annotations

import numpy as np
import pytest
from evaluation_cases import numbers, objectives

from msl.blocks.base.block import Floats
from msl.evaluate.dataset import Dataset
from msl.evaluate.drawn_losses import DrawnLosses
from msl.evaluate.drawn_metrics import pools_of_models
from msl.evaluate.metrics import score
from msl.evaluate.resampling import Resampling, ResamplingPlan
from msl.space.spec import loss_value, metrics_of

CLASSES = ["ber", "error", "accuracy", "balanced_accuracy", "logloss", "auc", "brier", "precision", "recall", "f1"]
CLASSES += ["mcc", "average_precision", "exception_bits", "ber + 0.5 * logloss", "-(f1 * f1) / 2"]
NUMBERS = ["mse", "rmse", "mae", "r2", "pinball(quantile = 0.9)"]


def two_classes() -> Dataset:
    rng = np.random.default_rng(1)
    return Dataset.of_arrays(rng.normal(size=(61, 2)), (np.arange(61) % 3 > 0).astype(np.intp), 2)


def three_classes() -> Dataset:
    rng = np.random.default_rng(2)
    return Dataset.of_arrays(rng.normal(size=(70, 2)), (np.arange(70) % 3).astype(np.intp), 3)


def outputs_of(dataset: Dataset, resampling: Resampling, seed: int, ties: bool = False) -> list[Floats]:
    rng = np.random.default_rng(seed)
    if not dataset.n_classes:
        return [dataset.y[pool.rows] + rng.normal(size=len(pool.rows)) for pool in resampling.pools]
    found = []
    for pool in resampling.pools:
        values = rng.dirichlet(np.ones(dataset.n_classes), len(pool.rows))
        values[np.arange(len(pool.rows)), pool.y] += 0.4 * rng.random()
        values = np.round(values, 1) + 0.05 if ties else values
        found.append(values / values.sum(axis=1, keepdims=True))
    return found


CASES = [(two_classes, each, False) for each in CLASSES] + [(numbers, each, False) for each in NUMBERS]
CASES += [(three_classes, each, False) for each in ("ber", "auc", "f1", "logloss", "precision")]
CASES += [(two_classes, "auc", True), (two_classes, "ber", True)]


@pytest.mark.parametrize("estimate", ["cv(folds = 3, repeats = 2)", "holdout(share = 0.5)"])
@pytest.mark.parametrize(("table", "goal", "ties"), CASES)
def test_they_are_those_of_the_metric(table: object, goal: str, ties: bool, estimate: str) -> None:
    dataset: Dataset = table()  # type: ignore[operator]
    (objective,) = objectives(f"{_way(goal)} {goal} by {estimate}", dataset)
    n = len(dataset.y)
    resampling = ResamplingPlan(dataset, [objective.estimate], 3).resampling(objective.estimate, 0, 1.0, 0)
    judged = [(resampling, outputs_of(dataset, resampling, seed, ties)) for seed in range(3)]
    losses = DrawnLosses(objective, pools_of_models(np.arange(n), dataset.y, dataset.n_classes, judged), {}, {})
    times = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), 4).astype(np.float32)
    found = losses.values(np.arange(3), times)
    for model, (_, outputs) in enumerate(judged):
        for draw, line in enumerate(times):
            expected = _expected(objective, resampling, outputs, line)
            assert found[model, draw] == pytest.approx(expected, rel=2e-5, abs=2e-6), (model, draw)


def _expected(objective: object, resampling: Resampling, outputs: list[Floats], times: Floats) -> float:
    measured = {}
    for metric in metrics_of(objective.loss):  # type: ignore[attr-defined]
        measured[metric.name] = sum(
            pool.share * score(metric, pool.y[seen], given[seen], times[pool.rows][seen].astype(float))
            for pool, given in zip(resampling.pools, outputs, strict=True)
            for seen in [times[pool.rows] > 0]
        )
    value = loss_value(objective.loss, measured)  # type: ignore[attr-defined]
    return value if objective.minimize else -value  # type: ignore[attr-defined]


def _way(goal: str) -> str:
    larger = (
        "accuracy",
        "balanced_accuracy",
        "auc",
        "precision",
        "recall",
        "f1",
        "mcc",
        "average_precision",
        "r2",
    )
    return "maximize" if goal in larger else "minimize"


@pytest.mark.parametrize("goal", ["ber", "logloss", "auc", "f1", "mcc", "ber * (1 + logloss)"])
def test_the_influence_of_rows_is_what_their_weight_changes(goal: str) -> None:
    dataset = two_classes()
    (objective,) = objectives(f"{_way(goal)} {goal} by cv(folds = 3)", dataset)
    n = len(dataset.y)
    resampling = ResamplingPlan(dataset, [objective.estimate], 3).resampling(objective.estimate, 0, 1.0, 0)
    outputs = outputs_of(dataset, resampling, 1)
    pools = pools_of_models(np.arange(n), dataset.y, dataset.n_classes, [(resampling, outputs)])
    losses = DrawnLosses(objective, pools, {}, {})
    found = losses.influence(0)
    before = _expected(objective, resampling, outputs, np.ones(n))
    for row in range(0, n, 7):
        more = np.ones(n)
        more[row] += 1e-4
        expected = (_expected(objective, resampling, outputs, more) - before) / 1e-4
        assert found[row] == pytest.approx(expected, abs=2e-5 + 2e-3 * abs(expected))


def test_a_metric_of_the_model_is_the_same_in_every_draw() -> None:
    dataset = two_classes()
    (objective,) = objectives("minimize ber + 0.1 * features by cv(folds = 3)", dataset)
    resampling = ResamplingPlan(dataset, [objective.estimate], 3).resampling(objective.estimate, 0, 1.0, 0)
    judged = [(resampling, outputs_of(dataset, resampling, seed)) for seed in range(2)]
    pools = pools_of_models(np.arange(len(dataset.y)), dataset.y, 2, judged)
    plain = DrawnLosses(objective, pools, {"features": np.zeros(2)}, {})
    more = DrawnLosses(objective, pools, {"features": np.array([3.0, 5.0])}, {})
    times = np.ones((1, len(dataset.y)), dtype=np.float32)
    added = more.values(np.arange(2), times) - plain.values(np.arange(2), times)
    np.testing.assert_allclose(added[:, 0], [0.3, 0.5])


def test_places_of_rows_are_those_of_the_table() -> None:
    """Models on splits of their own are lined up row by row."""
    dataset = two_classes()
    (objective,) = objectives("minimize error by cv(folds = 3, shuffle = true)", dataset)
    plan = ResamplingPlan(dataset, [objective.estimate], 3)
    judged = []
    for stream in (11, 12):
        resampling = plan.resampling(objective.estimate, stream, 1.0, 0)
        wrong = np.arange(len(dataset.y)) % 4 == 0
        shown = np.eye(2)[np.where(wrong, 1 - dataset.y, dataset.y)]
        judged.append((resampling, [shown[pool.rows] for pool in resampling.pools]))
    assert not np.array_equal(judged[0][0].pools[0].rows, judged[1][0].pools[0].rows)
    losses = DrawnLosses(objective, pools_of_models(np.arange(len(dataset.y)), dataset.y, 2, judged), {}, {})
    times = np.zeros((1, len(dataset.y)), dtype=np.float32)
    times[0, [0, 1, 2, 3, 4]] = 1.0
    np.testing.assert_allclose(losses.values(np.arange(2), times), [[0.4], [0.4]])
