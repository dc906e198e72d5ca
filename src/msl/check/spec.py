"""Check: a text to a checked spec and everything there is to say about it. Nothing is imported, run or fetched."""

from __future__ import annotations

from dataclasses import field

from msl.check import lints
from msl.check.blocks import Blocks
from msl.check.calls import Calls
from msl.check.columns import misplaced
from msl.check.conditions import RequirementReader
from msl.check.judging import Judging
from msl.check.library import Declaration, Library, Module, ReadFile
from msl.check.report import Report
from msl.check.requirements import Survey, Verdict
from msl.check.roles import broken_paths
from msl.check.searching import Searching
from msl.check.settings import Settings
from msl.check.spaces import Spaces
from msl.space.condition import Requirement
from msl.space.facts import Facts
from msl.space.node import Node
from msl.space.resolve import NothingLeft, Removal, resolve
from msl.space.space import Space
from msl.space.spec import Budget, Call, DataStatement, Objective, Spec, Stage
from msl.syntax import ast
from msl.syntax.parse import text_to_ast
from msl.text.diagnostic import Diagnostic, Label, in_reading_order
from msl.text.record import record
from msl.text.source import Source, Span
from msl.text.suggest import did_you_mean, listing

_MOST_WORK = 20_000  # what counting may cost before a check does without

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
    """What a check found: the spec if it is sound, what to tell, and every text that was read on the way."""

    spec: Spec | None
    diagnostics: tuple[Diagnostic, ...]
    data: DataStatement = field(default_factory=DataStatement)
    sources: tuple[Source, ...] = ()
    removals: tuple[Removal, ...] = ()


def check_source(
    source: Source, facts: Facts | None = None, chain: str | None = None, read_file: ReadFile | None = None
) -> Checked:
    """Checks a spec; with facts of a table, also what depends on it. `chain` picks one where there are several."""
    checker = _Checker(source, facts, chain, read_file)
    spec = checker.spec()
    told = [d for d in checker.report.diagnostics if d.is_error or d.primary.source == source]
    diagnostics = tuple(in_reading_order(told))
    found = None if checker.report.failed else spec
    return Checked(found, diagnostics, checker.data, checker.library.sources, checker.removals)


def data_span(source: Source) -> Span:
    """Where a spec speaks of its table: its `data` statement, or its start."""
    file, _ = text_to_ast(source)
    statement = next((s for s in file.statements if isinstance(s, ast.Data)), None)
    return Span(0, min(1, len(source.text))) if statement is None else statement.span


