"""Open an SQLite file, wait for other processes that use it, and translate its errors.

Transactions are short. A database must not be used after a fork: each process opens its own.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

from msl.store.schema import MIGRATIONS, has_programs, is_foreign, migrate, schema_version
from msl.store.store_error import StoreError, damaged, not_writable, translated

#: Seconds to wait for the locks of other processes.
PATIENCE = 30.0

#: Seconds between commits that wait for the disk. Only a loss of power can undo the commits between them, each as a
#: whole; waiting each time would cost some milliseconds a batch.
_FLUSH_EVERY = 1.0
_LARGEST_JOURNAL = 16_000_000
_HIGHEST_VERSION = 10_000  # a higher number is damage, not a future version
_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")

Row = tuple[Any, ...]


class Database:
    """The open database of a store, migrated to the newest schema if it may be written.

    `note` is a sentence about what the folder does not allow, or empty.
    """

    def __init__(self, path: Path, *, patience: float = PATIENCE, read_only: bool = False) -> None:
        self.path, self.patience, self.read_only, self.note = path, patience, read_only, ""
        self._lock = threading.RLock()
        self._flushed = monotonic() - _FLUSH_EVERY
        with translated(path):
            _refuse_missing_file(path)
            self._connection = _connect_to_read(path, patience) if read_only else _connect(path, "rwc", patience)
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        """All rows that a query returns."""
        with self._lock, translated(self.path):
            return self._execute(statement, values).fetchall()

    @contextmanager
    def transaction(self, *, keep: bool = True) -> Iterator[sqlite3.Connection]:
        """All writes inside are committed together or not at all; without `keep` they are rolled back."""
        if self.read_only:
            raise not_writable(self.path, "it was opened to be read")
        with self._lock, translated(self.path):
            if self._connection.in_transaction:
                raise RuntimeError("transactions do not nest")
            flush = monotonic() - self._flushed >= _FLUSH_EVERY
            if flush and self._write_ahead:
                self._execute("PRAGMA synchronous = FULL")
            try:
                self._execute("BEGIN IMMEDIATE")
                yield self._connection
                self._execute("COMMIT" if keep else "ROLLBACK")
            except BaseException:
                if self._connection.in_transaction:
                    with suppress(sqlite3.Error):  # the first error is the one to report
                        self._connection.execute("ROLLBACK")
                raise
            finally:
                if flush and self._write_ahead:
                    self._connection.execute("PRAGMA synchronous = NORMAL")
            if flush:
                self._flushed = monotonic()

    def shrink(self) -> None:
        """Frees the disk space of deleted rows, unless another process uses the database."""
        with self._lock, suppress(sqlite3.OperationalError):
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def size(self) -> int:
        """Bytes on the disk, with the journal."""
        return sum(file.stat().st_size for file in (self.path, journal_of(self.path)) if file.exists())

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    # --- opening ---

    def _prepare(self) -> None:
        connection = self._connection
        self._execute("PRAGMA schema_version")  # reads the header, so that a file that is no database fails here
        if is_foreign(connection):
            raise StoreError(
                "MSL510",
                f"{self.path} is a database, but not one of MSL",
                "name another folder with `--store FOLDER`, or move this file away",
            )
        connection.execute("PRAGMA trusted_schema = OFF")
        if has_programs(connection):
            raise damaged(self.path, "it has triggers or views, which no store has")
        version = schema_version(connection)
        if not 0 <= version < _HIGHEST_VERSION:
            raise damaged(self.path, f"its schema cannot be number {version}")
        if version > len(MIGRATIONS):
            raise StoreError(
                "MSL504",
                f"the store {self.path.parent} was made by a newer version of MSL (its schema is number"
                f" {version}, this version knows {len(MIGRATIONS)})",
                "upgrade with `pip install -U msl-lang`, or name another folder with `--store FOLDER`",
            )
        connection.execute("PRAGMA foreign_keys = ON")
        if self.read_only:
            self._write_ahead = False
            if version < len(MIGRATIONS):
                self._connection = _copy_to_memory(connection)
                migrate(self._connection, MIGRATIONS)
            return
        self._write_ahead = self._choose_journal() == "wal"
        connection.execute(f"PRAGMA synchronous = {'NORMAL' if self._write_ahead else 'FULL'}")
        connection.execute(f"PRAGMA journal_size_limit = {_LARGEST_JOURNAL}")
        if version < len(MIGRATIONS):
            with self.transaction():
                migrate(connection, MIGRATIONS)

    def _choose_journal(self) -> str:
        """Write-ahead logging where the folder allows it, so that readers and a writer do not wait for each other."""
        wanted = "delete" if is_on_network(self.path.parent) else "wal"
        mode = str(self._execute(f"PRAGMA journal_mode = {wanted}").fetchone()[0])
        if mode != "wal":
            why = "it is on a network" if wanted == "delete" else "it has no memory that processes can share"
            self.note = (
                f"the folder {self.path.parent} does not allow write-ahead logging ({why}): the store works,"
                " but runs wait for each other; do not use it from several machines at once"
            )
        return mode

    def _execute(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """Executes a statement and waits for locks, because SQLite itself does not wait where it sees a deadlock."""
        deadline = monotonic() + self.patience
        pause = 0.001
        while True:
            try:
                return self._connection.execute(statement, values)
            except sqlite3.OperationalError as error:
                if not _is_busy(error) or monotonic() > deadline:
                    raise
            sleep(pause)
            pause = min(2 * pause, 0.1)


def _connect(path: Path, mode: str, patience: float) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,  # `_lock` takes its place
    )


def _connect_to_read(path: Path, patience: float) -> sqlite3.Connection:
    """Opens to read. SQLite writes locks beside the file even then; where it may not, a copy is read."""
    connection = _connect(path, "ro", patience)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema")
        return connection
    except sqlite3.OperationalError as error:
        connection.close()
        if not _name(error).startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
            raise
    with TemporaryDirectory() as folder:
        copy = copy_database(path, Path(folder) / path.name)
        return _copy_to_memory(_connect(copy, "rw", patience))


def _copy_to_memory(connection: sqlite3.Connection) -> sqlite3.Connection:
    """A copy in memory, which may be changed; closes the original."""
    memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    with closing(connection):
        connection.backup(memory)
    return memory


def copy_database(path: Path, copy: Path) -> Path:
    """Copies a database and its journal, as far as they exist, to another name."""
    for file, new in ((path, copy), (journal_of(path), journal_of(copy))):
        if file.exists():
            shutil.copyfile(file, new)
    return copy


def journal_of(path: Path) -> Path:
    """The write-ahead log of a database."""
    return path.with_name(path.name + "-wal")


def _name(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", None) or ""


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return _name(error).startswith(_BUSY)


def _refuse_missing_file(path: Path) -> None:
    """Refuses a journal without its database: SQLite would delete it, and all that could be recovered from it."""
    journal = journal_of(path)
    if journal.exists() and journal.stat().st_size and not (path.exists() and path.stat().st_size):
        raise damaged(path, "it is empty or gone, but its journal is still there")


# --- Folders on a network, where processes cannot share memory through a file. ----------------------------------------


_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = frozenset(
    "9p acfs afs beegfs ceph cifs coda fuse.ceph fuse.glusterfs fuse.s3fs fuse.sshfs glusterfs gpfs lustre ncpfs nfs"
    " nfs4 ocfs2 orangefs pvfs2 smb2 smb3 smbfs".split()
)

_ESCAPE = re.compile(r"\\([0-7]{3})")  # a blank in a name is \040


def is_on_network(folder: Path) -> bool:
    """Whether a folder is on a network file system; False on systems without a table of mounts."""
    try:
        lines = _MOUNTS.read_text(errors="replace").splitlines()
    except OSError:
        return False
    return file_system_of(folder.resolve(), lines) in _NETWORK


def file_system_of(folder: Path, mountinfo: list[str]) -> str:
    """The type of the file system that holds a folder: that of the deepest mount above it, the latest of several."""
    depth, kind = -1, ""
    for line in mountinfo:
        place, _, system = line.partition(" - ")
        fields, after = place.split(), system.split()
        if len(fields) < 5 or not after:
            continue
        mount = Path(_ESCAPE.sub(lambda found: chr(int(found[1], 8)), fields[4]))
        if folder.is_relative_to(mount) and len(mount.parts) >= depth:
            depth, kind = len(mount.parts), after[0]
    return kind
