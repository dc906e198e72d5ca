"""Large folds: the same outcomes in less memory, because rows are taken late, let go early, or not copied at all."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from evaluation_cases import QUICK_PSMS, block, evaluator, models_of, only_model, two_moons

from msl.evaluate import fit
from msl.evaluate.dataset import Dataset, LazyRows, at_hand, taken
from msl.evaluate.evaluator import DEFAULT_CACHE_BYTES, Evaluator, cache_bytes_for
from msl.evaluate.final_fits import FinalFitter, FitRequest
from msl.evaluate.outcome import Effort, Outcome
from msl.evaluate.prefix_cache import PrefixCache
from msl.space.values import Branches, Model

GOAL = "minimize ber by cv(folds = 2)"
#: So small that no rows are kept.
LITTLE = 2000


def without_effort(outcome: Outcome) -> Outcome:
    return replace(outcome, effort=Effort())


@pytest.fixture
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "_LARGE", 0)


def test_late_rows_are_made_once_and_let_go_of_what_they_are_made_of():
    class Source:
        rows = np.zeros((3, 2))

    source, made = Source(), []
    kept = weakref.ref(source)

    def make(source: Source = source) -> np.ndarray:
        made.append(1)
        return source.rows + 1

    late = LazyRows(make)
    del source, make
    gc.collect()
    assert kept() is not None
    assert not made
    assert at_hand(late) is at_hand(late)
    assert len(made) == 1
    assert kept() is None
    assert not PrefixCache(1_000_000).has_room(late.nbytes)


@pytest.mark.parametrize(
    ("rows", "is_view"),
    [
        *((rows, True) for rows in ([0, 1, 2, 3], [1, 2], [3])),
        *((rows, False) for rows in ([], [0, 2], [0, 0, 2], [2, 1, 0], [1, 0, 3, 2], [0, 2, 1, 3])),
    ],
)
def test_rows_that_follow_each_other_are_not_copied(rows, is_view):
    table = np.arange(8.0).reshape(4, 2)
    found = taken(table, np.array(rows, dtype=np.intp))
    assert np.array_equal(found, table[np.array(rows, dtype=np.intp)])
    assert np.shares_memory(found, table) == is_view
    assert not found.flags.writeable
    assert table.flags.writeable


@pytest.mark.parametrize(
    "goal", [GOAL, "minimize ber by cv(folds = 3, shuffle = true)", "minimize ber by bootstrap632"]
)
@pytest.mark.usefixtures("everything_is_large")
def test_large_folds_are_judged_as_small_ones_are(goal, monkeypatch):
    dataset = two_moons(80)
    models = models_of(QUICK_PSMS, dataset, 25, seed=3)
    standardize = only_model("use clop\nchain c = standardize(rest = default) >> zarbi >> bias", dataset)
    relief = only_model("use clop\nchain c = relief(fmax = 3, rest = default) >> zarbi", dataset)
    branches = Branches((standardize.steps[:1], relief.steps[:1]))
    models += [Model((branches, *standardize.steps)), Model((standardize.steps[0], branches, relief.steps[-1]))]
    # One and the same for all models, so that what fits into the cache meets what does not.
    late = [evaluator(goal, dataset, cache_bytes=size) for size in (0, LITTLE, 5 * LITTLE)]
    found = [[without_effort(judge.evaluate(model)) for model in models] for judge in late]
    monkeypatch.setattr(fit, "_LARGE", 1 << 30)
    soon = evaluator(goal, dataset)
    expected = [without_effort(soon.evaluate(model)) for model in models]
    assert found == [expected] * 3


@pytest.mark.usefixtures("everything_is_large")
def test_a_step_that_fails_late_is_named():
    dataset = two_moons()
    learner = only_model("use clop\nchain c = zarbi", dataset).steps[0]
    first, second = block("faulty_blocks:Copies"), block("late_faults:FailsOnOthers")
    for steps in ((first, second, first), (second,), (Branches(((first,), (second,))), first)):
        judge = evaluator(GOAL, dataset, cache_bytes=LITTLE, trusted=("faulty_blocks", "late_faults"))
        failure = judge.evaluate(Model((*steps, learner))).failure
        assert failure is not None
        assert failure.step == "FailsOnOthers"
        assert "rows that I was not fitted on" in failure.message


def peak_copies(judge: Evaluator, model: Model, table_bytes: int) -> float:
    """The most memory that arrays take during an evaluation, in tables."""
    gc.collect()
    tracemalloc.start()
    try:
        assert judge.evaluate(model).failure is None
        return tracemalloc.get_traced_memory()[1] / table_bytes
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("chain", "goal", "most"),
    [
        # Half of the table to fit on, and its standardized copy; nothing to judge on beside them.
        ("standardize(rest = default) >> zarbi", GOAL, 1.2),
        ("normalize(rest = default) >> standardize(rest = default) >> zarbi", GOAL, 1.2),
        # Half of the table to judge on, its scaled copy, and its deviations from one class.
        ("standardize(rest = default) >> naive", GOAL, 1.75),
        # Four fifths, and once more.
        ("standardize(rest = default) >> zarbi", "minimize ber by cv(folds = 5)", 1.8),
        # The table itself, with the squares of its rows.
        ("zarbi", "minimize ber by bootstrap632(samples = 1)", 2.2),
    ],
)
def test_the_memory_of_a_large_fold(chain, goal, most):
    dataset = two_moons(50_000, 50)
    judge = evaluator(goal, dataset, cache_bytes=1_000_000)
    model = only_model(f"use clop\nchain c = {chain}", dataset)
    assert peak_copies(judge, model, dataset.X.nbytes) < most


def test_a_cache_keeps_no_rows_that_are_too_large_for_it():
    """A step that hands on what it was given is small by itself, and would hold all of it."""
    dataset = two_moons(50_000, 50)
    judge = evaluator(GOAL, dataset, cache_bytes=4_000_000)
    model = only_model(f"use clop, sbm\nchain c = keep(features = [{', '.join(['true'] * 50)}]) >> zarbi", dataset)
    gc.collect()
    tracemalloc.start()
    try:
        assert judge.evaluate(model).failure is None
        gc.collect()
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert held < 6_000_000 < dataset.X.nbytes / 2


def test_views_of_the_table_take_nothing_from_a_cache():
    dataset = Dataset.of_arrays(np.random.default_rng(0).normal(size=(2000, 20)), np.arange(2000) / 100.0, 0)
    judge = evaluator("minimize mse by gcv", dataset, cache_bytes=1_000_000)
    assert (
        judge.evaluate(only_model("use sklearn\nchain c = linear_regression(rest = default)", dataset)).failure is None
    )
    assert judge.cache_figures.bytes < 50_000


def test_the_cache_of_a_worker_holds_no_copy_of_a_large_table():
    assert cache_bytes_for(1_000_000) == DEFAULT_CACHE_BYTES
    for size in (32_000_000, 100_000_000, 10_000_000_000):
        assert cache_bytes_for(size) <= min(size, DEFAULT_CACHE_BYTES)
        assert not PrefixCache(cache_bytes_for(size)).has_room(size // 2)


def test_the_last_fit_takes_the_rows_as_they_are():
    dataset = two_moons(50_000, 50)
    model = only_model("use clop\nchain c = standardize(rest = default) >> zarbi", dataset)
    fitter = FinalFitter(dataset, (), 0, (), 0)
    gc.collect()
    tracemalloc.start()
    try:
        fitted = fitter.fitted(FitRequest(model))
        peak = tracemalloc.get_traced_memory()[1] / dataset.X.nbytes
    finally:
        tracemalloc.stop()
    # The learner itself takes two copies of the rows of a class, which is half of them here.
    assert peak < 2.2, "the standardized rows and those of a class, and no copy of the table beside them"
    assert len(fitted.estimator.outputs(dataset.X[:3])) == 3
