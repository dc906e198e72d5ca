"""Find a stored run by its name and load its trained model, with the packages that may be imported for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msl.cli.shared.console import tell

if TYPE_CHECKING:
    from msl.data.table import Table
    from msl.runner.trained_model import Trained
    from msl.store.store import Store


import os
from collections.abc import Collection, Sequence
from functools import cached_property

from msl.diagnostics.user_error import UserError

RUN_HELP = "A run: @ is the latest, @1 the one before, or the start of its id; specs/@ for that of another folder."
STORE_HELP = "Instead of .msl in this folder."


@contextmanager
def opened_run(name: str, folder: Path | None) -> Iterator[tuple[Store, str]]:
    """The store, opened for reading, and the full id of the named run."""
    from msl.store.store import Store, locate_run

    place = locate_run(name, folder)
    with Store.open(place.folder, read_only=True) as store:
        yield store, place.run_in(store).id


@contextmanager
def opened_store(folder: Path | None, *, read_only: bool = True) -> Iterator[Store]:
    """The named store, or that of the current folder."""
    from msl.store.store import Store, find_store

    with Store.open(find_store(folder), read_only=read_only) as store:
        yield store


def load_winner(name: str, folder: Path | None, trusted: Trusted, *, best: bool = False) -> tuple[Trained, str]:
    """The final model of a run, or its best model alone, and the run's full id."""
    from msl.blocks.base.load import allow_local_modules
    from msl.runner.trained_model import load_trained, other_versions

    with opened_run(name, folder) as (store, run):
        allow_local_modules(store.folder.absolute().parent, trusted.given)  # beside the spec, as in `msl run`
        trained = load_trained(store.files, run, trusted, best=best)
    trusted.tell_of_file()
    for package, (before, now) in other_versions(trained).items():
        tell(f"warning: trained with {package} {before}, and this is {now}: predictions may differ")
    return trained, run


def read_for_winner(trained: Trained, path: str) -> Table:
    """Reads a table for a trained model and prints warnings about it."""
    from msl.data.data_errors import listed

    table = trained.read(path, with_target=False)
    for odd in table.warnings:
        tell(f"warning: {odd.message}; {odd.help}" if odd.help else f"warning: {odd.message}")
    if names := trained.new_gaps(table):
        told = listed(f"`{name}`" for name in names)
        columns = f"column {told} has" if len(names) == 1 else f"columns {told} have"
        stand_in = "where a block does not support them, the median of the training rows is used"
        tell(f"warning: {columns} missing values here and none in training; {stand_in}")
    return table


# --- Which packages may be imported -----------------------------------------------------------------------------------


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
