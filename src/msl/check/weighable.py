"""Weighable: the learners of which the complexity is known without loading them; of others nobody can minimise it."""

from __future__ import annotations

from collections.abc import Iterable

from msl.space.value import BlockType

#: The learners of scikit-learn that msl.blocks.complexity counts.
_OF_SKLEARN = frozenset(
    """
    ARDRegression AdaBoostClassifier AdaBoostRegressor BaggingClassifier BaggingRegressor BayesianRidge BernoulliNB
    CategoricalNB ComplementNB DecisionTreeClassifier DecisionTreeRegressor DummyClassifier DummyRegressor ElasticNet
    ElasticNetCV ExtraTreeClassifier ExtraTreeRegressor ExtraTreesClassifier ExtraTreesRegressor GammaRegressor
    GaussianNB GaussianProcessClassifier GaussianProcessRegressor GradientBoostingClassifier GradientBoostingRegressor
    HistGradientBoostingClassifier HistGradientBoostingRegressor HuberRegressor KNeighborsClassifier KNeighborsRegressor
    KernelRidge Lars LarsCV Lasso LassoCV LassoLars LassoLarsCV LassoLarsIC LinearDiscriminantAnalysis LinearRegression
    LinearSVC LinearSVR LogisticRegression LogisticRegressionCV MLPClassifier MLPRegressor MultiTaskElasticNet
    MultiTaskLasso MultinomialNB NearestCentroid NuSVC NuSVR OneVsOneClassifier OneVsRestClassifier
    OrthogonalMatchingPursuit OrthogonalMatchingPursuitCV PLSRegression Perceptron PoissonRegressor
    QuadraticDiscriminantAnalysis QuantileRegressor RANSACRegressor RadiusNeighborsClassifier RadiusNeighborsRegressor
    RandomForestClassifier RandomForestRegressor Ridge RidgeCV RidgeClassifier RidgeClassifierCV SGDClassifier
    SGDRegressor SVC SVR StackingClassifier StackingRegressor TheilSenRegressor TweedieRegressor VotingClassifier
    VotingRegressor
    """.split()
)


def not_weighable(blocks: Iterable[BlockType]) -> list[BlockType]:
    """The learners whose complexity is not known, unless their classes have a method for it."""
    return [block for block in blocks if block.role == "learner" and not _is_weighable(block.target)]


def _is_weighable(target: str) -> bool:
    module, _, name = target.partition(":")
    package = module.partition(".")[0]
    names = [name.replace("*", kind) for kind in ("Classifier", "Regressor")] if "*" in name else [name]
    return package == "msl" or (package == "sklearn" and any(each in _OF_SKLEARN for each in names))
