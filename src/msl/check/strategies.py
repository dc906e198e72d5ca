"""Check the calls of strategies, estimates and ensembles: their options, and whether a strategy fits the search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from msl.check.domains.contains import Owner
from msl.check.names.block_declarations import Blocks, Declared
from msl.check.names.catalogues import OFFERED, Offer, offers
from msl.check.names.library import Declaration, Library, Module
from msl.check.names.names_of_other_tools import call_meant
from msl.check.names.resolve_names import declarations_of, find
from msl.check.names.scoring_declarations import (
    WrongDeclaration,
    check_own_metric,
    declared_estimate,
    declared_metric,
    options_of,
)
from msl.check.names.strategy_declarations import READ_BY_SEARCH
from msl.check.structure.chains import Channels
from msl.check.structure.expressions import Spaces
from msl.check.structure.roles import NO_LEARNER, broken_paths
from msl.diagnostics.diagnostic import Label, Report
from msl.diagnostics.source import Source, Span
from msl.diagnostics.suggest import alternatives, did_you_mean, listing
from msl.language import ast
from msl.record import record
from msl.space.defaults import closed, default_node, is_closed
from msl.space.evaluate_conditions import holds
from msl.space.nodes import (
    BlockUse,
    Const,
    Empty,
    Listing,
    Marked,
    Node,
    Param,
    Permute,
    Pipeline,
    Sequence,
    Symbol,
    Union,
)
from msl.space.spec import DEFAULT_SEARCH, PLAIN, Call, Estimate, Metric, Space, Stage
from msl.space.values import BlockValue, Step, Value, pipeline_value, side_by_side, symbol_value

if TYPE_CHECKING:  # most searches start from no file
    from msl.check.read_models import Given

#: How people call what a role gives, one of it and several, and the code of a name that is none.
_WORDS = {
    "strategy": ("a strategy", "strategies", "MSL141"),
    "estimate": ("an estimate", "estimates", "MSL142"),
    "combiner": ("an ensemble", "ensembles", "MSL143"),
    "metric": ("a metric", "metrics", "MSL150"),
}


class Calls:
    """Resolves calls of the engine's own roles."""

    def __init__(self, library: Library, blocks: Blocks, report: Report) -> None:
        self.library, self.blocks, self.report = library, blocks, report
        self._own_metrics: dict[Declaration, Declared | None] = {}

    def call(self, role: str, written: ast.Path | ast.Call, module: Module) -> Call | None:
        """A call with all options filled in; what a strategy starts from is read by `Searching`."""
        path = written if isinstance(written, ast.Path) else written.path
        declared = self.declared(role, path, module)
        if declared is None:
            return None
        arguments = written.arguments if isinstance(written, ast.Call) else ()
        read_later = _read_by_search(declared)
        plain = tuple(argument for argument in arguments if argument.key is None or argument.key.text not in read_later)
        owner = Owner(path.text, "option", declared.labels, closed=True)
        params = self.blocks.narrower(module).params(options_of(declared), plain, owner, written.span)
        if params is None:
            return None
        for param in params:
            if param.takes is not None and not is_closed(param.node):
                self._searched(param, arguments, path, module)
                return None
        options = tuple((p.name, node_value(_option_node(p))) for p in params)
        return Call(path.text, declared.block.target, options, declared.capabilities)

    def _searched(self, param: Param, arguments: tuple[ast.Argument, ...], path: ast.Path, module: Module) -> None:
        """Reports an option with a learner in which something is open."""
        given = next(each for each in arguments if each.key is not None and each.key.text == param.name)
        message = f"`{param.name}` of `{path.text}` takes one value and cannot be searched"
        help = "close what is open in it with `=`; what it does not mention takes its default"
        self.report.error("MSL140", module.source, given.span, message, "", help)

    def estimate(self, written: ast.Path | ast.Call, module: Module) -> Estimate | None:
        """An estimate with all options filled in, and what its declaration states about it."""
        call = self.call("estimate", written, module)
        path = written if isinstance(written, ast.Path) else written.path
        declared = None if call is None else self.declared("estimate", path, module)
        if call is None or declared is None:
            return None
        try:
            return declared_estimate(declared, call.options)
        except WrongDeclaration as wrong:
            self._wrong_declaration("estimate", declared, wrong, path, module)
            return None

    def metric(
        self, written: ast.Path | ast.Call, module: Module, known: Mapping[str, Value] = MappingProxyType({})
    ) -> Metric | None:
        """The metric of that name with all options filled in; `known` are those that were read before."""
        path = written if isinstance(written, ast.Path) else written.path
        declared = self.declared("metric", path, module)
        call = None if declared is None else self.call("metric", written, module)
        if declared is None or call is None:
            return None
        options = tuple((name, known.get(name, value)) for name, value in call.options)
        try:
            metric = declared_metric(declared, options)
            if path.text in self.library.implied("metric").declarations or path.text in offers("metric"):
                return metric
            # Two files may declare a metric of one name, so the qualifier is part of it.
            return replace(metric, name=path.text, declared_in=declared.block.origin, span=declared.block.span)
        except WrongDeclaration as wrong:
            assert declared is not None
            self._wrong_declaration("metric", declared, wrong, path, module)
            return None

    def knows(self, role: str, name: str) -> bool:
        """Whether a name ships or is offered; that it is declared as it should be is another question."""
        return name in self.library.implied(role).declarations or name in offers(role)

    # --- metrics that a spec declares ---

    def declares_metric(self, path: ast.Path, module: Module) -> bool:
        """Whether a path names a metric that the file, or one that it uses, declares."""
        return any(self._is_metric(declaration) for declaration in declarations_of(module, path))

    def own_metric(self, declaration: Declaration) -> Declared | None:
        """A metric that a file declares; what is wrong with it is reported once, where it is declared."""
        if declaration not in self._own_metrics:
            declared = self.blocks.declared(declaration)
            try:
                if declared is not None:
                    check_own_metric(declared)
            except WrongDeclaration as wrong:
                label = declared.labels.get(wrong.field) if declared is not None else None
                label = label or declaration.label
                self.report.error("MSL296", label.source, label.span, wrong.message, "", wrong.help)
                declared = None
            self._own_metrics[declaration] = declared
        return self._own_metrics[declaration]

    def own_metrics(self, module: Module) -> list[Declaration]:
        """The metrics that a file declares, if it is not a catalogue of metrics itself."""
        if module.is_implied:
            return []
        return [declaration for declaration in module.declarations.values() if self._is_metric(declaration)]

    def _is_metric(self, declaration: Declaration) -> bool:
        if declaration.kind != "derived":
            return declaration.role == "metric"
        declared = self.blocks.declared(declaration)
        return declared is not None and declared.block.role == "metric"

    def names(self, role: str) -> list[str]:
        """All that a spec can name, those that ship first."""
        shipped = self.library.implied(role).declarations
        return [*shipped, *(name for name in (offers(role) if role in OFFERED else ()) if name not in shipped)]

    def task(self, role: str, path: ast.Path, module: Module) -> str | None:
        """The only task that a strategy, estimate or ensemble serves, or None."""
        declared = self.declared(role, path, module)
        return None if declared is None else declared.block.task

    def _wrong_declaration(
        self, role: str, declared: Declared, wrong: WrongDeclaration, path: ast.Path, module: Module
    ) -> None:
        message = f"the declaration of `{declared.block.name}` is wrong: {wrong.message}"
        label = declared.labels.get(wrong.field)
        also = () if label is None else (label,)
        self.report.error(_WORDS[role][2], module.source, path.span, message, "", wrong.help, also)

    def declared(self, role: str, path: ast.Path, module: Module) -> Declared | None:
        catalogue = self.library.implied(role)
        declaration = catalogue.declarations.get(path.text)
        if declaration is not None:
            return self.blocks.declared(declaration)
        names = list(catalogue.declarations)
        if role == "metric" and self.declares_metric(path, module):
            own = find(module, path, self.report, "a metric")
            self.blocks.met.update(() if own is None else (own,))
            return None if own is None else self.own_metric(own)
        if role in OFFERED:
            offered = offers(role)
            if path.text in offered:
                return self._offered(offered[path.text], path, module)
            names += offered
        one, several, code = _WORDS[role]
        help = did_you_mean(path.text, names) or f"{several} are {listing(names)}"
        help = call_meant(role, path.names[-1].text) or help
        self.report.error(code, module.source, path.span, f"`{path.text}` is not {one}", "", help)
        return None

    def _offered(self, offer: Offer, path: ast.Path, module: Module) -> Declared | None:
        """A strategy, estimate or metric of another package, as a file of that package declares it."""
        told = len(self.report.diagnostics)
        file = offer.declarations()
        declaration = None if file is None else self.library.offered(file).declarations.get(offer.name)
        declared = None if declaration is None else self.blocks.declared(declaration)
        if declared is not None and (declared.block.role, declared.block.target) == (offer.role, offer.target):
            return declared
        if len(self.report.diagnostics) == told:  # nothing is wrong with what the file says, but this is not in it
            what = f"{offer.role} `{offer.name}`"
            message = f"the package `{offer.package}` offers the {what}, but does not declare it"
            help = f'its `{offer.file}` has to say `block {offer.name}: {offer.role} "{offer.target}" {{ … }}`'
            self.report.error(_WORDS[offer.role][2], module.source, path.span, message, "", help)
        return None


