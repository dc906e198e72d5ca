"""Streams of random numbers: each use of a seed has its own, and draws the same from it whenever it comes again."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from evaluation_cases import block, evaluator, objectives, two_moons

from msl.evaluate.cross_validate import EvaluationRequest, EvaluationState
from msl.evaluate.dataset import Dataset
from msl.evaluate.model_plan import ModelPlanner
from msl.evaluate.outcome import EvaluationLog
from msl.evaluate.resampling import Resampling, ResamplingPlan
from msl.space.values import Model

NEIGHBOUR = "sklearn.neighbors:KNeighborsClassifier"
FOREST = "msl.blocks.learners.forest:Forest*"


def _twins(count: int) -> list[Model]:
    """Models that predict the same, so that nothing but their splits can tell them apart."""
    return [Model((block(NEIGHBOUR, "learner", n_neighbors=1, leaf_size=10 + place),)) for place in range(count)]


def _stream(model: Model) -> int:
    return EvaluationState.of(EvaluationRequest(model), EvaluationLog()).stream


def _tested(trial: Resampling) -> list[list[int]]:
    return [split.test.tolist() for split in trial.splits]


def _resamplings(estimate: str, dataset: Dataset, seed: int = 3) -> ResamplingPlan:
    (objective,) = objectives(f"minimize error by {estimate}", dataset)
    return ResamplingPlan(dataset, [objective.estimate], seed)


def test_every_model_has_a_stream_of_its_own_and_always_the_same() -> None:
    streams = [_stream(model) for model in _twins(50)]
    assert len(set(streams)) == 50
    assert streams == [_stream(model) for model in _twins(50)]


@pytest.mark.parametrize(
    "estimate",
    [
        "cv(folds = 3, shuffle = true)",
        "holdout(share = 1/3, subsample = 1/2)",
        "cv(folds = 2, shuffle = true, stratified = false)",
        "cv(folds = 2, subsample = 1/2, balanced = true)",
    ],
)
def test_splits_of_their_own_differ_between_models_turns_and_seeds_and_repeat(estimate: str) -> None:
    dataset = two_moons()

    def drawn(seed: int) -> list[list[list[int]]]:
        resamplings = _resamplings(estimate, dataset, seed)
        streams = [_stream(model) for model in _twins(3)]
        return [
            _tested(resamplings.resampling(resamplings.estimates[0], stream, 1.0, repeat))
            for stream in streams
            for repeat in range(3)
        ]

    first, other = drawn(3), drawn(4)
    assert all(one != two for one, two in combinations([*first, *other], 2))
    assert drawn(3) == first


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_common_splits_differ_between_turns_and_seeds_and_repeat(share: float) -> None:
    dataset = two_moons()

    def drawn(seed: int) -> list[list[list[int]]]:
        resamplings = _resamplings("cv(folds = 3)", dataset, seed)
        return [_tested(resamplings.resampling(resamplings.estimates[0], 0, share, repeat)) for repeat in range(4)]

    first, other = drawn(3), drawn(4)
    assert all(one != two for one, two in combinations([*first, *other], 2))
    assert drawn(3) == first


def test_the_part_of_the_rows_that_is_judged_differs_between_turns_and_seeds_and_repeats() -> None:
    dataset = two_moons()

    def drawn(seed: int) -> list[list[int]]:
        resamplings = _resamplings("cv(folds = 3)", dataset, seed)
        return [
            sorted(chain(*_tested(resamplings.resampling(resamplings.estimates[0], 0, 0.5, repeat))))
            for repeat in range(4)
        ]

    first, other = drawn(3), drawn(4)
    assert all(one != two for one, two in combinations([*first, *other], 2))
    assert drawn(3) == first


def test_which_rows_are_judged_is_not_drawn_from_what_splits_them() -> None:
    """A half of the rows and a half to hold out are drawn alike; from one stream they would be the same half."""
    dataset = two_moons(200)
    resamplings = _resamplings("holdout(share = 1/2)", dataset)
    estimate = resamplings.estimates[0]
    (halved,) = resamplings.resampling(estimate, 0, 1.0, 0).splits
    part = resamplings.resampling(estimate, 0, 0.5, 0)
    judged = np.concatenate([part.splits[0].train, part.splits[0].test])
    for half in (halved.train, halved.test):
        assert 0 < len(np.intersect1d(half, judged)) < len(half)


def test_models_that_predict_the_same_are_told_apart_by_splits_of_their_own_alone() -> None:
    dataset = two_moons()
    common = evaluator("minimize error by cv(folds = 3)", dataset)
    assert len({common.evaluate(model).losses for model in _twins(8)}) == 1
    own = [evaluator("minimize error by cv(folds = 3, shuffle = true)", dataset) for _ in range(2)]
    first, again = ([judge.evaluate(model).losses for model in _twins(8)] for judge in own)
    assert len(set(first)) > 3
    assert first == again


def test_a_block_draws_from_its_place_and_the_seed() -> None:
    """Two forests in one model are two forests; the same block in the same place of another model is the same."""
    dataset = two_moons()
    forest = block(FOREST, "learner", units=3)
    scaled = Model((block("sklearn.preprocessing:StandardScaler"), forest))

    def states(seed: int) -> list[int]:
        planner = ModelPlanner(dataset.columns, dataset.task, seed, ())
        return [planner.plan(model).learner.estimator().random_state for model in (Model((forest,)), scaled)]

    assert len({*states(0), *states(1)}) == 4
    assert states(0) == states(0)
