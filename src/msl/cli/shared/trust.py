"""Which packages may be imported: those of `--trust`, and those in the user's own trust file.

The file is in the user's configuration folder and nowhere else: a file beside a spec may come with the spec. For the
same reason it names installed packages only; a module beside a spec needs `--trust`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from msl.cli.shared.console import tell
from msl.diagnostics.user_error import UserError

_MOST_BYTES = 100_000


def trust_file() -> Path | None:
    """The path of the user's trust file, which need not exist; None where there is no home folder."""
    configured = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    if configured.is_absolute():  # the standard says to ignore relative paths
        return configured / "msl" / "trust"
    try:
        return Path.home() / ".config" / "msl" / "trust"
    except RuntimeError:
        return None


class Trusted(Collection[str]):
    """Names of packages. The trust file is read when a package is needed that the command line does not name."""

    def __init__(self, given: Sequence[str] | None) -> None:
        self.given = tuple(given or ())
        #: Packages that were needed and that the file names.
        self.from_file: list[str] = []

    def __contains__(self, name: object) -> bool:
        if name in self.given:
            return True
        if not isinstance(name, str) or name not in self._own:
            return False
        if name not in self.from_file:
            self.from_file.append(name)
        return True

    def __iter__(self) -> Iterator[str]:
        return iter((*self.given, *self.from_file))

    def __len__(self) -> int:
        return len(self.given) + len(self.from_file)

    def tell_of_file(self) -> None:
        """Prints which packages are trusted because of the file."""
        for name in self.from_file:
            tell(f"note: `{name}` is trusted, as {trust_file()} says")

    @cached_property
    def _own(self) -> frozenset[str]:
        path = trust_file()
        return frozenset() if path is None else frozenset(_read(path))


def _read(path: Path) -> list[str]:
    """The names in a file, one a line; a `#` begins a comment."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return []
    except OSError as reason:
        raise UserError(f"{path} cannot be read: {reason.strerror}", "fix it, or remove it") from None
    if len(content) > _MOST_BYTES:
        raise UserError(f"{path} is too large for a list of packages", "write one name a line")
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8 text", "save it as UTF-8, with the name of one package a line") from None
    names = []
    for number, line in enumerate(lines, 1):
        name = line.partition("#")[0].strip()
        if name and not name.isidentifier():
            message = f"{path}, line {number}: `{name[:80]}` is not the name of a package"
            raise UserError(message, "write one name a line, such as `lightgbm`; a `#` begins a comment")
        names += [name] if name else []
    return names
