"""Measures against scikit-learn's, with and without weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import metrics

from msl.check.names.scoring_declarations import metric_named, shipped_metrics
from msl.evaluate.metrics import score


def outputs_for(n_classes: int, kind: str, seed: int, rows: int = 60):
    draw = np.random.default_rng(seed)
    y = draw.integers(0, n_classes, rows)
    y[:n_classes] = np.arange(n_classes)
    outputs = draw.normal(size=(rows, n_classes)).round(1) + np.eye(n_classes)[y]
    if kind == "probabilities":
        outputs = np.exp(outputs)
        outputs /= outputs.sum(axis=1, keepdims=True)
    return y, outputs, draw.integers(1, 4, rows).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["probabilities", "scores"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("seed", [0, 1])
def test_measures_of_classes(n_classes, kind, weighted, seed):
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
    }
    for name, value in expected.items():
        assert score(metric_named(name), y, outputs, weights) == pytest.approx(value, abs=1e-12), name
    of_classes = {m.name for m in shipped_metrics().values() if m.task == "classification" and not m.of_model}
    assert of_classes == set(expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_measures_of_numbers(weighted):
    draw = np.random.default_rng(0)
    y, outputs = draw.normal(size=50), draw.normal(size=50)
    weights = draw.random(50) + 0.1 if weighted else None
    expected = {
        "mse": metrics.mean_squared_error(y, outputs, sample_weight=weights),
        "rmse": metrics.root_mean_squared_error(y, outputs, sample_weight=weights),
        "mae": metrics.mean_absolute_error(y, outputs, sample_weight=weights),
        "r2": metrics.r2_score(y, outputs, sample_weight=weights),
    }
    for name, value in expected.items():
        assert score(metric_named(name), y, outputs, weights) == pytest.approx(value, rel=1e-12), name
    of_numbers = {m.name for m in shipped_metrics().values() if m.task == "regression"}
    assert of_numbers == set(expected)


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
    for name in ("ber", "error", "logloss", "auc", "f1", "mcc"):
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
