"""Print a syntax tree as text, in the standard layout.

What fits into 100 columns is written on one line. Otherwise lines break before `|`, `>>`, `&`, `and`, `or`, `then`,
`by`, `if` and `default`, and lists have one item a line with a comma after each. Only necessary parentheses are
written. `Comments` provides the comments at the places where the printer can put them: around statements, items of
lists and operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from msl.language import ast
from msl.language.line_breaks import (
    BLANK_LINE,
    LINE_END,
    NOTHING_OR_LINE,
    SPACE_OR_LINE,
    Doc,
    IfBroken,
    Joined,
    Line,
    Suffix,
    align,
    group,
    indent,
    join,
    layout,
)
from msl.language.literals import called_text, name_text, path_text, quoted, spelt
from msl.language.tokens import Comments, Placed

# --- precedence: a node that binds less tightly than its context needs parentheses ------------------------------------


class Tightness(IntEnum):
    """The levels of precedence. Spaces and conditions share them: neither can be directly inside the other."""

    SPACE = OR = 0
    UNIT = AND = 1
    DOMAIN = NOT = 2
    TEST = 3
    SUM = 4
    PRODUCT = 5
    FACTOR = 6
    POWER = 7
    ATOM = 8


def tightness_of(node: ast.Node) -> Tightness:
    match node:
        case ast.Choice() | ast.Sequence() | ast.Union():
            return Tightness.SPACE
        case ast.Or():
            return Tightness.OR
        case ast.Optional():
            return Tightness.UNIT
        case ast.And():
            return Tightness.AND
        case ast.Range() | ast.Bool() | ast.Vector():
            return Tightness.DOMAIN
        case ast.Not():
            return Tightness.NOT
        case ast.Compare() | ast.Is():
            return Tightness.TEST
        case ast.Arithmetic():
            return _TIGHTNESS_OF_SIGNS[node.operators[0]]
        case ast.Negative():
            return Tightness.FACTOR
        case ast.Number() if str(node.text or node.value).startswith("-"):
            return Tightness.FACTOR
        case _:
            return Tightness.ATOM


_TIGHTNESS_OF_SIGNS = {
    "+": Tightness.SUM,
    "-": Tightness.SUM,
    "*": Tightness.PRODUCT,
    "/": Tightness.PRODUCT,
    "^": Tightness.POWER,
}


# --- printing ---------------------------------------------------------------------------------------------------------


COLUMNS = 100
_LONGEST_HEAD = 30  # beyond this, alternatives aligned under the `=` would be too far to the right

_CHAIN_OPERATORS = {ast.Choice: "|", ast.Sequence: ">>", ast.Union: "&", ast.Or: "or", ast.And: "and"}
_ATOMS = (ast.Path, ast.Number, ast.String, ast.Boolean, ast.Nothing, ast.AnyOf)

#: Statements with the same number have no blank line between them, if a file is printed without its original text.
_TOGETHER: dict[type[ast.Node], int] = {
    ast.Edition: 0,
    ast.Use: 0,
    ast.Data: 1,
    ast.Part: 3,
    ast.Chain: 4,
    ast.Require: 5,
    ast.Goal: 6,
    ast.Search: 6,
    ast.Ensemble: 6,
    ast.Budget: 6,
    ast.Seed: 6,
}


def ast_to_text(node: ast.Node | ast.File) -> str:
    """The text of a node; a file ends with a line end."""
    printer = Printer(Comments.none())
    if not isinstance(node, ast.File):
        return layout(printer.node(node), COLUMNS)
    lines: list[Doc] = []
    previous: ast.Statement | None = None
    for statement in node.statements:
        if previous is not None:
            here, before = _TOGETHER.get(type(statement)), _TOGETHER.get(type(previous))
            lines.append(LINE_END if here is not None and here == before else BLANK_LINE)
        lines.append(printer.node(statement))
        previous = statement
    text = layout(join(*lines), COLUMNS)
    return f"{text}\n" if text else ""


def file_to_text(file: ast.File, comments: Comments, end: int) -> str:
    """The text of a file with its comments and its blank lines, never two in a row; `end` is the end of its text."""
    printer = Printer(comments)
    text = layout(printer.file(file, end), COLUMNS)
    return f"{text}\n" if text else ""


class Printer:
    """Turns a tree, in the order of its text, into a document with possible line breaks."""

    def __init__(self, comments: Comments) -> None:
        self._comments = comments

    # --- files and statements ---

    def file(self, file: ast.File, end: int) -> Doc:
        entries = _Entries(LINE_END)
        starts = [statement.span.start for statement in file.statements]
        for statement, start, following in zip(file.statements, starts, [*starts[1:], end], strict=False):
            entries.comments(self._comments.take(start))
            entries.add(self.node(statement), self._comments.after_blank(start))
            entries.extend(_suffixes(self._comments.take_trailing(following)))
        entries.comments(self._comments.take(end))
        return entries.doc()

    def node(self, node: ast.Node, tightness: int = Tightness.SPACE) -> Doc:
        """Any node; in parentheses if it binds less tightly than the context needs."""
        if tightness_of(node) < tightness:
            inner = self.node(node)
            return align("(", inner, *_dangling(self._comments.take(node.span.end - 1)), ")")
        match node:
            case ast.Name():
                return node.text
            case ast.Path():
                return path_text(node)
            case ast.Number():
                return _number(node)
            case ast.String():
                return quoted(node.value)
            case ast.Boolean():
                return "true" if node.value else "false"
            case ast.Nothing():
                return "none"
            case ast.Default():
                return "default"
            case ast.Bool():
                return "bool"
            case ast.AnyOf():
                return f"any {path_text(node.role)}"
            case ast.On():
                return self._on(node)
            case ast.Choice() | ast.Sequence() | ast.Union() | ast.Or() | ast.And():
                return self._chain(node)
            case ast.Optional():
                return join(self.node(node.item, Tightness.DOMAIN), "?")
            case ast.Not():
                return join("not ", self.node(node.item, Tightness.NOT))
            case ast.Negative():
                return join("-", self.node(node.operand, Tightness.FACTOR))
            case ast.Arithmetic():
                return self._arithmetic(node)
            case ast.Range():
                return self._range(node)
            case ast.Vector():
                size, element = self.node(node.size, Tightness.SUM), self.node(node.element, Tightness.DOMAIN)
                return join("vector(", size, ") of ", element)
            case ast.ListOf():
                return self._list(node)
            case ast.Call(braces=True):
                return join(path_text(node.path), " ", self._braced(node))
            case ast.Call():
                return join(called_text(node), self._arguments(node))
            case ast.Compare():
                left = self.node(node.left, Tightness.SUM)
                return group(left, indent(self._continued(node.operator, node.right, Tightness.SUM), by=4))
            case ast.Is():
                first, *more = node.alternatives
                parts = [self.node(node.subject, Tightness.SUM), self._continued("is", first, Tightness.ATOM)]
                parts += [self._continued("|", other, Tightness.ATOM) for other in more]
                return indent(*map(group, parts), by=4)
            case ast.Argument():
                return self._argument(node)
            case ast.UseItem():
                target = node.target.text if isinstance(node.target, ast.Name) else quoted(node.target.value)
                version = f" {_number(node.version)}" if node.version else ""
                return f"{target}{version}" + (f" as {node.alias.text}" if node.alias else "")
            case ast.Objective():
                return group(self.node(node.expression, Tightness.SUM), self._clause("by", node.estimate))
            case _:
                return self._statement(node)

    def _statement(self, node: ast.Node) -> Doc:
        match node:
            case ast.Edition():
                return f"msl {_number(node.number)}"
            case ast.Use():
                return join("use", self._bare_list(node.items))
            case ast.Data():
                return join("data", self._arguments(node))
            case ast.Block():
                task = f" for {node.task.text}" if node.task else ""
                head = f"block {node.name.text}: {node.role.text}{task} {quoted(node.target.value)} "
                return join(head, self._fields(node, LINE_END))
            case ast.Derive():
                head = f"block {node.name.text} = {path_text(node.base)} "
                return join(head, self._fields(node, SPACE_OR_LINE))
            case ast.Part():
                if node.parameters is None:
                    return self._bound(f"part {node.name.text} ", "=", node.space)
                end = self._start(node.space)
                declared = self._enclosed("(", node.parameters, ")", end)
                return join(f"part {node.name.text}", declared, self._bound(" ", "=", node.space))
            case ast.Chain():
                return self._bound(f"chain {node.name.text} ", "=", node.space)
            case ast.Require():
                return group("require", self._after(node.condition, by=4), self._clause("if", node.when))
            case ast.Goal():
                return join("minimize" if node.minimize else "maximize", self._bare_list(node.objectives))
            case ast.Search():
                first, *more = node.stages
                return group("search", self._after(first), *(self._clause("then", stage) for stage in more))
            case ast.Ensemble():
                return join("ensemble", self._after(node.call))
            case ast.Budget():
                return join("budget", self._arguments(node))
            case ast.Seed():
                return f"seed {_number(node.number)}"
            case _:
                raise TypeError(f"{type(node).__name__} is not a node of the tree")

    def _fields(self, node: ast.Block | ast.Derive, edge: Line) -> Doc:
        """`{ … }`, and the resource after it."""
        if node.fidelity is None:
            return self._enclosed("{", node.fields, "}", node.span.end - 1, edge)
        fields = self._enclosed("{", node.fields, "}", node.fidelity.span.start, edge)
        return join(fields, f" fidelity {name_text(node.fidelity.text)}")

    def _bound(self, head: str, sign: str, value: ast.Expression) -> Doc:
        """`head = value`: alternatives on several lines are aligned under the sign, others start on a new line."""
        if self._comments.any_before(self._start(value)):
            return join(head, sign, self._after(value))
        if isinstance(value, ast.Choice) and len(head) <= _LONGEST_HEAD:
            return join(head, align(sign, " ", self.node(value)))
        if isinstance(value, ast.Choice | ast.Sequence | ast.Union):
            return join(head, group(sign, indent(SPACE_OR_LINE, self.node(value))))
        return join(head, sign, " ", self.node(value))

    def _after(self, node: ast.Node, by: int = 2) -> Doc:
        """` node`, after a word or a sign; on new lines below the comments before it."""
        start = self._start(node)
        beside, above = self._comments.take_trailing(start), self._comments.take(start)
        if beside or above:
            return join(*_suffixes(beside), indent(LINE_END, *_lines(above), self.node(node)))
        return join(" ", _hanging(node, self.node(node), by))

    def _clause(self, word: str, node: ast.Node | None) -> Doc:
        """` word node`, on a new line if its group is broken or a comment comes before it."""
        if node is None:
            return ""
        before = self._separator(self._start(node))
        return indent(before, f"{word} ", _hanging(node, self.node(node)))

    # --- spaces and conditions ---

    def _chain(self, node: ast.Choice | ast.Sequence | ast.Union | ast.Or | ast.And) -> Doc:
        """Operands joined by their operator, which starts a new line; short alternatives share a line."""
        operator = "<" if isinstance(node, ast.Choice) and node.ordered else _CHAIN_OPERATORS[type(node)]
        tightness = Tightness.NOT if isinstance(node, ast.And) else Tightness.UNIT
        commented = self._comments.any_before(self._start(node.items[-1]))
        short = isinstance(node, ast.Choice) and all(isinstance(_bare(item), _ATOMS) for item in node.items)
        filled = short and not commented
        first, *more = node.items
        stray = _suffixes(self._comments.take(self._start(first)))
        weights = (node.weights if isinstance(node, ast.Choice) else ()) or (None,) * len(node.items)
        parts: list[Doc] = [*stray, align(self.node(first, tightness)), self._weight(weights[0])]
        for item, weight in zip(more, weights[1:], strict=True):
            operand = join(self._continued(operator, item, tightness), self._weight(weight))
            parts.append(group(operand) if filled else operand)
        return group(*parts)

    def _on(self, node: ast.On) -> Doc:
        """`on columns (steps)`: the parentheses belong to it, whatever is inside."""
        selector = node.selector
        columns = name_text(selector.text) if isinstance(selector, ast.Name) else self.node(selector)
        inner = self.node(node.space)
        return join("on ", columns, " ", align("(", inner, *_dangling(self._comments.take(node.span.end - 1)), ")"))

    def _weight(self, weight: ast.Expression | None) -> Doc:
        return "" if weight is None else join(" weight ", self.node(weight, Tightness.SUM))

    def _separator(self, start: int) -> Doc:
        """What goes before an operator or a clause: a possible line break, or the comments there."""
        beside, above = self._comments.take_trailing(start), self._comments.take(start)
        if not beside and not above:
            return SPACE_OR_LINE
        return join(*_suffixes(beside), LINE_END, *_lines(above))

    def _power(self, base: ast.Node, exponent: ast.Node) -> Doc:
        """`2^-15`; with blanks if one of them is more than a number."""
        sign = "^" if _is_power_of_numbers(base) and _is_power_of_numbers(exponent) else " ^ "
        return join(self.node(base, Tightness.ATOM), sign, self.node(exponent, Tightness.FACTOR))

    def _arithmetic(self, node: ast.Arithmetic) -> Doc:
        if node.operators == ("^",):
            return self._power(*node.operands)
        tightness = tightness_of(node) + 1
        first, *more = node.operands
        parts = [self.node(first, tightness)]
        for operator, operand in zip(node.operators, more, strict=True):
            parts.append(indent(self._continued(operator, operand, tightness), by=4))
        return group(*parts)

    def _continued(self, operator: str, operand: ast.Node, tightness: int) -> Doc:
        """` operator operand`, or a new line that begins with it."""
        before = self._separator(self._start(operand))
        return join(before, operator, " ", align(self.node(operand, tightness)))

    def _range(self, node: ast.Range) -> Doc:
        spaced = any(isinstance(end, ast.Arithmetic) and not _is_power_of_numbers(end) for end in (node.low, node.high))
        low, high = self.node(node.low, Tightness.SUM), self.node(node.high, Tightness.SUM)
        step = join(" step ", self.node(node.step, Tightness.SUM)) if node.step is not None else ""
        kind = f"{node.kind} " if node.kind else ""
        prior = join(" ", self.node(node.prior)) if node.prior is not None else ""
        return join(kind, low, " .. " if spaced else "..", high, " log" if node.log else "", step, prior)

    # --- lists ---

    def _argument(self, node: ast.Argument) -> Doc:
        if node.key is None:
            return _hanging(node.value, self.node(node.value))
        key = name_text(node.key.text)
        colon = ":" if node.best is None else ": best"
        bound = self._bound(key, colon, node.value) if node.opens else self._bound(f"{key} ", "=", node.value)
        return group(bound, self._clause("default", node.default), self._clause("if", node.condition))

    def _arguments(self, node: ast.Call | ast.Data | ast.Budget) -> Doc:
        return self._enclosed("(", node.arguments, ")", node.span.end - 1)

    def _braced(self, node: ast.Call) -> Doc:
        edge = SPACE_OR_LINE if node.arguments else NOTHING_OR_LINE
        return self._enclosed("{", node.arguments, "}", node.span.end - 1, edge)

    def _list(self, node: ast.ListOf) -> Doc:
        close = node.span.end - 1
        filled = all(isinstance(item, _ATOMS) for item in node.items) and not self._comments.any_before(close)
        return self._enclosed("[", node.items, "]", close, filled=filled)

    def _enclosed(
        self,
        opening: str,
        items: Sequence[ast.Node],
        closing: str,
        close: int,
        edge: Line = NOTHING_OR_LINE,
        filled: bool = False,
    ) -> Doc:
        """Items between brackets: all on one line, or one a line; `close` is the offset of the closing bracket."""
        beside = _suffixes(self._comments.take_trailing(self._start(items[0]) if items else close))
        entries = self._entries(items, close, filled)
        entries.comments(self._comments.take(close))
        if entries.empty:
            return group(opening, *beside, NOTHING_OR_LINE, closing)
        return group(opening, *beside, indent(edge, entries.doc()), edge, closing)

    def _bare_list(self, items: Sequence[ast.Node]) -> Doc:
        """Items after a keyword, without brackets: ` a, b`, or one a line."""
        if len(items) == 1:
            return self._after(items[0])
        beside = _suffixes(self._comments.take_trailing(self._start(items[0])))
        return group(*beside, indent(SPACE_OR_LINE, self._entries(items, None, filled=False).doc()))

    def _entries(self, items: Sequence[ast.Node], close: int | None, filled: bool) -> _Entries:
        """Items with their commas and comments; without a `close`, comments after the last are left out."""
        entries = _Entries(SPACE_OR_LINE, filled)
        starts = [self._start(item) for item in items]
        for index, item in enumerate(items):
            entries.comments(self._comments.take(starts[index]))
            doc = self.node(item) if isinstance(item, ast.Argument) else _hanging(item, self.node(item))
            is_last = index == len(items) - 1
            entries.add(join(doc, IfBroken(",") if is_last else ","), self._comments.after_blank(starts[index]))
            following = close if is_last else starts[index + 1]
            if following is not None:
                entries.extend(_suffixes(self._comments.take_trailing(following)))
        return entries

    def _start(self, node: ast.Node) -> int:
        return self._comments.first_word(node.span.start)


class _Entries:
    """Items in sequence, with the comments and blank lines between them."""

    def __init__(self, separator: Line, filled: bool = False) -> None:
        self._separator = separator
        self._filled = filled
        self._parts: list[Doc] = []
        self._after_comment = False

    @property
    def empty(self) -> bool:
        return not self._parts

    def comments(self, comments: Sequence[Placed]) -> None:
        for comment in comments:
            if self._parts:
                self._parts.append(BLANK_LINE if comment.after_blank else LINE_END)
            self._parts.append(Suffix(comment.text))
            self._after_comment = True

    def add(self, doc: Doc, after_blank: bool) -> None:
        flat = None if self._after_comment else self._separator.flat
        separator = Line(flat, blank=after_blank and not self._filled)
        if not self._parts:
            self._parts.append(doc)
        elif self._filled:
            self._parts.append(group(separator, doc))
        else:
            self._parts += [separator, doc]
        self._after_comment = False

    def extend(self, docs: Sequence[Doc]) -> None:
        self._parts += docs

    def doc(self) -> Doc:
        return Joined(tuple(self._parts))


def _bare(node: ast.Node) -> ast.Node:
    return node.item if isinstance(node, ast.Optional) else node


def _is_power_of_numbers(node: ast.Node) -> bool:
    """Whether a node is made of numbers and `^` alone."""
    if isinstance(node, ast.Arithmetic):
        return node.operators == ("^",) and all(map(_is_power_of_numbers, node.operands))
    return isinstance(node, ast.Number)


def _number(node: ast.Number) -> str:
    return node.text or spelt(node.value, node.unit)


def _hanging(node: ast.Node, doc: Doc, by: int = 2) -> Doc:
    """A chain whose further lines are indented, so that it reads as one item."""
    return indent(doc, by=by) if type(node) in _CHAIN_OPERATORS else doc


def _suffixes(comments: Sequence[Placed]) -> list[Doc]:
    return [Suffix(comment.text) for comment in comments]


def _lines(comments: Sequence[Placed]) -> list[Doc]:
    """Comments on lines of their own, and the line end after the last."""
    return [join(Suffix(comment.text), LINE_END) for comment in comments]


def _dangling(comments: Sequence[Placed]) -> list[Doc]:
    """Comments before a closing parenthesis, which then goes on a new line."""
    docs: list[Doc] = []
    for comment in comments:
        docs += [LINE_END, Suffix(comment.text)] if comment.own_line else [Suffix(comment.text)]
    return [*docs, LINE_END] if any(comment.own_line for comment in comments) else docs
