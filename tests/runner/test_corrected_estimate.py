"""The estimate corrected for the choice of the best: against a plain computation, and where the truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from search_cases import SPACE, Searched, commissioned, searched, write_classes, write_numbers

from msl.evaluate.final_fits import OutputsRequest, requested_resamplings
from msl.evaluate.outcome import EvaluationLog
from msl.evaluate.resampling import ResamplingPlan
from msl.runner.choose_winner import Candidate, Verdict
from msl.runner.confidence_intervals import HeldOut, halves_requests, requested_resampling
from msl.runner.corrected_estimate import Correction, _Correcting, competition, correct_estimate
from msl.runner.judged_outputs import DrawnChoice, Judged, judged_models, judged_outputs
from msl.runner.session import run_plan
from msl.store.evaluation import Evaluation, EvaluationInputs
from msl.store.store import Store

RANDOM = "search random(evaluations = 12)\n"
MANY = "use sklearn\nchain m = lda | qda | gaussian_nb | logistic\n"


def corrected(folder: Path, case: Searched) -> Correction:
    assert case.verdict.best is not None
    with Store.open(folder / ".msl", read_only=True) as store:
        among = competition(case.plan, store, case.found)
        return correct_estimate(case.found, case.verdict, case.verdict.best, among)


def error_rate(y: NDArray[np.intp], predicted: NDArray[Any]) -> float:
    """The mean of the error rates of the classes."""
    return float(np.mean([(predicted[y == kind] != kind).mean() for kind in np.unique(y)]))


def test_it_is_the_mean_over_draws_of_what_is_chosen_inside_and_judged_outside(tmp_path: Path) -> None:
    case = searched(tmp_path, MANY + "minimize ber by cv(folds = 3)\n" + RANDOM, write_classes(tmp_path))
    found = corrected(tmp_path, case)
    with Store.open(tmp_path / ".msl", read_only=True) as store:
        held = [one for _, _, one in judged_outputs(case.plan, store, case.found.evaluator.compared.values())]
    y = case.plan.job.dataset.y
    predicted = np.zeros((len(held), len(y)), dtype=np.intp)
    for place, one in enumerate(held):
        (own,) = one.values()
        predicted[place, own.resampling.pools[0].rows] = own.outputs[0].argmax(axis=1)
    rng, seen = np.random.default_rng(99), []
    for _ in range(400):
        drawn = np.concatenate([rng.choice(np.flatnonzero(y == c), (y == c).sum()) for c in range(3)])
        out = np.setdiff1d(np.arange(len(y)), drawn)
        inside = [error_rate(y[drawn], one[drawn]) for one in predicted]
        best = int(np.argmin(inside))
        seen.append(error_rate(y[out], predicted[best][out]))
    assert found.best is not None
    assert found.best.objectives["ber"] == pytest.approx(np.mean(seen), abs=5 * np.std(seen) / np.sqrt(400))
    assert found.models == len(held) > 4
    assert 1 < found.chosen <= found.models


def drawn_at_random(case: Searched, rng: np.random.Generator, models: int) -> Correction:
    """The correction where every model guesses: its loss on new rows is 0.5."""
    plan = case.plan
    (objective,) = plan.objectives
    resampling = ResamplingPlan(plan.job.dataset, [objective.estimate], 0).resampling(objective.estimate, 0, 1.0, 0)
    n = len(plan.job.dataset.y)
    shared = rng.normal(size=(models // 5, n))
    judged = []
    for number in range(models):
        guess = (0.7 * shared[number % len(shared)] + 0.7 * rng.normal(size=n) > 0).astype(np.uint16)
        loss = error_rate(plan.job.dataset.y, guess)
        inputs = EvaluationInputs(str(number), {}, "", "", 0)
        held = {objective.estimate: HeldOut(resampling, (guess[resampling.pools[0].rows],))}
        judged.append(Judged(number, Evaluation(inputs, "guess", (loss,)), held))  # type: ignore[arg-type]
    judged.sort(key=lambda one: one.evaluation.losses)
    best = Candidate(judged[0].model, judged[0].evaluation.losses, 0.0)
    rows = resampling.pools[0].rows
    guess = np.eye(2)[rng.integers(0, 2, len(rows))]  # whatever it is fitted on
    request = OutputsRequest(best.model, objective.estimate, halves=True)
    (halves,) = requested_resamplings(plan.job.dataset, plan.objectives, 0, request)
    alike = {objective.estimate: HeldOut(halves, (guess, guess))}
    return _Correcting(DrawnChoice(plan, judged), alike).corrected(case.found, Verdict(best), best, 0)


def test_where_all_models_guess_the_interval_holds_one_half_in_about_95_of_100_cases(tmp_path: Path) -> None:
    """The lowest loss is far below in all of them."""
    rows = write_classes(tmp_path, rows=90).read_text().replace(",c\n", ",b\n")
    (tmp_path / "two.csv").write_text(rows)
    case = searched(tmp_path, MANY + "minimize ber by cv(folds = 3)\n" + RANDOM, tmp_path / "two.csv")
    rng = np.random.default_rng(12)
    found = [drawn_at_random(case, rng, 40) for _ in range(100)]
    values = np.array([one.best.objectives["ber"] for one in found if one.best is not None])
    ends = np.array([one.best.interval["ber"] for one in found if one.best is not None])
    assert len(values) == 100
    assert abs(values.mean() - 0.5) < 0.01
    assert 89 <= ((ends[:, 0] <= 0.5) & (ends[:, 1] >= 0.5)).sum() <= 99


def test_the_interval_is_not_narrower_than_that_of_the_winner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forty that guess take turns at being chosen, so that the mean over them varies little from row to row."""
    rows = write_classes(tmp_path, rows=90).read_text().replace(",c\n", ",b\n")
    (tmp_path / "two.csv").write_text(rows)
    case = searched(tmp_path, MANY + "minimize ber by cv(folds = 3)\n" + RANDOM, tmp_path / "two.csv")
    counts = np.bincount(case.plan.job.dataset.y)
    alone: list[float] = []
    plain = _Correcting._variance_alone

    def noted(one: _Correcting, objective: int, place: int) -> float:
        alone.append(plain(one, objective, place))
        return alone[-1]

    for seed in range(5):
        widths = []
        for known in (noted, lambda *_: 0.0):
            monkeypatch.setattr(_Correcting, "_variance_alone", known)
            best = drawn_at_random(case, np.random.default_rng(seed), 40).best
            assert best is not None
            widths.append(float(np.diff(best.interval["ber"])[0]))
        # That of a balanced error rate whose classes are wrong equally often, or less.
        assert 0.8 * 0.4 * 0.6 * (1 / counts).sum() / 4 < alone[-1] <= 0.25 * (1 / counts).sum() / 4
        assert widths[0] > 0.97 * 2 * 1.96 * np.sqrt(alone[-1])
        assert widths[0] > widths[1]


