"""Blocks of one's own that get the columns as they are: words and names, in the folds and for new tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import msl
from msl.blocks.base.build import adapt_model
from msl.blocks.base.load import BlockProblem
from msl.check.read_models import text_to_model
from msl.data.options import DataOptions
from msl.data.read import read_table
from msl.diagnostics.source import Source
from msl.evaluate.dataset import Dataset
from msl.space.values import Model

MODULE = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin


class Lengths(TransformerMixin, BaseEstimator):
    takes_frame = "FRAME"

    def __init__(self, column="title"):
        self.column = column

    def fit(self, X, y=None):
        assert type(X).__module__.startswith("FRAME"), type(X)
        self.columns_ = list(X.columns)
        return self

    def transform(self, X):
        assert list(X.columns) == self.columns_
        words = X[self.column].to_list() if "FRAME" == "polars" else X[self.column].tolist()
        return np.array([[len(word) if isinstance(word, str) else 0.0] for word in words])


class ByTitle(ClassifierMixin, BaseEstimator):
    takes_frame = "FRAME"

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.weighed_ = sample_weight is not None
        known = {}
        for word, label in zip(X["title"], y):
            known.setdefault(word, []).append(label)
        self.known_ = {word: float(np.mean(labels)) for word, labels in known.items() if isinstance(word, str)}
        return self

    def predict_proba(self, X):
        second = np.array([self.known_.get(word, 0.5) for word in X["title"]])
        return np.column_stack([1.0 - second, second])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
"""
SPEC = """use sklearn
data(target = kind)
block lengths: selector "NAME:Lengths" { column = title }
block by_title: learner for classification "NAME:ByTitle" {}
chain m = CHAIN
minimize error by cv(folds = 3)
search grid(evaluations = 2)
"""


def table() -> pd.DataFrame:
    draw = np.random.default_rng(0)
    titles = draw.choice(np.array(["Mr", "Mrs", "Master", None], dtype=object), 90)
    kind = ["long" if word is None or len(word) > 2 else "short" for word in titles]
    return pd.DataFrame(
        {"title": titles, "age": draw.normal(size=90), "town": draw.choice(["A", "B"], 90), "kind": kind}
    )


def searched(folder: Path, monkeypatch: pytest.MonkeyPatch, chain: str, frame: str, **given: Any) -> Any:
    name = f"words_{frame}"
    (folder / f"{name}.py").write_text(MODULE.replace("FRAME", frame))
    monkeypatch.syspath_prepend(folder)
    spec = SPEC.replace("NAME", name).replace("CHAIN", chain)
    store = folder / "store"
    result = msl.run(spec, table(), store=store, trusted=[name], **given)
    return result, msl.load_model(store=store, trusted=[name])


@pytest.mark.parametrize(
    ("chain", "frame"),
    [
        ("(on [title] (lengths) & on rest (one_hot(rest = default))) >> decision_tree(rest = default)", "pandas"),
        ("columns(symbolic) >> by_title", "polars"),
    ],
)
def test_a_block_gets_names_and_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chain: str, frame: str) -> None:
    result, loaded = searched(tmp_path, monkeypatch, chain, frame)
    assert result.objectives["error"] == 0.0
    rows = pd.DataFrame({"title": ["Mrs", "Mr", "Dr", None], "age": 0.0, "town": "A"})
    for trained in (result.trained, loaded):
        assert trained.predict(trained.read(rows, with_target=False)).tolist()[:2] == ["long", "short"]


def adapted(folder: Path, monkeypatch: pytest.MonkeyPatch, chain: str, frame: str) -> Model:
    name = f"words_{frame}"
    (folder / f"{name}.py").write_text(MODULE.replace("FRAME", frame))
    monkeypatch.syspath_prepend(folder)
    source = Source("spec.msl", SPEC.replace("NAME", name).replace("CHAIN", chain))
    model, problems = text_to_model(chain, source)
    assert model is not None, problems
    read = read_table(table(), options=DataOptions(target="kind"))
    return adapt_model(model, Dataset.of(read).columns, "classification", [name])


def test_a_block_behind_others_has_nothing_of_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BlockProblem, match="takes the columns as they are in the table, and a step before it changes"):
        adapted(tmp_path, monkeypatch, "standard_scaler(rest = default) >> by_title", "pandas")
    assert adapted(tmp_path, monkeypatch, "passthrough >> by_title", "pandas")


def test_there_are_two_kinds_of_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BlockProblem, match="says `takes_frame = 'spark'`"):
        adapted(tmp_path, monkeypatch, "by_title", "spark")
