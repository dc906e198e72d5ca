"""Complexity of fitted estimators, against counts made another way."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import (
    cross_decomposition,
    decomposition,
    discriminant_analysis,
    dummy,
    ensemble,
    feature_selection,
    gaussian_process,
    impute,
    kernel_approximation,
    kernel_ridge,
    linear_model,
    multiclass,
    naive_bayes,
    neighbors,
    neural_network,
    preprocessing,
    random_projection,
    svm,
    tree,
)
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.utils import all_estimators

from msl.blocks.base.block import BlockTransformer, ProbabilisticClassifier
from msl.blocks.base.complexity import _count, complexity, learner_complexity
from msl.blocks.preprocessing.prepare import Columns
from msl.check.objectives import _OF_SKLEARN, not_weighable
from msl.space.values import BlockType

N_ROWS, N_FEATURES, N_CLASSES = 90, 4, 3


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    rows = np.r_[0:30, 50:80, 100:130]
    return preprocessing.scale(X[rows]), y[rows]


@pytest.fixture(scope="module")
def patients():
    X, y = load_diabetes(return_X_y=True)
    return preprocessing.scale(X[:100]), y[:100] / y.std()


def walked_leaves(fitted_tree):
    """Leaves found by walking down from the root."""
    nodes, leaves = [0], 0
    while nodes:
        node = nodes.pop()
        left, right = fitted_tree.tree_.children_left[node], fitted_tree.tree_.children_right[node]
        if left == right:
            leaves += 1
        else:
            nodes += [left, right]
    return leaves


# --- trees ----------------------------------------------------------------------------------------


def test_a_stump_has_two_leaves(flowers):
    assert complexity(tree.DecisionTreeClassifier(max_depth=1).fit(*flowers)) == 2
    assert complexity(tree.ExtraTreeRegressor(max_depth=1, random_state=0).fit(*flowers)) == 2


def test_trees_and_forests_count_all_leaves(flowers, patients):
    single = tree.DecisionTreeRegressor().fit(*patients)
    assert complexity(single) == walked_leaves(single)
    for forest in (
        ensemble.RandomForestClassifier(5, random_state=0).fit(*flowers),
        ensemble.ExtraTreesRegressor(5, random_state=0).fit(*patients),
        ensemble.BaggingClassifier(n_estimators=5, random_state=0).fit(*flowers),
        ensemble.BaggingRegressor(n_estimators=5, random_state=0).fit(*patients),
        ensemble.AdaBoostRegressor(n_estimators=5, random_state=0).fit(*patients),
    ):
        assert complexity(forest) == sum(map(walked_leaves, forest.estimators_)) > 5


def test_embedding_by_trees_counts_the_columns_that_it_builds(flowers):
    embedding = ensemble.RandomTreesEmbedding(5, random_state=0).fit(flowers[0])
    assert complexity(embedding) == embedding.transform(flowers[0]).shape[1]


def test_bagging_counts_what_it_is_made_of(flowers):
    bag = ensemble.BaggingClassifier(svm.SVC(), n_estimators=3, random_state=0).fit(*flowers)
    assert complexity(bag) == sum(len(machine.support_) for machine in bag.estimators_)


def test_boosting_counts_the_leaves_of_every_round(flowers, patients):
    X, y = flowers
    boosted = ensemble.GradientBoostingClassifier(n_estimators=4, max_depth=1, subsample=1).fit(X, y)
    assert complexity(boosted) == 4 * N_CLASSES * 2
    boosted = ensemble.GradientBoostingRegressor(n_estimators=4, max_leaf_nodes=3, max_depth=None).fit(*patients)
    assert complexity(boosted) == 4 * 3
    boosted = ensemble.HistGradientBoostingRegressor(max_iter=7, max_leaf_nodes=3).fit(*patients)
    assert complexity(boosted) == 7 * 3
    boosted = ensemble.HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=2).fit(X, y)
    assert complexity(boosted) == 4 * N_CLASSES * 2


def test_hist_boosting_counts_distinct_outcomes_of_one_tree(patients):
    X, y = patients
    boosted = ensemble.HistGradientBoostingRegressor(max_iter=1, max_leaf_nodes=6, min_samples_leaf=5).fit(X, y)
    assert complexity(boosted) == len(np.unique(boosted.predict(X)))


# --- kernels --------------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", [svm.SVC(C=0.5), svm.NuSVC(nu=0.2)])
def test_classifiers_count_support_vectors(machine, flowers):
    machine.fit(*flowers)
    assert complexity(machine) == machine.n_support_.sum() < N_ROWS


@pytest.mark.parametrize("machine", [svm.SVR(epsilon=0.5), svm.NuSVR(nu=0.3)])
def test_regressions_count_support_vectors(machine, patients):
    machine.fit(*patients)
    assert complexity(machine) == np.count_nonzero(machine.dual_coef_) < 100


def test_kernel_ridge_counts_rows_with_a_weight(patients):
    X, y = patients
    assert complexity(kernel_ridge.KernelRidge(kernel="rbf").fit(X, y)) == 100
    assert complexity(kernel_ridge.KernelRidge(kernel="rbf").fit(X, np.c_[y, y])) == 100


def test_gaussian_processes_count_what_they_store(flowers, patients):
    X, y = flowers
    assert complexity(gaussian_process.GaussianProcessRegressor(alpha=0.1).fit(*patients)) == 100 * 10
    two = y < 2
    assert complexity(gaussian_process.GaussianProcessClassifier().fit(X[two], y[two])) == 60 * N_FEATURES
    assert complexity(gaussian_process.GaussianProcessClassifier().fit(X, y)) == 3 * N_ROWS * N_FEATURES
    pairs = gaussian_process.GaussianProcessClassifier(multi_class="one_vs_one").fit(X, y)
    assert complexity(pairs) == 3 * 60 * N_FEATURES


# --- weights and stored numbers -------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        linear_model.LogisticRegression(),
        linear_model.RidgeClassifier(),
        linear_model.SGDClassifier(random_state=0),
        linear_model.Perceptron(),
        svm.LinearSVC(),
        discriminant_analysis.LinearDiscriminantAnalysis(),
    ],
)
def test_linear_classifiers_count_one_weight_a_feature_and_class(model, flowers):
    assert complexity(model.fit(*flowers)) == N_CLASSES * N_FEATURES


@pytest.mark.parametrize(
    "model",
    [
        linear_model.LinearRegression(),
        linear_model.Ridge(),
        linear_model.BayesianRidge(),
        linear_model.HuberRegressor(),
        linear_model.TheilSenRegressor(max_subpopulation=50, random_state=0),
        linear_model.RANSACRegressor(random_state=0),
        linear_model.PoissonRegressor(),
        linear_model.GammaRegressor(),
        linear_model.TweedieRegressor(power=1.5),
        linear_model.SGDRegressor(random_state=0),
        linear_model.Lars(),
        svm.LinearSVR(),
        cross_decomposition.PLSRegression(),
    ],
)
def test_linear_regressions_count_one_weight_a_feature(model, patients):
    assert complexity(model.fit(*patients)) == 10


@pytest.mark.parametrize(
    "model",
    [
        linear_model.Lasso(alpha=0.2),
        linear_model.ElasticNet(alpha=0.3),
        linear_model.LassoLars(alpha=0.2),
        linear_model.QuantileRegressor(alpha=0.1),
        linear_model.ARDRegression(threshold_lambda=100),
    ],
)
def test_sparse_models_count_only_weights_that_are_not_zero(model, patients):
    model.fit(*patients)
    assert 0 < complexity(model) == sum(weight != 0 for weight in model.coef_) < 10


def test_pursuit_counts_the_columns_that_it_was_allowed(patients):
    assert complexity(linear_model.OrthogonalMatchingPursuit(n_nonzero_coefs=3).fit(*patients)) == 3


def test_bayes_and_discriminants_count_their_parameters(flowers):
    X, y = flowers
    assert complexity(naive_bayes.GaussianNB().fit(X, y)) == 2 * N_CLASSES * N_FEATURES
    for model in (naive_bayes.BernoulliNB(), naive_bayes.MultinomialNB(), naive_bayes.ComplementNB()):
        assert complexity(model.fit(X - X.min(), y)) == N_CLASSES * N_FEATURES
    codes = (X > 0).astype(int)
    assert complexity(naive_bayes.CategoricalNB().fit(codes, y)) == N_CLASSES * N_FEATURES * 2
    # a mean of 4 and a symmetric matrix of 10 different numbers for each class
    assert complexity(discriminant_analysis.QuadraticDiscriminantAnalysis().fit(X, y)) == N_CLASSES * 14


def test_networks_count_their_weights(flowers, patients):
    network = neural_network.MLPClassifier(hidden_layer_sizes=(5, 3), max_iter=600, tol=1e-2, random_state=0).fit(
        *flowers
    )
    assert complexity(network) == 4 * 5 + 5 * 3 + 3 * N_CLASSES
    network = neural_network.MLPRegressor(hidden_layer_sizes=(6,), max_iter=600, tol=1e-2, random_state=0).fit(
        *patients
    )
    assert complexity(network) == 10 * 6 + 6


def test_neighbours_count_the_numbers_that_they_store(flowers, patients):
    assert complexity(neighbors.KNeighborsClassifier().fit(*flowers)) == N_ROWS * N_FEATURES
    assert complexity(neighbors.RadiusNeighborsClassifier().fit(*flowers)) == N_ROWS * N_FEATURES
    assert complexity(neighbors.KNeighborsRegressor().fit(*patients)) == 1000


def test_centroids_that_were_shrunk_away_do_not_count(flowers):
    assert complexity(neighbors.NearestCentroid().fit(*flowers)) == N_CLASSES * N_FEATURES
    shrunk = neighbors.NearestCentroid(shrink_threshold=5.0).fit(*flowers)
    apart = ~np.isclose(shrunk.centroids_, flowers[0].mean(axis=0))
    assert complexity(shrunk) == apart.sum() < N_CLASSES * N_FEATURES


# --- transformers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "scaler",
    [
        preprocessing.StandardScaler(),
        preprocessing.RobustScaler(),
        preprocessing.MinMaxScaler(),
        preprocessing.Normalizer(),
        preprocessing.PowerTransformer(),
        preprocessing.QuantileTransformer(n_quantiles=10),
        preprocessing.OrdinalEncoder(),
        preprocessing.OneHotEncoder(),
        preprocessing.FunctionTransformer(),
        impute.SimpleImputer(),
        impute.KNNImputer(),
    ],
)
def test_what_only_rewrites_columns_counts_nothing(scaler, flowers):
    assert complexity(scaler.fit(flowers[0])) == 0


@pytest.mark.parametrize(
    ("builder", "n_columns"),
    [
        (decomposition.PCA(2), 2),
        (decomposition.FastICA(3, random_state=0), 3),
        (decomposition.KernelPCA(7, kernel="rbf"), 7),
        (kernel_approximation.Nystroem(n_components=11, random_state=0), 11),
        (random_projection.GaussianRandomProjection(3, random_state=0), 3),
        (preprocessing.PolynomialFeatures(2, include_bias=False), 14),
        (feature_selection.SelectKBest(k=2), 2),
        (feature_selection.VarianceThreshold(), 4),
        (neighbors.NeighborhoodComponentsAnalysis(2, random_state=0), 2),
    ],
)
def test_selectors_and_projections_count_the_features_that_they_hand_on(builder, n_columns, flowers):
    assert complexity(builder.fit(*flowers)) == builder.transform(flowers[0]).shape[1] == n_columns


# --- chains, blocks and strangers -----------------------------------------------------------------


def test_chains_add_up(flowers):
    X, y = flowers
    chain = make_pipeline(preprocessing.StandardScaler(), "passthrough", decomposition.PCA(2), svm.LinearSVC())
    assert complexity(chain.fit(X, y)) == 2 + 2 * N_CLASSES
    branches = FeatureUnion(
        [("a", decomposition.PCA(2)), ("b", "passthrough"), ("c", feature_selection.SelectKBest(k=1))]
    )
    assert complexity(branches.fit(X, y)) == 3
    columns = ColumnTransformer([("a", decomposition.PCA(1), [0, 1]), ("b", "drop", [2])], remainder="passthrough")
    assert complexity(columns.fit(X)) == 1


def test_blocks_speak_for_themselves(flowers):
    class Kept(BlockTransformer):
        def complexity(self):
            return 5.0

    class Units(ProbabilisticClassifier):
        def complexity(self):
            return 17.0

    assert complexity(Kept()) == 5
    assert complexity(Units()) == 17
    assert complexity(Columns().fit(flowers[0])) == 0
    assert complexity(make_pipeline(Kept(), Units())) == 22


def test_a_dummy_counts_one_and_what_is_unknown_is_not_made_up(flowers):
    class Silent(TransformerMixin, BaseEstimator):
        """A transformer that cannot say what it hands on."""

    class Stranger:
        pass

    class Telling:
        def complexity(self):
            return 12

    class Nonsense:
        def complexity(self):
            return float("nan")

    assert complexity(dummy.DummyClassifier().fit(*flowers)) == 1
    assert complexity(Silent()) == complexity(Stranger()) == complexity(Nonsense()) == float("inf")
    assert complexity(Silent(), columns=7) == complexity(Stranger(), columns=7) == 7
    assert learner_complexity(Stranger()) == float("inf")
    assert complexity(Telling()) == learner_complexity(Telling()) == 12
    assert complexity(make_pipeline(Silent(), svm.SVC().fit(*flowers))) == float("inf")


def test_a_learner_is_not_weighed_as_a_step(flowers):
    class Both(TransformerMixin, BaseEstimator):
        def get_feature_names_out(self):
            return ["a", "b"]

    assert complexity(Both()) == 2
    assert learner_complexity(Both()) == float("inf")
    members = [("a", naive_bayes.GaussianNB()), ("b", svm.SVC())]
    stack = ensemble.StackingClassifier(members, cv=2).fit(*flowers)
    parts = [*stack.estimators_, stack.final_estimator_]
    assert learner_complexity(stack) == sum(complexity(part) for part in parts)
    many = multiclass.OneVsRestClassifier(tree.DecisionTreeClassifier(max_depth=1)).fit(*flowers)
    assert learner_complexity(many) == 2 * 3


def test_the_check_knows_which_learners_of_scikit_learn_are_counted():
    there = {name: found for kind in ("classifier", "regressor") for name, found in all_estimators(kind)}
    uncounted = (_count.dispatch(object), _count.dispatch(TransformerMixin))
    assert {name for name, found in there.items() if _count.dispatch(found) not in uncounted} == _OF_SKLEARN & set(
        there
    )
    blocks = [BlockType("b", "", "learner", None, t) for t in ("msl.blocks:NaiveBayes", "sklearn.svm:SVC", "x:Y*")]
    assert [one.target for one in not_weighable(blocks)] == ["x:Y*"]


def test_it_is_a_float(flowers):
    for estimator in (svm.SVC(), tree.DecisionTreeClassifier(), decomposition.PCA(), naive_bayes.GaussianNB()):
        assert type(complexity(estimator.fit(*flowers))) is float