def test_halved_fits_have_no_training_row_in_common_and_score_the_same_rows(tmp_path: Path) -> None:
    data = write_classes(tmp_path)
    for goal in ("cv(folds = 4)", "cv(folds = 3, repeats = 2)", "loo", "cv(folds = 3, shuffle = true)"):
        plan = commissioned(tmp_path, MANY + f"minimize ber by {goal}\n" + RANDOM, data).plan
        (objective,) = plan.objectives
        whole = ResamplingPlan(plan.job.dataset, [objective.estimate], plan.seed).resampling(
            objective.estimate, 5, 1.0, 0
        )
        request = OutputsRequest(None, objective.estimate, 5, halves=True)  # type: ignore[arg-type]
        (found,) = requested_resamplings(plan.job.dataset, plan.objectives, plan.seed, request)
        first, second = ([one for one in found.splits if one.pool == number] for number in (0, 1))
        tested = []
        for one, other in zip(first, second, strict=True):
            assert one.test.tolist() == other.test.tolist()
            tested += one.test.tolist()
            assert not np.intersect1d(one.train, other.train).size
            assert sorted([*one.train, *other.train, *one.test]) == list(range(len(plan.table)))
        assert sorted(tested) == list(range(len(plan.table)))
        assert [pool.rows.tolist() for pool in found.pools] == [tested, tested]
        if goal != "loo":
            assert [one.test.tolist() for one in first] == [one.test.tolist() for one in whole.splits if one.pool == 0]


