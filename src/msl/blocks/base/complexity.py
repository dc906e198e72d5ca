"""The complexity of any fitted estimator: of models with equal loss, the simplest is preferred.

A learner counts what its predictions are made of: leaves, support vectors, non-zero weights or stored numbers. A
transformer that selects or makes features counts its output columns; one that only scales, imputes or encodes columns
counts zero. Any class may define a method `complexity()`. An unknown complexity is infinite, so that a known one is
preferred to it. The complexity of a chain is the sum over its steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.cross_decomposition import PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
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
    RandomTreesEmbedding,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ARDRegression,
    BayesianRidge,
    ElasticNet,
    ElasticNetCV,
    GammaRegressor,
    HuberRegressor,
    Lars,
    LassoCV,
    LinearRegression,
    LogisticRegression,
    OrthogonalMatchingPursuit,
    OrthogonalMatchingPursuitCV,
    Perceptron,
    PoissonRegressor,
    QuantileRegressor,
    RANSACRegressor,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
    SGDClassifier,
    SGDRegressor,
    TheilSenRegressor,
    TweedieRegressor,
)
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestCentroid,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from msl.blocks.base.block import Block

#: The complexity of a class that is not known here.
UNKNOWN = math.inf


def complexity(estimator: object, columns: int | None = None) -> float:
    """The complexity of a fitted estimator: that of its own method, if it has one, else by its class.

    `columns` is the number of output columns of a step, which counts where its class is not known.
    """
    own = getattr(estimator, "complexity", None)
    if callable(own):
        value = float(own())
        return value if value >= 0.0 else UNKNOWN  # also for NaN
    known = float(_count(estimator))
    return float(columns) if known == UNKNOWN and columns is not None else known


def learner_complexity(learner: object) -> float:
    """As `complexity`; output columns that a learner would have as a transformer do not count."""
    is_counted = isinstance(learner, Block) or callable(getattr(learner, "complexity", None))
    if not is_counted and _count.dispatch(type(learner)) is _count.dispatch(TransformerMixin):
        return UNKNOWN
    return complexity(learner)


@singledispatch
def _count(estimator: Any) -> float:
    return UNKNOWN


def _together(estimators: Iterable[object]) -> float:
    return sum(map(complexity, estimators))


# --- chains ---------------------------------------------------------------------------------------


@_count.register
def _(chain: Pipeline) -> float:
    return _together(step for _, step in chain.steps if step not in (None, "passthrough"))


@_count.register
def _(branches: FeatureUnion) -> float:
    return _together(branch for _, branch in branches.transformer_list if branch not in ("drop", "passthrough"))


@_count.register
def _(branches: ColumnTransformer) -> float:
    return _together(branch for _, branch, _ in branches.transformers_ if branch not in ("drop", "passthrough"))


# --- transformers ---------------------------------------------------------------------------------


@_count.register
def _(builder: TransformerMixin) -> float:
    names = getattr(builder, "get_feature_names_out", None)
    return UNKNOWN if names is None else len(names())


@_count.register(OneToOneFeatureMixin)
@_count.register(SimpleImputer)
@_count.register(KNNImputer)
@_count.register(OneHotEncoder)
@_count.register(FunctionTransformer)
def _(recoder: Any) -> float:
    return 0.0


# --- trees ----------------------------------------------------------------------------------------


@_count.register
def _(tree: DecisionTreeClassifier | DecisionTreeRegressor) -> float:
    return float(tree.get_n_leaves())


@_count.register
def _(
    ensemble: RandomForestClassifier
    | RandomForestRegressor
    | ExtraTreesClassifier
    | ExtraTreesRegressor
    | RandomTreesEmbedding
    | BaggingClassifier
    | BaggingRegressor
    | AdaBoostClassifier
    | AdaBoostRegressor
    | VotingClassifier
    | VotingRegressor,
) -> float:
    return _together(ensemble.estimators_)


@_count.register
def _(boosting: GradientBoostingClassifier | GradientBoostingRegressor) -> float:
    return _together(boosting.estimators_.flat)


@_count.register
def _(boosting: HistGradientBoostingClassifier | HistGradientBoostingRegressor) -> float:
    # scikit-learn has no public attribute for the trees
    return float(sum(tree.get_n_leaf_nodes() for trees in boosting._predictors for tree in trees))


# --- kernels --------------------------------------------------------------------------------------


@_count.register
def _(machine: SVC | NuSVC | SVR | NuSVR) -> float:
    return len(machine.support_)


@_count.register
def _(machine: KernelRidge) -> float:
    return float(np.count_nonzero(np.any(machine.dual_coef_.reshape(len(machine.dual_coef_), -1), axis=1)))


@_count.register
def _(process: GaussianProcessRegressor) -> float:
    return float(process.X_train_.size)


@_count.register
def _(process: GaussianProcessClassifier) -> float:
    # one process for two classes, else several against one another, each with its own rows
    processes = getattr(process.base_estimator_, "estimators_", [process.base_estimator_])
    return float(sum(getattr(one, "base_estimator_", one).X_train_.size for one in processes))


# --- weights and stored numbers -------------------------------------------------------------------


@_count.register
def _(
    model: LogisticRegression
    | RidgeClassifier
    | SGDClassifier
    | Perceptron
    | LinearSVC
    | LinearDiscriminantAnalysis
    | LinearRegression
    | Ridge
    | ElasticNet
    | Lars
    | OrthogonalMatchingPursuit
    | BayesianRidge
    | ARDRegression
    | HuberRegressor
    | TheilSenRegressor
    | PoissonRegressor
    | GammaRegressor
    | TweedieRegressor
    | QuantileRegressor
    | SGDRegressor
    | LinearSVR
    | PLSRegression
    | RidgeCV
    | RidgeClassifierCV
    | ElasticNetCV
    | LassoCV
    | OrthogonalMatchingPursuitCV,
) -> float:
    return float(np.count_nonzero(model.coef_))


@_count.register
def _(model: DummyClassifier | DummyRegressor) -> float:
    return 1.0  # a constant prediction


@_count.register
def _(stack: StackingClassifier | StackingRegressor) -> float:
    return _together([*stack.estimators_, stack.final_estimator_])


@_count.register
def _(several: OneVsRestClassifier | OneVsOneClassifier) -> float:
    return _together(several.estimators_)


@_count.register
def _(model: RANSACRegressor | TunedThresholdClassifierCV) -> float:
    return complexity(model.estimator_)


@_count.register
def _(model: TransformedTargetRegressor) -> float:
    return complexity(model.regressor_)


@_count.register
def _(calibrated: CalibratedClassifierCV) -> float:
    return _together(each.estimator for each in calibrated.calibrated_classifiers_)


@_count.register
def _(model: QuadraticDiscriminantAnalysis) -> float:
    n_classes, n_features = model.means_.shape
    return float(n_classes * (n_features + n_features * (n_features + 1) // 2))


@_count.register
def _(model: GaussianNB) -> float:
    return float(model.theta_.size + model.var_.size)


@_count.register
def _(model: BernoulliNB | MultinomialNB | ComplementNB) -> float:
    return float(model.feature_log_prob_.size)


@_count.register
def _(model: CategoricalNB) -> float:
    return float(sum(column.size for column in model.feature_log_prob_))


@_count.register
def _(network: MLPClassifier | MLPRegressor) -> float:
    return float(sum(layer.size for layer in network.coefs_))


@_count.register
def _(
    model: KNeighborsClassifier | KNeighborsRegressor | RadiusNeighborsClassifier | RadiusNeighborsRegressor,
) -> float:
    return float(model.n_samples_fit_ * model.n_features_in_)


@_count.register
def _(model: NearestCentroid) -> float:
    # a deviation shrunk to zero leaves the overall centroid, which does not separate classes
    return float(np.count_nonzero(model.deviations_))
