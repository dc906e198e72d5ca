"""What a store holds for an edited spec, counted by deriving every model that was evaluated."""

from __future__ import annotations

from pathlib import Path

import pytest
from search_cases import commissioned, searched, write_classes

from msl.evaluate.outcome import Outcome
from msl.runner import forecast as forecast_module
from msl.runner.forecast import (
    StoredEvaluations,
    expected_evaluations,
    find_stored_evaluations,
    forecast,
    probed_seconds,
)
from msl.space.membership import Membership, NotInSpace
from msl.space.values import Model
from msl.store.store import Store

BASE = (
    "use clop\n"
    "part scale = standardize | normalize | none\n"
    "part learn = zarbi | naive | kridge(degree = 1, coef0 = 1, gamma: 0.1..2, shrinkage = 1)\n"
    "chain m = scale >> learn\n"
    "minimize ber by cv(folds = 3)\n"
)
SEARCH = "search random(evaluations = 25)\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_classes(tmp_path)


def stored_evaluations(folder: Path, text: str, table: Path) -> StoredEvaluations:
    request = commissioned(folder, text, table)
    with Store.open(folder / ".msl", read_only=True) as store:
        return find_stored_evaluations(store, request.plan, request.source)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("zarbi | naive | kridge", "zarbi | kridge"),
        ("standardize | normalize | none", "standardize | normalize"),
        ("gamma: 0.1..2", "gamma: 0.1..0.7"),
        ("gamma: 0.1..2", "gamma: 0.01..5"),
        ("zarbi | naive", "zarbi | klogistic | naive"),
        ("part learn", "part classifier"),
        ("chain m = scale", "chain renamed = scale"),
        ("use clop", "use clop as c"),
    ],
)
def test_an_edit_keeps_what_is_still_in_the_space(tmp_path: Path, table: Path, old: str, new: str) -> None:
    done = searched(tmp_path, BASE + SEARCH, table)
    edited = (BASE + SEARCH).replace(old, new)
    if "part classifier" in edited:
        edited = edited.replace(">> learn", ">> classifier")
    deriver = Membership(commissioned(tmp_path, edited, table).plan.spec.space)
    kept = outside = 0
    for model, _ in done.found.evaluator.evaluated.values():
        try:
            deriver.derive(model)
            kept += 1
        except NotInSpace:
            outside += 1
    found = stored_evaluations(tmp_path, edited, table)
    assert (found.kept, found.outside, found.other, found.unread) == (kept, outside, 0, 0)
    assert found.kept + found.outside == len(done.found.evaluator.evaluated)
    again = searched(tmp_path, edited, table)
    assert again.found.evaluator.counts.new == len(
        again.found.evaluator.evaluated.keys() - done.found.evaluator.evaluated.keys()
    )


def test_another_seed_reuses_nothing_and_says_so(tmp_path: Path, table: Path) -> None:
    done = searched(tmp_path, BASE + SEARCH, table)
    found = stored_evaluations(tmp_path, BASE + SEARCH + "seed 4\n", table)
    assert (found.kept, found.other) == (0, len(done.found.evaluator.evaluated))


def test_another_way_to_judge_starts_from_nothing(tmp_path: Path, table: Path) -> None:
    searched(tmp_path, BASE + SEARCH, table)
    assert stored_evaluations(tmp_path, BASE.replace("folds = 3", "folds = 4") + SEARCH, table) == StoredEvaluations()


def test_models_of_blocks_that_are_gone_are_outside(tmp_path: Path, table: Path) -> None:
    own = 'block mine: learner for classification "sklearn.naive_bayes:GaussianNB" {}\n'
    text = own + BASE.replace("zarbi | naive", "mine | naive")
    searched(tmp_path, text + "search grid(steps = 2)\n", table)
    found = stored_evaluations(tmp_path, BASE + SEARCH, table)
    assert found.outside == 5  # scaled in five ways
    assert found.kept > 5


# --- what to expect ---


