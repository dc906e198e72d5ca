"""Local modules: those beside a spec that can be imported — the ones that are trusted by name, and nothing else there.

They are looked for last. A file beside a spec can therefore never take the place of an installed package or of a module
of Python itself, not even under a trusted name: who trusts `lightgbm` means the one that is installed.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from importlib import invalidate_caches
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType


class LocalModules(MetaPathFinder):
    """Finds top-level modules with certain names in a folder; what is inside a package is found by its own path."""

    def __init__(self, folder: str, names: Collection[str]) -> None:
        self.folder, self.names = folder, set(names)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is not None or fullname not in self.names:
            return None
        return PathFinder.find_spec(fullname, [self.folder], target)

    def has(self, name: str) -> bool:
        """Whether there is such a module in the folder, trusted or not."""
        return PathFinder.find_spec(name, [self.folder]) is not None


def allow_local_modules(folder: Path | str, names: Collection[str]) -> None:
    """From now on these modules of a folder can be imported, here and in worker processes that are started later."""
    if not names:
        return
    place = str(Path(folder).absolute())
    invalidate_caches()  # a module may have been written a moment ago
    known = _finders()
    for finder in known:
        if finder.folder == place:
            finder.names.update(names)
            return
    # After all others but those of folders that were named before.
    where = sys.meta_path.index(known[0]) if known else len(sys.meta_path)
    sys.meta_path.insert(where, LocalModules(place, names))


def allowed_local_modules() -> dict[str, list[str]]:
    """The folders and names that are allowed so far, for processes that are to import the same."""
    return {finder.folder: sorted(finder.names) for finder in _finders()}


def allow_all(allowed: Mapping[str, Collection[str]]) -> None:
    for folder, names in allowed.items():
        allow_local_modules(folder, names)


def is_untrusted_neighbour(name: str) -> bool:
    """Whether a module cannot be imported only because its name is not among the trusted ones."""
    return any(name not in finder.names and finder.has(name) for finder in _finders())


def _finders() -> list[LocalModules]:
    return [finder for finder in sys.meta_path if isinstance(finder, LocalModules)]
