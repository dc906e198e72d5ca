"""Select the chain to search, what a task leaves of it, and the channels of best-first search."""

from __future__ import annotations

from msl.check.names.library import Declaration, Module
from msl.diagnostics.diagnostic import Report
from msl.diagnostics.source import Span
from msl.diagnostics.suggest import did_you_mean, listing
from msl.language import ast
from msl.record import record
from msl.space.names_to_text import part_name
from msl.space.nodes import (
    Arrange,
    BlockUse,
    Bool,
    Choice,
    IntRange,
    Marked,
    Node,
    RealRange,
    Regions,
    Repeat,
    Subset,
    Symbol,
    Vector,
    bottom_up,
    children,
)
from msl.space.values import BlockType


@record
class Chains:
    """The chains of one file and of the files that it uses."""

    module: Module
    report: Report

    def chosen(self, wanted: str | None) -> Declaration | None:
        """The chain to search: the only one of this file, or the only one of the files that it uses."""
        own = self.module.chains()
        used = [chain for module in self.module.uses.values() for chain in module.chains()]
        candidates = own or used
        source = self.module.source
        start = Span(0, min(1, len(source.text)))
        if wanted is not None:
            return self._wanted(wanted, own + used, start)
        if len(candidates) == 1:
            self._meet(candidates[0])
            return candidates[0]
        broken = self.module.unknowable or bool(self.module.file.broken)
        if not candidates and not broken and self._is_spec():
            help = "add `chain model = …`, or use a file that has a chain"
            self.report.error("MSL072", source, start, "there is no chain to search", "", help)
        if len(candidates) > 1:
            span = candidates[-1].node.name.span if own else start
            self._several(candidates, span)
        return None

    def _wanted(self, wanted: str, known: list[Declaration], start: Span) -> Declaration | None:
        """The chain that `--chain` names: alone, or with its file where two files have one of that name."""
        chosen = [chain for chain in known if wanted in (chain.name, self._qualified(chain))]
        if len(chosen) == 1:
            self._meet(chosen[0])
            return chosen[0]
        if chosen:
            self._several(chosen, start)
            return None
        names = [chain.name for chain in known]
        help = did_you_mean(wanted, names) or (f"chains are {listing(names)}" if names else "declare one")
        self.report.error("MSL073", self.module.source, start, f"there is no chain `{wanted}`", "", help)
        return None

    def _several(self, chains: list[Declaration], span: Span) -> None:
        names = [chain.name for chain in chains]
        shown = names if len(set(names)) == len(names) else [self._qualified(chain) for chain in chains]
        message = f"there are several chains: {listing(shown)}"
        help = f"select one, as in `--chain {shown[0]}`"
        also = tuple(chain.label for chain in chains[:4])
        self.report.error("MSL074", self.module.source, span, message, "", help, also)

    def _qualified(self, chain: Declaration) -> str:
        qualifier = next((name for name, module in self.module.uses.items() if module is chain.module), None)
        return chain.name if qualifier is None else f"{qualifier}.{chain.name}"

    def _meet(self, chain: Declaration) -> None:
        for qualifier, module in self.module.uses.items():
            if chain.module is module:
                self.module.qualifiers_met.add(qualifier)

    def _is_spec(self) -> bool:
        """Whether the file needs a chain; one with only blocks and parts is meant to be used by others."""
        statements = self.module.file.statements
        library = (ast.Block, ast.Derive, ast.Part, ast.Use, ast.Edition, ast.Require)
        declares = any(isinstance(s, ast.Block | ast.Derive | ast.Part) for s in statements)
        return not (declares and all(isinstance(s, library) for s in statements))


# --- what a task leaves of a space: blocks may be for classification or regression only -------------------------------


def left_out(root: Node, task: str) -> tuple[bool, list[BlockType]]:
    """Whether any model of a space remains for a task, and the blocks that are for the other task."""
    alive: dict[int, bool] = {}
    removed: dict[tuple[str, str], BlockType] = {}
    for node in bottom_up(root):
        below = [alive[id(child)] for child in children(node)]
        match node:
            case BlockUse(block=block):
                serves = block.task in (None, task)
                if not serves:
                    removed.setdefault(block.key, block)
                remains = serves and all(below)
            case Choice():
                remains = any(below)
            case Subset():
                remains = True
            case Arrange(low=low):
                remains = sum(below) >= low
            case Repeat(low=low):
                remains = low == 0 or all(below)
            case _:
                remains = all(below)
        alive[id(node)] = remains
    return alive[id(root)], list(removed.values())


# --- channels of best-first search: parts, blocks and open parameters, by name ----------------------------------------


Path = tuple[str, ...]
_MOST_PATHS = 20_000
_OPEN = (IntRange, RealRange, Bool, Vector, Regions, Choice)


@record
class Channels:
    """Reads the channels of one file for a given space."""

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
            self._error(value, "channels must be a list", f"write `[{text}]`")
            return None
        if not value.items:
            self._error(value, "there are no channels, so nothing would be searched", "name some, or leave them out")
            return None
        known = None if self.root is None else _Names(self.root)
        names: list[str] = []
        for item in value.items:
            name = self._name(item, known)
            if name is not None and name in names:
                self._error(item, f"`{name}` is listed twice", "remove one of them")
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
            text = ".".join(names[1:])  # `clop.svc.gamma`: the name of a channel has no catalogue
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
    """The names of what is open in a space: every contiguous part of its path, and blocks with their parameters."""

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
            pieces = [path[i:j] for i in range(len(path)) for j in range(i + 1, len(path) + 1)]
            self.names.update(".".join(piece) for piece in pieces)

    def _paths(self, node: Node) -> frozenset[Path]:
        """The paths from a node to what is open below it."""
        if id(node) not in self._done:
            self._done[id(node)] = node, self._found(node)
        return self._done[id(node)][1]

    def _found(self, node: Node) -> frozenset[Path]:
        match node:
            case BlockUse(block=block):
                return self._of_block(block.name, node)
            case Symbol(name=name, params=params):
                return frozenset((name, p.name, *path) for p in params for path in self._paths(p.node))
            case Marked(mark=mark, node=inner):
                self.steps.add(part_name(mark))
                return frozenset((part_name(mark), *path) for path in self._paths(inner))
        below = frozenset(path for child in children(node) for path in self._paths(child))
        return below | {()} if isinstance(node, _OPEN) else below

    def _of_block(self, block: str, use: BlockUse) -> frozenset[Path]:
        self.steps.add(block)
        paths: set[Path] = set()
        for param in use.params:
            open_paths = self._paths(param.node)
            if not open_paths:
                self.fixed |= {param.name, f"{block}.{param.name}"}
            for path in open_paths:
                paths.add((block, param.name, *path))
                for name in (param.name, *path[1::2]):  # alternatives bring parameters that are the block's own
                    self.names.add(f"{block}.{name}")
                    self.owners.setdefault(name, set()).add(block)
        return frozenset(paths)
