"""Bias against all thresholds, and, for more than two classes, against no offset."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score

from msl.blocks.calibration import Bias, balanced_error, best_offset

Outputs = NDArray[np.float64]
Labels = NDArray[np.intp]


def training_error(outputs: Outputs, y: Labels) -> float:
    """The balanced error rate: the mean over the classes of the share of rows that another class wins."""
    winners = outputs.argmax(axis=1)
    return float(np.mean([(winners[y == code] != code).mean() for code in np.unique(y)]))


def with_bias(outputs: Outputs, y: Labels) -> Outputs:
    block = Bias()
    block.fit_arrays(outputs, y, outputs.shape[1])
    return block.transform_arrays(outputs)


@st.composite
def cases(draw: st.DrawFn, n_classes: st.SearchStrategy[int], values: st.SearchStrategy[float]) -> tuple:
    columns = draw(n_classes)
    n_rows = draw(st.integers(columns, 30))
    outputs = draw(arrays(np.float64, (n_rows, columns), elements=values))
    y = draw(arrays(np.intp, n_rows, elements=st.integers(0, columns - 1)))
    y[:columns] = np.arange(columns)
    return outputs, y


# On a grid of eighths every difference and every midpoint is exact.
grid = st.integers(-40, 40).map(lambda eighths: eighths / 8)


def errors_of_thresholds(margins: Outputs, y: Labels) -> list[tuple[float, float]]:
    """Each candidate with its balanced error: the midpoints, and the ends, which call all rows the same."""
    values = np.unique(margins)
    found = [(float(values[0]), 0.5), (float(values[-1]), 0.5)]
    for threshold in (values[1:] + values[:-1]) / 2:
        above = margins > threshold
        found.append((float(threshold), float((~above[y == 1]).mean() + above[y == 0].mean()) / 2))
    return found


@settings(max_examples=300)
@given(cases(st.just(2), grid))
def test_two_classes_get_the_median_of_the_best_thresholds(case: tuple[Outputs, Labels]) -> None:
    outputs, y = case
    candidates = errors_of_thresholds(outputs[:, 1] - outputs[:, 0], y)
    least = min(error for _, error in candidates)
    best = [threshold for threshold, error in candidates if error < least + 1e-12]
    biased = with_bias(outputs, y)
    np.testing.assert_array_equal(biased, outputs - np.array([0.0, np.median(best)]))
    if len(best) == 1:
        assert training_error(biased, y) == pytest.approx(least, abs=1e-12)


def test_the_median_of_two_equally_good_thresholds_is_between_them() -> None:
    y = np.array([0, 1, 0, 1])
    outputs = np.column_stack([np.zeros(4), [-4.0, -0.5, 0.5, 4.5]])
    block = Bias().fit(outputs, y)
    # Thresholds of -2.25 and 2.5 make one error each; the one between them makes two, as it would in CLOP.
    assert block.offsets_.tolist() == [0.0, -0.125]
    assert training_error(block.transform(outputs), y) == 0.5


@settings(max_examples=200)
@given(cases(st.integers(3, 5), st.floats(-1e300, 1e300)))
def test_offsets_of_more_classes_never_make_it_worse(case: tuple[Outputs, Labels]) -> None:
    outputs, y = case
    biased = with_bias(outputs, y)
    assert np.isfinite(biased).all()
    assert training_error(biased, y) <= training_error(outputs, y) + 1e-12


@settings(max_examples=150)
@given(cases(st.integers(3, 4), grid))
def test_no_single_offset_of_more_classes_can_be_improved(case: tuple[Outputs, Labels]) -> None:
    outputs, y = case
    biased = with_bias(outputs, y)
    reached = training_error(biased, y)
    for code in range(outputs.shape[1]):
        others = np.delete(biased, code, axis=1).max(axis=1)
        steps = np.unique(others - biased[:, code])
        gaps = np.diff(steps) > 1e-9
        tried = [steps[0] - 1, *((steps[1:] + steps[:-1]) / 2)[gaps], steps[-1] + 1]
        for step in tried:
            moved = biased.copy()
            moved[:, code] += step
            assert training_error(moved, y) >= reached - 1e-9


@given(cases(st.integers(2, 4), grid))
def test_the_error_is_that_of_scikit_learn(case: tuple[Outputs, Labels]) -> None:
    outputs, y = case
    shares = 1 / (np.bincount(y) * outputs.shape[1])
    expected = 1 - balanced_accuracy_score(y, outputs.argmax(axis=1))
    assert balanced_error(outputs, y, shares) == pytest.approx(expected, abs=1e-12)
    assert training_error(outputs, y) == pytest.approx(expected, abs=1e-12)


def test_a_gap_is_cut_in_the_middle() -> None:
    outputs = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.2, 0.8]])
    block = Bias().fit(outputs, [0, 0, 1, 1])
    assert block.offsets_ == pytest.approx([0.0, 0.1])  # the middle of -0.6 and 0.4
    assert block.complexity() == 0.0


def test_a_rare_class_gets_its_share() -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(500) < 0.05).astype(int)
    probability = 1 / (1 + np.exp(4 - 2 * y - rng.normal(size=500)))
    outputs = np.column_stack([1 - probability, probability])
    assert training_error(outputs, y) > 0.4
    assert training_error(with_bias(outputs, y), y) < 0.25


def test_rows_that_rounding_cannot_separate_are_not_counted_on() -> None:
    outputs = np.array([[0.0, 1e16], [0.0, 1e16 + 2], [0.0, 1e16 + 4], [0.0, 1.0]])
    y = np.array([0, 1, 1, 0])
    biased = with_bias(outputs, y)
    assert training_error(biased, y) == pytest.approx(0.25)


def test_an_offset_nearest_to_the_present_one_is_taken() -> None:
    # Thresholds between any of the four middle rows are equally good: the one around zero is the nearest.
    outputs = np.column_stack([np.zeros(6), [-5.0, -4.0, -0.5, 1.0, 4.0, 5.0]])
    y = np.array([0, 1, 0, 1, 0, 1])
    shares = np.full(2, 1 / 6)
    assert best_offset(outputs, np.zeros(2), y, shares, 1) == pytest.approx(-0.25)


def test_a_class_without_rows_keeps_its_outputs() -> None:
    rng = np.random.default_rng(1)
    outputs, y = rng.normal(size=(40, 3)), np.where(np.arange(40) % 2, 2, 0)
    block = Bias().fit(outputs, y)
    assert block.offsets_[1] == 0.0
    shares = np.array([1 / 40, 0.0, 1 / 40])
    assert balanced_error(block.transform(outputs), y, shares) < balanced_error(outputs, y, shares)
    one_class = Bias().fit(outputs, np.full(40, 2))
    assert one_class.offsets_.tolist() == [0.0, 0.0, 0.0]


def test_labels_may_be_anything_when_all_are_there() -> None:
    rng = np.random.default_rng(1)
    outputs, y = rng.normal(size=(40, 3)), np.arange(40) % 3
    names = np.array(["a", "b", "c"])[y]
    assert np.array_equal(Bias().fit(outputs, names).offsets_, Bias().fit(outputs, y).offsets_)


@pytest.mark.parametrize("labels", [["a", "b"], [1, 3], [0, 1, 2, 3]])
def test_columns_that_are_not_the_classes_are_a_clear_error(labels: list[object]) -> None:
    outputs = np.random.default_rng(0).normal(size=(12, 3))
    with pytest.raises(ValueError, match="give one column a class"):
        Bias().fit(outputs, np.resize(np.array(labels), 12))


def test_numbers_as_target_are_a_clear_error() -> None:
    with pytest.raises(ValueError, match="Unknown label type"):
        Bias().fit(np.zeros((4, 2)), [0.1, 0.2, 0.3, 0.4])


def test_fifty_classes_improve() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(500) % 50
    outputs = 3 * np.eye(50)[y] + rng.normal(size=(500, 50)) + rng.normal(size=50)
    assert training_error(with_bias(outputs, y), y) < training_error(outputs, y) - 0.05
