"""Baselines: what a user gets from scikit-learn without a search of models, tuned by a small grid or not at all."""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np
import polars as pl
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from benchmarks.datasets import TARGET, Split
from benchmarks.trial import balanced_error, error_rate

BASELINES = ("svm", "forest", "untuned svm", "boosting")


def try_baseline(name: str, split: Split, seed: int) -> dict[str, Any]:
    """One of the baselines fitted on the training rows and judged on the test rows."""
    start = process_time()
    X, y = split.train.drop(TARGET), split.train[TARGET].cast(pl.String).to_numpy()
    smallest = int(np.unique(y, return_counts=True)[1].min())
    model = _model(name, X, seed, smallest).fit(X, y)
    predicted = model.predict(split.test.drop(TARGET)).tolist()
    truth = split.test[TARGET].to_list()
    return {
        "ber": balanced_error(truth, predicted),
        "error": error_rate(truth, predicted),
        "cpu": round(process_time() - start, 2),
        "origin": split.origin,
    }


def prepared(model: Any, X: pl.DataFrame) -> Any:
    """A learner behind what a mixed table needs: gaps filled, numbers scaled, symbols as indicators."""
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    symbols = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    numeric = [name for name, kind in X.schema.items() if kind.is_numeric()]
    symbolic = [name for name in X.columns if name not in numeric]
    columns = make_column_transformer((numbers, numeric), (symbols, symbolic), sparse_threshold=0)
    return make_pipeline(columns, model)


def _model(name: str, X: pl.DataFrame, seed: int, smallest_class: int) -> Any:
    match name:
        case "svm":
            grid = {"svc__C": [0.1, 1, 10, 100, 1000], "svc__gamma": np.logspace(-4, 1, 6)}
            folds = StratifiedKFold(max(2, min(5, smallest_class)), shuffle=True, random_state=seed)
            model = prepared(SVC(class_weight="balanced", random_state=seed), X)
            return GridSearchCV(model, grid, scoring="balanced_accuracy", cv=folds)
        case "untuned svm":
            return prepared(SVC(class_weight="balanced", random_state=seed), X)
        case "forest":
            return prepared(RandomForestClassifier(500, class_weight="balanced_subsample", random_state=seed), X)
        case "boosting":
            return prepared(HistGradientBoostingClassifier(class_weight="balanced", random_state=seed), X)
    raise ValueError(f"no baseline is called {name}")
