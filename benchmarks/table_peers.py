"""Table peers: what people use on a table instead of MSL, as it comes. Run as a script, also by the interpreter of
another environment, so that it imports nothing of this project:

python table_peers.py METHOD FOLDER TARGET TASK SECONDS SEED

TASK is `classification` (two classes), `regression`, or `reported`: then a peer is asked for labels of any classes, and
for the balanced error rate that it reports of its own final model, which reported.csv holds.

FOLDER has train.csv, test.csv and columns.json, the kind of each feature (`number` or `symbol`). A peer writes
outputs.csv there, one number for each test row: the probability of the second class (in sorted order), or the predicted
number; and labels.csv, its classes, if it gives them.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: No more symbols of a column than scikit-learn's boosting takes as categories; the rarest share one.
_MOST_SYMBOLS = 250


def main(method: str, folder: str, target: str, task: str, seconds: str, seed: str) -> None:
    place = Path(folder)
    kinds = json.loads((place / "columns.json").read_text())
    if task == "reported":
        labels, error = REPORTING[method](place, target, kinds, float(seconds), int(seed))
        _write(place / "labels.csv", [str(one) for one in labels])
        _write(place / "reported.csv", [float(error)])
        return
    fitting = PEERS[method]
    outputs, labels = fitting(place, target, task == "classification", kinds, float(seconds), int(seed))
    _write(place / "outputs.csv", [float(one) for one in outputs])
    if labels is not None:
        _write(place / "labels.csv", [str(one) for one in labels])


def _write(path: Path, values: list[Any]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([one] for one in values)


def _frames(folder: Path, target: str, kinds: dict[str, str]) -> tuple[Any, Any, Any]:
    """Training and test features and the training target as pandas has them; symbols are text."""
    import pandas as pd

    types = {name: "object" for name, kind in kinds.items() if kind == "symbol"}
    train, test = (pd.read_csv(folder / f"{name}.csv", dtype=types) for name in ("train", "test"))
    return train.drop(columns=target), test.drop(columns=target), train[target]


def _coded(folder: Path, target: str, kinds: dict[str, str]) -> tuple[Any, Any, Any, list[int]]:
    """Training and test features as numbers, the training target, and the places of the columns with codes."""
    import numpy as np
    from sklearn.preprocessing import OrdinalEncoder

    train, test, y = _frames(folder, target, kinds)
    places = [place for place, name in enumerate(train.columns) if kinds[name] == "symbol"]
    names = [train.columns[place] for place in places]
    if names:
        encoder = OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=_MOST_SYMBOLS, dtype=np.float64
        ).fit(train[names])
        for each in (train, test):
            each[names] = encoder.transform(each[names])
    return train.to_numpy(np.float64), test.to_numpy(np.float64), y, places


def _fitted(model: Any, train: Any, test: Any, y: Any, is_classes: bool, **more: Any) -> tuple[Any, Any]:
    model.fit(train, y.astype(str).to_numpy() if is_classes else y.to_numpy(), **more)
    if not is_classes:
        return model.predict(test), None
    return model.predict_proba(test)[:, 1], model.predict(test)


def _hist(
    folder: Path, target: str, is_classes: bool, kinds: dict[str, str], seed: int, weight: str | None
) -> tuple[Any, Any]:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    train, test, y, places = _coded(folder, target, kinds)
    options: dict[str, Any] = {"categorical_features": places, "random_state": seed}
    model = (
        HistGradientBoostingClassifier(class_weight=weight, **options)
        if is_classes
        else HistGradientBoostingRegressor(**options)
    )
    return _fitted(model, train, test, y, is_classes)


def hist(folder: Path, target: str, is_classes: bool, kinds: dict[str, str], time: float, seed: int) -> Any:
    return _hist(folder, target, is_classes, kinds, seed, None)


def hist_balanced(folder: Path, target: str, is_classes: bool, kinds: dict[str, str], time: float, seed: int) -> Any:
    return _hist(folder, target, is_classes, kinds, seed, "balanced")


def lightgbm(folder: Path, target: str, is_classes: bool, kinds: dict[str, str], time: float, seed: int) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor  # type: ignore[import-not-found, unused-ignore]

    train, test, y, places = _coded(folder, target, kinds)
    model = (LGBMClassifier if is_classes else LGBMRegressor)(random_state=seed, verbosity=-1)
    return _fitted(model, train, test, y, is_classes, categorical_feature=places)


def flaml(folder: Path, target: str, is_classes: bool, kinds: dict[str, str], time: float, seed: int) -> Any:
    from flaml import AutoML  # type: ignore[import-not-found, unused-ignore]

    train, test, y = _frames(folder, target, kinds)
    names = [name for name, kind in kinds.items() if kind == "symbol"]
    for each in (train, test):
        each[names] = each[names].astype("category")
    model = AutoML(time_budget=time, metric="roc_auc" if is_classes else "rmse", seed=seed)
    more = {"task": "classification" if is_classes else "regression", "verbose": 0}
    return _fitted(model, train, test, y, is_classes, **more)


def autogluon(folder: Path, target: str, is_classes: bool, kinds: dict[str, str], time: float, seed: int) -> Any:
    from autogluon.tabular import TabularPredictor  # type: ignore[import-not-found, unused-ignore]

    train, test, y = _frames(folder, target, kinds)
    model = TabularPredictor(
        label=target,
        problem_type="binary" if is_classes else "regression",
        eval_metric="roc_auc" if is_classes else "root_mean_squared_error",
        path=str(folder / "autogluon"),
        verbosity=0,
    )
    model.fit(train.assign(**{target: y.astype(str) if is_classes else y}), time_limit=time)
    if not is_classes:
        return model.predict(test), None
    return model.predict_proba(test).iloc[:, 1], model.predict(test)


def h2o(folder: Path, target: str, is_classes: bool, kinds: dict[str, str], time: float, seed: int) -> Any:
    import h2o as server  # type: ignore[import-not-found, unused-ignore]
    from h2o.automl import H2OAutoML  # type: ignore[import-not-found, unused-ignore]

    train, test, y = _frames(folder, target, kinds)
    server.init(ip="127.0.0.1", bind_to_localhost=True, max_mem_size="3G")
    try:
        symbols = [name for name, kind in kinds.items() if kind == "symbol"]
        types = dict.fromkeys([*symbols, *([target] if is_classes else [])], "enum")
        rows = server.H2OFrame(train.assign(**{target: y}), column_types=types)
        model = H2OAutoML(max_runtime_secs=int(time), seed=seed, sort_metric="AUC" if is_classes else "RMSE")
        model.train(y=target, training_frame=rows)
        asked = server.H2OFrame(test, column_types=dict.fromkeys(symbols, "enum"))
        found = model.leader.predict(asked).as_data_frame()
        return (found.iloc[:, 2], found["predict"]) if is_classes else (found["predict"], None)
    finally:
        server.cluster().shutdown()


PEERS: dict[str, Callable[..., Any]] = {
    "hist": hist,
    "hist balanced": hist_balanced,
    "lightgbm": lightgbm,
    "flaml": flaml,
    "autogluon": autogluon,
    "h2o": h2o,
}


# --- the error that each reports of its own final model ---------------------------------------------------------------


def hist_reported(folder: Path, target: str, kinds: dict[str, str], time: float, seed: int) -> Any:
    """Boosting as it comes, by cross-validation: nothing was chosen."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    train, test, y, places = _coded(folder, target, kinds)
    model = HistGradientBoostingClassifier(categorical_features=places, random_state=seed)
    labels = y.astype(str).to_numpy()
    held_out = cross_val_predict(model, train, labels, cv=StratifiedKFold(5, shuffle=True, random_state=seed))
    return model.fit(train, labels).predict(test), 1.0 - balanced_accuracy_score(labels, held_out)


