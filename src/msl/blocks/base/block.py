"""The bases of all blocks: scikit-learn estimators whose work happens on plain arrays.

`fit` validates, turns classes into codes and hands over to `fit_arrays`. The evaluator has validated once for the whole
search and calls `fit_arrays`, `transform_arrays` and `outputs` itself; both ways give the same numbers.

A block shares work with its siblings (the same block with other parameters, on the same rows) by splitting its fit:
`prepare` does what depends only on the rows and on `shared_parameters`, `fit_prepared` does the rest. A learner that
can also share work between predictions splits `outputs` in the same way: `prepare_query` and `outputs_prepared`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils._param_validation import StrOptions, validate_parameter_constraints
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from msl.diagnostics.user_error import UserError

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """What a learner says of each row when it is fitted on all the others, and the means over those fits."""

    outputs: Floats
    complexity: float
    features: float


class LeaveOneOutTable(Protocol):
    """Some rows on which a learner and its siblings can be left-one-out exactly and without refits."""

    def serves(self, learner: Any) -> bool: ...

    def left_out(self, learner: Any) -> LeftOut: ...


class GeneralisedTable(Protocol):
    """Some rows on which siblings are judged by generalised cross-validation, many at once."""

    def gcv(self, learners: Sequence[Any]) -> Floats:
        """The score of each, whatever the others are."""
        ...

    def complexities(self, learners: Sequence[Any]) -> Floats: ...


class Block(BaseEstimator):
    """What every block offers: a fit on arrays that may be split, and the complexity of what was fitted.

    `n_classes` is 0 for regression, where `y` holds numbers; else `y` holds codes 0 … n_classes - 1, all of them
    present unless a fold has lost a tiny class.
    """

    #: The parameters that `prepare` looks at; `None` when the block shares nothing.
    shared_parameters: ClassVar[frozenset[str] | None] = None
    #: The parameters that `prepare_query` looks at; `None` when predictions share nothing.
    query_parameters: ClassVar[frozenset[str] | None] = None
    #: Whether the codes of symbols may be among its columns; a parameter `symbolic_columns` says so too.
    takes_symbols: ClassVar[bool] = False
    #: Whether values may be missing among its columns.
    takes_missing: ClassVar[bool] = False
    #: Whether it does the same to a row whatever it was fitted on.
    row_by_row: ClassVar[bool] = False
    #: Whether parameters of it are places among the inputs, which `lay_out` lays out.
    has_places: ClassVar[bool] = False

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> Any:
        """The part of the fit that siblings share; it must not look at any parameter outside `shared_parameters`."""
        return None

    @classmethod
    def lay_out(cls, inputs: Floats) -> Any:
        """What parameters that are places among the inputs refer to.

        It is laid out once for a table, so that a model means the same on every fold as on all rows.
        """
        raise NotImplementedError

    def prepare_in(self, laid_out: Any, X: Floats, y: NDArray[Any], n_classes: int) -> Any:
        """As `prepare`, in what was laid out before."""
        return self.prepare(X, y, n_classes)

    def fit_prepared(self, prepared: Any, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        """The rest of the fit."""
        raise TypeError(f"{type(self).__name__} defines neither fit_arrays nor fit_prepared")

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        """Fits on finite C-ordered float64 rows, nothing validated."""
        self.fit_prepared(self.prepare(X, y, n_classes), X, y, n_classes)

    def complexity(self) -> float:
        """What Occam compares: units, features, support vectors, leaves, weights … of the fitted block."""
        return 1.0

    def n_features_used(self) -> int | None:
        """How many of the columns that it was fitted on have a say in its outputs; None for all."""
        return None

    @classmethod
    def leave_one_out_table(cls, X: Floats, y: NDArray[Any], n_classes: int, memory: int) -> LeaveOneOutTable | None:
        """A faster way than a fit for each row, in so many bytes of memory; none unless the block has one."""
        return None

    @classmethod
    def generalised_table(
        cls, X: Floats, y: NDArray[Any], n_classes: int, laid_out: Any = None
    ) -> GeneralisedTable | None:
        """The way to generalised cross-validation; none unless the block is linear in its targets and says so."""
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.takes_missing
        return tags

    def _finite(self) -> bool | str:
        """What scikit-learn's validation is to demand of the values."""
        return "allow-nan" if self.takes_missing else True


