"""Run row: a run, and what happened in it, as SQLite keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, get_args

from msl.runs.clock import moment_to_text, text_to_moment
from msl.runs.process import Process
from msl.runs.run import Digests, Event, Order, Run, Status
from msl.runs.run_name import is_run_id
from msl.runs.schema import TABLES
from msl.runs.storable import BadRow, checksum, figures_of, figures_to_text, storable_text, text_of, unsealed

#: What changes while a run goes on, and is not worth a checksum.
_VOLATILE = frozenset({"status", "ended", "seen", "host", "pid", "born", "checksum"})


def order_to_row(order: Order, run: str, started: datetime, process: Process) -> tuple[Any, ...]:
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
