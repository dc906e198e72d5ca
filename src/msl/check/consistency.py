"""Check that the statements of a spec fit each other: strategies, objectives, requirements, ensemble and budget."""

from __future__ import annotations

from collections.abc import Collection

from msl.check.names.library import Declaration, Module
from msl.check.objectives import not_weighable
from msl.check.strategies import Calls, warn_of_starved
from msl.diagnostics.diagnostic import Report
from msl.diagnostics.suggest import alternatives, listing
from msl.language import ast
from msl.record import record
from msl.space.fit_costs import without_resource
from msl.space.nodes import Node
from msl.space.spec import (
    MODELS,
    OF_WHOLE_MODEL,
    OUTPUTS,
    Budget,
    Call,
    DataStatement,
    Estimate,
    MetricLimit,
    Objective,
    Space,
    Stage,
    metrics_of,
)
from msl.space.values import BlockType


@record
class Consistency:
    """The checks of one file that concern several statements, or a statement and the space."""

    module: Module
    report: Report

    def check_best(self, root: Node, chain: Declaration, objectives: int) -> None:
        """Whether the values of `best` parameters can be tried within one evaluation."""
        from msl.space.best import best_parameters, deciding_siblings

        found = best_parameters(root)
        if not found:
            return
        if objectives > 1:
            goal = next(iter(self.module.statements(ast.Goal)))
            message = (
                f"`best` takes the value of `{found[0]}` with the lowest loss, but there are {objectives} objectives"
            )
            help = "open the parameter without `best`, or join the objectives: `0.8 * a + 0.2 * b`"
            self.report.error("MSL287", self.module.source, goal.span, message, "", help)
        for name, other in deciding_siblings(root)[:1]:
            message = f"`{other}` depends on `{name}`, so the values of `{name}` cannot be tried with `best`"
            source, span = chain.module.source, chain.node.name.span
            self.report.error("MSL288", source, span, message, "", f"open `{name}` without `best`")

    def check_confirming(
        self, objectives: tuple[Objective, ...], stages: tuple[Stage, ...], data: DataStatement
    ) -> None:
        """Warns if a strategy evaluates models again, but the estimates have no other splits for it."""
        for search in self.module.statements(ast.Search):
            last = search.stages[-1]
            is_ordered = data.order is not None or data.fold is not None
            reevaluates = len(stages) == len(search.stages) and stages[-1].call.capabilities.reevaluates is not None
            if reevaluates and objectives and all(_has_one_way(each.estimate, is_ordered) for each in objectives):
                name = stages[-1].call.name
                estimate = objectives[0].estimate
                where = " that have an order" if estimate.follows_order else ""
                where = " that have folds" if data.fold is not None else where
                message = f"`{estimate.name}` has one way to split rows{where}, so there is nothing to confirm"
                help = f"leave `{name}` out" if where else f"estimate by `cv` or `holdout`, or leave `{name}` out"
                self.report.warning("MSL233", self.module.source, last.span, message, "", help)

    def check_resources(self, root: Node, stages: tuple[Stage, ...], objectives: int) -> None:
        """Warns if a stage is to scale down the resource of models, but it cannot, or some models have none."""
        for search in self.module.statements(ast.Search):
            pairs = list(zip(search.stages, stages, strict=False)) if len(stages) == len(search.stages) else []
            for written, stage in pairs:
                if dict(stage.call.options).get("resource") == "fidelity" and (lacking := without_resource(root)):
                    names = listing([block.name for block in lacking])
                    message = f"`{stage.call.name}` scales down the resource of models, but {names} declares none"
                    help = (
                        "these have fewer rows instead; write `resource = auto` if that is meant, or declare `fidelity`"
                    )
                    self.report.warning("MSL292", self.module.source, written.span, message, "", help)
                elif objectives > 1 and stage.call.name == "auto" and dict(stage.call.options).get("resource"):
                    message = "with several objectives `auto` is `cmdpso`, which scales down no resource"
                    help = "leave `resource` out, or search by `halving`"
                    self.report.warning("MSL292", self.module.source, written.span, message, "", help)

    def check_complexity(
        self,
        searched: Collection[BlockType],
        objectives: tuple[Objective, ...],
        limits: tuple[MetricLimit, ...],
        stages: tuple[Stage, ...],
    ) -> None:
        """Warns if the complexity of a learner is not known where it decides between models."""
        measured = [metric for each in objectives for metric in metrics_of(each.loss)]
        measured += [limit.metric for limit in limits]
        minimised = any(metric.needs == "complexity" for metric in measured)
        choosing = next((stage for stage in stages if _prefers_simple(stage)), None)
        if not searched or not (minimised or choosing is not None):
            return
        unknown = not_weighable(searched)
        kind: type[ast.Goal | ast.Search] = ast.Goal if minimised else ast.Search
        goal = next(iter(self.module.statements(kind)), None)
        if unknown and goal is not None:
            asks, instead = "", "minimize `features` or `fit_time` instead"
            if (
                not minimised
                and choosing is not None
                and (decides := choosing.call.capabilities.complexity) is not None
            ):
                asks = f", by which `{choosing.call.name}` chooses"
                instead = f"write `{decides.option} = {decides.instead}`" if decides.instead else "search otherwise"
            message = f"the complexity of `{unknown[0].name}`{asks} is not known: `{unknown[0].target}` is not ours"
            help = f"give its class a method `complexity`, leave it out, or {instead}"
            self.report.warning("MSL236", self.module.source, goal.span, message, "", help)

    def check_end(self, stages: tuple[Stage, ...], budget: Budget) -> None:
        """Whether something ends each stage: an `until` that is never reached does not."""
        for search in self.module.statements(ast.Search):
            if budget.time is not None or budget.evaluations is not None or len(stages) != len(search.stages):
                return
            for written, stage in zip(search.stages, stages, strict=True):
                if stage.call.capabilities.needs_end(dict(stage.call.options)):
                    message = f"nothing ends `{stage.call.name}`: it takes all evaluations that the budget allows"
                    help = "add `budget(time = 1min)` or `budget(evaluations = 1_000)`"
                    self.report.error("MSL247", self.module.source, written.span, message, "", help)

    def check_evaluations(self, stages: tuple[Stage, ...], budget: Budget, space: Space) -> None:
        """Whether the budget leaves something for every stage."""
        for search in self.module.statements(ast.Search):
            if budget.evaluations is not None and len(stages) == len(search.stages) > 1:
                warn_of_starved(search, stages, budget.evaluations, space, self.module.source, self.report)

    def read_ensemble(self, stages: tuple[Stage, ...], calls: Calls) -> Call | None:
        """The ensemble, if there is one; a strategy of the search has to leave what it is made of."""
        for statement in self.module.statements(ast.Ensemble):
            call = calls.call("combiner", statement.call, self.module)
            members = MODELS if call is None else call.capabilities.members
            if (
                call is not None
                and members not in (MODELS, OUTPUTS)
                and not any(members in s.call.capabilities.leaves for s in stages)
            ):
                others = [name for name in calls.library.implied("combiner").declarations if name != call.name]
                message = f"`{call.name}` lets the particles of a swarm vote, and no stage of the search is a swarm"
                help = f"search with `pso`, or use {alternatives(others)}"
                self.report.error("MSL148", self.module.source, statement.call.span, message, "", help)
            return call
        return None

    def check_ensemble(self, limits: tuple[MetricLimit, ...]) -> None:
        """Warns if requirements limit the size or the time of single models: an ensemble may exceed them."""
        of_whole = next((limit for limit in limits if limit.metric.needs in OF_WHOLE_MODEL), None)
        for statement in self.module.statements(ast.Ensemble):
            if of_whole is not None:
                message = f"`{of_whole.text}` is about single models: an ensemble needs as much as its members together"
                help = "leave `ensemble` out, or require less of each model"
                self.report.warning("MSL468", self.module.source, statement.span, message, "", help)


def _prefers_simple(stage: Stage) -> bool:
    """Whether the complexity of models decides in a stage."""
    decides = stage.call.capabilities.complexity
    return decides is not None and dict(stage.call.options).get(decides.option) == decides.value


def _has_one_way(estimate: Estimate, is_ordered: bool) -> bool:
    """Whether an estimate has the same splits in every repeat."""
    options = dict(estimate.options)
    if options.get("subsample", 1) != 1:
        return False
    if is_ordered and estimate.follows_order:
        return True
    return estimate.fixed_splits and not options.get("shuffle")
