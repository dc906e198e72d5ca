"""`ModelSearch`, a model search as a scikit-learn estimator: `fit` searches, `predict` uses the best model."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    assert_all_finite,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from msl.api import executor_choice
from msl.blocks.base.row_weights import without_weights
from msl.data.assemble import checked_weights
from msl.data.options import DataOptions
from msl.data.read import read_like, read_table
from msl.data.table import Table
from msl.data.target import spell_label
from msl.diagnostics.user_error import UserError
from msl.export.plain_estimator import best_estimator
from msl.runner.plan import learners_without_weights, make_plan
from msl.runner.search_results import ObjectiveScorer, as_score, best_index, cv_results
from msl.runner.session import Result, RunRequest, run_plan
from msl.runner.spec_source import checked_spec, declared_task, read_spec, statement_to_options, with_seed
from msl.space.spec import Spec

Floats = NDArray[np.float64]
_TASKS = ("classification", "regression")


def _has_classes(search: ModelSearch) -> bool:
    """Whether `predict_proba` is available."""
    if search._task() == "regression":
        raise AttributeError("a search for regression has no predict_proba")
    return True


class ModelSearch(BaseEstimator):
    """Searches the space of a spec for the best model of the rows it is fitted on, and predicts with it.

    Parameters
    ----------
    spec : str or Path
        A path that ends in `.msl`, or the text of a spec.
    task : "classification", "regression" or None
        Overrides the spec; None means the task of the spec, or that of the target.
    seed : int or None
        Instead of the spec's.
    jobs : int
        Worker processes. With 1 everything happens in this process, unless evaluations have limits
        (`budget(each = …, memory = …)`), which only another process can keep.
    store : str, Path or None
        A folder that keeps evaluations, so that fitting again on the same rows reuses them; None forgets them.
    chain : str or None
        Which chain, where the spec has several.
    trusted : collection of str
        Packages whose classes may be imported, beside msl and scikit-learn.

    Attributes
    ----------
    best_estimator_ : estimator
        The winner, fitted on every row, for rows as `fit` takes them: a plain pipeline of scikit-learn if its classes
        are scikit-learn's (or those of another package) and it predicts the same; else with classes of `msl`.
    best_model_, best_params_ : str, dict
        The best model as MSL, and its parameters by block, as in `logistic.C`.
    best_score_, best_index_ : float, int
        The score of the best model, by the first objective, and its row in `cv_results_`.
    cv_results_ : dict of arrays
        A row for each evaluation: its model, parameters, score and rank, as in GridSearchCV.
    scorer_ : callable
        `scorer_(estimator, X, y)` gives the score of other rows, as `score` does.
    refit_time_ : float
        The seconds that `best_estimator_` took.
    objectives_ : dict
        The estimates of the best model.
    summary_ : dict
        The record of the search, as `msl run --json` prints it.
    evaluations_ : polars.DataFrame
        A row for each model that was evaluated.
    trained_ : Trained
        The best model, or the ensemble, fitted on every row.
    classes_ : ndarray
        The labels, sorted; only for classification.
    n_features_in_, feature_names_in_ :
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from msl import ModelSearch
    >>> X, y = load_iris(return_X_y=True)
    >>> search = ModelSearch("use clop chain m = zarbi | naive search random(evaluations = 2)")
    >>> search.fit(X, y).best_model_
    'naive'
    """

    def __init__(
        self,
        spec: str | Path,
        *,
        task: str | None = None,
        seed: int | None = None,
        jobs: int = 1,
        store: str | Path | None = None,
        chain: str | None = None,
        trusted: Collection[str] = (),
    ) -> None:
        self.spec = spec
        self.task = task
        self.seed = seed
        self.jobs = jobs
        self.store = store
        self.chain = chain
        self.trusted = trusted

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Self:
        """Searches; `X` is an array of numbers, or a frame of polars or pandas that may hold symbols too.

        Rows of one of the `groups` are never on both sides of a split, as with `data(groups = …)`. `sample_weight`
        says how much each row counts, in fits and in metrics, as `data(weight = …)` does.
        """
        if self.task not in (None, *_TASKS):
            raise UserError(f"task must be classification, regression or None; got {self.task!r}")
        executor_choice(self.jobs)  # refuses what is no number of processes before anything else is done
        source = with_seed(read_spec(self.spec), self.seed)
        spec, _ = checked_spec(source, chain=self.chain)
        rows, target = self._training(X, y)
        options = self._options(statement_to_options(spec.data), rows)
        table = self._table(rows, target, options, declared_task(spec))
        if groups is not None:
            table = _with_groups(table, groups)
        if sample_weight is not None:
            table = _with_weights(table, sample_weight)
        spec, checked = checked_spec(source, table.facts, self.chain)
        request = RunRequest(make_plan(spec, table, tuple(self.trusted)), source, checked.sources, chain=self.chain)
        if table.weights is not None and (
            names := learners_without_weights(spec.space, table.task, tuple(self.trusted))
        ):
            warnings.warn(without_weights(*names), UserWarning, stacklevel=2)
        where, workers = executor_choice(self.jobs, budget=spec.budget)
        with tempfile.TemporaryDirectory() as forgotten:
            folder = Path(forgotten if self.store is None else self.store)
            result = run_plan(request, folder, on=where, workers=workers)
        self.task_ = table.task
        self.best_model_ = result.best
        self.objectives_ = dict(result.objectives)
        self.summary_ = dict(result.summary)
        self.evaluations_ = pl.DataFrame(list(result.evaluations), infer_schema_length=None)
        self.trained_ = result.trained
        self._describe(result, spec)
        start = perf_counter()
        weights, columns = table.weights, self._columns
        self.best_estimator_ = best_estimator(
            result.trained, rows, target, weights, self._labels(), columns, self.predict
        )
        self.refit_time_ = perf_counter() - start
        return self

    def _describe(self, result: Result, spec: Spec) -> None:
        """What searches of scikit-learn say of themselves."""
        self.scorer_ = ObjectiveScorer(spec.objectives[0], self._labels())
        self.multimetric_ = len(spec.objectives) > 1
        self.cv_results_ = cv_results(result, spec.objectives)
        self.best_index_ = best_index(result, self.cv_results_)
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = as_score(spec.objectives[0], next(iter(result.objectives.values())))

    def _labels(self) -> NDArray[Any] | None:
        """The labels in the order of the codes of the model; None for regression."""
        if self.task_ == "regression":
            return None
        labels: NDArray[Any] = self.classes_[self.trained_.labels().astype(np.intp)]
        return labels

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row, or its number."""
        check_is_fitted(self)
        predicted = self.trained_.predict(self._rows_like_training(X))
        return self.classes_[predicted.astype(np.intp)] if self.task_ == "classification" else predicted

    @available_if(_has_classes)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, in the order of `classes_`."""
        check_is_fitted(self)
        shares = self.trained_.predict_proba(self._rows_like_training(X))
        return shares[:, np.argsort(self.trained_.labels().astype(np.intp))]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The first objective as scikit-learn scores: larger is better.

        That is balanced accuracy for `ber`, which is the default, accuracy for `error`, a maximised metric as it is,
        and any other minimised one with a minus, as in `neg_log_loss`.
        """
        check_is_fitted(self)
        return self.scorer_(self, X, y, sample_weight)

    # --- rows ---

    def _training(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """The rows, validated, and the target as one column."""
        if y is None:
            raise UserError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        self._columns: list[str] | None = None  # also those that scikit-learn does not take for names, as numbers
        if _is_frame(X):
            rows, self._columns = X, [str(name) for name in X.columns]
            if twice := sorted({name for name in self._columns if self._columns.count(name) > 1}):
                raise UserError(f"several columns are called {', '.join(twice)}; give each a name of its own")
            validate_data(self, X, skip_check_array=True)
        else:
            with _words_told():
                rows = validate_data(
                    self, X, dtype=np.float64, order="C", ensure_all_finite="allow-nan", ensure_min_samples=2
                )
        target = column_or_1d(y, warn=True)
        if target.dtype.kind == "f":
            assert_all_finite(target, input_name="y")
        missing = [place for place, label in enumerate(target.tolist()) if label is None or label != label]
        if missing:
            raise UserError(f"y is missing in row {missing[0] + 1}", "leave out the rows whose target is not known")
        check_consistent_length(rows, target)
        return rows, target

    def _options(self, options: DataOptions, rows: Any) -> DataOptions:
        """How the table is read: the target is given apart, under a name that no column has."""
        names = {str(name) for name in rows.columns} if _is_frame(rows) else set()
        target = options.target or "y"
        while target in names:
            target += "_"
        return replace(options, target=target)

    def _table(self, rows: Any, target: NDArray[Any], options: DataOptions, declared: str | None) -> Table:
        task = self.task or declared or read_table(rows, target, options=options).task
        if task == "regression":
            return read_table(rows, np.asarray(target, dtype=np.float64), options=replace(options, task="regression"))
        check_classification_targets(target)
        self.classes_, codes = np.unique(target, return_inverse=True)
        if len(self.classes_) < 2:
            raise UserError(f"{type(self).__name__} needs at least two classes; the target has only one class")
        positive = None if options.positive is None else self._code_of(options.positive)
        return read_table(rows, codes, options=replace(options, task="classification", positive=positive))

    def _code_of(self, positive: Any) -> int:
        spelt = [spell_label(label) for label in self.classes_.tolist()]
        if spell_label(positive) not in spelt:
            raise UserError(f"positive = {positive} is not a class of the target; the classes are {', '.join(spelt)}")
        return spelt.index(spell_label(positive))

    def _rows_like_training(self, X: Any) -> Table:
        schema = self.trained_.schema
        if _is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            self._in_order([str(name) for name in X.columns])
            table = read_like(schema, X)
        else:
            rows = validate_data(self, X, dtype=np.float64, order="C", ensure_all_finite="allow-nan", reset=False)
            table = read_like(schema, rows, names=getattr(self, "_columns", None))
        for odd in table.warnings:
            if odd.code == "MSL471":
                warnings.warn(odd.message, UserWarning, stacklevel=3)
        return table

    def _in_order(self, names: list[str]) -> None:
        """Checks the order of columns as scikit-learn does, also for frames that it does not know."""
        known = getattr(self, "_columns", None)
        if known is not None and names != known and sorted(names) == sorted(known):
            raise UserError("the feature names should match those of the fit, and be in the same order")

    # --- the interface of scikit-learn ---

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "trained_")

    def _task(self) -> str | None:
        """The task as far as it is known; before a fit, from the parameters alone."""
        known = getattr(self, "task_", None) or self.task
        return known if known in _TASKS else _task_of_spec(str(self.spec), self.chain)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        match self._task():
            case "classification":
                tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
            case "regression":
                tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags


