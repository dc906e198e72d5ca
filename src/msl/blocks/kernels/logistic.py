"""Kernel logistic regression with a Gaussian kernel whose width is the median distance between rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from msl.blocks.base.block import Floats, ProbabilisticClassifier
from msl.blocks.kernels.kernel_machine import gaussian, median_squared_distance, squared_distances
from msl.blocks.numerics.class_statistics import present_classes, probabilities_of_all, signed_targets
from msl.blocks.numerics.matrices import inverse_diagonal, inverse_root, solve_positive_definite
from msl.blocks.numerics.safe_scaling import unit_scale
from msl.blocks.public import public

#: The weight of the penalty, for a kernel with ones on its diagonal.
PENALTY = 0.05
#: The largest number of Newton steps; far fewer are usual.
MOST_STEPS = 100
#: The fit ends when the relative decrease of the objective is smaller than this.
TOLERANCE = 1e-10
#: The smallest weight of a row, so that no step divides by zero.
LEAST_WEIGHT = 1e-10
#: Log odds are clipped here, so that their exponentials do not overflow.
LARGEST_LOG_ODDS = 500.0


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """f = Q a + b on the training rows, with the kernel Q; the objective is the negative log likelihood + ½ aᵀ Q a."""

    kernel: Floats
    signs: Floats
    multipliers: Floats
    offset: float

    @classmethod
    def start(cls, kernel: Floats, signs: Floats) -> LogisticFit:
        """The fit with a = 0: the log odds of the class frequencies."""
        share = (signs > 0).mean()
        return cls(kernel, signs, np.zeros(len(kernel)), float(np.log(share / (1.0 - share))))

    def log_odds(self) -> Floats:
        return self.kernel @ self.multipliers + self.offset

    def objective(self) -> float:
        odds = self.log_odds()
        penalty = self.multipliers @ (odds - self.offset) / 2.0
        return float(np.logaddexp(0.0, -self.signs * odds).sum() + penalty)

    def newton(self) -> LogisticFit:
        """A full Newton step, in the form that does not divide by the weights of the rows."""
        odds = self.log_odds()
        probability = expit(odds)
        weights, root = row_weights(probability)
        response = weights * odds + (self.signs > 0) - probability
        right_sides = np.column_stack([root * (self.kernel @ response), root])
        of_response, of_one = (
            root[:, np.newaxis] * solve_positive_definite(weighted(self.kernel, root), right_sides)
        ).T
        of_response = response - of_response
        offset = of_response.sum() / of_one.sum()
        return LogisticFit(self.kernel, self.signs, of_response - offset * of_one, float(offset))

    def towards(self, other: LogisticFit, part: float) -> LogisticFit:
        """The fit at a fraction of the step to another one."""
        multipliers = self.multipliers + part * (other.multipliers - self.multipliers)
        return LogisticFit(self.kernel, self.signs, multipliers, self.offset + part * (other.offset - self.offset))


def fit_logistic(kernel: Floats, signs: Floats) -> LogisticFit:
    """Newton's method; a step that does not lower the objective is halved until it does."""
    current = LogisticFit.start(kernel, signs)
    objective = current.objective()
    for _ in range(MOST_STEPS):
        target = current.newton()
        part = 1.0
        proposed, lower = target, target.objective()
        while not lower < objective and part > TOLERANCE:
            part /= 2.0
            proposed = current.towards(target, part)
            lower = proposed.objective()
        if not lower < objective:
            break
        gain = objective - lower
        current, objective = proposed, lower
        if gain <= TOLERANCE * objective:
            break
    return current


def row_weights(probability: Floats) -> tuple[Floats, Floats]:
    weights = np.maximum(probability * (1.0 - probability), LEAST_WEIGHT)
    return weights, np.sqrt(weights)


def weighted(kernel: Floats, root: Floats) -> Floats:
    """I + √W Q √W, whose eigenvalues are all at least one."""
    matrix: Floats = root[:, np.newaxis] * kernel * root
    matrix.flat[:: len(kernel) + 1] += 1.0
    return matrix


@public
class KernelLogistic(ProbabilisticClassifier):
    """Penalised kernel logistic regression by Newton's method (Jaakkola and Haussler, 1999). It has no parameters.

    The kernel is exp(-‖x - z‖² / m), m the median squared distance between two training rows. More than two classes are
    fitted one against the rest, and their probabilities normalised.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.n_classes_ = n_classes
        self.present_, codes = present_classes(y, n_classes)
        self.scale_ = unit_scale(X)
        self.rows_ = X * self.scale_
        distances = squared_distances(self.rows_, self.rows_)
        self.gamma_ = 1.0 / median_squared_distance(distances)
        signs = signed_targets(codes, len(self.present_))
        if len(self.present_) == 1:
            signs = signs[:, :0]
        kernel = gaussian(distances, self.gamma_) / PENALTY
        fits = [fit_logistic(kernel, column) for column in signs.T]
        self.dual_coef_ = np.stack([fit.multipliers for fit in fits], axis=1) / PENALTY if fits else signs
        self.intercept_ = np.array([fit.offset for fit in fits])

    def _probabilities(self, kernel: Floats) -> Floats:
        odds = kernel @ self.dual_coef_ + self.intercept_
        probabilities: Floats = expit(np.clip(odds, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS))
        return probabilities

    def outputs(self, X: Floats) -> Floats:
        with np.errstate(over="ignore"):
            scaled = X * self.scale_
        probabilities = self._probabilities(gaussian(squared_distances(scaled, self.rows_), self.gamma_))
        if len(self.present_) == 1:
            probabilities = np.ones((len(X), 1))
        elif len(self.present_) == 2:
            probabilities = np.hstack([1.0 - probabilities, probabilities])
        else:
            probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities_of_all(probabilities, self.present_, self.n_classes_)

    def complexity(self) -> float:
        """The effective degrees of freedom of the last weighted least-squares problems, intercepts included."""
        kernel = gaussian(squared_distances(self.rows_, self.rows_), self.gamma_)
        total = 0.0
        for probability in self._probabilities(kernel).T:
            root = inverse_root(weighted(kernel / PENALTY, row_weights(probability)[1]))
            total += len(kernel) - inverse_diagonal(root).sum() + 1.0
        return float(total)
