"""Stock: what a store already holds for a plan — evaluations that will be reused, and those that an edit left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from msl.check.names.library import ReadFile
from msl.check.read_model import ModelReader
from msl.diagnostics.source import Source
from msl.runner.plan import Plan
from msl.runner.versions import CHAIN, changed_since
from msl.search.stages import Stage
from msl.space.membership import Membership, NotInSpace
from msl.space.nodes import blocks_in
from msl.store.evaluation import Evaluation
from msl.store.store import Store
from msl.store.stored_run import Run

#: Models of other versions of a spec that are read, some milliseconds each; the latest count.
_MOST_READ = 1_000


@dataclass(frozen=True, slots=True)
class StoredEvaluations:
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


def find_stored_evaluations(
    store: Store, plan: Plan, source: Source, read_file: ReadFile | None = None
) -> StoredEvaluations:
    """What the store holds for a plan; models of other specs are read with the names of this one."""
    digests = plan.digests
    spaces = {run.id: run.digests.space for run in store.runs.all()}
    rows = list(store.evaluations.about(digests.data, digests.evaluation))
    own = [row for row in rows if row.question.seed == plan.seed]
    looking = _Looking(plan, source, read_file, spaces)
    looked = [looking.at(row) for row in reversed(own)]
    timings = [row.seconds for row in rows if row.trouble is None and not row.bound]
    return StoredEvaluations(
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
        self._deriver = Membership(plan.spec.space)
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


# --- Forecast: how much a plan will ask for and how long that may take, before anything runs. -------------------------


#: Strategies that never ask for a model twice, so that a finite space bounds them.
_NEW_ONLY = ("random", "grid", "halving")


@dataclass(frozen=True, slots=True)
class Forecast:
    """`evaluations` is the most that will be asked for, `left` of them after what an earlier run of the same thing has
    asked, `seconds` what that may take; None where it is not known. `run` is that earlier run, if there is one.
    """

    evaluations: int | None
    left: int | None
    seconds: float | None
    run: Run | None

    @property
    def goes_on(self) -> bool:
        """Whether the run would go on where an earlier one stopped."""
        return self.run is not None and self.run.status == "interrupted"


def forecast(plan: Plan, store: Store | None, stock: StoredEvaluations, workers: int) -> Forecast:
    """What to expect of a plan, by what the store knows of its table."""
    most = expected_evaluations(plan)
    same = [] if store is None else store.runs.of_digest(plan.digests.run)
    run = next((each for each in same if each.status == "interrupted"), same[0] if same else None)
    asked = 0 if run is None or store is None else len(store.runs.asks(run.id))
    is_over = run is not None and run.status in ("finished", "failed")
    left = 0 if is_over else None if most is None else max(0, most - asked)
    seconds = None
    if left is not None and (stock.seconds is not None or left == 0):
        seconds = left * (stock.seconds or 0.0) / workers
        if plan.spec.budget.time is not None:
            seconds = min(seconds, plan.spec.budget.time)
    return Forecast(most, left, seconds, run)


def expected_evaluations(plan: Plan) -> int | None:
    """The most evaluations that the stages of a plan will ask for; None where none of them says."""
    counts = stage_evaluations(plan)
    total = None if None in counts else sum(count for count in counts if count is not None)
    limit = plan.limits.evaluations
    if total is None or limit is None:
        return limit if total is None else total
    return min(total, limit)


def stage_evaluations(plan: Plan) -> list[int | None]:
    """The most evaluations that each stage will ask for; None for one that does not say."""
    return [_of_stage(stage, asked.call.name) for stage, asked in zip(plan.stages, plan.spec.search, strict=True)]


def _of_stage(stage: Stage, name: str) -> int | None:
    options = stage.options
    if options.keys() >= {"swarm", "iterations"}:
        return int(options["swarm"]) * (int(options["iterations"]) + 1)
    if options.keys() >= {"population", "generations"}:
        return int(options["population"]) * (int(options["generations"]) + 1)
    if options.keys() >= {"top", "repeats"}:
        return int(options["top"]) * int(options["repeats"])
    most = options.get("evaluations")
    if name in _NEW_ONLY and stage.search_space.size is not None:
        return stage.search_space.size if most is None else min(int(most), stage.search_space.size)
    return None if most is None else int(most)
