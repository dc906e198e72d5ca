"""Heap: what the allocator of glibc keeps of freed memory. Where there is another one, it does as it likes."""

from __future__ import annotations

import ctypes

#: Arrays at least this large go back to the system when they are freed; of smaller ones, twice as much may lie about.
LARGE = 8_000_000
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # as malloc.h numbers them


class Heap:
    """The heap of this process.

    Left to itself, glibc counts arrays of up to 32 MB as small once it has met some, and keeps 64 MB of freed ones:
    in each of several workers on a large table, that is most of another copy of it.
    """

    def __init__(self) -> None:
        library = ctypes.CDLL(None)
        self._trim = getattr(library, "malloc_trim", None)  # only glibc has it
        if self._trim is not None:
            library.mallopt(_MMAP_THRESHOLD, LARGE)
            library.mallopt(_TRIM_THRESHOLD, 2 * LARGE)

    def give_back(self) -> None:
        """Gives back all that is free."""
        if self._trim is not None:
            self._trim(0)
