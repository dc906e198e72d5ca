"""Select an ensemble greedily from outputs for held-out rows (Caruana, Niculescu-Mizil, Crew and Ksikes, 2004).

Nothing is fitted: the outputs are those that models were judged by. The best model is joined by the one that helps the
mean most, again and again and with replacement, so that the counts are the weights. After a fixed number of steps the
best ensemble on the way is taken, the smallest on ties. All models that could join are judged at once, by the metrics
of the objective itself. To begin with several of the best models, or to take the mean over ensembles of random halves
of them, as the paper also does, was measured and gained nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Floats
from msl.evaluate.dataset import Dataset
from msl.evaluate.drawn_losses import combined_loss
from msl.evaluate.drawn_metrics import is_logloss, mean_over_rows, metric_of_counts
from msl.evaluate.metrics import row_terms, score
from msl.space.spec import Metric, Objective, metrics_of

_AUC = "msl.evaluate:auc"
#: The best models that may become members.
MOST_CANDIDATES = 25
#: Of all models those that could be among the best in some draw.
IN_REACH = 4 * MOST_CANDIDATES
#: Draws in which a choice is repeated, and how many rows times candidates times steps all of them may have.
_DRAWS, _FEWEST_DRAWS, _MOST_PRODUCTS = 100, 20, 400_000_000
#: The same for each second of a run's time limit: a twentieth of it at the most.
_PRODUCTS_PER_SECOND = 1_000_000
#: So many rows are enough to choose by in a draw, if so many of the rarest class are among them; of more, some are
#: taken.
_ENOUGH_ROWS, _ENOUGH_OF_A_CLASS = 20_000, 300
#: Seconds of a product for two classes, of areas of few rows and of all else; and of judging one model on one row of
#: one draw.
_SECONDS_OF_AREA, _SECONDS_A_PRODUCT, _SECONDS_A_ROW = 4e-8, 1.5e-8, 1e-8
#: Rows from which on areas are computed in bins.
MANY_ROWS = 5_000
#: The largest log-odds that areas of many rows tell apart, and into how many bins they are rounded: two thousandths
#: each, so that the area is right to about 1e-5.
_LARGEST_ODDS, _BINS = 16.0, 16_384
#: Losses that differ by less, relative to them, are the same.
_ROUNDING = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class MemberPool:
    """The outputs of candidates for the rows of one pool of a resampling, in the form in which members are averaged.

    `places` are the rows among those that are drawn, and `share` is the weight of the score of this pool.
    """

    share: float
    places: NDArray[np.intp]
    y: NDArray[Any]
    weights: Floats
    outputs: NDArray[Any]  # a table or a line for each candidate

    def of(self, candidates: Sequence[int]) -> MemberPool:
        return MemberPool(self.share, self.places, self.y, self.weights, self.outputs[list(candidates)])

    def drawn(self, times: Floats, most: int | None = None, rng: np.random.Generator | None = None) -> MemberPool:
        """The rows that are drawn, with how often as a weight; of more than `most`, so many that `rng` picks."""
        own = times[self.places]
        seen = np.flatnonzero(own > 0.0)
        if rng is not None and most is not None and len(seen) > most:
            seen = np.sort(rng.choice(seen, most, replace=False))
        return MemberPool(
            self.share, self.places[seen], self.y[seen], self.weights[seen] * own[seen], self.outputs[:, seen]
        )

    def mean(self, weights: Floats) -> Floats:
        """The outputs of an ensemble."""
        used = np.flatnonzero(weights)
        total = np.tensordot(weights[used], self.outputs[used], axes=1)
        return np.asarray(total / weights.sum())


def rows_to_choose_by(rows: int, dataset: Dataset) -> int:
    """By how many of the held-out rows a choice is made in each draw."""
    counts = np.bincount(dataset.y)[np.unique(dataset.y)] if dataset.n_classes else np.array([len(dataset.y)])
    is_enough = counts.min() / counts.sum() * _ENOUGH_ROWS >= _ENOUGH_OF_A_CLASS
    return min(rows, _ENOUGH_ROWS) if is_enough else rows


def number_of_draws(rows: int, candidates: int, steps: int, limit: float | None) -> int:
    """In how many draws a choice is repeated, by so many rows; `limit` are the seconds that the run may take."""
    most = _MOST_PRODUCTS if limit is None else min(_MOST_PRODUCTS, _PRODUCTS_PER_SECOND * limit)
    return int(np.clip(most // max(1, rows * min(candidates, MOST_CANDIDATES) * steps), _FEWEST_DRAWS, _DRAWS))


def seconds_of_draws(
    rows: int, chosen_by: int, models: int, steps: int, limit: float | None, n_classes: int, is_area: bool
) -> float:
    """About how long they take where so many models were evaluated, which are judged on all rows and chosen by some."""
    draws = number_of_draws(chosen_by, models, steps, limit)
    each = _SECONDS_OF_AREA if is_area and chosen_by <= MANY_ROWS else _SECONDS_A_PRODUCT
    of_choices = (draws * chosen_by + rows) * min(models, MOST_CANDIDATES) * steps * each * max(1.0, n_classes / 2)
    return of_choices + draws * rows * min(models, IN_REACH) * _SECONDS_A_ROW


def select_members(
    objective: Objective,
    pools: Sequence[MemberPool],
    steps: int,
    most: int,
    costs: Floats | None = None,
    allowance: float = np.inf,
) -> NDArray[np.intp]:
    """How often each candidate is in the ensemble; candidates come the best first, which wins ties.

    It begins with the first and makes so many `steps`. At most `most` different candidates are in it, which cost no
    more than the allowance together unless the first alone does.
    """
    number = len(pools[0].outputs)
    costs = np.zeros(number) if costs is None else costs
    counts = np.zeros(number, dtype=np.intp)
    counts[0] = 1
    totals = [pool.outputs[0].astype(np.float64) for pool in pools]
    best = counts.copy()
    best_loss = float(losses_of_sums(objective, pools, [one[np.newaxis] for one in totals], np.ones(1, np.intp))[0])
    for size in range(2, steps + 2):
        spent = costs[counts > 0].sum()
        joins = (counts > 0) | (spent + costs <= allowance) if np.count_nonzero(counts) < most else counts > 0
        allowed = np.flatnonzero(joins)
        sums = [total + pool.outputs[allowed] for total, pool in zip(totals, pools, strict=True)]
        losses = losses_of_sums(objective, pools, sums, np.full(len(allowed), size))
        if not np.isfinite(losses).any():
            break
        chosen = _first_lowest(losses)
        counts[allowed[chosen]] += 1
        totals = [one[chosen] for one in sums]
        if _is_lower(losses[chosen], best_loss):
            best, best_loss = counts.copy(), float(losses[chosen])
    return best


def _is_lower(loss: float, other: float) -> bool:
    """Whether a loss is lower by more than what rounding makes of the order of additions."""
    return bool(np.isfinite(loss)) and not loss >= other - _ROUNDING * max(abs(loss), abs(other))


def _first_lowest(losses: Floats) -> int:
    lowest = float(np.nanmin(losses))
    return int(np.flatnonzero(losses <= lowest + _ROUNDING * abs(lowest))[0])


def losses_of_sums(
    objective: Objective, pools: Sequence[MemberPool], sums: Sequence[NDArray[Any]], sizes: NDArray[np.intp]
) -> Floats:
    """The losses, to be minimised, of ensembles whose outputs add up to `sums` in each pool; NaN for undefined ones."""
    found = {}
    for metric in metrics_of(objective.loss):
        total: Any = 0.0
        for pool, outputs in zip(pools, sums, strict=True):
            means = outputs / sizes.reshape(-1, *(1 for _ in outputs.shape[1:]))
            total = total + pool.share * metric_of_many(metric, pool.y, means, pool.weights)
        found[metric.name] = total
    value = np.broadcast_to(combined_loss(objective.loss, found, (len(sizes),)), (len(sizes),))
    return np.asarray(value if objective.minimize else -value, dtype=np.float64)


# --- one metric of many outputs for the same rows ---------------------------------------------------------------------


def metric_of_many(metric: Metric, y: NDArray[Any], outputs: NDArray[Any], weights: Floats) -> Floats:
    """The metric of each of several outputs (the first axis) for rows with weights; NaN where it is not defined."""
    if not len(y):
        return np.full(len(outputs), np.nan)
    if is_logloss(metric):
        chosen = outputs[:, np.arange(len(y)), y]
        certain = np.finfo(np.float64).eps
        return mean_over_rows(-np.log(np.clip(chosen, certain, 1.0 - certain)), y, weights, None)
    if metric.additive_over_rows is not None:
        flat = outputs.reshape(-1, *outputs.shape[2:])
        terms = row_terms(metric, np.tile(y, len(outputs)), flat).reshape(len(outputs), len(y))
        return mean_over_rows(terms, y, weights, metric.additive_over_rows)
    if metric.from_confusion:
        return _of_confusion(metric, y, outputs, weights)
    if metric.function == _AUC:
        return _areas(y, outputs, weights)
    return np.array([score(metric, y, one, weights) for one in outputs])


def _of_confusion(metric: Metric, y: NDArray[Any], outputs: NDArray[Any], weights: Floats) -> Floats:
    number, k = len(outputs), outputs.shape[2]
    cells = np.arange(number)[:, np.newaxis] * k * k + y * k + outputs.argmax(axis=2)
    counts = np.bincount(cells.ravel(), np.tile(weights, number), number * k * k)
    return metric_of_counts(metric, counts.reshape(number, k, k).astype(np.float64))


def _areas(y: NDArray[Any], outputs: NDArray[Any], weights: Floats) -> Floats:
    """The area under the ROC curve, of two classes or the mean over each against the rest."""
    k = outputs.shape[2]
    curves = [1] if k == 2 else [c for c in range(k) if 0 < np.count_nonzero(y == c) < len(y)]
    if not curves:
        return np.full(len(outputs), np.nan)
    return np.asarray(np.mean([_area(y == c, outputs[:, :, c], weights) for c in curves], axis=0))


def _area(positive: NDArray[np.bool_], scores: NDArray[Any], weights: Floats) -> Floats:
    up, down = weights * positive, weights * ~positive
    if not up.any() or not down.any():
        return np.full(len(scores), np.nan)
    if len(positive) > MANY_ROWS:
        return np.array([_area_of_bins(_bins_of_odds(one), up, down) for one in scores])
    scores = scores.astype(np.float32, copy=False)
    order = np.argsort(scores, axis=1)
    ranked = np.take_along_axis(scores, order, axis=1)
    below = down[order]
    beaten = np.cumsum(below, axis=1)
    is_first = np.ones(ranked.shape, dtype=np.bool_)
    np.not_equal(ranked[:, 1:], ranked[:, :-1], out=is_first[:, 1:])
    if not is_first.all():  # of rows with equal scores half are beaten
        before = np.maximum.accumulate(np.where(is_first, beaten - below, 0.0), axis=1)
        is_last = np.ones(ranked.shape, dtype=np.bool_)
        is_last[:, :-1] = is_first[:, 1:]
        after = np.where(is_last, beaten, np.inf)[:, ::-1]
        beaten = 0.5 * (before + np.minimum.accumulate(after, axis=1)[:, ::-1])
    return np.asarray(np.einsum("ij,ij->i", up[order], beaten) / (up.sum() * down.sum()))


def _bins_of_odds(shares: NDArray[Any]) -> NDArray[np.intp]:
    """The bins of the log-odds of shares between 0 and 1, which tell apart what is near the ends."""
    shares = np.clip(shares, 0.0, 1.0, dtype=np.float32)
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.log(shares / (np.float32(1.0) - shares))
    scaled = (np.clip(odds, -_LARGEST_ODDS, _LARGEST_ODDS) + _LARGEST_ODDS) * ((_BINS - 1) / (2.0 * _LARGEST_ODDS))
    return np.asarray(scaled.astype(np.intp))


def _area_of_bins(bins: NDArray[np.intp], up: Floats, down: Floats) -> float:
    """The area where rows of one bin count as equal."""
    above, under = np.bincount(bins, up, _BINS), np.bincount(bins, down, _BINS)
    below = np.cumsum(under)
    return float(above @ (below - 0.5 * under) / (above.sum() * below[-1]))
