"""Read the conditions of `require` and `if` from the syntax tree, with names resolved and kinds checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from msl.check.constraints.truth_values import ANYTHING, DomainEvaluator
from msl.check.domains.contains import domain_in_words, name_of
from msl.check.names.library import Module
from msl.check.names.names_of_other_tools import value_meant
from msl.check.names.resolve_names import peek
from msl.diagnostics.diagnostic import Report
from msl.diagnostics.suggest import did_you_mean, listing
from msl.language import ast
from msl.language.tokens import is_identifier
from msl.record import record
from msl.space.conditions import (
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
from msl.space.evaluate_conditions import Truths
from msl.space.formulas import FACTS, FUNCTIONS, OPERANDS
from msl.space.nodes import (
    BlockUse,
    Bool,
    Choice,
    Const,
    IntRange,
    Node,
    Param,
    Pipeline,
    RealRange,
    Symbol,
    alternatives,
    steps_up,
)
from msl.space.values import BlockType, Value


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


def flat_params(params: tuple[Param, ...], under: str = "") -> Iterator[tuple[str, Node]]:
    """The parameters of a block and of its alternatives, which are the block's own unless these have names of their
    own: those are reached through the parameter, as in `layer.width`."""
    for param in params:
        yield under + param.name, param.node
        for option in alternatives(param.node):
            if isinstance(option, Symbol):
                yield from flat_params(option.params, f"{under}{param.name}." if option.own else under)


def sibling_condition(
    module: Module, condition: ast.Condition, siblings: tuple[Param, ...], report: Report
) -> Condition | None:
    """The condition of a conditional parameter: its names are the parameters declared before it."""
    found = _SiblingReader(module, report, siblings).condition(condition)
    if found is not None and True not in DomainEvaluator(_Siblings(siblings)).truths(found):
        message = "this condition never holds: the parameter is never there"
        report.warning("MSL232", module.source, condition.span, message, "", "loosen it, or remove the parameter")
    return found


@dataclass(slots=True)
class ConditionReader:
    """What both kinds of condition have in common; the names are what differs."""

    module: Module
    report: Report

    def named(self, path: ast.Path) -> Subject | Condition | None:
        """What a path means: a value to compare, or a condition by itself."""
        raise NotImplementedError

    def part(self, path: ast.Path) -> Callable[[ast.Is], Condition | None] | None:
        """How to read `is` of a part, if the path names one."""
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
            case ast.Boolean(value=flag):
                message = f"`{str(flag).lower()}` is the same for every model"
                self.error("MSL121", node, message, "name a block or a part, or compare a parameter")
                return None
        message = "this is a value, not something that is true or false"
        help = "compare it, as in `a < b`, or test it with `is`"
        if isinstance(node, ast.Call) and node.path.text not in FUNCTIONS and len(node.arguments) == 1:
            name = node.arguments[0].value
            if isinstance(name, ast.Path) and peek(self.module, name.text) is not None:
                help = f"write `{name.text}`: a name alone tells that it is there"
        self.error("MSL121", node, message, help)
        return None

    def _bare(self, path: ast.Path) -> Condition | None:
        found = self.named(path)
        if not isinstance(found, Subject):
            return found
        if found.kinds == {"bool"}:
            return IsTrue(found.term)
        message = f"`{path.text}` is a value, not something that is true or false"
        self.error("MSL121", path, message, f"compare it, as in `{path.text} == …`, or write `{path.text} is …`")
        return None

    def _comparison(self, node: ast.Compare) -> Condition | None:
        if self._compares_steps(node):
            return None
        left, right = self._compared(node.left, node), self._compared(node.right, node)
        if left is None or right is None:
            return None
        ordering = node.operator not in ("==", "!=")
        for side, written in ((left, node.left), (right, node.right)):
            if ordering and "number" not in side.kinds:
                text = self.module.source.slice(written.span)
                message = f"`{node.operator}` compares numbers, and `{text}` is {_kind_in_words(side)}"
                self.error("MSL122", written, message, f"test it with `{text} is …`")
                return None
        if not ordering and not (left.kinds & right.kinds) and "none" not in left.kinds | right.kinds:
            message = f"{_kind_in_words(left)} and {_kind_in_words(right)} are never equal"
            self.error("MSL122", node, message, "compare things of one kind")
            return None
        return Comparison(node.operator, left.term, right.term)

    def _compares_steps(self, node: ast.Compare) -> bool:
        """`scale == none`, `svc != none`: parts and blocks are not compared."""
        for side, other in ((node.left, node.right), (node.right, node.left)):
            if not isinstance(side, ast.Path) or not isinstance(
                other, ast.Path | ast.Nothing | ast.String | ast.Boolean
            ):
                continue
            found = self._quietly(side)
            if found is None or isinstance(found, Subject):
                continue
            text, than = self._text(side), self._text(other)
            same = node.operator == "=="
            if isinstance(found, Present):
                absent = than in ("none", "false")
                known = absent or than == "true"
                help = f"write `{'not ' if same == absent else ''}{text}`" if known else f"write `{text}` alone"
                self.error("MSL122", node, f"`{text}` is a block: it is there or not", help)
            else:
                help = f"write `{'' if same else 'not '}{text} is {than}`"
                self.error("MSL122", node, f"`{text}` is a part: what it comes to is tested with `is`", help)
            return True
        return False

    def _compared(self, node: ast.Condition, whole: ast.Compare) -> Subject | None:
        other = whole.right if node is whole.left else whole.left
        if isinstance(node, ast.Path) and len(node.names) == 1 and isinstance(other, ast.Path):
            subject = self._quietly(other)
            if isinstance(subject, Subject) and node.text in [name for n in subject.nodes for name in _names(n)]:
                text = self.module.source.slice(other.span)
                message, meant = "names are not compared with `==`", [node.text]
                if whole.operator not in ("==", "!="):
                    message = f"`{whole.operator}` compares numbers, and `{text}` is {_kind_in_words(subject)}"
                    meant = _meant_by_order(subject, whole, node) or meant
                self.error("MSL122", whole, message, f"write `{text} is {' | '.join(meant)}`")
                return None
        return self.subject(node)

    def _quietly(self, path: ast.Path) -> Subject | Condition | None:
        said = len(self.report.diagnostics)
        found = self.named(path)
        del self.report.diagnostics[said:]
        return found

    def subject(self, node: ast.Condition) -> Subject | None:
        """A value to compare."""
        match node:
            case ast.Number(value=value, unit=None):
                return Subject(Literal(value))
            case ast.Number():
                self.error("MSL120", node, f"`{node.text}` has a unit", f"write `{node.value}`")
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
                kind = "block" if isinstance(found, Present) else "part"
                message = f"`{node.text}` is a {kind}, not a number"
                example = f"`{node.text}.…`" if kind == "block" else f"`{node.text}.block.parameter`"
                self.error("MSL122", node, message, f"compare a parameter: {example}")
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
        self.error("MSL122", node, "a value is wanted here, and this is a condition", "compare values, not conditions")
        return None

    def _function(self, call: ast.Call) -> Subject | None:
        name = call.path.text
        if name not in FUNCTIONS or any(a.key is not None for a in call.arguments) or not call.arguments:
            help = did_you_mean(name, FUNCTIONS) or f"functions are {listing(FUNCTIONS)}, of numbers"
            match call.arguments:
                case (ast.Argument(key=None, value=ast.Path() as inner),) if peek(self.module, name) is not None:
                    help = f"write `{name}.{inner.text}`"
                case (ast.Argument(key=None, value=ast.Path() as inner),) if peek(self.module, inner.text) is not None:
                    help = f"write `{inner.text}.{name}`"
            self.error("MSL120", call, f"`{name}(…)` is not a function of numbers", help)
            return None
        if OPERANDS[name] not in (None, len(call.arguments)):
            self.error("MSL120", call, f"`{name}` takes one number", "remove the rest")
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
        if operation == "/" and right.term == Literal(0):
            self.error("MSL120", whole, f"`{self._text(whole)}` divides by zero", "change the number")
            return None
        return Subject(Computed(operation, (left.term, right.term)))

    def _numeric(self, subject: Subject, where: ast.Node) -> bool:
        if "number" in subject.kinds:
            return True
        message = f"arithmetic needs numbers, and this has {_kind_in_words(subject)}"
        self.error("MSL122", where, message, "use a number")
        return False

    def _is(self, node: ast.Is) -> Condition | None:
        if not isinstance(node.subject, ast.Path):
            message = "`is` tests a part or a parameter"
            self.error("MSL123", node.subject, message, "write its name before `is`")
            return None
        if (part := self.part(node.subject)) is not None:
            return part(node)
        found = self.named(node.subject)
        if found is None:
            return None
        if not isinstance(found, Subject):
            text = self._text(node.subject)
            absent = all(isinstance(option, ast.Nothing) for option in node.alternatives)
            help = f"write `not {text}`" if absent else f"write `{text}`, or name a part"
            self.error("MSL123", node, f"`{text}` is a block: it is there or not", help)
            return None
        options = [self._value_option(option, found, node.subject) for option in node.alternatives]
        if any(isinstance(option, _Wrong) for option in options):
            return None
        return ValueIs(found.term, tuple(o for o in options if not isinstance(o, _Wrong)))

    def _value_option(self, option: ast.Expression, subject: Subject, written: ast.Path) -> Value | BlockType | _Wrong:
        match option:
            case ast.Number(value=value, unit=None) if "number" in subject.kinds:
                return value
            case ast.Boolean(value=flag) if "bool" in subject.kinds:
                return flag
            case ast.Nothing() if "none" in subject.kinds:
                return None
            case ast.String(value=text) if text in self._names_of(subject):
                return text
            case ast.Path():
                return self._named_option(option, subject, written)
        self._not_its_value(option, subject, written)
        return _Wrong()

    def _named_option(self, option: ast.Path, subject: Subject, written: ast.Path) -> Value | BlockType | _Wrong:
        text = option.names[-1].text
        for node in subject.nodes:
            for alternative in _named_alternatives(node):
                if isinstance(alternative, BlockUse) and alternative.block.name == text:
                    return alternative.block
                if isinstance(alternative, Symbol) and alternative.name == text:
                    return text
                if isinstance(alternative, Const) and alternative.value == text:
                    return text
        self._not_its_value(option, subject, written)
        return _Wrong()

    def _not_its_value(self, option: ast.Expression, subject: Subject, written: ast.Path) -> None:
        """What a parameter can never be; Python's words for values are known."""
        text, names = self._text(option), self._names_of(subject)
        message = f"`{text}` is not a value of `{self._text(written)}`"
        if (meant := value_meant(text)) is not None:
            self.error("MSL090", option, message, f"write `{meant}`")
            return
        help = did_you_mean(text, names) or (f"it is one of {listing(names)}" if names else None)
        if help is None:
            help = f"it is {domain_in_words(subject.nodes[0])}" if subject.nodes else "compare it with a number"
        self.error("MSL123", option, message, help)

    def _names_of(self, subject: Subject) -> list[str]:
        return [name for node in subject.nodes for name in _names(node)]

    def _text(self, node: ast.Node) -> str:
        return self.module.source.slice(node.span)

    def error(self, code: str, node: ast.Node, message: str, help: str) -> None:
        self.report.error(code, self.module.source, node.span, message, "", help)


