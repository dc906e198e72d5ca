"""Read and write the tables of runs: their sources, the queries of their strategies, and their events."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Literal, get_args

from msl.store.database import Database, Row
from msl.store.evaluation import StoredQuery, is_same_query, query_to_row, row_to_query
from msl.store.schema import (
    TABLES,
    UNREADABLE,
    BadRow,
    Clock,
    checksum,
    figures_of,
    figures_to_text,
    insertion,
    moment_to_text,
    selection,
    storable_text,
    text_of,
    text_to_moment,
    with_checksum,
    without_checksum,
)
from msl.store.store_error import StoreError, damaged
from msl.store.stored_run import (
    Digests,
    Event,
    NewRun,
    Process,
    Run,
    Status,
    find_run_id,
    is_alive,
    is_run_id,
    make_run_id,
    this_process,
)

#: A run on another machine counts as interrupted when it has written nothing for this long. If it is still running and
#: another process continues it, both do the same work twice, but they write the same rows.
_SILENCE = timedelta(hours=1)
_RUN = selection("runs")
_NEWEST_FIRST = "ORDER BY started DESC, rowid DESC"


class RunTable:
    """The runs of a store, with their sources, queries and events."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock

    # --- start and end ---

    def start(self, new: NewRun) -> Run:
        """Stores a new run, which this process runs."""
        now = self._clock()
        with self._database.transaction() as connection:
            attempt = 0
            while _exists(connection, run := make_run_id(new.digests.run, now, attempt)):
                attempt += 1
            connection.execute(insertion("runs"), new_run_to_row(new, run, now, this_process()))
            for path, text in new.sources.items():
                content = storable_text(text)
                digest = sha256(content.encode()).hexdigest()
                connection.execute(insertion("texts", "OR IGNORE"), (digest, content))
                connection.execute(insertion("sources"), (run, storable_text(path), digest))
        return self.get(run)

    def claim(self, run: str) -> Run:
        """Makes this process the one that continues a run; raises StoreError while another process runs it."""
        process, now = this_process(), self._clock()
        with self._database.transaction() as connection:
            known = self.get(run)
            if known.status == "running" and known.process != process:
                raise StoreError(
                    "MSL511",
                    f"the run `{run}` is going on in process {known.process.pid} on {known.process.host}",
                    "wait until it has ended, or end it; what it has stored is kept",
                )
            connection.execute(
                "UPDATE runs SET status = 'running', ended = NULL, seen = ?, host = ?, pid = ?, born = ? WHERE id = ?",
                (moment_to_text(now), process.host, process.pid, process.born, run),
            )
            self.put_events(connection, run, [Event("resumed", {"after": moment_to_text(known.seen)})])
        return self.get(run)

    def end(
        self,
        run: str,
        status: Literal["finished", "interrupted", "failed"],
        result: Mapping[str, Any] | None = None,
    ) -> None:
        """Stores how a run ended; without a `result` the stored one stays."""
        now = moment_to_text(self._clock())
        with self._database.transaction() as connection:
            self._touch(connection, run)
            connection.execute("UPDATE runs SET status = ?, ended = ? WHERE id = ?", (status, now, run))
            if result is not None:
                connection.execute("UPDATE runs SET result = ? WHERE id = ?", (figures_to_text(result), run))
                (row,) = connection.execute(f"{_RUN} WHERE id = ?", (run,))
                connection.execute("UPDATE runs SET checksum = ? WHERE id = ?", (run_checksum(row), run))

    def mark_interrupted(self) -> list[str]:
        """Stores that runs whose process is gone are interrupted; returns their ids."""
        gone = self.stale()
        with self._database.transaction() as connection:
            for run in gone:
                connection.execute("UPDATE runs SET status = 'interrupted', ended = seen WHERE id = ?", (run,))
        return gone

    # --- reading ---

    def all(self) -> list[Run]:
        """All runs, from the latest to the oldest."""
        return [self._run(row) for row in self._database.rows(f"{_RUN} {_NEWEST_FIRST}")]

    def ids(self) -> list[str]:
        """The ids of all runs, from the latest to the oldest."""
        found = [run for (run,) in self._database.rows(f"SELECT id FROM runs {_NEWEST_FIRST}")]
        for run in found:
            if not is_run_id(run):
                raise damaged(self._database.path, f"{run!r} is not the id of a run")
        return found

    def stale(self) -> list[str]:
        """The ids of runs that are stored as running, although their process is gone."""
        rows = self._database.rows(f"{_RUN} WHERE status = 'running' {_NEWEST_FIRST}")
        return [run.id for run in map(self._run, rows) if run.status == "interrupted"]

    def get(self, run: str) -> Run:
        """The run with this id."""
        for row in self._database.rows(f"{_RUN} WHERE id = ?", (run,)):
            return self._run(row)
        raise _no_such_run(run)

    def find(self, name: str) -> Run:
        """The run with this name: an id, the beginning of one, `@` for the latest, `@1` for the one before."""
        return self.get(find_run_id(name, self.ids()))

    def with_digest(self, digest: str) -> list[Run]:
        """The runs with this digest (see `Digests.run`), from the latest to the oldest."""
        return [
            self._run(row) for row in self._database.rows(f"{_RUN} WHERE run_digest = ? {_NEWEST_FIRST}", (digest,))
        ]

    def sources(self, run: str) -> dict[str, str]:
        """The text of every file that a run has read, by name."""
        rows = self._database.rows(
            "SELECT path, text FROM sources JOIN texts USING (digest) WHERE run = ? ORDER BY sources.rowid", (run,)
        )
        with self._decoding():
            return {text_of(path): text_of(text) for path, text in rows}

    def queries(self, run: str, first: int = 0, last: int | None = None) -> list[StoredQuery]:
        """The queries of a run with their observations, in order, from position `first` to `last` inclusive."""
        rows = self._database.rows(
            f"{selection('asks')} WHERE run = ? AND position BETWEEN ? AND ? ORDER BY position",
            (run, first, 2**62 if last is None else last),
        )
        with self._decoding():
            return [row_to_query(row) for row in rows]

    def count_queries(self, run: str) -> int:
        """The number of queries of a run so far."""
        return int(self._database.rows("SELECT count(*) FROM asks WHERE run = ?", (run,))[0][0])

    def events(self, run: str) -> list[Event]:
        """The events of the strategy, in order."""
        return self._events(run, "position IS NOT NULL ORDER BY position")

    def lifecycle(self, run: str) -> list[Event]:
        """The events of the run itself, such as that it was resumed, in order."""
        return self._events(run, "position IS NULL ORDER BY rowid")

    # --- writing ---

    def add_event(self, run: str, event: Event) -> None:
        """Stores one event."""
        with self._database.transaction() as connection:
            self._touch(connection, run)
            self.put_events(connection, run, [event])

    def put_queries(self, connection: sqlite3.Connection, run: str, queries: Sequence[StoredQuery]) -> None:
        """Stores queries as part of an open transaction; raises StoreError where a resumed run differs from before."""
        self._touch(connection, run)
        if not queries:
            return
        positions = [query.position for query in queries]
        known = {query.position: query for query in self.queries(run, min(positions), max(positions))}
        for query in queries:
            before = known.get(query.position)
            if before is not None and not is_same_query(query, before):
                raise StoreError(
                    "MSL512",
                    f"the run `{run}` does not repeat itself: query {query.position} was {before.key}, now it is"
                    f" {query.key}",
                    "something that the run depends on has changed without changing its digest: start a new run, and"
                    " please report it",
                )
        new = [query_to_row(run, query) for query in queries if query.position not in known]
        connection.executemany(insertion("asks"), new)

    def put_events(self, connection: sqlite3.Connection, run: str, events: Iterable[Event]) -> None:
        """Stores events as part of an open transaction; those that a resumed run repeats are ignored."""
        now = moment_to_text(self._clock())
        rows = [
            with_checksum((run, event.position, now, event.kind, figures_to_text(event.figures))) for event in events
        ]
        connection.executemany(insertion("events", "OR IGNORE"), rows)

    def _touch(self, connection: sqlite3.Connection, run: str) -> None:
        now = moment_to_text(self._clock())
        if not connection.execute("UPDATE runs SET seen = ? WHERE id = ?", (now, run)).rowcount:
            raise _no_such_run(run)

    # --- rows ---

    def _run(self, row: Row) -> Run:
        with self._decoding():
            run = row_to_run(row)
        return replace(run, status=self._status_now(run))

    def _status_now(self, run: Run) -> Status:
        if run.status != "running":
            return run.status
        alive = is_alive(run.process)
        if alive is None:
            alive = self._clock() - run.seen < _SILENCE
        return "running" if alive else "interrupted"

    def _events(self, run: str, which: str) -> list[Event]:
        rows = self._database.rows(f"{selection('events')} WHERE run = ? AND {which}", (run,))
        with self._decoding():
            return [row_to_event(row) for row in rows]

    @contextmanager
    def _decoding(self) -> Iterator[None]:
        try:
            yield
        except UNREADABLE as error:
            raise damaged(self._database.path, f"a row cannot be read: {error}") from error


