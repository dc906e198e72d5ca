"""Splits: what holds for scikit-learn's splitters holds here, and more where classes are tiny."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold, LeaveOneOut, StratifiedKFold, TimeSeriesSplit

import msl
from msl.blocks.base.load import load_function
from msl.diagnostics.user_error import UserError
from msl.evaluate import splits as splitting
from msl.evaluate.resampling import check_estimate
from msl.evaluate.splits import (
    Past,
    SplitGroups,
    SplitsByUnit,
    bootstrap_splits,
    deal_groups,
    fold_splits,
    holdout_split,
    time_splits,
)
from msl.space.spec import Estimate


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


some_classes = st.lists(st.integers(0, 4), min_size=2, max_size=60).map(lambda codes: np.array(codes, dtype=np.intp))
folds = st.integers(2, 12)
seeds = st.integers(0, 5)


@given(some_classes, folds, st.integers(1, 3), seeds)
def test_each_row_is_judged_once_a_repeat_and_classes_are_spread_evenly(classes, folds, repeats, seed):
    splits = fold_splits(SplitGroups(len(classes), classes), folds, repeats, rng(seed))
    for repeat in range(repeats):
        tests = [split.test for split in splits if split.pool == repeat]
        assert sorted(np.concatenate(tests)) == list(range(len(classes)))
        assert len(tests) == min(folds, len(classes))
        sizes = [len(test) for test in tests]
        assert max(sizes) - min(sizes) <= 1
        for code in np.unique(classes):
            shares = [(classes[test] == code).sum() for test in tests]
            assert max(shares) - min(shares) <= 1
    for split in splits:
        assert sorted([*split.train, *split.test]) == list(range(len(classes)))
        assert len(split.train)


def test_folds_are_as_even_as_those_of_scikit_learn():
    classes = np.repeat([0, 1, 2], [50, 31, 9])
    splits = fold_splits(SplitGroups(90, classes), 5, 1, rng())
    reference = StratifiedKFold(5, shuffle=True, random_state=0).split(np.zeros(90), classes)
    ours = sorted(tuple(np.bincount(classes[split.test], minlength=3)) for split in splits)
    theirs = sorted(tuple(np.bincount(classes[test], minlength=3)) for _, test in reference)
    assert [sum(counts) for counts in ours] == [18] * 5
    assert {counts[:1] for counts in ours} == {counts[:1] for counts in theirs}


@pytest.mark.parametrize("groups", [None, np.arange(90) // 4])
def test_folds_of_many_rows_are_the_same_ones_made_when_asked_for(groups, monkeypatch):
    population = SplitGroups(90, np.arange(90) % 3, groups)
    expected = fold_splits(population, 5, 1, rng(1))
    monkeypatch.setattr(splitting, "MANY_ROWS", 80)
    late = fold_splits(population, 5, 1, rng(1))
    assert isinstance(late, SplitsByUnit)
    assert [split.pool for split in late] == [split.pool for split in expected]
    for one, other in zip(late, expected, strict=True):
        assert np.array_equal(one.train, other.train)
        assert np.array_equal(one.test, other.test)


def test_repeats_differ_and_seeds_decide():
    classes = np.repeat([0, 1], 20)
    first = fold_splits(SplitGroups(40, classes), 4, 2, rng(3))
    again = fold_splits(SplitGroups(40, classes), 4, 2, rng(3))
    other = fold_splits(SplitGroups(40, classes), 4, 2, rng(4))
    same = [np.array_equal(a.test, b.test) for a, b in zip(first, again, strict=True)]
    assert all(same)
    assert not np.array_equal(first[0].test, first[4].test)
    assert not all(np.array_equal(a.test, b.test) for a, b in zip(first, other, strict=True))


@given(st.lists(st.integers(0, 9), min_size=4, max_size=50), folds, seeds)
def test_groups_are_never_split(groups, folds, seed):
    names = np.array(groups, dtype=np.intp)
    if len(np.unique(names)) < 2:
        return
    classes = names % 3
    splits = fold_splits(SplitGroups(len(names), classes, groups=names), folds, 1, rng(seed))
    assert sorted(np.concatenate([split.test for split in splits])) == list(range(len(names)))
    assert len(splits) == min(folds, len(np.unique(names)))
    for split in splits:
        assert not set(names[split.train]) & set(names[split.test])
        assert len(split.train)
        assert len(split.test)


def test_group_folds_are_about_as_even_as_those_of_scikit_learn_and_have_all_classes():
    draw = rng(1)
    groups = draw.integers(0, 40, 400)
    classes = (draw.random(400) < 0.2).astype(np.intp)
    fold_of = deal_groups(groups, classes, 5, draw)
    sizes = np.bincount(fold_of)
    reference = [len(test) for _, test in GroupKFold(5).split(classes, classes, groups)]
    assert sizes.max() - sizes.min() <= max(reference) - min(reference) + 15
    rare = np.bincount(fold_of, classes)
    assert rare.max() - rare.min() <= 5


@given(st.lists(st.integers(0, 12), min_size=3, max_size=60), folds)
def test_along_time_only_the_past_is_fitted_on(order, folds):
    moments = np.array(order, dtype=np.intp)
    if len(np.unique(moments)) < 2:
        return
    splits = time_splits(SplitGroups(len(moments), order=moments), folds)
    assert splits
    last = -1
    for split in splits:
        assert moments[split.train].max() < moments[split.test].min()
        assert moments[split.test].min() > last
        last = moments[split.test].max()
    assert last == moments.max()


def test_time_folds_are_those_of_scikit_learn_where_both_are_even():
    splits = time_splits(SplitGroups(60, order=np.arange(60)), 5)
    reference = list(TimeSeriesSplit(5).split(np.zeros(60)))
    for split, (train, test) in zip(splits, reference, strict=True):
        assert np.array_equal(split.train, train)
        assert np.array_equal(split.test, test)


def test_along_time_a_group_that_is_judged_is_not_fitted_on():
    order, groups = np.arange(40), np.arange(40) % 4
    population = SplitGroups(40, groups=groups, order=order)
    for split in [*time_splits(population, 3), holdout_split(population, 0.05, rng())]:
        assert not set(groups[split.train]) & set(groups[split.test])


@given(some_classes, st.floats(0.05, 0.95), seeds)
def test_a_holdout_keeps_proportions_and_a_row_of_each_class_to_fit_on(classes, share, seed):
    split = holdout_split(SplitGroups(len(classes), classes), share, rng(seed))
    assert sorted([*split.train, *split.test]) == list(range(len(classes)))
    assert len(split.test)
    assert len(split.train)
    counts = np.bincount(classes)
    if counts.max() > 1:
        assert set(classes[split.train]) == set(classes)
    for code, count in enumerate(counts):
        held = (classes[split.test] == code).sum()
        assert held <= np.ceil(share * count) + 1


@given(st.lists(st.integers(0, 6), min_size=4, max_size=40), st.floats(0.05, 0.95), seeds)
def test_a_holdout_of_groups_or_of_moments_leaves_something_on_both_sides(values, share, seed):
    units = np.array(values, dtype=np.intp)
    if len(np.unique(units)) < 2:
        return
    by_group = holdout_split(SplitGroups(len(units), groups=units), share, rng(seed))
    by_time = holdout_split(SplitGroups(len(units), order=units), share, rng(seed))
    for split in (by_group, by_time):
        assert len(split.train)
        assert len(split.test)
        assert not set(units[split.train]) & set(units[split.test])
    assert units[by_time.train].max() < units[by_time.test].min()


def test_leave_one_out_is_that_of_scikit_learn():
    splits = SplitsByUnit(np.arange(7))
    for split, (train, test) in zip(splits, LeaveOneOut().split(np.zeros(7)), strict=True):
        assert np.array_equal(split.train, train)
        assert np.array_equal(split.test, test)
    rows = np.array([3, 5, 9])
    some = SplitsByUnit(np.arange(3)).of(rows)
    assert [list(split.test) for split in some] == [[3], [5], [9]]
    assert list(some[-1].train) == [3, 5]
    assert len(SplitsByUnit(np.array([4, 4, 1]))) == 2


@given(some_classes, seeds)
def test_a_resample_has_every_class_and_is_judged_on_what_it_lacks(classes, seed):
    for split in bootstrap_splits(SplitGroups(len(classes), classes), 8, rng(seed)):
        assert not set(split.train) & set(split.test)
        assert set(classes[split.train]) == set(classes)
        assert len(split.train) >= len(classes)
        assert set(split.train) | set(split.test) == set(range(len(classes)))


def test_resamples_lack_about_the_share_of_rows_that_they_should():
    splits = bootstrap_splits(SplitGroups(500), 50, rng())
    lacking = np.mean([len(split.test) for split in splits]) / 500
    assert lacking == pytest.approx(np.exp(-1), abs=0.01)
    groups = np.repeat(np.arange(50), 10)
    for split in bootstrap_splits(SplitGroups(500, groups=groups), 5, rng()):
        assert not set(groups[split.train]) & set(groups[split.test])


@settings(max_examples=40)
@given(some_classes, st.floats(0.05, 1.0), seeds)
def test_a_subsample_has_every_class_and_larger_ones_hold_smaller_ones(classes, share, seed):
    population = SplitGroups(len(classes), classes)
    rows = population.subsample(share, rng(seed))
    assert len(np.unique(rows)) == len(rows)
    for code, count in enumerate(np.bincount(classes)):
        assert (classes[rows] == code).sum() == max(min(2, count), round(share * count))
    assert set(population.subsample(share / 2, rng(seed))) <= set(rows)
    part = population.part(rows)
    assert part.n_rows == len(rows)
    assert np.array_equal(part.classes, classes[rows])


@settings(max_examples=40)
@given(some_classes, st.floats(0.05, 1.0), seeds)
def test_a_balanced_subsample_has_as_many_rows_of_each_class_as_there_are(classes, share, seed):
    population = SplitGroups(len(classes), classes)
    rows = population.subsample(share, rng(seed), balanced=True)
    counts, taken = np.bincount(classes), np.bincount(classes[rows], minlength=classes.max() + 1)
    assert len(np.unique(rows)) == len(rows)
    assert len(rows) >= round(share * len(classes))
    most = taken.max()
    fair = max(2, most - 1)  # shares are whole numbers
    assert all(took == count or took >= fair for took, count in zip(taken, counts, strict=True))
    assert set(population.subsample(share / 2, rng(seed), balanced=True)) <= set(rows)


def test_a_balanced_half_of_unequal_classes_is_as_the_original_program_draws_it():
    """Half of the rows wanted are of the second class, or all that it has; the first has the others."""
    classes = np.repeat([0, 1], [70, 30])
    for share, expected in ((0.4, [20, 20]), (0.8, [50, 30]), (1.0, [70, 30])):
        rows = SplitGroups(100, classes).subsample(share, rng(), balanced=True)
        assert np.bincount(classes[rows]).tolist() == expected


def test_folds_that_are_not_stratified_have_classes_as_chance_has_them():
    classes = np.repeat([0, 1], [50, 50])
    for name, more in (("cv", {"folds": 2, "repeats": 1}), ("holdout", {"share": 0.5})):
        estimate = load_function("estimate", name, f"msl.evaluate:{name}")

        def seconds(seed, stratified, estimate=estimate, more=more):
            first = estimate(SplitGroups(100, classes), {**more, "stratified": stratified}, rng(seed))[0]
            assert len(first.test) == 50
            return int(classes[first.test].sum())

        assert {seconds(seed, True) for seed in range(40)} == {25}
        drawn = [seconds(seed, False) for seed in range(200)]
        # Of a hypergeometric distribution: 25 with a standard deviation of 2.5.
        assert np.mean(drawn) == pytest.approx(25, abs=0.7)
        assert np.std(drawn) == pytest.approx(2.51, abs=0.4)


def test_a_balanced_draw_is_refused_with_advice_where_there_is_none():
    balanced = Estimate("cv", "msl.evaluate:cv", (("balanced", True),), follows_order=True)
    check_estimate(balanced, SplitGroups(10, np.arange(10) % 2))
    with pytest.raises(ValueError, match="numbers have no classes"):
        check_estimate(balanced, SplitGroups(10))
    with pytest.raises(ValueError, match="leave it or `groups` out"):
        check_estimate(balanced, SplitGroups(10, np.arange(10) % 2, groups=np.arange(10)))


def test_a_subsample_of_groups_is_of_whole_groups():
    groups = np.repeat(np.arange(10), 3)
    rows = SplitGroups(30, groups=groups).subsample(0.3, rng())
    assert len(rows) == 9
    assert len(set(groups[rows])) == 3


def test_estimates_that_a_table_cannot_give_are_refused_with_advice():
    def call(name: str) -> Estimate:
        return Estimate(name, f"msl.evaluate:{name}", follows_order=name == "cv")

    timed = SplitGroups(10, order=np.arange(10))
    with pytest.raises(ValueError, match="use `cv` or `holdout`"):
        check_estimate(call("loo"), timed)
    with pytest.raises(ValueError, match="leave `order` out"):
        check_estimate(call("cv"), SplitGroups(10, order=np.zeros(10, dtype=np.intp)))
    with pytest.raises(ValueError, match="one group"):
        check_estimate(call("cv"), SplitGroups(10, groups=np.zeros(10, dtype=np.intp)))
    with pytest.raises(ValueError, match="single row"):
        check_estimate(call("cv"), SplitGroups(1))
    check_estimate(call("cv"), timed)


def test_every_declared_estimate_has_its_splits():
    from importlib import resources

    declared = (resources.files("msl.catalogue") / "estimates.msl").read_text()
    names = [line.split()[1].rstrip(":") for line in declared.splitlines() if line.startswith("block ")]
    assert len(names) == 5
    for name in names:
        assert load_function("estimate", name, f"msl.evaluate:{name}").__name__ == name


# --- gap and window ---


@pytest.mark.parametrize("gap", [0, 1, 3])
@pytest.mark.parametrize("window", [None, 2, 5])
def test_a_gap_and_a_window_choose_the_moments_to_fit_on(gap: int, window: int | None) -> None:
    """As `TimeSeriesSplit` of scikit-learn, with two rows of each moment."""
    moments, folds = 24, 3
    population = SplitGroups(2 * moments, None, None, np.arange(2 * moments) // 2)
    found = time_splits(population, folds, Past(gap, window))
    reference = TimeSeriesSplit(folds, gap=gap, max_train_size=window).split(np.zeros((moments, 1)))
    for split, (train, test) in zip(found, reference, strict=True):
        assert np.unique(split.train // 2).tolist() == train.tolist()
        assert np.unique(split.test // 2).tolist() == test.tolist()
        assert len(split.train) == 2 * len(train)
    held = holdout_split(population, 0.25, np.random.default_rng(0), Past(gap, window))
    first = 18 - gap
    assert np.unique(held.train // 2).tolist() == list(range(0 if window is None else first - window, first))
    assert np.unique(held.test // 2).tolist() == list(range(18, 24))


def test_a_gap_without_an_order_is_refused() -> None:
    for text in ("cv(gap = 1)", "holdout(window = 3)"):
        frame = pl.DataFrame({"x": [0.0, 1.0] * 20, "y": ["a", "b"] * 20})
        spec = f"use sklearn\nchain m = gaussian_nb\nminimize ber by {text}\nsearch random(evaluations = 1)\n"
        with pytest.raises(UserError, match="the table has no order"):
            msl.run(spec, frame)
