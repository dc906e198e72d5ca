"""Compute confidence intervals of the winner's estimate by resampling the rows that it was scored on.

Nothing is fitted: the outputs for held-out rows are weighted anew, 1,000 times, and the middle 95 % is the interval.
Rows are drawn class by class, or whole groups where there are groups. Metrics that depend only on the confusion matrix
are drawn from its counts with Jeffreys' prior (half a correct and half a wrong row in each class), so that the interval
has a width even if there is no mistake among few rows. The interval is about the one model that was chosen; the
optimism of choosing the best is not in it. A test table, or nested selection, shows that.

Of more than 20,000 rows the interval follows from what each row adds to the metric, by the delta method (for the area
under the ROC curve that is DeLong's, 1988), where this is known in closed form and no class is rare: draws come to the
same three digits in a thousand times the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Floats
from msl.evaluate.dataset import Dataset
from msl.evaluate.drawn_losses import DrawnLosses
from msl.evaluate.drawn_metrics import has_exact_influence, pools_of_models
from msl.evaluate.drawn_units import interval_of_loss
from msl.evaluate.ensemble_selection import MANY_ROWS
from msl.evaluate.final_fits import OutputsRequest, request_stream, requested_resamplings
from msl.evaluate.metrics import confusion, score
from msl.evaluate.resampling import Resampling, ResamplingPlan, can_halve, joined
from msl.runner.plan import Plan
from msl.space.spec import Estimate, Metric, Objective, loss_value, metrics_of
from msl.space.values import Model

if TYPE_CHECKING:
    from msl.runner.choose_winner import Candidate

#: A stream of random numbers, so that no two uses of one seed draw the same.
_INTERVAL = 5
_DRAWS, _FEWEST_DRAWS = 1_000, 100
#: The most rows weighted in all draws together: a large table gets fewer draws, each of which is more precise.
_MOST_ROWS = 20_000_000
_TAILS = (2.5, 97.5)
#: The fewest rows of each class, or groups, whose metrics are as good as normal.
_FEWEST_FOR_NORMAL = 500

#: One draw: the value of a metric.
_Draw = Callable[[Metric], float]


def intervals(
    plan: Plan, measured: Mapping[str, float], values: Mapping[str, float], found: Mapping[Estimate, HeldOut]
) -> dict[str, list[float] | None]:
    """The 95 % interval of each objective, with the sign that the user sees; None for what does not depend on rows.

    `measured` are the winner's metrics and `values` its objectives, which always lie in their intervals.
    """
    return {
        name: interval(plan, objective, measured, values[name], found)
        for name, objective in zip(plan.objective_names(), plan.objectives, strict=True)
    }


def interval(
    plan: Plan, objective: Objective, measured: Mapping[str, float], value: float, found: Mapping[Estimate, HeldOut]
) -> list[float] | None:
    """The 95 % interval of one objective; see `intervals`."""
    if not uses_held_out_rows(objective) or objective.estimate not in found:
        return None
    held = found[objective.estimate]
    metrics = metrics_of(objective.loss)
    fixed = {metric.name: measured[metric.name] for metric in metrics if metric.of_model}
    scales = {metric: _scale(metric, measured, held) for metric in metrics if not metric.of_model}
    if (told := _of_influence(plan, objective, held, fixed, scales, value)) is not None:
        return told
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
    """The factor of a metric: a relative metric is divided by that of another model, which is not drawn."""
    if metric.relative_to is None:
        return 1.0
    value = held.resampling.score(metric, held.outputs)
    return measured[metric.name] / value if value else 1.0


# --- in closed form ---------------------------------------------------------------------------------------------------


def _is_closed(plan: Plan, objective: Objective, rows: NDArray[np.intp]) -> bool:
    """Whether the interval follows from what each row adds, and draws would be too few for the same precision."""
    metrics = [metric for metric in metrics_of(objective.loss) if not metric.of_model]
    if objective.estimate.rows_repeat or _number_of_draws(len(rows)) == _DRAWS:
        return False
    _, strata = _units(plan.job.dataset, rows)
    smallest = min(np.bincount(strata)[np.unique(strata)])
    return bool(smallest >= _FEWEST_FOR_NORMAL) and all(map(has_exact_influence, metrics))


def _of_influence(
    plan: Plan,
    objective: Objective,
    held: HeldOut,
    fixed: Mapping[str, float],
    scales: Mapping[Metric, float],
    value: float,
) -> list[float] | None:
    """The interval by the delta method; None where draws are better."""
    rows = np.unique(np.concatenate([pool.rows for pool in held.resampling.pools]))
    dataset = plan.job.dataset
    if _are_counts_drawn(held, dataset, scales) or not _is_closed(plan, objective, rows):
        return None
    pools = pools_of_models(rows, dataset.y, dataset.n_classes, [(held.resampling, held.outputs)])
    of_one = {metric.name: np.array([scale]) for metric, scale in scales.items() if scale != 1.0}
    losses = DrawnLosses(objective, pools, {name: np.array([one]) for name, one in fixed.items()}, of_one)
    unit, strata = _units(dataset, rows)
    added = np.bincount(unit, losses.influence(0), len(strata))
    spread = added - (np.bincount(strata, added) / np.maximum(np.bincount(strata), 1))[strata]
    error = float(np.sqrt(np.square(spread).sum()))
    if not np.isfinite(error):
        return None
    sign = 1.0 if objective.minimize else -1.0
    ends = interval_of_loss(sign * value, error, losses.bounds, len(rows))
    return sorted(sign * end for end in ends)


def _units(dataset: Dataset, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """What is drawn, for each of the rows, and the stratum of each of these units: rows within classes, or groups."""
    if dataset.population.groups is not None:
        names, unit = np.unique(dataset.population.groups[rows], return_inverse=True)
        return unit, np.zeros(len(names), dtype=np.intp)
    strata = dataset.y[rows].astype(np.intp) if dataset.n_classes else np.zeros(len(rows), dtype=np.intp)
    return np.arange(len(rows)), strata


# --- by draws ---------------------------------------------------------------------------------------------------------


def _draws(plan: Plan, held: HeldOut, metrics: Sequence[Metric]) -> Iterable[_Draw]:
    rng = np.random.default_rng([plan.seed, _INTERVAL])
    dataset = plan.job.dataset
    return _of_counts(held, dataset, rng) if _are_counts_drawn(held, dataset, metrics) else _of_rows(held, dataset, rng)


def _are_counts_drawn(held: HeldOut, dataset: Dataset, metrics: Iterable[Metric]) -> bool:
    """Whether counts of mistakes are drawn themselves, which takes no time."""
    is_plain = dataset.population.groups is None and all(pool.weights is None for pool in held.resampling.pools)
    return is_plain and all(metric.from_confusion for metric in metrics)


def _of_counts(held: HeldOut, dataset: Dataset, rng: np.random.Generator) -> list[_Draw]:
    """Confusion matrices from a Dirichlet distribution; the half wrong row of the prior is spread over the classes."""
    k = dataset.n_classes
    pairs = zip(held.resampling.pools, held.outputs, strict=True)
    counts = np.mean([confusion(pool.y, given, np.ones(len(pool.y))) for pool, given in pairs], axis=0)
    totals = counts.sum(axis=1, keepdims=True)
    prior = np.where(np.eye(k, dtype=np.bool_), 0.5, 0.5 / max(1, k - 1))
    gamma = rng.gamma(counts + prior, size=(_DRAWS, k, k))
    cells = gamma / gamma.sum(axis=2, keepdims=True) * totals
    outputs = np.tile(np.eye(k), (k, 1))
    return [partial(_cell_score, cells=each, y=np.repeat(np.arange(k), k), outputs=outputs) for each in cells]


def _cell_score(metric: Metric, cells: Floats, y: NDArray[np.intp], outputs: Floats) -> float:
    """A metric of a confusion matrix: each cell is a row, and its count is the weight."""
    return score(metric, y, outputs, cells.ravel())


def _of_rows(held: HeldOut, dataset: Dataset, rng: np.random.Generator) -> Iterator[_Draw]:
    """A stratified bootstrap of the held-out rows, or one of whole groups.

    One draw after the other: together they would take many times the memory of the table.
    """
    pools = held.resampling.pools
    rows = np.unique(np.concatenate([pool.rows for pool in pools]))
    for _ in range(_number_of_draws(len(rows))):
        yield _row_draw(held, _bootstrap_counts(dataset, rows, rng))


def _number_of_draws(rows: int) -> int:
    return int(np.clip(_MOST_ROWS // max(1, rows), _FEWEST_DRAWS, _DRAWS))


def interval_work(plan: Plan) -> int:
    """The rows that are scored for the intervals of all objectives, in all draws together."""
    drawn = [objective for objective in plan.objectives if uses_held_out_rows(objective)]
    slow = [o for o in drawn if not all(metric.from_confusion for metric in metrics_of(o.loss) if not metric.of_model)]
    resamplings = ResamplingPlan(plan.job.dataset, (each.estimate for each in slow), plan.seed)
    pools = [resamplings.resampling(each.estimate, 0, 1.0, 0).pools for each in slow]
    rows = [np.unique(np.concatenate([pool.rows for pool in own])) for own in pools]
    work = [
        len(own) * (1 if _is_closed(plan, objective, own) else _number_of_draws(len(own)))
        for objective, own in zip(slow, rows, strict=True)
    ]
    return sum(work)


def _row_draw(held: HeldOut, times: Floats) -> _Draw:
    """One draw, in which each row counts so many times."""

    def value(metric: Metric) -> float:
        total = 0.0
        for pool, given in zip(held.resampling.pools, held.outputs, strict=True):
            weights = times[pool.rows] if pool.weights is None else times[pool.rows] * pool.weights
            total += pool.share * score(metric, pool.y, given, weights)
        return total

    return value


def _bootstrap_counts(dataset: Dataset, rows: NDArray[np.intp], rng: np.random.Generator) -> Floats:
    """How often each row of the table is drawn, if only these rows are."""
    times = np.zeros(dataset.population.n_rows)
    groups = dataset.population.groups
    if groups is not None:
        names, unit = np.unique(groups[rows], return_inverse=True)
        drawn = np.bincount(rng.integers(0, len(names), len(names)), minlength=len(names))
        times[rows] = drawn[unit]
        return times
    strata = dataset.y[rows] if dataset.n_classes else np.zeros(len(rows), dtype=np.intp)
    for stratum in np.unique(strata):
        own = rows[strata == stratum]
        times[own] = np.bincount(rng.integers(0, len(own), len(own)), minlength=len(own))
    return times


# --- outputs for held-out rows, on the splits that the winner was scored on -------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """The outputs of each pool of a resampling, in the order of its rows; of some only the `classes` are known."""

    resampling: Resampling
    outputs: tuple[Floats, ...]
    classes: bool = False


def outputs_request(model: Model, estimate: Estimate, scored: Candidate) -> OutputsRequest:
    """A request for the outputs of a model on the splits that the candidate `scored` was evaluated on."""
    return OutputsRequest(model, estimate, request_stream(scored.model), scored.repeat, scored.repeats)


def halves_requests(plan: Plan, scored: Candidate) -> list[OutputsRequest]:
    """Requests for the outputs of halved fits of a winner, where rows are scored by models of each other and its
    estimate will be corrected."""
    if plan.job.keeps == "nothing":
        return []
    return [
        OutputsRequest(scored.model, estimate, request_stream(scored.model), scored.repeat, halves=True)
        for estimate in row_estimates(plan)
        if can_halve(estimate, plan.job.dataset.population)
    ]


def requested_resampling(plan: Plan, request: OutputsRequest) -> Resampling:
    """The splits that a request is about, all repeats as one resampling."""
    return joined(requested_resamplings(plan.job.dataset, plan.objectives, plan.seed, request))


def uses_held_out_rows(objective: Objective) -> bool:
    """Whether an objective depends on outputs for rows that were held out."""
    return objective.estimate.held_out is not None and any(not each.of_model for each in metrics_of(objective.loss))


def row_estimates(plan: Plan) -> list[Estimate]:
    """The estimates of objectives that depend on held-out rows, each once."""
    return list(dict.fromkeys(objective.estimate for objective in plan.objectives if uses_held_out_rows(objective)))


def reuses_outputs(plan: Plan) -> bool:
    """Whether the outputs of the winner are those that the store keeps: of many, more digits are not worth a fit."""
    estimates = row_estimates(plan)
    if plan.job.keeps == "nothing" or not estimates or any(each.rows_repeat for each in estimates):
        return False
    resamplings = ResamplingPlan(plan.job.dataset, estimates, plan.seed)
    pools = resamplings.resampling(estimates[0], 0, 1.0, 0).pools
    return sum(len(pool.rows) for pool in pools) > MANY_ROWS
