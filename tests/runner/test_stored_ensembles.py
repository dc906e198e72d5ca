"""Ensembles that are chosen by stored outputs: the choice, its replay on drawn rows, the estimate, what predicts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from search_cases import Searched, commissioned, searched, write_classes, write_numbers
from sklearn.metrics import log_loss

import msl
from msl.diagnostics.user_error import UserError
from msl.evaluate.final_fits import OutputsRequest
from msl.runner import confidence_intervals
from msl.runner.corrected_estimate import Competition, competition
from msl.runner.finish import Ensemble, Finished, finish
from msl.runner.judged_outputs import judged_outputs
from msl.runner.time_limit import ClosingTime, FinalTasks, TimeLimit, TimeReserve, final_costs
from msl.store.evaluation import Evaluation, EvaluationInputs
from msl.store.store import Store
from msl.workers.local import open_executor

MANY = """use sklearn
part near = k_neighbors(n_neighbors: 5 | 15, rest = default)
chain m = lda(rest = default) | qda(rest = default) | gaussian_nb(rest = default) | logistic(C: 0.01 | 1) | near
"""
NUMBERS = """use sklearn
part near = k_neighbors(n_neighbors: 3 | 9, rest = default)
chain m = ridge(alpha: 0.1 | 10) | near | decision_tree(max_depth: 2 | 3, rest = default)
"""


class Ended:
    """A search that was finished with its stored outputs; `asked` are the tasks of its end."""

    def __init__(self, folder: Path, text: str, table: Path, limit: TimeLimit | None = None) -> None:
        self.case: Searched = searched(folder, text, table)
        plan, found = self.case.plan, self.case.found
        self.asked: list[Any] = []
        with Store.open(folder / ".msl", read_only=True) as store, open_executor(plan.job, "inprocess") as executor:
            self.among: Competition = competition(plan, store, found)
            self.outputs = {
                model: next(iter(held.values()))
                for model, _, held in judged_outputs(plan, store, found.evaluator.compared.values())
            }
            submit = executor.submit
            executor.submit = lambda task: (self.asked.append(task), submit(task))[1]  # type: ignore[method-assign]
            tasks = FinalTasks(executor, limit or TimeLimit(), final_costs(plan, found))
            done = finish(plan, found, self.case.verdict, tasks, None, self.among)
        assert isinstance(done, Finished)
        assert done.ensemble is not None
        self.done, self.ensemble = done, done.ensemble


@pytest.fixture(scope="module")
def voted(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    folder = tmp_path_factory.mktemp("voted")
    text = f"{MANY}minimize logloss by cv(folds = 4)\nsearch grid\nensemble greedy(steps = 6, always = true)\n"
    return Ended(folder, text, write_classes(folder))


def aligned(ended: Ended) -> tuple[np.ndarray, list[Any]]:
    """The stored probabilities of all models in the order of the rows, and the models; the best first."""
    y = ended.case.plan.job.dataset.y
    models = list(ended.outputs)
    found = np.zeros((len(models), len(y), 3))
    for place, model in enumerate(models):
        held = ended.outputs[model]
        found[place, held.resampling.pools[0].rows] = held.outputs[0]
    losses = [log_loss(y, one) for one in found]
    order = np.argsort(losses, kind="stable")
    return found[order], [models[place] for place in order]


def chosen(y: np.ndarray, outputs: np.ndarray, weights: np.ndarray, steps: int) -> list[int]:
    """The members with repeats, by plain loops over models that are the best first on these rows."""
    losses = [log_loss(y, one, sample_weight=weights, labels=[0, 1, 2]) for one in outputs]
    members = [int(np.argmin(losses))]
    best, best_loss = members, min(losses)
    for _ in range(steps):
        after = [
            log_loss(y, outputs[[*members, each]].mean(axis=0), sample_weight=weights, labels=[0, 1, 2])
            for each in range(len(outputs))
        ]
        members = [*members, int(np.argmin(after))]
        if min(after) < best_loss - 1e-9:
            best, best_loss = members, min(after)
    return best


def test_the_members_are_those_of_a_plain_greedy_selection(voted: Ended) -> None:
    outputs, models = aligned(voted)
    y = voted.case.plan.job.dataset.y
    expected = chosen(y, outputs, np.ones(len(y)), 6)
    members = voted.ensemble.members
    assert {models.index(one.model) for one in members.candidates} == set(expected)
    counts = {models.index(one.model): n for one, n in zip(members.candidates, members.weights, strict=True)}
    assert counts == {each: expected.count(each) for each in expected}
    assert members.voting == "soft"


def test_to_choose_fits_nothing_and_members_are_fitted_once(voted: Ended) -> None:
    fits = [task.model for task in voted.asked if not isinstance(task, OutputsRequest)]
    assert sorted(map(str, fits)) == sorted({str(one.model) for one in voted.ensemble.members.candidates})
    outputs = {str(task.model) for task in voted.asked if isinstance(task, OutputsRequest)}
    assert outputs == {str(voted.done.best.model)}, "of the winner alone, for its interval"


def test_the_estimate_is_that_of_its_outputs_for_held_out_rows(voted: Ended) -> None:
    outputs, models = aligned(voted)
    members = voted.ensemble.members
    places = [models.index(one.model) for one in members.candidates]
    mean = np.average(outputs[places], axis=0, weights=members.weights)
    assert voted.ensemble.estimate is not None
    found = voted.ensemble.estimate.objectives["logloss"]
    assert found == pytest.approx(log_loss(voted.case.plan.job.dataset.y, mean), abs=1e-6)


def test_draws_repeat_the_whole_choice_and_judge_it_on_the_rows_left_out(voted: Ended) -> None:
    replay = voted.ensemble.replay
    assert replay is not None
    outputs, _ = aligned(voted)
    y = voted.case.plan.job.dataset.y
    for draw in range(0, len(replay.units), 9):
        times = replay.units[draw]
        out = times == 0
        members = chosen(y, outputs, times, 6)
        mean = outputs[members].mean(axis=0)
        assert replay.left_out[draw] == pytest.approx(log_loss(y[out], mean[out], labels=[0, 1, 2]), abs=1e-5)
        inside = [log_loss(y, one, sample_weight=times, labels=[0, 1, 2]) for one in outputs]
        alone = outputs[int(np.argmin(inside))]
        assert replay.alone[draw] == pytest.approx(log_loss(y[out], alone[out], labels=[0, 1, 2]), abs=1e-5)
    assert replay.ahead == pytest.approx(np.mean(replay.alone - replay.left_out))


@pytest.mark.parametrize("ensemble", ["greedy()", "stack()"])
def test_the_first_number_is_for_what_predicts(tmp_path: Path, ensemble: str) -> None:
    text = f"{MANY}minimize logloss by cv(folds = 4)\nsearch grid\nensemble {ensemble}\n"
    result = msl.run(text, write_classes(tmp_path), store=tmp_path / "s", baselines=False)
    summary = result.summary
    replayed = summary["corrected"]
    used = summary["used"]["model"]
    assert used == ("ensemble" if "not better" not in summary["used"]["why"] else "best")
    if used == "ensemble":
        assert result.corrected == replayed["ensemble"]["objectives"]
        low, high = replayed["ensemble"]["interval"]["logloss"]
        assert low < result.corrected["logloss"] < high
        assert result.corrected["logloss"] < replayed["objectives"]["logloss"], "that is why it is used"
        assert summary["ensemble_objectives"]["logloss"] < result.corrected["logloss"], "which is partly luck"
        assert not any("not repeated" in note for note in replayed["notes"])


def test_an_ensemble_that_is_no_better_is_not_used_and_the_run_says_so(tmp_path: Path) -> None:
    """A tree that is not pruned knows the rows that it was fitted on by heart, and is too sure of others."""
    goal = "minimize logloss by cv(folds = 3)\nsearch grid\n"
    text = f"{MANY}{goal}ensemble stack(final = decision_tree(max_depth = none, rest = default))\n"
    result = msl.run(text, write_classes(tmp_path), store=tmp_path / "s", baselines=False)
    assert result.summary["used"]["model"] == "best"
    assert "not better on rows left out" in result.summary["used"]["why"]
    assert "ensemble" not in result.summary["corrected"]
    assert result.corrected == result.summary["corrected"]["objectives"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("minimize ber by cv(folds = 3)\nbudget(outputs = 0MB)\n", "keeps no outputs"),
        ("minimize ber by bootstrap632(samples = 3)\n", "several times"),
        ("minimize ber by cv(folds = 3, shuffle = true)\n", "no objective can be computed"),
    ],
)
def test_where_there_are_no_outputs_to_choose_by_the_run_says_so(tmp_path: Path, more: str, words: str) -> None:
    text = f"{MANY}{more}search grid\nensemble greedy()\n"
    result = msl.run(text, write_classes(tmp_path), store=tmp_path / "s", baselines=False)
    assert result.summary["used"]["model"] == "best"
    assert words in result.summary["used"]["why"]


@pytest.mark.parametrize("goal", ["minimize rmse", "minimize mae", "maximize r2"])
@pytest.mark.parametrize("ensemble", ["greedy(always = true)", "stack(always = true)"])
def test_numbers_are_predicted_as_the_parts_say(tmp_path: Path, goal: str, ensemble: str) -> None:
    text = f"{NUMBERS}{goal} by cv(folds = 3, repeats = 2)\nsearch grid\nensemble {ensemble}\n"
    table = write_numbers(tmp_path)
    result = msl.run(text, table, store=tmp_path / "s", baselines=False)
    assert result.summary["used"]["model"] == "ensemble"
    estimator = result.trained.estimator
    X = np.random.default_rng(0).normal(size=(5, 3))
    said = np.column_stack([member.outputs(X) for member in estimator.members])
    expected = (
        estimator.final.outputs(said)
        if ensemble.startswith("stack")
        else np.average(said, axis=1, weights=estimator.weights)
    )
    assert estimator.outputs(X) == pytest.approx(expected)
    loaded = msl.load_model(result.run, tmp_path / "s")
    assert np.array_equal(loaded.estimator.outputs(X), estimator.outputs(X))


def test_a_stack_takes_a_last_learner_of_ones_own(tmp_path: Path) -> None:
    goal = "minimize ber by cv(folds = 4)\nsearch grid\n"
    text = f"{MANY}{goal}ensemble stack(final = standard_scaler >> logistic(C = 0.1), always = true)\n"
    result = msl.run(text, write_classes(tmp_path), store=tmp_path / "s", baselines=False)
    final = result.trained.estimator.final
    assert [type(one).__name__ for one in (*final.steps, final.learner)] == ["StandardScaler", "LogisticRegression"]
    assert final.learner.C == 0.1
    assert result.summary["final"].startswith("standard_scaler")
    shares = result.trained.estimator.predict_proba(np.zeros((2, 3)))
    assert shares.sum(axis=1) == pytest.approx(1.0)


def test_with_too_little_time_there_are_fewer_members(tmp_path: Path) -> None:
    """An allowance of nothing leaves the winner, which is fitted anyway."""
    text = f"{MANY}minimize logloss by cv(folds = 4)\nsearch grid\nensemble greedy()\n"
    table = write_classes(tmp_path)
    (tmp_path / "free").mkdir()
    free = Ended(tmp_path / "free", text, table)
    assert len(free.ensemble.members.candidates) > 1
    (tmp_path / "late").mkdir()
    late = Ended(tmp_path / "late", text, table, TimeLimit(0.0))
    assert [one.model for one in late.ensemble.members.candidates] == [late.done.best.model]
    assert not late.ensemble.is_used


def test_confirmed_models_are_the_ones_that_are_chosen_from(tmp_path: Path) -> None:
    search = "search grid then confirm(top = 4, repeats = 2)\n"
    text = f"{MANY}minimize logloss by cv(folds = 3)\n{search}ensemble greedy(always = true)\n"
    ended = Ended(tmp_path, text, write_classes(tmp_path))
    assert ended.among.choice is not None
    confirmed = {own[0].model for own in ended.among.choice.confirmed}
    assert len(confirmed) == 4
    assert {one.model for one in ended.ensemble.members.candidates} <= confirmed
    assert all(one.repeats == 2 for one in ended.ensemble.members.candidates)


@pytest.mark.parametrize("ensemble", ["stack(always = true)", "greedy(voting = soft)", "greedy()"])
def test_where_a_run_before_kept_classes_alone_no_probabilities_are_made_up(tmp_path: Path, ensemble: str) -> None:
    text = f"{MANY}minimize ber by cv(folds = 3)\nsearch grid\n"
    table = write_classes(tmp_path)
    msl.run(text, table, store=tmp_path / "s", baselines=False)
    summary = msl.run(f"{text}ensemble {ensemble}\n", table, store=tmp_path / "s", baselines=False).summary
    assert summary["new"] == 0
    if ensemble == "greedy()":
        assert summary["voting"] == "hard" or "no other model" in summary["used"]["why"]
    else:
        assert summary["used"]["model"] == "best"
        assert "classes alone" in summary["used"]["why"]


def test_time_is_left_for_fits_of_members_alone(tmp_path: Path) -> None:
    """Outputs of members are known: a vote computes them, which takes as long as the evaluations."""
    needed = {}
    for ensemble in ("vote(top = 3)", "greedy(max = 3, steps = 1)"):
        text = f"{MANY}minimize logloss by cv(folds = 3)\nensemble {ensemble}\nbudget(time = 200s)\n"
        (tmp_path / ensemble[:4]).mkdir()
        plan = commissioned(tmp_path / ensemble[:4], text, write_classes(tmp_path)).plan
        reserve = TimeReserve(plan, 1)
        for place in range(5):
            inputs = EvaluationInputs(str(place), {}, "", "", 0)
            reserve.add(Evaluation(inputs, "", (0.5 - place / 100,), metrics={}, seconds=10.0))
        needed[ensemble[:4]] = reserve.seconds
    outputs_of_two = 2 * 10.0 * 1.3
    assert needed["vote"] - needed["gree"] == pytest.approx(outputs_of_two, abs=0.5)


def test_a_last_learner_that_fails_does_not_cost_the_run(tmp_path: Path) -> None:
    """It wants more neighbours than there are rows."""
    crowd = 'block crowd: learner for classification "sklearn.neighbors:KNeighborsClassifier" { n_neighbors = 500 }'
    spec = f"""{MANY}{crowd}
