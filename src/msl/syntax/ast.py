"""The abstract syntax of MSL: frozen nodes, each with the span it was read from.

The tree says what was written, not what it means: `svc`, `0.5` and `int 1..3` may stand anywhere a space may, and the
checker says what may stand where. Parentheses leave no node; nodes compare by content, never by place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields

from msl.text.source import Span

NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Node:
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


# --- names and literals ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Name(Node):
    """One word, or a quoted one where a reserved or odd name is meant; both spellings are the same name."""

    text: str


@dataclass(frozen=True, slots=True)
class Path(Node):
    """`clop.svc.gamma`: names joined by dots."""

    names: tuple[Name, ...]

    @property
    def text(self) -> str:
        return ".".join(name.text for name in self.names)


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A number with its unit, if any; `0.5%` is 0.005 without a unit. `text` keeps the user's spelling."""

    value: int | float
    unit: str | None = None
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class String(Node):
    value: str


@dataclass(frozen=True, slots=True)
class Boolean(Node):
    value: bool


@dataclass(frozen=True, slots=True)
class Nothing(Node):
    """`none`: the empty step, or no value."""


@dataclass(frozen=True, slots=True)
class Default(Node):
    """`default`, as in `rest = default`."""


@dataclass(frozen=True, slots=True)
class ListOf(Node):
    items: tuple[Expression, ...]


# --- spaces and domains ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Choice(Node):
    """`a | b | c`"""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Sequence(Node):
    """`a >> b >> c`"""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Union(Node):
    """`a & b & c`"""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Optional(Node):
    """`a?`"""

    item: Expression


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`name(arguments)`"""

    path: Path
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class AnyOf(Node):
    """`any ROLE`"""

    role: Path


@dataclass(frozen=True, slots=True)
class Range(Node):
    """`int 1..10 log`; `kind` is None where it is inherited."""

    kind: str | None
    low: Expression
    high: Expression
    log: bool = False
    step: Expression | None = None


@dataclass(frozen=True, slots=True)
class Bool(Node):
    """`bool` as a domain."""


@dataclass(frozen=True, slots=True)
class Vector(Node):
    """`vector(n_features) of bool`"""

    size: Expression
    element: Expression


@dataclass(frozen=True, slots=True)
class Arithmetic(Node):
    """`a + b - c` or `a * b / c`: operands and the operators between them, all of one precedence."""

    operators: tuple[str, ...]
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Negative(Node):
    operand: Expression


@dataclass(frozen=True, slots=True)
class Argument(Node):
    """`key: domain default value if condition`, `key = value`, or a value alone. `opens` tells `:` from `=`."""

    key: Name | None
    opens: bool
    value: Expression
    default: Expression | None = None
    condition: Condition | None = None


# --- conditions -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class And(Node):
    items: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or(Node):
    items: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not(Node):
    item: Condition


@dataclass(frozen=True, slots=True)
class Compare(Node):
    operator: str
    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True)
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
    | Range
    | Bool
    | Vector
    | Arithmetic
    | Negative
)
Condition = And | Or | Not | Compare | Is | Expression


# --- statements -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Edition(Node):
    number: Number


@dataclass(frozen=True, slots=True)
class UseItem(Node):
    """A catalogue (`target` is a Name) or a file (a String)."""

    target: Name | String
    version: Number | None = None
    alias: Name | None = None


@dataclass(frozen=True, slots=True)
class Use(Node):
    items: tuple[UseItem, ...]


@dataclass(frozen=True, slots=True)
class Data(Node):
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Block(Node):
    """`block NAME: ROLE [for TASK] "module:Class" { … }`"""

    name: Name
    role: Name
    task: Name | None
    target: String
    fields: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Derive(Node):
    """`block NAME = OTHER { … }`"""

    name: Name
    base: Path
    fields: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Part(Node):
    name: Name
    space: Expression


@dataclass(frozen=True, slots=True)
class Chain(Node):
    name: Name
    space: Expression


@dataclass(frozen=True, slots=True)
class Require(Node):
    condition: Condition
    when: Condition | None = None


@dataclass(frozen=True, slots=True)
class Objective(Node):
    """`expression [by estimate]`"""

    expression: Expression
    estimate: Path | Call | None = None


@dataclass(frozen=True, slots=True)
class Goal(Node):
    """`minimize …` or `maximize …`"""

    minimize: bool
    objectives: tuple[Objective, ...]


@dataclass(frozen=True, slots=True)
class Search(Node):
    stages: tuple[Path | Call, ...]


@dataclass(frozen=True, slots=True)
class Ensemble(Node):
    call: Path | Call


@dataclass(frozen=True, slots=True)
class Budget(Node):
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Seed(Node):
    number: Number


Statement = Edition | Use | Data | Block | Derive | Part | Chain | Require | Goal | Search | Ensemble | Budget | Seed


@dataclass(frozen=True, slots=True)
class Comment:
    """`# …` with its span; `text` includes the `#`, without trailing blanks."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Broken:
    """A statement that could not be read: its keyword, and the name that it would have declared."""

    keyword: str | None
    name: str | None


@dataclass(frozen=True, slots=True)
class File:
    """All statements that could be read, in order; what could not; and every comment."""

    statements: tuple[Statement, ...]
    comments: tuple[Comment, ...] = field(default=(), compare=False)
    broken: tuple[Broken, ...] = ()


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below one, in the order written."""
    for item in fields(node):
        value = getattr(node, item.name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            yield from (entry for entry in value if isinstance(entry, Node))


def depth(node: Node) -> int:
    """How deep the tree below a node is, found without recursion."""
    deepest, level = 0, [node]
    while level:
        deepest += 1
        level = [child for parent in level for child in children(parent)]
    return deepest
