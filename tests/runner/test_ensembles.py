"""Who votes: members that can be fitted, weights that mean the same for every metric, folds that mind the order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from search_cases import SPACE, ensemble_of, searched, write_classes

import msl
from msl.evaluate.final_fits import COMMON_FOLDS, OutputsRequest, requested_resamplings
from msl.runner.choose_members import choose_members, shortlist
from msl.runner.choose_winner import Candidate, ranked_candidates

NEIGHBOURS = """data(target = class)
block nn: learner for classification "sklearn.neighbors:KNeighborsClassifier" { n_neighbors: int 66..78 }
chain m = nn
minimize ber by cv(folds = 10)
search grid
"""


@pytest.mark.slow
@pytest.mark.parametrize("ensemble", ["best_first(max = 5)", "vote(top = auto)"])
def test_models_that_fail_on_other_folds_do_not_vote(tmp_path: Path, ensemble: str) -> None:
    """Ten folds of 90 rows leave 81 to fit on, the five folds of the choice only 72."""
    table = pl.read_csv(write_classes(tmp_path))
    text = f"{NEIGHBOURS}ensemble {ensemble}\n"
    result = msl.run(text, table, store=tmp_path / "s")
    neighbours = [int(model.split("= ")[1].rstrip(")")) for model in result.summary["ensemble"]]
    assert result.failures == 0
    assert neighbours
    assert max(neighbours) <= 72
    assert any(row["model"].endswith("= 78)") for row in result.evaluations)


def test_where_no_model_can_be_fitted_again_the_best_is_alone(tmp_path: Path) -> None:
    table = pl.read_csv(write_classes(tmp_path))
    text = NEIGHBOURS.replace("66..78", "74..78") + "ensemble best_first(max = 5)\n"
    result = msl.run(text, table, store=tmp_path / "s")
    assert result.summary["ensemble"] == [result.best]
    assert result.summary["used"]["model"] == "best"


def weights(folder: Path, goal: str, rows: int = 90) -> np.ndarray:
    text = f"{SPACE}{goal} by cv(folds = 3)\nsearch grid\nensemble vote(top = 4, weighted = true)\n"
    case = searched(folder, text, write_classes(folder, rows))
    members = ensemble_of(case).members
    assert len(members.weights) > 2
    return np.array(members.weights)


@pytest.mark.slow
def test_a_weight_means_the_same_whichever_way_a_metric_is_written(tmp_path: Path) -> None:
    maximised = weights(tmp_path, "maximize auc")
    (tmp_path / "minimised").mkdir()
    minimised = weights(tmp_path / "minimised", "minimize 1 - auc")
    assert maximised == pytest.approx(minimised)
    assert maximised[0] == 1.0
    assert 0.1 < maximised[-1] < 1.0, "nobody votes alone"


def test_without_a_perfect_score_the_last_has_half_the_weight(tmp_path: Path) -> None:
    found = weights(tmp_path, "maximize 1 / ber")
    assert (found[0], found[-1]) == (1.0, pytest.approx(0.5))
    assert (np.diff(found) <= 0).all()


def test_a_perfect_model_does_not_vote_alone(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    sure = np.repeat([0.0, 5.0], 40)
    vague = sure / 3 + rng.normal(size=80)
    frame = pl.DataFrame({"vague": vague, "sure": sure, "y": np.repeat(["a", "b"], 40)})
    text = """data(target = y)