def _exists(connection: sqlite3.Connection, run: str) -> bool:
    return connection.execute("SELECT 1 FROM runs WHERE id = ?", (run,)).fetchone() is not None


def _no_such_run(run: str) -> StoreError:
    return StoreError("MSL506", f"there is no run `{run}`", "`msl log` lists the runs of the store")


# --- Runs and events as rows. -----------------------------------------------------------------------------------------


#: Columns that are updated during a run, which the checksum leaves out.
_VOLATILE = frozenset({"status", "ended", "seen", "host", "pid", "born", "checksum"})


def new_run_to_row(new: NewRun, run: str, started: datetime, process: Process) -> tuple[Any, ...]:
    """The values of a run that has just started, in the order of the columns of the table."""
    digests, moment = new.digests, moment_to_text(started)
    row = (
        *(run, storable_text(new.name), storable_text(new.spec)),
        *(digests.space, digests.run, digests.data, digests.evaluation, digests.search),
        *(str(new.seed), figures_to_text(new.versions), figures_to_text(new.options)),
        *("running", moment, None, moment, process.host, process.pid, process.born, figures_to_text({})),
    )
    return (*row, run_checksum(row))


def run_checksum(row: Sequence[Any]) -> int:
    """The checksum of the columns that do not change during a run."""
    return checksum([value for name, value in zip(TABLES["runs"], row, strict=False) if name not in _VOLATILE])


