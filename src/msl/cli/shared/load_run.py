"""Find a stored run by its name and load its trained model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msl.cli.shared.console import tell
from msl.cli.shared.trust import Trusted

if TYPE_CHECKING:
    from msl.data.table import Table
    from msl.runner.trained import Trained
    from msl.store.store import Store

RUN_HELP = "A run: @ is the latest, @1 the one before, or the start of its id; specs/@ for that of another folder."
STORE_HELP = "Instead of .msl in this folder."


@contextmanager
def opened_run(name: str, folder: Path | None) -> Iterator[tuple[Store, str]]:
    """The store, opened for reading, and the full id of the named run."""
    from msl.store.store import Store, place_of_run

    place = place_of_run(name, folder)
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
    from msl.runner.trained import load_trained, other_versions

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

    table = trained.read(path, is_judged=False)
    for odd in table.warnings:
        tell(f"warning: {odd.message}; {odd.help}" if odd.help else f"warning: {odd.message}")
    if names := trained.new_gaps(table):
        told = listed(f"`{name}`" for name in names)
        columns = f"column {told} has" if len(names) == 1 else f"columns {told} have"
        stand_in = "where a block does not support them, the median of the training rows is used"
        tell(f"warning: {columns} missing values here and none in training; {stand_in}")
    return table
