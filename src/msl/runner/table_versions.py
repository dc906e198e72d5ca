"""Recognise a table whose rows were added, removed or changed: earlier versions of it in the store, by their rows.

Each run keeps the digests of the rows of its table. What is known of an earlier version are models to start from, and
never evaluations of the new one.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice

import numpy as np

from msl.data.table import Table
from msl.data.table_rows import Digests, RowChanges, compare_rows
from msl.runner.plan import Plan
from msl.store.evaluation import Evaluation
from msl.store.store import Files, Store, write_atomically
from msl.store.store_error import translated
from msl.store.stored_run import Run

_SUFFIX = ".rows"
_MAGIC = b"msl rows 1\n"
_DIGEST_BYTES = 32
#: The share of the smaller table that two versions of one table have in common.
_LEAST_SAME = 0.5
#: The most tables of other runs that are compared, the latest first.
_MOST_COMPARED = 20
_MOST_MODELS = 5


@dataclass(frozen=True, slots=True)
class EarlierTable:
    """An earlier version of a table: its latest run and digest, how many evaluations it has, and what has changed."""

    run: str
    data: str
    evaluations: int
    changes: RowChanges

    @property
    def difference(self) -> str:
        """`20 rows added, 1 changed`."""
        counts = {"added": self.changes.added, "removed": self.changes.removed, "changed": self.changes.changed}
        words = [f"{count:,} {what}" for what, count in counts.items() if count]
        if not words:
            return "the same rows in another order"
        first, *others = words
        number, what = first.split()
        return ", ".join([f"{number} {'row' if number == '1' else 'rows'} {what}", *others])

    def __str__(self) -> str:
        evaluations = "1 evaluation" if self.evaluations == 1 else f"{self.evaluations:,} evaluations"
        return f"from an earlier version of this table: {evaluations} ({self.difference}; run {self.run})"

    def parent(self) -> Mapping[str, str | int]:
        """What a lock file says of it."""
        changes = self.changes
        return {"data": self.data, "added": changes.added, "removed": changes.removed, "changed": changes.changed}


def save_rows(files: Files, run: str, table: Table) -> None:
    """Keeps the digests of the rows of a table with its run."""
    if table.row_digests is not None:
        content = _MAGIC + _digest_columns(table) + table.row_digests.astype("<u8").tobytes()
        write_atomically(files.model(run, _SUFFIX), content)


def find_earlier_table(store: Store, plan: Plan, runs: Iterable[Run] | None = None) -> EarlierTable | None:
    """The latest earlier version of the table of a plan that has evaluations by the same protocol."""
    now = plan.table.row_digests
    if now is None:
        return None
    runs = store.runs.all() if runs is None else list(runs)
    since = min((run.started for run in runs if run.digests.data == plan.digests.data), default=None)
    latest: dict[str, list[Run]] = {}
    for run in runs:
        if run.digests.data != plan.digests.data and (since is None or run.started < since):
            latest.setdefault(run.digests.data, []).append(run)
    for data, its_runs in islice(latest.items(), _MOST_COMPARED):
        kept = (_read_rows(store.files, run.id, plan.table) for run in its_runs)
        rows = next((each for each in kept if each is not None), None)
        if rows is None:
            continue
        changes = compare_rows(rows, now)
        evaluations = sum(1 for _ in store.evaluations.about(data, plan.digests.evaluation))
        if evaluations and changes.same >= _LEAST_SAME * min(len(rows), len(now)):
            return EarlierTable(its_runs[0].id, data, evaluations, changes)
    return None


def start_file_text(store: Store, plan: Plan, earlier: EarlierTable) -> str:
    """The best models of an earlier version as chains, for `search start("FILE")`, the best first."""
    found: dict[str, Evaluation] = {}
    for one in store.evaluations.about(earlier.data, plan.digests.evaluation):
        if one.failure is None and not one.bound and one.inputs.share == 1.0 and math.isfinite(one.losses[0]):
            found[one.text] = one
    best = nsmallest(_MOST_MODELS, found.values(), key=lambda one: (one.losses[0], one.text))
    lines = [
        f"# The best models of an earlier version of the table (run {earlier.run}; {earlier.difference}),",
        f"# each with its {', '.join(plan.objective_names())} on that version.",
    ]
    for number, one in enumerate(best, start=1):
        pairs = zip(one.losses, plan.objectives, strict=True)
        values = ", ".join(f"{loss if goal.minimize else -loss:.4g}" for loss, goal in pairs)
        lines += ["", f"# {values}", f"chain earlier_{number} = {one.text}"]
    return "\n".join(lines) + "\n"


def _read_rows(files: Files, run: str, table: Table) -> Digests | None:
    """The rows of the table of a run, if it has the same columns; None also for a file that cannot be read."""
    path = files.model(run, _SUFFIX)
    with translated(path):
        if not path.is_file():
            return None
        content = path.read_bytes()
    head = _MAGIC + _digest_columns(table)
    if not content.startswith(head) or (len(content) - len(head)) % 8:
        return None
    return np.frombuffer(content, "<u8", offset=len(head)).astype(np.uint64)


def _digest_columns(table: Table) -> bytes:
    """A digest of what a table is about: the columns that it has to have, its target and its task."""
    schema = table.schema
    outline = json.dumps([sorted(schema.sources), schema.target, schema.task])
    return hashlib.sha256(outline.encode()).digest()[:_DIGEST_BYTES]
