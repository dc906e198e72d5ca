"""Check a spec: run all checks in order, and return the spec and its diagnostics. Nothing is imported or executed."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from msl.check import lints
from msl.check.consistency import Consistency
from msl.check.names.block_declarations import Blocks
from msl.check.names.library import Declaration, Library, Module, ReadFile
from msl.check.objectives import ObjectiveReader, limits_of_positive, of_positive, task_of
from msl.check.settings import Settings
from msl.check.strategies import Calls, Searching
from msl.check.structure.chains import Chains
from msl.check.structure.expressions import Spaces, blocks_in
from msl.check.structure.step_order import Structure
from msl.diagnostics.diagnostic import Diagnostic, Label, Report, in_reading_order
from msl.diagnostics.source import Source, Span
from msl.language import ast
from msl.language.parser import text_to_ast
from msl.record import paused_collector, record
from msl.space.formulas import Facts
from msl.space.nodes import BlockUse, Marked, Node, Param, bottom_up
from msl.space.spec import (
    Budget,
    DataStatement,
    MetricLimit,
    Objective,
    Space,
    Spec,
    Stage,
)
from msl.space.values import BlockType

if TYPE_CHECKING:  # most specs have no requirements, and most checks no table
    from msl.check.constraints.requirements import Required
    from msl.space.resolve import Removal

#: Codes of changed meanings since earlier versions: reported for every file in use, and by every command.
CHANGED_MEANINGS = frozenset({"MSL242", "MSL243", "MSL244"})
_ONCE = (ast.Edition, ast.Data, ast.Goal, ast.Search, ast.Ensemble, ast.Budget, ast.Seed)
_KEYWORDS = {
    ast.Edition: "msl",
    ast.Data: "data",
    ast.Goal: "minimize",
    ast.Search: "search",
    ast.Ensemble: "ensemble",
    ast.Budget: "budget",
    ast.Seed: "seed",
}


@record
class Checked:
    """The result of a check: the spec if it is valid, the diagnostics, and all texts that were read."""

    spec: Spec | None
    diagnostics: tuple[Diagnostic, ...]
    data: DataStatement = field(default_factory=DataStatement)
    sources: tuple[Source, ...] = ()
    removals: tuple[Removal, ...] = ()

    @property
    def changed_meanings(self) -> tuple[Diagnostic, ...]:
        """The diagnostics about text that meant something else in earlier versions."""
        return tuple(diagnostic for diagnostic in self.diagnostics if diagnostic.code in CHANGED_MEANINGS)


def check_source(
    source: Source, facts: Facts | None = None, chain: str | None = None, read_file: ReadFile | None = None
) -> Checked:
    """Check a spec; with facts of a table, also what depends on it. `chain` selects one of several chains."""
    with paused_collector():
        checker = _Checker(source, facts, chain, read_file)
        spec = checker.spec()
        shown = [d for d in checker.report.diagnostics if d.is_error or _is_shown(d, source)]
        diagnostics = tuple(in_reading_order(shown))
        found = None if checker.report.failed else spec
        return Checked(found, diagnostics, checker.data, checker.library.sources, checker.removals)


def _is_shown(diagnostic: Diagnostic, source: Source) -> bool:
    """Whether a warning or note is about this file, or about a changed meaning in a file that it uses."""
    return diagnostic.primary.source == source or diagnostic.code in CHANGED_MEANINGS


def data_span(source: Source, column: str | None = None) -> Span:
    """The span of a column in the `data` statement, of the whole statement, or the start of the spec."""
    file, _ = text_to_ast(source)
    statement = next((s for s in file.statements if isinstance(s, ast.Data)), None)
    if statement is None:
        return Span(0, min(1, len(source.text)))
    values = [argument.value for argument in statement.arguments]
    listed = [item for value in values for item in (value.items if isinstance(value, ast.ListOf) else (value,))]
    written = [item.path if isinstance(item, ast.Call) else item for item in listed]  # `ordered = [size(S < M < L)]`
    named = (item.span for item in written if source.slice(item.span).strip('"') == column)
    return next(named, statement.span)


class _Checker:
    """One check; each stage needs the results of the ones before."""

    def __init__(self, source: Source, facts: Facts | None, chain: str | None, read_file: ReadFile | None) -> None:
        self.report = Report()
        self.library = Library(self.report, read_file)
        self.module = self.library.open(source)
        self.blocks = Blocks(self.report)
        self.spaces = Spaces(self.report, self.blocks)
        self.calls = Calls(self.library, self.blocks, self.report)
        self.facts = facts
        self.wanted = chain
        self.data = DataStatement()
        self.removals: tuple[Removal, ...] = ()
        self._metric_requirements: list[tuple[Module, ast.Require]] = []

    def spec(self) -> Spec | None:
        self._once()
        self.data = self._data()
        self.task = self.facts.task if self.facts is not None else self.data.task
        chain = Chains(self.module, self.report).chosen(self.wanted)
        self._declared_blocks()
        root = self.spaces.space(chain) if chain is not None else None
        self._root = root
        self._searched = {} if root is None else blocks_in(root)
        requirements = self._requirements(chain)
        self._other_parts()
        structure = None if root is None or chain is None else Structure(self.report, chain, root, self._searched)
        if structure is not None:
            structure.is_proven()
        selecting = None
        if root is not None and self.spaces.on_places:
            from msl.check.structure.table_columns import OnColumns

            selecting = OnColumns(self.report, root, self.spaces.on_places)
            selecting.are_proven()
        objectives = self._objectives()
        self.task = self.task or task_of(objectives)
        if structure is not None:
            if self.facts is None and self.task is not None:
                structure.serves(self.task)
            if requirements and not self.report.failed:
                from msl.check.constraints.requirements import report_verdicts

                report_verdicts(requirements, structure.root, self.facts, self.module, self.report)
        consistency = Consistency(self.module, self.report)
        written = next((len(goal.objectives) for goal in self.module.statements(ast.Goal)), 1)
        if root is not None and chain is not None and self._may_use_best:
            consistency.check_best(root, chain, written)
        limits = self._limits()
        stages = self._stages(root, written)
        consistency.check_confirming(objectives, stages, self.data)
        if root is not None:
            consistency.check_resources(root, stages, len(objectives))
        consistency.check_complexity(self._searched.values(), objectives, limits, stages)
        ensemble = consistency.read_ensemble(stages, self.calls)
        consistency.check_ensemble(limits)
        settings = Settings(self.module, self.report)
        budget = next((settings.budget(s, written) for s in self.module.statements(ast.Budget)), Budget())
        seed = next((settings.seed(s) for s in self.module.statements(ast.Seed)), 0)
        if not self.report.failed:
            lints.unused(self.module, self.spaces.met | self.blocks.met, self.report)
        if structure is None or self.report.failed:
            return None
        space = Space(structure.root, tuple(required.requirement for required in requirements))
        if self.facts is not None:
            space, self.removals = structure.resolved(space, self.facts)
            if selecting is not None:
                selecting.fit(self.facts)
        if requirements and not self.report.failed:
            from msl.check.constraints.requirements import leave_a_model

            leave_a_model(requirements, space, self.report)
        if not self.report.failed:
            stages = self._resolved_stages(stages, space)
            consistency.check_end(stages, budget)
            consistency.check_evaluations(stages, budget, space)
        if self.data.positive is not None:
            objectives, limits = of_positive(objectives), limits_of_positive(limits)
        return Spec(structure.chain.name, space, objectives, stages, ensemble, budget, self.data, seed, limits)

    # --- the file as a whole ---

    def _once(self) -> None:
        first: dict[type, ast.Statement] = {}
        for statement in self.module.file.statements:
            if not isinstance(statement, _ONCE):
                continue
            before = first.setdefault(type(statement), statement)
            if before is not statement:
                word = _KEYWORDS[type(statement)]
                help = "keep one of them"
                if word == "minimize":
                    help = "list the objectives in one `minimize`; a metric to maximize is subtracted, as in `1 - auc`"
                name = "`minimize` or `maximize`" if word == "minimize" else f"`{word}`"
                source = self.module.source
                also = (Label(source, _keyword_span(before, source), "first here"),)
                message = f"{name} appears twice"
                span = _keyword_span(statement, source)
                self.report.error("MSL071", source, span, message, "again", help, also)

    def _data(self) -> DataStatement:
        settings = Settings(self.module, self.report)
        return next((settings.data(statement) for statement in self.module.statements(ast.Data)), DataStatement())

    def _declared_blocks(self) -> None:
        """Check every block that this file declares, whether it is used or not."""
        for declaration in self.module.declarations.values():
            if declaration.is_block:
                self.blocks.declared(declaration)
        for declaration in self.calls.own_metrics(self.module):
            self.calls.own_metric(declaration)

    def _other_parts(self) -> None:
        """Check the parts and chains outside the searched chain, too; what they refer to counts as used."""
        met = set(self.spaces.met)
        parts = dict.fromkeys(d for d in self.module.declarations.values() if not d.is_block)
        for declaration in parts:
            self.spaces.space(declaration)
        chains = {d for d in parts if d.kind == "chain"}
        self.spaces.met = met | (self.spaces.met - parts.keys()) | chains

    # --- requirements ---

    def bare(self, declaration: Declaration) -> BlockUse | None:
        return self.blocks.bare(declaration)

    def parameters(self, part: Declaration) -> tuple[Param, ...]:
        found = self.spaces.space(part)
        return found.params if isinstance(found, Marked) else ()

    def contents(self, part: Declaration) -> tuple[BlockType, ...] | None:
        root = self.spaces.space(part)
        return None if root is None else tuple(blocks_in(root).values())

    def is_searched(self, block: BlockType) -> bool:
        return block.key in self._searched

    def searched_values(self, block: BlockType, parameter: str) -> list[Node]:
        uses = [node for node in bottom_up(self._root) if isinstance(node, BlockUse)] if self._root is not None else []
        return [p.node for use in uses if use.block.key == block.key for p in use.params if p.name == parameter]

    def _requirements(self, chain: Declaration | None) -> list[Required]:
        """The requirements of this file, and of every file whose parts or chain are searched."""
        taken = {d.module for d in self.spaces.met if not d.is_block} | ({chain.module} if chain is not None else set())
        others = [module for module in self.library.modules if module in taken and module is not self.module]
        found: list[Required] = []
        for module in [self.module, *others]:
            if any(module.statements(ast.Require)):
                from msl.check.constraints.requirements import read

                about_metrics = self._about_metrics(module)
                requirements, parts = read(module, self.report, self, about_metrics)
                self._metric_requirements.extend((module, statement) for statement in about_metrics)
                found.extend(requirements)
                self.spaces.met.update(parts)
        return found

    def metric_names(self) -> list[str]:
        return self.calls.names("metric")

    def _about_metrics(self, module: Module) -> list[ast.Require]:
        """The requirements of a file that are limits on metrics."""
        from msl.check.constraints.metric_limits import is_about_metrics

        return [each for each in module.statements(ast.Require) if is_about_metrics(each, module, self.calls)]

    # --- objectives and search ---

    def _objective_reader(self, module: Module) -> ObjectiveReader:
        has_folds, has_weights = self.data.fold is not None, self.data.weight is not None
        has_weights = has_weights or (self.facts is not None and self.facts.has_weights)
        return ObjectiveReader(module, self.report, self.calls, self.task, self.facts, has_folds, has_weights)

    def _objectives(self) -> tuple[Objective, ...]:
        reader = self._objective_reader(self.module)
        for goal in self.module.statements(ast.Goal):
            return reader.objectives(goal)
        return reader.default_objectives()

    def _limits(self) -> tuple[MetricLimit, ...]:
        """What is required of metrics, with that of files whose parts are searched; the same twice counts once."""
        found: list[MetricLimit] = []
        for module, statement in self._metric_requirements:
            from msl.check.constraints.metric_limits import LimitReader

            found += LimitReader(module, self.report, self.calls, self._objective_reader(module)).limits(statement)
        by_meaning = {(limit.metric.name, limit.operation, limit.value): limit for limit in found}
        return tuple(by_meaning.values())

    def _stages(self, root: Node | None, objectives: int) -> tuple[Stage, ...]:
        searching = Searching(self.module, self.report, self.calls, root)
        self._starts, self._files, self._portfolios = searching.starts, searching.files, searching.portfolios
        for search in self.module.statements(ast.Search):
            return searching.stages(search, objectives)
        return searching.default_stages(objectives)

    @property
    def _may_use_best(self) -> bool:
        """Whether a file has the word `best` at all: most have not, and their spaces need not be searched for it."""
        return any("best" in module.source.text for module in self.library.modules if not module.is_implied)

    def _resolved_stages(self, stages: tuple[Stage, ...], space: Space) -> tuple[Stage, ...]:
        """The stages with their starts resolved for the table; a start that is not in the space is reported."""
        spans = {id(start): span for start, span in self._starts}
        resolved = []
        for place, stage in enumerate(stages):
            if place in self._files:
                from msl.check.read_models import models_of_space

                given, span = self._files[place]
                models = models_of_space(given, space, self.facts, span, self.module, self.report)
                stage = _evaluating(stage, models)
            elif place in self._portfolios:
                from msl.check.read_models import portfolio_models

                span = self._portfolios[place]
                library, blocks = self.library, self.calls.blocks
                models = portfolio_models(space, self.task, library, blocks, span, self.module, self.report)
                stage = _evaluating(stage, models)
            if stage.start is not None:
                start = stage.start
                if self.facts is not None:
                    from msl.space.resolve import NothingLeft, resolve

                    try:
                        start = resolve(Space(start), self.facts)[0].root
                    except (NothingLeft, ArithmeticError, ValueError):
                        start = stage.start  # the same is wrong with the space, and reported there
                self._is_in_space(start, space, spans[id(stage.start)])
                stage = replace(stage, start=start)
            resolved.append(stage)
        return tuple(resolved)

    def _is_in_space(self, start: Node, space: Space, span: Span) -> None:
        unknown = [block.name for key, block in blocks_in(start).items() if key not in self._searched]
        reason = f"`{unknown[0]}` is not in the chain" if unknown else _why_not_in(space, start)
        if reason is not None:
            message = f"this is not a model of the space: {reason}"
            help = "start from a model of the chain; what it does not mention takes its default"
            self.report.error("MSL147", self.module.source, span, message, "", help)


def _evaluating(stage: Stage, models: tuple[Node, ...]) -> Stage:
    """A stage that evaluates these models and no others."""
    capabilities = replace(stage.call.capabilities, queries=(len(models), len(models)))
    return replace(stage, call=replace(stage.call, capabilities=capabilities), models=models)


def _why_not_in(space: Space, start: Node) -> str | None:
    """Why a closed node is not in a space; None if it is, or if this depends on the table."""
    from msl.check.strategies import closed_steps
    from msl.space.membership import Membership, NotInSpace
    from msl.space.values import Model

    try:
        Membership(space).derive(Model(closed_steps(start)))
    except NotInSpace as outside:
        return str(outside)
    except (TypeError, ValueError):
        return None  # vectors have no size yet, or bounds no value
    return None


def _keyword_span(statement: ast.Statement, source: Source) -> Span:
    start = statement.span.start
    word = source.text[start:].split(None, 1)[0].split("(")[0]
    return Span(start, start + len(word))
