"""Stock: what a store already holds for a plan — evaluations that will be reused, and those that an edit left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from msl.check.library import ReadFile
from msl.check.model import ModelReader
from msl.engine.plan import Plan
from msl.engine.versions import versions_of
from msl.runs.evaluation import Evaluation
from msl.runs.store import Store
from msl.space.derive import Deriver, NotInSpace
from msl.text.source import Source

#: Models of other versions of a spec that are read, some milliseconds each; the latest count.
_MOST_READ = 1_000


@dataclass(frozen=True, slots=True)
class Stock:
    """Stored evaluations of a table and a way to judge.

    `kept` are in the space and will be reused, `outside` are not in the space, `other` have another seed or were made
    with other versions. `unread` are too many to look at. `seconds` is the median of what one took, None without any.
    """

    kept: int = 0
    outside: int = 0
    other: int = 0
    unread: int = 0
    seconds: float | None = None


def stock_of(store: Store, plan: Plan, source: Source, read_file: ReadFile | None = None) -> Stock:
    """What the store holds for a plan; models of other specs are read with the names of this one."""
    digests = plan.digests
    spaces = {run.id: run.digests.space for run in store.runs.all()}
    rows = list(store.evaluations.about(digests.data, digests.evaluation))
    own = [row for row in rows if row.question.seed == plan.seed]
    looking = _Looking(plan, source, read_file, spaces)
    looked = [looking.at(row) for row in reversed(own)]
    timings = [row.seconds for row in rows if row.trouble is None and not row.bound]
    return Stock(
        kept=looked.count("kept"),
        outside=looked.count("outside"),
        other=looked.count("other") + len(rows) - len(own),
        unread=looked.count("unread"),
        seconds=median(timings) if timings else None,
    )


class _Looking:
    """Looks at evaluations one after the other, from the latest on."""

    def __init__(self, plan: Plan, source: Source, read_file: ReadFile | None, spaces: Mapping[str, str]) -> None:
        self._plan, self._source, self._read_file, self._spaces = plan, source, read_file, spaces
        self._deriver = Deriver(plan.spec.space)
        self._reader: ModelReader | None = None
        self._verdicts: dict[str, str] = {}

    def at(self, row: Evaluation) -> str:
        """What becomes of an evaluation; each model is read once."""
        model = row.question.model
        if model not in self._verdicts:
            self._verdicts[model] = self._verdict(row)
        return self._verdicts[model]

    def _verdict(self, row: Evaluation) -> str:
        if row.run is not None and self._spaces.get(row.run) == self._plan.digests.space:
            return "kept"  # made by a run of the same space
        if len(self._verdicts) >= _MOST_READ:
            return "unread"
        if self._reader is None:
            self._reader = ModelReader(self._source, self._read_file)
        model, _ = self._reader.read(row.text)
        if model is None:
            return "outside"
        try:
            self._deriver.derive(model)
        except NotInSpace:
            return "outside"
        return "kept" if versions_of(model) == dict(row.question.versions) else "other"