def test_the_more_the_training_rows_matter_the_wider_the_interval(tmp_path: Path) -> None:
    """Neighbours of noise say what they have seen; where classes are far apart, any half says the same."""
    goal = "use sbm\nchain m = knn(k = 1)\nminimize ber by cv(folds = 3)\n" + RANDOM
    for far, least, most in ((0.0, 1.08, 1.25), (9.0, 1.0, 1.0)):
        rng = np.random.default_rng(4)
        label = rng.integers(0, 2, 200)
        rows = [
            f"{a + far * c},{b},{'no' if c else 'yes'}"
            for a, b, c in zip(*rng.normal(size=(2, 200)), label, strict=True)
        ]
        (tmp_path / f"{far}.csv").write_text("\n".join(["a,b,class", *rows]) + "\n")
        (tmp_path / str(far)).mkdir()
        case = searched(tmp_path / str(far), goal, tmp_path / f"{far}.csv")
        assert case.verdict.best is not None
        with Store.open(tmp_path / str(far) / ".msl", read_only=True) as store:
            judged = judged_models(case.plan, store, case.found)
            (request,) = halves_requests(case.plan, case.verdict.best)
            outputs = case.plan.job.final_fitter().outputs(request, EvaluationLog())
            halves = {request.estimate: HeldOut(requested_resampling(case.plan, request), outputs)}
            widths = []
            for given in (halves, None):
                choice = _Correcting(DrawnChoice(case.plan, judged[0]), halves if given else {})
                if not given:
                    choice._share_of_training = lambda objective: 0.0  # type: ignore[method-assign]
                found = choice.corrected(case.found, case.verdict, case.verdict.best, 0).best
                assert found is not None
                low, high = found.interval["ber"]
                widths.append(high - low)
        assert least <= widths[0] / widths[1] <= most


def test_a_run_tells_it_first_and_python_has_it(tmp_path: Path) -> None:
    request = commissioned(tmp_path, MANY + "minimize ber by cv(folds = 3)\n" + RANDOM, write_classes(tmp_path))
    result = run_plan(request, tmp_path / ".msl")
    keys = list(result.summary)
    assert keys.index("corrected") < keys.index("objectives")
    assert result.corrected["ber"] > result.objectives["ber"]
    low, high = result.summary["corrected"]["interval"]["ber"]
    assert low < result.corrected["ber"] < high


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ("minimize ber by cv(folds = 3)\nbudget(outputs = 0MB)\n", "keeps no outputs"),
        ("minimize ber by bootstrap632(samples = 3)\n", "several times"),
        ("minimize features by cv(folds = 3)\n", "no objective depends on rows"),
    ],
)
def test_where_it_cannot_be_had_it_says_why(tmp_path: Path, goal: str, words: str) -> None:
    found = corrected(tmp_path, searched(tmp_path, MANY + goal + RANDOM, write_classes(tmp_path)))
    assert found.best is None
    assert words in found.why


def test_models_of_a_store_without_outputs_are_told(tmp_path: Path) -> None:
    text, table = MANY + "minimize ber by cv(folds = 3)\n" + RANDOM, write_classes(tmp_path)
    case = searched(tmp_path, text, table)
    with Store.open(tmp_path / ".msl") as store, store.database.transaction() as connection:
        connection.execute("DELETE FROM outputs")
    assert "older version" in corrected(tmp_path, case).why


def test_without_the_winners_outputs_there_is_none_and_without_others_it_says_so(tmp_path: Path) -> None:
    case = searched(tmp_path, MANY + "minimize ber by cv(folds = 3)\n" + RANDOM, write_classes(tmp_path))
    ranked = sorted(case.found.evaluator.compared.values(), key=lambda one: one[1].losses)
    with Store.open(tmp_path / ".msl") as store, store.database.transaction() as connection:
        connection.execute("DELETE FROM outputs WHERE key = ?", (ranked[-1][1].key,))
    found = corrected(tmp_path, case)
    assert found.best is not None
    assert found.unkept == 1
    assert any("1 model without outputs" in note for note in found.notes)
    with Store.open(tmp_path / ".msl") as store, store.database.transaction() as connection:
        connection.execute("DELETE FROM outputs WHERE key = ?", (ranked[0][1].key,))
    assert "outputs of the winner" in corrected(tmp_path, case).why


