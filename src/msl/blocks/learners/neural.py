"""Neural networks with one hidden layer of tanh units, linear outputs and weight decay, fitted by L-BFGS."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from msl.blocks.base.block import Block, BlockClassifier, BlockRegressor, Floats
from msl.blocks.numerics.class_statistics import balanced_weights, present_classes, scores_of_all, signed_targets
from msl.blocks.numerics.safe_scaling import reject_huge, unit_scale
from msl.blocks.public import public

#: The fit ends when no entry of the gradient is larger than this.
GRADIENT_TOLERANCE = 1e-4


@public
@dataclass(frozen=True, slots=True)
class NetworkShape:
    """The sizes of the layers; the weights of a network are one vector, as optimisers expect."""

    inputs: int
    units: int
    outputs: int

    @property
    def n_weights(self) -> int:
        return (self.inputs + 1) * self.units + (self.units + 1) * self.outputs

    def layers(self, weights: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Views of the vector: hidden weights and biases, output weights and biases."""
        hidden, bias, output = np.cumsum([self.inputs * self.units, self.units, self.units * self.outputs])
        return (
            weights[:hidden].reshape(self.inputs, self.units),
            weights[hidden:bias],
            weights[bias:output].reshape(self.units, self.outputs),
            weights[output:],
        )

    def initial(self, random: RandomState) -> Floats:
        """Normal initial weights and biases, whose variance is one over the number of those into a unit."""
        weights: Floats = random.standard_normal(self.n_weights)
        hidden = (self.inputs + 1) * self.units
        weights[:hidden] /= np.sqrt(self.inputs + 1)
        weights[hidden:] /= np.sqrt(self.units + 1)
        return weights

    def activations(self, weights: Floats, X: Floats) -> tuple[Floats, Floats]:
        """The values of the hidden units and the outputs, which are linear."""
        hidden, hidden_bias, output, output_bias = self.layers(weights)
        inside = np.tanh(X @ hidden + hidden_bias)
        return inside, inside @ output + output_bias


@dataclass(frozen=True, slots=True)
class NetworkObjective:
    """Half the mean squared error of a network on its rows, plus decay / 2n times its squared weights and biases."""

    shape: NetworkShape
    X: Floats
    targets: Floats
    row_weights: Floats
    decay: float

    def __call__(self, weights: Floats) -> tuple[float, Floats]:
        """The value and its gradient."""
        n_rows = len(self.X)
        inside, outputs = self.shape.activations(weights, self.X)
        error = outputs - self.targets
        loss = (self.row_weights * (error**2).sum(axis=1)).sum() / 2.0
        error *= self.row_weights[:, np.newaxis] / n_rows

        gradient = np.empty_like(weights)
        _, _, output, _ = self.shape.layers(weights)
        to_hidden, to_hidden_bias, to_output, to_output_bias = self.shape.layers(gradient)
        decay = self.decay / n_rows
        to_output[:] = inside.T @ error
        to_output_bias[:] = error.sum(axis=0)
        back = (error @ output.T) * (1.0 - inside**2)
        to_hidden[:] = self.X.T @ back
        to_hidden_bias[:] = back.sum(axis=0)
        gradient += decay * weights
        return float(loss / n_rows + decay / 2.0 * (weights @ weights)), gradient


class Neural(Block):
    """The parameters of both networks and their fit.

    Parameters
    ----------
    units : int
        The number of hidden units.
    shrinkage : float
        The weight decay.
    balance : bool
        Whether classes are weighted by their inverse frequency.
    maxiter : int
        The most iterations of L-BFGS.
    random_state : int, RandomState or None
        The seed of the initial weights.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "units": [Interval(Integral, 1, None, closed="left")],
        "shrinkage": [Interval(Real, 0, None, closed="left")],
        "balance": ["boolean"],
        "maxiter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        units: int = 10,
        shrinkage: float = 1e-4,
        balance: bool = False,
        maxiter: int = 100,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.units = units
        self.shrinkage = shrinkage
        self.balance = balance
        self.maxiter = maxiter
        self.random_state = random_state

    def _fit_network(self, X: Floats, targets: Floats, row_weights: Floats) -> None:
        reject_huge(X, type(self).__name__)
        self.shape_ = NetworkShape(X.shape[1], self.units, targets.shape[1])
        start = self.shape_.initial(check_random_state(self.random_state))
        objective = NetworkObjective(self.shape_, X, targets, row_weights, self.shrinkage)
        result = minimize(
            objective, start, method="L-BFGS-B", jac=True, options={"maxiter": self.maxiter, "gtol": GRADIENT_TOLERANCE}
        )
        self.weights_: Floats = result.x

    def _network_outputs(self, X: Floats) -> Floats:
        reject_huge(X, type(self).__name__)
        return self.shape_.activations(self.weights_, X)[1]

    def complexity(self) -> float:
        """The number of weights."""
        return float(self.shape_.n_weights)


@public
class NeuralRegressor(Neural, BlockRegressor):
    """A network for regression, fitted to the standardized target; `balance` has no effect."""

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        unit = unit_scale(y)
        mean = (y * unit).mean()
        spread = (y * unit).std() or 1.0
        self.mean_, self.spread_ = float(mean / unit), float(spread / unit)
        targets = ((y * unit - mean) / spread)[:, np.newaxis]
        self._fit_network(X, targets, np.ones(len(y)))

    def outputs(self, X: Floats) -> Floats:
        return self._network_outputs(X)[:, 0] * self.spread_ + self.mean_


@public
class NeuralClassifier(Neural, BlockClassifier):
    """A network for classification: regression on targets of ±1, one against the rest beyond two classes."""

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.n_classes_ = n_classes
        self.present_, codes = present_classes(y, n_classes)
        n_present = len(self.present_)
        row_weights = balanced_weights(codes, n_present) if self.balance else np.ones(len(codes))
        self._fit_network(X, signed_targets(codes, n_present), row_weights)

    def outputs(self, X: Floats) -> Floats:
        return scores_of_all(self._network_outputs(X), self.present_, self.n_classes_)
