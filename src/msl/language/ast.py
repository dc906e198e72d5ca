"""Define the nodes of the syntax tree: frozen, each with the span that it was read from.

The tree represents what was written, not what it means: `svc`, `0.5` and `int 1..3` are allowed wherever a space is,
and the checker decides what may be where. Parentheses have no node. Nodes compare by content, not by position.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, fields
from functools import cache

from msl.diagnostics.source import Span
from msl.record import record

NOWHERE = Span(0, 0)


@record
class Node:
    """The base of all nodes."""

    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


# --- names and literals ---------------------------------------------------------------------------


@record
class Name(Node):
    """One word, in quotes if it is reserved or not a plain word; both spellings are the same name."""

    text: str


@record
class Path(Node):
    """`clop.svc.gamma`: names joined by dots."""

    names: tuple[Name, ...]

    @property
    def text(self) -> str:
        return ".".join(name.text for name in self.names)


@record
class Number(Node):
    """A number with its unit, if any; `0.5%` is 0.005 without a unit. `text` keeps the user's spelling."""

    value: int | float
    unit: str | None = None
    text: str = field(default="", compare=False)


@record
class String(Node):
    """`"text"`"""

    value: str


@record
class Boolean(Node):
    """`true` or `false`"""

    value: bool


@record
class Nothing(Node):
    """`none`: the empty step, or no value."""


@record
class Default(Node):
    """`default`, as in `rest = default`."""


@record
class ListOf(Node):
    """`[a, b]`"""

    items: tuple[Expression, ...]


# --- spaces and domains ---------------------------------------------------------------------------


@record
class Choice(Node):
    """`a | b weight 3 | c`, or `a < b < c` if they have an order.

    `weights` are empty, or as many as the items, with None where none is written.
    """

    items: tuple[Expression, ...]
    weights: tuple[Expression | None, ...] = ()
    ordered: bool = False


@record
class Sequence(Node):
    """`a >> b >> c`"""

    items: tuple[Expression, ...]


@record
class Union(Node):
    """`a & b & c`"""

    items: tuple[Expression, ...]


@record
class Optional(Node):
    """`a?`"""

    item: Expression


@record
class Call(Node):
    """`name(arguments)`, or `name { arguments }` with `braces`"""

    path: Path
    arguments: tuple[Argument, ...]
    braces: bool = False


@record
class AnyOf(Node):
    """`any ROLE`"""

    role: Path


@record
class On(Node):
    """`on numbers (a >> b)`: steps for some columns, which are a word or a list of names and patterns."""

    selector: Name | ListOf
    space: Expression


@record
class Range(Node):
    """`int 1..10 log`, `real 0..1 normal(0.5, 0.1)`; `kind` is None where it is inherited."""

    kind: str | None
    low: Expression
    high: Expression
    log: bool = False
    step: Expression | None = None
    prior: Call | None = None


@record
class Bool(Node):
    """`bool` as a domain."""


@record
class Vector(Node):
    """`vector(n_features) of bool`"""

    size: Expression
    element: Expression


@record
class Arithmetic(Node):
    """`a + b - c`, `a * b / c` or `a ^ b`: operands and the operators between them, all of one precedence."""

    operators: tuple[str, ...]
    operands: tuple[Expression, ...]


@record
class Negative(Node):
    """`-a`"""

    operand: Expression


@record
class Argument(Node):
    """`key: domain default value if condition`, `key = value`, or a value alone. `opens` is true for `:`.

    `best` is the word in `key: best domain`.
    """

    key: Name | None
    opens: bool
    value: Expression
    default: Expression | None = None
    condition: Condition | None = None
    best: Name | None = None


# --- conditions -----------------------------------------------------------------------------------


@record
class And(Node):
    """`a and b`"""

    items: tuple[Condition, ...]


@record
class Or(Node):
    """`a or b`"""

    items: tuple[Condition, ...]


@record
class Not(Node):
    """`not a`"""

    item: Condition


@record
class Compare(Node):
    """`a <= b`"""

    operator: str
    left: Condition
    right: Condition


@record
class Is(Node):
    """`subject is a | b`"""

    subject: Condition
    alternatives: tuple[Expression, ...]


Expression = (
    Path
    | Number
    | String
    | Boolean
    | Nothing
    | Default
    | ListOf
    | Choice
    | Sequence
    | Union
    | Optional
    | Call
    | AnyOf
    | On
    | Range
    | Bool
    | Vector
    | Arithmetic
    | Negative
)
Condition = And | Or | Not | Compare | Is | Expression


