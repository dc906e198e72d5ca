"""Trouble: what can go wrong with a model that is judged, and how it is told in an outcome."""

from __future__ import annotations

from msl.blocks.outputs import BadOutputs
from msl.blocks.problem import BlockProblem
from msl.evaluate.outcome import Failure

#: Longer messages, such as those that print an array, are cut.
_LONGEST = 1000


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
