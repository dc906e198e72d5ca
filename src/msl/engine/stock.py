"""Stock: what a store already holds for a plan — evaluations that will be reused, and those that an edit left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from msl.check.library import ReadFile
from msl.check.model import ModelReader
from msl.engine.plan import Plan
from msl.engine.versions import CHAIN, changed_since
from msl.runs.evaluation import Evaluation
from msl.runs.store import Store
from msl.space.derive import Deriver, NotInSpace
from msl.space.node import blocks_in
from msl.text.source import Source

#: Models of other versions of a spec that are read, some milliseconds each; the latest count.
_MOST_READ = 1_000


@dataclass(frozen=True, slots=True)
class Stock:
    """Stored evaluations of a table and a way to judge.

    `kept` are in the space and will be reused, `outside` are not in the space, `other` have another seed or were made
    with other versions of what is in `changed`: blocks whose source was edited, and packages. `unread` are too many to
    look at. `seconds` is the median of what one took, None without any.
    """

    kept: int = 0
    outside: int = 0
    other: int = 0
    changed: tuple[str, ...] = ()
    unread: int = 0
    seconds: float | None = None

    @property
    def why_other(self) -> str:
        """Why the evaluations counted in `other` are not reused, in words that follow their number."""
        if not self.changed:
            return "with another seed"
        names = ", ".join(f"`{name}`" for name in self.changed)
        return f"not reused, because {names} {'has' if len(self.changed) == 1 else 'have'} changed since"


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
        changed=tuple(looking.changed),
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
        self._names = {block.target: block.name for block in blocks_in(plan.spec.space.root)}
        #: What has changed since evaluations were made, in words.
        self.changed: dict[str, None] = {}

    def at(self, row: Evaluation) -> str:
        """What becomes of an evaluation; each model is read once."""
        changed = changed_since(row.question.versions)
        if changed:
            self.changed.update(dict.fromkeys(map(self._name, changed)))
            return "other"
        model = row.question.model
        if model not in self._verdicts:
            self._verdicts[model] = self._verdict(row)
        return self._verdicts[model]

    def _name(self, changed: str) -> str:
        return "msl" if changed == CHAIN else self._names.get(changed, changed)

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
        return "kept"
