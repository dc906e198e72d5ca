"""A Gaussian process over the models of a space: what their losses are where none was evaluated, and how sure it is.

The kernel is that of an analysis of variance with all interactions: a product over the decisions of one plus the weight
of a decision times a kernel of its values, which has mean zero over them. A decision that one of two models does not
have gives a factor of one, so a conditional space needs nothing else; one whose weight is near zero has no effect. The
weights are the likeliest ones, with a prior that most of them are small. A posterior does not mind that a search has
gone where losses are low, as long as all its models are given; where it has not been, draws differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.intp]
Block = tuple[Any, Any]

#: Numbers are read to a part of their range, and the kernel of numbers falls off over half of it.
_STEPS, _REACH = 32, 0.5
#: More alternatives than this are taken for places in an order, as sets and orders are.
_MOST_ALTERNATIVES = 64
#: The models that the weights are fitted to; the process knows all that it is given.
_MOST_FITTED, _ITERATIONS = 250, 40
#: The logarithms of the weights, of the variance and of the noise: mean and standard deviation of their priors, and the
#: least and the most that they may be. Losses have variance 1.
_WEIGHT, _VARIANCE, _NOISE = (-3.0, 2.0), (1.0, 2.0), (-2.0, 1.5)
_RANGES = ((-9.0, 3.0), (-4.0, 6.0), (-7.0, 1.0))
_FIRST = (-2.0, 1.0, -2.0)
_ZERO = 1e-9
_EVERYWHERE: Block = (slice(None), slice(None))
#: Losses this many quartile ranges above the quartile are outliers: of them the logarithm counts.
_FENCE = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Models as the levels of their decisions, with the decisions that each has."""

    codes: Codes
    active: Flags

    def __len__(self) -> int:
        return len(self.codes)

    def of(self, rows: NDArray[np.intp]) -> Points:
        return Points(self.codes[rows], self.active[rows])

    def having(self, slot: int) -> NDArray[np.intp]:
        """The models that have a decision."""
        return np.flatnonzero(self.active[:, slot])


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """A kernel for the levels of each decision: of mean zero over them, and one on the average for equal levels."""

    tables: tuple[Floats, ...]

    @classmethod
    def of(cls, levels: Sequence[int | None], is_choice: Sequence[bool]) -> Decisions:
        return cls(tuple(_table(*each) for each in zip(levels, is_choice, strict=True)))

    def points(self, shares: Floats, active: Flags) -> Points:
        sizes = np.array([len(table) for table in self.tables])
        return Points(np.minimum((shares * sizes).astype(np.intp), sizes - 1), active)

    def parts(self, one: Points, other: Points) -> list[tuple[Block, Floats]]:
        """For each decision the pairs of models that have it, as a block of all pairs, and their kernel."""
        found = []
        for slot, table in enumerate(self.tables):
            left, right = one.having(slot), other.having(slot)
            levels = one.codes[left, slot], other.codes[right, slot]
            is_all = len(left) == len(one) and len(right) == len(other)
            block: Block = _EVERYWHERE if is_all else (left[:, None], right[None, :])
            found.append((block, table[levels[0]].take(levels[1], axis=1)))
        return found

    def kernel(self, one: Points, other: Points, logs: Floats) -> Floats:
        found = np.full((len(one), len(other)), np.exp(logs[-2]))
        for log, (block, part) in zip(logs[:-2], self.parts(one, other), strict=True):
            found[block] *= _factor(log, part)
        return found


def _table(levels: int | None, is_choice: bool) -> Floats:
    if is_choice and levels is not None and levels <= _MOST_ALTERNATIVES:
        size, plain = levels, np.eye(levels)
    else:
        size = min(levels or _STEPS, _STEPS)
        places = (np.arange(size) + 0.5) / size
        far = np.sqrt(5.0) * np.abs(places[:, None] - places[None, :]) / _REACH
        plain = (1.0 + far + far**2 / 3.0) * np.exp(-far)  # Matérn 5/2: twice differentiable
    centre = np.eye(size) - 1.0 / size
    centred = centre @ plain @ centre
    mean = float(np.trace(centred)) / size
    return np.asarray(centred / mean if mean > _ZERO else centred)


def _factor(log: float, part: Floats) -> Floats:
    """One plus the weighted kernel, which the derivative divides by."""
    found = part * np.exp(log)
    found += 1.0
    found[np.abs(found) < _ZERO] = _ZERO
    return np.asarray(found)