def node_value(node: Node) -> Value:
    """The value of a node with nothing open."""
    match node:
        case Const(value=value):
            return value  # type: ignore[return-value]
        case Symbol(name=name, params=params, own=own):
            closed = tuple(p if _closed(p.node) else replace(p, node=default_node(p)) for p in params)
            return symbol_value(name, _values(closed), own)
        case BlockUse(block=block, params=params):
            return BlockValue(block, _values(params))
        case Listing(elements=elements):
            return tuple(node_value(element) for element in elements)
        case Pipeline(node=inner):
            return pipeline_value(closed_steps(inner))
    raise TypeError(f"{type(node).__name__} is still open")


def closed_steps(node: Node) -> tuple[Step, ...]:
    """The steps of a node without open parameters; raises TypeError if there are any."""
    match node:
        case BlockUse():
            value = node_value(node)
            assert isinstance(value, BlockValue)
            return (value,)
        case Sequence(steps=steps):
            return tuple(step for below in steps for step in closed_steps(below))
        case Permute(members=(only,)) | Marked(node=only):
            return closed_steps(only)
        case Union(branches=branches):
            return side_by_side(closed_steps(branch) for branch in branches)
        case Empty():
            return ()
    raise TypeError("still open")


def _values(params: tuple[Param, ...]) -> tuple[tuple[str, Value], ...]:
    """The values of parameters, without those whose condition does not hold."""
    values: dict[str, Value] = {}
    for param in params:
        if param.condition is None or holds(param.condition, values):
            values[param.name] = node_value(param.node)
    return tuple(values.items())


