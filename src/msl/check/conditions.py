"""Conditions: what `require` and `if` ask, with every name resolved and every comparison of things that compare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from msl.check.library import Declaration, Module
from msl.check.report import Report
from msl.check.scope import find, peek, visible
from msl.space.condition import (
    AllOf,
    AnyOf,
    Comparison,
    Computed,
    Condition,
    FactTerm,
    IsTrue,
    Literal,
    Negation,
    Parameter,
    PartIs,
    Present,
    Sibling,
    Term,
    ValueIs,
)
from msl.space.formula import FACTS, FUNCTIONS, OPERANDS
from msl.space.node import BlockUse, Bool, Choice, Const, IntRange, Node, Param, RealRange, Symbol
from msl.space.value import BlockType, Value
from msl.syntax import ast
from msl.text.record import record
from msl.text.suggest import did_you_mean, listing


class Blocks(Protocol):
    """What a condition asks of the blocks."""

    def bare(self, declaration: Declaration) -> BlockUse | None: ...


@record
class Subject:
    """A term and the domains it may take its value from; no domain for a number that is computed."""

    term: Term
    nodes: tuple[Node, ...] = ()

    @property
    def kinds(self) -> frozenset[str]:
        if not self.nodes:
            return frozenset({"number"})
        return frozenset(kind for node in self.nodes for kind in _kinds(node))


def flat_params(params: tuple[Param, ...]) -> Iterator[tuple[str, Node]]:
    """The parameters of a block and of its alternatives, which are the block's own."""
    for param in params:
        yield param.name, param.node
        options = param.node.options if isinstance(param.node, Choice) else (param.node,)
        for option in options:
            if isinstance(option, Symbol):
                yield from flat_params(option.params)


def sibling_condition(
    module: Module, condition: ast.Condition, siblings: tuple[Param, ...], report: Report
) -> Condition | None:
    """The condition of a conditional parameter: its names are the parameters declared before it."""
    return _SiblingReader(module, report, siblings).condition(condition)


