"""Find the catalogues that ship, by name and version, and the strategies that other packages offer.

Version 1 of `clop` is `catalogue/clop.msl`, version 2 would be `catalogue/clop.2.msl`. A released version never
changes: `released.json` holds the digest of each, and the tests compare.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from msl.record import record

#: Which version `use clop` means in a file of each edition.
EDITIONS: dict[int, dict[str, int]] = {
    1: {
        "clop": 1,
        "extras": 1,
        "sbm": 1,
        "kms": 1,
        "rbf": 1,
        "sklearn": 1,
        "compose": 1,
        "boosting": 1,
        "tables": 1,
    }
}
NEWEST_EDITION = max(EDITIONS)

#: Catalogues that are always there and never named by `use`: what `search`, `by`, `ensemble` and `minimize` take.
IMPLIED = {"strategy": "strategies", "estimate": "estimates", "combiner": "ensembles", "metric": "metrics"}


_FOLDER = Path(__file__).parents[2] / "catalogue"
_TARGET = re.compile(r'"([^"\n]*)"')
_STATEMENT = re.compile(r"^(msl|use|block|part)\b(?: +(\w+) *(:|=)? *(\w+)?)?", re.MULTILINE)


@record
class Piece:
    """One statement of a catalogue, known by its first words; `start` and `end` are offsets."""

    keyword: str
    name: str
    kind: str
    role: str | None
    start: int
    end: int
    #: The class or function of a block, such as `msl.search:pso`.
    target: str | None = None


def pieces(text: str) -> Iterator[Piece]:
    """The statements of a catalogue, each of which starts a line; a test holds catalogues to that form."""
    found = list(_STATEMENT.finditer(text))
    for match, following in zip(found, [*found[1:], None], strict=True):
        keyword, name, sign, role = match.groups()
        if keyword == "msl":
            continue
        kind = "derived" if keyword == "block" and sign == "=" else keyword
        end = len(text) if following is None else following.start()
        target = _TARGET.search(text, match.end(), end) if kind == "block" else None
        yield Piece(
            keyword, name or "", kind, role if kind == "block" else None, match.start(), end, target and target[1]
        )


def names() -> list[str]:
    return sorted({name for versions in EDITIONS.values() for name in versions})


@cache
def versions(name: str) -> tuple[int, ...]:
    """The versions of a catalogue that ship, in order."""
    found = []
    for file in _FOLDER.glob(f"{name}*.msl"):
        stem, _, version = file.stem.partition(".")
        if stem == name:
            found.append(int(version or 1))
    return tuple(sorted(found))


def text(name: str, version: int) -> str:
    """The text of a catalogue."""
    file = f"{name}.msl" if version == 1 else f"{name}.{version}.msl"
    return (_FOLDER / file).read_text(encoding="utf-8")


def shipped_strategies() -> dict[str, str]:
    """The strategies that ship, in the order of their catalogue, each with its target."""
    declared = pieces(text(IMPLIED["strategy"], 1))
    return {piece.name: piece.target for piece in declared if piece.target is not None}


# --- strategies, estimates and metrics of other packages --------------------------------------------------------------
#
# A package names a strategy in the group `msl.strategies`, as `name = "package.module:function"`, and declares it with
# its options in `strategies.msl`, in the folder of that module or in one above it inside the package. Estimates and
# metrics likewise. Both are read without importing anything, so that checking a spec never runs code of a package.

#: The roles that other packages can add to.
OFFERED = ("strategy", "estimate", "metric")


@record
class Offer:
    """A name that a spec can use, its `module:function`, and the package that offers it."""

    name: str
    target: str
    package: str
    role: str = "strategy"

    @property
    def group(self) -> str:
        """The group of its entry point."""
        return f"msl.{IMPLIED[self.role]}"

    @property
    def file(self) -> str:
        """The name of the file that declares it."""
        return f"{IMPLIED[self.role]}.msl"

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
        candidates = [folder.joinpath(*names, self.file) for names in deepest_first for folder in folders]
        return next((path for path in candidates if path.is_file()), None)


def offers(role: str = "strategy") -> dict[str, Offer]:
    """All that installed packages offer; of several with one name, the first by target."""
    from importlib.metadata import entry_points  # not needed by specs that use what ships

    found: dict[str, Offer] = {}
    for point in sorted(entry_points(group=f"msl.{IMPLIED[role]}"), key=lambda point: (point.name, point.value)):
        package = point.dist.name if point.dist is not None else point.module
        found.setdefault(point.name, Offer(point.name, point.value, package, role))
    return found
