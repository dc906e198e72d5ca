"""Read the objectives and strategies of a run from its stored spec."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from msl.check.check_spec import check_source
from msl.check.names.library import ReadFile
from msl.check.names.scoring_declarations import larger_is_better
from msl.diagnostics.source import Source
from msl.diagnostics.user_error import UserError
from msl.language import ast
from msl.language.parser import text_to_ast
from msl.space.nodes import blocks_in
from msl.space.spec import Objective, Spec, metrics_of


@dataclass(frozen=True, slots=True)
class Goal:
    """An objective: its name, which way is better, and the estimate as it is written, such as `cv(folds = 5)`."""

    name: str
    minimize: bool = True
    estimate: str = ""

    @property
    def title(self) -> str:
        """The name with the estimate in full."""
        return f"{self.name.partition(' by ')[0]} by {self.estimate}" if self.estimate else self.name

    def value(self, loss: float) -> float:
        """The value of a loss: a maximised metric gets its own sign back."""
        return loss if self.minimize else -loss

    def is_better(self, one: float, other: float) -> bool:
        return one < other if self.minimize else one > other


@dataclass(frozen=True, slots=True)
class Plan:
    """The objectives, strategies and roles of a spec, as far as they are known without its table."""

    goals: tuple[Goal, ...] = ()
    strategies: tuple[str, ...] = ()
    #: The role of each block that the space names.
    roles: Mapping[str, str] = field(default_factory=dict)


def read_plan(main: str, sources: Mapping[str, str], chain: str, named: Iterable[str]) -> Plan:
    """The plan of a run from the texts that it read; `named` are the objectives that its result names."""
    source = Source(main, sources.get(main, ""), main)
    spec = check_source(source, None, chain, _reader(sources)).spec
    estimates = _estimates(source)
    goals: list[Goal] = []
    if spec is not None:
        names = _objective_names(spec)
        goals = [
            Goal(name, objective.minimize, _estimate(objective, written))
            for name, objective, written in zip(names, spec.objectives, estimates or [""] * len(names), strict=True)
        ]
    named = list(named)
    if goals and len(named) == len(goals):
        goals = [replace(goal, name=name) for goal, name in zip(goals, named, strict=True)]
    if not goals:
        goals = [Goal(name, not larger_is_better(name)) for name in named]
    if spec is None:
        return Plan(tuple(goals))
    blocks = blocks_in(spec.space.root)
    return Plan(
        tuple(goals), tuple(stage.call.name for stage in spec.search), {block.name: block.role for block in blocks}
    )


def _reader(sources: Mapping[str, str]) -> ReadFile:
    by_path = {posixpath.normpath(path.replace("\\", "/")): text for path, text in sources.items()}

    def read(path: str) -> str:
        try:
            return by_path[posixpath.normpath(path.replace("\\", "/"))]
        except KeyError:
            raise UserError("the run has not kept it") from None

    return read


def _objective_names(spec: Spec) -> list[str]:
    texts = [objective.text for objective in spec.objectives]
    if len(set(texts)) == len(texts):
        return texts
    return [f"{objective.text} by {objective.estimate.name}" for objective in spec.objectives]


def _estimate(objective: Objective, written: str) -> str:
    """The estimate of an objective; empty for properties of the model such as the number of features."""
    if all(metric.of_model for metric in metrics_of(objective.loss)):
        return ""
    return written or objective.estimate.name


def _estimates(source: Source) -> list[str]:
    """The estimates of the objectives as they are written; one without its own takes that of those around it."""
    file, _ = text_to_ast(source)
    written = []
    for statement in file.statements:
        if isinstance(statement, ast.Goal):
            spans = [one.estimate.span if one.estimate is not None else None for one in statement.objectives]
            texts = ["" if span is None else source.text[span.start : span.end] for span in spans]
            shared = next((text for text in texts if text), "")
            written += [" ".join((text or shared).split()) for text in texts]
    return written