@dataclass(slots=True)
class _Reader:
    """What both kinds of condition have in common; the names are what differs."""

    module: Module
    report: Report

    def named(self, path: ast.Path) -> Subject | Condition | None:
        """What a path means: a value to compare, or a condition by itself."""
        raise NotImplementedError

    def part(self, path: ast.Path) -> str | None:
        """The mark of a part, if the path names one."""
        return None

    def condition(self, node: ast.Condition) -> Condition | None:
        match node:
            case ast.And(items=items) | ast.Or(items=items):
                parts = [self.condition(item) for item in items]
                if any(part is None for part in parts):
                    return None
                sound = tuple(part for part in parts if part is not None)
                return AllOf(sound) if isinstance(node, ast.And) else AnyOf(sound)
            case ast.Not(item=item):
                inner = self.condition(item)
                return None if inner is None else Negation(inner)
            case ast.Compare():
                return self._comparison(node)
            case ast.Is():
                return self._is(node)
            case ast.Path():
                return self._bare(node)
        message = "this is a value, not something that is true or false"
        help = "compare it, as in `a < b`, or test it with `is`"
        self._error("MSL121", node, message, help)
        return None

    def _bare(self, path: ast.Path) -> Condition | None:
        found = self.named(path)
        if not isinstance(found, Subject):
            return found
        if found.kinds == {"bool"}:
            return IsTrue(found.term)
        message = f"`{path.text}` is a value, not something that is true or false"
        self._error("MSL121", path, message, f"compare it, as in `{path.text} == …`, or write `{path.text} is …`")
        return None

    def _comparison(self, node: ast.Compare) -> Condition | None:
        left, right = self._compared(node.left, node), self._compared(node.right, node)
        if left is None or right is None:
            return None
        ordering = node.operator not in ("==", "!=")
        for side, written in ((left, node.left), (right, node.right)):
            if ordering and "number" not in side.kinds:
                text = self.module.source.slice(written.span)
                message = f"`{node.operator}` compares numbers, and `{text}` is {_kind_in_words(side)}"
                self._error("MSL122", written, message, f"test it with `{text} is …`")
                return None
        if not ordering and not (left.kinds & right.kinds) and "none" not in left.kinds | right.kinds:
            message = f"{_kind_in_words(left)} and {_kind_in_words(right)} are never equal"
            self._error("MSL122", node, message, "compare things of one kind")
            return None
        return Comparison(node.operator, left.term, right.term)

    def _compared(self, node: ast.Condition, whole: ast.Compare) -> Subject | None:
        other = whole.right if node is whole.left else whole.left
        if isinstance(node, ast.Path) and len(node.names) == 1 and isinstance(other, ast.Path):
            subject = self._quietly(other)
            if subject is not None and node.text in [name for n in subject.nodes for name in _names(n)]:
                text = self.module.source.slice(other.span)
                self._error("MSL122", whole, "names are not compared with `==`", f"write `{text} is {node.text}`")
                return None
        return self.subject(node)

    def _quietly(self, path: ast.Path) -> Subject | None:
        said = len(self.report.diagnostics)
        found = self.named(path)
        del self.report.diagnostics[said:]
        return found if isinstance(found, Subject) else None

    def subject(self, node: ast.Condition) -> Subject | None:
        """A value to compare."""
        match node:
            case ast.Number(value=value, unit=None):
                return Subject(Literal(value))
            case ast.Number():
                self._error("MSL120", node, f"`{node.text}` has a unit", f"write `{node.value}`")
                return None
            case ast.Boolean(value=flag):
                return Subject(Literal(flag), (Const(flag),))
            case ast.String(value=text):
                return Subject(Literal(text), (Const(text),))
            case ast.Nothing():
                return Subject(Literal(None), (Const(None),))
            case ast.Path():
                found = self.named(node)
                if found is None or isinstance(found, Subject):
                    return found
                message = f"`{node.text}` is a block, not a number"
                self._error("MSL122", node, message, f"compare one of its parameters: `{node.text}.…`")
                return None
            case ast.Negative(operand=operand):
                return self._computed("-", [operand], node)
            case ast.Arithmetic(operators=operators, operands=operands):
                total = self.subject(operands[0])
                for operation, operand in zip(operators, operands[1:], strict=True):
                    total = self._joined(operation, total, self.subject(operand), node)
                return total
            case ast.Call():
                return self._function(node)
        self._error("MSL122", node, "a value is wanted here, and this is a condition", "compare values, not conditions")
        return None

    def _function(self, call: ast.Call) -> Subject | None:
        name = call.path.text
        if name not in FUNCTIONS or any(a.key is not None for a in call.arguments) or not call.arguments:
            help = did_you_mean(name, FUNCTIONS) or f"functions are {listing(FUNCTIONS)}, of numbers"
            self._error("MSL120", call, f"`{name}(…)` is not a function of numbers", help)
            return None
        if OPERANDS[name] not in (None, len(call.arguments)):
            self._error("MSL120", call, f"`{name}` takes one number", "remove the rest")
            return None
        return self._computed(name, [argument.value for argument in call.arguments], call)

    def _computed(self, operation: str, operands: list[ast.Expression], whole: ast.Node) -> Subject | None:
        subjects = [self.subject(operand) for operand in operands]
        if any(subject is None for subject in subjects):
            return None
        if all(self._numeric(subject, whole) for subject in subjects if subject is not None):
            return Subject(Computed(operation, tuple(s.term for s in subjects if s is not None)))
        return None

    def _joined(self, operation: str, left: Subject | None, right: Subject | None, whole: ast.Node) -> Subject | None:
        if left is None or right is None or not (self._numeric(left, whole) and self._numeric(right, whole)):
            return None
        return Subject(Computed(operation, (left.term, right.term)))

    def _numeric(self, subject: Subject, where: ast.Node) -> bool:
        if "number" in subject.kinds:
            return True
        message = f"arithmetic needs numbers, and this has {_kind_in_words(subject)}"
        self._error("MSL122", where, message, "use a number")
        return False

    def _is(self, node: ast.Is) -> Condition | None:
        if not isinstance(node.subject, ast.Path):
            message = "`is` tests a part or a parameter"
            self._error("MSL123", node.subject, message, "write its name before `is`")
            return None
        if (mark := self.part(node.subject)) is not None:
            blocks = [self._block_option(option) for option in node.alternatives]
            if any(block is False for block in blocks):
                return None
            return PartIs(mark, tuple(block for block in blocks if block is not False))  # type: ignore[misc]
        found = self.named(node.subject)
        if found is None:
            return None
        if not isinstance(found, Subject):
            message = f"`{node.subject.text}` is a block: it is there or not"
            self._error("MSL123", node.subject, message, f"write `{node.subject.text}` alone, or name a part")
            return None
        options = [self._value_option(option, found, node.subject) for option in node.alternatives]
        if any(isinstance(option, _Wrong) for option in options):
            return None
        return ValueIs(found.term, tuple(o for o in options if not isinstance(o, _Wrong)))

    def _block_option(self, option: ast.Expression) -> BlockType | bool | None:
        """A block that a part may come to; False when it is wrong."""
        raise NotImplementedError

    def _value_option(self, option: ast.Expression, subject: Subject, written: ast.Path) -> Value | BlockType | _Wrong:
        match option:
            case ast.Number(value=value):
                return value
            case ast.Boolean(value=flag):
                return flag
            case ast.String(value=text):
                return text
            case ast.Nothing():
                return None
            case ast.Path():
                return self._named_option(option, subject, written)
        return _Wrong()

    def _named_option(self, option: ast.Path, subject: Subject, written: ast.Path) -> Value | BlockType | _Wrong:
        text = option.names[-1].text
        for node in subject.nodes:
            for alternative in node.options if isinstance(node, Choice) else (node,):
                if isinstance(alternative, BlockUse) and alternative.block.name == text:
                    return alternative.block
                if isinstance(alternative, Symbol) and alternative.name == text:
                    return text
                if isinstance(alternative, Const) and alternative.value == text:
                    return text
        names = [name for node in subject.nodes for name in _names(node)]
        help = did_you_mean(text, names) or (f"it is one of {listing(names)}" if names else "compare it with a number")
        self._error("MSL123", option, f"`{text}` is not a value of `{written.text}`", help)
        return _Wrong()

    def _error(self, code: str, node: ast.Node, message: str, help: str) -> None:
        self.report.error(code, self.module.source, node.span, message, "", help)


