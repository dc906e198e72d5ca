"""A run that ends with `confirm`: who wins, what is told of the winner, who votes, and how it goes on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from search_cases import ensemble_of, searched, write_classes, write_numbers

from msl import run
from msl.runner.choose_winner import ranked_candidates
from msl.search.base import CONFIRMED, FIRST_CONFIRMING_REPEAT

SPACE = "use clop\nchain m = (standardize | normalize)? >> (zarbi | naive | svc | klogistic) >> bias\n"
GOAL = "minimize ber by cv(folds = 3)\n"
SEARCH = "search random(evaluations = 12) then confirm(top = 5, repeats = 3)\n"


def test_the_winner_is_judged_by_new_splits_alone(tmp_path: Path) -> None:
    case = searched(tmp_path, SPACE + GOAL + SEARCH, write_classes(tmp_path))
    again = [(ask, one) for ask, one in case.found.history if ask.repeat]
    assert {ask.repeat - FIRST_CONFIRMING_REPEAT for ask, _ in again} == {0, 1, 2}
    means: dict[bytes, list[float]] = {}
    for ask, one in again:
        means.setdefault(ask.vector.tobytes(), []).append(one.loss)
    best = case.verdict.best
    assert best is not None
    assert best.losses[0] == pytest.approx(min(np.mean(losses) for losses in means.values()))
    by_turn = {ask.repeat: one.loss for ask, one in again if ask.vector.tobytes() == again[0][0].vector.tobytes()}
    assert len(set(by_turn.values())) > 1, "other splits give other losses"


@pytest.mark.slow
def test_all_models_of_a_turn_meet_the_same_split_whoever_else_is_judged(tmp_path: Path) -> None:
    table = write_classes(tmp_path)
    for top in ("2", "6"):
        (tmp_path / top).mkdir()
    few, many = (
        searched(tmp_path / top, SPACE + GOAL + SEARCH.replace("top = 5", f"top = {top}"), table) for top in ("2", "6")
    )

    def losses(case: object) -> dict[tuple[bytes, int], float]:
        return {(ask.vector.tobytes(), ask.repeat): one.loss for ask, one in case.found.history if ask.repeat}  # type: ignore[attr-defined]

    assert losses(few).items() <= losses(many).items()


@pytest.mark.slow
def test_those_confirmed_vote_in_the_order_of_their_means(tmp_path: Path) -> None:
    case = searched(tmp_path, SPACE + GOAL + SEARCH + "ensemble vote(top = 3)\n", write_classes(tmp_path))
    ranked = ranked_candidates(case.plan, case.found)
    members = ensemble_of(case).members
    assert [one.model for one in members.candidates] == [one.model for one in ranked[:3]]
    assert [one.losses for one in ranked] == sorted(one.losses for one in ranked)
    kept = next(event for event in reversed(case.found.events) if event.kind == CONFIRMED).kept
    assert len(ranked) == len(kept)


def test_a_swarm_votes_as_it_was_before_the_confirmation(tmp_path: Path) -> None:
    search = "search pso(swarm = 4, iterations = 3, encoding = separate) then confirm(top = 3, repeats = 2)\n"
    case = searched(tmp_path, SPACE + GOAL + search + "ensemble swarm\n", write_classes(tmp_path))
    members = ensemble_of(case).members
    swarm = [event for event in case.found.events if event.kept and event.kind != CONFIRMED][-1]
    search_space = case.plan.search_spaces[0]
    assert {one.model for one in members.candidates} == {search_space.decode(one.vector) for one in swarm.kept}


@pytest.mark.slow
def test_metrics_and_estimate_are_means_and_a_second_run_evaluates_nothing(tmp_path: Path) -> None:
    table, spec = write_classes(tmp_path), tmp_path / "spec.msl"
    spec.write_text(SPACE + GOAL + SEARCH)
    first = run(spec, table)
    assert first.summary["measures"]["ber"] == pytest.approx(first.objectives["ber"])
    low, high = first.summary["interval"]["ber"]
    assert low <= first.objectives["ber"] <= high
    second = run(spec, table)
    assert second.best == first.best
    assert second.summary["new"] == 0


def test_a_budget_of_evaluations_that_ends_within_a_turn_leaves_the_choice_of_the_turns_before(tmp_path: Path) -> None:
    text = SPACE + GOAL + SEARCH + "budget(evaluations = 19)\n"
    case = searched(tmp_path, text, write_classes(tmp_path))
    assert len(case.found.history) == 19
    last = next(event for event in reversed(case.found.events) if event.kind == CONFIRMED)
    assert last.figures["turn"] == 1
    assert case.verdict.best is not None
    assert case.verdict.best.losses == last.chosen[0].losses


def test_fresh_splits_of_the_genetic_algorithm_are_fresh(tmp_path: Path) -> None:
    """With `shuffle` the elite is judged again each time, on rows of its own."""
    text = "use rbf\nchain m = rbf_network(basis = gaussian, centers: regions(6), rest = default)\n"
    goal = "minimize mse by holdout(0.5), mse by gcv()\n"
    search = "search occam_ga(population = 8, generations = 4, shuffle = true)\n"
    case = searched(tmp_path, text + goal + search, write_numbers(tmp_path))
    judged: dict[bytes, set[tuple[float, ...]]] = {}
    for ask, one in case.found.history:
        assert ask.repeat > 0
        judged.setdefault(one.vector.tobytes(), set()).add(one.losses)
    assert any(len(losses) > 1 for losses in judged.values())


@pytest.mark.parametrize(
    ("search", "budget"),
    [
        ("grid then confirm(top = 3, repeats = 2)", ""),
        ("random(evaluations = 12) then confirm(top = 3, repeats = 2)", "budget(until = 0.9)\n"),
    ],
    ids=["every model is known", "a loss is good enough"],
)
def test_what_ends_the_search_does_not_end_the_confirmation(tmp_path: Path, search: str, budget: str) -> None:
    space = "use clop\nchain m = (standardize(rest = default) | normalize(rest = default))? >> (zarbi | naive)\n"
    case = searched(tmp_path, f"{space}{GOAL}search {search}\n{budget}", write_classes(tmp_path))
    turns = [event.figures["turn"] for event in case.found.events if event.kind == CONFIRMED]
    assert turns == [1, 2]


def test_a_budget_that_ends_with_a_turn_counts_that_turn(tmp_path: Path) -> None:
    table = write_classes(tmp_path)
    free = searched(tmp_path, SPACE + GOAL + SEARCH, table)
    spent = searched(tmp_path, SPACE + GOAL + SEARCH + f"budget(evaluations = {len(free.found.history)})\n", table)
    assert free.verdict.best is not None
    assert spent.verdict.best is not None
    assert spent.verdict.best.losses == free.verdict.best.losses
