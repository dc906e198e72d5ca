"""What all learners of the clop and extras catalogues, and naive_bayes of kms, must do alike."""

from __future__ import annotations

import inspect
import re
import warnings
from importlib.resources import files

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_classification
from sklearn.utils.estimator_checks import parametrize_with_checks

from msl.blocks.kernels.logistic import KernelLogistic
from msl.blocks.kernels.ridge import (
    GKRidgeClassifier,
    GKRidgeRegressor,
    KRidgeClassifier,
    KRidgeRegressor,
    LSSVMClassifier,
    LSSVMRegressor,
)
from msl.blocks.kernels.svm import SVC
from msl.blocks.learners.forest import ForestClassifier, ForestRegressor
from msl.blocks.learners.linear_classifiers import LinearLogistic, PooledBayes, Zarbi
from msl.blocks.learners.logitboost import LogitBoost
from msl.blocks.learners.naive_bayes import GaussianBayes, NaiveBayes
from msl.blocks.learners.neural import NeuralClassifier, NeuralRegressor

CLASSIFIERS = [
    Zarbi(),
    PooledBayes(),
    LinearLogistic(),
    NaiveBayes(),
    GaussianBayes(),
    KernelLogistic(),
    GKRidgeClassifier(),
    KRidgeClassifier(gamma=0.05),
    LSSVMClassifier(gamma=0.05, balance=True),
    LogitBoost(units=20),
    NeuralClassifier(units=4, balance=True, random_state=0),
    SVC(),
    ForestClassifier(units=15, mtry=2, balance=True, random_state=0),
]
REGRESSORS = [
    GKRidgeRegressor(),
    KRidgeRegressor(gamma=0.05),
    LSSVMRegressor(gamma=0.05),
    NeuralRegressor(units=4, random_state=0),
    ForestRegressor(units=15, random_state=0),
]
LEARNERS = CLASSIFIERS + REGRESSORS
BLOCKS = {
    "zarbi": [Zarbi],
    "naive": [PooledBayes],
    "klogistic": [LinearLogistic],
    "gkridge": [GKRidgeClassifier, GKRidgeRegressor],
    "logitboost": [LogitBoost],
    "neural": [NeuralClassifier, NeuralRegressor],
    "svc": [SVC],
    "kridge": [KRidgeClassifier, KRidgeRegressor],
    "rf": [ForestClassifier, ForestRegressor],
    "lssvm": [LSSVMClassifier, LSSVMRegressor],
}


def named(learner):
    return type(learner).__name__


each_learner = pytest.mark.parametrize("learner", LEARNERS, ids=named)
each_classifier = pytest.mark.parametrize("learner", CLASSIFIERS, ids=named)


def table(learner, n_rows=60, n_features=6, n_classes=3, seed=0):
    """Rows, a target for the learner's task and the number of classes (0 for numbers)."""
    X, y = make_classification(
        n_rows, n_features, n_informative=4, n_classes=n_classes, n_clusters_per_class=1, random_state=seed
    )
    if is_classifier(learner):
        return X, y, n_classes
    return X, X[:, 0] + np.sin(X[:, 1]), 0


def fitted(learner, X, y, n_classes):
    """Fitted on arrays with any warning as an error, so that no floods of them pass."""
    model = clone(learner)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit_arrays(X, y, n_classes)
    return model


