"""Plan a run before anything is evaluated: its search spaces, its strategies, its objectives and its digests."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from msl.blocks.base.load import BlockProblem, demand_packages, load_class
from msl.blocks.base.row_weights import class_takes_weights
from msl.check.strategies import closed_steps
from msl.data.table import Table
from msl.evaluate.dataset import Dataset
from msl.evaluate.evaluator import cache_bytes_for
from msl.evaluate.kept_outputs import needed_outputs
from msl.evaluate.metrics import load_metric
from msl.record import record
from msl.runner.search_space import EvaluationCosts, ModelSearchSpace, space_to_search_space, start_vector
from msl.runner.versions import block_revisions, versions_of_packages, versions_of_space
from msl.search.stages import Limits, Stage, load_target
from msl.space.best import without_best
from msl.space.canonical.digest import run_digest, space_digest
from msl.space.condition_text import requirement_to_text
from msl.space.nodes import BlockUse, Choice, Node, Param, Symbol, blocks_in, bottom_up
from msl.space.spec import MODELS, OUTPUTS, Call, Metric, MetricLimit, Objective, Space, Spec, metrics_of
from msl.space.to_text import node_to_text, value_to_text
from msl.space.values import BlockType, Model
from msl.store.evaluation import KEY_FORMAT
from msl.store.lock import Lock, Plain
from msl.store.stored_run import Digests
from msl.workers.task import Job
from msl.workers.task import Limits as EvaluationLimits


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A search of one space on one table."""

    spec: Spec
    table: Table
    search_spaces: tuple[ModelSearchSpace, ...]
    stages: tuple[Stage, ...]
    limits: Limits
    job: Job
    digests: Digests
    #: Whether models that need no search are evaluated too. They have no part in it, and none in the digests.
    baselines: bool = False

    @property
    def objectives(self) -> tuple[Objective, ...]:
        return self.spec.objectives

    @property
    def seed(self) -> int:
        return self.spec.seed

    def races(self, stage: int) -> bool:
        """Whether evaluations of a stage may race: stop early at the cutoff of their query.

        Not where every loss is needed: for an ensemble of the best models, and if another stage follows, which starts
        from the best models.
        """
        votes = self.spec.ensemble is not None and self.spec.ensemble.capabilities.members in (MODELS, OUTPUTS)
        return not votes and stage == len(self.stages) - 1

    def objective_names(self) -> list[str]:
        """The texts of the objectives, with their estimates if two texts are equal."""
        texts = [objective.text for objective in self.objectives]
        if len(set(texts)) == len(texts):
            return texts
        return [f"{objective.text} by {objective.estimate.name}" for objective in self.objectives]


def make_plan(spec: Spec, table: Table, trusted: tuple[str, ...] = (), cache_bytes: int | None = None) -> Plan:
    """The plan of a spec that was checked with the facts of this table."""
    made: dict[tuple[str, tuple[str, ...] | None], ModelSearchSpace] = {}
    dataset = Dataset.of(table)
    costs = EvaluationCosts.of(dataset, spec.objectives[0].estimate, spec.budget, spec.seed)
    searched, domains = without_best(spec.space)
    search_spaces, stages = [], []
    for stage in spec.search:
        options = dict(stage.call.options)
        encoding = "separate" if options.get("encoding") == "separate" else "shared"
        key = (encoding, stage.channels)
        if key not in made:
            made[key] = space_to_search_space(
                searched, "separate" if encoding == "separate" else "shared", stage.channels, domains, costs
            )
        search_space = made[key]
        search_spaces.append(search_space)
        strategy = load_target(stage.call.name, stage.call.target)
        start = start_vector(search_space, stage.start, table.facts)
        reevaluates = stage.call.capabilities.reevaluates is not None
        given = (search_space.encode(Model(closed_steps(model))) for model in stage.models)
        points = tuple(point for point in given if point is not None)
        if stage.call.name == "portfolio":
            points = tuple(sorted(points, key=search_space.cost))  # a first answer soon
        stages.append(Stage(strategy, options, search_space, start, reevaluates, points))
    limits = EvaluationLimits.of(spec.budget)
    cache_bytes = cache_bytes_for(table.X.nbytes) if cache_bytes is None else cache_bytes
    keeps = needed_outputs(spec.objectives, spec.ensemble is not None) if spec.budget.keeps_outputs else "nothing"
    job = Job(
        dataset,
        spec.objectives,
        spec.seed,
        trusted,
        cache_bytes,
        limits,
        keeps=keeps,
        required=spec.limits,
    )
    search_limits = Limits(spec.budget.evaluations, _good_enough(spec))
    return Plan(spec, table, tuple(search_spaces), tuple(stages), search_limits, job, _digests(spec, table))


