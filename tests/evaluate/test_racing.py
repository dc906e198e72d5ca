"""Races: lost for certain or not lost, to the last digit of the sums that they are decided by."""

from __future__ import annotations

import math

import numpy as np
import pytest
from evaluation_cases import numbers, objectives, two_moons

from msl.blocks.base.block import Floats
from msl.evaluate.dataset import Dataset
from msl.evaluate.outcome import FitFigures
from msl.evaluate.racing import LostRace, Race
from msl.evaluate.resampling import Resampling, ResamplingPlan
from msl.space.spec import Objective, metrics_of

GOALS = [
    "minimize mse by cv(folds = 7)",
    "minimize rmse by cv(folds = 7)",
    "minimize mae by cv(folds = 7)",
    "maximize 1 - mse by cv(folds = 7)",
    "minimize mse by cv(folds = 4, repeats = 3)",
    "minimize mae by bootstrap632(6)",
    "minimize ber by cv(folds = 7)",
    "minimize error by bootstrap632(6)",
    "minimize ber by bootstrap632(6)",
]


def _setting(goal: str, seed: int) -> tuple[Dataset, Objective, Resampling]:
    dataset = two_moons(70, seed=seed) if "er" in goal.split()[1] else numbers(70, seed=seed)
    (objective,) = objectives(goal, dataset)
    return (
        dataset,
        objective,
        ResamplingPlan(dataset, [objective.estimate], seed).resampling(objective.estimate, 0, 1.0, 0),
    )


def _outputs(dataset: Dataset, trial: Resampling, seed: int) -> list[tuple[int, Floats]]:
    """What a model might say of each fold: nothing wrong on the last ones, so that all is decided before."""
    rng = np.random.default_rng(seed)
    found: list[tuple[int, Floats]] = []
    for place, split in enumerate(trial.splits):
        y = dataset.y[split.test]
        is_right = place >= len(trial.splits) // 2
        if dataset.n_classes:
            said = np.where(is_right | (rng.random(len(y)) < 0.7), y, 1 - y)
            found.append((split.pool, np.eye(2)[said]))
        else:
            found.append((split.pool, np.asarray(y + (0.0 if is_right else rng.normal(0, 0.3, len(y))))))
    return found


def _loss(dataset: Dataset, objective: Objective, trial: Resampling, outputs: list[tuple[int, Floats]]) -> float:
    """As it is computed when all folds are there."""
    by_pool = [np.concatenate([said for pool, said in outputs if pool == place]) for place in range(len(trial.pools))]
    (metric,) = metrics_of(objective.loss)
    value = trial.score(metric, by_pool)
    return value if objective.minimize else -(1.0 - value)


def _bound(
    dataset: Dataset, objective: Objective, trial: Resampling, outputs: list[tuple[int, Floats]], cutoff: float
) -> float:
    """What a lost race says of the loss; minus infinity when it is not lost."""
    race = Race(objective, cutoff, trial, dataset.n_classes, dataset.X.shape[1])
    try:
        for pool, said in outputs:
            race.add(pool, said, FitFigures())
    except LostRace as lost:
        return lost.bound
    return -math.inf


@pytest.mark.parametrize("goal", GOALS)
def test_whoever_comes_out_as_good_as_the_one_to_beat_has_not_lost(goal: str) -> None:
    """Sums over folds differ from those over all rows in the last digits, and must not decide."""
    for seed in range(12):
        dataset, objective, trial = _setting(goal, seed)
        outputs = _outputs(dataset, trial, seed)
        just_above = math.nextafter(_loss(dataset, objective, trial, outputs), math.inf)
        assert _bound(dataset, objective, trial, outputs, just_above) == -math.inf


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("worse_by", [1e-10, 0.3])
def test_whoever_is_worse_by_more_than_the_last_digits_has_lost_at_a_true_bound(goal: str, worse_by: float) -> None:
    for seed in range(12):
        dataset, objective, trial = _setting(goal, seed)
        outputs = _outputs(dataset, trial, seed)
        loss = _loss(dataset, objective, trial, outputs)
        cutoff = loss - worse_by * abs(loss)
        assert cutoff <= _bound(dataset, objective, trial, outputs, cutoff) <= loss


def test_folds_do_not_decide_a_race_of_a_metric_that_is_known_only_for_all_rows() -> None:
    """One fold's outputs say nothing of the best threshold of all: even those that are always wrong may be turned."""
    dataset, objective, trial = _setting("minimize ber_at_best_threshold by cv(folds = 7)", 0)
    outputs = _outputs(dataset, trial, 0)
    loss = _loss(dataset, objective, trial, outputs)
    assert loss > 0.05
    assert _bound(dataset, objective, trial, outputs, cutoff=loss / 2) == -math.inf
    pooled = np.concatenate([said for _, said in outputs])
    margins = pooled[:, 1] - pooled[:, 0]
    y = np.concatenate([dataset.y[split.test] for split in trial.splits])
    tried = [_balanced_error(y, margins > level) for level in (-2.0, 0.0, 2.0)]
    assert loss == pytest.approx(min(tried))


def _balanced_error(y: Floats, is_second: Floats) -> float:
    return float(np.mean([np.mean(is_second[y == 0]), np.mean(~is_second[y == 1])]))