def flaml_reported(folder: Path, target: str, kinds: dict[str, str], time: float, seed: int) -> Any:
    from flaml import AutoML  # type: ignore[import-not-found, unused-ignore]
    from sklearn.metrics import balanced_accuracy_score

    def balanced_error(X_val: Any, y_val: Any, estimator: Any, labels: Any, X: Any, y: Any, *_: Any, **__: Any) -> Any:
        error = 1.0 - balanced_accuracy_score(y_val, estimator.predict(X_val))
        return error, {"error": error}

    train, test, y = _frames(folder, target, kinds)
    for each in (train, test):
        for name in (name for name, kind in kinds.items() if kind == "symbol"):
            each[name] = each[name].astype("category")
    model = AutoML(time_budget=time, metric=balanced_error, seed=seed)
    model.fit(train, y.astype(str).to_numpy(), task="classification", verbose=0)
    return model.predict(test), model.best_loss


def autogluon_reported(folder: Path, target: str, kinds: dict[str, str], time: float, seed: int) -> Any:
    from autogluon.tabular import TabularPredictor  # type: ignore[import-not-found, unused-ignore]

    train, test, y = _frames(folder, target, kinds)
    model = TabularPredictor(
        label=target, eval_metric="balanced_accuracy", path=str(folder / "autogluon"), verbosity=0
    ).fit(train.assign(**{target: y.astype(str)}), time_limit=time)
    told = model.leaderboard(silent=True).set_index("model")["score_val"]
    return model.predict(test), 1.0 - float(told[model.model_best])


def h2o_reported(folder: Path, target: str, kinds: dict[str, str], time: float, seed: int) -> Any:
    import h2o as server  # type: ignore[import-not-found, unused-ignore]
    from h2o.automl import H2OAutoML  # type: ignore[import-not-found, unused-ignore]

    train, test, y = _frames(folder, target, kinds)
    server.init(ip="127.0.0.1", bind_to_localhost=True, max_mem_size="3G")
    try:
        symbols = [name for name, kind in kinds.items() if kind == "symbol"]
        rows = server.H2OFrame(train.assign(**{target: y}), column_types=dict.fromkeys([*symbols, target], "enum"))
        model = H2OAutoML(max_runtime_secs=int(time), seed=seed, sort_metric="mean_per_class_error")
        model.train(y=target, training_frame=rows)
        found = model.leader.predict(server.H2OFrame(test, column_types=dict.fromkeys(symbols, "enum")))
        return found.as_data_frame()["predict"], model.leader.mean_per_class_error(xval=True)
    finally:
        server.cluster().shutdown()


REPORTING: dict[str, Callable[..., Any]] = {
    "hist": hist_reported,
    "flaml": flaml_reported,
    "autogluon": autogluon_reported,
    "h2o": h2o_reported,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
