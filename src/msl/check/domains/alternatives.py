"""Alternatives of a parameter: joined into one domain, and in an order, as in `small < medium < large`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise, repeat
from typing import TYPE_CHECKING

from msl.check.domains.contains import name_of
from msl.diagnostics.diagnostic import Label
from msl.language import ast
from msl.record import record
from msl.space.nodes import (
    BlockUse,
    Choice,
    Const,
    Node,
    Symbol,
    choice_of,
    weighted_options,
)
from msl.space.values import is_number

if TYPE_CHECKING:
    from msl.check.domains.declared import Declarer

_PLAIN = ast.Path | ast.String | ast.Number | ast.Negative | ast.Boolean | ast.Nothing


@record
class Orders:
    """Reads the orders of one file's declarations and uses; what is wrong is reported and returned as None."""

    declarer: Declarer

    def choice(
        self, written: ast.Choice, read: Callable[[ast.Expression], Node | None], declared: Node | None = None
    ) -> Node | None:
        """Alternatives in their order; in a use, within the `declared` domain and not against its order."""
        if not self._is_alone(written) or not all(map(self._is_plain, written.items)):
            return None
        blocks = self.declarer.context.blocks_meant(self.declarer.module, list(written.items))
        for item in written.items if declared is None else ():
            if id(item) in blocks:
                text = self._text(item)
                message = f"`{text}` is a block here, and blocks have no order"
                self._error("MSL206", item, message, f'join blocks by `|`, or write `"{text}"` if you mean the text')
                return None
        options = [read(item) for item in written.items]
        sound = [option for option in options if option is not None]
        if len(sound) < len(options) or not self._ascends(written, sound, declared):
            return None
        return self.declarer.of_alternatives(sound, written, ordered=True)

    def _is_alone(self, written: ast.Choice) -> bool:
        """Whether there is one order of all alternatives; parentheses do not make it part of a choice."""
        inner = next((item for item in written.items if isinstance(item, ast.Choice)), None)
        if inner is None:
            return True
        message = "an order has all alternatives of a parameter: it is not one of several alternatives"
        if written.ordered and not inner.ordered:
            message = "between `<` stands one alternative, not a choice"
        help = "write all of them in one order, as in `none < small < large`, or none of them"
        self._error("MSL205", inner, message, help)
        return False

    def _is_plain(self, item: ast.Expression) -> bool:
        if isinstance(item, _PLAIN) and not (isinstance(item, ast.Path) and len(item.names) > 1):
            return True
        text = self._text(item)
        match item:
            case ast.Range():
                message, help = (
                    f"`{text}` is a range, whose numbers have their order already",
                    "join a range to the others by `|`",
                )
            case ast.Call():
                message = f"`{text}` has parameters of its own, and an alternative in an order has none"
                help = "join the alternatives by `|`"
            case _:
                message = f"`{text}` cannot stand in an order"
                help = "an order is made of words, texts, numbers, `true`, `false` and `none`"
        self._error("MSL206", item, message, help)
        return False

    def _ascends(self, written: ast.Choice, options: list[Node], declared: Node | None) -> bool:
        """Whether the order is one: nothing twice, numbers from the lowest, and as declared."""
        found: list[tuple[Const, ast.Expression]] = []
        for option, item in zip(options, written.items, strict=True):
            if not isinstance(option, Const):
                message = f"`{self._text(item)}` has parameters of its own, and an alternative in an order has none"
                self._error("MSL206", item, message, "join the alternatives by `|`")
                return False
            found.append((option, item))
        numbers = [(option.value, item) for option, item in found if _is_constant_number(option)]
        if len(numbers) == len(found):
            help = f"write `{' | '.join(map(self._text, written.items))}`"
            self._error("MSL206", written, "numbers have their order already", help)
            return False
        met: dict[object, ast.Expression] = {}
        for option, item in found:
            if (before := met.setdefault(_value(option), item)) is not item:
                self._against(item, before, "this alternative has a place in the order already", "remove one of them")
                return False
        for (low, before), (high, item) in pairwise(numbers):
            if high < low:  # type: ignore[operator]
                message = f"`{self._text(item)}` stands above `{self._text(before)}` here, and is the lower number"
                self._against(item, before, message, "write numbers from the lowest to the highest")
                return False
        return self._is_as_declared(found, declared)

    def _is_as_declared(self, found: list[tuple[Const, ast.Expression]], declared: Node | None) -> bool:
        if not isinstance(declared, Choice) or not declared.ordered:
            return True
        places = [(_place(declared, option), item) for option, item in found]
        for (low, before), (high, item) in pairwise(places):
            if high < low:
                message = f"`{self._text(item)}` is declared below `{self._text(before)}`"
                in_order = (self._text(each) for _, each in sorted(places, key=lambda pair: pair[0]))
                self._against(item, before, message, f"write `{' < '.join(in_order)}`")
                return False
        return True

    def _text(self, node: ast.Node) -> str:
        return self.declarer.module.source.slice(node.span)

    def _error(self, code: str, node: ast.Node, message: str, help: str) -> None:
        self.declarer.report.error(code, self.declarer.module.source, node.span, message, "", help)

    def _against(self, node: ast.Node, before: ast.Node, message: str, help: str) -> None:
        label = Label(self.declarer.module.source, before.span, "before it")
        self.declarer.report.error("MSL208", self.declarer.module.source, node.span, message, "", help, (label,))


