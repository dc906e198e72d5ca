"""How good a vote is, against committees that are fitted split by split."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from search_cases import (
    SPACE,
    Searched,
    build_committee,
    commissioned,
    ensemble_of,
    searched,
    write_classes,
    write_numbers,
)

import msl
from msl.check.names.scoring_declarations import metric_named
from msl.evaluate.final_fits import COMMON_FOLDS, OutputsRequest, requested_resamplings
from msl.evaluate.resampling import ResamplingPlan
from msl.runner.choose_members import EnsembleMembers, VoteEstimate
from msl.runner.session import run_plan

NUMBERS = "use clop\nchain m = standardize >> kridge(degree = 1, coef0 = 1, gamma = 0, shrinkage: 0.01 | 1 | 2)\n"


def estimated(case: Searched) -> tuple[VoteEstimate | None, EnsembleMembers]:
    found = ensemble_of(case)
    return found.estimate, found.members


def reference(case: Searched, members: EnsembleMembers, metric: str) -> float:
    """A committee of its own for every split, fitted as the one that a run ends with."""
    plan, dataset = case.plan, case.plan.job.dataset
    (objective,) = plan.objectives
    trial = ResamplingPlan(dataset, [objective.estimate], plan.seed).resampling(objective.estimate, 0, 1.0, 0)
    outputs: list[list[Any]] = [[] for _ in trial.pools]
    for split in trial.splits:
        committee = build_committee(plan, members)
        committee.fit_arrays(dataset.X[split.train], dataset.y[split.train], dataset.n_classes)
        outputs[split.pool].append(committee.outputs(dataset.X[split.test]))
    return trial.score(metric_named(metric), [np.concatenate(pool) for pool in outputs])


# Equal votes would leave ties to chance, which committees fitted apart draw apart.
@pytest.mark.parametrize("ensemble", ["vote(top = 3, weighted = true, voting = hard)", "vote(top = 4, voting = soft)"])
@pytest.mark.parametrize(
    "goal",
    [
        "minimize ber by cv(folds = 3)",
        "minimize logloss by cv(folds = 3, repeats = 2)",
        "maximize auc by holdout(0.3)",
        "minimize error by loo()",
        "minimize error by bootstrap632(samples = 5)",
    ],
)
def test_the_vote_is_judged_on_the_winners_splits(tmp_path: Path, goal: str, ensemble: str) -> None:
    text = f"{SPACE}{goal}\nsearch grid\nensemble {ensemble}\n"
    case = searched(tmp_path, text, write_classes(tmp_path))
    estimate, members = estimated(case)
    (name,) = case.plan.objective_names()
    assert len(members.candidates) > 1
    assert estimate is not None
    assert estimate.objectives[name] == pytest.approx(reference(case, members, name), abs=1e-9)
    low, high = estimate.interval[name] or (np.nan, np.nan)
    assert low <= estimate.objectives[name] <= high
    assert low < high


def test_the_mean_of_numbers_is_judged(tmp_path: Path) -> None:
    text = f"{NUMBERS}minimize rmse by cv(folds = 4)\nsearch grid\nensemble vote(top = 3)\n"
    case = searched(tmp_path, text, write_numbers(tmp_path))
    estimate, members = estimated(case)
    assert estimate is not None
    assert estimate.objectives["rmse"] == pytest.approx(reference(case, members, "rmse"))


def test_of_one_model_there_is_no_vote(tmp_path: Path) -> None:
    text = f"{SPACE}minimize ber by cv(folds = 3)\nsearch grid\nensemble vote(top = 1)\n"
    found = ensemble_of(searched(tmp_path, text, write_classes(tmp_path)))
    assert (found.estimate, found.is_used) == (None, False)


@pytest.mark.parametrize(
    "goal", ["minimize ber + 0.01 * features by cv(folds = 3)", "minimize ber by cv(folds = 3, shuffle = true)"]
)
def test_where_no_objective_speaks_of_votes_common_folds_compare(tmp_path: Path, goal: str) -> None:
    text = f"{SPACE}{goal}\nsearch grid\nensemble vote(top = 3)\n"
    case = searched(tmp_path, text, write_classes(tmp_path))
    estimate, members = estimated(case)
    assert estimate is not None
    assert estimate.objectives == {}
    assert estimate.metric == "ber"
    dataset, plan = case.plan.job.dataset, case.plan
    request = OutputsRequest(members.candidates[0].model, COMMON_FOLDS)
    (trial,) = requested_resamplings(dataset, plan.objectives, plan.seed, request)
    outputs = []
    for split in trial.splits:
        committee = build_committee(plan, members)
        committee.fit_arrays(dataset.X[split.train], dataset.y[split.train], dataset.n_classes)
        outputs.append(committee.outputs(dataset.X[split.test]))
    assert estimate.ensemble == pytest.approx(trial.score(metric_named("ber"), [np.concatenate(outputs)]))
    assert estimate.is_better == (estimate.ensemble < estimate.best)


def test_of_several_objectives_those_of_rows_are_judged(tmp_path: Path) -> None:
    text = f"{SPACE}minimize ber, features by cv(folds = 3)\nsearch grid\nensemble vote(top = 3)\n"
    estimate, _ = estimated(searched(tmp_path, text, write_classes(tmp_path)))
    assert estimate is not None
    assert set(estimate.objectives) == set(estimate.interval) == {"ber"}


def test_a_confirmed_vote_is_judged_on_all_new_splits(tmp_path: Path) -> None:
    search = "search grid then confirm(top = 4, repeats = 3)\nensemble vote(top = 3, voting = soft)\n"
    case = searched(tmp_path, f"{SPACE}minimize error by cv(folds = 3)\n{search}", write_classes(tmp_path))
    estimate, members = estimated(case)
    assert estimate is not None
    assert case.verdict.best is not None
    assert case.verdict.best.repeats == 3
    plan, dataset = case.plan, case.plan.job.dataset
    trials = ResamplingPlan(dataset, [plan.objectives[0].estimate], plan.seed)
    wrong = []
    for repeat in range(case.verdict.best.repeat, case.verdict.best.repeat + 3):
        for split in trials.resampling(plan.objectives[0].estimate, 0, 1.0, repeat).splits:
            committee = build_committee(plan, members)
            committee.fit_arrays(dataset.X[split.train], dataset.y[split.train], dataset.n_classes)
            wrong.extend(committee.outputs(dataset.X[split.test]).argmax(axis=1) != dataset.y[split.test])
    assert len(wrong) == 3 * 90
    assert estimate.objectives["error"] == pytest.approx(np.mean(wrong))


def test_a_run_tells_of_its_vote_but_not_when_it_was_stopped(tmp_path: Path) -> None:
    text = f"{SPACE}minimize ber by cv(folds = 3)\nsearch grid\nensemble vote(top = 3)\n"
    table = write_classes(tmp_path)
    summary = msl.run(text, table, store=tmp_path / "s").summary
    assert set(summary["ensemble_objectives"]) == set(summary["ensemble_interval"]) == {"ber"}
    asked: list[bool] = []
    request = commissioned(tmp_path, text.replace("search grid", "search random(evaluations = 40)"), table)
    stopped = run_plan(request, tmp_path / "t", stopped=lambda: bool(asked), progress=lambda _: asked.append(True))
    assert stopped.ending == "interrupted"
    assert stopped.summary["ensemble"] == [stopped.best]
    assert stopped.summary["used"] == {
        "model": "best",
        "why": "the run was interrupted before an ensemble was built",
    }
    assert "ensemble_objectives" not in stopped.summary