def quiet_outputs(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return model.outputs(X)


@parametrize_with_checks(LEARNERS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("block", BLOCKS)
def test_constructors_have_the_parameters_of_the_catalogue(block):
    text = files("msl.catalogue").joinpath("clop.msl").read_text()
    body = re.search(rf'^block {block}: [^"]*"([^"]*)" {{(.*?)}}', text, re.DOTALL | re.MULTILINE)
    class_path, declared = body.groups()
    parameters = {}
    for name, low, default in re.findall(r"(\w+): \w+ ?([\d.e-]*?)(?:\.\.\S+)?(?: log)?(?: default (\S+))?,", declared):
        parameters[name] = default or low
    for learner in BLOCKS[block]:
        assert class_path.replace("*", "Classifier" if is_classifier(learner()) else "Regressor").endswith(
            f":{learner.__name__}"
        )
        assert class_path.split(":")[0] in (learner.__module__, "msl.blocks.kernels.ridge")
        signature = inspect.signature(learner).parameters
        assert set(signature) - {"random_state", "mtry_in_roots"} == set(parameters)
        for name, written in parameters.items():
            default = signature[name].default
            if name == "mtry":  # √features, which a declaration cannot say
                assert default is None
                continue
            assert default == (written == "true" if isinstance(default, bool) else float(written)), name


@each_learner
def test_all_paths_give_the_same_numbers(learner):
    X, y, n_classes = table(learner)
    new = table(learner, seed=1)[0]
    by_fit = clone(learner).fit(X, y)
    by_arrays = fitted(learner, X, y, n_classes)
    expected = by_arrays.outputs(new)
    assert expected.shape == ((len(new), n_classes) if n_classes else (len(new),))
    np.testing.assert_array_equal(by_fit._checked_outputs(new) if n_classes else by_fit.predict(new), expected)
    if learner.shared_parameters is not None:
        by_parts = clone(learner)
        prepared = by_parts.prepare(X, y, n_classes)
        by_parts.fit_prepared(prepared, X, y, n_classes)
        np.testing.assert_array_equal(by_parts.outputs(new), expected)
        again = clone(learner)
        again.fit_prepared(prepared, X, y, n_classes)
        np.testing.assert_array_equal(again.outputs(new), expected)
    if learner.query_parameters is not None:
        np.testing.assert_array_equal(by_arrays.outputs_prepared(by_arrays.prepare_query(new)), expected)


@pytest.mark.parametrize("learner", [x for x in LEARNERS if x.shared_parameters is not None], ids=named)
def test_siblings_may_share_what_is_prepared(learner):
    """Parameters outside `shared_parameters` change, and what was prepared before must still do."""
    X, y, n_classes = table(learner)
    other = {"shrinkage": 0.5, "balance": False, "units": 7, "depth": 3}
    sibling = clone(learner).set_params(
        **{k: v for k, v in other.items() if k in learner.get_params() and k not in learner.shared_parameters}
    )
    expected = fitted(sibling, X, y, n_classes).outputs(X)
    prepared = clone(learner).prepare(X, y, n_classes)
    sibling.fit_prepared(prepared, X, y, n_classes)
    np.testing.assert_array_equal(sibling.outputs(X), expected)
    if learner.query_parameters is not None:
        query = fitted(learner, X, y, n_classes).prepare_query(X)
        np.testing.assert_array_equal(sibling.outputs_prepared(query), expected)


@each_learner
def test_complexity_is_a_positive_number(learner):
    X, y, n_classes = table(learner)
    complexity = fitted(learner, X, y, n_classes).complexity()
    assert isinstance(complexity, float)
    assert 0 < complexity < np.inf


@each_classifier
def test_learns_something(learner):
    X, y, n_classes = table(learner, n_rows=200)
    model = fitted(learner, X[:100], y[:100], n_classes)
    assert (model.outputs(X[100:]).argmax(axis=1) == y[100:]).mean() > 0.6


@each_classifier
@pytest.mark.parametrize("present", [(0, 2), (1,), (0, 1, 3), (1, 2)])
def test_a_missing_class_gets_the_lowest_score(learner, present):
    X, y, _ = table(learner, n_classes=len(present) if len(present) > 1 else 2)
    y = np.array(present)[np.minimum(y, len(present) - 1)]
    model = fitted(learner, X, y, 4)
    outputs = quiet_outputs(model, X)
    missing = [code for code in range(4) if code not in present]
    assert outputs.shape == (len(X), 4)
    assert (outputs[:, missing].max(axis=1) <= outputs[:, present].min(axis=1)).all()
    assert np.isin(outputs.argmax(axis=1), present).all()
    if learner.probabilistic:
        np.testing.assert_allclose(outputs.sum(axis=1), 1.0)
        assert (outputs[:, missing] == 0.0).all()


@each_classifier
def test_the_missing_class_changes_nothing_for_the_others(learner):
    X, y, _ = table(learner)
    shifted = np.array([0, 2, 3])[y]
    np.testing.assert_array_equal(
        fitted(learner, X, shifted, 5).outputs(X)[:, [0, 2, 3]], fitted(learner, X, y, 3).outputs(X)
    )


def degenerate_tables():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    return {
        "constant features": np.ones((30, 4)),
        "one constant feature": np.column_stack([X, np.full(30, 0.1)]),
        "all zero": np.zeros((30, 2)),
        "one feature": X[:, :1],
        "duplicate rows": np.repeat(X[:3], 10, axis=0),
        "more features than rows": rng.normal(size=(30, 200)),
        "binary": (X > 0).astype(float),
        "far from the origin": X + 1e6,
        "one outlier": np.vstack([X[:-1], np.full((1, 4), 1e6)]),
    }


@each_learner
@pytest.mark.parametrize("kind", degenerate_tables())
def test_degenerate_features_give_finite_outputs(learner, kind):
    X = degenerate_tables()[kind]
    n_classes = 3 if is_classifier(learner) else 0
    y = np.arange(len(X)) % 3 if n_classes else np.random.default_rng(1).normal(size=len(X))
    model = fitted(learner, X, y, n_classes)
    assert np.isfinite(quiet_outputs(model, X)).all()
    assert np.isfinite(quiet_outputs(model, X[:1] + 1.0)).all()
    assert np.isfinite(model.complexity())


def finite_or_clearly_refused(action, huge):
    """Runs the action; only huge features may be refused, and then with a reason and a remedy."""
    message, result = "", None
    try:
        result = action()
    except ValueError as error:
        message = str(error)
    if message:
        assert huge
        assert re.search("overflow.*standardize", message)
    elif isinstance(result, np.ndarray):
        assert np.isfinite(result).all()
    return result


@each_learner
@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-160, 1e-30, 1e30, 1e160, 1e300])
def test_any_scale_gives_finite_outputs_or_a_clear_error(learner, scale):
    X, y, n_classes = table(learner)
    X /= np.abs(X).max()
    model = finite_or_clearly_refused(lambda: fitted(learner, X * scale, y, n_classes), huge=scale > 1)
    if model is None:
        return
    assert np.isfinite(quiet_outputs(model, X * scale)).all()
    assert np.isfinite(model.complexity())
    finite_or_clearly_refused(lambda: quiet_outputs(model, X * 1e300), huge=True)
    for other in (1e-300, 1.0):
        assert np.isfinite(quiet_outputs(model, X * other)).all()