def in_declared_order(options: list[Node], declared: Node) -> tuple[list[Node], bool]:
    """Alternatives that a use lists with `|`: they keep the order that the declaration gives them."""
    if not isinstance(declared, Choice) or not declared.ordered:
        return options, False
    return sorted(options, key=lambda option: _place(declared, option)), True


def _place(declared: Choice, option: Node) -> int:
    """The place of a value in a declared order, where 1 is not true."""
    return list(map(_value, declared.options)).index(_value(option))


def _value(option: Node) -> object:
    return (type(option.value), option.value) if isinstance(option, Const) else option


def _is_constant_number(option: Node) -> bool:
    return isinstance(option, Const) and is_number(option.value)


# --- Alternatives as nodes --------------------------------------------------------------------------------------------


def written_alternatives(written: ast.Choice) -> Iterator[ast.Expression]:
    """The alternatives of a choice, with nested choices flattened."""
    for item in written.items:
        if isinstance(item, ast.Choice):
            yield from written_alternatives(item)
        else:
            yield item


def choice(options: list[Node], weights: list[float] | None = None, ordered: bool = False) -> Node:
    """Options as one node: nested choices flattened, duplicates removed, numbers sorted."""
    distinct: dict[object, tuple[Node, float]] = {}
    for option, weight in zip(options, weights or repeat(1.0, len(options)), strict=True):
        for inner, own in weighted_options(option):
            distinct.setdefault(identity(inner), (inner, weight * own))
    found = list(distinct.values())
    if len(found) == 1:
        return found[0][0]
    if all(_is_constant_number(option) for option, _ in found):
        found.sort(key=lambda pair: pair[0].value)  # type: ignore[union-attr,arg-type,return-value]
    return choice_of(found, ordered)


def called_twice(node: Node) -> str | None:
    """A name that two alternatives share, one of them a block: what it means would be ambiguous."""
    owners: dict[str, tuple[str, str] | None] = {}
    for option in node.options if isinstance(node, Choice) else ():
        name, owner = name_of(option), option.block.key if isinstance(option, BlockUse) else None
        if isinstance(option, Symbol) and option.own:
            owner = ("{}", "")
        if name is not None and owners.setdefault(name, owner) != owner:
            return name
    return None


def identity(node: Node) -> object:
    """A key that is equal for equal nodes; unlike equality, it distinguishes 1 from true."""
    return (node, isinstance(node.value, bool)) if isinstance(node, Const) else node
