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
    exact = [(one.losses, one.complexity) for _, one in case.found.told if one.is_exact]
    assert case.verdict.best is not None
    assert (case.verdict.best.losses, case.verdict.best.complexity) == min(exact)


def test_occam_elitism_stands_by_the_simplest_of_the_best(tmp_path: Path) -> None:
    text = f"{NETWORKS}minimize mse by holdout(0.5)\nsearch occam_ga(population = 12, generations = 6)\n"
    table, preferred = write_numbers(tmp_path), []
    for seed in range(5):
        case = searched(tmp_path, f"{text}seed {seed}\n", table)
        (chosen,) = next(event for event in reversed(case.found.events) if event.chosen).chosen
        assert case.verdict.best is not None
        assert (case.verdict.best.losses, case.verdict.best.complexity) == (chosen.losses, chosen.complexity)
        preferred.append(chosen.loss > min(one.loss for _, one in case.found.told if one.is_exact))
    assert any(preferred), "a lower loss was never given up, so that nothing is shown"


def test_plain_elitism_answers_with_the_lowest_loss(tmp_path: Path) -> None:
    search = "search occam_ga(population = 12, generations = 6, elitism = plain)\n"
    case = searched(tmp_path, f"{NETWORKS}minimize mse by holdout(0.5)\n{search}", write_numbers(tmp_path))
    assert case.verdict.best is not None
    assert case.verdict.best.losses[0] == min(one.loss for _, one in case.found.told if one.is_exact)


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
    assert 1 <= len(case.found.told) < 30
    assert case.verdict.best is not None