class _Wrong:
    """An alternative that could not be understood, already reported."""


@dataclass(slots=True)
class _SiblingReader(ConditionReader):
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
        self.error("MSL124", path, message, help if known else f"declare `{path.text}` before it")
        return None

    def subject(self, node: ast.Condition) -> Subject | None:
        """A text that only quotes make a name is one: `"step" > 2`."""
        if isinstance(node, ast.String) and not is_identifier(node.value):
            known = tuple(inner for name, inner in flat_params(self.siblings) if name == node.value)
            if known:
                return Subject(Sibling(node.value), known)
        return ConditionReader.subject(self, node)


@record
class _Siblings:
    """The values that the parameters before one may have."""

    params: tuple[Param, ...]

    def options(self, term: Parameter | Sibling) -> Iterable[Node]:
        nodes = [node for name, node in flat_params(self.params) if name == term.name]
        return [option for node in nodes for option in alternatives(node)]

    def may_lack(self, term: Parameter | Sibling) -> bool:
        return not any(param.name == term.name and param.condition is None for param in self.params)

    def presence(self, condition: Present | PartIs) -> Truths:
        return ANYTHING


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
        case BlockUse() | Pipeline():
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


def _named_alternatives(node: Node) -> Iterator[Node]:
    """The alternatives of a domain; of pipelines, the learners that they may be alone."""
    for option in alternatives(node):
        if not isinstance(option, Pipeline):
            yield option
            continue
        for step in steps_up(option.node):
            if isinstance(step, BlockUse) and step.block.role == "learner":
                yield step


def _names(node: Node) -> Iterator[str]:
    """The named alternatives of a domain."""
    for option in _named_alternatives(node):
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


def _meant_by_order(subject: Subject, whole: ast.Compare, named: ast.Path) -> list[str]:
    """The alternatives that `size < large` means where they have an order; none where they have not."""
    ordered = next((node for node in subject.nodes if isinstance(node, Choice) and node.ordered), None)
    if ordered is None:
        return []
    spelt = [name_of(option) or str(getattr(option, "value", "")) for option in ordered.options]
    if named.text not in spelt:
        return []
    place, sign = spelt.index(named.text), whole.operator
    if named is whole.left:
        sign = sign.translate(str.maketrans("<>", "><"))
    end = place + (sign in ("<=", ">"))
    return spelt[:end] if sign.startswith("<") else spelt[end:]
