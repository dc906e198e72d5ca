"""Our own blocks as operators of ONNX: what the runtime computes is what the block computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from msl.blocks.calibration import Bias, EqualPriors  # noqa: E402
from msl.blocks.kernels.svm import SVC  # noqa: E402
from msl.blocks.learners.linear_classifiers import (  # noqa: E402
    LinearLogistic,
    PooledBayes,
    Zarbi,
)
from msl.blocks.preprocessing.prepare import MOST_COLUMNS, Columns, Passthrough, Prepare  # noqa: E402
from msl.blocks.preprocessing.scalers import Normalize, RangeScale, ShiftScale, Standardize  # noqa: E402
from msl.blocks.selection.orthogonal import GramSchmidt, PrincipalComponents  # noqa: E402
from msl.blocks.selection.rankers import FTestRanker, SignalToNoiseRanker  # noqa: E402
from msl.blocks.selection.selectors import KeepFeatures  # noqa: E402
from msl.export.onnx_blocks import Graph, translation_of  # noqa: E402

RNG = np.random.default_rng(11)
NUMBERS = RNG.normal(3.0, 2.0, (60, 5)) * [1, 10, 0.1, 1e5, 1]
CLASSES = np.arange(60) % 3
SYMBOLS = np.column_stack([NUMBERS[:, 0], RNG.integers(0, 4, 60), NUMBERS[:, 1], RNG.integers(0, 3, 60)]).astype(float)
HOLED = np.where(RNG.random(SYMBOLS.shape) < 0.2, np.nan, SYMBOLS)
EXTREME = np.vstack([NUMBERS, np.zeros((1, 5)), np.ones((1, 5)) * -7.0])
FAR = NUMBERS * [1e-150, 1.0, 1e-180, 1e120, 1.0]

#: A block, the rows that it is fitted on, and those that it is tried on.
CASES = {
    "standardize": (Standardize(), NUMBERS, EXTREME),
    "standardize without centre": (Standardize(center=False), NUMBERS, EXTREME),
    "standardize far from one": (Standardize(), FAR, FAR),
    "normalize": (Normalize(), NUMBERS, EXTREME),
    "normalize with centre": (Normalize(center=True), NUMBERS, EXTREME),
    "shift and scale": (ShiftScale(), NUMBERS, EXTREME),
    "shift, scale and log": (ShiftScale(take_log=True), NUMBERS, EXTREME),
    "scale by the range": (RangeScale(), NUMBERS, EXTREME),
    "scale by the range and log": (RangeScale(take_log=True), NUMBERS, EXTREME),
    "keep": (KeepFeatures(features=[True, False, True, False, False]), NUMBERS, EXTREME),
    "keep nothing": (KeepFeatures(features=[False] * 5), NUMBERS, EXTREME),
    "f-test": (FTestRanker(fmax=2), NUMBERS, EXTREME),
    "signal to noise": (SignalToNoiseRanker(fmax=3), NUMBERS, EXTREME),
    "gram-schmidt": (GramSchmidt(fmax=2), NUMBERS, EXTREME),
    "components": (PrincipalComponents(fmax=2), NUMBERS, EXTREME),
    "passthrough": (Passthrough(), NUMBERS, EXTREME),
    "columns": (Columns("symbolic", [1, 3]), SYMBOLS, SYMBOLS),
    "prepare": (Prepare([1, 3]), HOLED, HOLED),
    "prepare with symbols never seen": (Prepare([1, 3]), HOLED, np.array([[1.0, 9.0, np.nan, -1.0]])),
    "prepare without encoding": (Prepare([1, 3], encode=False), HOLED, HOLED),
    "prepare without filling in": (Prepare([1, 3], impute=False), HOLED, HOLED),
}


def computed(block: Any, rows: Any) -> Any:
    graph = Graph("one")
    translation = translation_of(block)
    assert translation is not None
    graph.named(translation(graph, block, "X"), "made")
    content = graph.model(rows.shape[1], {"made": ("double", [None, None])}, {})
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    return session.run(None, {"X": np.ascontiguousarray(rows)})[0]


@pytest.mark.parametrize("name", list(CASES))
def test_operators_compute_what_the_block_computes(name: str) -> None:
    block, fitted_on, rows = CASES[name]
    block.fit_arrays(fitted_on, CLASSES, 3)
    expected = block.transform_arrays(rows)
    made = computed(block, rows)
    assert made.shape == expected.shape
    assert np.allclose(made, expected, rtol=1e-12, atol=1e-12 * np.nanmax(np.abs(expected)), equal_nan=True)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", [Zarbi, PooledBayes, LinearLogistic])
def test_scores_and_offsets_are_the_same(kind: Any, n_classes: int) -> None:
    learner, post = kind(), Bias()
    codes = np.where(NUMBERS[:, 0] > 3.0, n_classes - 1, np.arange(60) % (n_classes - 1))
    learner.fit_arrays(NUMBERS, codes, n_classes)
    outputs = learner.outputs(NUMBERS)
    assert np.allclose(computed(learner, NUMBERS), outputs, rtol=1e-12)
    outputs = outputs + 3 * np.arange(n_classes)  # so that there is something to make up for
    post.fit_arrays(outputs, codes, n_classes)
    assert post.offsets_.any()
    assert np.allclose(computed(post, outputs), post.transform_arrays(outputs), rtol=1e-12)


@pytest.mark.parametrize("as_probabilities", [True, False])
def test_equal_priors_are_the_same(as_probabilities: bool) -> None:
    outputs = RNG.random((60, 3))
    outputs = outputs / outputs.sum(axis=1, keepdims=True) if as_probabilities else 4 * outputs - 2
    post = EqualPriors()
    post.fit_arrays(outputs, np.minimum(CLASSES * RNG.integers(0, 2, 60), 2), 3)
    assert np.allclose(computed(post, outputs), post.transform_arrays(outputs), rtol=1e-12)


def test_what_has_no_counterpart_has_no_translation() -> None:
    many = Prepare([0])
    many.fit_arrays(np.arange(MOST_COLUMNS + 5.0)[:, None], np.zeros(MOST_COLUMNS + 5, dtype=int), 1)
    for block in (SVC(), many):
        assert translation_of(block) is None
    for lacking in (Zarbi(), PooledBayes(), LinearLogistic()):
        lacking.fit_arrays(NUMBERS, CLASSES % 2, 3)
        assert translation_of(lacking) is None