def _option_node(param: Param) -> Node:
    """The value of an option: where none is given, its default."""
    return param.node if param.takes is not None or _closed(param.node) else default_node(param)


def _closed(node: Node) -> bool:
    return isinstance(node, Const | Symbol | BlockUse)


def _read_by_search(declared: Declared) -> frozenset[str]:
    """The options of a strategy that are a model or paths, not values."""
    if declared.block.role != "strategy":
        return frozenset()
    return READ_BY_SEARCH.intersection(p.name for p in declared.params if p.node == Const(None))


# --- the stages of a search ---


@record
class Searching:
    """Reads the search of one file, for a space that is known."""

    module: Module
    report: Report
    calls: Calls
    root: Node | None
    #: The models to start from and where they are written, to be looked for in the space once it is known.
    starts: list[tuple[Node, Span]] = field(default_factory=list)
    #: The same for the models of files, by the stage that evaluates them and where that is written.
    files: dict[int, tuple[list[Given], Span]] = field(default_factory=dict)
    #: Where stages that evaluate the shipped portfolio are written.
    portfolios: dict[int, Span] = field(default_factory=dict)

    def stages(self, search: ast.Search, objectives: int) -> tuple[Stage, ...]:
        stages = [self._stage(written, place) for place, written in enumerate(search.stages)]
        for written, stage in zip(search.stages, stages, strict=True):
            if stage is not None:
                self._objectives_fit(stage, written, objectives)
                self._place_fits(stage, written, search)
        return tuple(stage for stage in stages if stage is not None)

    def default_stages(self, objectives: int) -> tuple[Stage, ...]:
        """How a spec is searched that does not say."""
        name = ast.Name(DEFAULT_SEARCH[objectives != 1])
        call = self.calls.call("strategy", ast.Path((name,)), self.module)
        return () if call is None else (Stage(call),)

    def _stage(self, written: ast.Path | ast.Call, place: int) -> Stage | None:
        path = written if isinstance(written, ast.Path) else written.path
        if path.text == "start":
            return self._from_files(written, path, place)
        if path.text == "portfolio":
            self.portfolios[place] = written.span
        call = self.calls.call("strategy", written, self.module)
        if call is None or not isinstance(written, ast.Call):
            return None if call is None else Stage(call)
        declared = self.calls.declared("strategy", written.path, self.module)
        given = {} if declared is None else self._given(written, _read_by_search(declared))
        start = self._start(given["start"]) if "start" in given else None
        channels = (
            Channels(self.module, self.report, self.root).read(given["channels"]) if "channels" in given else None
        )
        return Stage(call, start, channels)

    def _from_files(self, written: ast.Path | ast.Call, path: ast.Path, place: int) -> Stage | None:
        """`start("portfolio.msl")`, whose arguments are no options."""
        from msl.check.read_models import read_files

        call = self.calls.call("strategy", path, self.module)
        given = read_files(written, self.module, self.calls.library, self.calls.blocks, self.report)
        self.files[place] = (given, written.span)
        return None if call is None else Stage(call, models=tuple(one.node for one in given))

    def _given(self, written: ast.Call, names: frozenset[str]) -> dict[str, ast.Argument]:
        """The arguments with these names, each once, with `=`."""
        given: dict[str, ast.Argument] = {}
        for argument in written.arguments:
            if argument.key is None or argument.key.text not in names:
                continue
            name = argument.key.text
            if argument.opens:
                text = self.module.source.slice(argument.value.span)
                message = f"`{name}` of `{written.path.text}` takes one value: nothing searches it"
                self.report.error("MSL140", self.module.source, argument.span, message, "", f"write `{name} = {text}`")
            elif name in given:
                also = (Label(self.module.source, given[name].span, "first given here"),)
                message = f"`{name}` is given twice"
                self.report.error("MSL092", self.module.source, argument.span, message, "again", "remove one", also)
            else:
                given[name] = argument
        return given

    def _start(self, argument: ast.Argument) -> Node | None:
        """A model to start from: what it does not mention is closed at its default."""
        if isinstance(argument.value, ast.Nothing):
            return None
        node = Spaces(self.report, self.calls.blocks, quiet=True).expression(argument.value, self.module)
        if node is None:
            return None
        start = closed(node)
        faults = broken_paths(start)
        if faults:
            fault = faults[0][0]
            why = "it has no learner" if fault is NO_LEARNER else fault.problem
            message = f"this is not a model to start from: {why}"
            help = "write one model of the chain; what it does not mention takes its default"
            self.report.error("MSL147", self.module.source, argument.value.span, message, "", help)
            return None
        self.starts.append((start, argument.value.span))
        return start

    def _place_fits(self, stage: Stage, written: ast.Node, search: ast.Search) -> None:
        """A strategy that evaluates models again comes last, after those that find them."""
        is_last = len(search.stages) > 1 and written is search.stages[-1]
        if stage.call.capabilities.reevaluates is None or is_last:
            return
        text = self.module.source.slice(written.span)
        message = f"`{stage.call.name}` evaluates again what other strategies found, so it comes last, after `then`"
        is_alone = len(search.stages) == 1
        help = f"write `{DEFAULT_SEARCH[0]} then {text}`" if is_alone else "have one, at the end of the search"
        self.report.error("MSL149", self.module.source, written.span, message, "", help)

    def _objectives_fit(self, stage: Stage, written: ast.Node, objectives: int) -> None:
        name, (fewest, most) = stage.call.name, stage.call.capabilities.objectives
        if most is not None and objectives > most:
            takes = "optimises one objective" if most == 1 else "takes one or two objectives"
            message = f"`{name}` {takes}, and there are {objectives}"
            help = f"use {self._made_for(objectives)}, or join the objectives: `0.8 * a + 0.2 * b`"
            self.report.error("MSL145", self.module.source, written.span, message, "", help)
        elif 0 < objectives < fewest:
            message = f"`{name}` looks for a front of several objectives, and there is one"
            help = f"use `{DEFAULT_SEARCH[0]}`, or add an objective, such as `features`"
            self.report.error("MSL146", self.module.source, written.span, message, "", help)

    def _made_for(self, objectives: int) -> str:
        """The strategies that ship for this number of objectives, without those that take any number."""
        found = []
        for name, declaration in sorted(self.calls.library.implied("strategy").declarations.items()):
            declared = self.calls.blocks.declared(declaration)
            capabilities = PLAIN if declared is None else declared.capabilities
            if capabilities.objectives != PLAIN.objectives and capabilities.takes(objectives):
                found.append(name)
        return alternatives(found)


