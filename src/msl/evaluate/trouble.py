"""Trouble: what can go wrong with a model that is judged, and how it is told in an outcome."""

from __future__ import annotations

import numpy as np

from msl.blocks.base import Floats
from msl.blocks.frame import BLOCK, row_blocks
from msl.blocks.problem import BlockProblem
from msl.evaluate.outcome import Failure

#: Longer messages, such as those that print an array, are cut.
_LONGEST = 1000


class BadOutputs(Exception):
    """Outputs that no measure can judge."""

    def __init__(self, cause: str, message: str) -> None:
        super().__init__(message)
        self.cause = cause


def failure_of(reason: BaseException, step: str) -> Failure:
    """The failure behind an exception that a block has raised."""
    if isinstance(reason, BlockProblem):
        return Failure("block", reason.message, reason.block or step)
    if isinstance(reason, BadOutputs):
        return Failure(reason.cause, _words(reason), step)
    if isinstance(reason, MemoryError):
        return Failure("memory", _words(reason) or "not enough memory", step)
    return Failure("exception", f"{type(reason).__name__}: {_words(reason)}", step)


def _words(reason: BaseException) -> str:
    try:
        words = str(reason)
    except Exception:  # even its words may be broken
        return "(no words)"
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]} …"


def checked_columns(columns: Floats, n_rows: int, may_lack: bool) -> Floats:
    """What a step has made of rows, if it can be learnt from; `may_lack` says that values may be missing."""
    if columns.ndim != 2 or len(columns) != n_rows:
        raise BadOutputs("shape", f"makes an array of shape {columns.shape} of {n_rows} rows")
    if columns.shape[1] == 0:
        raise BadOutputs("shape", "leaves no column to learn from")
    if not _is_finite(columns) and (not may_lack or np.isinf(columns).any()):
        raise BadOutputs("not a number", "makes values that are infinite or not a number")
    return columns


def _is_finite(columns: Floats) -> bool:
    """Whether all values are; many of them are looked at some at a time, since even a byte for each is a lot."""
    if columns.size <= BLOCK:
        return bool(np.isfinite(columns).all())
    return all(np.isfinite(columns[block]).all() for block in row_blocks(columns))


def checked_outputs(outputs: Floats, n_rows: int, n_classes: int) -> Floats:
    """The outputs of a learner or of what comes after it, if they can be judged."""
    shape = (n_rows, n_classes) if n_classes else (n_rows,)
    if not isinstance(outputs, np.ndarray) or outputs.shape != shape:
        found = getattr(outputs, "shape", type(outputs).__name__)
        raise BadOutputs("shape", f"gives outputs of shape {found} where {shape} is needed")
    if not np.isfinite(outputs).all():
        raise BadOutputs("not a number", "gives outputs that are infinite or not a number")
    return outputs
