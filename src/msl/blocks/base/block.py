"""Base classes of all blocks: scikit-learn estimators that do their work on plain arrays.

`fit` validates its input, encodes classes as integers and calls `fit_arrays`. A search validates the table once and
then calls `fit_arrays`, `transform_arrays` and `outputs` directly; the results are the same.

A block may share work with its siblings: the same block with other parameters on the same rows. To do so it splits its
fit into `prepare`, which depends only on the rows and on `shared_parameters`, and `fit_prepared`, which does the rest.
A learner that can also share work between predictions splits `outputs` into `prepare_query` and `outputs_prepared`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
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
class LooResult:
    """The leave-one-out outputs of a learner, with the mean complexity and number of features over its fits."""

    outputs: Floats
    complexity: float
    features: float


class LooTable(Protocol):
    """Exact leave-one-out outputs of a learner and its siblings on one table, without refits."""

    def serves(self, learner: Any) -> bool:
        """Whether this learner is one of those."""
        ...

    def loo(self, learner: Any) -> LooResult: ...


class GcvTable(Protocol):
    """Generalised cross-validation (GCV) of many siblings at once on one table."""

    def gcv(self, learners: Sequence[Any]) -> Floats:
        """The GCV of each learner; it does not depend on which others are in the list."""
        ...

    def complexities(self, learners: Sequence[Any]) -> Floats: ...


class Block(BaseEstimator):
    """What every block offers: a fit on arrays, which may be split, and the complexity of the fitted block.

    `n_classes` is 0 for regression, where `y` holds numbers. Otherwise `y` holds the codes 0 … n_classes - 1; a class
    may be absent when it is so small that a fold has none of its rows.
    """

    #: The parameters that `prepare` depends on; None when the block shares nothing.
    shared_parameters: ClassVar[frozenset[str] | None] = None
    #: The parameters that `prepare_query` depends on; None when predictions share nothing.
    query_parameters: ClassVar[frozenset[str] | None] = None
    #: Whether it accepts categorical columns, coded as numbers; a parameter `symbolic_columns` declares the same.
    takes_symbols: ClassVar[bool] = False
    #: Whether it accepts missing values.
    takes_missing: ClassVar[bool] = False
    #: Whether it accepts sparse rows (CSR), and gives the same for them as for full ones.
    takes_sparse: ClassVar[bool] = False
    #: Whether it passes on the columns that it gets, with every missing value filled in.
    fills_missing: ClassVar[bool] = False
    #: Whether it says of new rows that a value is missing where it was not, as of a symbol that no training row has.
    makes_missing: ClassVar[bool] = False
    #: Whether its result for a row does not depend on the rows that it was fitted on.
    row_by_row: ClassVar[bool] = False
    #: Whether its fit can count rows by weights; it then has a method `fit_weighted`.
    takes_weights: ClassVar[bool] = False
    #: Whether some parameters are positions in a coordinate system, which `fit_coordinates` fits to the inputs.
    has_coordinates: ClassVar[bool] = False

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> Any:
        """The part of the fit that siblings share; it must not read any parameter outside `shared_parameters`."""
        return None

    @classmethod
    def fit_coordinates(cls, inputs: Floats) -> Any:
        """The coordinate system that parameters such as the centres of an RBF network refer to.

        It is fitted once to a whole table, so that the same parameters mean the same points on every fold.
        """
        raise NotImplementedError

    def prepare_with(self, coordinates: Any, X: Floats, y: NDArray[Any], n_classes: int) -> Any:
        """As `prepare`, with a coordinate system that was fitted before."""
        return self.prepare(X, y, n_classes)

    def fit_prepared(self, prepared: Any, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        """The rest of the fit."""
        raise TypeError(f"{type(self).__name__} defines neither fit_arrays nor fit_prepared")

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        """Fits on finite, C-ordered float64 rows without validating them."""
        self.fit_prepared(self.prepare(X, y, n_classes), X, y, n_classes)

    def fit_weighted(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats) -> None:
        """As `fit_arrays`, with a positive weight for each row; only for blocks that say `takes_weights`."""
        raise NotImplementedError

    def complexity(self) -> float:
        """The size of the fitted block: its number of units, features, support vectors, leaves or weights."""
        return 1.0

    def n_features_used(self) -> int | None:
        """How many of the columns that it was fitted on its outputs depend on; None for all."""
        return None

    @classmethod
    def loo_table(cls, X: Floats, y: NDArray[Any], n_classes: int, memory: int) -> LooTable | None:
        """Leave-one-out without a fit for each row, within `memory` bytes; None if the block cannot do that."""
        return None

    @classmethod
    def gcv_table(cls, X: Floats, y: NDArray[Any], n_classes: int, coordinates: Any = None) -> GcvTable | None:
        """Generalised cross-validation; None unless the outputs of the block are linear in its targets."""
        return None

    def fitted_gcv(self) -> float | None:
        """The generalised cross-validation of the fit on its own rows; None unless the block has a `gcv_table`."""
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.takes_missing
        return tags

    def _finite(self) -> bool | str:
        """The `ensure_all_finite` of scikit-learn's validation."""
        return "allow-nan" if self.takes_missing else True


class BlockTransformer(TransformerMixin, Block):
    """A block that transforms rows. Selectors and scalers that use the target set `needs_target`."""

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