@pytest.mark.slow
@pytest.mark.parametrize(
    ("search", "most"),
    [
        ("search pso(swarm = 4, iterations = 9)\n", 40),
        ("search random(evaluations = 7) then pso(swarm = 2, iterations = 3)\n", 15),
        ("search pso(swarm = 4, iterations = 9)\nbudget(evaluations = 11)\n", 11),
        ("search auto(evaluations = 30)\n", 30),
        ("search occam_ga(population = 4, generations = 2)\n", 12),
        ("search best_first\n", None),
        ("search best_first\nbudget(evaluations = 9)\n", 9),
    ],
)
def test_the_most_evaluations_are_what_a_search_stays_within(
    tmp_path: Path, table: Path, search: str, most: int | None
) -> None:
    done = searched(tmp_path, BASE + search, table)
    assert expected_evaluations(done.plan) == most
    assert most is None or len(done.found.history) <= most


def test_a_small_space_bounds_what_asks_for_new_models_only(tmp_path: Path, table: Path) -> None:
    text = BASE.replace(" | kridge(degree = 1, coef0 = 1, gamma: 0.1..2, shrinkage = 1)", "")
    done = searched(tmp_path, text + "search random(evaluations = 100)\n", table)
    assert expected_evaluations(done.plan) == len(done.found.history) == 10


def test_time_is_foretold_from_stored_times(tmp_path: Path, table: Path) -> None:
    request = commissioned(tmp_path, BASE + SEARCH, table)
    expected = forecast(request.plan, None, StoredEvaluations(kept=3, seconds=4.0), 2)
    assert (expected.evaluations, expected.left, expected.seconds) == (25, 25, 50.0)
    bounded = commissioned(tmp_path, BASE + SEARCH + "budget(time = 10s)\n", table)
    assert forecast(bounded.plan, None, StoredEvaluations(seconds=4.0), 2).seconds == 10.0
    done = searched(tmp_path, BASE + SEARCH, table)
    with Store.open(tmp_path / ".msl", read_only=True) as store:
        after = forecast(request.plan, store, find_stored_evaluations(store, request.plan, request.source), 1)
    assert after.run is not None
    assert (after.run.id, after.is_continuation, after.left, after.seconds) == (done.run, False, 0, 0.0)


def test_without_stored_times_a_probe_foretells_them(
    tmp_path: Path, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a clock that passes three times as fast as the learners declare, everything takes three times as long."""
    plan = commissioned(tmp_path, BASE + SEARCH, table).plan
    costs = plan.search_spaces[0].costs
    assert costs is not None
    monkeypatch.setattr(forecast_module, "_ratio", lambda evaluator, model, own: 3.0)
    search_space = plan.search_spaces[0]
    each = probed_seconds(plan)
    assert each is not None
    declared = [search_space.cost(point) for point in search_space.references]
    assert 3.0 * min(declared) * 0.2 < each < 3.0 * max(declared) * 5.0
    expected = forecast(plan, None, StoredEvaluations(), 2)
    assert (expected.is_probed, expected.left) == (True, 25)
    assert expected.seconds == pytest.approx(25 * each / 2)
    bounded = commissioned(tmp_path, BASE + SEARCH + "budget(time = 10s)\n", table).plan
    limited = forecast(bounded, None, StoredEvaluations(), 2)
    assert limited.in_time == int(10.0 * 2 / each)
    assert not list(tmp_path.glob(".msl/*")), "a probe stores nothing"


def test_a_probe_fits_learners_on_few_rows(tmp_path: Path) -> None:
    plan = commissioned(tmp_path, BASE + SEARCH, write_classes(tmp_path, rows=6_000)).plan
    asked: list[float] = []
    evaluator = plan.job.evaluator()
    evaluate = evaluator.evaluate

    class Watched:
        def evaluate(self, model: Model, share: float) -> Outcome:
            asked.append(share)
            return evaluate(model, share=share)

    costs = plan.search_spaces[0].costs
    assert costs is not None
    model = plan.search_spaces[0].decode(plan.search_spaces[0].references[0])
    assert isinstance(model, Model)
    ratio = forecast_module._ratio(Watched(), model, costs)  # type: ignore[arg-type]
    assert ratio is not None
    assert ratio > 0
    assert max(asked) == pytest.approx(1_500 / 4_000)


def test_the_values_of_best_are_foretold_together(tmp_path: Path, table: Path) -> None:
    text = BASE.replace("gamma: 0.1..2", "gamma: best 0.1 | 0.5 | 2").replace("zarbi | naive | ", "")
    plan = commissioned(tmp_path, text + SEARCH, table).plan
    expected = forecast(plan, None, StoredEvaluations(kept=3, seconds=4.0), 2)
    assert expected.each == 12.0, "three values for each model"
