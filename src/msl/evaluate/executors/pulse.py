"""Pulse: a page that a worker shares with its keeper, so that what it was doing is known even when it dies."""

from __future__ import annotations

import mmap
import os
import struct
from dataclasses import dataclass
from time import monotonic  # one clock for all processes of a machine

_NUMBER = struct.Struct("=q")
_BODY = struct.Struct("=dq")
_STEP = struct.Struct("=d")
_LENGTH = struct.Struct("=q")
_BODY_AT = _NUMBER.size
_STEP_AT = _BODY_AT + _BODY.size
_LENGTH_AT = _STEP_AT + _STEP.size
_NAME_AT = _LENGTH_AT + _LENGTH.size
_MOST_NAME = 400


@dataclass(frozen=True, slots=True)
class Beat:
    """What a worker does: the number of its evaluation (negative once it is over, 0 before the first), since when and
    with how many bytes held; the block at work, and since when."""

    number: int
    started: float
    held: int
    step: str
    step_started: float


class Pulse:
    """Written by one process and read by another without a lock: the number is written last and read first."""

    def __init__(self, descriptor: int) -> None:
        os.ftruncate(descriptor, mmap.PAGESIZE)
        self._page = mmap.mmap(descriptor, mmap.PAGESIZE)

    def begin(self, number: int, held: int) -> None:
        """Says that an evaluation starts. Numbers grow from 1."""
        self.step("")
        _BODY.pack_into(self._page, _BODY_AT, monotonic(), held)
        _NUMBER.pack_into(self._page, 0, number)

    def step(self, name: str) -> None:
        """Says which block is at work from now on."""
        encoded = name.encode()[:_MOST_NAME]
        _STEP.pack_into(self._page, _STEP_AT, monotonic())
        self._page[_NAME_AT : _NAME_AT + len(encoded)] = encoded
        _LENGTH.pack_into(self._page, _LENGTH_AT, len(encoded))

    def end(self, number: int) -> None:
        """Says that the evaluation is over."""
        _NUMBER.pack_into(self._page, 0, -number)

    def read(self) -> Beat:
        (number,) = _NUMBER.unpack_from(self._page, 0)
        started, held = _BODY.unpack_from(self._page, _BODY_AT)
        (step_started,) = _STEP.unpack_from(self._page, _STEP_AT)
        (length,) = _LENGTH.unpack_from(self._page, _LENGTH_AT)
        name = self._page[_NAME_AT : _NAME_AT + length].decode(errors="replace")
        return Beat(number, started, held, name, step_started)

    def close(self) -> None:
        self._page.close()
