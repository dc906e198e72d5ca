"""Open the folder `.msl`, with its database of evaluations and runs and its files, and find stores and runs by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from types import TracebackType

from msl.store.database import PATIENCE, Database, journal_of
from msl.store.evaluation import Evaluation, StoredQuery
from msl.store.evaluation_table import EvaluationTable
from msl.store.files import Files
from msl.store.run_table import RunTable
from msl.store.schema import Clock, utc_now
from msl.store.store_error import StoreError, translated
from msl.store.stored_run import Event, Run, find_run_id

DATABASE = "store.sqlite"


def store_folder(spec: Path) -> Path:
    """The default place of the store of a spec: beside it."""
    return spec.absolute().parent / ".msl"


class Store:
    """An open store. Any number of processes may have it open at once; within one, threads take turns.

    `note` is a sentence about what the folder does not allow, or empty. Use it in a `with`, or `close` it.
    """

    def __init__(self, folder: Path, database: Database, clock: Clock) -> None:
        """Use `Store.open`."""
        self.folder, self.database, self.clock = folder, database, clock
        self.evaluations = EvaluationTable(database, clock)
        self.runs = RunTable(database, clock)
        self.files = Files(folder)

    @classmethod
    def open(
        cls, folder: Path, *, read_only: bool = False, clock: Clock = utc_now, patience: float = PATIENCE
    ) -> Store:
        """Opens a store, and creates or migrates it if needed; with `read_only` it has to exist."""
        path = folder / DATABASE
        if read_only:
            if not path.exists() and not journal_of(path).exists():
                raise no_store(folder)
            return cls(folder, Database(path, patience=patience, read_only=True), clock)
        with translated(folder):
            folder.mkdir(parents=True, exist_ok=True)
            ignore = folder / ".gitignore"
            with suppress(FileExistsError), ignore.open("x", encoding="utf-8") as file:
                file.write("# The store is made anew from the spec; commit the spec and its lock file.\n*\n")
            Files(folder).create()
        return cls(folder, Database(path, patience=patience), clock)

    @property
    def note(self) -> str:
        return self.database.note

    def record(
        self,
        run: str,
        evaluations: Iterable[Evaluation] = (),
        asks: Sequence[StoredQuery] = (),
        events: Iterable[Event] = (),
    ) -> None:
        """Stores a batch of a run in one transaction: its evaluations, queries and events.

        A batch that is recorded again, as in a replay, changes nothing; one that differs is an error.
        """
        with self.database.transaction() as connection:
            self.evaluations.put(connection, evaluations, run)
            self.runs.put_asks(connection, run, asks)
            self.runs.put_events(connection, run, events)

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def no_store(folder: Path) -> StoreError:
    return StoreError(
        "MSL514",
        f"there is no store in {folder}",
        "start a run with `msl run`, or name its folder with `--store FOLDER`",
    )


# --- Finding stores and runs. -----------------------------------------------------------------------------------------
#
# A run is named alone (`@`, `@1`, the start of an id), with the folder of its spec before it (`specs/@1`), or by its
# spec (`specs/psms.msl`), which means the latest run of that spec.


_SPEC = ".msl"
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Place:
    """A store, and the name of a run there."""

    folder: Path
    name: str

    def run_in(self, store: Store) -> Run:
        """The run in this store; raises StoreError where there is none."""
        if not self.name.endswith(_SPEC):
            return store.runs.get(find_run_id(self.name, store.runs.ids()))
        own = [run for run in store.runs.all() if PurePath(run.spec).name == self.name]
        if not own:
            raise StoreError("MSL506", f"{self.folder} has no run of `{self.name}`", "`msl log` lists its runs")
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
    """Whether there is a database, or at least its journal."""
    return (folder / DATABASE).exists() or journal_of(folder / DATABASE).exists()


def _candidates(named: Path | None) -> list[Path]:
    if named is None:
        return [Path(".msl")]
    return [store_folder(named)] if named.is_file() else [named, named / ".msl"]


def _nowhere(wanted: Path, here: Path) -> StoreError:
    found = [str(folder) for folder in _below(here if here.is_dir() else here.parent)]
    match found:
        case []:
            help = "start a run with `msl run`, or name its folder with `--store FOLDER`"
        case [only]:
            help = f"there is one in {only}: add `--store {only}`"
        case _:
            more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
            help = f"there are stores in {', '.join(found[:_MOST_NAMED])}{more}: name one with `--store FOLDER`"
    return StoreError("MSL514", f"there is no store in {wanted}", help)


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
