"""Run table: the runs of a store with their sources, what they asked in which order, and what happened in them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Literal, get_args

from msl.store.database import Database, Row
from msl.store.evaluation import StoredQuery, asked_to_row, row_to_asked, same_question
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
    sealed,
    selection,
    storable_text,
    text_of,
    text_to_moment,
    unsealed,
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

#: On another machine a run counts as gone when it has written nothing for this long. Should it live after all, two
#: processes work on one run: a waste, but they write the same.
_SILENCE = timedelta(hours=1)
_RUN = selection("runs")
_NEWEST_FIRST = "ORDER BY started DESC, rowid DESC"


class RunTable:
    """One table for all runs of a store."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock

    # --- beginning and end ---

    def start(self, order: NewRun) -> Run:
        """A new run, worked on by this process."""
        now = self._clock()
        with self._database.transaction() as connection:
            attempt = 0
            while _exists(connection, run := make_run_id(order.digests.run, now, attempt)):
                attempt += 1
            connection.execute(insertion("runs"), order_to_row(order, run, now, this_process()))
            for path, text in order.sources.items():
                content = storable_text(text)
                digest = sha256(content.encode()).hexdigest()
                connection.execute(insertion("texts", "OR IGNORE"), (digest, content))
                connection.execute(insertion("sources"), (run, storable_text(path), digest))
        return self.get(run)

    def claim(self, run: str) -> Run:
        """Lets this process go on with a run that no other one works on."""
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
        """Says how a run ended; without a `result` it keeps the one it has."""
        now = moment_to_text(self._clock())
        with self._database.transaction() as connection:
            self._touch(connection, run)
            connection.execute("UPDATE runs SET status = ?, ended = ? WHERE id = ?", (status, now, run))
            if result is not None:
                connection.execute("UPDATE runs SET result = ? WHERE id = ?", (figures_to_text(result), run))
                (row,) = connection.execute(f"{_RUN} WHERE id = ?", (run,))
                connection.execute("UPDATE runs SET checksum = ? WHERE id = ?", (run_checksum(row), run))

    def mark_interrupted(self) -> list[str]:
        """Writes down that runs are interrupted whose process is gone, and says which."""
        gone = self.stale()
        with self._database.transaction() as connection:
            for run in gone:
                connection.execute("UPDATE runs SET status = 'interrupted', ended = seen WHERE id = ?", (run,))
        return gone

    # --- reading ---

    def all(self) -> list[Run]:
        """From the latest to the oldest."""
        return [self._run(row) for row in self._database.rows(f"{_RUN} {_NEWEST_FIRST}")]

    def ids(self) -> list[str]:
        """From the latest to the oldest."""
        found = [run for (run,) in self._database.rows(f"SELECT id FROM runs {_NEWEST_FIRST}")]
        for run in found:
            if not is_run_id(run):
                raise damaged(self._database.path, f"{run!r} is no name that a run is given")
        return found

    def stale(self) -> list[str]:
        """Runs that are written down as going on, though their process is gone."""
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

    def of_digest(self, digest: str) -> list[Run]:
        """Runs of exactly the same thing, from the latest to the oldest."""
        return [
            self._run(row) for row in self._database.rows(f"{_RUN} WHERE run_digest = ? {_NEWEST_FIRST}", (digest,))
        ]

    def sources(self, run: str) -> dict[str, str]:
        """The text of every file that a run read, by name."""
        rows = self._database.rows(
            "SELECT path, text FROM sources JOIN texts USING (digest) WHERE run = ? ORDER BY sources.rowid", (run,)
        )
        with self._decoding():
            return {text_of(path): text_of(text) for path, text in rows}

    def asks(self, run: str, first: int = 0, last: int | None = None) -> list[StoredQuery]:
        """What a run asked and was told, in order, from one position up to and with another."""
        rows = self._database.rows(
            f"{selection('asks')} WHERE run = ? AND position BETWEEN ? AND ? ORDER BY position",
            (run, first, 2**62 if last is None else last),
        )
        with self._decoding():
            return [row_to_asked(row) for row in rows]

    def count_asks(self, run: str) -> int:
        """How many points a run has asked for so far."""
        return int(self._database.rows("SELECT count(*) FROM asks WHERE run = ?", (run,))[0][0])

    def events(self, run: str) -> list[Event]:
        """What the strategy told, in order."""
        return self._events(run, "position IS NOT NULL ORDER BY position")

    def life(self, run: str) -> list[Event]:
        """What befell the run itself, in order."""
        return self._events(run, "position IS NULL ORDER BY rowid")

    # --- going on ---

    def note(self, run: str, event: Event) -> None:
        """Writes one event down."""
        with self._database.transaction() as connection:
            self._touch(connection, run)
            self.put_events(connection, run, [event])

    def put_asks(self, connection: sqlite3.Connection, run: str, asks: Sequence[StoredQuery]) -> None:
        """As part of a transaction that is going on. What a replay asks again must be what was asked before."""
        self._touch(connection, run)
        if not asks:
            return
        positions = [asked.position for asked in asks]
        known = {asked.position: asked for asked in self.asks(run, min(positions), max(positions))}
        for asked in asks:
            before = known.get(asked.position)
            if before is not None and not same_question(asked, before):
                raise StoreError(
                    "MSL512",
                    f"the run `{run}` does not repeat itself: question {asked.position} was {before.key}, now it is"
                    f" {asked.key}",
                    "something that the run depends on has changed without changing its digest: start a new run, and"
                    " please report it",
                )
        new = [asked_to_row(run, asked) for asked in asks if asked.position not in known]
        connection.executemany(insertion("asks"), new)

    def put_events(self, connection: sqlite3.Connection, run: str, events: Iterable[Event]) -> None:
        """As part of a transaction that is going on; what a replay tells again is known already."""
        now = moment_to_text(self._clock())
        rows = [sealed((run, event.position, now, event.kind, figures_to_text(event.figures))) for event in events]
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


