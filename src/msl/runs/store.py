"""Store: the folder `.msl` — a database of evaluations and runs, and files of models and reports beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from msl.runs.asked import Asked
from msl.runs.clock import Clock, utc_now
from msl.runs.database import PATIENCE, Database, journal_of
from msl.runs.evaluation import Evaluation
from msl.runs.evaluation_table import EvaluationTable
from msl.runs.files import Files
from msl.runs.problem import StoreProblem, translated
from msl.runs.run import Event
from msl.runs.run_table import RunTable

DATABASE = "store.sqlite"


def store_folder(spec: Path) -> Path:
    """Where the store of a spec is when nobody says otherwise: beside it."""
    return spec.absolute().parent / ".msl"


class Store:
    """One store, open. Any number of processes may have it open at once; within one, threads take turns.

    `note` says in one sentence what the folder does not allow, or is empty. Use it in a `with`, or `close` it.
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
        """Opens a store, after making it or bringing it up to date where need be; to read, it must be there."""
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
        asks: Sequence[Asked] = (),
        events: Iterable[Event] = (),
    ) -> None:
        """Writes a batch of a run down at once: what was evaluated, what was asked, what was told.

        A batch that is recorded again, as a replay does, changes nothing; one that differs is a problem.
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


def no_store(folder: Path) -> StoreProblem:
    return StoreProblem(
        "MSL514",
        f"there is no store in {folder}",
        "start a run with `msl run`, or name its folder with `--store FOLDER`",
    )
