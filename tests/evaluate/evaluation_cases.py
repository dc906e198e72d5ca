"""Models, objectives and tables that the tests of evaluations share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from msl.blocks.base.block import Floats
from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.encode.codec import space_to_codec
from msl.evaluate.dataset import Dataset
from msl.evaluate.evaluator import Evaluator
from msl.space.formulas import Facts
from msl.space.spec import Objective, Spec
from msl.space.values import BlockType, BlockValue, Model, Value

PSMS = """
msl 1
use clop
part preprocess = subset(normalize, standardize, shift_scale)
part select = ftest | ttest | aucfs | odds_ratio | relief | rffs | svcrfe | pearson | zfilter | gs | s2n | pc_extract
part learn = zarbi | naive | klogistic | gkridge | logitboost | neural | svc | kridge | rf | lssvm
chain full_model = permute(preprocess, select?) >> learn >> bias
minimize ber by cv(folds = 2)
"""
#: The same space with smaller forests and networks, and every thirtieth model of it takes a while no more.
QUICK_PSMS = PSMS.replace(
    "logitboost | neural | svc | kridge | rf | lssvm",
    "logitboost(units: 10..30) | neural(maxiter: 10..30) | svc | kridge | rf(units: 10..30) | lssvm",
).replace("rffs | svcrfe", "svcrfe")


def facts_of(dataset: Dataset) -> Facts:
    rows, columns = dataset.X.shape
    task: Any = dataset.task
    return Facts(rows, columns, dataset.n_classes, task)


def spec_of(text: str, dataset: Dataset) -> Spec:
    checked = check_source(Source("spec.msl", text, "spec.msl"), facts=facts_of(dataset))
    assert checked.spec is not None, [d.message for d in checked.diagnostics]
    return checked.spec


def models_of(text: str, dataset: Dataset, n: int, seed: int = 0) -> list[Model]:
    """Random models of a space."""
    codec = space_to_codec(spec_of(text, dataset).space)
    found = codec.decode(np.random.default_rng(seed).random((n, codec.n_dimensions))).models()
    return [model for model in found if isinstance(model, Model)]


def only_model(text: str, dataset: Dataset) -> Model:
    """The model of a space with nothing open."""
    codec = space_to_codec(spec_of(text, dataset).space)
    return codec.model(np.full(codec.n_dimensions, 0.5))


def objectives(goal: str, dataset: Dataset) -> tuple[Objective, ...]:
    """The objectives that a `minimize` or `maximize` statement states."""
    learner = "ridge" if dataset.task == "regression" else "gaussian_nb"
    return spec_of(f"use sklearn\nchain c = {learner}(rest = default)\n{goal}", dataset).objectives


def evaluator(goal: str, dataset: Dataset, **options: Any) -> Evaluator:
    return Evaluator(dataset, objectives(goal, dataset), **options)


def block(target: str, role: str = "transformer", **params: Value) -> BlockValue:
    """A block that no catalogue declares."""
    return BlockValue(BlockType(target.partition(":")[2], "tests", role, None, target), tuple(params.items()))


def two_moons(rows: int = 120, columns: int = 6, seed: int = 0) -> Dataset:
    """Two classes that overlap a little, unequal in size."""
    rng = np.random.default_rng(seed)
    y = (rng.random(rows) < 0.35).astype(np.intp)
    X = rng.normal(size=(rows, columns))
    X[:, : columns // 2] += 1.2 * y[:, None]
    return Dataset.of_arrays(X, y, 2)


def numbers(rows: int = 90, columns: int = 5, seed: int = 0) -> Dataset:
    """A regression with a little noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    y = X[:, 0] - 2.0 * X[:, 1] ** 2 + 0.3 * rng.normal(size=rows)
    return Dataset.of_arrays(X, y, 0)


def bundled(name: str) -> Dataset:
    """A data set that comes with scikit-learn."""
    loaded: tuple[Floats, NDArray[Any]] = {
        "iris": load_iris,
        "wine": load_wine,
        "breast_cancer": load_breast_cancer,
    }[name](return_X_y=True)
    X, y = loaded
    return Dataset.of_arrays(np.ascontiguousarray(X), y.astype(np.intp), int(y.max()) + 1)
