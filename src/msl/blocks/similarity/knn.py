"""Similarity-based learners (Duch and Grudzinski, 2001) and k nearest neighbours.

Each choice of a nearest-neighbour method is a parameter: features and their weights, distance, references, number of
neighbours or radius, weighting of votes, costs of errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from msl.blocks.base.block import (
    Block,
    BlockLearner,
    BlockRegressor,
    Floats,
    LooTable,
    ProbabilisticClassifier,
    resolve_slot,
    slot_constraint,
)
from msl.blocks.public import public
from msl.blocks.similarity.distances import DISTANCES, FEATURE_DISTANCES, Difference, Distance, FeatureDistance, Overlap
from msl.blocks.similarity.fitted_distance import FittedDistance, feature_importance, fit_metric
from msl.blocks.similarity.neighbour_search import Neighbourhood, Neighbours
from msl.blocks.similarity.reference_points import (
    REFERENCES,
    AllRows,
    ReferencePoints,
    References,
    TrainingRows,
    class_probabilities,
    number_values,
)
from msl.blocks.similarity.weightings import (
    WEIGHTINGS,
    FieldWeighting,
    NeighbourWeighting,
    Weighting,
    class_outputs,
    number_outputs,
)
from msl.diagnostics.user_error import UserError


@public
@dataclass(frozen=True, slots=True, eq=False)
class SimilaritySettings:
    """M = {X, Δ, D, k, G, R, p(R), E, S} of Duch and Grudzinski: all choices of a similarity-based learner."""

    k: int
    distance: Distance
    weighting: Weighting
    features: ArrayLike | None = None
    weights: ArrayLike | None = None
    references: References = field(default_factory=AllRows)
    n_references: int = 1
    numbers: FeatureDistance = field(default_factory=Difference)
    symbols: FeatureDistance = field(default_factory=Overlap)
    symbolic_columns: tuple[int, ...] = ()
    radius: float | None = None
    soft: bool = False
    risk: ArrayLike | None = None
    class_similarity: ArrayLike | None = None
    random_state: int | None = 0


def risk_matrix(setting: SimilaritySettings, n_classes: int) -> Floats | None:
    """The cost of predicting each class (column) when each class is true (row), if given."""
    return class_matrix(setting.risk, n_classes, "risk")


def similarity_matrix(setting: SimilaritySettings, n_classes: int) -> Floats | None:
    """The part of a vote for each class (row) that goes to each class (column), if given."""
    matrix = class_matrix(setting.class_similarity, n_classes, "class_similarity")
    if matrix is not None and np.any(matrix < 0):
        raise UserError("class_similarity must hold numbers of at least 0")
    return matrix


def class_matrix(values: ArrayLike | None, n_classes: int, name: str) -> Floats | None:
    """A matrix with a row and a column for each class, or None."""
    if values is None:
        return None
    if not n_classes:
        raise UserError(f"{name} speaks of classes; it must be None for regression")
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.shape != (n_classes, n_classes) or not np.all(np.isfinite(matrix)):
        raise UserError(
            f"{name} must be a matrix of {n_classes} x {n_classes} finite numbers, a row and a column a class"
        )
    return matrix


# --- The learners -----------------------------------------------------------------------------------------------------


@public
@dataclass(frozen=True, slots=True)
class FittedReferences:
    """What siblings share: the training rows with the metric, and the references."""

    training: TrainingRows
    chosen: ReferencePoints
    placed: Floats


class SimilarityLearner(BlockLearner):
    """What similarity-based classifiers and regressors share."""

    #: The widths or radii of the references, if the weighting has them; models saved before there were any have none.
    sizes_: Floats | None = None

    def setting(self) -> SimilaritySettings:
        """The parameters, with blocks in place of their names."""
        raise NotImplementedError

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> FittedReferences:
        return fit_references(self.setting(), X, y, n_classes)

    def fit_prepared(self, prepared: FittedReferences, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        # Not all of `prepared`, which holds the whole table.
        self.metric_: FittedDistance = prepared.training.metric
        self.references_: Floats = prepared.chosen.points
        self.placed_: Floats = prepared.placed
        setting = self.setting()
        setting.weighting.check()
        self.sizes_ = sizes_of(setting.weighting, prepared)
        self.fit_targets(setting, prepared)

    def fit_targets(self, setting: SimilaritySettings, fitted: FittedReferences) -> None:
        """Fits the class probabilities or numbers of the references."""
        raise NotImplementedError

    def prepare_query(self, X: Floats) -> Neighbours:
        return Neighbours(self.metric_, self.metric_.place(X), self.placed_)

    def path_outputs(self, X: Floats, query: Neighbours | None = None) -> Callable[[Self], Floats]:
        shared = self.prepare_query(X) if query is None else query
        setting = self.setting()
        if not isinstance(setting.weighting, FieldWeighting):
            neighbourhood(shared, setting)  # one search for the most neighbours serves all that need fewer
        return super().path_outputs(X, shared)

    def complexity(self) -> float:
        """References times features."""
        return float(len(self.placed_) * self.metric_.n_features)

    def n_features_used(self) -> int:
        return self.metric_.n_features

    @classmethod
    def loo_table(cls, X: Floats, y: NDArray[Any], n_classes: int, memory: int) -> LooTable:
        # Imported here because it imports this module.
        from msl.blocks.similarity.leave_one_out import LeaveOneOut

        return LeaveOneOut(X, y, n_classes, memory)


class ClassVoter(SimilarityLearner):
    """Classification: a vote of the references near a row."""

    def fit_targets(self, setting: SimilaritySettings, fitted: FittedReferences) -> None:
        training = fitted.training
        self.risk_ = risk_matrix(setting, training.n_classes)
        similarity = similarity_matrix(setting, training.n_classes)
        self.frequency_ = np.bincount(training.y, minlength=training.n_classes).astype(np.float64)
        probabilities = class_probabilities(training, fitted.chosen, fitted.placed, setting.soft)
        self.probabilities_ = probabilities if similarity is None else probabilities @ similarity

    def outputs_prepared(self, query: Neighbours) -> Floats:
        parts = [
            class_outputs(hood, votes, self.probabilities_, self.frequency_, self.risk_)
            for _, hood, votes in votes_of(query, self.setting(), self.sizes_)
        ]
        return np.concatenate(parts)


class NumberVoter(SimilarityLearner):
    """Regression: the weighted mean of the references near a row."""

    def fit_targets(self, setting: SimilaritySettings, fitted: FittedReferences) -> None:
        risk_matrix(setting, n_classes=0)
        similarity_matrix(setting, n_classes=0)
        self.values_ = number_values(fitted.training, fitted.chosen, fitted.placed, setting.soft)

    def outputs_prepared(self, query: Neighbours) -> Floats:
        parts = votes_of(query, self.setting(), self.sizes_)
        return np.concatenate([number_outputs(hood, votes, self.values_) for _, hood, votes in parts])


def fit_references(setting: SimilaritySettings, X: Floats, y: NDArray[Any], n_classes: int) -> FittedReferences:
    importance = feature_importance(setting.features, setting.weights, X.shape[1])
    metric = fit_metric(
        X, y, n_classes, setting.distance, importance, setting.numbers, setting.symbols, setting.symbolic_columns
    )
    training = TrainingRows.of(X, y, n_classes, metric)
    chosen = setting.references.choose(training, setting.n_references, np.random.default_rng(setting.random_state))
    placed = training.placed if chosen.points is X else metric.place(chosen.points)
    return FittedReferences(training, chosen, placed)


def neighbourhood(query: Neighbours, setting: SimilaritySettings) -> Neighbourhood:
    return query.nearest(setting.k) if setting.radius is None else query.within(setting.radius)


def sizes_of(weighting: Weighting, fitted: FittedReferences) -> Floats | None:
    """The widths or radii of the references, for weightings that need them."""
    if not isinstance(weighting, FieldWeighting):
        return None
    return weighting.sizes(fitted.training.metric, fitted.placed, fitted.chosen.radii)


def votes_of(
    query: Neighbours, setting: SimilaritySettings, sizes: Floats | None
) -> Iterator[tuple[slice, Neighbourhood, Floats]]:
    """The references that vote and their shares, for some rows after the other."""
    weighting = setting.weighting
    if isinstance(weighting, FieldWeighting):
        assert sizes is not None
        for part, everything in query.everything():
            yield part, everything, weighting.shares(everything.lengths, sizes)
    else:
        assert isinstance(weighting, NeighbourWeighting)
        hood = neighbourhood(query, setting)
        yield slice(None), hood, weighting.shares(hood)


class SimilaritySlots(Block):
    """The parameters of the similarity-based learner.

    Parameters
    ----------
    features : array of bool, or None
        The features in use; None for all.
    weights : array of float, or None
        The weights s of the features in the distance; None for 1.
    distance : str or Distance
        The distance between two rows.
    k : int
        The number of neighbours; all references at the distance of the k-th vote.
    weighting : str or Weighting
        How the vote of a reference decreases with its distance: among the neighbours (uniform, inverse, gaussian,
        triangular), or over all references, whatever `k` and `radius` are (soft_gaussian, radial_basis, hard_sphere).
    references : str or References
        The points that rows are compared with.
    n_references : int
        Their number, for methods that take one.
    numbers, symbols : str or FeatureDistance
        The distance between two values of a numeric and of a categorical feature.
    radius : float or None
        If a number, all references within this radius vote instead of the `k` nearest.
    probabilities : "hard" or "soft"
        Whether a reference votes for its own class, or by the class frequencies of the training rows nearest to it.
    risk : matrix or None
        `risk[i][j]` is the cost of predicting class j when class i is true.
    class_similarity : matrix or None
        `class_similarity[i][j]` is the part of a vote for class i that goes to class j.
    symbolic_columns : sequence of int, or None
        The positions of the categorical columns, whose values are codes.
    random_state : int or None
        The seed of the choice of references.
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
            distance=resolve_slot(self.distance, DISTANCES, Distance, "distance"),
            weighting=resolve_slot(self.weighting, WEIGHTINGS, Weighting, "weighting"),
            features=self.features,
            weights=self.weights,
            references=resolve_slot(self.references, REFERENCES, References, "references"),
            n_references=self.n_references,
            numbers=resolve_slot(self.numbers, FEATURE_DISTANCES, FeatureDistance, "numbers"),
            symbols=resolve_slot(self.symbols, FEATURE_DISTANCES, FeatureDistance, "symbols"),
            symbolic_columns=() if self.symbolic_columns is None else tuple(map(int, self.symbolic_columns)),
            radius=self.radius,
            soft=self.probabilities == "soft",
            risk=self.risk,
            class_similarity=self.class_similarity,
            random_state=self.random_state,
        )


class NeighbourSlots(Block):
    """The parameters of k nearest neighbours on all rows and features; see `SimilaritySlots`."""

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
            distance=resolve_slot(self.distance, DISTANCES, Distance, "distance"),
            weighting=resolve_slot(self.weighting, WEIGHTINGS, Weighting, "weighting"),
        )


@public
class SimilarityClassifier(SimilaritySlots, ClassVoter, ProbabilisticClassifier):
    """A similarity-based classifier: p(class | x) is the weighted mean of the class probabilities of the references
    near x. Every reference at the k-th distance votes; a tie between classes goes to the class of the nearest, then to
    the more frequent one."""


@public
class SimilarityRegressor(SimilaritySlots, NumberVoter, BlockRegressor):
    """Similarity-based regression: the weighted mean of the targets of the references near x."""


@public
class KNNClassifier(NeighbourSlots, ClassVoter, ProbabilisticClassifier):
    """k nearest neighbours, with the tie rules of the similarity-based classifier."""


@public
class KNNRegressor(NeighbourSlots, NumberVoter, BlockRegressor):
    """The mean of the targets of the k nearest neighbours and of all at the distance of the k-th."""
