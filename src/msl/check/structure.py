"""Structure: what the steps of a chain can be told before it runs — their order, their task, what a table leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msl.check.columns import misplaced
from msl.check.library import Declaration, Module
from msl.check.places import place_of
from msl.check.report import Report
from msl.check.roles import NO_LEARNER, broken_paths
from msl.check.scope import peek
from msl.check.tasks import left_out
from msl.space.extremes import excess
from msl.space.facts import Facts
from msl.space.node import BlockUse, Node, bottom_up
from msl.space.space import Space
from msl.space.value import BlockType
from msl.syntax import ast
from msl.text.record import record
from msl.text.source import Source, Span

if TYPE_CHECKING:
    from msl.space.resolve import Removal


@record
class Structure:
    """A chain, the space that it comes to, and the blocks in it."""

    report: Report
    chain: Declaration
    root: Node
    blocks: dict[tuple[str, str], BlockType]

    def is_proven(self) -> None:
        """Tells what is wrong with the order of steps, whatever the table."""
        for fault, path in broken_paths(self.root):
            help = "every path has exactly one learner, transformers and selectors before it, posts after it"
            code = "MSL061" if fault is NO_LEARNER else "MSL063"
            source, span = self._place(fault.block)
            if fault is NO_LEARNER and (steps := self._meant_as_steps()) is not None:
                span, help = self.chain.node.space.span, f"`|` chooses one of them; {steps}"  # type: ignore[union-attr]
            self.report.error(code, source, span, fault.problem, f"on the path `{path}`", help)
        for (block, changer), parameters in misplaced(self.root).items():
            names = " and ".join(f"`{block.name}.{name}`" for name in parameters)
            verb = "has" if len(parameters) == 1 else "have"
            message = f"{names} {verb} an element for each feature of the table, and `{changer}` may change those first"
            help = f"put `{block.name}` before `{changer}`"
            if block.role == "learner":
                help = f"leave out `{changer}`, or take a learner without {names}"
            elif block.name == changer:
                help = f"let `{changer}` come once"
            source, span = self._place(block)
            self.report.error("MSL064", source, span, message, "", help)

    def _meant_as_steps(self) -> str | None:
        """`standardize | svc`: a choice between a learner and what would stand before it."""
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
        """Where a block of the chain is named, or else the chain's own name."""
        found = None if block is None else place_of(block, self.chain)
        return found or (self.chain.module.source, self.chain.node.name.span)

    def serves(self, task: str) -> None:
        """Tells what a task leaves of the space, where it is known before the table is."""
        is_left, removed = left_out(self.root, task)
        for block in removed[:1] if not is_left else removed:
            source, span = self._place(block)
            if is_left:
                message = f"for {task} `{block.name}` is left out: it serves {block.task} only"
                self.report.note("MSL241", source, span, message)
            else:
                message = f"nothing in this space serves {task}: `{block.name}` serves {block.task} only"
                help = f"take blocks that serve {task}, or set another `task` in `data(…)`"
                self.report.error("MSL200", source, span, message, "", help)

    def resolved(self, space: Space, facts: Facts) -> tuple[Space, tuple[Removal, ...]]:
        """The space for a table, and what the table left out of it, which is told."""
        from msl.space.resolve import NothingLeft, resolve

        try:
            resolved, removals = resolve(space, facts)
        except NothingLeft as nothing:
            self._nothing_left(nothing.removals, facts)
            return space, ()
        except (ArithmeticError, ValueError):
            source, span = self._place(None)
            help = "look for a division by zero, or a root of a negative number"
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
        """Whether the table makes a domain larger than anything can be made of, which is told."""
        for use in (node for node in bottom_up(root) if isinstance(node, BlockUse)):
            for param in use.params:
                too_much = next(filter(None, map(excess, bottom_up(param.node))), None)
                if too_much is not None:
                    source, span = self._place(use.block)
                    message = f"for this table `{param.name}` of `{use.block.name}` is too large: {too_much}"
                    self.report.error("MSL102", source, span, message, "", "give it a bound that grows less")
                    return True
        return False

    def _nothing_left(self, removals: list[Removal], facts: Facts) -> None:
        distinct = list(dict.fromkeys(removals))
        reasons = "; ".join(
            f"`{r.what}` {r.why}" if r.why.startswith("serves") else f"`{r.what}`: {r.why}" for r in distinct[:3]
        )
        message = "nothing in this space fits the table" + (f": {reasons}" if reasons else "")
        help = f"take blocks that serve {facts.task}, or set another `task` in `data(…)`"
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
