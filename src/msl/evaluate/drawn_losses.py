"""Compute the losses of many models on many draws of the rows at once, and what each row adds to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Floats
from msl.evaluate.drawn_metrics import PoolOfModels, metric_of_pool
from msl.evaluate.metrics import loss_bounds
from msl.space.spec import (
    Combined,
    Estimate,
    Interval,
    Loss,
    Measured,
    Metric,
    Objective,
    Weight,
    loss_value,
    metrics_of,
)


class DrawnLosses:
    """One objective of many models. `fixed` are metrics that do not depend on the draw, with a value for each model;
    `scales` are factors of those that are relative to another model, which is not drawn."""

    def __init__(
        self,
        objective: Objective,
        pools: Sequence[PoolOfModels],
        fixed: Mapping[str, Floats],
        scales: Mapping[str, Floats],
    ) -> None:
        self._objective, self._fixed, self._scales = objective, fixed, scales
        self._shares = [pool.share for pool in pools]
        self._metrics = {
            metric.name: [metric_of_pool(metric, pool) for pool in pools]
            for metric in metrics_of(objective.loss)
            if metric.name not in fixed
        }

    @classmethod
    def of_metric(cls, metric: Metric, pools: Sequence[PoolOfModels]) -> DrawnLosses:
        """A metric alone."""
        return cls(Objective(metric.name, Measured(metric.name, metric), Estimate("", "")), pools, {}, {})

    def of_other_outputs(self, model: int, pools: Sequence[PoolOfModels]) -> DrawnLosses:
        """The same objective of other outputs; for what is not drawn, the figures of one of these models."""
        number = len(pools[0].outputs)
        fixed, scales = (
            {name: np.repeat(values[model], number) for name, values in known.items()}
            for known in (self._fixed, self._scales)
        )
        return DrawnLosses(self._objective, pools, fixed, scales)

    @property
    def bounds(self) -> Interval:
        """What the losses can be at the least and at the most."""
        low, high = loss_bounds(self._objective.loss, {})
        return (low, high) if self._objective.minimize else (-high, -low)

    @property
    def is_quick(self) -> bool:
        """Whether many draws of many models take little time."""
        return all(one.is_quick for pools in self._metrics.values() for one in pools)

    @property
    def is_drawn(self) -> bool:
        """Whether anything depends on the rows."""
        return bool(self._metrics)

    def values(self, models: NDArray[np.intp], times: NDArray[np.float32]) -> Floats:
        """The losses, to be minimised, of some models (rows) in some draws (columns); NaN where there is none."""
        shape = (len(models), len(times))
        found: dict[str, Any] = {
            name: np.broadcast_to(values[models, np.newaxis], shape) for name, values in self._fixed.items()
        }
        for name, pools in self._metrics.items():
            total: Any = 0.0
            for share, one in zip(self._shares, pools, strict=True):
                total = total + share * one.values(models, times)
            found[name] = total * self._scales[name][models, np.newaxis] if name in self._scales else total
        value = np.broadcast_to(combined_loss(self._objective.loss, found, shape), shape)
        return np.asarray(value if self._objective.minimize else -value, dtype=np.float64)

    def influence(self, model: int) -> Floats:
        """What a little more weight of each row adds to the loss of one model."""
        index = np.array([model])
        found: dict[str, float] = {name: float(values[model]) for name, values in self._fixed.items()}
        pulls: dict[str, Floats] = {}
        for name, pools in self._metrics.items():
            scale = float(self._scales[name][model]) if name in self._scales else 1.0
            pulls[name] = sum(
                (scale * share * one.influence(model) for share, one in zip(self._shares, pools, strict=True)),
                start=np.zeros(1),
            )
            ones = np.ones((1, len(pulls[name])), dtype=np.float32)
            values = (share * one.values(index, ones) for share, one in zip(self._shares, pools, strict=True))
            found[name] = scale * float(sum(value[0, 0] for value in values))
        total: Any = 0.0
        for name, pull in pulls.items():
            step = 1e-6 * max(1.0, abs(found[name]))
            ends = (loss_value(self._objective.loss, found | {name: found[name] + way}) for way in (step, -step))
            above, below = ends
            total = total + (above - below) / (2.0 * step) * pull
        return np.asarray(total if self._objective.minimize else -total)


def combined_loss(loss: Loss, found: Mapping[str, Any], shape: tuple[int, ...]) -> Any:
    """The value of an objective, from arrays of the values of its metrics."""
    match loss:
        case Measured(name=name):
            return found[name]
        case Weight(value=value):
            return value
        case Combined(operation=operation, operands=(left, right)) if operation in "+-*/":
            a, b = combined_loss(left, found, shape), combined_loss(right, found, shape)
            with np.errstate(invalid="ignore", divide="ignore"):
                return {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[operation](a, b)
        case _:
            names = list(found)
            flat = zip(*(np.broadcast_to(found[name], shape).ravel() for name in names), strict=True)
            values = [loss_value(loss, dict(zip(names, map(float, one), strict=True))) for one in flat]
            return np.array(values).reshape(shape)
