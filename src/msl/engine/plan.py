"""Plan: everything that a run will do, before it does anything — what is searched and judged, and its digests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msl.engine.terrain import SpaceTerrain, space_to_terrain, start_vector
from msl.engine.versions import block_revisions
from msl.evaluate.executors.task import Job
from msl.evaluate.executors.task import Limits as EvaluationLimits
from msl.evaluate.ground import Ground
from msl.evaluate.table import Table
from msl.runs.evaluation import KEY_FORM
from msl.runs.run import Digests
from msl.search.registry import load_strategy
from msl.search.stages import Limits, Stage
from msl.space.digest import run_digest, space_digest
from msl.space.spec import Objective, Spec
from msl.space.spell import spell_node, spell_requirement, spell_value


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A search of one space on one table."""

    spec: Spec
    table: Table
    terrains: tuple[SpaceTerrain, ...]
    stages: tuple[Stage, ...]
    limits: Limits
    job: Job
    digests: Digests

    @property
    def objectives(self) -> tuple[Objective, ...]:
        return self.spec.objectives

    @property
    def seed(self) -> int:
        return self.spec.seed

    def races(self, stage: int) -> bool:
        """Whether evaluations of a stage may be cut short once they have lost against what the strategy compares them
        with. Not where every loss counts: for the vote of the best models, and for a stage that starts from the best.
        """
        votes = self.spec.ensemble is not None and self.spec.ensemble.name != "swarm"
        return not votes and stage == len(self.stages) - 1

    def objective_names(self) -> list[str]:
        """The objectives by their texts; equal ones by their estimates too."""
        texts = [objective.text for objective in self.objectives]
        if len(set(texts)) == len(texts):
            return texts
        return [f"{objective.text} by {objective.estimate.name}" for objective in self.objectives]


def make_plan(spec: Spec, table: Table, trusted: tuple[str, ...] = (), cache_bytes: int | None = None) -> Plan:
    """The plan of a spec that was checked against the facts of this table."""
    made: dict[tuple[str, tuple[str, ...] | None], SpaceTerrain] = {}
    terrains, stages = [], []
    for stage in spec.search:
        options = dict(stage.call.options)
        encoding = "separate" if options.get("encoding") == "separate" else "shared"
        key = (encoding, stage.channels)
        if key not in made:
            made[key] = space_to_terrain(spec.space, "separate" if encoding == "separate" else "shared", stage.channels)
        terrain = made[key]
        terrains.append(terrain)
        strategy = load_strategy(stage.call.name)
        start = start_vector(terrain, stage.start, table.facts)
        stages.append(Stage(strategy, options, terrain, start, again=stage.call.name == "confirm"))
    limits = EvaluationLimits.of(spec.budget)
    memory = {} if cache_bytes is None else {"cache_bytes": cache_bytes}
    job = Job(Ground.of(table), spec.objectives, spec.seed, trusted, limits=limits, **memory)
    search_limits = Limits(spec.budget.evaluations, _good_enough(spec))
    return Plan(spec, table, tuple(terrains), tuple(stages), search_limits, job, _digests(spec, table))


def _good_enough(spec: Spec) -> float | None:
    """`until` as a loss: what is maximised has its sign turned."""
    until = spec.budget.until
    return until if until is None or spec.objectives[0].minimize else -until


def _digests(spec: Spec, table: Table) -> Digests:
    space = space_digest(spec.space)
    evaluation = run_digest({"objectives": [_judging(objective) for objective in spec.objectives]})
    search = run_digest(
        {
            "stages": [_stage(stage) for stage in spec.search],
            "ensemble": None if spec.ensemble is None else _options(dict(spec.ensemble.options)),
            "evaluations": spec.budget.evaluations,
            "until": spec.budget.until,
        }
    )
    run = run_digest(
        {
            "space": space,
            "written": written_space(spec),
            "evaluation": evaluation,
            "search": search,
            "data": table.fingerprint,
            "seed": spec.seed,
            "keys": KEY_FORM,
            "blocks": block_revisions(spec.space),
        }
    )
    return Digests(space, run, table.fingerprint, evaluation, search)


def written_space(spec: Spec) -> list[str]:
    """The space as it is written: the encoding, and so the search, follows the words, which its digest does not."""
    return [spell_node(spec.space.root), *map(spell_requirement, spec.space.requirements)]


def _judging(objective: Objective) -> Mapping[str, object]:
    return {
        "loss": repr(objective.loss),
        "estimate": objective.estimate.name,
        "options": _options(dict(objective.estimate.options)),
        "minimize": objective.minimize,
    }


def _stage(stage: Any) -> Mapping[str, object]:
    return {
        "name": stage.call.name,
        "options": _options(dict(stage.call.options)),
        "start": None if stage.start is None else spell_node(stage.start),
        "channels": None if stage.channels is None else list(stage.channels),
    }


def _options(options: Mapping[str, Any]) -> Mapping[str, str]:
    return {name: spell_value(value) for name, value in options.items()}
