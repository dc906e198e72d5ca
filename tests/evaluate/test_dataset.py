"""What the evaluator gets from a table: rows, target, groups and kinds of columns."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from evaluation_cases import evaluator, only_model

from msl.blocks.base.build import ColumnKinds
from msl.data.options import DataOptions
from msl.data.read import read_like, read_table
from msl.evaluate.dataset import Dataset


def frame(rows: int = 60) -> pl.DataFrame:
    draw = np.random.default_rng(0)
    y = np.arange(rows) % 2
    return pl.DataFrame(
        {
            "a": draw.normal(size=rows) + y,
            "b": [None, *draw.normal(size=rows - 1)],
            "colour": np.array(["red", "blue"])[draw.integers(0, 2, rows)],
            "patient": np.repeat(np.arange(rows // 4), 4),
            "day": np.arange(rows) // 2,
            "class": np.array(["ill", "well"])[y],
        }
    )


def test_columns_classes_groups_and_order():
    table = read_table(frame(), options=DataOptions(groups="patient", order="day"))
    dataset = Dataset.of(table)
    symbols = (), (), ("blue", "red")
    assert dataset.columns == ColumnKinds(3, (2,), (1,), names=("a", "b", "colour"), symbols=symbols)
    assert (dataset.n_classes, dataset.task) == (2, "classification")
    assert np.array_equal(dataset.population.classes, dataset.y)
    assert np.array_equal(dataset.population.groups, np.repeat(np.arange(15), 4))
    assert np.array_equal(np.unique(dataset.population.order), np.arange(30))


def test_groups_and_order_decide_the_folds():
    model = "use clop\nchain c = zarbi"
    for options, check in ((DataOptions(groups="patient"), "groups"), (DataOptions(order="day"), "order")):
        dataset = Dataset.of(read_table(frame(), options=options))
        judge = evaluator("minimize ber by cv(folds = 3)", dataset)
        trials = judge._losses._resamplings
        for split in trials.resampling(trials.estimates[0], 0, 1.0, 0).splits:
            values = getattr(dataset.population, check)
            if check == "groups":
                assert not set(values[split.train]) & set(values[split.test])
            else:
                assert values[split.train].max() < values[split.test].min()
        assert judge.evaluate(only_model(model, dataset)).failure is None


def test_what_the_table_cannot_give_is_told_at_once():
    dataset = Dataset.of(read_table(frame(), options=DataOptions(order="day")))
    with pytest.raises(ValueError, match="use `cv` or `holdout`"):
        evaluator("minimize ber by loo()", dataset)


def test_without_a_target_nothing_can_be_judged():
    table = read_table(frame())
    new = read_like(table.schema, frame().drop("class"))
    with pytest.raises(ValueError, match="target"):
        Dataset.of(new)


def test_numbers_have_no_classes():
    dataset = Dataset.of(read_table(frame().drop("class"), options=DataOptions(target="a")))
    assert (dataset.n_classes, dataset.task) == (0, "regression")
    assert dataset.population.classes is None
