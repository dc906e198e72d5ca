"""The base class of all errors that are the user's to fix.

A `UserError` is raised on purpose, with a message for the user. Commands print the message and the help and exit with
code 2. Every other exception is a bug: commands print its traceback and how to report it, and exit with code 70. The
type alone decides, never where an exception was raised.
"""

from __future__ import annotations


class UserError(ValueError):
    """A mistake that the user can fix: what is wrong, and optionally what to do about it.

    It is a ValueError, so that callers of the Python API can catch it as they catch those of scikit-learn.
    """

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.message, self.help = message, help

    def __str__(self) -> str:
        return self.message if self.help is None else f"{self.message}; {self.help}"