minimize ber by cv(folds = 3)
search grid
ensemble stack(final = crowd)
"""
    result = msl.run(spec, write_classes(tmp_path), store=tmp_path / "s", baselines=False)
    assert result.summary["used"]["model"] == "best"
    assert "the ensemble fails with ValueError" in result.summary["used"]["why"]


def test_a_last_learner_of_the_other_task_is_reported_before_the_run(tmp_path: Path) -> None:
    text = f"{MANY}minimize ber by cv(folds = 3)\nsearch grid\nensemble stack(final = ridge)\n"
    with pytest.raises(UserError, match="ridge"):
        msl.run(text, write_classes(tmp_path), store=tmp_path / "s", baselines=False)


@pytest.mark.slow
def test_the_result_does_not_depend_on_workers_or_a_resumed_run(tmp_path: Path) -> None:
    text = f"{MANY}maximize auc by cv(folds = 3)\nsearch random(evaluations = 6)\nensemble stack()\n"
    table = write_classes(tmp_path)
    one = msl.run(text, table, store=tmp_path / "a", baselines=False).summary
    two = msl.run(text, table, store=tmp_path / "b", jobs=2, baselines=False).summary
    again = msl.run(text, table, store=tmp_path / "a", baselines=False).summary
    for name in ("ensemble", "weights", "final", "used", "ensemble_objectives"):
        assert one.get(name) == two.get(name) == again.get(name)
    assert one["corrected"]["objectives"] == two["corrected"]["objectives"] == again["corrected"]["objectives"]


def test_the_kind_of_ensemble_is_known_to_its_record(voted: Ended) -> None:
    assert isinstance(voted.ensemble, Ensemble)
    assert voted.ensemble.is_used
    assert "always" in voted.ensemble.why


def test_the_winner_and_the_members_are_fitted_at_the_same_time(voted: Ended) -> None:
    """The choice comes first, so that no worker waits for the fit of the winner."""
    kinds = [type(task).__name__ for task in voted.asked]
    fits = len(voted.ensemble.members.candidates)
    assert kinds[:fits] == ["FitRequest"] * fits
    assert voted.asked[0].model == voted.done.best.model


def test_of_many_rows_the_outputs_of_the_winner_are_those_of_the_store(
    voted: Ended, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confidence_intervals, "MANY_ROWS", 80)
    text = f"{MANY}minimize logloss by cv(folds = 4)\nsearch grid\nensemble greedy(steps = 6, always = true)\n"
    known = Ended(tmp_path, text, write_classes(tmp_path))
    assert [task for task in known.asked if isinstance(task, OutputsRequest) and not task.halves] == []
    ((estimate, held),) = known.done.held.items()
    before = voted.done.held[estimate]
    assert known.done.best.model == voted.done.best.model
    np.testing.assert_array_equal(held.resampling.pools[0].rows, before.resampling.pools[0].rows)
    np.testing.assert_allclose(held.outputs[0], before.outputs[0], atol=1e-6)
    reserves = {}
    for many in (80, 1_000):
        monkeypatch.setattr(confidence_intervals, "MANY_ROWS", many)
        budget = commissioned(tmp_path, f"{text}budget(time = 900s)\n", tmp_path / "classes.csv").plan
        reserve = TimeReserve(budget, 1)
        reserve.add(Evaluation(EvaluationInputs("m", {}, "", "", 0), "", (0.5,), metrics={}, seconds=10.0))
        reserves[many] = reserve.seconds
    assert reserves[1_000] - reserves[80] == pytest.approx(1.3 * 10.0)


def test_what_follows_does_not_take_all_time_from_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is foretold for the end may be more than there is left: members may have half of that."""
    text = f"{MANY}minimize logloss by cv(folds = 4)\nsearch grid\nensemble greedy()\nbudget(time = 900s)\n"
    monkeypatch.setattr(ClosingTime, "seconds", lambda self, models: 1e6)
    monkeypatch.setattr(TimeReserve, "add", lambda self, *evaluation: None)  # the search itself goes to its end
    ended = Ended(tmp_path, text, write_classes(tmp_path), TimeLimit(900.0))
    assert len(ended.ensemble.members.candidates) > 1
