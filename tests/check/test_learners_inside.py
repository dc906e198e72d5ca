"""Pipelines, parts and choices as the value of a parameter that takes a learner."""

from __future__ import annotations

import numpy as np
import pytest

from msl.check.check_spec import check_source
from msl.check.read_models import text_to_model
from msl.diagnostics.source import Source
from msl.encode.codec import space_to_codec
from msl.encode.sample import sample
from msl.space.canonical.digest import model_digest, space_digest
from msl.space.enumerate.count import Models
from msl.space.enumerate.equivalence import Relation, relate
from msl.space.formulas import Facts
from msl.space.spec import Space
from msl.space.to_text import model_to_text
from msl.space.values import BlockValue, PipelineValue

FACTS = Facts(n_samples=80, n_features=4, n_classes=2, task="classification")
HEAD = "use sklearn, compose\n"
LEARN = (
    "part scale = standard_scaler(rest = default) | max_abs\n"
    "part learn = scale? >> (decision_tree(max_depth: int 2..4, rest = default) | gaussian_nb(rest = default))\n"
)


def space(text: str) -> Space:
    checked = check_source(Source("spec.msl", HEAD + text), FACTS)
    assert checked.spec is not None, [each.message for each in checked.diagnostics]
    return checked.spec.space


def number(text: str) -> int:
    return Models(space(text)).number


@pytest.mark.parametrize(
    ("use", "models"),
    [
        ("bagging(rest = default)", 1),
        ("bagging(estimator: learn, rest = default)", 3 * 4),
        ("bagging(estimator: none | learn, rest = default)", 1 + 3 * 4),
        ("bagging(estimator = learn, rest = default)", 1),
        ("bagging(estimator: learn | decision_tree(max_depth: 3..6, rest = default), rest = default)", 3 * 4 + 2),
        ("bagging(estimator: bagging(estimator: learn, rest = default), rest = default)", 3 * 4),
        ("bagging(estimator = max_abs >> decision_tree(max_depth: 1..5), rest = default)", 5),
        ("bagging(estimator: learn, rest = default) | bagging(estimator = none, rest = default)", 3 * 4 + 1),
        ("voting(estimators: [learn, learn], voting = hard)", (3 * 4) ** 2),
        ("voting(estimators: [learn, learn] | [learn], voting = hard)", (3 * 4) ** 2 + 3 * 4),
        ("predictions(learn, folds = 5) >> gaussian_nb(rest = default)", 3 * 4),
        ("bagging(estimator: (max_abs & pca(rest = default)) >> learn, rest = default)", 3 * 4),
        ("bagging(estimator: learn >> bias?, rest = default)", 3 * 4 * 2),
    ],
)
def test_how_many_models_a_learner_inside_opens(use: str, models: int) -> None:
    head = "use clop\n" if "bias" in use else ""
    assert number(f"{head}{LEARN}chain model = {use}") == models


def test_a_bare_block_leaves_a_learner_with_a_default_closed() -> None:
    assert number("chain model = bagging(n_estimators: 5..6, max_samples = 1, max_features = 1, bootstrap = true)") == 2


def test_a_requirement_reaches_blocks_and_parts_inside() -> None:
    chain = f"{LEARN}chain model = bagging(estimator: learn, rest = default)\n"
    assert number(f"{chain}require scale is none if gaussian_nb") == 3 * 3 + 1
    assert number(f"{chain}require decision_tree.max_depth < 4") == 3 * 3
    assert number(f"{chain}require bagging.estimator is gaussian_nb") == 1
    assert number(f"{chain}require learn is gaussian_nb or learn.max_abs") == 4 + 1


def test_equal_spaces_have_equal_digests_however_a_learner_is_written() -> None:
    tree, bayes = "decision_tree(max_depth: int 2..4, rest = default)", "gaussian_nb(rest = default)"
    one = space(f"part p = {tree} | {bayes}\nchain model = bagging(estimator: p, rest = default)")
    other = space(f"chain model = bagging(estimator: {bayes} | {tree}, rest = default)")
    assert space_digest(one) == space_digest(other)
    wider = space(f"chain model = bagging(estimator: {bayes} | {tree} | (max_abs >> {bayes}), rest = default)")
    assert space_digest(wider) != space_digest(one)
    assert relate(one, wider).relation is Relation.WIDENED
    spelt = f"chain model = bagging(estimator: {tree} | (max_abs? >> {bayes}), rest = default)"
    assert relate(wider, space(spelt)).relation is Relation.SAME


@pytest.mark.parametrize("encoding", ["shared", "separate"])
def test_models_come_back_from_vectors_and_from_text(encoding: str) -> None:
    text = (
        f"{LEARN}chain model = (predictions(learn) & passthrough) >> "
        "(stacking(estimators: [learn, learn], rest = default) | bagging(estimator: none | (pca >> learn)))"
    )
    found = space(text)
    codec = space_to_codec(found, encoding)  # type: ignore[arg-type]
    models = sample(codec, 40, np.random.default_rng(0)).models()
    spec = Source("spec.msl", HEAD + text)
    for model in models:
        assert codec.model(codec.encode(model)) == model  # type: ignore[arg-type]
        again, problems = text_to_model(model_to_text(model), spec)  # type: ignore[arg-type]
        assert again == model, problems
        assert again is not None
        assert model_digest(again) == model_digest(model)  # type: ignore[arg-type]


def test_one_step_alone_is_the_block_itself() -> None:
    (model,) = Models(space("part p = gaussian_nb\nchain model = bagging(estimator = p, rest = default)"))
    assert isinstance(model.steps[0], BlockValue)
    assert isinstance(dict(model.steps[0].params)["estimator"], BlockValue)
    (model,) = Models(space("chain model = bagging(estimator = max_abs >> gaussian_nb, rest = default)"))
    assert isinstance(model.steps[0], BlockValue)
    assert isinstance(dict(model.steps[0].params)["estimator"], PipelineValue)


def test_a_path_without_a_learner_is_named() -> None:
    checked = check_source(Source("spec.msl", f"{HEAD}chain model = bagging(estimator: max_abs >> decision_tree?)"))
    (problem,) = [each for each in checked.diagnostics if each.is_error]
    assert problem.code == "MSL202"
    assert problem.primary.text == "on the path `max_abs`"
    assert "`estimator` of `bagging`" in problem.message


def test_a_derived_block_keeps_the_learner_that_it_was_given() -> None:
    head = f"{LEARN}block bag = bagging {{ estimator: learn, n_estimators = 5 }}\n"
    assert number(f"{head}chain model = bag(max_samples = 1, max_features = 1, bootstrap = true)") == 3 * 4


def test_features_of_the_table_are_gone_after_a_selector_inside_too() -> None:
    text = "use sbm\nchain model = bagging(estimator: pca >> keep >> gaussian_nb)"
    codes = [each.code for each in check_source(Source("spec.msl", HEAD + text)).diagnostics if each.is_error]
    assert codes == ["MSL064"]
