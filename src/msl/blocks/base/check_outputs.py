"""Validate the outputs of transformers and learners, and convert them to plain arrays.

A third-party class may return anything: text, NaN, an unknown class, an array of the wrong shape. Such outputs raise
BadOutputs with a message that says what is wrong; otherwise they would silently be counted as some class.

An infinite score is accepted if it makes one class the winner; it becomes a very large finite number. Infinite
probabilities and infinite predictions of a regressor are errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from msl.blocks.base.block import Codes, Floats
from msl.blocks.numerics.safe_scaling import BLOCK, row_blocks

#: How far from one the sum of a row's probabilities may be: 16-bit floats differ that much.
_NEARLY_ONE = 1e-2
#: The most negative probability that rounding explains.
_NEARLY_ZERO = -1e-6
#: Probabilities whose sum is this close to one are not rescaled.
_IS_ONE = 1e-6
#: The finite score that replaces an infinite one; differences of two such scores are still finite.
SURE = float(np.finfo(np.float64).max) / 4
#: The largest number of rows that a message lists.
_MOST_ROWS = 5


class BadOutputs(Exception):
    """Outputs that cannot be scored or predicted from.

    `rows` are the positions of the rows with wrong outputs, empty for all rows; `block` is the class of the outputs.
    """

    def __init__(self, cause: str, message: str, rows: Sequence[int] = (), block: str = "") -> None:
        super().__init__(message)
        self.cause, self.message, self.rows, self.block = cause, message, tuple(rows), block

    def in_full(self) -> str:
        """The message with the name of the block and the first wrong rows, counted from 1."""
        shown = ", ".join(str(row + 1) for row in self.rows[:_MOST_ROWS])
        more = ", …" if len(self.rows) > _MOST_ROWS else ""
        where = f" (row{'s' if len(self.rows) > 1 else ''} {shown}{more})" if self.rows else ""
        block = f"{self.block}: " if self.block else ""
        return f"{block}{self.message}{where}"


def _reject(cause: str, words: str, wrong: NDArray[np.bool_] | np.bool_) -> None:
    """Raises BadOutputs if any row is wrong; `words` has a placeholder for their number."""
    wrong = np.atleast_1d(wrong)
    if wrong.any():
        rows = np.flatnonzero(wrong)
        raise BadOutputs(cause, words.format(f"{len(rows)} of {len(wrong)} rows"), rows.tolist())


# --- Transformers -----------------------------------------------------------------------------------------------------


#: Sparse rows with fewer columns are made full at once: they are small, and most work on them is faster.
FEWEST_SPARSE = 100


def made_columns(made: Any) -> Floats:
    """The output of a third-party transformer as floats; the caller checks its shape.

    Sparse rows with many columns stay sparse; `rows_for` makes them full for what takes no others. Their number of
    columns alone decides, so that training rows and new rows are of one kind.
    """
    if sparse.issparse(made) and made.ndim == 2 and made.shape[1] >= FEWEST_SPARSE and made.dtype.kind in "biuf":
        return sparse.csr_matrix(made, dtype=np.float64)
    array = _plain_array(made)
    if array.dtype.kind not in "biuf":
        array = _numbers(array, "makes {} out of numbers, and what follows needs numbers")
    return np.ascontiguousarray(array, dtype=np.float64)


def checked_columns(columns: Floats, before: Floats, step: Any = None) -> Floats:
    """The output of a step, if a learner can use it. It may have missing values if the input had some, or if the step
    is a block that makes some on purpose."""
    n_rows = before.shape[0]
    if columns.ndim != 2 or columns.shape[0] != n_rows:
        raise BadOutputs("shape", f"makes an array of shape {columns.shape} of {n_rows} rows")
    if columns.shape[1] == 0:
        raise BadOutputs("shape", "leaves no column to learn from")
    if not is_finite(columns):
        _reject("not a number", "makes infinite values in {}", _rows_where(np.isinf, columns))
        if is_finite(before) and not getattr(step, "makes_missing", False):
            _reject("not a number", "makes NaN in {}", _rows_where(np.isnan, columns))
    return columns


def _rows_where(holds: Callable[[Floats], NDArray[np.bool_]], columns: Floats) -> NDArray[np.bool_]:
    """The rows in which it holds for any value."""
    if not sparse.issparse(columns):
        return holds(columns).any(axis=1)
    found = np.zeros(columns.shape[0], dtype=np.bool_)
    found[columns.tocoo().row[holds(columns.data)]] = True
    return found


def is_finite(columns: Floats) -> bool:
    """Whether all values are finite. Large arrays are checked in blocks: even one byte for each value is a lot."""
    if sparse.issparse(columns):
        return bool(np.isfinite(columns.data).all())
    if columns.size <= BLOCK or columns.shape[1] == 0:
        return bool(np.isfinite(columns).all())
    return all(np.isfinite(columns[block]).all() for block in row_blocks(columns))


def has_missing(columns: Floats) -> bool:
    return bool(np.isnan(columns.data if sparse.issparse(columns) else columns).any())


# --- Learners ---------------------------------------------------------------------------------------------------------


def checked_outputs(outputs: Any, n_rows: int, n_classes: int) -> Floats:
    """The outputs of a learner, or of a step after it, if they are valid."""
    shape = (n_rows, n_classes) if n_classes else (n_rows,)
    if not isinstance(outputs, np.ndarray) or outputs.shape != shape:
        found = getattr(outputs, "shape", type(outputs).__name__)
        raise BadOutputs("shape", f"gives outputs of shape {found} where {shape} is needed")
    if not np.isfinite(outputs).all():
        rows = outputs if outputs.ndim == 2 else outputs[:, None]
        _reject("not a number", "gives NaN for {}", np.isnan(rows).any(axis=1))
        if not n_classes:
            _reject("not a number", "gives an infinite number for {}", np.isinf(outputs))
        return decided(outputs)
    return outputs


def decided(scores: Floats) -> Floats:
    """Scores with large finite numbers in place of infinite ones, which must leave one class with the largest score."""
    infinite = np.isinf(scores)
    if not infinite.any():
        return scores
    leaders = scores == scores.max(axis=1, keepdims=True)
    unclear = infinite.any(axis=1) & (leaders.sum(axis=1) > 1) & (infinite & leaders).any(axis=1)
    _reject("not a number", "gives several classes an infinite score for {}", unclear)
    return np.clip(scores, -SURE, SURE)


def predicted_numbers(output: Any, n_rows: int) -> Floats:
    """The output of `predict` of a third-party regressor."""
    numbers = _numbers(_column(output, n_rows), "the learner predicted {}, which is no number,")
    _reject("not a number", "the learner predicted NaN for {}", np.isnan(numbers))
    _reject("not a number", "the learner predicted an infinite number for {}", np.isinf(numbers))
    return numbers


def predicted_classes(output: Any, n_rows: int, n_classes: int) -> Floats:
    """The output of `predict` of a third-party classifier, as 1 for the predicted class and 0 for the others."""
    classes = ", ".join(map(str, range(n_classes))) if n_classes <= 4 else f"0 … {n_classes - 1}"
    unknown = f"the learner predicted {{}}, which is none of the classes {classes} that it was given,"
    named = _numbers(_column(output, n_rows), unknown)
    _reject("not a number", "the learner predicted NaN for {}", np.isnan(named))
    wrong = ~np.isin(named, np.arange(n_classes))
    if wrong.any():
        _reject("prediction", unknown.format(f"{named[wrong][0]:g}") + " for {}", wrong)
    return np.asarray(named[:, None] == np.arange(n_classes), dtype=np.float64)


def predicted_probabilities(
    output: Any, n_rows: int, n_columns: int, named: Callable[[NDArray[np.bool_]], Floats]
) -> Floats:
    """The output of `predict_proba` of a third-party classifier, with rounding errors corrected row by row.

    Some classifiers give all classes probability 0, as scikit-learn's radius neighbours do for rows without neighbours.
    Such rows get probability 1 for the class that `predict` returns, which `named` calls.
    """
    shares = _matrix(output, n_rows, n_columns, "predict_proba")
    nothing = (shares == 0.0).all(axis=1)
    if nothing.any():
        shares = shares.copy()
        shares[nothing] = named(nothing)
    _reject("not a number", "the learner gave probabilities of NaN for {}", np.isnan(shares).any(axis=1))
    _reject("not a number", "the learner gave infinite probabilities for {}", np.isinf(shares).any(axis=1))
    _reject("prediction", "the learner gave negative probabilities for {}", (shares < _NEARLY_ZERO).any(axis=1))
    sums = shares.sum(axis=1)
    wrong = np.abs(sums - 1.0) > _NEARLY_ONE
    if wrong.any():
        words = f"the learner gave probabilities that do not sum to 1 but, as the first, to {sums[wrong][0]:.3g} for "
        _reject("prediction", words + "{}", wrong)
    rounded = (np.abs(sums - 1.0) > _IS_ONE) | (shares < 0.0).any(axis=1)
    if rounded.any():
        positive = np.maximum(shares[rounded], 0.0)
        shares = shares.copy()
        shares[rounded] = positive / positive.sum(axis=1, keepdims=True)
    return shares


def decision_scores(output: Any, n_rows: int, n_columns: int) -> Floats:
    """The output of `decision_function` of a third-party classifier, with one column a class also for two classes."""
    array = _plain_array(output)
    if n_columns == 2 and array.shape in ((n_rows,), (n_rows, 1)):
        margin = _matrix(array.reshape(n_rows, 1), n_rows, 1, "decision_function")
        scores = np.hstack([-margin, margin])
    else:
        scores = _matrix(array, n_rows, n_columns, "decision_function")
    _reject("not a number", "the learner gave scores of NaN for {}", np.isnan(scores).any(axis=1))
    return decided(scores)


def in_class_order(scores: Floats, codes: Codes, n_classes: int, lowest: float) -> Floats:
    """Columns in the order of the classes; classes absent from the training rows get the lowest score."""
    if len(codes) == n_classes and np.array_equal(codes, np.arange(n_classes)):
        return scores
    outputs = np.full((len(scores), n_classes), lowest)
    outputs[:, codes] = scores
    return outputs


def class_codes(classes: Any, n_classes: int) -> Codes:
    """The `classes_` of a third-party classifier: the class of each of its columns."""
    try:
        codes = np.asarray(classes, dtype=np.intp)
    except (TypeError, ValueError):
        codes = np.empty(0, dtype=np.intp)
    known = codes.ndim == 1 and len(codes) > 0 and np.isin(codes, np.arange(n_classes)).all()
    if not known or len(np.unique(codes)) < len(codes):
        output = repr(classes).replace("\n", " ")[:80]
        raise BadOutputs("prediction", f"its `classes_` are {output}, and it was given 0 … {n_classes - 1}")
    return codes


# --- Conversion to plain arrays ---------------------------------------------------------------------------------------


def _plain_array(value: Any) -> NDArray[Any]:
    """A data frame, a sparse or masked array or any other value as a plain array; masked values become NaN."""
    if hasattr(value, "toarray"):
        value = value.toarray()
    if isinstance(value, np.ma.MaskedArray):
        value = np.ma.filled(value.astype(np.float64), np.nan) if value.dtype.kind in "biuf" else np.ma.filled(value)
    try:
        return np.asarray(value)
    except ValueError:  # rows of several lengths
        raise BadOutputs("shape", f"gives a {type(value).__name__} that is no array") from None


def _column(output: Any, n_rows: int) -> NDArray[Any]:
    array = _plain_array(output)
    if array.shape not in ((n_rows,), (n_rows, 1)):
        raise BadOutputs("shape", f"the learner predicted an array of shape {array.shape} for {n_rows} rows")
    return array.reshape(n_rows)


def _matrix(output: Any, n_rows: int, n_columns: int, method: str) -> Floats:
    array = _plain_array(output)
    if array.shape != (n_rows, n_columns):
        needed = (n_rows, n_columns)
        raise BadOutputs("shape", f"{method} gives an array of shape {array.shape} where {needed} is needed")
    return _numbers(array, f"{method} gives {{}}, which is no number,")


def _numbers(array: NDArray[Any], words: str) -> Floats:
    """An array as floats; text is not converted. `words` has a placeholder for the first value that is not a number."""
    if array.dtype.kind in "biuf":
        return np.asarray(array, dtype=np.float64)
    is_number = np.array([isinstance(one, Real | np.number) for one in array.ravel().tolist()]).reshape(array.shape)
    if array.dtype.kind == "O" and is_number.all():
        return np.asarray(array, dtype=np.float64)
    wrong = ~is_number.reshape(len(array), -1).all(axis=1) if array.ndim else np.array([True])
    first = repr(array[~is_number].ravel()[0].item() if array.dtype.kind != "O" else array[~is_number].ravel()[0])
    _reject("prediction", words.format(first[:60]).replace("{", "{{").replace("}", "}}") + " for {}", wrong)
    raise BadOutputs("prediction", words.format(first[:60]))
