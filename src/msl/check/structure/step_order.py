"""Check the structure of a chain: the order of its steps, its task, and what remains for a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msl.check.names.library import Declaration, Module
from msl.check.names.resolve_names import peek
from msl.check.structure.chains import left_out
from msl.check.structure.roles import NO_LEARNER, broken_paths
from msl.diagnostics.diagnostic import Report
from msl.diagnostics.source import Source, Span
from msl.language import ast
from msl.record import record
from msl.space.column_selectors import ON
from msl.space.formulas import Amount, Facts, Formula
from msl.space.nodes import (
    Arrange,
    BlockUse,
    Choice,
    Marked,
    Node,
    Permute,
    Pipeline,
    Regions,
    Repeat,
    Sequence,
    Subset,
    Union,
    Vector,
    alternatives,
    bottom_up,
    children,
)
from msl.space.numbers import excess
from msl.space.spec import Space
from msl.space.values import BlockType

if TYPE_CHECKING:
    from msl.space.resolve import Removal


@record
class Structure:
    """A chain, its space, and its blocks."""

    report: Report
    chain: Declaration
    root: Node
    blocks: dict[tuple[str, str], BlockType]

    def is_proven(self) -> None:
        """Report errors in the order of steps, which do not depend on the table."""
        for fault, path in broken_paths(self.root):
            help = (
                fault.help or "every path has exactly one learner, transformers and selectors before it, posts after it"
            )
            code = "MSL061" if fault is NO_LEARNER else "MSL063"
            source, span = self._place(fault.block)
            if fault is NO_LEARNER and (steps := self._meant_as_steps()) is not None:
                span, help = self.chain.node.space.span, f"`|` chooses one of them; {steps}"  # type: ignore[union-attr]
            self.report.error(code, source, span, fault.problem, f"on the path `{path}`", help)
        for (block, changer), parameters in misplaced(self.root).items():
            names = " and ".join(f"`{block.name}.{name}`" for name in parameters)
            verb = "has" if len(parameters) == 1 else "have"
            message = f"{names} {verb} an element for each feature of the table, but `{changer}` may change those first"
            help = f"put `{block.name}` before `{changer}`"
            if block.role == "learner":
                help = f"leave out `{changer}`, or take a learner without {names}"
            elif block.name == changer:
                help = f"use `{changer}` only once"
            if changer == ON.name:
                message = f"{names} {verb} an element for each feature of the table, but `on` selects only some"
                help = f"take a block without {names} there, or leave out `on`"
                if block.target == "msl.blocks:KeepFeatures":
                    help = f"put `{block.name}` before `on`"
            source, span = self._place(block)
            self.report.error("MSL064", source, span, message, "", help)

    def _meant_as_steps(self) -> str | None:
        """`standardize | svc`: a choice that was probably meant as a sequence."""
        node, module = self.chain.node, self.chain.module
        if not isinstance(node, ast.Chain) or not isinstance(node.space, ast.Choice):
            return None
        *steps, last = node.space.items
        roles = [_role(item, module) for item in steps]
        if _role(last, module) != "learner" or not all(role in ("transformer", "selector") for role in roles):
            return None
        texts = [module.source.slice(item.span) for item in node.space.items]
        return f"for one step after another write `{' >> '.join(texts)}`"

    def _place(self, block: BlockType | None) -> tuple[Source, Span]:
        """Where the chain mentions a block, otherwise the name of the chain."""
        found = None if block is None else place_of(block, self.chain)
        return found or (self.chain.module.source, self.chain.node.name.span)

    def serves(self, task: str) -> None:
        """Report blocks that do not fit the task, if it is known without the table."""
        is_left, removed = left_out(self.root, task)
        for block in removed[:1] if not is_left else removed:
            source, span = self._place(block)
            if is_left:
                message = f"`{block.name}` is left out: it is for {block.task} only, and the task is {task}"
                self.report.note("MSL241", source, span, message)
            else:
                message = f"nothing in this space is for {task}: `{block.name}` is for {block.task} only"
                help = f"use blocks for {task}, or set another `task` in `data(…)`"
                self.report.error("MSL200", source, span, message, "", help)

    def resolved(self, space: Space, facts: Facts) -> tuple[Space, tuple[Removal, ...]]:
        """The space for a table, and what does not fit the table, which is reported."""
        from msl.space.resolve import NothingLeft, resolve

        try:
            resolved, removals = resolve(space, facts)
        except NothingLeft as nothing:
            self._nothing_left(nothing.removals, facts)
            return space, ()
        except (ArithmeticError, ValueError):
            source, span = self._place(None)
            help = "look for a division by zero or the root of a negative number"
            self.report.error("MSL201", source, span, "a bound of this chain has no value for this table", "", help)
            return space, ()
        if self._is_excessive(resolved.root):
            return space, ()
        for removal in dict.fromkeys(removals):
            source, span = self._place_of_name(removal.what)
            message = f"for this table `{removal.what}` is left out: {removal.why}"
            self.report.note("MSL241", source, span, message)
        return resolved, tuple(removals)

    def _is_excessive(self, root: Node) -> bool:
        """Whether the table makes a domain exceed the limits of the language, which is reported."""
        for use in (node for node in bottom_up(root) if isinstance(node, BlockUse)):
            for param in use.params:
                too_much = next(filter(None, map(excess, bottom_up(param.node))), None)
                if too_much is not None:
                    source, span = self._place(use.block)
                    message = f"for this table `{param.name}` of `{use.block.name}` is too large: {too_much}"
                    self.report.error("MSL102", source, span, message, "", "give it a smaller bound")
                    return True
        return False

    def _nothing_left(self, removals: list[Removal], facts: Facts) -> None:
        distinct = list(dict.fromkeys(removals))
        reasons = "; ".join(
            f"`{r.what}` {r.why}" if r.why.startswith("serves") else f"`{r.what}`: {r.why}" for r in distinct[:3]
        )
        message = "nothing in this space fits the table" + (f": {reasons}" if reasons else "")
        help = f"use blocks for {facts.task}, or set another `task` in `data(…)`"
        if facts.guessed_target:
            help = f"use blocks for {facts.task}, or write `data(target = …)`: {facts.guessed_target}"
        if not all("serves" in removal.why for removal in distinct):
            rows, features = facts.n_samples, facts.n_features
            size = f"{rows} row{'s' * (rows != 1)} and {features} feature{'s' * (features != 1)}"
            help = f"the table has {size}: change the ranges"
        source, span = self._place_of_name(distinct[0].what if distinct else "")
        self.report.error("MSL200", source, span, message, "", help)

    def _place_of_name(self, name: str) -> tuple[Source, Span]:
        block = next((block for block in self.blocks.values() if block.name == name), None)
        return self._place(block)


def _role(item: ast.Expression, module: Module) -> str | None:
    """The role of a block that an expression names."""
    path = item.path if isinstance(item, ast.Call) else item
    declaration = peek(module, path.names[-1].text) if isinstance(path, ast.Path) else None
    return None if declaration is None else declaration.role


# --- where the text of a chain mentions a block -----------------------------------------------------------------------


def place_of(block: BlockType, chain: Declaration) -> tuple[Source, Span] | None:
    """The first place where a chain, or a part of the same file, mentions the block."""
    return _Search(block).in_declaration(chain)


class _Search:
    def __init__(self, block: BlockType) -> None:
        self._block = block
        self._met: set[Declaration] = set()

    def in_declaration(self, declaration: Declaration) -> tuple[Source, Span] | None:
        if declaration in self._met:
            return None
        self._met.add(declaration)
        node = declaration.node
        return self._in(node.space, declaration.module) if isinstance(node, ast.Part | ast.Chain) else None

    def _in(self, node: ast.Node, module: Module) -> tuple[Source, Span] | None:
        match node:
            case ast.Path():
                return self._named(node, node, module)
            case ast.Call(path=path):
                found = self._named(path, node, module)
                if found is not None:
                    return found
            case ast.AnyOf(role=role) if role.names[-1].text == self._block.role:
                return module.source, node.span
        for child in ast.children(node):
            if not isinstance(child, ast.Name) and (found := self._in(child, module)) is not None:
                return found
        return None

    def _named(self, path: ast.Path, whole: ast.Node, module: Module) -> tuple[Source, Span] | None:
        declaration = _declaration(path, module)
        if declaration is None:
            return None
        if not declaration.is_block:
            found = self.in_declaration(declaration)
            is_own = declaration.module is module
            return found if found is None or is_own else (module.source, whole.span)
        is_it = (declaration.module.origin, declaration.name) == self._block.key
        return (module.source, whole.span) if is_it else None


def _declaration(path: ast.Path, module: Module) -> Declaration | None:
    if len(path.names) == 1:
        return peek(module, path.text)
    used = module.uses.get(path.names[0].text)
    return None if used is None or len(path.names) > 2 else used.declarations.get(path.names[1].text)


# --- vectors over features may not follow a step that can change the columns ------------------------------------------


def misplaced(root: Node) -> dict[tuple[BlockType, str], list[str]]:
    """Blocks that search over the features of the table, with a step before them that may change those: parameters."""
    found: dict[tuple[BlockType, str], list[str]] = {}
    walk = _OverFeatures()
    walk.walk(root, None)
    for block, parameter, changer in dict.fromkeys(walk.found):
        found.setdefault((block, changer), []).append(parameter)
    return found


class Walk:
    """Goes through a chain in the order of its steps and keeps the first block that may have changed the columns."""

    def __init__(self) -> None:
        #: Results by node, for unchanged and changed columns; without this, nested orders would take exponential time.
        self._done: dict[tuple[int, bool], tuple[Node, str | None]] = {}

    def block(self, use: BlockUse, changer: str | None) -> str | None:
        """The first block that may have changed the columns after a block."""
        raise NotImplementedError

    def walk(self, node: Node, changer: str | None) -> str | None:
        """The first block that may have changed the columns after the node."""
        key = id(node), changer is not None
        if key not in self._done:
            self._done[key] = node, self._walked(node, changer)
        return changer or self._done[key][1]

    def _walked(self, node: Node, changer: str | None) -> str | None:
        match node:
            case BlockUse():
                return self.block(node, changer)
            case Sequence(steps=steps) | Subset(members=steps):
                for step in steps:
                    changer = self.walk(step, changer)
                return changer
            case Choice(options=options):
                changers = [self.walk(option, changer) for option in options]
                return next((c for c in changers if c is not None), None)
            case Union(branches=branches):
                for branch in branches:
                    self.walk(branch, changer)
                return changer or "&"
            case Permute(members=members) | Arrange(members=members):
                return self._any_order(members, changer)
            case Repeat(member=member):
                return self.walk(member, self.walk(member, changer))
            case Marked(node=inner):
                return self.walk(inner, changer)
        return changer

    def _any_order(self, members: tuple[Node, ...], changer: str | None) -> str | None:
        alone = [self.walk(member, changer) for member in members]
        for position, member in enumerate(members):
            others = [c for i, c in enumerate(alone) if i != position and c is not None]
            self.walk(member, changer or (others[0] if others else None))
        return changer or next((c for c in alone if c is not None), None)


class _OverFeatures(Walk):
    """Finds vectors over features that follow a step which may have changed the columns."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[BlockType, str, str]] = []

    def block(self, use: BlockUse, changer: str | None) -> str | None:
        for param in use.params:
            for option in alternatives(param.node):
                if isinstance(option, Pipeline):
                    self.walk(option.node, changer)
        if changer is not None:
            for param in use.params:
                if _over_features(param.node):
                    self.found.append((use.block, param.name, changer))
        return changer or (use.block.name if use.block.role == "selector" or use.block == ON else None)


def _over_features(node: Node) -> bool:
    match node:
        case Vector(size=size):
            return _mentions_features(size)
        case Regions():
            return True
        case Choice(options=options):
            return any(_over_features(option) for option in options)
    return any(_over_features(child) for child in children(node))


def _mentions_features(amount: Amount) -> bool:
    if not isinstance(amount, Formula):
        return False
    return amount.operation == "n_features" or any(_mentions_features(operand) for operand in amount.operands)
