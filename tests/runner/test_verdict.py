"""The verdict: the lowest loss, unless the strategy stands by a choice of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from search_cases import searched, write_classes, write_numbers

NETWORKS = "use rbf\nchain m = rbf_network(basis = gaussian, centers: regions(8), rest = default)\n"


@pytest.mark.parametrize("search", ["pso(swarm = 4, iterations = 4)", "random(evaluations = 12)"])
def test_the_lowest_loss_wins_and_the_simplest_on_ties(tmp_path: Path, search: str) -> None:
    text = "use clop\nchain m = (standardize | normalize)? >> (zarbi | naive)\nminimize ber by cv(folds = 3)\n"
    case = searched(tmp_path, f"{text}search {search}\n", write_classes(tmp_path))
    exact = [(one.losses, one.complexity) for _, one in case.found.history if one.is_exact]
    assert case.verdict.best is not None
    assert (case.verdict.best.losses, case.verdict.best.complexity) == min(exact)


@pytest.mark.slow
def test_occam_elitism_stands_by_the_simplest_of_the_best(tmp_path: Path) -> None:
    text = f"{NETWORKS}minimize mse by holdout(0.5)\nsearch occam_ga(population = 12, generations = 6)\n"
    table, preferred = write_numbers(tmp_path), []
    for seed in range(5):
        case = searched(tmp_path, f"{text}seed {seed}\n", table)
        (chosen,) = next(event for event in reversed(case.found.events) if event.chosen).chosen
        assert case.verdict.best is not None
        assert (case.verdict.best.losses, case.verdict.best.complexity) == (chosen.losses, chosen.complexity)
        preferred.append(chosen.loss > min(one.loss for _, one in case.found.history if one.is_exact))
    assert any(preferred), "a lower loss was never given up, so that nothing is shown"


def test_plain_elitism_answers_with_the_lowest_loss(tmp_path: Path) -> None:
    search = "search occam_ga(population = 12, generations = 6, elitism = plain)\n"
    case = searched(tmp_path, f"{NETWORKS}minimize mse by holdout(0.5)\n{search}", write_numbers(tmp_path))
    assert case.verdict.best is not None
    assert case.verdict.best.losses[0] == min(one.loss for _, one in case.found.history if one.is_exact)


def test_with_fresh_splits_and_two_objectives_the_front_is_that_of_the_last_generation(tmp_path: Path) -> None:
    goal = "minimize mse by holdout(0.5), mse by gcv()\n"
    search = "search occam_ga(population = 10, generations = 3, shuffle = true, grow = true)\n"
    case = searched(tmp_path, NETWORKS + goal + search, write_numbers(tmp_path))
    kept = {one.losses for one in next(event for event in reversed(case.found.events) if event.kept).kept}
    assert case.verdict.front
    assert {one.losses for one in case.verdict.front} <= kept


def test_time_is_looked_at_within_a_batch(tmp_path: Path) -> None:
    text = "use clop\nchain m = (standardize | normalize)? >> (zarbi | naive | klogistic)\nminimize ber\n"
    search = "search pso(swarm = 30, iterations = 9)\nbudget(time = 0.001s)\n"
    case = searched(tmp_path, text + search, write_classes(tmp_path))
    assert case.found.ending == "time"
    assert 1 <= len(case.found.history) < 30
    assert case.verdict.best is not None


@pytest.mark.slow
@pytest.mark.parametrize(("goal", "until", "reached"), [("maximize auc", 0.999999, False), ("maximize auc", 0.6, True)])
def test_what_is_maximised_is_good_enough_from_above(tmp_path: Path, goal: str, until: float, reached: bool) -> None:
    search = f"{goal} by cv(folds = 3)\nsearch random(evaluations = 70)\nbudget(until = {until})\n"
    space = "use clop\nchain m = svc(gamma: 1e-3..1 log, rest = default)\n"
    case = searched(tmp_path, space + search, write_classes(tmp_path))
    assert (case.found.why == "a loss is good enough") is reached
    assert (len(case.found.history) == 70) is not reached


GENETIC = "minimize error by cv(folds = 3)\nsearch occam_ga(population = 12, generations = {})\n"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_the_last_generation_counts_also_where_a_budget_ends_it(tmp_path: Path, seed: int) -> None:
    space = f"use clop\nchain m = svc(gamma: 1e-3..1 log, shrinkage: 1e-3..1 log, rest = default)\nseed {seed}\n"
    table = write_classes(tmp_path)
    whole = searched(tmp_path, space + GENETIC.format(1), table, "whole")
    limit = f"budget(evaluations = {len(whole.found.history)})\n"
    cut = searched(tmp_path, space + GENETIC.format(40) + limit, table, "cut")
    assert [observation.losses for _, observation in cut.found.history] == [
        observation.losses for _, observation in whole.found.history
    ]
    assert cut.found.why == "all evaluations are used"
    assert cut.verdict.best is not None
    assert whole.verdict.best is not None
    assert (cut.verdict.best.model, cut.verdict.best.losses) == (whole.verdict.best.model, whole.verdict.best.losses)


def test_best_first_stands_by_the_channels_that_gained_enough(tmp_path: Path) -> None:
    text = """use sbm
chain m = knn(k: 1 | 3 | 5 | 9 | 15, distance: euclidean | manhattan, rest = default)
minimize error by loo()
search best_first(gain = {})
"""
    table = write_classes(tmp_path)
    free = searched(tmp_path, text.format(0), table, "free")
    strict = searched(tmp_path, text.format("90%"), table, "strict")
    assert free.verdict.best is not None
    assert strict.verdict.best is not None
    assert free.verdict.best.losses < strict.verdict.best.losses
    first = strict.found.history[0][1]
    assert strict.verdict.best.losses == first.losses
    assert min(told.losses for _, told in strict.found.history) < first.losses


def test_a_lucky_split_of_ones_own_does_not_win(tmp_path: Path) -> None:
    search = "search occam_ga(population = 8, generations = 6, shuffle = true) then pattern(evaluations = 12)\n"
    space = "use clop\nchain m = svc(gamma: 1e-3..1 log, shrinkage: 1e-3..1 log, rest = default)\n"
    case = searched(tmp_path, f"{space}minimize ber by holdout(0.3)\n{search}", write_classes(tmp_path))
    together = [told.loss for ask, told in case.found.history if ask.repeat == 0]
    apart = [told.loss for ask, told in case.found.history if ask.repeat > 0]
    assert together
    assert case.verdict.best is not None
    assert case.verdict.best.losses[0] == min(together) > min(apart)


def test_best_first_opens_only_what_the_model_has(tmp_path: Path) -> None:
    text = """use clop
chain m = svc(gamma: 1e-3..1 log, degree = 1, rest = default) | rf(mtry: 1 | 2 | 3, units = 10, rest = default)
minimize error by cv(folds = 3)
search best_first(beam = 2)
"""
    case = searched(tmp_path, text, write_classes(tmp_path))
    rows = [row for event in case.found.events if event.kind == "level" for row in event.figures["rows"]]
    parameters = [row for row in rows if row["channel"] in ("svc.gamma", "rf.mtry")]
    assert parameters
    assert all(row["values"].startswith(row["channel"].split(".")[1]) for row in parameters)
