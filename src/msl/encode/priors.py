"""Steer draws: uniform shares become shares as a prior of a range or the weights of alternatives would draw them.

Only draws are steered. What a share means stays the same, so every value stays in reach of every search.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from msl.encode.scale import LogWhole, Scale, Shares
from msl.space.formulas import Formula
from msl.space.nodes import Choice, IntRange, Prior, RealRange


class Steer(Protocol):
    """Maps uniform shares to steered ones, increasing from 0 to 1; `chances` are the probabilities of the levels."""

    def __call__(self, shares: Shares) -> Shares: ...

    def chances(self) -> NDArray[np.float64]: ...


@dataclass(frozen=True, slots=True)
class ByWeight:
    """One of several options, each with the probability of its weight."""

    weights: tuple[float, ...]

    def chances(self) -> NDArray[np.float64]:
        return np.array(self.weights) / math.fsum(self.weights)

    def __call__(self, shares: Shares) -> Shares:
        ends = np.cumsum(self.chances())
        ends[-1] = 1.0
        levels = np.minimum(np.searchsorted(ends, shares, side="right"), len(ends) - 1)
        starts = np.concatenate([[0.0], ends[:-1]])
        inside = (shares - starts[levels]) / (ends - starts)[levels]
        return np.asarray((levels + inside.clip(0.0, 1.0 - 1e-12)) / len(ends))


@dataclass(frozen=True, slots=True)
class ByPrior:
    """A normal distribution of the value or of its logarithm, truncated to the range.

    A level has the probability of the numbers that round to it.
    """

    prior: Prior
    scale: Scale
    is_log: bool

    def chances(self) -> NDArray[np.float64]:
        from scipy.special import ndtr

        edges = self._z(self._number(level_edges(self.scale)))
        below, above = ndtr(edges), ndtr(-edges)  # the tail that is smaller has more digits
        parts = np.where(edges[:-1] > 0, above[:-1] - above[1:], below[1:] - below[:-1])
        total = math.fsum(parts)
        return np.asarray(parts / total if total > 0 else np.full(len(parts), 1 / len(parts)))

    def __call__(self, shares: Shares) -> Shares:
        from scipy.special import log_ndtr, ndtri_exp

        low, high = self.scale.ends
        if not low < high:
            return shares
        first, last = self._z(self._number(np.array([0.0, 1.0])))
        flips = first + last > 0  # the lower tail has more digits
        if flips:
            first, last, shares = -last, -first, 1.0 - shares
        with np.errstate(divide="ignore"):
            logs = np.logaddexp(log_ndtr(first) + np.log1p(-shares), log_ndtr(last) + np.log(shares))
        found = ndtri_exp(np.minimum(logs, 0.0)).clip(first, last)
        numbers = float(self.prior.centre) if self.prior.kind == "normal" else math.log(float(self.prior.centre))  # type: ignore[arg-type]
        numbers = numbers + float(self.prior.spread) * (-found if flips else found)  # type: ignore[arg-type]
        return np.asarray(((self._native(numbers) - low) / (high - low)).clip(0.0, 1.0))

    def _number(self, shares: Shares) -> Shares:
        """The values at some shares."""
        low, high = self.scale.ends
        native = low + shares * (high - low)
        return np.asarray(10.0**native if self.is_log else native)

    def _z(self, values: Shares) -> Shares:
        """How many spreads from the centre some values are."""
        centre, spread = float(self.prior.centre), float(self.prior.spread)  # type: ignore[arg-type]
        if self.prior.kind == "normal":
            return np.asarray((values - centre) / spread)
        with np.errstate(divide="ignore"):
            return np.asarray((np.log(np.maximum(values, 0.0)) - math.log(centre)) / spread)

    def _native(self, numbers: Shares) -> Shares:
        """From the numbers that are normal to those of the scale, which are decades if it is logarithmic."""
        if self.prior.kind == "normal":
            with np.errstate(divide="ignore"):
                return np.log10(np.maximum(numbers, 0.0)) if self.is_log else numbers
        return np.asarray(numbers / math.log(10) if self.is_log else np.exp(numbers))


def level_edges(scale: Scale) -> Shares:
    """The shares between which each level lies, from 0 to 1."""
    assert scale.levels is not None
    if isinstance(scale, LogWhole):
        low, high = (end * math.log(10) for end in scale.ends)
        numbers = np.append(np.array(scale.numbers), scale.numbers[-1] + 1)
        return np.asarray((np.log(numbers - 0.5) - low) / (high - low))
    return np.linspace(0.0, 1.0, scale.levels + 1)


def prior_of(node: IntRange | RealRange, scale: Scale) -> ByPrior | None:
    """How draws from a range are steered; None if it has no prior, or one that depends on a table."""
    return None if node.prior is None or needs_table(node) else ByPrior(node.prior, scale, node.log)


def needs_table(node: IntRange | RealRange) -> bool:
    """Whether a number of the prior depends on a table."""
    prior = node.prior
    return prior is not None and (isinstance(prior.centre, Formula) or isinstance(prior.spread, Formula))


def weights_of(node: Choice) -> ByWeight | None:
    return ByWeight(node.weights) if node.weights else None
