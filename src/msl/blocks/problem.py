"""BlockProblem: why a block cannot be built, with a way out; the caller knows where in the spec it stands."""

from __future__ import annotations


class BlockProblem(Exception):
    """A class that does not import, is not trusted, lacks a method, or rejects a parameter."""

    def __init__(self, code: str, message: str, help: str, block: str) -> None:
        super().__init__(message)
        self.code, self.message, self.help, self.block = code, message, help, block
