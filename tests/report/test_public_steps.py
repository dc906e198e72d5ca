"""Blocks of ours written with scikit-learn alone: what they make of rows is the same, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline, make_union

from msl.blocks.base.build import ColumnKinds, model_to_chain
from msl.blocks.preprocessing.prepare import MOST_COLUMNS, Columns, Passthrough, Prepare, TableColumns
from msl.blocks.selection.selectors import KeepFeatures
from msl.check.read_models import text_to_model
from msl.diagnostics.source import Source
from msl.export.python_code import EstimatorCode
from msl.export.python_file import Exportable, export_python, has_public_form, public_form

RNG = np.random.default_rng(3)
NUMBERS = RNG.normal(size=(80, 3)) * [1.0, 1e6, 1e-3]
TABLE = np.column_stack([NUMBERS[:, 0], RNG.integers(0, 4, 80), NUMBERS[:, 1:], RNG.integers(0, 2, 80)]).astype(float)
HOLED = np.where(RNG.random(TABLE.shape) < 0.25, np.nan, TABLE)
EMPTY = np.column_stack([HOLED, np.full(80, np.nan), np.full(80, np.nan)])
STEPS = [
    (Prepare(symbolic_columns=[1, 4]), HOLED),
    (Prepare(symbolic_columns=[1, 4], impute=False), HOLED),
    (Prepare(symbolic_columns=[0, 1, 2, 3, 4]), np.round(HOLED)),
    (Prepare(symbolic_columns=[1, 4, 6]), EMPTY),
    (Prepare(), EMPTY),
    (Prepare(encode=False), HOLED),
    (Prepare(impute=False), HOLED),
    (Passthrough(), HOLED),
    (Columns(kind="numeric", symbolic_columns=[1, 4]), HOLED),
    (Columns(kind="symbolic", symbolic_columns=[1, 4]), HOLED),
    (TableColumns(columns=[1, 3, 4]), HOLED),
    (KeepFeatures(features=[True, False, True, False, True]), HOLED),
    (KeepFeatures(), HOLED),
]


def made(step: Any) -> Any:
    """The transformer of scikit-learn that stands for a block, as the code makes it."""
    code = EstimatorCode()
    names: dict[str, Any] = {}
    expression = public_form(code, step, 0).text
    text = f"{code.imports().text}\nstep = {expression}\n"
    assert "msl" not in text
    exec(text, names)
    return names["step"]


@pytest.mark.parametrize(("step", "rows"), STEPS)
def test_the_public_form_does_the_same(step: Any, rows: np.ndarray[Any, Any]) -> None:
    y = np.arange(80) % 2
    step.fit_arrays(rows, y, 2)
    assert has_public_form(step)
    public = make_pipeline(made(step))
    assert np.array_equal(public.fit_transform(rows, y), step.transform_arrays(rows), equal_nan=True)
    new = rows[::-1].copy()
    new[::7, 1] = 17.0  # a symbol that the training rows do not have
    assert np.array_equal(public.transform(new), step.transform_arrays(new), equal_nan=True)
    beside = make_union(made(step), made(step)).fit(rows, y).transform(new)
    assert np.array_equal(beside, np.hstack([step.transform_arrays(new)] * 2), equal_nan=True)


def test_what_only_ours_can_do_has_no_public_form() -> None:
    y = np.arange(80) % 2
    many = Prepare(symbolic_columns=[0])
    rows = np.arange(MOST_COLUMNS + 5, dtype=float)[:, None]
    many.fit_arrays(rows, np.arange(len(rows)) % 2, 2)
    in_place = Prepare(symbolic_columns=[1, 4], encode=False)
    in_place.fit_arrays(HOLED, y, 2)
    assert not has_public_form(many)
    assert not has_public_form(in_place)


def test_columns_with_steps_of_their_own_are_a_column_transformer_by_name() -> None:
    text = (
        "(on [a, c] (impute(strategy = mean, keep_empty_features = true) >> max_abs)"
        " & on rest (none)) >> logistic(C = 1, class_weight = none, max_iter = 2000)"
    )
    model, _ = text_to_model(text, Source("spec.msl", "use sklearn"))
    assert model is not None
    names, y = ("a", "b", "c"), (NUMBERS[:, 0] > 0).astype(int)
    chain = model_to_chain(model, "classification", 0, (), ColumnKinds(3, names=names))
    chain.fit_arrays(NUMBERS, y, 2)
    ranges = np.column_stack([NUMBERS.min(axis=0), NUMBERS.max(axis=0)])
    code = export_python(Exportable("t", text, chain, names, {}, "y", ("no", "yes"), (), ",", ranges))
    assert "make_column_transformer(" in code
    assert "COLUMNS.index(each) for each in ['a', 'c']" in code
    assert "msl" not in code.split("import numpy", 1)[1].split("def make_model", 1)[0]
    made: dict[str, Any] = {"__name__": "exported"}
    exec(code, made)
    public = made["make_model"]().fit(NUMBERS, y)
    np.testing.assert_allclose(public.predict_proba(NUMBERS), chain.outputs(NUMBERS), rtol=1e-9)
