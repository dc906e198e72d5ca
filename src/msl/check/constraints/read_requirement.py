"""Read the conditions of `require`, whose names are blocks, parts, parameters and facts of the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from msl.check.constraints.read_condition import ConditionReader, Subject, flat_params
from msl.check.names.library import Declaration
from msl.check.names.resolve_names import find, peek, visible
from msl.diagnostics.diagnostic import Report
from msl.diagnostics.suggest import closest, did_you_mean, listing
from msl.language import ast
from msl.space.conditions import Condition, FactTerm, Negation, Parameter, PartIs, Present
from msl.space.formulas import FACTS
from msl.space.nodes import BlockUse, Node, Param, RealRange, alternatives
from msl.space.values import BlockType, part_as_block


class Surroundings(Protocol):
    """What reading a requirement needs from the rest of the check."""

    def bare(self, declaration: Declaration) -> BlockUse | None:
        """A block with all that it declares open."""

    def contents(self, part: Declaration) -> tuple[BlockType, ...] | None:
        """The blocks that stand in a part, or None if the part is wrong."""

    def parameters(self, part: Declaration) -> tuple[Param, ...]:
        """The parameters that a part declares."""

    def is_searched(self, block: BlockType) -> bool:
        """Whether the chain contains the block."""

    def metric_names(self) -> list[str]:
        """The metrics, which a requirement may be about instead."""

    def searched_values(self, block: BlockType, parameter: str) -> list[Node]:
        """What the uses of a block in the chain give to a parameter."""


@dataclass(slots=True)
class RequirementReader(ConditionReader):
    """Reads the requirements of one file; `parts` collects the parts that they name, by mark."""

    around: Surroundings
    parts: dict[str, Declaration] = field(default_factory=dict)

    # --- names ---

    def named(self, path: ast.Path) -> Subject | Condition | None:
        if path.text in FACTS:
            return Subject(FactTerm(path.text))
        names = list(path.names)
        owner, rest = self._owner(names)
        if owner is None:
            self._unknown(path)
            return None
        self._meet(names, rest)
        if owner.kind == "part":
            return self._of_part(owner, rest)
        if owner.kind == "chain":
            message = f"`{owner.name}` is a chain: every model is one"
            self.error("MSL123", path, message, "name a block, a part or a parameter")
            return None
        use = self.around.bare(owner)
        return None if use is None else self._of_block(use, owner, rest, None)

    def _owner(self, names: list[ast.Name]) -> tuple[Declaration | None, list[ast.Name]]:
        """The declaration that a path starts with: `sbm.k` may be a catalogue and its block, or a block and its own."""
        first = names[0].text
        used = self.module.uses.get(first)
        local = peek(self.module, first)
        if used is not None and len(names) > 1 and names[1].text in used.declarations:
            bare = self.around.bare(local) if local is not None and local.is_block else None
            if bare is None or names[1].text not in dict(flat_params(bare.params)):
                return used.declarations[names[1].text], names[2:]
        return local, names[1:]

    def _meet(self, names: list[ast.Name], rest: list[ast.Name]) -> None:
        """A qualifier that was needed counts as used."""
        head = ast.Path(tuple(names[: len(names) - len(rest)]), span=names[0].span)
        find(self.module, head, Report())

    def _of_block(
        self, use: BlockUse, owner: Declaration | None, rest: list[ast.Name], mark: str | None
    ) -> Subject | Condition | None:
        if not rest:
            return Present(use.block, mark)
        nodes: dict[str, list[Node]] = {}
        for name, node in flat_params(use.params):
            nodes.setdefault(name, []).append(node)
        for name in (param.name for param in use.params if param.takes is not None):
            nodes[name] += self.around.searched_values(use.block, name)
        path = ".".join(name.text for name in rest)
        if path not in nodes:
            help = (
                did_you_mean(path, nodes)
                or did_you_mean(rest[-1].text, nodes)
                or (f"it has {listing(nodes)}" if nodes else "it has none")
            )
            also = () if owner is None else (owner.label,)
            message = f"`{use.block.name}` has no parameter `{path}`"
            span = rest[0].span.to(rest[-1].span)
            self.report.error("MSL096", self.module.source, span, message, "", help, also)
            return None
        return Subject(Parameter(use.block, path, mark), tuple(nodes[path]))

    def _unknown(self, path: ast.Path) -> None:
        """A name that nothing declares: perhaps a parameter without its block, or a misspelt one."""
        if len(path.names) > 1 and path.names[0].text in self.module.uses:
            find(self.module, ast.Path(path.names[:2], span=path.span), self.report, "a block or part")
            return
        first = ast.Path(path.names[:1], span=path.names[0].span)
        if len(path.names) == 1 and not self.module.may_declare(path.text):
            owners = self._owners_by_parameter()
            if path.text in owners:
                written = " or ".join(f"`{owner}.{path.text}`" for owner in owners[path.text][:3])
                self.error("MSL124", path, f"`{path.text}` is a parameter: of which block?", f"write {written}")
                return
            metrics = self.around.metric_names()
            close = closest(path.text, [*visible(self.module), *owners, *FACTS, *metrics], 1)
            if close and (close[0] in owners or close[0] in FACTS or close[0] in metrics):
                is_own = close[0] in owners and close[0] not in FACTS
                meant = f"{owners[close[0]][0]}.{close[0]}" if is_own else close[0]
                message = f"`{path.text}` is not a block, part or parameter"
                self.error("MSL021", path, message, f"did you mean `{meant}`?")
                return
        find(self.module, first, self.report, "a block, part or parameter")

    def _owners_by_parameter(self) -> dict[str, list[str]]:
        """The blocks that have a parameter of each name; where the chain has some of them, those alone."""
        searched: dict[str, list[str]] = {}
        others: dict[str, list[str]] = {}
        for name in dict.fromkeys(visible(self.module)):
            declaration = peek(self.module, name)
            if declaration is None or not declaration.is_block or (use := self.around.bare(declaration)) is None:
                continue
            owners = searched if self.around.is_searched(use.block) else others
            for parameter in dict(flat_params(use.params)):
                owners.setdefault(parameter, []).append(name)
        return {**others, **searched}

    # --- parts ---

    def part(self, path: ast.Path) -> Callable[[ast.Is], Condition | None] | None:
        declaration = self._declaration(path)
        if declaration is None or declaration.kind != "part":
            return None
        return lambda node: self._part_is(declaration, node)

    def _declaration(self, path: ast.Path) -> Declaration | None:
        """What a whole path declares, without a word."""
        if len(path.names) == 1:
            return peek(self.module, path.text)
        if len(path.names) == 2 and path.names[0].text in self.module.uses:
            return self.module.uses[path.names[0].text].declarations.get(path.names[1].text)
        return None

    def _mark(self, part: Declaration) -> str:
        self.parts[part.mark] = part
        return part.mark

    def _part_is(self, part: Declaration, node: ast.Is) -> Condition | None:
        assert isinstance(node.subject, ast.Path)
        self._meet(list(node.subject.names), [])
        options: list[BlockType | None] = []
        for option in node.alternatives:
            found = None if isinstance(option, ast.Nothing) else self._block_option(part, option)
            if found is None and not isinstance(option, ast.Nothing):
                return None
            options.append(found)
        return PartIs(self._mark(part), tuple(options))

    def _block_option(self, part: Declaration, option: ast.Expression) -> BlockType | None:
        """A block that a part may be."""
        if not isinstance(option, ast.Path):
            self.error("MSL123", option, "a part comes to blocks, not to values", "name a block, or `none`")
            return None
        inside = self.around.contents(part)
        declaration = self._declaration(option)
        if declaration is None and len(option.names) == 1:
            within = [block for block in inside or () if block.name == option.text]
            if within:
                return within[0]
        declaration = declaration or find(self.module, option, self.report, "a block")
        if declaration is None:
            return None
        if not declaration.is_block:
            self.error("MSL123", option, f"`{option.text}` is not a block", "name the blocks that it may come to")
            return None
        self._meet(list(option.names), [])
        use = self.around.bare(declaration)
        if use is None or not self._stands_in(use.block, part, inside, option):
            return None
        return use.block

    def _of_part(self, part: Declaration, rest: list[ast.Name]) -> Subject | Condition | None:
        """A part alone, or `part.block` and `part.block.parameter`."""
        mark = self._mark(part)
        if not rest:
            return Negation(PartIs(mark, (None,)))
        declared = {param.name: param for param in self.around.parameters(part)}
        if len(rest) == 1 and rest[0].text in declared:
            return self._parameter_of_part(part, declared[rest[0].text], rest[0])
        inside = self.around.contents(part)
        inner = peek(part.module, rest[0].text) or peek(self.module, rest[0].text)
        if inner is None or not inner.is_block:
            self._not_in_part(part, rest[0], inside or ())
            return None
        use = self.around.bare(inner)
        if use is None or not self._stands_in(use.block, part, inside, rest[0]):
            return None
        return self._of_block(use, inner, rest[1:], mark)

    def _parameter_of_part(self, part: Declaration, param: Param, where: ast.Name) -> Subject | None:
        """`part.parameter`: a parameter that the part itself declares."""
        is_open = any(isinstance(option, RealRange) and option.step is None for option in alternatives(param.node))
        if is_open:
            message = f"`{param.name}` of `{part.name}` is an open real, which a requirement cannot compare"
            help = "compare the parameter of the block that it is given to, or give it a `step`"
            self.error("MSL182", where, message, help)
            return None
        return Subject(Parameter(part_as_block(part.mark), param.name), (param.node,))

    def _not_in_part(self, part: Declaration, name: ast.Name, inside: tuple[BlockType, ...]) -> None:
        """`part.name` where the name is no block: a parameter without its block, or a slip."""
        names = [block.name for block in inside]
        owners = [
            block
            for block in names
            if (declaration := peek(part.module, block)) is not None
            and (use := self.around.bare(declaration)) is not None
            and name.text in dict(flat_params(use.params))
        ]
        help = did_you_mean(name.text, names) or f"it contains {listing(names)}"
        if owners:
            help = "write " + " or ".join(f"`{part.name}.{owner}.{name.text}`" for owner in owners[:3])
        self.error("MSL123", name, f"`{name.text}` is not a block of `{part.name}`", help)

    def _stands_in(
        self, block: BlockType, part: Declaration, inside: tuple[BlockType, ...] | None, where: ast.Node
    ) -> bool:
        """Whether a block stands in a part; told where it does not."""
        if inside is None or any(block.key == other.key for other in inside):
            return True
        help = f"it contains {listing(other.name for other in inside)}" if inside else "it is empty"
        self.error("MSL123", where, f"`{block.name}` does not stand in `{part.name}`", help)
        return False
