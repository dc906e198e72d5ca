"""Searching: the strategies of `search`, what they start from, and how many objectives they take."""

from __future__ import annotations

from dataclasses import field

from msl.check.calls import Calls
from msl.check.channels import Channels
from msl.check.library import Module
from msl.check.report import Report
from msl.check.roles import NO_LEARNER, broken_paths
from msl.check.spaces import Spaces
from msl.space.defaults import closed
from msl.space.node import Node
from msl.space.spec import Stage
from msl.syntax import ast
from msl.text.diagnostic import Label
from msl.text.record import record
from msl.text.source import Span

_ONE_OBJECTIVE = frozenset({"pso", "bpso", "pattern", "best_first"})
_SEVERAL_OBJECTIVES = frozenset({"nspso", "cmdpso"})
#: The strategies that leave a swarm behind.
SWARMS = frozenset({"pso", "bpso", "nspso", "cmdpso", "auto"})
_READ_HERE = frozenset({"start", "channels"})


@record
class Searching:
    """Reads the search of one file, for a space that is known."""

    module: Module
    report: Report
    calls: Calls
    root: Node | None
    #: The models to start from and where they are written, to be looked for in the space once it is known.
    starts: list[tuple[Node, Span]] = field(default_factory=list)

    def stages(self, search: ast.Search, objectives: int) -> tuple[Stage, ...]:
        stages = [self._stage(written) for written in search.stages]
        for written, stage in zip(search.stages, stages, strict=True):
            if stage is not None:
                self._objectives_fit(stage, written, objectives)
                self._place_fits(stage, written, search)
        return tuple(stage for stage in stages if stage is not None)

    def default_stages(self, objectives: int) -> tuple[Stage, ...]:
        """How a spec is searched that does not say."""
        name = "auto" if objectives == 1 else "cmdpso"
        call = self.calls.call("strategy", ast.Path((ast.Name(name),)), self.module)
        return () if call is None else (Stage(call),)

    def _stage(self, written: ast.Path | ast.Call) -> Stage | None:
        path = written if isinstance(written, ast.Path) else written.path
        takes_start = path.text == "best_first"
        call = self.calls.call("strategy", written, self.module, _READ_HERE if takes_start else frozenset())
        if call is None or not takes_start or not isinstance(written, ast.Call):
            return None if call is None else Stage(call)
        given = self._read_here(written)
        start = self._start(given["start"]) if "start" in given else None
        channels = (
            Channels(self.module, self.report, self.root).read(given["channels"]) if "channels" in given else None
        )
        return Stage(call, start, channels)

    def _read_here(self, written: ast.Call) -> dict[str, ast.Argument]:
        """The arguments that are spaces and paths, not values: each once, with `=`."""
        given: dict[str, ast.Argument] = {}
        for argument in written.arguments:
            if argument.key is None or argument.key.text not in _READ_HERE:
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
        """What judges again comes last, behind what found something."""
        if stage.call.name != "confirm" or (len(search.stages) > 1 and written is search.stages[-1]):
            return
        text = self.module.source.slice(written.span)
        message = "`confirm` judges again what other strategies found, so it comes last, behind `then`"
        is_alone = len(search.stages) == 1
        help = f"write `auto then {text}`" if is_alone else "have one, at the end of the search"
        self.report.error("MSL149", self.module.source, written.span, message, "", help)

    def _objectives_fit(self, stage: Stage, written: ast.Node, objectives: int) -> None:
        name = stage.call.name
        if objectives > 1 and name in _ONE_OBJECTIVE:
            message = f"`{name}` optimises one objective, and there are {objectives}"
            help = "use `cmdpso`, `nspso` or `occam_ga`, or join the objectives: `0.8 * a + 0.2 * b`"
            self.report.error("MSL145", self.module.source, written.span, message, "", help)
        elif objectives == 1 and name in _SEVERAL_OBJECTIVES:
            message = f"`{name}` looks for a front of several objectives, and there is one"
            help = "use `pso` or `pattern`, or add an objective, such as `features`"
            self.report.error("MSL146", self.module.source, written.span, message, "", help)
        elif objectives > 2 and name == "occam_ga":
            message = f"`occam_ga` takes one or two objectives, and there are {objectives}"
            self.report.error("MSL145", self.module.source, written.span, message, "", "use `cmdpso` or `nspso`")
