"""Read tables in memory: arrays, and frames of polars or pandas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from msl.data.data_errors import DataError, problem
from msl.data.raw_columns import Reading, check_width, numbered_names, unique_names

_ORIGIN = "the table"
#: The types of missing values in pandas, besides NaN and None.
_MISSING_TYPES = frozenset({"NAType", "NaTType"})
#: Types of cells that hold more than one value.
_COLLECTIONS = (list, tuple, dict, set, frozenset, np.ndarray)


def read_memory(source: Any, y: Any = None, names: Sequence[str] | None = None, target: str | None = None) -> Reading:
    """The columns of an array or a frame, and `y` as the last of them if it is given."""
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    columns, own_names = _columns(source)
    if names is not None and len(names) != len(columns):
        raise _misshapen(f"{len(names)} names are given for {len(columns)} columns")
    cells = [*(names or own_names)]
    if y is not None:
        columns.append(_target_column(y))
        cells.append(target or _name_of(y) or "y")
        if cells[-1] in cells[:-1]:
            raise _misshapen(f"the target is given apart, but there is a column `{cells[-1]}` too")
    check_width(len(columns), _ORIGIN)
    heights = {len(column) for column in columns}
    if len(heights) > 1:
        raise _misshapen(f"the features have {len(columns[0])} rows, the target {len(columns[-1])}")
    if not columns or heights == {0}:
        raise DataError([problem("MSL304", f"{_ORIGIN} is empty", "it needs rows and columns")])
    unique = unique_names(cells)
    return replace(Reading.of(columns, unique, _ORIGIN), orders=dict(_orders(source, unique.unique)))


def _orders(source: Any, names: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The symbols of the columns of pandas that are ordered categories."""
    if not (_is_pandas(source) and hasattr(source, "columns")):
        return
    for name, dtype in zip(names, source.dtypes, strict=False):
        if getattr(dtype, "ordered", False) and len(dtype.categories) > 2:
            symbols = [_text(value) for value in dtype.categories]
            yield name, tuple(symbol for symbol in symbols if symbol is not None)


def _columns(source: Any) -> tuple[list[pl.Series], Sequence[str]]:
    if isinstance(source, pl.DataFrame):
        return source.get_columns(), source.columns
    if _is_pandas(source) and hasattr(source, "columns"):
        return (
            [_pandas_column(source.iloc[:, place]) for place in range(len(source.columns))],
            [str(name) for name in source.columns],
        )
    if hasattr(source, "__arrow_c_stream__"):  # a table of Arrow, whose columns are taken as they are
        frame = pl.DataFrame(source)
        return frame.get_columns(), frame.columns
    array = _array(source)
    if array.ndim != 2:
        raise _misshapen(f"an array of {array.ndim} dimensions is not a table")
    return [_array_column(array[:, place]) for place in range(array.shape[1])], numbered_names(array.shape[1])


def _target_column(y: Any) -> pl.Series:
    if isinstance(y, pl.Series):
        return y
    if _is_pandas(y):
        if hasattr(y, "columns") and len(y.columns) != 1:
            raise _misshapen(f"a target of {len(y.columns)} columns is not one column")
        return _pandas_column(y.iloc[:, 0] if hasattr(y, "columns") else y)
    array = _array(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise _misshapen(f"a target of {array.ndim} dimensions is not a column")
    return _array_column(array)


def _name_of(y: Any) -> str | None:
    name = getattr(y, "name", None)
    return str(name) if name not in (None, "") else None


def _is_pandas(source: Any) -> bool:
    """Duck-typed, so that pandas need not be installed."""
    return hasattr(source, "iloc")


def _pandas_column(column: Any) -> pl.Series:
    kind = getattr(column.dtype, "kind", "O")
    if str(column.dtype) == "category":
        return _object_column(column.tolist()).cast(pl.Categorical)
    if kind in "iub" and not column.hasnans:
        return pl.Series(column.to_numpy(dtype={"i": "int64", "u": "uint64", "b": "bool"}[kind]))
    if kind in "iuf":
        return pl.Series(column.to_numpy(dtype="float64", na_value=np.nan))
    if kind in "mM":
        return _array_column(column.to_numpy(dtype="datetime64[us]" if kind == "M" else "timedelta64[us]"))
    if kind == "c":
        return _array_column(column.to_numpy())
    if str(column.dtype).startswith("period"):
        return _pandas_column(column.dt.to_timestamp())
    return _object_column(column.tolist())


def _array(source: Any) -> NDArray[Any]:
    if hasattr(source, "toarray"):
        raise _misshapen("sparse matrices are not supported", "pass X.toarray() if it fits in memory")
    if isinstance(source, np.ma.MaskedArray) and np.ma.is_masked(source):
        own = np.float64 if source.dtype.kind in "iufb" else object
        return np.asarray(np.ma.filled(source.astype(own), np.nan))
    try:
        return np.asarray(source)
    except ValueError:
        raise _misshapen("the rows do not all have the same number of values") from None


def _array_column(values: NDArray[Any]) -> pl.Series:
    kind = values.dtype.kind
    if kind in "iufb":
        return pl.Series(np.ascontiguousarray(values))
    if kind in "mM":
        return pl.Series(values.astype(f"{values.dtype.str[1]}8[us]"))
    if kind == "c":
        message = f"{_ORIGIN} holds complex numbers, which no model takes"
        raise DataError([problem("MSL316", message, "pass their parts or their absolute values")])
    return _object_column(values.tolist())


def _object_column(values: Iterable[object]) -> pl.Series:
    return pl.Series([_text(value) for value in values], dtype=pl.String)


def _text(value: object) -> str | None:
    if isinstance(value, _COLLECTIONS):
        message = f"{_ORIGIN} holds values of type {type(value).__name__}, which are neither numbers nor symbols"
        raise DataError(
            [problem("MSL316", message, "leave the column out, or turn it into columns of numbers or text")]
        )
    if value is None or type(value).__name__ in _MISSING_TYPES or value != value:
        return None
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return str(value).lower() if isinstance(value, bool | np.bool_) else str(value)


def _misshapen(message: str, help: str = "pass rows × columns, and a target with one value a row") -> DataError:
    return DataError([problem("MSL327", message, help)])