class _Checker:
    """One check: what each stage found is what the next one needs."""

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

    def spec(self) -> Spec | None:
        self._once()
        self.data = self._data()
        self.task = self.facts.task if self.facts is not None else self.data.task
        chain = self._chain()
        self._declared_blocks()
        requirements = self._requirements(chain)
        root = self.spaces.space(chain) if chain is not None else None
        self._other_parts()
        if root is not None and chain is not None:
            self._structure(root, chain)
            self._judge_requirements(root, requirements)
        objectives = self._objectives()
        stages = self._stages(root, len(objectives) or 1)
        ensemble = self._ensemble()
        settings = Settings(self.module, self.report)
        budget = next((settings.budget(s) for s in self.module.statements(ast.Budget)), Budget())
        seed = next((settings.seed(s) for s in self.module.statements(ast.Seed)), 0)
        lints.unused(self.module, self.spaces.met, self.report)
        if root is None or chain is None or self.report.failed:
            return None
        space = self._resolved(Space(root, tuple(requirement for requirement, _, _ in requirements)), chain)
        self._not_empty(space, requirements)
        return Spec(chain.name, space, objectives, stages, ensemble, budget, self.data, seed)

    # --- the file as a whole ---

    def _once(self) -> None:
        first: dict[type, ast.Statement] = {}
        for statement in self.module.file.statements:
            if not isinstance(statement, _ONCE):
                continue
            before = first.setdefault(type(statement), statement)
            if before is not statement:
                word = _KEYWORDS[type(statement)]
                help = "list several objectives after one of them" if word == "minimize" else "keep one of them"
                name = "`minimize` or `maximize`" if word == "minimize" else f"`{word}`"
                source = self.module.source
                also = (Label(source, _keyword_span(before, source), "first here"),)
                message = f"{name} appears twice"
                span = _keyword_span(statement, source)
                self.report.error("MSL071", source, span, message, "again", help, also)

    def _data(self) -> DataStatement:
        settings = Settings(self.module, self.report)
        return next((settings.data(statement) for statement in self.module.statements(ast.Data)), DataStatement())

    def _chain(self) -> Declaration | None:
        """What is searched: this file's only chain, or the only chain of the files it uses."""
        own = self.module.chains()
        used = [chain for module in self.module.uses.values() for chain in module.chains()]
        candidates = own or used
        source = self.module.source
        start = Span(0, min(1, len(source.text)))
        if self.wanted is not None:
            chosen = [chain for chain in own + used if chain.name == self.wanted]
            if chosen:
                self._met_chain(chosen[0])
                return chosen[0]
            names = [chain.name for chain in own + used]
            help = did_you_mean(self.wanted, names) or (f"chains are {listing(names)}" if names else "declare one")
            self.report.error("MSL073", source, start, f"there is no chain `{self.wanted}`", "", help)
            return None
        if len(candidates) == 1:
            self._met_chain(candidates[0])
            return candidates[0]
        broken = self.module.unknowable or bool(self.module.file.broken)
        if not candidates and not broken and self._is_spec():
            help = "add `chain model = …`, or use a file that has one"
            self.report.error("MSL072", source, start, "there is no chain: nothing to search", "", help)
        if len(candidates) > 1:
            shown = listing(chain.name for chain in candidates)
            also = tuple(chain.label for chain in candidates[:4])
            message = f"there are several chains: {shown}"
            span = candidates[-1].node.name.span if own else start
            self.report.error("MSL074", source, span, message, "", "pick one with `--chain NAME`", also)
        return None

    def _met_chain(self, chain: Declaration) -> None:
        for qualifier, module in self.module.uses.items():
            if chain.module is module:
                self.module.qualifiers_met.add(qualifier)

    def _is_spec(self) -> bool:
        """A file of blocks and parts is there to be used; any other wants a chain."""
        statements = self.module.file.statements
        library = (ast.Block, ast.Derive, ast.Part, ast.Use, ast.Edition, ast.Require)
        declares = any(isinstance(s, ast.Block | ast.Derive | ast.Part) for s in statements)
        return not (declares and all(isinstance(s, library) for s in statements))

    def _declared_blocks(self) -> None:
        """Every block of this file is read, used or not: a declaration is checked where it stands."""
        for declaration in self.module.declarations.values():
            if declaration.is_block:
                self.blocks.declared(declaration)

    def _other_parts(self) -> None:
        """Parts and chains that the searched chain does not contain are checked too, and keep what they need in use."""
        met = set(self.spaces.met)
        parts = dict.fromkeys(d for d in self.module.declarations.values() if not d.is_block)
        for declaration in parts:
            self.spaces.space(declaration)
        chains = {d for d in parts if d.kind == "chain"}
        self.spaces.met = met | (self.spaces.met - parts.keys()) | chains

    # --- requirements ---

    def _requirements(self, chain: Declaration | None) -> list[tuple[Requirement, ast.Require, Module]]:
        """Those of this file and of the files whose parts it takes."""
        found = []
        modules = [self.module, *(module for module in self.module.uses.values())]
        if chain is not None and chain.module not in modules:
            modules.append(chain.module)
        for module in modules:
            reader = RequirementReader(module, self.report, self.blocks)
            for statement in module.statements(ast.Require):
                condition = reader.condition(statement.condition)
                when = None if statement.when is None else reader.condition(statement.when)
                if condition is None or (statement.when is not None and when is None):
                    continue
                text = " ".join(module.source.slice(statement.span).split())
                found.append((Requirement(condition, when, text), statement, module))
            self.spaces.met.update(reader.parts.values())
        return found

    def _judge_requirements(self, root: Node, requirements: list[tuple[Requirement, ast.Require, Module]]) -> None:
        if not requirements or self.report.failed:
            return
        survey = Survey(root, self.facts)
        for requirement, statement, module in requirements:
            finding = survey.judge(requirement)
            if finding is None:
                continue
            source, span = module.source, statement.span
            match finding.verdict:
                case Verdict.NEVER:
                    message = "no model of this space can meet this requirement"
                    self.report.error("MSL125", source, span, message, "", "loosen it, or change the domains")
                case Verdict.ALWAYS:
                    message = "every model of this space meets this requirement: it does nothing"
                    self.report.warning("MSL229", source, span, message, "", "remove it, or look for a slip")
                case Verdict.ABSENT if module is self.module:
                    message = f"`{finding.block}` is not in the chain: this requirement does nothing"
                    self.report.warning("MSL230", source, span, message, "", "remove it, or add the block")
                case Verdict.KILLS:
                    message = f"no model with `{finding.block}` can meet this requirement"
                    label = "a dead alternative"
                    help = f"remove `{finding.block}`, or loosen the requirement"
                    self.report.warning("MSL231", source, span, message, label, help)

    def _not_empty(self, space: Space, requirements: list[tuple[Requirement, ast.Require, Module]]) -> None:
        """Each requirement can be met; whether all can at once is counted, as far as that is cheap."""
        if not requirements or self.report.failed:
            return
        from msl.space.count import count

        found = count(space, work=_MOST_WORK)
        if found.exact and 0 in (found.models, found.structures):
            _, statement, module = requirements[-1]
            message = "together the requirements leave no model"
            also = tuple(Label(m.source, s.span, "and this one") for _, s, m in requirements[:-1])
            help = "loosen one of them"
            self.report.error("MSL126", module.source, statement.span, message, "", help, also)

    # --- structure ---

    def _structure(self, root: Node, chain: Declaration) -> None:
        source, span = chain.module.source, chain.node.name.span
        for problem, path in broken_paths(root):
            message = f"on the path `{path}` {problem}"
            help = "every path has exactly one learner, transformers and selectors before it, posts after it"
            code = "MSL061" if "no learner" in problem and "stands before" not in problem else "MSL063"
            self.report.error(code, source, span, message, "", help)
        for block, parameter, changer in misplaced(root):
            message = (
                f"`{block}.{parameter}` searches over the table's features, and `{changer}` before it may change them"
            )
            self.report.error("MSL064", source, span, message, "", f"put `{block}` before `{changer}`")

    def _resolved(self, space: Space, chain: Declaration) -> Space:
        """The space for the table, where one is given."""
        if self.facts is None:
            return space
        source, span = chain.module.source, chain.node.name.span
        try:
            resolved, removals = resolve(space, self.facts)
        except NothingLeft as nothing:
            self.report.error("MSL200", source, span, str(nothing), "", "look at the ranges, and at the task")
            return space
        except (ArithmeticError, ValueError) as trouble:
            message = f"a bound has no value for this table: {trouble}"
            self.report.error("MSL201", source, span, message, "", "look for a division by zero")
            return space
        self.removals = tuple(removals)
        for removal in dict.fromkeys(removals):
            message = f"for this table `{removal.what}` is left out: {removal.why}"
            self.report.note("MSL241", source, span, message)
        return resolved

    # --- judging and searching ---

    def _objectives(self) -> tuple[Objective, ...]:
        judging = Judging(self.module, self.report, self.calls, self.task)
        for goal in self.module.statements(ast.Goal):
            return judging.objectives(goal)
        return judging.default_objectives()

    def _stages(self, root: Node | None, objectives: int) -> tuple[Stage, ...]:
        searching = Searching(self.module, self.report, self.calls, root)
        for search in self.module.statements(ast.Search):
            return searching.stages(search, objectives)
        return searching.default_stages(objectives)

    def _ensemble(self) -> Call | None:
        for statement in self.module.statements(ast.Ensemble):
            return self.calls.call("combiner", statement.call, self.module)
        return None


def _keyword_span(statement: ast.Statement, source: Source) -> Span:
    start = statement.span.start
    word = source.text[start:].split(None, 1)[0].split("(")[0]
    return Span(start, start + len(word))
