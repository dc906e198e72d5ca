"""Whereabouts: in which folder a run is looked for, and which run of that store its name means.

A run is named alone (`@`, `@1`, the start of an id), with the folder of its spec before it (`specs/@1`), or by its spec
(`specs/psms.msl`), which means the latest run of that spec.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath

from msl.runs.database import journal_of
from msl.runs.problem import StoreProblem, translated
from msl.runs.run import Run
from msl.runs.run_name import find_run_id
from msl.runs.store import DATABASE, Store, store_folder

_SPEC = ".msl"
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Place:
    """A store, and the name of a run there."""

    folder: Path
    name: str

    def run_in(self, store: Store) -> Run:
        """The run that is meant, in this store; raises StoreProblem where there is none."""
        if not self.name.endswith(_SPEC):
            return store.runs.get(find_run_id(self.name, store.runs.ids()))
        own = [run for run in store.runs.all() if PurePath(run.spec).name == self.name]
        if not own:
            raise StoreProblem("MSL506", f"{self.folder} has no run of `{self.name}`", "`msl log` lists its runs")
        return own[0]


def place_of_run(name: str, named: Path | None = None) -> Place:
    """Where to look for a run; `named` is the store that the user names."""
    folder, slash, last = name.rpartition("/")
    if name.endswith(_SPEC) and len(last) > len(_SPEC):
        return Place(store_folder(Path(name)) if named is None else find_store(named), last)
    if slash and named is None:
        return Place(find_store(Path(folder or "/")), last or "@")
    return Place(find_store(named), name)


def find_store(named: Path | None = None) -> Path:
    """The folder of a store: the one that is named, that of a spec that is named, or `.msl` of the current folder."""
    here = Path() if named is None else named
    with translated(here):
        for folder in _candidates(named):
            if has_store(folder):
                return folder
        raise _nowhere(Path(".msl") if named is None else named, here)


def has_store(folder: Path) -> bool:
    """Whether there is a database, or what is left of one."""
    return (folder / DATABASE).exists() or journal_of(folder / DATABASE).exists()


def _candidates(named: Path | None) -> list[Path]:
    if named is None:
        return [Path(".msl")]
    return [store_folder(named)] if named.is_file() else [named, named / ".msl"]


def _nowhere(wanted: Path, here: Path) -> StoreProblem:
    found = [str(folder) for folder in _below(here if here.is_dir() else here.parent)]
    match found:
        case []:
            help = "start a run with `msl run`, or name its folder with `--store FOLDER`"
        case [only]:
            help = f"there is one in {only}: add `--store {only}`"
        case _:
            more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
            help = f"there are stores in {', '.join(found[:_MOST_NAMED])}{more}: name one with `--store FOLDER`"
    return StoreProblem("MSL514", f"there is no store in {wanted}", help)


def _below(folder: Path) -> list[Path]:
    """Stores of this folder and of those right below it."""
    found: list[Path] = []
    with suppress(OSError):
        for inner in (folder, *sorted(one for one in folder.iterdir() if one.is_dir())):
            found += [store for store in (inner / ".msl", inner) if _is_store(store)]
    return list(dict.fromkeys(found))


def _is_store(folder: Path) -> bool:
    """As `has_store`, but a folder that may not be read has none."""
    try:
        return has_store(folder)
    except OSError:
        return False
