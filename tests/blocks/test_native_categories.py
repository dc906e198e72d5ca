"""Symbols reach scikit-learn's histogram boosting as categories: as a reference made by hand, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

import msl
from msl.blocks.base.build import ColumnKinds, adapt_model, model_to_chain
from msl.blocks.preprocessing.prepare import MergeRare
from msl.data.read import read_like
from msl.space.values import BlockType, BlockValue, Branches, Model, Step, Value

TARGETS = {
    "hist": ("sklearn.ensemble:HistGradientBoosting*", "learner"),
    "columns": ("msl.blocks:Columns", "selector"),
    "scaler": ("sklearn.preprocessing:StandardScaler", "transformer"),
    "pca": ("sklearn.decomposition:PCA", "selector"),
    "keep": ("msl.blocks:KeepFeatures", "selector"),
    "passthrough": ("msl.blocks:Passthrough", "transformer"),
    "tree": ("sklearn.tree:DecisionTree*", "learner"),
}
KINDS = ColumnKinds(4, symbolic=(1, 2), incomplete=(0, 1))
FEW = {"max_iter": 15, "min_samples_leaf": 5, "random_state": 0}


def use(name: str, **params: Value) -> BlockValue:
    target, role = TARGETS[name]
    return BlockValue(BlockType(name, "tests", role, None, target), tuple(params.items()))


def rows(count: int = 400, n_symbols: int = 12) -> tuple[Any, Any]:
    """Two columns of numbers and two of symbols, with gaps; the class hangs on sets of symbols."""
    rng = np.random.default_rng(count + n_symbols)
    X = np.column_stack(
        [
            rng.normal(size=count),
            rng.integers(n_symbols, size=count),
            rng.integers(5, size=count),
            rng.normal(size=count),
        ]
    ).astype(float)
    y = ((X[:, 1] % 3 == 0) ^ (X[:, 2] == 2) ^ (X[:, 0] > 0.5)).astype(np.intp)
    X[rng.random(count) < 0.1, 0] = np.nan
    X[rng.random(count) < 0.1, 1] = np.nan
    return X, y


def outputs(steps: tuple[Step, ...], kinds: ColumnKinds, X: Any, y: Any, new: Any, task: str = "classification") -> Any:
    chain = model_to_chain(Model(steps), task, columns=kinds)
    chain.fit_arrays(X, y, 0 if task == "regression" else int(y.max()) + 1)
    return chain.outputs(new)


def test_symbols_and_gaps_as_they_are() -> None:
    X, y = rows()
    train, new = X[:300], X[300:]
    reference = HistGradientBoostingClassifier(categorical_features=[1, 2], **FEW).fit(train, y[:300])
    assert np.array_equal(outputs((use("hist", **FEW),), KINDS, train, y[:300], new), reference.predict_proba(new))
    encoded = outputs((use("hist", categorical_features=None, **FEW),), KINDS, train, y[:300], new)
    assert not np.array_equal(encoded, reference.predict_proba(new))


def test_of_numbers_as_target() -> None:
    X, y = rows()
    target = np.where(y == 1, X[:, 3], -X[:, 3])
    reference = HistGradientBoostingRegressor(categorical_features=[1, 2], **FEW).fit(X[:300], target[:300])
    made = outputs((use("hist", **FEW),), KINDS, X[:300], target[:300], X[300:], "regression")
    assert np.array_equal(made, reference.predict(X[300:]))


@pytest.mark.parametrize(("n_symbols", "params"), [(400, {}), (60, {"max_bins": 20})])
def test_the_rarest_of_many_symbols_together(n_symbols: int, params: dict[str, Any]) -> None:
    X, y = rows(1500, n_symbols)
    X[:, 1] = np.floor(X[:, 1] ** 2 / n_symbols)  # some are much more frequent than others
    train, new = X[:1200], X[1200:]
    new[0, 1] = n_symbols + 5  # never seen
    most = params.get("max_bins", 255)
    learner = HistGradientBoostingClassifier(categorical_features=[0, 2], **FEW, **params)
    merge = OrdinalEncoder(max_categories=most, handle_unknown="use_encoded_value", unknown_value=np.nan)
    first = make_column_transformer((merge, [1]), ("passthrough", [0, 2, 3]))
    reference = make_pipeline(first, learner).fit(train, y[:1200])
    assert np.nanmax(reference[0].transform(train)[:, 0]) == most - 1
    made = outputs((use("hist", **FEW, **params),), KINDS, train, y[:1200], new)
    assert np.array_equal(made, reference.predict_proba(new))


def test_columns_with_few_symbols_are_left_alone() -> None:
    X, y = rows()
    block = MergeRare([1, 2], most=12)
    block.fit_arrays(X, y, 2)
    assert block.transform_arrays(X) is X
    merged = MergeRare([1, 2], most=5).fit(X).transform(X)
    assert [len(np.unique(merged[~np.isnan(merged[:, column]), column])) for column in (1, 2)] == [5, 5]
    assert np.array_equal(merged[:, [0, 2, 3]], X[:, [0, 2, 3]], equal_nan=True)
    with pytest.raises(ValueError, match="most"):
        MergeRare([1], most=1).fit(X)


def test_symbols_that_only_test_rows_have_are_missing_there_in_a_complete_table() -> None:
    """A table without gaps: the missing values that merging makes are no mistake of a block."""
    frame = pl.DataFrame(
        {"agent": [f"agent {i * 7 % 400 if i % 3 else i}" for i in range(900)], "y": ["no", "yes"] * 450}
    )
    spec = (
        "use sklearn\ndata(target = y)\nchain m = hist_gradient_boosting(max_iter = 20, rest = default)\n"
        "minimize ber by cv(folds = 2)\nsearch random(evaluations = 1)\n"
    )
    result = msl.run(spec, frame)
    assert result.failures == 0
    new = read_like(result.trained.schema, frame.head(2).with_columns(agent=pl.lit("agent new")))
    assert len(result.trained.predict(new)) == 2


# --- behind `on`, `&`, `keep` and `columns` ----------------------------------------------------------------------


def native_columns(*steps: Step) -> Value:
    """The columns that the learner takes as categories; None if it is told nothing."""
    learner = adapt_model(Model(steps), KINDS, "classification").steps[-1]
    assert isinstance(learner, BlockValue)
    return dict(learner.params).get("categorical_features")


NUMBERS, SYMBOLS = use("columns", kind="numeric"), use("columns", kind="symbolic")


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((use("passthrough"),), (1, 2)),
        ((use("keep", features=(True, False, True, True)),), (1,)),
        ((SYMBOLS,), (0, 1)),
        ((Branches(((NUMBERS,), (SYMBOLS,))),), (2, 3)),
        # a scaler makes as many columns as it gets
        ((Branches(((NUMBERS, use("scaler")), (SYMBOLS,))),), (2, 3)),
        # components come last, or it is not known where the symbols are
        ((Branches(((SYMBOLS,), (NUMBERS, use("pca")))),), (0, 1)),
        ((Branches(((NUMBERS, use("pca")), (SYMBOLS,))),), None),
        # where a step before the learner changes the columns, they are encoded as ever
        ((use("scaler"),), None),
        ((NUMBERS,), None),
    ],
)
def test_columns_are_followed_to_the_learner(steps: tuple[Step, ...], expected: Value) -> None:
    assert native_columns(*steps, use("hist")) == expected


def test_other_learners_behind_branches_get_what_they_always_got() -> None:
    split = Branches(((NUMBERS, use("scaler")), (SYMBOLS,)))
    before, _ = adapt_model(Model((split, use("tree"))), KINDS, "classification").steps
    assert isinstance(before, Branches)
    assert [step.block.name for step in before.branches[1] if isinstance(step, BlockValue)] == ["columns", "prepare"]


def test_branches_give_what_a_column_transformer_gives() -> None:
    X, y = rows()
    split = Branches(((NUMBERS, use("scaler")), (SYMBOLS,)))
    columns = ColumnTransformer([("n", StandardScaler(), [0, 3]), ("s", "passthrough", [1, 2])])
    learner = HistGradientBoostingClassifier(categorical_features=[2, 3], **FEW)
    reference = make_pipeline(columns, learner).fit(X[:300], y[:300])
    made = outputs((split, use("hist", **FEW)), KINDS, X[:300], y[:300], X[300:])
    assert np.array_equal(made, reference.predict_proba(X[300:]))


def test_a_column_of_gaps_alone() -> None:
    X, y = rows()
    X[:, 1] = np.nan
    assert outputs((use("hist", **FEW),), KINDS, X, y, X).shape == (400, 2)
