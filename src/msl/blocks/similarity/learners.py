"""Similarity-based learners: a slot for each question that a nearest neighbour method answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from msl.blocks.base.block import (
    Block,
    BlockRegressor,
    Floats,
    LeaveOneOutTable,
    ProbabilisticClassifier,
    filled,
    slot_constraint,
)
from msl.blocks.public import public
from msl.blocks.similarity.distances import DISTANCES, FEATURE_DISTANCES, Distance, FeatureDistance
from msl.blocks.similarity.fitted_distance import FittedDistance, feature_importance, fit_metric
from msl.blocks.similarity.neighbours import Neighbourhood, Neighbours
from msl.blocks.similarity.references import (
    REFERENCES,
    ReferencePoints,
    References,
    ReferenceTable,
    SimilaritySettings,
    class_probabilities,
    number_values,
    risk_matrix,
    similarity_matrix,
)
from msl.blocks.similarity.voting import WEIGHTINGS, Weighting, class_outputs, number_outputs


@public
@dataclass(frozen=True, slots=True)
class FittedReferences:
    """What siblings share: the metric, and the references placed in it."""

    library: ReferenceTable
    chosen: ReferencePoints
    placed: Floats


class SimilarityLearner(Block):
    """What learners of classes and of numbers have in common."""

    def setting(self) -> SimilaritySettings:
        """The slots, filled."""
        raise NotImplementedError

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> FittedReferences:
        return fit_references(self.setting(), X, y, n_classes)

    def fit_prepared(self, prepared: FittedReferences, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        # Not the library, which holds the whole table.
        self.metric_: FittedDistance = prepared.library.metric
        self.references_: Floats = prepared.chosen.points
        self.placed_: Floats = prepared.placed
        setting = self.setting()
        setting.weighting.check()
        self.fit_targets(setting, prepared)

    def fit_targets(self, setting: SimilaritySettings, fitted: FittedReferences) -> None:
        """Learns what the references stand for."""
        raise NotImplementedError

    def prepare_query(self, X: Floats) -> Neighbours:
        return Neighbours(self.metric_, self.metric_.place(X), self.placed_)

    def complexity(self) -> float:
        """References times features."""
        return float(len(self.placed_) * self.metric_.n_features)

    def n_features_used(self) -> int:
        return self.metric_.n_features

    @classmethod
    def leave_one_out_table(cls, X: Floats, y: NDArray[Any], n_classes: int, memory: int) -> LeaveOneOutTable:
        # It is made for these learners, and so imports this module.
        from msl.blocks.similarity.leave_one_out import LeaveOneOut

        return LeaveOneOut(X, y, n_classes, memory)


class ClassVoter(SimilarityLearner):
    """Votes for classes."""

    def fit_targets(self, setting: SimilaritySettings, fitted: FittedReferences) -> None:
        library = fitted.library
        self.risk_ = risk_matrix(setting, library.n_classes)
        similarity = similarity_matrix(setting, library.n_classes)
        self.frequency_ = np.bincount(library.y, minlength=library.n_classes).astype(np.float64)
        probabilities = class_probabilities(library, fitted.chosen, fitted.placed, setting.soft)
        self.probabilities_ = probabilities if similarity is None else probabilities @ similarity

    def outputs_prepared(self, query: Neighbours) -> Floats:
        setting = self.setting()
        hood = neighbourhood(query, setting)
        return class_outputs(hood, setting.weighting, self.probabilities_, self.frequency_, self.risk_)


class NumberVoter(SimilarityLearner):
    """Votes for numbers: their mean."""

    def fit_targets(self, setting: SimilaritySettings, fitted: FittedReferences) -> None:
        risk_matrix(setting, n_classes=0)
        similarity_matrix(setting, n_classes=0)
        self.values_ = number_values(fitted.library, fitted.chosen, fitted.placed, setting.soft)

    def outputs_prepared(self, query: Neighbours) -> Floats:
        setting = self.setting()
        return number_outputs(neighbourhood(query, setting), setting.weighting, self.values_)


def fit_references(setting: SimilaritySettings, X: Floats, y: NDArray[Any], n_classes: int) -> FittedReferences:
    importance = feature_importance(setting.features, setting.weights, X.shape[1])
    metric = fit_metric(
        X, y, n_classes, setting.distance, importance, setting.numbers, setting.symbols, setting.symbolic_columns
    )
    library = ReferenceTable.of(X, y, n_classes, metric)
    chosen = setting.references.choose(library, setting.n_references, np.random.default_rng(setting.random_state))
    placed = library.placed if chosen.points is X else metric.place(chosen.points)
    return FittedReferences(library, chosen, placed)


def neighbourhood(query: Neighbours, setting: SimilaritySettings) -> Neighbourhood:
    return query.nearest(setting.k) if setting.radius is None else query.within(setting.radius)


class SimilaritySlots(Block):
    """The parameters of the similarity-based learner.

    `features` switches columns on and off, `weights` are their s_i; `symbolic_columns` holds the indices of columns
    whose values are codes of symbols, compared by `symbols` where other columns are compared by `numbers`. With
    `radius` a number, all references within it vote instead of the `k` nearest. A reference has its own class
    (`probabilities="hard"`) or the class frequencies of the training rows nearest to it ("soft"). `risk[i][j]` is the
    cost of deciding for class j when class i is true. `class_similarity[i][j]` is the part of a vote for class i that
    goes to class j.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "features": ["array-like", None],
        "weights": ["array-like", None],
        "distance": slot_constraint(DISTANCES, Distance),
        "k": [Interval(Integral, 1, None, closed="left")],
        "weighting": slot_constraint(WEIGHTINGS, Weighting),
        "references": slot_constraint(REFERENCES, References),
        "n_references": [Interval(Integral, 1, None, closed="left")],
        "numbers": slot_constraint(FEATURE_DISTANCES, FeatureDistance),
        "symbols": slot_constraint(FEATURE_DISTANCES, FeatureDistance),
        "radius": [Interval(Real, 0, None, closed="left"), None],
        "probabilities": [StrOptions({"hard", "soft"})],
        "risk": ["array-like", None],
        "class_similarity": ["array-like", None],
        "symbolic_columns": ["array-like", None],
        "random_state": [Interval(Integral, 0, None, closed="left"), None],
    }
    shared_parameters = frozenset(
        {
            "features",
            "weights",
            "distance",
            "references",
            "n_references",
            "numbers",
            "symbols",
            "symbolic_columns",
            "random_state",
        }
    )
    query_parameters = shared_parameters

    def __init__(
        self,
        features: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        distance: str | Distance = "euclidean",
        k: int = 1,
        weighting: str | Weighting = "uniform",
        references: str | References = "all_rows",
        n_references: int = 16,
        numbers: str | FeatureDistance = "difference",
        symbols: str | FeatureDistance = "overlap",
        radius: float | None = None,
        probabilities: str = "hard",
        risk: ArrayLike | None = None,
        class_similarity: ArrayLike | None = None,
        symbolic_columns: Sequence[int] | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.features = features
        self.weights = weights
        self.distance = distance
        self.k = k
        self.weighting = weighting
        self.references = references
        self.n_references = n_references
        self.numbers = numbers
        self.symbols = symbols
        self.radius = radius
        self.probabilities = probabilities
        self.risk = risk
        self.class_similarity = class_similarity
        self.symbolic_columns = symbolic_columns
        self.random_state = random_state

    def setting(self) -> SimilaritySettings:
        return SimilaritySettings(
            k=self.k,
            distance=filled(self.distance, DISTANCES, Distance, "distance"),
            weighting=filled(self.weighting, WEIGHTINGS, Weighting, "weighting"),
            features=self.features,
            weights=self.weights,
            references=filled(self.references, REFERENCES, References, "references"),
            n_references=self.n_references,
            numbers=filled(self.numbers, FEATURE_DISTANCES, FeatureDistance, "numbers"),
            symbols=filled(self.symbols, FEATURE_DISTANCES, FeatureDistance, "symbols"),
            symbolic_columns=() if self.symbolic_columns is None else tuple(map(int, self.symbolic_columns)),
            radius=self.radius,
            soft=self.probabilities == "soft",
            risk=self.risk,
            class_similarity=self.class_similarity,
            random_state=self.random_state,
        )


class NeighbourSlots(Block):
    """The parameters of plain k nearest neighbours: all rows, all features."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "k": [Interval(Integral, 1, None, closed="left")],
        "distance": slot_constraint(DISTANCES, Distance),
        "weighting": slot_constraint(WEIGHTINGS, Weighting),
    }
    shared_parameters = frozenset({"distance"})
    query_parameters = shared_parameters

    def __init__(
        self, k: int = 5, distance: str | Distance = "euclidean", weighting: str | Weighting = "uniform"
    ) -> None:
        self.k = k
        self.distance = distance
        self.weighting = weighting

    def setting(self) -> SimilaritySettings:
        return SimilaritySettings(
            k=self.k,
            distance=filled(self.distance, DISTANCES, Distance, "distance"),
            weighting=filled(self.weighting, WEIGHTINGS, Weighting, "weighting"),
        )


@public
class SimilarityClassifier(SimilaritySlots, ClassVoter, ProbabilisticClassifier):
    """Similarity-based classifier: p(class | x) is the weighted sum of the class probabilities of the references near
    x. Every reference at the k-th distance votes; a tie between classes goes to the class of the nearest, then to the
    more frequent one."""


@public
class SimilarityRegressor(SimilaritySlots, NumberVoter, BlockRegressor):
    """Similarity-based regression: the weighted mean of the targets of the references near x."""


@public
class KNNClassifier(NeighbourSlots, ClassVoter, ProbabilisticClassifier):
    """k nearest neighbours, with the tie rules of the similarity-based classifier."""


@public
class KNNRegressor(NeighbourSlots, NumberVoter, BlockRegressor):
    """The mean of the targets of the k nearest neighbours and of all at the distance of the k-th."""