use sbm
chain m = keep >> knn(k: 1 | 5, rest = default)
minimize ber by cv(folds = 4)
search grid
ensemble vote(top = 4, weighted = true, always = true)
"""
    result = msl.run(text, frame, store=tmp_path / "s")
    assert result.objectives["ber"] == 0.0
    assert len(result.trained.estimator.weights) > 1
    assert min(result.trained.estimator.weights) > 0.001


def test_members_are_chosen_by_models_of_the_past(tmp_path: Path) -> None:
    frame = pl.read_csv(write_classes(tmp_path)).with_row_index("when")
    frame.write_csv(tmp_path / "ordered.csv")
    text = f"data(target = class, order = when)\n{SPACE}minimize ber by cv(folds = 3)\nsearch grid\n"
    case = searched(tmp_path, text + "ensemble best_first(max = 3)\n", tmp_path / "ordered.csv")
    plan = case.plan
    request = OutputsRequest(case.verdict.best.model, COMMON_FOLDS)
    (trial,) = requested_resamplings(plan.job.dataset, plan.objectives, plan.seed, request)
    order = case.plan.job.dataset.population.order
    assert order is not None
    assert len(trial.splits) == 5
    assert all(order[split.train].max() < order[split.test].min() for split in trial.splits)
    assert ensemble_of(case).members.candidates


@pytest.mark.slow
@pytest.mark.parametrize(
    "search", ["pso(swarm = 4, iterations = 5) then pattern(evaluations = 6)", "auto(evaluations = 40)"]
)
def test_a_swarm_votes_also_where_it_is_not_the_last(tmp_path: Path, search: str) -> None:
    space = "use clop\nchain m = standardize? >> svc(gamma: 1e-3..1 log, shrinkage: 1e-3..1 log, rest = default)\n"
    text = f"{space}minimize logloss by cv(folds = 3)\nsearch {search}\nensemble swarm()\n"
    case = searched(tmp_path, text, write_classes(tmp_path))
    members = ensemble_of(case).members
    assert len(members.candidates) > 1
    losses = [one.losses for one in members.candidates]
    assert losses == sorted(losses)


@pytest.mark.parametrize("top", ["5", "auto"])
def test_models_with_equal_losses_all_vote_if_they_need_not_be_distinct(tmp_path: Path, top: str) -> None:
    """The weights of a single neighbour are always 1, so that both kinds of weighting give one loss."""
    space = "use sbm\nchain m = knn(k: 1 | 3 | 5, distance: euclidean | manhattan, weighting: uniform | inverse)\n"
    table = write_classes(tmp_path)
    losses = {}
    for distinct in ("true", "false"):
        goal = "minimize ber by cv(folds = 3)\nsearch grid\n"
        text = f"{space}{goal}ensemble vote(top = {top}, distinct = {distinct}, voting = hard)\n"
        (tmp_path / distinct).mkdir()
        case = searched(tmp_path / distinct, text, table)
        losses[distinct] = [one.losses[0] for one in shortlist(case.plan, case.found).candidates]
    every = sorted(one.losses[0] for one in ranked_candidates(case.plan, case.found))
    most = 5 if top == "5" else len(every)
    assert losses["false"] == every[:most], "the lowest losses, however often"
    assert losses["true"] == sorted(set(every))[:most]
    assert losses["true"] != losses["false"]


@pytest.mark.parametrize(("most", "replacement"), [(3, "false"), (10, "false"), (10, "true")])
def test_the_best_is_joined_by_what_helps_most_until_nothing_helps(tmp_path: Path, most: int, replacement: str) -> None:
    """The steps of the paper written out, on votes made up for the models of a small search."""
    ensemble = f"ensemble best_first(max = {most}, replacement = {replacement})\n"
    case = searched(tmp_path, f"{SPACE}minimize ber by cv(folds = 3)\nsearch grid\n{ensemble}", write_classes(tmp_path))
    listed = shortlist(case.plan, case.found)
    assert listed.candidates[0].model == ranked_candidates(case.plan, case.found)[0].model
    pool = [replace(one, complexity=float(-place % 5)) for place, one in enumerate(listed.candidates)]
    listed = replace(listed, candidates=tuple(pool))
    assert len(pool) > 3
    made_up = np.random.default_rng(5).normal(size=(len(pool), 6))
    # Pairs that vote alike help equally, and losses of few values end with candidates that neither help nor harm.
    outputs = {one: made_up[place % (len(pool) // 2)] for place, one in enumerate(pool)}

    def loss(mean: np.ndarray) -> float:
        return round(2 * float(np.abs(mean).sum()))

    found = choose_members(case.plan, listed, lambda chosen: np.mean([outputs[one] for one in chosen], axis=0), loss)

    expected: list[Candidate] = [pool[0]]
    while len(expected) < most:
        left = [one for one in pool if replacement == "true" or one not in expected]
        after = {one: loss(np.mean([outputs[each] for each in [*expected, one]], axis=0)) for one in left}
        least = min(after.values(), default=np.inf)
        if least >= loss(np.mean([outputs[each] for each in expected], axis=0)):
            break
        helping = [one for one in left if after[one] == least]
        expected.append(min(helping, key=lambda one: (one.complexity, pool.index(one))))
    assert found == expected
    assert len(found) > 1