# --- how many evaluations the stages make, and which stages a budget leaves too few for ---


def warn_of_starved(
    search: ast.Search, stages: tuple[Stage, ...], evaluations: int, space: Space, source: Source, report: Report
) -> None:
    """Warns of the first stage that never runs within the budget, or of a confirmation that it cuts short."""
    if _starved(stages, evaluations, None) is None:
        return
    found = _starved(stages, evaluations, _size(space))  # counting models may take a while
    if found is not None:
        place, message, help = found
        report.warning("MSL235", source, search.stages[place].span, message, "", help)


def _starved(stages: tuple[Stage, ...], evaluations: int, size: int | None) -> tuple[int, str, str] | None:
    """The place of the stage that gets too little, a message, and what to do."""
    left = evaluations
    for place, stage in enumerate(stages):
        name, capabilities, options = stage.call.name, stage.call.capabilities, dict(stage.call.options)
        needed = capabilities.least_evaluations(options, size)
        enough = f"allow more, as in `budget(evaluations = {evaluations - left + needed:_})`"
        if place and left <= 0:
            message = f"`{name}` never runs: what comes before it uses all of `evaluations = {evaluations:_}`"
            return place, message, f"{enough}, or let the others ask for fewer" if needed else "allow more evaluations"
        if capabilities.reevaluates is not None and left < needed:
            repeats = int(options[capabilities.reevaluates])  # type: ignore[arg-type]
            whole = left * repeats // needed
            what = f"{whole} of {repeats} repeats" if whole else "not even one repeat"
            message = f"`{name}` asks for {needed:_} evaluations, and the budget leaves it {left:_}: {what}"
            return place, message, f"{enough}, or confirm fewer"
        left -= needed
    return None


def _size(space: Space) -> int | None:
    """How many models there are; None where that is not known before the table is."""
    from msl.space.enumerate.count import count

    found = count(space)
    return found.models if found.exact else None
