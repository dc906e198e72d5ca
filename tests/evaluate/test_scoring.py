"""Metrics against scikit-learn's, with and without weights."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import metrics

from msl.check.check_spec import check_source
from msl.check.names.scoring_declarations import metric_named, shipped_metrics
from msl.diagnostics.source import Source
from msl.evaluate.metrics import model_metric, row_terms, score
from msl.evaluate.outcome import FitFigures
from msl.space.formulas import Facts
from msl.space.spec import Metric, metrics_of


def outputs_for(n_classes: int, kind: str, seed: int, rows: int = 60):
    draw = np.random.default_rng(seed)
    y = draw.integers(0, n_classes, rows)
    y[:n_classes] = np.arange(n_classes)
    outputs = draw.normal(size=(rows, n_classes)).round(1) + np.eye(n_classes)[y]
    if kind == "probabilities":
        outputs = np.exp(outputs)
        outputs /= outputs.sum(axis=1, keepdims=True)
    return y, outputs, draw.integers(1, 4, rows).astype(float)


def average_precision(y, outputs, kind, weights):
    n_classes = outputs.shape[1]
    if n_classes == 2:
        margin = outputs[:, 1] - outputs[:, 0] if kind == "scores" else outputs[:, 1]
        return metrics.average_precision_score(y, margin, sample_weight=weights)
    found = [metrics.average_precision_score(y == c, outputs[:, c], sample_weight=weights) for c in range(n_classes)]
    return np.mean(found)


def brier(y, probabilities, weights):
    n_classes = probabilities.shape[1]
    if n_classes == 2:
        return metrics.brier_score_loss(y, probabilities[:, 1], sample_weight=weights)
    parts = [metrics.brier_score_loss(y == c, probabilities[:, c], sample_weight=weights) for c in range(n_classes)]
    return np.sum(parts)


def ece(y, probabilities, weights, bins):
    """Written from the definition, bin by bin."""
    weights = np.ones(len(y)) if weights is None else weights
    confidence, is_right = probabilities.max(axis=1), probabilities.argmax(axis=1) == y
    total = 0.0
    for number in range(bins):
        low, high = number / bins, (number + 1) / bins
        inside = (confidence > low) & (confidence <= high)
        if inside.any():
            share = weights[inside].sum() / weights.sum()
            sure = np.average(confidence[inside], weights=weights[inside])
            total += share * abs(sure - np.average(is_right[inside], weights=weights[inside]))
    return total


@pytest.mark.parametrize("bins", [1, 2, 7, 50])
def test_the_bins_of_the_calibration_error_are_an_option(bins):
    y, outputs, weights = outputs_for(3, "probabilities", 4, rows=200)
    metric = metric_of(f"ece(bins = {bins})")
    assert score(metric, y, outputs, weights) == pytest.approx(ece(y, outputs, weights, bins), abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["probabilities", "scores"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("seed", [0, 1])
def test_metrics_of_classes(n_classes, kind, weighted, seed):
    y, outputs, weights = outputs_for(n_classes, kind, seed)
    if not weighted:
        weights = None
    predicted = outputs.argmax(axis=1)
    softmax = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)
    probabilities = outputs if kind == "probabilities" else softmax
    if n_classes == 2:
        margin = outputs[:, 1] - outputs[:, 0] if kind == "scores" else outputs[:, 1]
        auc = metrics.roc_auc_score(y, margin, sample_weight=weights)
    else:
        areas = [metrics.roc_auc_score(y == c, outputs[:, c], sample_weight=weights) for c in range(n_classes)]
        auc = np.mean(areas)
    expected = {
        "ber": 1 - metrics.balanced_accuracy_score(y, predicted, sample_weight=weights),
        "error": 1 - metrics.accuracy_score(y, predicted, sample_weight=weights),
        "relative_error": 1 - metrics.accuracy_score(y, predicted, sample_weight=weights),
        "logloss": metrics.log_loss(y, probabilities, sample_weight=weights),
        "auc": auc,
        "f1": metrics.f1_score(y, predicted, average="macro", sample_weight=weights),
        "positive_f1": metrics.f1_score(
            y, predicted, labels=[n_classes - 1], average="macro", sample_weight=weights, zero_division=0
        ),
        "mcc": metrics.matthews_corrcoef(y, predicted, sample_weight=weights),
        "accuracy": metrics.accuracy_score(y, predicted, sample_weight=weights),
        "balanced_accuracy": metrics.balanced_accuracy_score(y, predicted, sample_weight=weights),
        "precision": metrics.precision_score(y, predicted, average="macro", sample_weight=weights, zero_division=0),
        "recall": metrics.recall_score(y, predicted, average="macro", sample_weight=weights, zero_division=0),
        "positive_precision": metrics.precision_score(
            y, predicted, labels=[n_classes - 1], average="macro", sample_weight=weights, zero_division=0
        ),
        "positive_recall": metrics.recall_score(
            y, predicted, labels=[n_classes - 1], average="macro", sample_weight=weights, zero_division=0
        ),
        "f1_weighted": metrics.f1_score(y, predicted, average="weighted", sample_weight=weights),
        "balanced_logloss": np.mean(
            [
                metrics.log_loss(
                    y[y == c],
                    probabilities[y == c],
                    labels=range(n_classes),
                    sample_weight=None if weights is None else weights[y == c],
                )
                for c in range(n_classes)
            ]
        ),
        "average_precision": average_precision(y, outputs, kind, weights),
        "brier": brier(y, probabilities, weights),
    }
    for name, value in expected.items():
        assert score(metric_named(name), y, outputs, weights) == pytest.approx(value, abs=1e-12), name
    plain = [metric for metric in shipped_metrics().values() if not metric.of_model and not metric.takes_costs]
    of_classes = {metric.name for metric in plain if metric.task == "classification"}
    assert of_classes == {*expected, "ber_at_best_threshold", "exception_bits", "ece", "kappa"}


@pytest.mark.parametrize("weighted", [False, True])
def test_metrics_of_numbers(weighted):
    draw = np.random.default_rng(0)
    y, outputs = np.exp(draw.normal(size=50)), np.exp(draw.normal(size=50)) - 0.1
    weights = draw.random(50) + 0.1 if weighted else None
    expected = {
        "mse": metrics.mean_squared_error(y, outputs, sample_weight=weights),
        "rmse": metrics.root_mean_squared_error(y, outputs, sample_weight=weights),
        "mae": metrics.mean_absolute_error(y, outputs, sample_weight=weights),
        "r2": metrics.r2_score(y, outputs, sample_weight=weights),
        "explained_variance": metrics.explained_variance_score(y, outputs, sample_weight=weights),
        "median_absolute_error": metrics.median_absolute_error(y, outputs, sample_weight=weights),
        "max_error": metrics.max_error(y, outputs),
        "msle": metrics.mean_squared_log_error(y, outputs, sample_weight=weights),
        "rmsle": metrics.root_mean_squared_log_error(y, outputs, sample_weight=weights),
        "mape": metrics.mean_absolute_percentage_error(y, outputs, sample_weight=weights),
    }
    for name, value in expected.items():
        assert score(metric_named(name), y, outputs, weights) == pytest.approx(value, rel=1e-12), name
    of_numbers = {m.name for m in shipped_metrics().values() if m.task == "regression" and m.name != "pinball"}
    assert of_numbers == set(expected)


def ber_by_class(y, predicted, weights):
    """Written from the definition: the weighted error rate of each class that occurs, averaged."""
    return np.mean([np.average(predicted[y == code] != code, weights=weights[y == code]) for code in np.unique(y)])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["probabilities", "scores"])
@pytest.mark.parametrize("seed", range(5))
def test_the_best_threshold_is_the_best_of_all_that_can_be_tried(kind, weighted, seed):
    y, outputs, weights = outputs_for(2, kind, seed)
    weights = weights if weighted else np.ones(len(y))
    margins = (outputs[:, 1] - outputs[:, 0]).round(9)
    levels = np.unique(margins)
    thresholds = [-np.inf, *(levels[1:] + levels[:-1]) / 2, np.inf]
    tried = [ber_by_class(y, (margins > threshold).astype(int), weights) for threshold in thresholds]
    found = score(metric_named("ber_at_best_threshold"), y, outputs, weights)
    assert found == pytest.approx(min(tried), abs=1e-12)


def test_a_shift_of_the_outputs_changes_the_error_but_not_the_error_at_the_best_threshold():
    y, outputs, _ = outputs_for(2, "scores", 0)
    shifted = outputs + np.array([0.0, 3.0])  # rounding makes equal margins differ, which must not tell them apart
    assert score(metric_named("ber"), y, shifted) > score(metric_named("ber"), y, outputs) + 0.1
    best = metric_named("ber_at_best_threshold")
    assert score(best, y, shifted) == pytest.approx(score(best, y, outputs), abs=1e-12)


def test_the_best_offsets_of_three_classes_are_near_the_best_of_a_grid():
    # Outputs have one decimal, so these tell any two classes apart at every threshold there is.
    tenths = np.arange(-2.5, 2.5, 0.1)
    offsets = np.array([[0.0, a + 0.05, b + more] for a in tenths for b in tenths for more in (0.02, 0.08)])
    left = []
    for seed in range(8):
        y, outputs, weights = outputs_for(3, "scores", seed, rows=40)
        best = min(ber_by_class(y, (outputs + offset).argmax(axis=1), weights) for offset in offsets)
        found = score(metric_named("ber_at_best_threshold"), y, outputs, weights)
        assert best - 1e-9 <= found <= score(metric_named("ber"), y, outputs, weights)
        left.append((found - best) / (score(metric_named("ber"), y, outputs, weights) - best))
    assert np.mean(left) < 0.35, left


def test_outputs_that_only_lie_elsewhere_have_no_error_at_the_best_offsets():
    draw = np.random.default_rng(3)
    y = np.repeat(np.arange(4), 20)
    outputs = np.eye(4)[y] + draw.uniform(-0.2, 0.2, (80, 4)) + [0.0, 2.0, -1.0, 5.0]
    assert score(metric_named("ber"), y, outputs) == 0.75
    assert score(metric_named("ber_at_best_threshold"), y, outputs) == 0.0


def test_the_best_threshold_of_rows_of_one_class_has_no_error():
    for n_classes in (2, 3):
        y, outputs = np.full(5, n_classes - 1), np.zeros((5, n_classes))
        assert score(metric_named("ber_at_best_threshold"), y, outputs) == 0.0


@given(arrays(np.int64, 30, elements=st.integers(0, 2)), arrays(np.int64, 30, elements=st.integers(0, 3)))
def test_classes_without_rows_do_not_count(y, predicted):
    outputs = np.eye(4)[predicted]
    rates = [np.mean(predicted[y == code] != code) for code in np.unique(y)]
    assert score(metric_named("ber"), y, outputs) == pytest.approx(np.mean(rates))
    labels = np.union1d(y, predicted)
    f1 = metrics.f1_score(y, predicted, average="macro", labels=labels, zero_division=0)
    assert score(metric_named("f1"), y, outputs) == pytest.approx(f1)


def test_weights_are_repeated_rows():
    y, outputs, weights = outputs_for(3, "probabilities", 5)
    again = np.repeat(np.arange(len(y)), weights.astype(int))
    for name in ("ber", "ber_at_best_threshold", "error", "logloss", "auc", "f1", "mcc"):
        whole = score(metric_named(name), y[again], outputs[again])
        assert score(metric_named(name), y, outputs, weights) == pytest.approx(whole, abs=1e-12), name


def test_what_cannot_be_known_is_not_a_number():
    y, outputs = np.zeros(5, dtype=int), np.eye(2)[np.zeros(5, dtype=int)]
    assert np.isnan(score(metric_named("auc"), y, outputs))
    assert score(metric_named("mcc"), y, outputs) == 0.0
    assert score(metric_named("r2"), np.ones(4), np.ones(4)) == 1.0
    assert score(metric_named("r2"), np.ones(4), np.zeros(4)) == 0.0


def test_small_probabilities_keep_their_order():
    y = np.array([0, 1, 0, 1])
    second = np.array([1e-30, 1e-20, 1e-29, 1e-10])
    assert score(metric_named("auc"), y, np.column_stack([1 - second, second])) == 1.0


# --- metrics with options ---------------------------------------------------------------------------------------------


def metric_of(text: str, facts: Facts | None = None) -> Metric:
    source = Source("spec", f"use sbm\nchain m = knn\nminimize {text} by cv(folds = 3)\n")
    found = check_source(source, facts)
    assert found.spec is not None, found.diagnostics
    (metric,) = metrics_of(found.spec.objectives[0].loss)
    return metric


@pytest.mark.parametrize("weighted", [False, True])
def test_the_cost_of_decisions_is_that_of_each_row(weighted: bool) -> None:
    y, outputs, weights = outputs_for(3, "probabilities", 4)
    weights = weights if weighted else np.ones(len(y))
    costs = [[0, 1, 2.5], [4, 0, 1], [9, 0.5, 0]]
    each = [costs[true][predicted] for true, predicted in zip(y, outputs.argmax(axis=1), strict=True)]
    metric = metric_of(f"cost({costs})")
    assert score(metric, y, outputs, weights) == pytest.approx(np.average(each, weights=weights))
    np.testing.assert_allclose(row_terms(metric, y, outputs), each)


def test_errors_by_name_are_the_matrix_of_the_classes_of_the_table() -> None:
    facts = Facts(n_samples=9, n_features=2, n_classes=3, task="classification", classes=("flu", "cold", "none"))
    named = metric_of('cost([[flu, "none", 7], [cold, flu, 0.5]])', facts)
    assert dict(named.options)["costs"] == ((0.0, 1.0, 7.0), (0.5, 0.0, 1.0), (1.0, 1.0, 0.0))


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_pinball_is_that_of_scikit_learn(quantile: float) -> None:
    draw = np.random.default_rng(0)
    y, outputs, weights = draw.normal(size=30), draw.normal(size=30), draw.integers(1, 4, 30).astype(float)
    expected = metrics.mean_pinball_loss(y, outputs, alpha=quantile, sample_weight=weights)
    metric = metric_of(f"pinball(quantile = {quantile})")
    assert score(metric, y, outputs, weights) == pytest.approx(expected)
    np.testing.assert_allclose(np.average(row_terms(metric, y, outputs), weights=weights), expected)


def test_the_name_of_a_metric_says_the_options_that_differ_from_their_defaults() -> None:
    assert metric_of("pinball(0.9)").name == "pinball(quantile = 0.9)"
    assert metric_of("pinball(quantile = 0.5)").name == metric_of("pinball").name == "pinball"
    assert metric_of("cost(costs = [[0,1], [5,0]])").name == metric_of("cost([[0, 1], [5, 0.0]])").name
    assert metric_of("cost([[0, 1], [5, 0]])") != metric_of("cost([[0, 1], [6, 0]])")
    assert metric_named("pinball(quantile = 0.9)").function == metric_named("pinball").function


# --- description length -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_classes", "rows"), [(2, 12), (4, 20)])
def test_exceptions_are_told_by_their_number_their_places_and_their_classes(n_classes: int, rows: int) -> None:
    y, outputs, _ = outputs_for(n_classes, "scores", 1, rows)
    wrong = int((outputs.argmax(axis=1) != y).sum())
    assert 0 < wrong < rows
    bits = math.log2(rows + 1) + math.log2(math.comb(rows, wrong)) + wrong * math.log2(max(n_classes - 1, 1))
    assert score(metric_named("exception_bits"), y, outputs) == pytest.approx(bits / rows)
    perfect = np.eye(n_classes)[y]
    assert score(metric_named("exception_bits"), y, perfect) == pytest.approx(math.log2(rows + 1) / rows)


def test_a_model_is_told_by_its_numbers_to_the_precision_that_the_rows_give() -> None:
    facts = Facts(n_samples=64, n_features=2, n_classes=2, task="classification")
    figures = FitFigures()
    figures.add(2.0, 10.0, 0.1)
    figures.add(2.0, 30.0, 0.1)
    assert model_metric(metric_of("model_bits", facts), figures, 2) == pytest.approx(0.5 * 20 * 6 / 64)


@pytest.mark.parametrize("weighting", ["equal", "linear", "quadratic"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_kappa_is_that_of_scikit_learn(weighting: str, n_classes: int) -> None:
    y, outputs, weights = outputs_for(n_classes, "scores", 3)
    metric = metric_of(f"1 - kappa(weighting = {weighting})")
    given = {"weights": None if weighting == "equal" else weighting, "sample_weight": weights}
    expected = metrics.cohen_kappa_score(y, outputs.argmax(axis=1), **given)
    assert score(metric, y, outputs, weights) == pytest.approx(expected)


def test_the_median_of_weighted_errors_is_that_of_repeated_rows() -> None:
    draw = np.random.default_rng(0)
    for rows in (1, 2, 5, 20):
        y, outputs, times = draw.normal(size=rows), draw.normal(size=rows), draw.integers(1, 4, rows)
        expected = np.median(np.repeat(np.abs(y - outputs), times))
        assert score(metric_named("median_absolute_error"), y, outputs, times.astype(float)) == pytest.approx(expected)


def test_a_logarithm_that_does_not_exist_is_not_a_number() -> None:
    assert math.isnan(score(metric_named("rmsle"), np.array([1.0, 2.0]), np.array([1.0, -1.0])))
    assert math.isnan(score(metric_named("msle"), np.array([-3.0, 2.0]), np.array([1.0, 1.0])))


@pytest.mark.parametrize(
    ("written", "help"),
    [
        ("neg_log_loss", "write `minimize logloss`"),
        ("roc_auc", "write `maximize auc`"),
        ("f1_macro", "write `maximize f1`"),
        ("f1_micro", "write `maximize accuracy`"),
        ("neg_root_mean_squared_error", "write `minimize rmse`"),
        ("neg_median_absolute_error", "write `minimize median_absolute_error`"),
        ("neg_max_error", "write `minimize max_error`"),
        ("neg_mean_squared_log_error", "write `minimize msle`"),
        ("roc_auc_ovo", "the closest is `auc`"),
    ],
)
def test_names_of_scorers_lead_to_ours(written: str, help: str) -> None:
    found = check_source(Source("s.msl", f"use sklearn chain m = ridge | logistic maximize {written}")).diagnostics
    assert any(help in each.help for each in found), found