@dataclass(frozen=True, slots=True, eq=False)
class LossProcess:
    """A process that knows some losses; `foreseen` is the correlation of each loss with what the others say of it."""

    decisions: Decisions
    points: Points
    losses: Floats
    logs: Floats
    foreseen: float

    def draw(self, points: Points, number: int, rng: np.random.Generator) -> Floats:
        """Draws of the losses of models, without noise, in units of the spread of the losses; a row for each draw."""
        factor = _cholesky(self.decisions.kernel(self.points, self.points, self.logs), np.exp(self.logs[-1]))
        between = self.decisions.kernel(self.points, points, self.logs)
        mean = between.T @ cho_solve((factor, True), self.losses)
        known = solve_triangular(factor, between, lower=True)
        spread = self.decisions.kernel(points, points, self.logs) - known.T @ known
        root = _cholesky(spread, 1e-6 * np.exp(self.logs[-2]))
        return np.asarray(mean + rng.normal(size=(number, len(mean))) @ root.T)


def fit_process(decisions: Decisions, points: Points, losses: Floats, rng: np.random.Generator) -> LossProcess:
    """The likeliest process; the losses are finite and not all the same."""
    values = _standardized(losses)
    some = np.arange(len(values))
    if len(values) > _MOST_FITTED:
        some = np.sort(rng.choice(len(values), _MOST_FITTED, replace=False))
    logs = _likeliest(decisions, points.of(some), values[some])
    factor = _cholesky(decisions.kernel(points, points, logs), np.exp(logs[-1]))
    inverse = cho_solve((factor, True), np.eye(len(values)))
    by_others = values - inverse @ values / np.diag(inverse)
    foreseen = 0.0 if np.ptp(by_others) < _ZERO else float(np.corrcoef(by_others, values)[0, 1])
    return LossProcess(decisions, points, values, logs, foreseen)


def _standardized(losses: Floats) -> Floats:
    """Losses of mean 0 and variance 1; far outliers are drawn in, so that they are not all that is explained."""
    low, high = np.quantile(losses, [0.25, 0.75])
    reach = high - low
    if reach > 0:
        fence = high + _FENCE * reach
        above = np.maximum(losses - fence, 0.0)
        losses = np.where(above > 0, fence + reach * np.log1p(above / reach), losses)
    return np.asarray((losses - losses.mean()) / losses.std())


def _likeliest(decisions: Decisions, points: Points, losses: Floats) -> Floats:
    """The logarithms of the weights of the decisions, of the variance and of that of the noise."""
    parts, number = decisions.parts(points, points), len(losses)
    priors = np.array([_WEIGHT] * len(parts) + [_VARIANCE, _NOISE])

    def objective(logs: Floats) -> tuple[float, Floats]:
        """The negative logarithm of the posterior density, and its derivatives."""
        factors = [_factor(log, part) for log, (_, part) in zip(logs[:-2], parts, strict=True)]
        kernel = np.full((number, number), np.exp(logs[-2]))
        for (block, _), factor in zip(parts, factors, strict=True):
            kernel[block] *= factor
        noise = float(np.exp(logs[-1]))
        root = _cholesky(kernel, noise)
        weighted = cho_solve((root, True), losses)
        sensitivity = 0.5 * (cho_solve((root, True), np.eye(number)) - np.outer(weighted, weighted))
        by_kernel = sensitivity * kernel
        slopes = [
            float((by_kernel[block] * (np.exp(log) * part / factor)).sum())
            for log, (block, part), factor in zip(logs[:-2], parts, factors, strict=True)
        ]
        slopes += [float(by_kernel.sum()), noise * float(np.trace(sensitivity))]
        off = (logs - priors[:, 0]) / priors[:, 1]
        value = 0.5 * float(losses @ weighted) + float(np.log(np.diag(root)).sum()) + 0.5 * float(off @ off)
        return value, np.array(slopes) + off / priors[:, 1]

    start = np.array([_FIRST[0]] * len(parts) + list(_FIRST[1:]))
    bounds = [_RANGES[0]] * len(parts) + list(_RANGES[1:])
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": _ITERATIONS})
    return np.asarray(found.x)


def _cholesky(kernel: Floats, noise: float) -> Floats:
    """The lower factor of a kernel with noise; with more of it where rounding has left the kernel indefinite."""
    for more in (1.0, 1e2, 1e4, 1e6):
        try:
            whole = kernel.copy()
            whole[np.diag_indices_from(whole)] += more * noise
            return np.asarray(cholesky(whole, lower=True, overwrite_a=True, check_finite=False))
        except LinAlgError:
            continue
    raise LinAlgError("the kernel of the models is not positive definite")
