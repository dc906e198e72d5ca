"""The random numbers of a run: every stage and every evaluation draws its own, and a run draws the same again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from search_cases import Searched, searched, write_classes

import msl
from msl.store.store import Store

#: Eleven models that predict the same: the size of the leaves of a tree does not change who is nearest.
TWINS = (
    'block nearest: learner for classification "sklearn.neighbors:KNeighborsClassifier" '
    "{ n_neighbors = 1, leaf_size: int 10..20 }\nchain m = nearest\n"
)
OPEN = "use clop\nchain m = kridge(degree = 1, coef0 = 1, gamma: 0.1..2, shrinkage: 0.1..2)\n"


def _searched(folder: Path, text: str, store: str = ".msl") -> Searched:
    return searched(folder, text, write_classes(folder), store)


def _losses(case: Searched) -> dict[bytes, float]:
    return {ask.vector.tobytes(): one.loss for ask, one in case.found.history}


def test_evaluations_that_draw_their_own_splits_draw_different_ones_and_the_same_again(tmp_path: Path) -> None:
    grid = "search grid\n"
    common = _losses(_searched(tmp_path, TWINS + "minimize error by cv(folds = 3)\n" + grid, "common"))
    assert len(common) == 11
    assert len(set(common.values())) == 1
    own = TWINS + "minimize error by cv(folds = 3, shuffle = true)\n" + grid
    first = _losses(_searched(tmp_path, own, "first"))
    assert len(set(first.values())) > 3
    assert _losses(_searched(tmp_path, own, "again")) == first
    other = _losses(_searched(tmp_path, own + "seed 8\n", "other"))
    assert other.keys() == first.keys()
    assert other != first


def test_evaluations_of_one_model_on_splits_of_their_own_draw_by_turn(tmp_path: Path) -> None:
    text = TWINS + "minimize error by cv(folds = 3)\nsearch grid then confirm(top = 3, repeats = 6)\n"
    case = _searched(tmp_path, text)
    turns: dict[int, set[float]] = {}
    for ask, one in case.found.history:
        turns.setdefault(ask.repeat, set()).add(one.loss)
    assert len(turns) == 7
    assert all(len(losses) == 1 for losses in turns.values()), "in one turn, all models meet the same split"
    assert len(set.union(*turns.values())) > 3


def test_stages_and_seeds_draw_different_points_and_the_same_again(tmp_path: Path) -> None:
    text = OPEN + "minimize ber by cv(folds = 2)\nsearch random(evaluations = 8) then random(evaluations = 8)\n"

    def drawn(text: str, store: str) -> tuple[np.ndarray, np.ndarray]:
        asks = [ask for ask, _ in _searched(tmp_path, text, store).found.history]
        one, two = (np.array([ask.vector for ask in asks if ask.stage == stage]) for stage in (0, 1))
        return one, two

    first, second = drawn(text, "first")
    assert first.shape == second.shape == (8, 2)
    every = np.concatenate([first, second, *drawn(text + "seed 8\n", "other")])
    assert len(np.unique(every)) == every.size, "no number was drawn twice"
    np.testing.assert_array_equal(np.concatenate(drawn(text, "again")), np.concatenate([first, second]))
    whole, _ = drawn(text.replace("8) then random(evaluations = 8)", "16)"), "whole")
    np.testing.assert_array_equal(whole[:8], first)
    assert not np.isin(second, whole).any(), "a stage does not go on with the numbers of the one before"


@pytest.mark.parametrize(
    "search",
    [
        "pso(swarm = 4, iterations = 8, units = native, vmax = 2, shuffle = true)",
        "pattern(evaluations = 36, shuffle = true)",
    ],
    ids=["swarm", "pattern"],
)
def test_a_shuffled_search_has_new_folds_for_every_evaluation_with_any_number_of_workers(
    tmp_path: Path, search: str
) -> None:
    """Also when it asks for a model again: here there is only one, as far as its predictions go."""
    text = TWINS + f"minimize error by cv(folds = 2, stratified = false, shuffle = true)\nsearch {search}\n"
    table = str(write_classes(tmp_path))

    def asked(jobs: int) -> list[tuple[str | None, float]]:
        store = tmp_path / f"store{jobs}"
        run = msl.run(text, table, store=store, jobs=jobs).summary
        assert run["evaluations"] == run["new"] == 36
        with Store.open(store, read_only=True) as opened:
            return [(one.key, one.losses[0]) for one in opened.runs.queries(run["run"])]

    alone = asked(1)
    assert len({key for key, _ in alone}) == 36
    assert len({loss for _, loss in alone}) > 8
    assert asked(2) == alone


@pytest.mark.parametrize("search", ["pso(swarm = 4, iterations = 8", "pattern(evaluations = 36"])
def test_the_best_of_a_shuffled_search_wins(tmp_path: Path, search: str) -> None:
    text = TWINS + f"minimize error by cv(folds = 2, shuffle = true)\nsearch {search}, shuffle = true)\n"
    case = _searched(tmp_path, text)
    assert case.verdict.best is not None
    assert case.verdict.best.losses[0] == min(one.loss for _, one in case.found.history)
