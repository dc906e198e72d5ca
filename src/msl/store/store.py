"""Open a store, the folder `.msl` with its database and its files, and find stores and runs by name."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from types import TracebackType

from msl.store.database import PATIENCE, Database, journal_of
from msl.store.evaluation import Evaluation, StoredQuery
from msl.store.evaluation_table import EvaluationTable
from msl.store.outputs_table import NewOutputs, OutputsTable
from msl.store.run_table import RunTable
from msl.store.schema import Clock, utc_now
from msl.store.store_error import StoreError, translated
from msl.store.stored_run import Event, Process, Run, find_run_id, is_alive, is_run_id, this_process

#: The name of a file that a process is writing; the number is the id of the process.
_PART = re.compile(r".+\.(\d+)\.part")


class Files:
    """The folders `models` and `reports` of a store."""

    def __init__(self, folder: Path) -> None:
        self.models, self.reports = folder / "models", folder / "reports"

    def create(self) -> None:
        for folder in (self.models, self.reports):
            make_folder(folder)

    def model(self, run: str, suffix: str = ".skops") -> Path:
        """The path of a model of a run; `suffix` distinguishes several, as in `.best.skops`."""
        return self.models / f"{_checked_id(run)}{suffix}"

    def report(self, run: str, suffix: str = ".html") -> Path:
        """The path of a report of a run."""
        return self.reports / f"{_checked_id(run)}{suffix}"

    def of_run(self, run: str) -> list[Path]:
        """The models and reports of a run, by name."""
        return [file for file in self.everything() if run_of_file(file) == run]

    def everything(self) -> list[Path]:
        """All models and reports, and the temporary files of those that are being written."""
        # A linked folder does not belong to the store, so its files must not be removed as files of no run.
        folders = [folder for folder in (self.models, self.reports) if folder.is_dir() and not folder.is_symlink()]
        return [file for folder in folders for file in sorted(folder.iterdir()) if file.is_file()]

    def orphans(self, runs: Collection[str]) -> list[Path]:
        """Files that belong to none of these runs, and temporary files whose process is gone."""
        return [file for file in self.everything() if is_orphan(file, runs)]


def make_folder(folder: Path) -> None:
    """Makes a folder for models or reports; a link, which may lead anywhere, is refused."""
    folder.mkdir(exist_ok=True)
    if folder.is_symlink():
        raise StoreError(
            "MSL501",
            f"{folder} is a link to another folder, and a store keeps its files in its own",
            "remove the link, or name another folder with `--store FOLDER`",
        )


def _checked_id(run: str) -> str:
    """The id of a run, checked so that it cannot lead to another folder."""
    if not is_run_id(run):
        raise StoreError("MSL506", f"there is no run `{run}`", "`msl log` lists the runs of the store")
    return run


def is_orphan(file: Path, runs: Collection[str]) -> bool:
    """Whether a file belongs to none of these runs; a temporary file belongs to the process that writes it."""
    if found := _PART.fullmatch(file.name):
        return is_alive(Process(this_process().host, int(found[1]))) is False
    return run_of_file(file) not in runs


def run_of_file(file: Path) -> str:
    """The id of the run in the name of a file: everything before the first dot."""
    return file.name.partition(".")[0]


def write_atomically(path: Path, content: bytes | str) -> None:
    """Writes a file atomically: it has the old or the new content at any time, even if power is lost."""
    data = content.encode() if isinstance(content, str) else content
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with translated(path):
        try:
            part.unlink(missing_ok=True)
            with part.open("xb") as stream:  # a new file, never one that a link leads to
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            part.replace(path)
            _remove_old_parts(path)
        except BaseException:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise


def _remove_old_parts(path: Path) -> None:
    """Removes temporary files for this path that killed processes have left."""
    for part in path.parent.glob(f"{glob.escape(path.name)}.*.part"):
        if is_orphan(part, ()):
            part.unlink(missing_ok=True)


DATABASE = "store.sqlite"


def store_folder(spec: Path) -> Path:
    """The default place of the store of a spec: beside it."""
    return spec.absolute().parent / ".msl"


class Store:
    """An open store. Any number of processes may have it open; the threads of one process take turns.

    `note` is a sentence about what the folder does not allow, or empty. Use the store in a `with`, or `close` it.
    """

    def __init__(self, folder: Path, database: Database, clock: Clock) -> None:
        """Use `Store.open`."""
        self.folder, self.database, self.clock = folder, database, clock
        self.evaluations = EvaluationTable(database, clock)
        self.outputs = OutputsTable(database)
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
        queries: Sequence[StoredQuery] = (),
        events: Iterable[Event] = (),
        outputs: NewOutputs | None = None,
    ) -> None:
        """Stores a batch of a run in one transaction: its evaluations, with their outputs, its queries and events.

        Recording the same batch again, as a resumed run does, changes nothing. A batch that differs is an error.
        Outputs that are too many are dropped at the end of a batch, so that what is kept does not depend on the order
        in which the outcomes of a batch arrive.
        """
        with self.database.transaction() as connection:
            self.evaluations.put(connection, evaluations, run)
            if outputs is not None:
                self.outputs.put(connection, outputs)
                if queries:
                    self.outputs.drop_worst(connection, outputs)
            self.runs.put_queries(connection, run, queries)
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
class RunLocation:
    """The folder of a store, and the name of a run in it."""

    folder: Path
    name: str

    def run_in(self, store: Store) -> Run:
        """The run with this name; raises StoreError if there is none."""
        if not self.name.endswith(_SPEC):
            return store.runs.get(find_run_id(self.name, store.runs.ids()))
        own = [run for run in store.runs.all() if PurePath(run.spec).name == self.name]
        if not own:
            raise StoreError("MSL506", f"{self.folder} has no run of `{self.name}`", "`msl log` lists its runs")
        return own[0]


def locate_run(name: str, named: Path | None = None) -> RunLocation:
    """The store in which to look for a run; `named` is the `--store` of the user, if there is one."""
    folder, slash, last = name.rpartition("/")
    if name.endswith(_SPEC) and len(last) > len(_SPEC):
        return RunLocation(store_folder(Path(name)) if named is None else find_store(named), last)
    if slash and named is None:
        return RunLocation(find_store(Path(folder or "/")), last or "@")
    return RunLocation(find_store(named), name)


def find_store(named: Path | None = None) -> Path:
    """The folder of a store: `named` itself, or the `.msl` in it, beside it (for a spec) or in the current folder."""
    here = Path() if named is None else named
    with translated(here):
        for folder in _candidates(named):
            if has_store(folder):
                return folder
        raise _no_store_error(Path(".msl") if named is None else named, here)


def has_store(folder: Path) -> bool:
    """Whether a folder has a database, or at least its journal."""
    return (folder / DATABASE).exists() or journal_of(folder / DATABASE).exists()


def _candidates(named: Path | None) -> list[Path]:
    if named is None:
        return [Path(".msl")]
    return [store_folder(named)] if named.is_file() else [named, named / ".msl"]


def _no_store_error(wanted: Path, here: Path) -> StoreError:
    """The error that there is no store, with a help that names stores nearby."""
    found = [str(folder) for folder in _stores_near(here if here.is_dir() else here.parent)]
    match found:
        case []:
            help = "start a run with `msl run`, or name its folder with `--store FOLDER`"
        case [only]:
            help = f"there is one in {only}: add `--store {only}`"
        case _:
            more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
            help = f"there are stores in {', '.join(found[:_MOST_NAMED])}{more}: name one with `--store FOLDER`"
    return StoreError("MSL514", f"there is no store in {wanted}", help)


def _stores_near(folder: Path) -> list[Path]:
    """The stores of a folder and of its direct subfolders."""
    found: list[Path] = []
    with suppress(OSError):
        for inner in (folder, *sorted(one for one in folder.iterdir() if one.is_dir())):
            found += [store for store in (inner / ".msl", inner) if _is_store(store)]
    return list(dict.fromkeys(found))


def _is_store(folder: Path) -> bool:
    """As `has_store`, but False for a folder that may not be read."""
    try:
        return has_store(folder)
    except OSError:
        return False