def _good_enough(spec: Spec) -> float | None:
    """`until` as a loss: the sign changes if the objective is maximised."""
    until = spec.budget.until
    return until if until is None or spec.objectives[0].minimize else -until


def _digests(spec: Spec, table: Table) -> Digests:
    space = space_digest(spec.space)
    protocol: dict[str, object] = {"objectives": [_objective_record(objective) for objective in spec.objectives]}
    if spec.limits:
        protocol["required"] = [_limit_record(limit) for limit in spec.limits]
    evaluation = run_digest(protocol)
    search = run_digest(
        {
            "stages": [_stage_record(stage) for stage in spec.search],
            "ensemble": None if spec.ensemble is None else _options(_without_later(spec.ensemble)),
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
            "keys": KEY_FORMAT,
            "blocks": block_revisions(spec.space),
        }
    )
    return Digests(space, run, table.fingerprint, evaluation, search)


def written_space(spec: Spec) -> list[str]:
    """The text of the space. The encoding and the search depend on how a space is written; its digest does not."""
    return [node_to_text(spec.space.root), *map(requirement_to_text, spec.space.requirements)]


#: Options that came after stores and lock files had been made, with the values that do what was done before. At these
#: they are no part of a digest, so that what was stored stays valid.
_LATER_OPTIONS: Mapping[str, Mapping[str, object]] = {
    "pso": {
        "units": "cube",
        "start_velocity": "zero",
        "shared_start": "uniform",
        "leader": "best",
        "shuffle": False,
    },
    "pattern": {"shuffle": False},
    "cv": {"stratified": True, "balanced": False, "kernel": "constant", "gap": 0, "window": "all"},
    "holdout": {"stratified": True, "balanced": False, "kernel": "constant", "gap": 0, "window": "all"},
    "loo": {"balanced": False, "kernel": "constant"},
    "bootstrap632": {"balanced": False, "kernel": "constant"},
    "vote": {"distinct": True},
    "halving": {"resource": "rows"},
    "auto": {"resource": None},
}


def _without_later(call: Call) -> dict[str, Any]:
    later = _LATER_OPTIONS.get(call.name, {}) if call.target.startswith("msl.") else {}
    return {name: value for name, value in call.options if name not in later or value != later[name]}


def _objective_record(objective: Objective) -> Mapping[str, object]:
    return {
        "loss": repr(objective.loss),
        "estimate": objective.estimate.name,
        "options": _options(_without_later(objective.estimate)),
        "minimize": objective.minimize,
        **_of_other_packages(metrics_of(objective.loss), objective.estimate.target),
    }


def _limit_record(limit: MetricLimit) -> Mapping[str, object]:
    return {
        "metric": limit.metric.name,
        "operation": limit.operation,
        "value": limit.value,
        **_of_other_packages((limit.metric,)),
    }


def _of_other_packages(metrics: tuple[Metric, ...], *others: str) -> Mapping[str, object]:
    """The versions of packages that metrics or the estimate come from, because results depend on them."""
    targets = [*others, *(metric.function for metric in metrics)]
    targets += [metric.row_function for metric in metrics if metric.row_function is not None]
    packages = frozenset(target.partition(":")[0].partition(".")[0] for target in targets) - {"msl"}
    # The name of a metric that a spec declares does not stand for one function.
    own = [repr(metric) for metric in metrics if metric.declared_in is not None]
    found: dict[str, object] = {"packages": dict(versions_of_packages(packages))} if packages else {}
    return {**found, "declared": own} if own else found


def _stage_record(stage: Any) -> Mapping[str, object]:
    return {
        "name": stage.call.name,
        "options": _options(_without_later(stage.call)),
        "start": None if stage.start is None else node_to_text(stage.start),
        "channels": None if stage.channels is None else list(stage.channels),
        **({"models": [node_to_text(model) for model in stage.models]} if stage.models else {}),
    }


def _options(options: Mapping[str, Any]) -> Mapping[str, str]:
    return {name: value_to_text(value) for name, value in options.items()}


# --- Checks of the classes of all blocks, before anything is evaluated. -----------------------------------------------


@record
class UnusableBlock:
    """A block whose class cannot be used, and why."""

    block: BlockType
    code: str
    message: str
    help: str


