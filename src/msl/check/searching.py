"""Searching: the strategies of `search`, what they start from, and how many objectives they take."""

from __future__ import annotations

from msl.check.calls import Calls
from msl.check.conditions import flat_params
from msl.check.library import Module
from msl.check.report import Report
from msl.check.spaces import Spaces
from msl.space.defaults import closed
from msl.space.node import BlockUse, Node, children
from msl.space.spec import Stage
from msl.syntax import ast
from msl.text.record import record
from msl.text.suggest import did_you_mean, listing

_ONE_OBJECTIVE = frozenset({"pso", "bpso", "pattern", "best_first", "halving", "auto"})
_SEVERAL_OBJECTIVES = frozenset({"nspso", "cmdpso"})
_READ_HERE = frozenset({"start", "channels"})


@record
class Searching:
    """Reads the search of one file, for a space that is known."""

    module: Module
    report: Report
    calls: Calls
    root: Node | None

    def stages(self, search: ast.Search, objectives: int) -> tuple[Stage, ...]:
        stages = [self._stage(written) for written in search.stages]
        for written, stage in zip(search.stages, stages, strict=True):
            if stage is not None:
                self._objectives_fit(stage, written, objectives)
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
        start = channels = None
        for argument in written.arguments:
            if argument.key is not None and argument.key.text == "start":
                start = self._start(argument)
            if argument.key is not None and argument.key.text == "channels":
                channels = self._channels(argument)
        return Stage(call, start, channels)

    def _start(self, argument: ast.Argument) -> Node | None:
        """A model to start from: what it does not mention is closed at its default."""
        node = Spaces(self.report, self.calls.blocks, quiet=True).expression(argument.value, self.module)
        return None if node is None else closed(node)

    def _channels(self, argument: ast.Argument) -> tuple[str, ...] | None:
        value = argument.value
        if not isinstance(value, ast.ListOf):
            text = self.module.source.slice(value.span)
            self.report.error(
                "MSL144", self.module.source, value.span, "channels are a list", "", f"write `channels = [{text}]`"
            )
            return None
        return tuple(channel for item in value.items if (channel := self._channel(item)) is not None)

    def _channel(self, item: ast.Expression) -> str | None:
        if not isinstance(item, ast.Path):
            text = self.module.source.slice(item.span)
            message = f"`{text}` is not a channel"
            help = "a channel is a part, a block with its parameter, or a parameter's name"
            self.report.error("MSL144", self.module.source, item.span, message, "", help)
            return None
        if self.root is None:
            return item.text
        owners = _owners(self.root)
        name = item.names[-1].text
        if len(item.names) == 1 and name in self.module.declarations:
            return item.text
        found = owners.get(name, [])
        if len(item.names) == 2:
            found = [owner for owner in found if owner == item.names[0].text]
        if not found:
            names = [*owners, *(d for d in self.module.declarations)]
            help = did_you_mean(item.text, names) or f"parameters here are {listing(owners)}"
            message = f"`{item.text}` is neither a part nor an open parameter of this space"
            self.report.error("MSL144", self.module.source, item.span, message, "", help)
        elif len(found) > 1:
            written = " or ".join(f"`{owner}.{name}`" for owner in found[:4])
            message = f"`{name}` is a parameter of several blocks"
            self.report.error("MSL144", self.module.source, item.span, message, "which one?", f"write {written}")
        else:
            return item.text
        return None

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


def _owners(root: Node) -> dict[str, list[str]]:
    """The blocks that have a parameter of each name, once each."""
    owners: dict[str, list[str]] = {}
    seen: set[int] = set()
    todo = [root]
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, BlockUse):
            for name, _ in flat_params(node.params):
                if node.block.name not in owners.setdefault(name, []):
                    owners[name].append(node.block.name)
        todo.extend(children(node))
    return owners
