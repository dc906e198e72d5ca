"""Share arrays between processes through an unnamed file that they map instead of copying.

The file holds a pickle without its arrays, and then the arrays. It never has a name, so that nothing is left of it when
the last process that has it open ends, however it ends.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import pickle
import tempfile
from functools import cached_property
from typing import Any, BinaryIO, Generic, SupportsIndex, TypeVar

T = TypeVar("T")
_ALIGNMENT = 64


class SharedArrays(Generic[T]):
    """A value in a file. Pickling sends its content as one buffer; unpickling writes it to a file again."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self.size = file, size

    @classmethod
    def of(cls, value: T) -> SharedArrays[T]:
        """Writes a value to a file. To save memory, drop the value and use that of the result."""
        buffers: list[pickle.PickleBuffer] = []
        main = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
        places: list[tuple[int, int]] = []
        end = 0
        for buffer in buffers:
            size = buffer.raw().nbytes
            places.append((end, size))
            end = _aligned(end + size)
        head = pickle.dumps((main, places))
        start = _aligned(8 + len(head))
        file = unnamed_file()
        _write(file, 0, len(head).to_bytes(8, "big") + head)
        for (place, _), buffer in zip(places, buffers, strict=True):
            _write(file, start + place, buffer.raw())
        os.ftruncate(file.fileno(), start + end)
        return cls(file, start + end)

    @property
    def descriptor(self) -> int:
        """For `mapped_value` in a process that inherits it."""
        return self._file.fileno()

    @cached_property
    def value(self) -> T:
        """The value on the arrays in the file; they are read-only."""
        loaded: T = mapped_value(self.descriptor)
        return loaded

    @cached_property
    def digest(self) -> str:
        with mmap.mmap(self.descriptor, self.size, access=mmap.ACCESS_READ) as content:
            return hashlib.sha256(content).hexdigest()

    def duplicate(self) -> SharedArrays[T]:
        """The same file as another object, to be closed by itself."""
        return SharedArrays(os.fdopen(os.dup(self.descriptor), "r+b", buffering=0), self.size)

    def close(self) -> None:
        """Closes the file; a value that was taken from it stays valid."""
        self._file.close()

    def __dask_tokenize__(self) -> str:
        return self.digest

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, tuple[Any]]:
        content = mmap.mmap(self.descriptor, self.size, access=mmap.ACCESS_READ)
        return _unpickled, (pickle.PickleBuffer(content) if int(protocol) >= 5 else content[:],)


def mapped_value(descriptor: int) -> Any:
    """The value in a file that `SharedArrays.of` has written."""
    content = memoryview(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ))
    head_size = int.from_bytes(content[:8], "big")
    main, places = pickle.loads(content[8 : 8 + head_size])
    start = _aligned(8 + head_size)
    return pickle.loads(main, buffers=[content[start + place : start + place + size] for place, size in places])


def unnamed_file() -> BinaryIO:
    """A file in the folder for temporary files, to be inherited by workers."""
    return tempfile.TemporaryFile(buffering=0)


def _unpickled(content: Any) -> SharedArrays[Any]:
    file = unnamed_file()
    _write(file, 0, content)
    return SharedArrays(file, memoryview(content).nbytes)


def _write(file: BinaryIO, place: int, content: Any) -> None:
    file.seek(place)
    rest = memoryview(content).cast("B")
    while rest.nbytes:  # one call to the system writes at most 2 GB
        rest = rest[file.write(rest) :]


def _aligned(place: int) -> int:
    return -(-place // _ALIGNMENT) * _ALIGNMENT