class BlockTransformer(TransformerMixin, Block):
    """A block that turns rows into rows. Selectors and scalers that look at the target say so with `needs_target`."""

    needs_target: ClassVar[bool] = False

    def transform_arrays(self, X: Floats) -> Floats:
        raise NotImplementedError

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        self._validate_params()
        if not self.needs_target:
            rows = validate_data(self, X, dtype=np.float64, order="C", ensure_all_finite=self._finite())
            self.fit_arrays(rows, np.zeros(len(rows)), 0)
            return self
        rows, target = validate_data(self, X, y, dtype=np.float64, order="C", ensure_all_finite=self._finite())
        n_classes = 0
        if is_classes(target):
            classes, target = np.unique(target, return_inverse=True)
            n_classes = len(classes)
        self.fit_arrays(rows, target if n_classes else np.asarray(target, dtype=np.float64), n_classes)
        return self

    def transform(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=False, ensure_all_finite=self._finite())
        return self.transform_arrays(rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.needs_target
        return tags


class BlockClassifier(ClassifierMixin, Block):
    """A learner of classes: `outputs` gives one score a class, the largest wins, the first on a tie."""

    #: Outputs are probabilities, so `predict_proba` is offered.
    probabilistic: ClassVar[bool] = False

    def outputs(self, X: Floats) -> Floats:
        """One row of `n_classes` scores for each row of X."""
        if self.query_parameters is None:
            raise NotImplementedError
        return self.outputs_prepared(self.prepare_query(X))

    def prepare_query(self, X: Floats) -> Any:
        """The part of the prediction that siblings share."""
        return X

    def outputs_prepared(self, query: Any) -> Floats:
        raise NotImplementedError

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        self._validate_params()
        rows, labels = validate_data(self, X, y, dtype=np.float64, order="C")
        if not is_whole(labels):
            check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise UserError(f"{type(self).__name__} needs at least two classes; the target has only one class")
        self.fit_arrays(rows, codes, len(self.classes_))
        return self

    def _checked_outputs(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        return self.outputs(validate_data(self, X, dtype=np.float64, order="C", reset=False))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        outputs = self._checked_outputs(X)
        winners: NDArray[Any] = self.classes_[outputs.argmax(axis=1)]
        return winners

    def decision_function(self, X: ArrayLike) -> Floats:
        outputs = self._checked_outputs(X)
        return outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs


class ProbabilisticClassifier(BlockClassifier):
    """A learner of classes whose outputs are probabilities."""

    probabilistic = True

    def predict_proba(self, X: ArrayLike) -> Floats:
        return self._checked_outputs(X)


class BlockRegressor(RegressorMixin, Block):
    """A learner of numbers: `outputs` gives one number a row."""

    def outputs(self, X: Floats) -> Floats:
        if self.query_parameters is None:
            raise NotImplementedError
        return self.outputs_prepared(self.prepare_query(X))

    def prepare_query(self, X: Floats) -> Any:
        """The part of the prediction that siblings share."""
        return X

    def outputs_prepared(self, query: Any) -> Floats:
        raise NotImplementedError

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        self._validate_params()
        rows, numbers = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True)
        self.fit_arrays(rows, np.asarray(numbers, dtype=np.float64), 0)
        return self

    def predict(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        return self.outputs(validate_data(self, X, dtype=np.float64, order="C", reset=False))


class BlockPost(TransformerMixin, Block):
    """A block after the learner of classes: outputs in, outputs out, one column a class.

    Fitted on the learner's outputs for the training rows.
    """

    def transform_arrays(self, X: Floats) -> Floats:
        raise NotImplementedError

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        self._validate_params()
        outputs, labels = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(labels)
        self.fit_arrays(outputs, column_of_each(labels, outputs.shape[1]), outputs.shape[1])
        return self

    def transform(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        return self.transform_arrays(validate_data(self, X, dtype=np.float64, order="C", reset=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def column_of_each(labels: NDArray[Any], n_columns: int) -> Codes:
    """The column of each row's class: that of the sorted classes, or the label itself when some class has no row."""
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) == n_columns:
        return codes
    if labels.dtype.kind in "biuf" and np.isin(classes, np.arange(n_columns)).all():
        return labels.astype(np.intp)
    raise UserError(
        f"a step after the learner got outputs with n_features = {n_columns} columns for a target with {len(classes)} "
        "classes; give one column a class, or, when a class has no rows, the numbers "
        f"0 to {n_columns - 1} of the columns as target"
    )


def is_classes(y: ArrayLike) -> bool:
    """Whether a target given to a public `fit` holds classes; a float with a fraction means regression."""
    return is_whole(y) or not str(type_of_target(y)).startswith("continuous")


def is_whole(y: ArrayLike) -> bool:
    """Whether a target holds whole numbers or truth values, which are always classes: the general question, answered
    by scikit-learn, costs more than many a fit on a small table."""
    return isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "biu"


# --- The slot: a parameter of a block that is itself a small block, given as an instance or by its catalogue name. ----


class Filling(BaseEstimator):
    """A small block that fills a slot: parameters and no state, so that one instance may serve many learners."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    def check(self) -> None:
        """Complains about parameters that are out of range."""
        if self._parameter_constraints:
            params = self.get_params(deep=False)
            validate_parameter_constraints(self._parameter_constraints, params, caller_name=type(self).__name__)

    def identity(self) -> Hashable:
        """Equal for two fillings that do the same."""
        return type(self), *vars(self).values()


Kind = TypeVar("Kind", bound=Filling)


def filled(value: Any, choices: Mapping[str, type[Kind]], kind: type[Kind], slot: str) -> Kind:
    """The block that `value` stands for: itself, or a new one with defaults when `value` is a name."""
    if isinstance(value, kind):
        return value
    if isinstance(value, str) and value in choices:
        return choices[value]()
    raise UserError(f"{slot} must be one of {', '.join(choices)} or an instance of {kind.__name__}; got {value!r}")


def slot_constraint(choices: Mapping[str, type[Kind]], kind: type[Kind]) -> list[Any]:
    """The scikit-learn parameter constraint of such a slot."""
    return [StrOptions(set(choices)), kind]
