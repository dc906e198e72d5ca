"""Tell what an estimator raises from a bug in msl: calls of estimators are made inside `with estimator_code:`.

An estimator may raise anything, for reasons of the data that it is given. Such an exception is the failure of a model
(in an evaluation) or a table that cannot be predicted (in `predict`). It is marked where the estimator is called and
passes through unchanged, because users who call an estimator themselves expect its own exceptions. An exception without
the mark was raised by msl itself; unless it is a `UserError`, it is a bug.
"""

from __future__ import annotations

from types import TracebackType

_MARK = "_raised_by_estimator"


class _EstimatorCode:
    """Marks what is raised inside; has no state, so that one instance serves all threads."""

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, reason: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(reason, Exception | SystemExit):
            BaseException.__setattr__(reason, _MARK, True)  # the class may have a `__setattr__` of its own


estimator_code = _EstimatorCode()


def is_raised_by_estimator(reason: BaseException) -> bool:
    """Whether an exception was raised by code called inside `with estimator_code:`."""
    return _MARK in BaseException.__getattribute__(reason, "__dict__")