def test_each_point_of_a_front_is_corrected(tmp_path: Path) -> None:
    goal = "minimize rmse by cv(folds = 3), mae by holdout(share = 0.5)\n"
    text = "use sklearn\nchain m = ridge | lasso\n" + goal + RANDOM
    case = searched(tmp_path, text, write_numbers(tmp_path))
    found = corrected(tmp_path, case)
    assert len(found.front) == len(case.verdict.front) >= 1
    assert all(set(one.objectives) == {"rmse", "mae"} == set(one.interval) for one in found.front)


def test_what_was_confirmed_is_chosen_by_its_means(tmp_path: Path) -> None:
    text = MANY + "minimize ber by cv(folds = 3)\nsearch random(evaluations = 12) then confirm(top = 3, repeats = 2)\n"
    case = searched(tmp_path, text, write_classes(tmp_path))
    found = corrected(tmp_path, case)
    assert found.best is not None
    assert case.verdict.best is not None
    assert case.verdict.best.repeats == 2
    assert 0.0 < found.best.objectives["ber"] < 0.5


@pytest.mark.parametrize(
    ("option", "words"), [("groups = who", "whole groups were drawn"), ("order = f2", "blocks of rows that follow")]
)
def test_rows_that_belong_together_are_drawn_together(tmp_path: Path, option: str, words: str) -> None:
    text = MANY + f"minimize ber by cv(folds = 3)\ndata({option}, target = class)\n" + RANDOM
    case = searched(tmp_path, text, write_classes(tmp_path, groups=True))
    found = corrected(tmp_path, case)
    assert found.best is not None
    assert any(words in note for note in found.notes)


def test_no_mistake_among_few_rows_leaves_a_width(tmp_path: Path) -> None:
    lines = ["f1,f2,class", *(f"{place % 2 * 9 + place / 99},{place},{'ab'[place % 2]}" for place in range(40))]
    (tmp_path / "easy.csv").write_text("\n".join(lines) + "\n")
    found = corrected(tmp_path, searched(tmp_path, SPACE + "minimize ber by cv(folds = 3)\n", tmp_path / "easy.csv"))
    assert found.best is not None
    assert found.best.objectives["ber"] == 0.0
    low, high = found.best.interval["ber"]
    assert low == pytest.approx(0.0, abs=1e-3)
    assert 0.03 < high < 0.15


@pytest.mark.parametrize(("rare", "is_told"), [(1, False), (3, True)])
def test_a_class_that_is_not_among_the_rows_left_out_is_not_forgotten(tmp_path: Path, rare: int, is_told: bool) -> None:
    """The mean over the classes that are there would be better than the search itself where the rare one is missed."""
    rng = np.random.default_rng(2)
    kinds = ["rare"] * rare + ["x", "y"] * 20
    lines = [f"{rng.normal() + 3 * (kind == 'x')},{rng.normal()},{kind}" for kind in kinds]
    (tmp_path / "rare.csv").write_text("\n".join(["a,b,class", *lines]) + "\n")
    goal = "use sklearn\nchain m = k_neighbors(n_neighbors: 3..9, rest = default)\n"
    case = searched(tmp_path, goal + "minimize ber by cv(folds = 3)\n" + RANDOM, tmp_path / "rare.csv")
    found = corrected(tmp_path, case)
    assert case.verdict.best is not None
    if not is_told:
        assert found.best is None
        assert "all classes" in found.why
    else:
        assert found.best is not None
        assert found.best.objectives["ber"] >= case.verdict.best.losses[0] - 0.02


def test_losses_of_some_models_are_theirs_in_any_order(tmp_path: Path) -> None:
    case = searched(tmp_path, MANY + "minimize logloss by cv(folds = 3)\n" + RANDOM, write_classes(tmp_path))
    with Store.open(tmp_path / ".msl", read_only=True) as store:
        choice = competition(case.plan, store, case.found).choice
    assert choice is not None
    ones = np.ones((1, len(choice.rows)), dtype=np.float32)
    everyone = np.arange(len(choice.models))
    forward = choice.first[0].values(everyone, ones)[:, 0]
    assert len(set(forward.tolist())) > 2
    assert np.array_equal(choice.first[0].values(everyone[::-1], ones)[:, 0], forward[::-1])
