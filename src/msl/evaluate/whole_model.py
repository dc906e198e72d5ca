"""Measure the model that a run would keep, the one that is fitted on all rows: its bytes, the time of its predictions.

A requirement such as `require model_bytes <= 2MB` is a promise about what is delivered, so what the folds are fitted
with, on fewer rows, would not do. The number of bytes is the same wherever and whenever it is counted. Times are
measured, and differ: an evaluation is stored with the time that was measured once.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Collection, Iterable
from time import process_time
from typing import Any

import numpy as np

from msl.blocks.base.block import Floats
from msl.blocks.base.build import model_to_chain
from msl.blocks.base.load import estimator_code
from msl.evaluate.dataset import Dataset
from msl.evaluate.outcome import EvaluationLog, RequirementBroken, WholeModelFigures
from msl.evaluate.splits import Rows
from msl.space.spec import OF_WHOLE_MODEL, Metric, MetricLimit
from msl.space.values import Model

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
    """The CPU seconds of the fastest of some predictions: what else the machine does only adds to them."""
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
    """Raises RequirementBroken if one of the metrics that are there is not what is required."""
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
