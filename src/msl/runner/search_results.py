"""The result of a search in the form of scikit-learn's searches: scores, a table of models, and a scorer.

Scores are larger for better models, as scikit-learn has them: a metric that is minimised counts with a minus, and an
error rate as the accuracy that is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from msl.blocks.base.block import Floats
from msl.blocks.base.recipes import flat_parameters
from msl.check.names.scoring_declarations import DEFAULT_METRICS, metric_named
from msl.diagnostics.user_error import UserError
from msl.evaluate.metrics import score
from msl.runner.session import Result
from msl.space.spec import Combined, Loss, Measured, Objective, loss_value, metrics_of
from msl.space.values import BlockValue, Branches, Model, PipelineValue, Step

#: Error rates, and what is left of them.
_RIGHT = {"error": "accuracy", "ber": "balanced_accuracy"}


def score_name(objective: Objective) -> str:
    """What a score is called: `accuracy`, `neg_logloss`."""
    if objective.minimize:
        return _RIGHT.get(objective.text, f"neg_{objective.text}")
    return objective.text


def as_score(objective: Objective, value: float) -> float:
    """The value of an objective as a score."""
    if not objective.minimize:
        return value
    return 1.0 - value if objective.text in _RIGHT else -value


# --- the table of models ----------------------------------------------------------------------------------------------


def cv_results(result: Result, objectives: Sequence[Objective]) -> dict[str, Any]:
    """A row for each evaluation, as `cv_results_` of GridSearchCV: the columns are arrays, the parameters dictionaries.

    What has no score (a model that failed, or one that was not evaluated to its end because it could not win) has NaN
    and the last rank.
    """
    rows, params = result.evaluations, [model_parameters(model) for model in result.models]
    scores = {
        name: np.array(
            [np.nan if row[name] is None else as_score(objective, row[name]) for row in rows], dtype=np.float64
        )
        for name, objective in zip(result.objectives, objectives, strict=True)
    }
    first = next(iter(scores.values()))
    found: dict[str, Any] = {
        "model": np.array([row["model"] for row in rows], dtype=object),
        "params": params,
        **{f"param_{name}": _column(params, name) for name in sorted({name for one in params for name in one})},
        "mean_test_score": first,
        "rank_test_score": _ranks(first),
    }
    if len(scores) > 1:
        found |= {f"mean_test_{score_name(one)}": scores[name] for name, one in zip(scores, objectives, strict=True)}
    for name in ("complexity", "seconds", "share"):
        found[name] = np.array([np.nan if row[name] is None else row[name] for row in rows], dtype=np.float64)
    found["failure"] = np.array([row["failure"] for row in rows], dtype=object)
    return found


def best_index(result: Result, results: Mapping[str, Any]) -> int:
    """The row of the best model; of several evaluations of it, the one with the best score."""
    own = np.flatnonzero(results["model"] == result.best)
    ranks = results["rank_test_score"]
    return int(own[ranks[own].argmin()]) if len(own) else int(ranks.argmin())


def _ranks(scores: Floats) -> NDArray[np.int32]:
    """1 for the best; equal scores share the better rank, and what has no score the last one."""
    losses = np.where(np.isnan(scores), np.inf, -scores)
    return np.array([1 + int((losses < own).sum()) for own in losses], dtype=np.int32)


def _column(params: Sequence[Mapping[str, Any]], name: str) -> Any:
    column = np.ma.MaskedArray(np.empty(len(params), dtype=object), mask=True)
    for place, given in enumerate(params):
        if name in given:
            column[place] = given[name]
    return column


def model_parameters(model: Model) -> dict[str, Any]:
    """The parameters of all blocks of a model, as `svc.gamma`; a second block of one name has a number, `pca_2`."""
    found: dict[str, Any] = {}
    counts: dict[str, int] = {}
    for block in _blocks(model.steps):
        name = block.block.name
        counts[name] = counts.get(name, 0) + 1
        label = name if counts[name] == 1 else f"{name}_{counts[name]}"
        for parameter, value in flat_parameters(block).items():
            found[f"{label}.{parameter}"] = _shown(value)
    return found


def _blocks(steps: Sequence[Step]) -> Iterator[BlockValue]:
    for step in steps:
        if isinstance(step, Branches):
            for branch in step.branches:
                yield from _blocks(branch)
            continue
        yield step
        for _, value in step.params:
            yield from _inside(value)


def _inside(value: Any) -> Iterator[BlockValue]:
    if isinstance(value, BlockValue):
        yield from _blocks((value,))
    elif isinstance(value, PipelineValue):
        yield from _blocks(value.steps)
    elif isinstance(value, tuple):
        for one in value:
            yield from _inside(one)


def _shown(value: Any) -> Any:
    """A value of a parameter; a block in it by its name, since its parameters have rows of their own."""
    if isinstance(value, BlockValue):
        return value.block.name
    if isinstance(value, PipelineValue):
        return " >> ".join("(…)" if isinstance(step, Branches) else step.block.name for step in value.steps)
    return tuple(map(_shown, value)) if isinstance(value, tuple) else value


# --- the scorer -------------------------------------------------------------------------------------------------------


class ObjectiveScorer:
    """Scores a fitted estimator as the search scored its models: `scorer(estimator, X, y, sample_weight=None)`.

    The first objective counts. Metrics of the model itself, and those that compare it with another model, say nothing
    of rows: of an objective with such a metric the default metric of the task takes the place.
    """

    def __init__(self, objective: Objective, classes: NDArray[Any] | None) -> None:
        """`classes` are the labels in the order of their codes: of two, the positive one is the last."""
        loss = objective.loss
        if any(metric.of_model or metric.relative_to is not None for metric in metrics_of(loss)):
            name = DEFAULT_METRICS["regression" if classes is None else "classification"]
            loss = Measured(name, metric_named(name))
            objective = Objective(name, loss, objective.estimate, minimize=True)
        self.objective, self.loss, self.classes = objective, _on_test(loss), classes

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        truth = np.asarray(y)
        if self.classes is None:
            outputs, codes = np.asarray(estimator.predict(X), dtype=np.float64), truth.astype(np.float64)
        else:
            outputs, codes = self._of_classes(_class_scores(estimator, X, self.classes), truth)
        if len(codes) != len(outputs):
            raise UserError(f"X has {len(outputs)} rows, and y {len(codes)}")
        values = {metric.name: score(metric, codes, outputs, weights) for metric in metrics_of(self.loss)}
        return as_score(self.objective, loss_value(self.loss, values))

    def _of_classes(self, outputs: Floats, truth: NDArray[Any]) -> tuple[Floats, NDArray[Any]]:
        """The outputs and the codes of the true classes; one that the search has not seen is never predicted."""
        assert self.classes is not None
        labels = self.classes.tolist()
        unseen = [label for label in np.unique(truth).tolist() if label not in labels]
        places = {label: place for place, label in enumerate([*labels, *unseen])}
        codes: NDArray[Any] = np.array([places[label] for label in truth.tolist()], dtype=np.intp)
        return np.hstack([outputs, np.zeros((len(outputs), len(unseen)))]), codes

    def __repr__(self) -> str:
        return f"<scorer: {score_name(self.objective)}>"


def _class_scores(estimator: Any, X: Any, classes: NDArray[Any]) -> Floats:
    """A score for each row and class, never below zero, the largest of which is the prediction."""
    known = np.asarray(estimator.classes_).tolist()
    if hasattr(estimator, "predict_proba"):
        shares = np.asarray(estimator.predict_proba(X), dtype=np.float64)
        return np.column_stack(
            [shares[:, known.index(label)] if label in known else np.zeros(len(shares)) for label in classes.tolist()]
        )
    said = np.asarray(estimator.predict(X))
    return np.column_stack([(said == label).astype(np.float64) for label in classes.tolist()])


def _on_test(loss: Loss) -> Loss:
    """The loss with the metrics that score other rows than those of the search."""
    match loss:
        case Measured(metric=metric) if metric.on_test is not None:
            return Measured(metric.on_test, metric_named(metric.on_test))
        case Combined(operation=operation, operands=operands):
            return Combined(operation, tuple(map(_on_test, operands)))
    return loss