@contextmanager
def _words_told() -> Iterator[None]:
    """Says what to do with words in an array, which has no names for its columns."""
    try:
        yield
    except ValueError as reason:
        if "could not convert string to float" not in str(reason):
            raise
        help = "pass a data frame of pandas or polars: its columns may hold words"
        raise UserError(f"X is an array with words ({reason})", help) from None


def _is_frame(X: Any) -> bool:
    return isinstance(X, pl.DataFrame) or (hasattr(X, "iloc") and hasattr(X, "columns"))


@lru_cache(maxsize=32)
def _task_of_spec(spec: str, chain: str | None) -> str | None:
    """The task of a spec; None also for one with errors, which `fit` reports."""
    try:
        return declared_task(checked_spec(read_spec(spec), chain=chain)[0])
    except UserError:
        return None


def _with_groups(table: Table, groups: Any) -> Table:
    """The table with the group of each row, numbered by first appearance as those of a column are."""
    options = table.schema.options
    named = next((name for name in ("groups", "fold") if getattr(options, name) is not None), None)
    if named is not None:
        raise UserError(f"groups are given, and the spec says `{named}` in `data(…)`", "leave one of them out")
    names = np.asarray(groups)
    if names.shape != (len(table),):
        raise UserError(f"groups must have one value for each of the {len(table)} rows; got the shape {names.shape}")
    is_missing = [name is None or name != name for name in names.tolist()]
    if any(is_missing):
        raise UserError(f"the group of row {is_missing.index(True) + 1} is missing", "give each row a group")
    _, first, codes = np.unique(names, return_index=True, return_inverse=True)
    return replace(table, groups=np.argsort(np.argsort(first))[codes].astype(np.intp))


def _with_weights(table: Table, weights: Any) -> Table:
    """The table with a weight for each row. It counts as read with a column of them, which tables to learn the model
    from again, as exported code does, then have to have."""
    options = table.schema.options
    if options.weight is not None:
        raise UserError("sample_weight is given, and the spec says `weight` in `data(…)`", "leave one of them out")
    found = np.asarray(weights)
    if found.ndim == 0:
        found = np.full(len(table), found)
    if found.shape != (len(table),) or found.dtype.kind not in "biuf":
        got = f"the shape {found.shape}" if found.dtype.kind in "biuf" else f"values of the type {found.dtype}"
        raise UserError(f"sample_weight must have one number for each of the {len(table)} rows; got {got}")
    name = "sample_weight"
    while name in table.source_names:
        name += "_"
    schema = replace(table.schema, options=replace(options, weight=name))
    return replace(table, schema=schema, weights=checked_weights(found))
