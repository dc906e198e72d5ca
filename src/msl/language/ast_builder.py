"""Build the syntax tree: one callback for each rule of the grammar.

The callbacks run while the parser reduces, so no Lark tree is made and deep nesting needs no recursion. Some mistakes
are accepted by the grammar and reported here, with a node for what was probably meant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

from lark import Token, Transformer

from msl.diagnostics.diagnostic import Diagnostic, Label, Severity
from msl.diagnostics.source import Source, Span
from msl.language import ast
from msl.language.literals import BadLiteral, number_value, path_text, string_value
from msl.language.tokens import token_span
from msl.record import record

_OPERATOR_NODES: dict[str, type[ast.Sequence | ast.Union]] = {
    ">>": ast.Sequence,
    "&": ast.Union,
}


#: Signs that compare: between alternatives only `<` has a meaning.
_COMPARING = frozenset({"<", "<=", ">", ">="})


#: What `?` may follow.
_STEPS = ast.Path | ast.Call | ast.AnyOf | ast.On | ast.Choice | ast.Sequence | ast.Union | ast.Optional
#: Steps nested deeper than this are reported elsewhere.
_DEEP = 200


def _span(children: list[Any]) -> Span:
    first, last = children[0], children[-1]
    start = token_span(first).start if isinstance(first, Token) else first.span.start
    end = token_span(last).end if isinstance(last, Token) else last.span.end
    return Span(start, end)


def _is(child: Any, terminal: str) -> bool:
    return isinstance(child, Token) and child.type == terminal


def _word(token: Token) -> ast.Name:
    return ast.Name(str(token), span=token_span(token))


class _Arguments(tuple[ast.Argument, ...]):
    """The arguments between brackets, before the node that owns them is built."""

    __slots__ = ()


@record
class _Fields:
    """`{ … }` of a block, or `( … )` of a part, before what owns it is built."""

    arguments: _Arguments
    span: Span


@record
class _Modifier:
    """`log`, `step` with its value, or a prior."""

    step: ast.Expression | None
    span: Span
    prior: ast.Call | None = None


@record
class _Weighted:
    """An operand with its weight, before the choice that owns it is built."""

    item: ast.Expression
    weight: ast.Expression
    span: Span


class AstBuilder(Transformer[Token, Any]):
    """One method for each rule; `problems` collects the mistakes that the grammar accepts."""

    def __init__(self) -> None:
        super().__init__()
        self.begin(Source("", ""))

    def begin(self, source: Source) -> None:
        """Start with a new text."""
        self.source = source
        self.problems: list[Diagnostic] = []

    def _problem(self, code: str, message: str, span: Span, label: str = "", help: str | None = None) -> None:
        where = Label(self.source, span, label)
        self.problems.append(Diagnostic(code, Severity.ERROR, message, where, help=help))

    def _literal(self, token: Token, read: Callable[[str], Any], otherwise: Any) -> Any:
        try:
            return read(str(token))
        except BadLiteral as bad:
            start = token_span(token).start
            self._problem(bad.code, bad.message, Span(start + bad.part[0], start + bad.part[1]), help=bad.help)
            return otherwise

    # --- statements ---

    def edition(self, children: list[Any]) -> ast.Edition:
        return ast.Edition(self._number(children[1]), span=_span(children))

    def use(self, children: list[Any]) -> ast.Use:
        return ast.Use(tuple(children[1:]), span=_span(children))

    def use_item(self, children: list[Any]) -> ast.UseItem:
        target = children[0] if isinstance(children[0], ast.Name) else self._string(children[0])
        version = next((self._number(child) for child in children if _is(child, "NUMBER")), None)
        alias = children[-1] if len(children) > 2 and _is(children[-2], "AS") else None
        return ast.UseItem(target, version, alias, span=_span(children))

    def data(self, children: list[Any]) -> ast.Data:
        return ast.Data(tuple(children[2]), span=_span(children))

    def block(self, children: list[Any]) -> ast.Block:
        place = next(place for place, child in enumerate(children) if isinstance(child, _Fields))
        names = [child for child in children[:place] if isinstance(child, ast.Name)]
        task = names[2] if len(names) > 2 else None
        target = next(self._string(child) for child in children if _is(child, "STRING"))
        fields, fidelity = tuple(children[place].arguments), self._fidelity(children[place + 1 :])
        return ast.Block(names[0], names[1], task, target, fields, fidelity, span=_span(children))

    def derive(self, children: list[Any]) -> ast.Derive:
        fidelity = self._fidelity(children[5:])
        return ast.Derive(children[1], children[3], tuple(children[4].arguments), fidelity, span=_span(children))

    def _fidelity(self, clause: list[Any]) -> ast.Name | None:
        """`fidelity PARAMETER` after the braces; `fidelity` is a word only there."""
        if not clause:
            return None
        word, parameter = clause
        if str(word) != "fidelity":
            message = f"`{word}` cannot follow a declaration"
            help = (
                f"after the braces, `fidelity {parameter.text}` names the parameter that is the resource of the block"
            )
            self._problem("MSL289", message, token_span(word), help=help)
            return None
        name: ast.Name = parameter
        return name

    def part(self, children: list[Any]) -> ast.Part:
        parameters = tuple(children[2].arguments) if isinstance(children[2], _Fields) else None
        return ast.Part(children[1], parameters, self._steps(children[-1]), span=_span(children))

    def chain(self, children: list[Any]) -> ast.Chain:
        return ast.Chain(children[1], self._steps(children[3]), span=_span(children))

    def _steps(self, space: ast.Expression) -> ast.Expression:
        """A space of steps; one that is nested too deep is reported for that alone."""
        has_braces = "{" in self.source.slice(space.span)
        return self._in_parentheses(space) if has_braces and ast.depth(space) < _DEEP else space

    def _in_parentheses(self, space: ast.Expression) -> ast.Expression:
        """The steps of a space, where `svm{C = 1}` is reported and taken for `svm(C = 1)`."""
        match space:
            case ast.Choice(items=items) | ast.Sequence(items=items) | ast.Union(items=items):
                return replace(space, items=tuple(map(self._in_parentheses, items)))
            case ast.Optional(item=item):
                return replace(space, item=self._in_parentheses(item))
            case ast.Call(braces=True):
                text = self.source.text
                span = Span(text.index("{", space.path.span.end), text.rindex("}", 0, space.span.end) + 1)
                help = f"write `({' '.join(text[span.start + 1 : span.end - 1].split())})`"
                self._problem("MSL035", "arguments go in parentheses", span, help=help)
                return replace(space, braces=False)
        return space

    def require(self, children: list[Any]) -> ast.Require:
        return ast.Require(children[1], children[3] if len(children) > 2 else None, span=_span(children))

    def minimize(self, children: list[Any]) -> ast.Goal:
        return ast.Goal(True, tuple(children[1:]), span=_span(children))

    def maximize(self, children: list[Any]) -> ast.Goal:
        return ast.Goal(False, tuple(children[1:]), span=_span(children))

    def objective(self, children: list[Any]) -> ast.Objective:
        return ast.Objective(children[0], children[2] if len(children) > 1 else None, span=_span(children))

    def search(self, children: list[Any]) -> ast.Search:
        return ast.Search(tuple(c for c in children if isinstance(c, ast.Path | ast.Call)), span=_span(children))

    def ensemble(self, children: list[Any]) -> ast.Ensemble:
        return ast.Ensemble(children[1], span=_span(children))

    def budget(self, children: list[Any]) -> ast.Budget:
        return ast.Budget(tuple(children[2]), span=_span(children))

    def seed(self, children: list[Any]) -> ast.Seed:
        return ast.Seed(self._number(children[1]), span=_span(children))

    # --- arguments ---

    def fields(self, children: list[Any]) -> _Fields:
        return _Fields(children[1], _span(children))

    def parameters(self, children: list[Any]) -> _Fields:
        return _Fields(children[1], _span(children))

    def arguments(self, children: list[Any]) -> _Arguments:
        return _Arguments(children)

    def opening(self, children: list[Any]) -> ast.Argument:
        default = condition = None
        best = _word(children[2]) if _is(children[2], "BEST") else None
        domain, *clauses = children[2:] if best is None else children[3:]
        for word, value in zip(clauses[::2], clauses[1::2], strict=True):
            if word.type == "DEFAULT":
                default = value
            else:
                condition = value
        return ast.Argument(children[0], True, domain, default, condition, best, span=_span(children))

    def closing(self, children: list[Any]) -> ast.Argument:
        if _is(children[2], "BEST"):
            key, domain = (self.source.slice(child.span) for child in (children[0], children[3]))
            message = "`=` takes one value; `best` tries all values of a domain, which follows `:`"
            self._problem("MSL285", message, _span(children), help=f"write `{key}: best {domain}`")
            return ast.Argument(children[0], True, children[3], best=_word(children[2]), span=_span(children))
        return ast.Argument(children[0], False, children[2], span=_span(children))

    def positional(self, children: list[Any]) -> ast.Argument:
        return ast.Argument(None, False, children[0], span=children[0].span)

    def key(self, children: list[Any]) -> ast.Name:
        token = children[0]
        text = self._literal(token, string_value, "") if token.type == "STRING" else str(token)
        return ast.Name(text, span=token_span(token))

    # --- spaces ---

    def space(self, children: list[Any]) -> ast.Expression:
        if len(children) == 1 and not isinstance(children[0], _Weighted):
            only: ast.Expression = children[0]
            return only
        operands, operators = children[::2], children[1::2]
        written = [str(operator) for operator in operators]
        if _COMPARING & set(written):
            written = self._in_order(operands, written, operators)
        elif len(set(written)) > 1:
            self._mixed(operands, written, operators)
        elif set(written) != {"|"}:
            for operand in operands:
                if isinstance(operand, _Weighted):
                    self._not_an_alternative(operand)
        items = tuple(one.item if isinstance(one, _Weighted) else one for one in operands)
        if len(items) == 1:
            return replace(items[0], span=operands[0].span) if items[0] is not operands[0] else items[0]
        if written[0] in _OPERATOR_NODES:
            return _OPERATOR_NODES[written[0]](items, span=_span(children))
        weights = tuple(one.weight if isinstance(one, _Weighted) else None for one in operands)
        return ast.Choice(items, weights if any(weights) else (), written[0] == "<", span=_span(children))

    def _in_order(self, operands: list[Any], written: list[str], operators: list[Token]) -> list[str]:
        """The signs between alternatives in an order, all of them `<`; others are reported."""
        at = next((place for place, sign in enumerate(written) if sign != "<"), None)
        if at is None:
            return written
        span, texts = token_span(operators[at]), [self.source.slice(operand.span) for operand in operands]
        is_short = sum(map(len, texts)) < 80 and "\n" not in "".join(texts)
        signs = set(written)
        if signs <= _COMPARING:
            both = f"for one step after another write `{' >> '.join(texts)}`; "
            ascending = texts if signs <= {"<", "<="} else texts[::-1] if signs <= {">", ">="} else None
            help = "write them from the lowest to the highest, with `<` between them"
            if ascending is not None and is_short:
                help = f"{both if signs == {'>'} else ''}an order of alternatives is written `{' < '.join(ascending)}`"
            message = f"`{written[at]}` does not join anything: alternatives in an order are joined by `<`"
            self._problem("MSL205", message, span, help=help)
        else:
            other = next(sign for sign in written if sign not in _COMPARING)
            message = f"`<` and `{other}` cannot be mixed: an order has all alternatives of a parameter"
            help = "write all of them in one order, or none of them"
            if signs == {"<", "|"} and is_short:
                help = f"if all of them have an order, write `{' < '.join(texts)}`, and if not, `{' | '.join(texts)}`"
            self._problem("MSL205", message, span, help=help)
        return ["<"] * len(written)

    def weighted(self, children: list[Any]) -> ast.Expression | _Weighted:
        item: ast.Expression = children[0]
        return item if len(children) == 1 else _Weighted(item, children[2], _span(children))

    def _not_an_alternative(self, weighted: _Weighted) -> None:
        text = self.source.slice(weighted.span)
        self._problem(
            "MSL157",
            "a weight belongs to one of several alternatives",
            Span(weighted.item.span.end, weighted.span.end),
            "nothing is chosen here",
            help=f"remove it, or write `{text} | …`" if len(text) < 80 and "\n" not in text else "remove it",
        )

    def _mixed(self, operands: list[Any], written: list[str], operators: list[Token]) -> None:
        """Report mixed operators, with both readings in the help; with three kinds there are too many to show."""
        at = next(i for i, operator in enumerate(written) if operator != written[0])
        texts = [self.source.slice(operand.span) for operand in operands]
        help = f"write `{_grouped(texts, written, written[0])}` or `{_grouped(texts, written, written[at])}`"
        if len(set(written)) > 2 or len(help) > 200 or "\n" in help or "\r" in help:
            help = "put one of them in parentheses"
        self._problem(
            "MSL009",
            f"`{written[0]}` and `{written[at]}` cannot be mixed without parentheses",
            token_span(operators[at]),
            "which of the two binds first?",
            help=help,
        )

    def operator(self, children: list[Any]) -> Token:
        token: Token = children[0]
        return token

    def unit(self, children: list[Any]) -> ast.Expression:
        only: ast.Expression = children[0]
        return only

    def optional(self, children: list[Any]) -> ast.Optional:
        item = children[0]
        if not isinstance(item, _STEPS):
            self._problem(
                "MSL020",
                "`?` makes a step optional, but this is not a step",
                token_span(children[1]),
                "after a value",
                help="for a parameter that may have no value write `none | …`",
            )
        return ast.Optional(item, span=_span(children))

    def bare_range(self, children: list[Any]) -> ast.Range:
        return self._range(None, children[0], children[2], children[3:], _span(children))

    def kind_range(self, children: list[Any]) -> ast.Range:
        return self._range(str(children[0]), children[1], children[3], children[4:], _span(children))

    def _range(
        self, kind: str | None, low: ast.Expression, high: ast.Expression, modifiers: list[_Modifier], span: Span
    ) -> ast.Range:
        steps = [modifier.step for modifier in modifiers if modifier.step is not None]
        priors = [modifier.prior for modifier in modifiers if modifier.prior is not None]
        logs = len(modifiers) - len(steps) - len(priors)
        if len(steps) > 1 or logs > 1:
            self._problem("MSL001", "`log` or `step` is written twice", modifiers[-1].span, help="write it once")
        if len(priors) > 1:
            self._problem("MSL158", "a range has one prior", priors[1].span, "a second one", help="keep one of them")
        step, prior = steps[0] if steps else None, priors[0] if priors else None
        return ast.Range(kind, low, high, logs > 0, step, prior, span=span)

    def prior(self, children: list[Any]) -> _Modifier:
        path = self.path(children[:1])
        call = ast.Call(path, tuple(children[2]), span=_span(children))
        return _Modifier(None, call.span, call)

    def modifier(self, children: list[Any]) -> _Modifier:
        return _Modifier(children[1] if len(children) > 1 else None, _span(children))

    def bool(self, children: list[Any]) -> ast.Bool:
        return ast.Bool(span=_span(children))

    def vector(self, children: list[Any]) -> ast.Vector:
        return ast.Vector(children[2], children[5], span=_span(children))

    def arithmetic(self, children: list[Any]) -> ast.Expression:
        if len(children) == 1:
            only: ast.Expression = children[0]
            return only
        operators = tuple(str(token) for token in children[1::2])
        return ast.Arithmetic(operators, tuple(children[::2]), span=_span(children))

    def negative(self, children: list[Any]) -> ast.Expression:
        operand = children[1]
        if isinstance(operand, ast.Number) and operand.unit is None:
            return ast.Number(-operand.value, None, f"-{operand.text}", span=_span(children))
        return ast.Negative(operand, span=_span(children))

    def call(self, children: list[Any]) -> ast.Path | ast.Call:
        if len(children) == 1:
            path: ast.Path = children[0]
            return path
        return ast.Call(children[0], tuple(children[2]), span=_span(children))

    def quoted_call(self, children: list[Any]) -> ast.Call:
        """`"step"(…)`: an alternative whose name needs quotes."""
        name: ast.Name = children[0]
        return ast.Call(ast.Path((name,), span=name.span), tuple(children[2]), span=_span(children))

    def braced(self, children: list[Any]) -> ast.Call:
        """`conv { width: 3 | 5 }`: an alternative whose parameters have names of their own."""
        path, given = children
        if isinstance(path, ast.Name):
            path = ast.Path((path,), span=path.span)
        return ast.Call(path, tuple(given.arguments), True, span=_span(children))

    def parenthesised(self, children: list[Any]) -> Any:
        return replace(children[1], span=_span(children))

    def list_of(self, children: list[Any]) -> ast.ListOf:
        return ast.ListOf(tuple(children[1:-1]), span=_span(children))

    def any_of(self, children: list[Any]) -> ast.AnyOf:
        return ast.AnyOf(children[1], span=_span(children))

    def on_columns(self, children: list[Any]) -> ast.On:
        """`on columns (steps)`; steps without their parentheses are understood, and reported."""
        selector, steps = children[1], children[3] if _is(children[2], "CALL") else children[2]
        span = _span(children)
        if not _is(children[2], "CALL") and self.source.text[steps.span.start] != "(":
            columns, written = self.source.slice(selector.span), self.source.slice(steps.span)
            message = "the steps for some columns are written in parentheses"
            self._problem("MSL197", message, span, help=f"write `on {columns} ({written})`")
        return ast.On(selector, steps, span=span)

    def on_nothing(self, children: list[Any]) -> ast.On:
        columns = self.source.slice(children[1].span)
        message = f"`on {columns}` does not say which steps these columns go through"
        help = f"write them in parentheses: `on {columns} (impute)`, or `on {columns} (none)` to keep them as they are"
        self._problem("MSL197", message, _span(children), help=help)
        return ast.On(children[1], ast.Nothing(span=children[1].span), span=_span(children))

    def default(self, children: list[Any]) -> ast.Default:
        return ast.Default(span=_span(children))

    def literal(self, children: list[Any]) -> ast.Expression:
        token = children[0]
        span = token_span(token)
        match token.type:
            case "NUMBER":
                return self._number(token)
            case "STRING":
                return self._string(token)
            case "NONE":
                return ast.Nothing(span=span)
            case _:
                return ast.Boolean(token.type == "TRUE", span=span)

    def _number(self, token: Token) -> ast.Number:
        value, unit = self._literal(token, number_value, (1, None))
        return ast.Number(value, unit, str(token), span=token_span(token))

    def _string(self, token: Token) -> ast.String:
        return ast.String(self._literal(token, string_value, ""), span=token_span(token))

    def path(self, children: list[Any]) -> ast.Path:
        first = ast.Name(str(children[0]), span=token_span(children[0]))
        names = (first, *(child for child in children if isinstance(child, ast.Name)))
        span = first.span.to(names[-1].span)
        path = ast.Path(names, span=span)
        if any(after.span.start - before.span.end != 1 for before, after in pairwise(names)):
            self._problem("MSL016", "a path is written without spaces", span, help=f"write `{path_text(path)}`")
        return path

    def quoted(self, children: list[Any]) -> ast.Name:
        return self.key(children)

    def name(self, children: list[Any]) -> ast.Name:
        return ast.Name(str(children[0]), span=token_span(children[0]))

    # --- conditions ---

    def or_(self, children: list[Any]) -> ast.Condition:
        items = tuple(child for child in children if isinstance(child, ast.Node))
        return items[0] if len(items) == 1 else ast.Or(items, span=_span(children))  # type: ignore[arg-type,return-value]

    def and_(self, children: list[Any]) -> ast.Condition:
        items = tuple(child for child in children if isinstance(child, ast.Node))
        return items[0] if len(items) == 1 else ast.And(items, span=_span(children))  # type: ignore[arg-type,return-value]

    def not_(self, children: list[Any]) -> ast.Not:
        return ast.Not(children[1], span=_span(children))

    def compare(self, children: list[Any]) -> ast.Compare:
        if len(children) > 3:
            left, first, middle, second, right = (
                self.source.slice(child.span) if isinstance(child, ast.Node) else str(child) for child in children[:5]
            )
            help = f"write `{left} {first} {middle} and {middle} {second} {right}`"
            if len(help) > 200 or "\n" in help or "\r" in help:
                help = "write two comparisons with `and` between them"
            self._problem(
                "MSL014", "comparisons cannot be chained", token_span(children[3]), "a second comparison", help=help
            )
        return ast.Compare(str(children[1]), children[0], children[2], span=_span(children))

    def is_(self, children: list[Any]) -> ast.Is:
        return ast.Is(children[0], tuple(c for c in children[2:] if isinstance(c, ast.Node)), span=_span(children))  # type: ignore[misc]


def _grouped(texts: list[str], operators: list[str], tight: str) -> str:
    """The reading in which one of two operators binds first: its operands in parentheses."""
    groups = [[texts[0]]]
    for operator, text in zip(operators, texts[1:], strict=True):
        if operator == tight:
            groups[-1].append(text)
        else:
            groups.append([text])
    loose = next(operator for operator in operators if operator != tight)
    return f" {loose} ".join(group[0] if len(group) == 1 else f"({f' {tight} '.join(group)})" for group in groups)
