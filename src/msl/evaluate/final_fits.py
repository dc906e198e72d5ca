"""Fit the final models of a run: their outputs for rows held out, and fits on every row of the table.

Both are tasks of the executors, like evaluations, so that they run in the workers, with the same number of threads.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context

from msl.blocks.base.block import Floats
from msl.blocks.base.build import model_to_chain
from msl.blocks.base.chain import sum_to_one
from msl.blocks.base.load import estimator_code
from msl.evaluate.cross_validate import CrossValidator, EvaluationRequest, EvaluationState
from msl.evaluate.dataset import Dataset
from msl.evaluate.fit import Fitter
from msl.evaluate.model_plan import ModelPlanner
from msl.evaluate.outcome import EvaluationLog, FitFigures, failure_of
from msl.evaluate.prefix_cache import PrefixCache
from msl.evaluate.resampling import Resampling, ResamplingPlan, cv, halved
from msl.space.spec import Estimate, Objective
from msl.space.values import Model

#: A stream of random numbers, so that no two uses of one seed draw the same.
_COMMON_FOLDS, _HALVES = 3, 9
COMMON_FOLDS = Estimate("cv", "msl.evaluate:cv", (("folds", 5), ("repeats", 1)), follows_order=True)
#: Rows that show whether a model gives probabilities: margins do not sum to one on any of them.
_SHOWING = 256


@dataclass(frozen=True, slots=True, eq=False)
class OutputsRequest:
    """The outputs of a model for rows that it was not fitted on.

    The splits are those of an estimate for the model with this `stream`, in so many `repeats` from `repeat` on; or the
    five folds that are common to all models of a run (`COMMON_FOLDS`), which no estimate uses. With `halves` there are
    two pools, of models that were each fitted on one half of the training rows (`halved`).
    """

    model: Model
    estimate: Estimate
    stream: int = 0
    repeat: int = 0
    repeats: int = 1
    halves: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class FitRequest:
    """A model to fit on every row of the table; with `rows`, its outputs for them are computed too."""

    model: Model
    rows: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class FittedModel:
    """A model fitted on every row; `outputs` are those for the rows of the request, or `no_outputs` says why not."""

    estimator: Any
    gives_probabilities: bool
    outputs: Floats | None = None
    no_outputs: str = ""


def request_stream(model: Model) -> int:
    """The number derived from a model, which its own splits are drawn from."""
    return EvaluationState.of(EvaluationRequest(model), EvaluationLog()).stream


def requested_resamplings(
    dataset: Dataset, objectives: Sequence[Objective], seed: int, request: OutputsRequest
) -> list[Resampling]:
    """The splits that a request is about, one resampling per repeat."""
    if request.estimate == COMMON_FOLDS:
        rng = np.random.default_rng([seed, _COMMON_FOLDS])
        splits = cv(dataset.population, dict(COMMON_FOLDS.options), rng)
        return [Resampling.of(COMMON_FOLDS, splits, dataset.y, "common folds").weighed(dataset.weights)]
    resamplings = ResamplingPlan(dataset, (objective.estimate for objective in objectives), seed)
    if request.halves:
        whole = resamplings.resampling(request.estimate, request.stream, 1.0, request.repeat)
        return [halved(whole, dataset.population, np.random.default_rng([seed, _HALVES, request.repeat]))]
    repeats = range(request.repeat, request.repeat + request.repeats)
    return [resamplings.resampling(request.estimate, request.stream, 1.0, repeat) for repeat in repeats]


class FinalFitter:
    """Answers such requests for one search on one table. Raises whatever a block raises."""

    def __init__(
        self, dataset: Dataset, objectives: tuple[Objective, ...], seed: int, trusted: Collection[str], cache_bytes: int
    ) -> None:
        self._dataset, self._objectives, self._seed, self._trusted = dataset, objectives, seed, trusted
        self._planner = ModelPlanner(dataset.columns, dataset.task, seed, trusted)
        self._cross_validator = CrossValidator(Fitter(dataset, PrefixCache(cache_bytes)), keeps=False, weighs_all=False)

    def outputs(self, request: OutputsRequest, log: EvaluationLog) -> tuple[Floats, ...]:
        """The outputs of each pool of each repeat, in the order of its rows."""
        with config_context(assume_finite=True, skip_parameter_validation=True):
            plan = self._planner.plan(request.model)
            found: list[Floats] = []
            for resampling in requested_resamplings(self._dataset, self._objectives, self._seed, request):
                found.extend(self._cross_validator.outputs(plan, resampling, log, FitFigures()))
            return tuple(found)

    def fitted(self, request: FitRequest) -> FittedModel:
        dataset = self._dataset
        chain = model_to_chain(request.model, dataset.task, self._seed, self._trusted, dataset.columns)
        # The rows themselves, read-only as those of folds are: a copy of a large table would be one in each worker.
        with estimator_code:
            chain.fit_arrays(dataset.X, dataset.y, dataset.n_classes, dataset.weights)
            gives = bool(dataset.n_classes) and sum_to_one(chain.outputs(dataset.X[:_SHOWING]))
        if request.rows is None:
            return FittedModel(chain, gives)
        try:
            with estimator_code:
                return FittedModel(chain, gives, chain.outputs(request.rows))
        except Exception as reason:  # of any class: rows that the model cannot take do not cost the fit
            return FittedModel(chain, gives, no_outputs=failure_of(reason, "").message)