@each_learner
@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_one_feature_of_a_wild_scale_among_others(learner, scale):
    X, y, n_classes = table(learner)
    X /= np.abs(X).max()
    X[:, 0] *= scale
    finite_or_clearly_refused(lambda: quiet_outputs(fitted(learner, X, y, n_classes), X), huge=scale > 1)


SCALE_FREE = [GaussianBayes, NaiveBayes, KernelLogistic, GKRidgeClassifier, LogitBoost, ForestClassifier]


@pytest.mark.parametrize("learner", [x for x in CLASSIFIERS if type(x) in SCALE_FREE], ids=named)
@pytest.mark.parametrize("scale", [2.0**-980, 2.0**-20, 2.0**20, 2.0**980])
def test_scale_free_learners_do_not_see_the_scale(learner, scale):
    X, y, n_classes = table(learner)
    expected = fitted(learner, X, y, n_classes).outputs(X)
    np.testing.assert_allclose(fitted(learner, X * scale, y, n_classes).outputs(X * scale), expected, atol=1e-9)


@each_classifier
def test_tiny_classes(learner):
    X, y, _ = table(learner, n_classes=2)
    y = np.where(np.arange(len(y)) < 3, np.arange(len(y)) + 2, y)  # three classes of a single row
    outputs = quiet_outputs(fitted(learner, X, y, 5), X)
    assert outputs.shape == (len(X), 5)
    assert np.isfinite(outputs).all()


@each_classifier
def test_two_rows_are_enough(learner):
    X = np.array([[0.0, 1.0], [1.0, 0.0]])
    outputs = quiet_outputs(fitted(learner, X, np.array([0, 1]), 2), X)
    assert np.isfinite(outputs).all()


@each_classifier
def test_fifty_classes(learner):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(50), 4)
    X = rng.normal(size=(50, 5))[y] * 3.0 + 0.1 * rng.normal(size=(200, 5))
    if isinstance(learner, LogitBoost):
        learner = clone(learner).set_params(units=3)
    model = fitted(learner, X, y, 50)
    outputs = quiet_outputs(model, X)
    assert outputs.shape == (200, 50)
    assert np.isfinite(outputs).all()
    # Four units, or one direction a class, are not enough.
    if not isinstance(learner, Zarbi | LinearLogistic | NeuralClassifier):
        assert (outputs.argmax(axis=1) == y).mean() > 0.7


@each_learner
def test_missing_values_are_refused(learner):
    X, y, _ = table(learner)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        clone(learner).fit(X, y)


@each_learner
def test_the_data_are_left_alone(learner):
    X, y, n_classes = table(learner)
    kept_X, kept_y = X.copy(), y.copy()
    fitted(learner, X, y, n_classes).outputs(X)
    np.testing.assert_array_equal(X, kept_X)
    np.testing.assert_array_equal(y, kept_y)


@pytest.mark.parametrize("learner", [x for x in LEARNERS if "random_state" in x.get_params()], ids=named)
def test_randomness_comes_from_the_random_state_alone(learner):
    X, y, n_classes = table(learner)
    first, again = (fitted(learner, X, y, n_classes).outputs(X) for _ in range(2))
    other = fitted(clone(learner).set_params(random_state=1), X, y, n_classes).outputs(X)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
