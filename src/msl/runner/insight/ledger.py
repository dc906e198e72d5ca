"""Count how often the rows of a run were looked at before: by the runs of its store, and on its test table.

What a run says of its winner is corrected for the models that it has compared. Whoever then changes the spec, runs it
again and keeps the better result has chosen once more, by the same rows. An interval for whichever run is kept holds in
95 of 100 cases if that of each of k runs misses in 5 / k of 100 (Bonferroni). A test table is sealed: the first run
that scores its winner on it tests it, every later one only looks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msl.data.table import Table
from msl.runner.plan import Plan
from msl.store.store import Store
from msl.store.stored_run import Run


@dataclass(frozen=True, slots=True)
class Ledger:
    """Earlier looks at the rows of a run. A run that was repeated counts once, since it says the same.

    `runs` are others on the same table, with so many `protocols` (objectives and their estimates) in all, and
    `evaluations` those of the table that the store knows. `look` counts the runs on the test table: 1 for a sealed one,
    0 without.
    """

    runs: int = 0
    protocols: int = 1
    evaluations: int = 0
    look: int = 0

    @property
    def looks(self) -> int:
        """The runs among which somebody may choose."""
        return self.runs + 1

    def to_record(self) -> dict[str, Any]:
        return {"runs": self.runs, "protocols": self.protocols, "evaluations": self.evaluations}


def read_ledger(plan: Plan, store: Store, run: str, test: Table | None) -> Ledger:
    """What the store knows before this run tells anything."""
    started = store.runs.get(run).started
    own = plan.digests
    others = [
        one for one in store.runs.all() if one.id != run and one.started <= started and one.digests.run != own.run
    ]
    same = {one.digests.run: one for one in others if one.digests.data == own.data and _has_told(one)}
    looked = {one.digests.run for one in others if test is not None and _tested_on(one.result) == test.fingerprint}
    return Ledger(
        runs=len(same),
        protocols=len({own.evaluation, *(one.digests.evaluation for one in same.values())}),
        evaluations=store.evaluations.count_about(own.data),
        look=0 if test is None else len(looked) + 1,
    )


def _has_told(run: Run) -> bool:
    """Whether anybody has seen what came of a run."""
    return bool(run.result.get("objectives"))


def _tested_on(result: Mapping[str, Any]) -> str | None:
    found = result.get("test_table") or {}
    return str(found["fingerprint"]) if found.get("fingerprint") else None