# --- statements -----------------------------------------------------------------------------------


@record
class Edition(Node):
    """`msl 1`"""

    number: Number


@record
class UseItem(Node):
    """A catalogue (`target` is a Name) or a file (a String)."""

    target: Name | String
    version: Number | None = None
    alias: Name | None = None


@record
class Use(Node):
    """`use clop, "team/blocks.msl" as team`"""

    items: tuple[UseItem, ...]


@record
class Data(Node):
    """`data(target = class)`"""

    arguments: tuple[Argument, ...]


@record
class Block(Node):
    """`block NAME: ROLE [for TASK] "module:Class" { … } [fidelity PARAMETER]`"""

    name: Name
    role: Name
    task: Name | None
    target: String
    fields: tuple[Argument, ...]
    fidelity: Name | None = None


@record
class Derive(Node):
    """`block NAME = OTHER { … } [fidelity PARAMETER]`"""

    name: Name
    base: Path
    fields: tuple[Argument, ...]
    fidelity: Name | None = None


@record
class Part(Node):
    """`part NAME = space`, or `part NAME(name: domain, …) = space`; `parameters` is None where there is no `(`."""

    name: Name
    parameters: tuple[Argument, ...] | None
    space: Expression


@record
class Chain(Node):
    """`chain NAME = space`"""

    name: Name
    space: Expression


@record
class Require(Node):
    """`require condition [if condition]`"""

    condition: Condition
    when: Condition | None = None


@record
class Objective(Node):
    """`expression [by estimate]`"""

    expression: Expression
    estimate: Path | Call | None = None


@record
class Goal(Node):
    """`minimize …` or `maximize …`"""

    minimize: bool
    objectives: tuple[Objective, ...]


@record
class Search(Node):
    """`search call [then call]…`"""

    stages: tuple[Path | Call, ...]


@record
class Ensemble(Node):
    """`ensemble call`"""

    call: Path | Call


@record
class Budget(Node):
    """`budget(time = 10min)`"""

    arguments: tuple[Argument, ...]


@record
class Seed(Node):
    """`seed 7`"""

    number: Number


Statement = Edition | Use | Data | Block | Derive | Part | Chain | Require | Goal | Search | Ensemble | Budget | Seed


@record
class Comment:
    """A comment; `text` includes the `#`, without trailing blanks."""

    text: str
    span: Span


@record
class Broken:
    """A statement that could not be parsed: its keyword, and the name that it would have declared."""

    keyword: str | None
    name: str | None


@record
class File:
    """All statements that could be parsed, in order, those that could not, and every comment."""

    statements: tuple[Statement, ...]
    comments: tuple[Comment, ...] = field(default=(), compare=False)
    broken: tuple[Broken, ...] = ()


def children(node: Node) -> Iterator[Node]:
    """The direct child nodes, in the order written."""
    if isinstance(node, Choice) and node.weights:
        for pair in zip(node.items, node.weights, strict=True):
            yield from (one for one in pair if one is not None)
        return
    if isinstance(node, Argument) and node.best is not None:
        yield from (one for one in (node.key, node.best, node.value, node.default, node.condition) if one is not None)
        return
    for name in _field_names(type(node)):  # type: ignore[arg-type]  # a class can be hashed
        value = getattr(node, name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            yield from (entry for entry in value if isinstance(entry, Node))


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind))


def most_terms(node: Node) -> int:
    """The number of nested operations in the longest arithmetic expression of a tree: 2 for `a + b + c`."""
    longest: dict[int, int] = {}
    pending = [(node, False)]
    while pending:
        current, is_ready = pending.pop()
        if not is_ready:
            pending.append((current, True))
            pending.extend((child, False) for child in children(current))
            continue
        below = [longest[id(child)] for child in children(current)]
        if isinstance(current, Arithmetic):
            after = [len(current.operators), *range(len(current.operators), 0, -1)]
            below = [inner + steps for inner, steps in zip(below, after, strict=True)]
        longest[id(current)] = max(below, default=0)
    return longest[id(node)]


def depth(node: Node) -> int:
    """The depth of the tree below a node, computed without recursion."""
    deepest, level = 0, [node]
    while level:
        deepest += 1
        level = [child for parent in level for child in children(parent)]
    return deepest
