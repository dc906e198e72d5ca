"""Paths of fitted learners: one fit with the largest value of a parameter, as the fits with smaller values.

`msl.space.fit_costs` says which classes have a path. Here is how its learners are made: a copy with fewer members,
whose predictions for the rows in question are computed by adding member after member, in the order and with the
operations of the class itself. Every number is the one that a fit of its own would give, to the last digit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any, Protocol

import numpy as np
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from msl.blocks.base.block import BlockLearner, Floats, shallow_copy
from msl.blocks.base.complexity import complexity


class LearnerPath(Protocol):
    """The learners on the path of a fitted one, with its outputs for some rows at hand."""

    def at(self, value: int) -> Any | None:
        """A learner equal to one that was fitted with this value; None where it may differ. Ascending values take the
        least time."""
        ...


def learner_path(learner: Any, parameter: str, rows: Floats, query: Any = None) -> LearnerPath | None:
    """The path of a learner that was fitted with the largest value; None if its class has none.

    `query` is what a block of ours shares between predictions for these rows, if it does.
    """
    if isinstance(learner, BlockLearner):
        return _BlockPath(learner, parameter, rows, query)
    if isinstance(learner, KNeighborsClassifier | KNeighborsRegressor):
        return _NeighbourPath(learner, rows)
    stages = _STAGES.get(type(learner))
    return None if stages is None else _MemberPath(learner, parameter, rows, stages)


class _BlockPath:
    """The path of a block of ours, which makes its smaller ones itself."""

    def __init__(self, learner: BlockLearner, parameter: str, rows: Floats, query: Any) -> None:
        self._learner, self._parameter, self._rows = learner, parameter, rows
        self._outputs = learner.path_outputs(rows, query)

    def at(self, value: int) -> BlockLearner:
        smaller = self._learner.with_less(self._parameter, value)
        known = partial(self._outputs, smaller)
        smaller.outputs = partial(_known_or_own, smaller, "outputs", self._rows, known)  # type: ignore[method-assign]
        return smaller


@dataclass(frozen=True, slots=True)
class _Stages:
    """How the predictions of an ensemble grow.

    `totals` are the sums over the first member, the first two, and so on; `finish` makes of a sum and the value of the
    parameter what `method` of the class returns. `members` is the attribute with the members in their order, `beside`
    one that has a value for each of them.
    """

    method: str
    members: str
    totals: Callable[[Any, Floats], Iterator[Any]]
    finish: Callable[[Any, int, Any], Any] = lambda learner, value, total: total
    beside: str | None = None


class _MemberPath:
    """The path of an ensemble of scikit-learn whose first members do not depend on how many follow."""

    def __init__(self, learner: Any, parameter: str, rows: Floats, stages: _Stages) -> None:
        self._learner, self._parameter, self._rows, self._stages = learner, parameter, rows, stages
        self._members: Sequence[Any] = getattr(learner, stages.members)
        self._sizes: list[float] | None = None
        self._start()

    def _start(self) -> None:
        self._added, self._total = 0, None
        self._totals = self._stages.totals(self._learner, self._rows)

    def at(self, value: int) -> Any:
        smaller = shallow_copy(self._learner)
        setattr(smaller, self._parameter, value)
        for name in (self._stages.members, self._stages.beside):
            if name is not None:
                setattr(smaller, name, getattr(smaller, name)[:value])
        smaller.complexity = partial(self._complexity, value)
        known = partial(self._prediction, smaller, value)
        setattr(smaller, self._stages.method, partial(_known_or_own, smaller, self._stages.method, self._rows, known))
        return smaller

    def _prediction(self, smaller: Any, value: int) -> Any:
        wanted = min(value, len(self._members))
        if wanted < self._added:
            self._start()
        while self._added < wanted:
            self._total = next(self._totals)
            self._added += 1
        return self._stages.finish(smaller, value, self._total)

    def _complexity(self, value: int) -> float:
        """The sum over the members, counted once for all values: they are whole numbers, so that no digit is lost."""
        if self._sizes is None:
            self._sizes = list(accumulate(map(_size, self._members)))
        return self._sizes[min(value, len(self._sizes)) - 1]


def _known_or_own(smaller: Any, method: str, rows: Floats, known: Callable[[], Any], X: Floats) -> Any:
    """What is known for the rows of the path; for other rows, whatever the class gives."""
    return known() if X is rows else getattr(type(smaller), method)(smaller, X)


def _size(member: Any) -> float:
    """The complexity of what one round or one draw adds: a learner, or the trees of all classes."""
    if isinstance(member, np.ndarray | list):
        return float(sum(_leaves(tree) for tree in member))
    return complexity(member)


def _leaves(tree: Any) -> float:
    # scikit-learn has no public attribute for the trees of its boosting on binned columns
    return float(tree.get_n_leaf_nodes()) if hasattr(tree, "get_n_leaf_nodes") else complexity(tree)


# --- Averages: forests and bagging ------------------------------------------------------------------------------------


def _tree_totals(forest: Any, rows: Floats, method: str) -> Iterator[Floats]:
    checked = forest._validate_X_predict(rows)
    predictions = (getattr(tree, method)(checked, check_input=False) for tree in forest.estimators_)
    yield from accumulate(predictions, np.add)


def _bag_totals(bag: Any, rows: Floats, method: str) -> Iterator[Floats]:
    def alone(member: Any, features: Any) -> Any:
        one = shallow_copy(bag)
        one.n_estimators, one.estimators_, one.estimators_features_ = 1, [member], [features]
        return getattr(one, method)(rows)

    yield from accumulate(map(alone, bag.estimators_, bag.estimators_features_), np.add)


def _mean(ensemble: Any, value: int, total: Floats) -> Floats:
    return total / value


# --- Boosting ---------------------------------------------------------------------------------------------------------


def _scores(boosting: Any, rows: Floats) -> Iterator[Floats]:
    """As `decision_function` has them: of two classes one column, without its axis."""
    for scores in boosting.staged_decision_function(rows):
        yield scores.ravel() if scores.shape[1] == 1 else scores


def _votes(boosting: AdaBoostClassifier, rows: Floats) -> Iterator[Floats]:
    classes, others = boosting.classes_[:, np.newaxis], max(1, boosting.n_classes_ - 1)
    pairs = zip(boosting.estimators_, boosting.estimator_weights_, strict=False)
    votes = (np.where((member.predict(rows) == classes).T, weight, -1 / others * weight) for member, weight in pairs)
    yield from accumulate(votes, np.add)


def _of_votes(boosting: AdaBoostClassifier, value: int, total: Floats) -> Floats:
    # The weights of rounds after an early end are zeros, which sums in pairs have to have in their places.
    shares = total / boosting.estimator_weights_.sum()
    if boosting.n_classes_ == 2:
        shares[:, 0] *= -1
        return np.asarray(shares.sum(axis=1))
    return shares


def _staged(method: str) -> Callable[[Any, Floats], Iterator[Floats]]:
    return lambda boosting, rows: getattr(boosting, method)(rows)


# --- Nearest neighbours -----------------------------------------------------------------------------------------------

#: Squared distances that differ by less, relative to the squares of the rows, may be computed as equal.
_NEAR = 1e-12


class _NeighbourPath:
    """The path of scikit-learn's nearest neighbours: the first of many are the nearest few, if none are equally near.

    Which of these are taken, and in which order they are summed, may depend on how many are asked for.
    """

    def __init__(self, learner: Any, rows: Floats) -> None:
        self._learner, self._rows = learner, rows
        self._most = min(int(learner.n_neighbors), int(learner.n_samples_fit_))
        asked = min(self._most + 1, int(learner.n_samples_fit_))
        self._distances, self._places = learner.kneighbors(rows, n_neighbors=asked)
        squares = np.square(self._distances) if learner.effective_metric_ == "euclidean" else self._distances
        scale = np.square(rows).sum(axis=1).max() + np.square(learner._fit_X).sum(axis=1).max()
        scale = scale if learner.effective_metric_ == "euclidean" else np.sqrt(scale * rows.shape[1])
        are_apart = (np.diff(squares, axis=1) > _NEAR * scale).all(axis=0)
        # Votes that count the same are whole numbers: for their sum, only which of the last ones is in matters.
        are_counted = isinstance(learner, KNeighborsClassifier) and learner.weights == "uniform"
        self._is_certain = are_apart if are_counted else np.logical_and.accumulate(are_apart)

    def at(self, value: int) -> Any | None:
        learner = self._learner
        if value > self._most or not (value == self._places.shape[1] or self._is_certain[value - 1]):
            return None
        if learner.algorithm == "auto" and learner._fit_method == "brute" and learner._fit_X.shape[1] <= 15:
            return None  # with fewer neighbours a tree may be searched, whose distances have other last digits
        fewer = shallow_copy(learner)
        fewer.n_neighbors = value
        fewer.kneighbors = partial(_first_neighbours, fewer, self._rows, self._distances, self._places)
        if fewer.weights == "uniform":
            fewer._fit_method = "kd_tree"  # the votes of `brute` would be a search of their own
        return fewer


def _first_neighbours(
    fewer: Any, rows: Floats, distances: Floats, places: Any, X: Any = None, return_distance: bool = True
) -> Any:
    """As `kneighbors`, which predictions call."""
    if X is not rows:
        return type(fewer).kneighbors(fewer, X, return_distance=return_distance)
    chosen = places[:, : fewer.n_neighbors]
    return (distances[:, : fewer.n_neighbors], chosen) if return_distance else chosen


_FOREST_SHARES = _Stages("predict_proba", "estimators_", partial(_tree_totals, method="predict_proba"), _mean)
_FOREST_NUMBERS = _Stages("predict", "estimators_", partial(_tree_totals, method="predict"), _mean)
_STAGES: Mapping[type, _Stages] = {
    AdaBoostClassifier: _Stages("decision_function", "estimators_", _votes, _of_votes, "estimator_weights_"),
    BaggingClassifier: _Stages(
        "predict_proba", "estimators_", partial(_bag_totals, method="predict_proba"), _mean, "estimators_features_"
    ),
    BaggingRegressor: _Stages(
        "predict", "estimators_", partial(_bag_totals, method="predict"), _mean, "estimators_features_"
    ),
    ExtraTreesClassifier: _FOREST_SHARES,
    ExtraTreesRegressor: _FOREST_NUMBERS,
    GradientBoostingClassifier: _Stages("decision_function", "estimators_", _scores),
    GradientBoostingRegressor: _Stages("predict", "estimators_", _staged("staged_predict")),
    HistGradientBoostingClassifier: _Stages("predict_proba", "_predictors", _staged("staged_predict_proba")),
    HistGradientBoostingRegressor: _Stages("predict", "_predictors", _staged("staged_predict")),
    RandomForestClassifier: _FOREST_SHARES,
    RandomForestRegressor: _FOREST_NUMBERS,
}