def block_problems(space: Space, task: str, trusted: Collection[str] = ()) -> list[UnusableBlock]:
    """The blocks of a space whose classes cannot be loaded or lack a parameter, each once."""
    problems: dict[tuple[str, str], UnusableBlock] = {}
    if lacking := lacking_libraries(space):
        return lacking
    for node in bottom_up(space.root):
        if isinstance(node, BlockUse) and node.block.key not in problems:
            try:
                _check_class(node, task, trusted)
            except BlockProblem as problem:
                problems[node.block.key] = UnusableBlock(node.block, problem.code, problem.message, problem.help)
    return list(problems.values())


def lacking_libraries(space: Space) -> list[UnusableBlock]:
    """The blocks of ours whose library is not installed, one for each library. Imports none of them."""
    problems: dict[str, UnusableBlock] = {}
    for block in blocks_in(space.root):
        try:
            demand_packages(block)
        except BlockProblem as problem:
            problems.setdefault(problem.help, UnusableBlock(block, problem.code, problem.message, problem.help))
    return list(problems.values())


def learners_without_weights(space: Space, task: str, trusted: Collection[str] = ()) -> list[str]:
    """The learners of a space that cannot count rows by weights, as far as their classes show it."""
    learners = (node.block for node in bottom_up(space.root) if isinstance(node, BlockUse))
    named = {block.name: block for block in learners if block.role == "learner"}
    return [name for name, block in named.items() if not class_takes_weights(load_class(block, task, trusted))]


def metric_problems(metrics: Iterable[Metric], trusted: Collection[str] = ()) -> list[UnusableBlock]:
    """The metrics that a spec declares whose functions cannot be loaded or called, each once."""
    problems: dict[str, UnusableBlock] = {}
    for metric in metrics:
        if metric.declared_in is None or metric.name in problems:
            continue
        try:
            load_metric(metric, trusted)
        except BlockProblem as problem:
            block = BlockType(metric.name, metric.declared_in, "metric", metric.task, metric.function, metric.span)
            problems[metric.name] = UnusableBlock(block, problem.code, problem.message, problem.help)
    return list(problems.values())


def _check_class(use: BlockUse, task: str, trusted: Collection[str]) -> None:
    """Loads the class of a block and raises BlockProblem if it lacks a parameter."""
    found = load_class(use.block, task, trusted)
    signature = inspect.signature(found.__init__)  # type: ignore[misc]
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in signature.parameters.values()):
        return
    unknown = [name for name in _names(use.params) if name not in signature.parameters]
    if unknown:
        taken = ", ".join(f"`{name}`" for name in list(signature.parameters)[1:]) or "none"
        message = f"`{use.block.name}`: `{use.block.target}` takes no parameter `{unknown[0]}`"
        raise BlockProblem("MSL404", message, f"it takes {taken}", use.block.name)


def _names(params: tuple[Param, ...]) -> list[str]:
    """The parameters that are passed to the class, with those of alternatives of a parameter."""
    names: list[str] = []
    for param in params:
        names.append(param.name)
        for option in _constructor_options(param.node):
            if isinstance(option, Symbol) and not option.own:
                names.extend(_names(option.params))
    return names


def _constructor_options(node: Node) -> tuple[Node, ...]:
    return node.options if isinstance(node, Choice) else (node,)


# --- The lock of a plan, which version control compares. --------------------------------------------------------------


#: The kinds of dimensions whose bounds may depend on the table. The other kinds are in the digest of the space.
_NUMBERS = ("int", "real", "bool", "ordered", "count", "unit", "place")


def plan_to_lock(plan: Plan) -> Lock:
    """The digests of a plan, its open domains with the bounds that follow from the table, versions and the seed."""
    digests = plan.digests
    return Lock(
        seed=plan.seed,
        digests={
            "space": digests.space,
            "encoding": run_digest({"written": written_space(plan.spec)}),
            "evaluation": digests.evaluation,
            "search": digests.search,
            "data": digests.data,
        },
        bounds=_bounds(plan),
        versions={**versions_of_packages(frozenset({"msl"})), **versions_of_space(plan.spec.space)},
    )


def _bounds(plan: Plan) -> dict[str, Plain]:
    """The open domains of numbers by path; a parameter that occurs several times may have several domains."""
    found: dict[str, dict[str, None]] = {}
    for meaning in plan.search_spaces[0].codec.layout.meanings:
        if meaning.kind in _NUMBERS:
            size = "" if meaning.width == 1 else f"{meaning.width} of "
            found.setdefault(meaning.path, {})[f"{size}{meaning.range}"] = None
    return {path: "; ".join(domains) for path, domains in found.items()}