def row_to_run(row: Sequence[Any]) -> Run:
    """The run in a row; raises BadRow if the row is damaged."""
    named = dict(zip(TABLES["runs"], row, strict=True))
    if named["checksum"] != run_checksum(row) or named["status"] not in get_args(Status):
        raise BadRow(f"the run {named['id']!r} has a wrong checksum or status")
    if not is_run_id(named["id"]):
        raise BadRow(f"{named['id']!r} is not the id of a run")
    return Run(
        id=named["id"],
        name=text_of(named["name"]),
        spec=text_of(named["spec"]),
        digests=Digests(
            space=named["space_digest"],
            run=named["run_digest"],
            data=named["data_digest"],
            evaluation=named["evaluation_digest"],
            search=named["search_digest"],
        ),
        seed=int(named["seed"]),
        versions=figures_of(named["versions"]),
        options=figures_of(named["options"]),
        status=named["status"],
        started=text_to_moment(named["started"]),
        ended=None if named["ended"] is None else text_to_moment(named["ended"]),
        seen=text_to_moment(named["seen"]),
        process=Process(named["host"], named["pid"], named["born"]),
        result=figures_of(named["result"]),
    )


def row_to_event(row: Sequence[Any]) -> Event:
    """The event in a row, without the run."""
    run, position, at, kind, figures = without_checksum(row)
    if not is_run_id(run):
        raise BadRow(f"{run!r} is not the id of a run")
    return Event(text_of(kind), figures_of(figures), position, text_to_moment(at))
