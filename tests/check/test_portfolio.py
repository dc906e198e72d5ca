"""`search portfolio`: learners that ship, put into a space whatever it calls them."""

from __future__ import annotations

from typing import Literal

from sklearn.datasets import load_iris

from msl.check.check_spec import Checked, check_source
from msl.check.names.block_declarations import Blocks
from msl.check.names.library import Library
from msl.check.read_models import portfolio_learners
from msl.check.strategies import closed_steps, node_value
from msl.data.options import DataOptions
from msl.data.read import read_table
from msl.diagnostics.diagnostic import Report
from msl.diagnostics.source import Source
from msl.runner.plan import make_plan
from msl.search.base import Observation, Query
from msl.search.stages import then
from msl.space.nodes import BlockUse
from msl.space.to_text import model_to_text
from msl.space.values import Model

_OWN = """use sklearn
block quick: learner "sklearn.ensemble:HistGradientBoostingClassifier" {
  max_iter: int 10..20 default 12,
  max_leaf_nodes: int 4..64 log default 31,
}
chain model = (standard_scaler(rest = default) | min_max) >> (quick | gaussian_nb)
minimize ber
search portfolio then auto(evaluations = 20)
"""


def checked(text: str) -> Checked:
    return check_source(Source("spec.msl", text))


def models(text: str) -> list[Model]:
    found = checked(text)
    assert found.spec is not None, found.diagnostics
    return [Model(closed_steps(node)) for node in found.spec.search[0].models]


def shipped(task: Literal["classification", "regression"]) -> list[BlockUse]:
    report = Report()
    library = Library(report)
    library.open(Source("spec.msl", "use sklearn\n"))
    learners = portfolio_learners(task, library, Blocks(report))
    assert not report.failed
    return learners


def test_every_model_that_ships_is_one_of_a_space_with_its_learner() -> None:
    names = "hist_gradient_boosting | extra_trees | svm"
    of_classes = models(f"use sklearn\nchain m = {names}\nminimize ber\nsearch portfolio then auto")
    names = "hist_gradient_boosting | extra_trees"
    of_numbers = models(f"use sklearn\nchain m = {names}\nminimize rmse\nsearch portfolio then auto")
    for found, task in ((of_classes, "classification"), (of_numbers, "regression")):
        learners = shipped(task)  # type: ignore[arg-type]
        assert [one.steps[0].block.target for one in found] == [one.block.target for one in learners]  # type: ignore[union-attr]
        values = [{param.name: node_value(param.node) for param in one.params} for one in learners]
        assert [dict(one.steps[0].params) for one in found] == values  # type: ignore[union-attr]


def test_a_learner_is_known_by_its_class_and_values_by_what_is_near() -> None:
    found = models(_OWN)
    assert found
    assert all(model_to_text(one).startswith("standard_scaler(") for one in found)
    given = [one for one in shipped("classification") if "HistGradientBoosting" in one.block.target]
    wanted = [
        {"max_iter": min(max(values["max_iter"], 10), 20), "max_leaf_nodes": values["max_leaf_nodes"]}
        for values in ({param.name: node_value(param.node) for param in one.params} for one in given)
    ]
    assert [dict(one.steps[-1].params) for one in found] == wanted  # type: ignore[union-attr]


def test_a_learner_in_several_places_is_taken_at_the_first() -> None:
    found = models("use sklearn\nchain m = extra_trees | (standard_scaler >> extra_trees)\nsearch portfolio then auto")
    assert [len(one.steps) for one in found] == [1]


def test_models_that_requirements_exclude_are_left_out() -> None:
    found = models(_OWN.replace("search", "require quick.max_leaf_nodes >= 8\nsearch"))
    values = [dict(one.steps[-1].params)["max_leaf_nodes"] for one in found]  # type: ignore[union-attr]
    assert values
    assert all(one >= 8 for one in values)


def test_a_space_without_its_learners_is_told_so_and_searched_all_the_same() -> None:
    found = checked("use sklearn\nchain m = gaussian_nb | lda\nsearch portfolio then auto(evaluations = 5)")
    assert [one.code for one in found.diagnostics] == ["MSL246"]
    assert found.spec is not None
    assert found.spec.search[0].models == ()


def test_it_is_known_how_many_evaluations_it_takes() -> None:
    found = checked(_OWN).spec
    assert found is not None
    stage = found.search[0]
    assert stage.call.capabilities.most_evaluations({}, None) == len(stage.models) > 0


def test_its_models_come_first_and_the_search_goes_on_from_them() -> None:
    spec = checked(_OWN).spec
    assert spec is not None
    frame = load_iris(as_frame=True).frame
    plan = make_plan(spec, read_table(frame, options=DataOptions(target="target")))
    strategy = then(plan.stages, 0, plan.limits, 1, lambda event: None)
    first = next(strategy)
    assert [plan.search_spaces[0].decode(one.vector) for one in first] == models(_OWN)
    losses = [float(place) for place in range(len(first), 0, -1)]
    second: list[Query] = strategy.send(
        [Observation(query.vector, (loss,)) for query, loss in zip(first, losses, strict=True)]
    )
    asked = [plan.search_spaces[1].decode(one.vector) for one in second]
    assert asked
    assert not set(asked) & set(models(_OWN)), "they are known, and not asked for again"


def test_boosting_of_another_library_takes_the_values_under_its_own_names() -> None:
    text = """use boosting
chain model = lightgbm(n_estimators: best int 20..100, num_leaves: 8..64 log) | hist_boosting
search portfolio then auto"""
    given = [one for one in shipped("classification") if "HistGradientBoosting" in one.block.target]
    values = [{param.name: node_value(param.node) for param in one.params} for one in given]
    found = [(one.steps[0].block.name, dict(one.steps[0].params)) for one in models(text)]  # type: ignore[union-attr]
    assert [name for name, _ in found][: len(given)] == ["hist_boosting"] * len(given)
    alone = models(text.replace(" | hist_boosting", ""))
    for model, wanted in zip(alone, values, strict=False):
        params = dict(model.steps[0].params)  # type: ignore[union-attr]
        assert params["learning_rate"] == wanted["learning_rate"]
        assert params["num_leaves"] == max(8, wanted["max_leaf_nodes"])  # type: ignore[type-var]
        assert params["n_estimators"] == min(100, wanted["max_iter"])  # type: ignore[type-var]