class _Wrong:
    """An alternative that could not be understood, already reported."""


@dataclass(slots=True)
class _SiblingReader(_Reader):
    siblings: tuple[Param, ...]

    def named(self, path: ast.Path) -> Subject | Condition | None:
        known: dict[str, list[Node]] = {}
        for name, node in flat_params(self.siblings):
            known.setdefault(name, []).append(node)
        if path.text in known:
            return Subject(Sibling(path.text), tuple(known[path.text]))
        if path.text in FACTS:
            return Subject(FactTerm(path.text))
        help = did_you_mean(path.text, known) or f"the parameters before it are {listing(known)}"
        message = f"`{path.text}` is not a parameter declared before this one"
        self._error("MSL124", path, message, help if known else "declare it before")
        return None


@dataclass(slots=True)
class RequirementReader(_Reader):
    """Reads the requirements of one file; `parts` collects the parts that they speak of, by mark."""

    blocks: Blocks
    parts: dict[str, Declaration] = field(default_factory=dict)

    def part(self, path: ast.Path) -> str | None:
        declaration = self._declaration(path)
        if declaration is None or declaration.kind != "part":
            return None
        return self._mark(declaration)

    def _mark(self, declaration: Declaration) -> str:
        mark = declaration.mark
        self.parts[mark] = declaration
        return mark

    def _declaration(self, path: ast.Path) -> Declaration | None:
        """What a whole path declares, without a word."""
        if len(path.names) == 1:
            return peek(self.module, path.text)
        if len(path.names) == 2 and path.names[0].text in self.module.uses:
            return self.module.uses[path.names[0].text].declarations.get(path.names[1].text)
        return None

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
            return self._of_part(owner, rest, path)
        if owner.kind == "chain":
            message = f"`{owner.name}` is a chain: every model is one"
            self._error("MSL123", path, message, "name a block, a part or a parameter")
            return None
        return self._of_block(owner, rest, path, None)

    def _owner(self, names: list[ast.Name]) -> tuple[Declaration | None, list[ast.Name]]:
        """The declaration that a path starts with: `sbm.k` may be a catalogue and its block, or a block and its own."""
        first = names[0].text
        used = self.module.uses.get(first)
        local = peek(self.module, first)
        if used is not None and len(names) > 1 and names[1].text in used.declarations:
            bare = self.blocks.bare(local) if local is not None and local.is_block else None
            if bare is None or names[1].text not in dict(flat_params(bare.params)):
                return used.declarations[names[1].text], names[2:]
        return local, names[1:]

    def _meet(self, names: list[ast.Name], rest: list[ast.Name]) -> None:
        """A qualifier that was needed counts as used."""
        head = ast.Path(tuple(names[: len(names) - len(rest)]), span=names[0].span)
        find(self.module, head, Report())

    def _of_part(self, part: Declaration, rest: list[ast.Name], path: ast.Path) -> Subject | Condition | None:
        mark = self._mark(part)
        if not rest:
            return Negation(PartIs(mark, (None,)))
        inner = peek(part.module, rest[0].text) or peek(self.module, rest[0].text)
        if inner is None or not inner.is_block:
            help = did_you_mean(rest[0].text, visible(part.module))
            message = f"`{rest[0].text}` is not a block of `{part.name}`"
            self._error("MSL123", rest[0], message, help or "name a block that stands in the part")
            return None
        return self._of_block(inner, rest[1:], path, mark)

    def _of_block(
        self, owner: Declaration, rest: list[ast.Name], path: ast.Path, mark: str | None
    ) -> Subject | Condition | None:
        use = self.blocks.bare(owner)
        if use is None:
            return None
        if not rest:
            return Present(use.block, mark)
        nodes: dict[str, list[Node]] = {}
        for name, node in flat_params(use.params):
            nodes.setdefault(name, []).append(node)
        if len(rest) > 1 or rest[0].text not in nodes:
            help = did_you_mean(rest[-1].text, nodes) or (f"it has {listing(nodes)}" if nodes else "it has none")
            also = (owner.label,)
            message = f"`{owner.name}` has no parameter `{'.'.join(name.text for name in rest)}`"
            self.report.error("MSL096", self.module.source, rest[-1].span, message, "", help, also)
            return None
        return Subject(Parameter(use.block, rest[0].text, mark), tuple(nodes[rest[0].text]))

    def _unknown(self, path: ast.Path) -> None:
        """A name that nothing declares: perhaps a parameter without its block."""
        if len(path.names) == 1:
            owners = [
                name
                for name in dict.fromkeys(visible(self.module))
                if (d := peek(self.module, name)) is not None
                and d.is_block
                and (use := self.blocks.bare(d)) is not None
                and path.text in dict(flat_params(use.params))
            ]
            if owners:
                written = " or ".join(f"`{owner}.{path.text}`" for owner in owners[:3])
                self._error("MSL124", path, f"`{path.text}` is a parameter: of which block?", f"write {written}")
                return
        find(self.module, ast.Path(path.names[:1], span=path.names[0].span), self.report, "a block, part or parameter")

    def _block_option(self, option: ast.Expression) -> BlockType | bool | None:
        if isinstance(option, ast.Nothing):
            return None
        if not isinstance(option, ast.Path):
            self._error("MSL123", option, "a part comes to blocks, not to values", "name a block, or `none`")
            return False
        declaration = find(self.module, option, self.report, "a block")
        if declaration is None:
            return False
        if not declaration.is_block:
            self._error("MSL123", option, f"`{option.text}` is not a block", "name the blocks that it may come to")
            return False
        use = self.blocks.bare(declaration)
        return False if use is None else use.block


def _kinds(node: Node) -> Iterator[str]:
    match node:
        case IntRange() | RealRange():
            yield "number"
        case Bool() | Const(value=bool()):
            yield "bool"
        case Const(value=None):
            yield "none"
        case Const(value=str()) | Symbol():
            yield "name"
        case BlockUse():
            yield "block"
        case Const(value=tuple()):
            yield "list"
        case Const():
            yield "number"
        case Choice(options=options):
            for option in options:
                yield from _kinds(option)
        case _:
            yield "list"


def _names(node: Node) -> Iterator[str]:
    """The named alternatives of a domain."""
    for option in node.options if isinstance(node, Choice) else (node,):
        match option:
            case Const(value=str(name)) | Symbol(name=name):
                yield name
            case BlockUse(block=block):
                yield block.name


def _kind_in_words(subject: Subject) -> str:
    words = {
        "number": "a number",
        "bool": "yes or no",
        "none": "`none`",
        "name": "a name",
        "block": "a block",
        "list": "a list",
    }
    return " or ".join(words[kind] for kind in sorted(subject.kinds))
