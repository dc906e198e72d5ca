"""Offers: strategies of other packages, known by their entry points and declared in a file of theirs.

A package names a strategy in the group `msl.strategies`, as `name = "package.module:function"`, and declares it with
its options in `strategies.msl`, in the folder of that module or in one above it inside the package. Both are read
without importing anything, so that checking a spec never runs code of a package.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from msl.text.record import record

GROUP = "msl.strategies"
FILE = "strategies.msl"


@record
class Offer:
    """A name that a spec can use, `module:function` behind it, and the package that both come from."""

    name: str
    target: str
    package: str

    def declarations(self) -> Path | None:
        """The file that declares it, or None."""
        top, *inner = self.target.partition(":")[0].split(".")
        found = find_spec(top)  # finding a package imports only what is above it, and nothing is
        if found is None:
            return None
        folders = [Path(place) for place in found.submodule_search_locations or ()]
        if not folders and found.origin is not None:  # a single module: the file is named after it
            beside = Path(found.origin).with_suffix(".msl")
            return beside if beside.is_file() else None
        deepest_first = [inner[:depth] for depth in range(len(inner), -1, -1)]
        candidates = [folder.joinpath(*way, FILE) for way in deepest_first for folder in folders]
        return next((path for path in candidates if path.is_file()), None)


def offers() -> dict[str, Offer]:
    """All that is installed; of several packages with one name, the first by what it stands for has it."""
    from importlib.metadata import entry_points  # not needed by specs that use what ships

    found: dict[str, Offer] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        package = point.dist.name if point.dist is not None else point.module
        found.setdefault(point.name, Offer(point.name, point.value, package))
    return found
