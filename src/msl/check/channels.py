"""Channels: what best-first search may open — parts, blocks and open parameters, by the names they can be called by."""

from __future__ import annotations

from msl.check.library import Module
from msl.check.report import Report
from msl.space.node import BlockUse, Bool, Choice, IntRange, Marked, Node, RealRange, Regions, Symbol, Vector, children
from msl.space.spell_word import part_name
from msl.syntax import ast
from msl.text.record import record
from msl.text.suggest import did_you_mean, listing

Path = tuple[str, ...]
_MOST_PATHS = 20_000
_OPEN = (IntRange, RealRange, Bool, Vector, Regions, Choice)


@record
class Channels:
    """Reads the channels of one file, for a space that is known."""

    module: Module
    report: Report
    root: Node | None

    def read(self, argument: ast.Argument) -> tuple[str, ...] | None:
        """The names of an argument `channels = […]`; None for `none`, or where something is wrong."""
        value = argument.value
        if isinstance(value, ast.Nothing):
            return None
        if not isinstance(value, ast.ListOf):
            text = self.module.source.slice(value.span)
            self._error(value, "channels are a list", f"write `[{text}]`")
            return None
        if not value.items:
            self._error(value, "there are no channels: nothing would be searched", "name some, or leave them out")
            return None
        known = None if self.root is None else _Names(self.root)
        names: list[str] = []
        for item in value.items:
            name = self._name(item, known)
            if name is not None and name in names:
                self._error(item, f"`{name}` is there twice", "remove one of them")
            elif name is not None:
                names.append(name)
        return tuple(names)

    def _name(self, item: ast.Expression, known: _Names | None) -> str | None:
        if isinstance(item, ast.String):
            names = [item.value]
        elif isinstance(item, ast.Path):
            names = [name.text for name in item.names]
        else:
            text = self.module.source.slice(item.span)
            help = "a channel is a part, a block with its parameter, or a parameter's name"
            self._error(item, f"`{text}` is not a channel", help)
            return None
        text = ".".join(names)
        if known is None or not known.are_complete:
            return text
        if text not in known.names and names[0] in self.module.uses and ".".join(names[1:]) in known.names:
            text = ".".join(names[1:])  # `clop.svc.gamma`: what a channel is called never needs the catalogue
        if text not in known.names:
            self._unknown(item, text, known)
            return None
        owners = known.owners.get(text, ())
        if len(owners) > 1 and text not in known.steps:
            written = " or ".join(f"`{owner}.{text}`" for owner in sorted(owners)[:4])
            message = f"`{text}` is a parameter of several blocks"
            self.report.error("MSL144", self.module.source, item.span, message, "which one?", f"write {written}")
            return None
        return text

    def _unknown(self, item: ast.Expression, text: str, known: _Names) -> None:
        if text in known.fixed:
            self._error(
                item, f"`{text}` is fixed in this space: there is nothing to search", "open it, or leave it out"
            )
            return
        help = did_you_mean(text, known.names) or f"parameters here are {listing(known.owners)}"
        self._error(item, f"`{text}` is neither a part nor an open parameter of this space", help)

    def _error(self, item: ast.Node, message: str, help: str) -> None:
        self.report.error("MSL144", self.module.source, item.span, message, "", help)


class _Names:
    """The names of what is open in a space: every stretch of the way to it, and a block with any parameter of it."""

    def __init__(self, root: Node) -> None:
        self._done: dict[int, tuple[Node, frozenset[Path]]] = {}
        self.names: set[str] = set()
        self.steps: set[str] = set()
        self.fixed: set[str] = set()
        #: Which blocks have an open parameter of a name.
        self.owners: dict[str, set[str]] = {}
        paths = self._paths(root)
        self.are_complete = len(paths) <= _MOST_PATHS
        for path in paths if self.are_complete else ():
            stretches = [path[i:j] for i in range(len(path)) for j in range(i + 1, len(path) + 1)]
            self.names.update(".".join(stretch) for stretch in stretches)

    def _paths(self, node: Node) -> frozenset[Path]:
        """The ways from a node to what is open below it."""
        if id(node) not in self._done:
            self._done[id(node)] = node, self._found(node)
        return self._done[id(node)][1]

    def _found(self, node: Node) -> frozenset[Path]:
        match node:
            case BlockUse(block=block):
                return self._of_block(block.name, node)
            case Symbol(name=name, params=params):
                return frozenset((name, p.name, *way) for p in params for way in self._paths(p.node))
            case Marked(mark=mark, node=inner):
                self.steps.add(part_name(mark))
                return frozenset((part_name(mark), *way) for way in self._paths(inner))
        below = frozenset(way for child in children(node) for way in self._paths(child))
        return below | {()} if isinstance(node, _OPEN) else below

    def _of_block(self, block: str, use: BlockUse) -> frozenset[Path]:
        self.steps.add(block)
        ways: set[Path] = set()
        for param in use.params:
            open_ways = self._paths(param.node)
            if not open_ways:
                self.fixed |= {param.name, f"{block}.{param.name}"}
            for way in open_ways:
                ways.add((block, param.name, *way))
                for name in (param.name, *way[1::2]):  # alternatives bring parameters that are the block's own
                    self.names.add(f"{block}.{name}")
                    self.owners.setdefault(name, set()).add(block)
        return frozenset(ways)
