"""From models to estimators: parameters, slots, randomness, trust, and what is told when it does not work."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline, make_union

from msl.blocks.base.build import ColumnKinds, model_to_chain
from msl.blocks.base.chain import Branch, ChainClassifier, are_probabilities, probabilities
from msl.blocks.base.load import BlockProblem
from msl.blocks.base.recipes import flat_parameters, recipe_of, split_at_learner, step_to_estimator
from msl.blocks.calibration import Bias
from msl.blocks.learners.linear_classifiers import Zarbi
from msl.blocks.preprocessing.scalers import Normalize, Standardize
from msl.space.values import BlockType, BlockValue, Branches, Model, SymbolValue, Value


def use(target: str, role: str = "transformer", **params: Value) -> BlockValue:
    return BlockValue(BlockType(target.partition(":")[2].lower(), "tests", role, None, target), tuple(params.items()))


STANDARDIZE = use("msl.blocks:Standardize", center=True)
NORMALIZE = use("msl.blocks:Normalize", center=False)
ZARBI = use("msl.blocks:Zarbi", "learner")
BIAS = use("msl.blocks:Bias", "post")
FOREST = use("msl.blocks:Forest*", "learner", units=5)


def test_alternatives_pass_their_parameters_beside_them():
    kernel = SymbolValue("rbf", (("gamma", SymbolValue("scaled", (("by", 2.0),))),))
    flat = flat_parameters(use("sklearn.svm:SVC", "learner", C=1.0, kernel=kernel))
    assert flat == {"C": 1.0, "kernel": "rbf", "gamma": "scaled", "by": 2.0}
    given = use("sklearn.svm:SVC", "learner", kernel=SymbolValue("rbf", (("gamma", 0.5),)))
    machine = step_to_estimator(given, "classification", "0/0")
    assert (machine.kernel, machine.gamma) == ("rbf", 0.5)


def test_slots_are_filled_with_blocks_of_their_own():
    distance = use("msl.blocks:Minkowski", "distance", alpha=3.0)
    recipe = recipe_of(use("msl.blocks:KNN*", "learner", distance=distance, k=3), "regression", "0/0")
    first, second = recipe.make(), recipe.make()
    assert type(first).__name__ == "KNNRegressor"
    assert first.distance.alpha == 3.0
    assert first.distance is not second.distance


def test_randomness_depends_on_seed_block_and_place_alone():
    def state(place: str) -> int:
        return step_to_estimator(FOREST, "classification", place).random_state

    assert state("0/1") == state("0/1")
    assert len({state("0/1"), state("0/2"), state("1/1")}) == 3
    given = use("msl.blocks:Forest*", "learner", random_state=7)
    assert step_to_estimator(given, "classification", "0/1").random_state == 7
    kmeans = use("msl.blocks:KMeans", "references")
    assert recipe_of(FOREST, "classification", "0/1").is_random
    assert not recipe_of(STANDARDIZE, "classification", "0/1").is_random
    sbm = use("msl.blocks:Similarity*", "learner", references=kmeans)
    assert recipe_of(sbm, "classification", "0/1").is_random


def test_branches_are_the_same_as_a_union_of_pipelines():
    X, y = load_wine(return_X_y=True)
    branches = Branches(((STANDARDIZE, NORMALIZE), (NORMALIZE,)))
    chain = model_to_chain(Model((branches, ZARBI)), "classification")
    assert isinstance(chain.steps[0], Branch)
    union = make_union(make_pipeline(Standardize(), Normalize()), Normalize())
    expected = make_pipeline(union, Zarbi()).fit(X, y).predict(X)
    assert np.array_equal(chain.fit(X, y).predict(X), expected)


def test_a_chain_is_an_estimator_like_any_other():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    chain = model_to_chain(Model((STANDARDIZE, ZARBI, BIAS)), "classification")
    assert cross_val_score(chain, X, names).mean() > 0.7
    again = clone(chain).fit(X, names)
    assert again.classes_.tolist() == sorted(set(names))
    shares = again.predict_proba(X)
    assert np.allclose(shares.sum(axis=1), 1)
    assert np.array_equal(again.classes_[shares.argmax(axis=1)], again.predict(X))
    learner = Zarbi().fit(Standardize().fit_transform(X), y)
    outputs = learner.outputs(Standardize().fit_transform(X))
    by_hand = Bias().fit(outputs, y).transform(outputs)
    assert np.array_equal(again.outputs(X), by_hand)


def test_a_chain_of_numbers():
    X = load_wine().data
    target = X[:, 0]
    chain = model_to_chain(Model((STANDARDIZE, use("msl.blocks:KRidge*", "learner"))), "regression")
    predicted = cross_val_predict(chain, X[:, 1:], target, cv=5)
    assert np.corrcoef(predicted, target)[0, 1] > 0.5


def test_a_chain_for_a_table_with_gaps_takes_what_it_has_never_seen():
    X, y = load_iris(return_X_y=True)
    X = X.copy()
    X[:, 0] = np.arange(150) % 3
    columns = ColumnKinds(4, symbolic=(0,), incomplete=(0, 1, 2, 3))
    chain = model_to_chain(Model((STANDARDIZE, ZARBI)), "classification", columns=columns).fit(X, y)
    new = X[:5].copy()
    new[0, 0] = 17.0
    new[1] = np.nan
    assert len(chain.predict(new)) == 5


def test_outputs_become_probabilities_only_where_they_are_none():
    shares = np.array([[0.2, 0.8], [1.0, 0.0]])
    assert are_probabilities(shares)
    assert probabilities(shares) is shares
    scores = np.array([[-700.0, 800.0], [3.0, 1.0]])
    made = probabilities(scores)
    assert are_probabilities(made)
    assert np.array_equal(made.argmax(axis=1), scores.argmax(axis=1))


def test_probabilities_of_a_row_do_not_hang_on_the_others():
    sure = np.array([[0.25, 0.5, 0.25], [1.2, -0.3, 0.1], [0.0, 0.0, 1.0]])
    made = probabilities(sure)
    assert made == pytest.approx(np.array([[0.25, 0.5, 0.25], [12 / 13, 0.0, 1 / 13], [0.0, 0.0, 1.0]]))
    assert made == pytest.approx(np.vstack([probabilities(row[None]) for row in sure]))


def test_a_model_falls_apart_at_its_learner():
    before, learner, after = split_at_learner(Model((STANDARDIZE, ZARBI, BIAS)))
    assert (before, learner, after) == ((STANDARDIZE,), ZARBI, (BIAS,))
    with pytest.raises(BlockProblem, match="without a learner"):
        split_at_learner(Model((STANDARDIZE,)))


@pytest.mark.parametrize(
    ("target", "role", "params", "code", "words"),
    [
        ("somewhere.else:Thing", "learner", {}, "MSL401", "--trust somewhere"),
        ("sklearn.nowhere:Thing", "learner", {}, "MSL402", "nowhere"),
        ("sklearn.svm:NoSuchThing", "learner", {}, "MSL402", "has no `NoSuchThing`"),
        ("sklearn.svm:l1_min_c", "learner", {}, "MSL403", "not a class"),
        ("sklearn.svm:SVC", "transformer", {}, "MSL403", "has no method `transform`"),
        ("sklearn.svm:SVC", "learner", {"nonsense": 1}, "MSL404", "nonsense"),
    ],
)
def test_what_is_told_when_a_block_cannot_be_made(target, role, params, code, words):
    with pytest.raises(BlockProblem) as told:
        step_to_estimator(use(target, role, **params), "classification", "0/0")
    assert told.value.code == code
    assert words in f"{told.value.message} {told.value.help}"
    assert told.value.block == target.partition(":")[2].lower()


def test_kinds_of_chains():
    assert isinstance(model_to_chain(Model((ZARBI,)), "classification"), ChainClassifier)
