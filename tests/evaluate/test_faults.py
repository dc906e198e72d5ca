"""Whatever a block does, an evaluation gives an outcome with its cause, and the next one is none the worse."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from evaluation_cases import block, evaluator, objectives, only_model, two_moons

from msl.evaluate.dataset import Dataset
from msl.evaluate.evaluator import Evaluator
from msl.evaluate.outcome import Effort
from msl.space.values import Branches, Model

GOAL = "minimize ber by cv(folds = 2)"


def judge_of(dataset: Dataset, **options) -> Evaluator:
    return evaluator(GOAL, dataset, trusted=["faulty_blocks"], **options)


def fault(name: str, role: str = "transformer", **params):
    return block(f"faulty_blocks:{name}", role, **params)


@pytest.fixture
def dataset() -> Dataset:
    return two_moons()


@pytest.fixture
def good(dataset) -> Model:
    return only_model("use clop\nchain c = standardize(rest = default) >> naive >> bias", dataset)


BEFORE = {
    "RefusesToBeMade": ("block", "never with 0"),
    "FailsToFit": ("exception", "RuntimeError: no fit today"),
    "FailsToTransform": ("exception", "RuntimeError: no transform today"),
    "LeavesTheProgram": ("exception", "SystemExit: 3"),
    "RunsOutOfMemory": ("memory", "not enough memory"),
    "FailsWithoutWords": ("exception", "BrokenWords: (no words)"),
    "LosesRows": ("shape", "of 60 rows"),
    "LosesColumns": ("shape", "no column"),
    "MakesNaN": ("not a number", "makes NaN in"),
    "MakesInfinity": ("not a number", "makes infinite values in"),
    "WritesIntoItsInput": ("exception", "read-only"),
}


@pytest.mark.parametrize("name", sorted(BEFORE))
@pytest.mark.parametrize("where", ["first", "second", "branch"])
def test_a_step_that_fails(dataset, good, name, where):
    standardize, *rest = good.steps
    bad = fault(name)
    steps = {
        "first": (bad, *rest),
        "second": (standardize, bad, *rest),
        "branch": (Branches(((standardize,), (bad,))), *rest),
    }[where]
    judge = judge_of(dataset)
    outcome = judge.evaluate(Model(steps))
    cause, words = BEFORE[name]
    assert outcome.losses == (float("inf"),)
    assert outcome.failure is not None
    assert (outcome.failure.cause, outcome.failure.step) == (cause, name)
    assert words in outcome.failure.message
    # the next model is judged as if nothing had been
    after = judge.evaluate(good)
    alone = judge_of(dataset).evaluate(good)
    assert after.failure is None
    assert replace(after, effort=Effort()) == replace(alone, effort=Effort())


@pytest.mark.parametrize(
    ("name", "cause", "words"),
    [
        ("PredictsNaN", "not a number", "probabilities of NaN for 60 of 60 rows"),
        ("PredictsTheWrongShape", "shape", "(60, 5)"),
        ("FailsToPredict", "exception", "no prediction today"),
        ("NotALearner", "block", "has no method `fit`"),
        ("NoSuchThing", "block", "has no `NoSuchThing`"),
    ],
)
def test_a_learner_that_fails(dataset, good, name, cause, words):
    for steps in ((fault(name, "learner"),), (good.steps[0], fault(name, "learner"), good.steps[-1])):
        failure = judge_of(dataset).evaluate(Model(steps)).failure
        assert failure is not None
        assert (failure.cause, failure.step) == (cause, name)
        assert words in failure.message


def test_a_post_that_fails(dataset, good):
    for name in ("FailsToFit", "MakesNaN", "LosesRows"):
        failure = judge_of(dataset).evaluate(Model((*good.steps[:2], fault(name, "post")))).failure
        assert failure is not None
        assert failure.step == name


def test_long_messages_are_cut(dataset, good):
    failure = judge_of(dataset).evaluate(Model((fault("TalksTooMuch"), good.steps[1]))).failure
    assert failure is not None
    assert len(failure.message) < 2000


def test_a_flood_of_warnings_is_cut_short(dataset, good, recwarn):
    outcome = judge_of(dataset).evaluate(Model((fault("FloodsWithWarnings"), good.steps[1])))
    assert outcome.failure is None
    assert len(outcome.warnings) == 5
    assert outcome.warnings[0].startswith("warning number 0")
    assert all(len(message) <= 300 for message in outcome.warnings)
    assert len(recwarn) == 0


def test_warnings_belong_to_the_model_that_raised_them(dataset, good):
    judge = judge_of(dataset)
    filters = list(warnings.filters)
    judge.evaluate(Model((fault("FloodsWithWarnings"), good.steps[1])))
    assert judge.evaluate(good).warnings == ()
    assert warnings.filters == filters


def test_a_package_that_is_not_trusted_is_not_imported(dataset, good):
    failure = evaluator(GOAL, dataset).evaluate(Model((fault("Copies"), good.steps[1]))).failure
    assert failure is not None
    assert failure.cause == "block"
    assert "not trusted" in failure.message


def test_a_model_without_a_learner(dataset, good):
    failure = judge_of(dataset).evaluate(Model(good.steps[:1])).failure
    assert failure is not None
    assert "learner" in failure.message


def test_failures_are_remembered_but_for_lack_of_memory(dataset, good):
    judge = judge_of(dataset)
    for name, remembered in (("FailsToFit", True), ("RunsOutOfMemory", False)):
        model = Model((fault(name), good.steps[1]))
        judge.evaluate(model)
        assert judge.evaluate(model).effort.remembered == remembered


def test_a_loss_that_is_not_a_number_is_a_failure(dataset, good):
    one_class = Dataset.of_arrays(dataset.X, np.zeros(len(dataset.y), dtype=np.intp), 2)
    judge = Evaluator(one_class, objectives("maximize auc by cv(folds = 2)", dataset), trusted=["faulty_blocks"])
    outcome = judge.evaluate(Model((fault("Majority", "learner"),)))
    assert outcome.losses == (float("inf"),)
    assert outcome.failure is not None


def test_a_class_that_a_fold_has_lost_is_never_predicted(dataset):
    y = dataset.y.copy()
    y[:1] = 2
    tiny = Dataset.of_arrays(dataset.X, y, 3)
    for chain in ("gaussian_nb(rest = default)", "decision_tree(rest = default)", "linear_svc(rest = default)"):
        model = only_model(f"use sklearn\nchain c = {chain}", tiny)
        outcome = evaluator("minimize ber by cv(folds = 5)", tiny).evaluate(model)
        assert outcome.failure is None
        assert 1 / 3 <= outcome.losses[0] < 1


def test_who_listens_hears_of_every_block(dataset, good):
    heard: list[str] = []
    judge = judge_of(dataset, on_step=heard.append)
    judge.evaluate(good)
    assert heard == ["standardize", "naive", "bias"] * 2


def test_a_metric_without_a_value_says_which_it_is():
    few = Dataset.of_arrays(np.array([[0.0], [1.0]]), np.array([0, 1]), 2)
    model = only_model("use clop\nchain c = naive", few)
    outcome = evaluator("maximize auc by holdout(0.3)", few).evaluate(model)
    assert outcome.losses == (float("inf"),)
    assert outcome.failure is not None
    assert outcome.failure.cause == "not a number"
    assert outcome.failure.message == "`auc` cannot be computed for the test rows; they may all be of one class"