# --- Run row: a run, and what happened in it, as SQLite keeps them. ---------------------------------------------------


#: What changes while a run goes on, and is not worth a checksum.
_VOLATILE = frozenset({"status", "ended", "seen", "host", "pid", "born", "checksum"})


def order_to_row(order: NewRun, run: str, started: datetime, process: Process) -> tuple[Any, ...]:
    """A run that has just begun, in the order of the table's columns."""
    digests, moment = order.digests, moment_to_text(started)
    row = (
        *(run, storable_text(order.name), storable_text(order.spec)),
        *(digests.space, digests.run, digests.data, digests.evaluation, digests.search),
        *(str(order.seed), figures_to_text(order.versions), figures_to_text(order.options)),
        *("running", moment, None, moment, process.host, process.pid, process.born, figures_to_text({})),
    )
    return (*row, run_checksum(row))


def run_checksum(row: Sequence[Any]) -> int:
    """Of all that stays the same while a run goes on."""
    return checksum([value for name, value in zip(TABLES["runs"], row, strict=False) if name not in _VOLATILE])


def row_to_run(row: Sequence[Any]) -> Run:
    """The run as it was last written; raises BadRow where that is not what is there."""
    named = dict(zip(TABLES["runs"], row, strict=True))
    if named["checksum"] != run_checksum(row) or named["status"] not in get_args(Status):
        raise BadRow(f"the run {named['id']!r} does not have its checksum, or no status")
    if not is_run_id(named["id"]):
        raise BadRow(f"{named['id']!r} is no name that a run is given")
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
    """What happened in a run, without its name."""
    run, position, at, kind, figures = unsealed(row)
    if not is_run_id(run):
        raise BadRow(f"{run!r} is no name that a run is given")
    return Event(text_of(kind), figures_of(figures), position, text_to_moment(at))