Fitted = TypeVar("Fitted")


def shallow_copy(fitted: Fitted) -> Fitted:
    """A copy with the same attributes. `copy` would ask scikit-learn for a state to be saved, which takes longer than
    many predictions."""
    copied = object.__new__(type(fitted))
    copied.__dict__.update(fitted.__dict__)
    return copied


class BlockLearner(Block):
    """A block that predicts; its outputs are split in two where siblings share work between predictions."""

    def outputs(self, X: Floats) -> Floats:
        """One number for each row of X, or one score for each row and class."""
        if self.query_parameters is None:
            raise NotImplementedError
        return self.outputs_prepared(self.prepare_query(X))

    def prepare_query(self, X: Floats) -> Any:
        """The part of the prediction that siblings share."""
        return X

    def outputs_prepared(self, query: Any) -> Floats:
        """The rest of the prediction."""
        raise NotImplementedError

    def with_less(self, parameter: str, value: int) -> Self:
        """A copy of this fitted block, as it would be with a smaller value of its path parameter."""
        smaller = shallow_copy(self)
        setattr(smaller, parameter, value)
        return smaller

    def path_outputs(self, X: Floats, query: Any = None) -> Callable[[Self], Floats]:
        """The outputs of copies with less for these rows: what they share is computed once. Ascending values take the
        least time. `query` is what `prepare_query` has returned for the rows, if it was called."""
        shared = self.prepare_query(X) if query is None else query
        return lambda smaller: smaller.outputs_prepared(shared)


class BlockClassifier(ClassifierMixin, BlockLearner):
    """A classifier: `outputs` has one score for each class; the largest wins, the first of equal ones."""

    #: Whether the outputs are probabilities, so that there is a `predict_proba`.
    probabilistic: ClassVar[bool] = False

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        self._validate_params()
        rows, labels = validate_data(self, X, y, dtype=np.float64, order="C", ensure_all_finite=self._finite())
        if not is_whole(labels):
            check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise UserError(f"{type(self).__name__} needs at least two classes; the target has only one class")
        self.fit_arrays(rows, codes, len(self.classes_))
        return self

    def _checked_outputs(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        finite = self._finite()
        return self.outputs(validate_data(self, X, dtype=np.float64, order="C", reset=False, ensure_all_finite=finite))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        outputs = self._checked_outputs(X)
        winners: NDArray[Any] = self.classes_[outputs.argmax(axis=1)]
        return winners

    def decision_function(self, X: ArrayLike) -> Floats:
        outputs = self._checked_outputs(X)
        return outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs


class ProbabilisticClassifier(BlockClassifier):
    """A classifier whose outputs are probabilities."""

    probabilistic = True

    def predict_proba(self, X: ArrayLike) -> Floats:
        return self._checked_outputs(X)


class BlockRegressor(RegressorMixin, BlockLearner):
    """A regressor: `outputs` has one number for each row."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        self._validate_params()
        finite = self._finite()
        rows, numbers = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True, ensure_all_finite=finite)
        self.fit_arrays(rows, np.asarray(numbers, dtype=np.float64), 0)
        return self

    def predict(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        finite = self._finite()
        return self.outputs(validate_data(self, X, dtype=np.float64, order="C", reset=False, ensure_all_finite=finite))


class BlockPost(TransformerMixin, Block):
    """A block after a classifier that changes its outputs, one column for each class.

    It is fitted to the classifier's outputs for the training rows.
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
    """The column of each label: its place among the sorted labels, or the label itself when some class has no row."""
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
    """Whether a target holds classes; a number with a fraction means regression."""
    return is_whole(y) or not str(type_of_target(y)).startswith("continuous")


def is_whole(y: ArrayLike) -> bool:
    """Whether a target is an array of integers or booleans, which are always classes.

    scikit-learn's `type_of_target` answers for any target, but takes longer than many fits on a small table.
    """
    return isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "biu"


# --- Slots: parameters that are small blocks themselves, such as the distance of a nearest-neighbour learner ----------


class SlotValue(BaseEstimator):
    """A block that is the parameter of another one. It has parameters and no state, so many learners may share it."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    def check(self) -> None:
        """Raises ValueError for parameters that are out of range."""
        if self._parameter_constraints:
            params = self.get_params(deep=False)
            validate_parameter_constraints(self._parameter_constraints, params, caller_name=type(self).__name__)

    def identity(self) -> Hashable:
        """Equal for two blocks with the same behaviour."""
        return type(self), *vars(self).values()


Kind = TypeVar("Kind", bound=SlotValue)


def resolve_slot(value: Any, choices: Mapping[str, type[Kind]], kind: type[Kind], slot: str) -> Kind:
    """The block in a slot: `value` itself, or the block of that catalogue name with its defaults."""
    if isinstance(value, kind):
        return value
    if isinstance(value, str) and value in choices:
        return choices[value]()
    raise UserError(f"{slot} must be one of {', '.join(choices)} or an instance of {kind.__name__}; got {value!r}")


def slot_constraint(choices: Mapping[str, type[Kind]], kind: type[Kind]) -> list[Any]:
    """The scikit-learn parameter constraint of a slot."""
    return [StrOptions(set(choices)), kind]
