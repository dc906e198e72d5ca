"""Fit the final models of a run, on all rows or for rows held out, and measure the model that a run would keep.

The outputs for rows held out and the fits on all rows are tasks of the executors, like evaluations, so that they run in
the workers, with the same number of threads.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from time import process_time
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
from msl.evaluate.outcome import EvaluationLog, FitFigures, RequirementBroken, WholeModelFigures, failure_of
from msl.evaluate.prefix_cache import PrefixCache
from msl.evaluate.resampling import Resampling, ResamplingPlan, cv, halved
from msl.evaluate.splits import Rows
from msl.space.spec import OF_WHOLE_MODEL, Estimate, Metric, MetricLimit, Objective
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


# --- Bytes and prediction time of the model fitted on all rows --------------------------------------------------------
#
# A requirement such as `require model_bytes <= 2MB` is a promise about what is delivered, so what the folds are fitted
# with, on fewer rows, would not do. The number of bytes is the same wherever and whenever it is counted. Times are
# measured, and differ: an evaluation is stored with the time that was measured once.

#: The rows that are predicted at once where a metric does not say.
_BATCH = 1000
#: A prediction is timed again until so many seconds are spent, but this often at least and at most.
_ENOUGH_SECONDS, _FEWEST, _MOST = 0.1, 3, 20


class WholeModelMeter:
    """Fits models on all rows of one table, and measures what some metrics need of them."""

    def __init__(self, dataset: Dataset, metrics: Iterable[Metric], seed: int, trusted: Collection[str]) -> None:
        self._dataset, self._seed, self._trusted = dataset, seed, trusted
        wanted = [metric for metric in metrics if metric.needs in OF_WHOLE_MODEL]
        self._batches = sorted({_batch(metric) for metric in wanted if metric.needs == "prediction"})
        self.is_needed = bool(wanted)

    def figures(self, model: Model, rows: Rows | None, learner: str, log: EvaluationLog) -> WholeModelFigures:
        """Those of a model fitted on these rows, None for all. Raises whatever a block raises."""
        dataset = self._dataset
        chain = model_to_chain(model, dataset.task, self._seed, self._trusted, dataset.columns)
        # Copies: a block may write into its rows, and those of a job are mapped from a file.
        chosen = slice(None) if rows is None else rows
        X, y = np.array(dataset.X[chosen]), np.array(dataset.y[chosen])
        weights = None if dataset.weights is None else np.array(dataset.weights[chosen])
        log.at(learner)
        log.fits += 1
        with estimator_code:
            chain.fit_arrays(X, y, dataset.n_classes, weights)
            size = pickled_size(chain)  # first of all: a model may keep what it computes for predictions
            seconds = {batch: _fastest(chain, X[np.arange(batch) % len(X)]) for batch in self._batches}
        return WholeModelFigures(size, seconds)


def _batch(metric: Metric) -> int:
    found = dict(metric.options).get("batch", _BATCH)
    return found if isinstance(found, int) else _BATCH


def _fastest(chain: Any, rows: Floats) -> float:
    """The CPU seconds of the fastest of several predictions: other work of the machine only adds to them."""
    spent: list[float] = []
    while len(spent) < _FEWEST or (len(spent) < _MOST and sum(spent) < _ENOUGH_SECONDS):
        start = process_time()
        chain.outputs(rows)
        spent.append(process_time() - start)
    return min(spent)


# --- the size of an object --------------------------------------------------------------------------------------------


class _Counter(io.RawIOBase):
    """A file that only counts what is written."""

    size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self.size += memoryview(data).nbytes
        return memoryview(data).nbytes


class _Pickler(pickle.Pickler):
    """Pickles equal texts as one object, and equal types of arrays: whether they are one depends on the process that a
    model was built in, and on whether its rows came to it through a pickle."""

    def persistent_id(self, value: Any) -> Any:
        if type(value) is str:
            return sys.intern(value)
        return sys.intern(str(value)) if isinstance(value, np.dtype) else None


def pickled_size(value: Any) -> int:
    """About the bytes that `pickle.dumps` gives, and the same in every process."""
    counter = _Counter()
    _Pickler(counter, protocol=5).dump(value)
    return counter.size


# --- requirements on metrics ------------------------------------------------------------------------------------------


def demand(limits: Iterable[MetricLimit], found: dict[str, float]) -> None:
    """Raises RequirementBroken if a metric that was measured does not meet a requirement."""
    for limit in limits:
        name = limit.metric.name
        if name in found and not limit.holds(found[name]):
            message = f"`{name}` is {shown_metric(limit.metric, found[name])}: not `{limit.text}`"
            raise RequirementBroken(message, found)


_UNITS = {
    "time": ((1e-6, "µs"), (1e-3, "ms"), (1.0, "s")),
    "size": ((1.0, "bytes"), (1e3, "KB"), (1e6, "MB"), (1e9, "GB")),
}


def shown_metric(metric: Metric, value: float) -> str:
    """The value of a metric for people, with its unit if it has one."""
    if metric.unit is None:
        return f"{value:.4g}"
    factor, unit = next(((f, u) for f, u in reversed(_UNITS[metric.unit]) if value >= f), _UNITS[metric.unit][0])
    return f"{value / factor:.4g} {unit}"
