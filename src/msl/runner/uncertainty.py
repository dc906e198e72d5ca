"""Interval: how far the estimate of the winner might be off because of the rows it happened to be judged on.

Nothing is fitted for it: the outputs for rows held out are weighed anew, 1,000 times, and the middle 95 % is the
interval. Rows are drawn class by class, or whole groups where there are groups. Measures that only count mistakes are
drawn from the counts, with Jeffreys' prior (half a row right and half a row wrong in each class), so that no mistake
among 60 rows does not pass for none at all. The interval speaks of the one model that was chosen; that it was chosen
because it looked best is not in it, which is what a test table, or nested selection, is for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Floats
from msl.evaluate.dataset import Dataset
from msl.evaluate.final_fits import OutputsRequest, request_stream, requested_trials
from msl.evaluate.metrics import confusion, score
from msl.evaluate.resampling import Resampling, joined
from msl.runner.plan import Plan
from msl.runner.verdict import Candidate
from msl.space.metric import Metric
from msl.space.spec import Estimate, Objective, loss_value, metrics_of
from msl.space.values import Model

#: What random numbers are for, so that no two uses of one seed draw the same.
_INTERVAL = 5
_DRAWS, _FEWEST_DRAWS = 1_000, 100
#: Rows weighed altogether: a large table gets fewer draws, of which each says more.
_MOST_ROWS = 20_000_000
_TAILS = (2.5, 97.5)

#: One draw: the value of a metric.
_Draw = Callable[[Metric], float]


def intervals(
    plan: Plan, measured: Mapping[str, float], values: Mapping[str, float], found: Mapping[Estimate, HeldOut]
) -> dict[str, list[float] | None]:
    """The 95 % interval of each objective, as the user counts it; None for what no row decides.

    `measured` are the winner's measures and `values` its objectives, which always lie in their intervals.
    """
    return {
        name: interval(plan, objective, measured, values[name], found)
        for name, objective in zip(plan.objective_names(), plan.objectives, strict=True)
    }


def interval(
    plan: Plan, objective: Objective, measured: Mapping[str, float], value: float, found: Mapping[Estimate, HeldOut]
) -> list[float] | None:
    """That of one objective."""
    if not judges_rows(objective) or objective.estimate not in found:
        return None
    held = found[objective.estimate]
    metrics = metrics_of(objective.loss)
    fixed = {metric.name: measured[metric.name] for metric in metrics if metric.of_model}
    scales = {metric: _scale(metric, measured, held) for metric in metrics if not metric.of_model}
    drawn = []
    for draw in _draws(plan, held, list(scales)):
        one = fixed | {metric.name: scale * draw(metric) for metric, scale in scales.items()}
        drawn.append(loss_value(objective.loss, one))
    finite = [one for one in drawn if np.isfinite(one)]
    if not finite:
        return None
    low, high = np.percentile(finite, _TAILS)
    return [float(min(low, value)), float(max(high, value))]


def _scale(metric: Metric, measured: Mapping[str, float], held: HeldOut) -> float:
    """What scores are multiplied by: a relative metric is one over that of another model."""
    if metric.relative_to is None:
        return 1.0
    value = held.trial.score(metric, held.outputs)
    return measured[metric.name] / value if value else 1.0


def _draws(plan: Plan, held: HeldOut, metrics: Sequence[Metric]) -> list[_Draw]:
    rng = np.random.default_rng([plan.seed, _INTERVAL])
    dataset = plan.job.dataset
    is_plain = dataset.population.groups is None and all(pool.weights is None for pool in held.trial.pools)
    if is_plain and all(metric.from_confusion for metric in metrics):
        return _of_counts(held, dataset, rng)
    return _of_rows(held, dataset, rng)


def _of_counts(held: HeldOut, dataset: Dataset, rng: np.random.Generator) -> list[_Draw]:
    """How often each class would be taken for which: Dirichlet, the prior's half row of mistakes spread evenly."""
    k = dataset.n_classes
    pairs = zip(held.trial.pools, held.outputs, strict=True)
    counts = np.mean([confusion(pool.y, given, np.ones(len(pool.y))) for pool, given in pairs], axis=0)
    totals = counts.sum(axis=1, keepdims=True)
    prior = np.where(np.eye(k, dtype=np.bool_), 0.5, 0.5 / max(1, k - 1))
    gamma = rng.gamma(counts + prior, size=(_DRAWS, k, k))
    cells = gamma / gamma.sum(axis=2, keepdims=True) * totals
    outputs = np.tile(np.eye(k), (k, 1))
    return [partial(_cell_score, cells=each, y=np.repeat(np.arange(k), k), outputs=outputs) for each in cells]


def _cell_score(metric: Metric, cells: Floats, y: NDArray[np.intp], outputs: Floats) -> float:
    """A metric of counts: each cell is a row with its weight."""
    return score(metric, y, outputs, cells.ravel())


def _of_rows(held: HeldOut, dataset: Dataset, rng: np.random.Generator) -> list[_Draw]:
    """Rows drawn again with replacement, of each class as many as it has; or groups."""
    pools = held.trial.pools
    judged = np.unique(np.concatenate([pool.rows for pool in pools]))
    number = int(np.clip(_MOST_ROWS // len(judged), _FEWEST_DRAWS, _DRAWS))
    return [_row_draw(held, _times(dataset, judged, rng)) for _ in range(number)]


def _row_draw(held: HeldOut, times: Floats) -> _Draw:
    def value(metric: Metric) -> float:
        total = 0.0
        for pool, given in zip(held.trial.pools, held.outputs, strict=True):
            weights = times[pool.rows] if pool.weights is None else times[pool.rows] * pool.weights
            total += pool.share * score(metric, pool.y, given, weights)
        return total

    return value


def _times(dataset: Dataset, judged: NDArray[np.intp], rng: np.random.Generator) -> Floats:
    """How often each row of the table is drawn."""
    times = np.zeros(dataset.population.n_rows)
    groups = dataset.population.groups
    if groups is not None:
        names, unit = np.unique(groups[judged], return_inverse=True)
        drawn = np.bincount(rng.integers(0, len(names), len(names)), minlength=len(names))
        times[judged] = drawn[unit]
        return times
    strata = dataset.y[judged] if dataset.n_classes else np.zeros(len(judged), dtype=np.intp)
    for stratum in np.unique(strata):
        rows = judged[strata == stratum]
        times[rows] = np.bincount(rng.integers(0, len(rows), len(rows)), minlength=len(rows))
    return times


# --- What models say of rows that they were not fitted on, on the very splits that the winner was judged on. ----------


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """The outputs of each pool of a trial, in the order of its rows."""

    trial: Resampling
    outputs: tuple[Floats, ...]


def outputs_request(model: Model, estimate: Estimate, judged: Candidate) -> OutputsRequest:
    """Asks for the outputs of a model on the splits that a candidate was judged on."""
    return OutputsRequest(model, estimate, request_stream(judged.model), judged.repeat, judged.turns)


def requested_trial(plan: Plan, request: OutputsRequest) -> Resampling:
    """The rows that the outputs of a request are about, all turns as one trial."""
    return joined(requested_trials(plan.job.dataset, plan.objectives, plan.seed, request))


def judges_rows(objective: Objective) -> bool:
    """Whether an objective looks at outputs for rows that were held out."""
    return objective.estimate.held_out is not None and any(not each.of_model for each in metrics_of(objective.loss))


def row_estimates(plan: Plan) -> list[Estimate]:
    """The estimates of objectives that look at rows held out, each once."""
    return list(dict.fromkeys(objective.estimate for objective in plan.objectives if judges_rows(objective)))
