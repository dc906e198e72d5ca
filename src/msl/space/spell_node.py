"""Spell nodes: domains and whole spaces as MSL text, such as `int 1..10 log`, `a | b` and `(a & b)?`."""

from __future__ import annotations

from itertools import accumulate

from msl.space.formula import FUNCTIONS, Amount, Formula
from msl.space.node import (
    Arrange,
    BlockUse,
    Bool,
    Choice,
    Const,
    Empty,
    IntRange,
    Listing,
    Marked,
    Node,
    Param,
    Permute,
    RealRange,
    Regions,
    Repeat,
    Sequence,
    Subset,
    Symbol,
    Union,
    Vector,
    bottom_up,
)
from msl.space.spell_word import BlockNames, part_name, spell_name, spell_number
from msl.space.value import BlockValue, SymbolValue, Value
from msl.text.record import record

_SHORT_LIST = 4
#: How many characters stand between two pieces, and how many say that there are more.
_BETWEEN, _MORE = 3, 9


@record
class _Text:
    """A spelling, and the operator that holds it together: under another operator it needs parentheses."""

    text: str
    operator: str | None = None

    def under(self, operator: str | None) -> str:
        return f"({self.text})" if self.operator is not None and operator is not None else self.text


class NodeSpeller:
    """Spells nodes with one set of block names.

    `parameters` says whether blocks are shown with theirs, `parts` whether a marked part is its name alone. For people,
    `most` keeps the whole within so many characters: long lists are cut to their first pieces, and what is still too
    long becomes `…`.
    """

    def __init__(
        self, names: BlockNames, *, parameters: bool = True, parts: bool = False, most: int | None = None
    ) -> None:
        self._names, self._parameters, self._parts, self._most = names, parameters, parts, most

    def node(self, node: Node) -> str:
        texts: dict[int, _Text] = {}
        for current in bottom_up(node):
            room = self._most if current is node or self._most is None else self._most // 2
            text = self._text(current, texts, room)
            if self._most is not None and len(text.text) > self._most and current is not node:
                text = _Text("…")
            texts[id(current)] = text
        whole = texts[id(node)].text
        return whole if self._most is None or len(whole) <= self._most else whole[: self._most - 1].rstrip() + "…"

    def value(self, value: Value) -> str:
        match value:
            case None:
                return "none"
            case bool():
                return "true" if value else "false"
            case int() | float():
                return spell_number(value)
            case str():
                return spell_name(value)
            case tuple():
                return f"[{', '.join(map(self.value, value))}]"
            case SymbolValue(name=name, params=params):
                return _called(spell_name(name), self.fixed(params))
            case BlockValue(block=block, params=params):
                return _called(self._names.name(block), self.fixed(params))

    def fixed(self, params: tuple[tuple[str, Value], ...]) -> list[str]:
        """Parameters with their values, by name: one model has one spelling."""
        ordered = sorted(params, key=lambda param: param[0])
        return [f"{spell_name(name)} = {self.value(value)}" for name, value in ordered]

    # --- one node, its pieces being spelt ---

    def _text(self, node: Node, texts: dict[int, _Text], room: int | None) -> _Text:
        match node:
            case Const(value=value):
                return _Text(spell_amount(value) if isinstance(value, Formula) else self.value(value))
            case IntRange() | RealRange() | Bool():
                return _Text(_range(node))
            case Vector(size=size, element=element):
                return _Text(f"vector({spell_amount(size)}) of {self._text(element, texts, room).text}")
            case Regions(count=count):
                return _Text(f"regions({spell_amount(count)})")
            case Listing(elements=elements):
                return _Text(f"[{', '.join(texts[id(element)].text for element in elements)}]")
            case Symbol(name=name, params=params):
                return _Text(_called(spell_name(name), self._params(params, texts)))
            case BlockUse(block=block, params=params):
                return _Text(_called(self._names.name(block), self._params(params, texts)))
            case Marked(mark=mark, node=inner):
                return _Text(part_name(mark)) if self._parts else texts[id(inner)]
            case Empty():
                return _Text("none")
            case Choice(options=options):
                return _choice([texts[id(o)] for o in options if not isinstance(o, Empty)], len(options), room)
            case Sequence(steps=steps):
                return _joined(">>", [texts[id(step)] for step in steps], room)
            case Union(branches=branches):
                return _joined("&", [texts[id(branch)] for branch in branches], room)
            case Subset(members=members) | Permute(members=members):
                word = "subset" if isinstance(node, Subset) else "permute"
                shown = _cut([texts[id(member)].text for member in members], room)
                return _Text(_called(word, shown) if members else "none")
            case Arrange(low=low, high=high, members=members):
                shown = _cut([texts[id(member)].text for member in members], room)
                return _Text(_called("arrange", [f"{low}..{high}", *shown]))
            case Repeat(low=low, high=high, member=member):
                return _Text(_called("repeat", [texts[id(member)].text, f"{low}..{high}"]))

    def _params(self, params: tuple[Param, ...], texts: dict[int, _Text]) -> list[str]:
        if not self._parameters:
            return []
        signs = [" =" if is_single(param.node) else ":" for param in params]
        return [f"{spell_name(p.name)}{sign} {texts[id(p.node)].text}" for p, sign in zip(params, signs, strict=True)]


def is_single(node: Node) -> bool:
    """Whether a parameter is closed by `=`: one value, or one alternative whose own parameters may be open."""
    match node:
        case Const() | Symbol() | BlockUse():
            return True
        case Listing(elements=elements):
            return all(map(is_single, elements))
        case Marked(node=inner):
            return is_single(inner)
    return False


def spell_amount(amount: Amount) -> str:
    """A number, or a formula over the table."""
    if not isinstance(amount, Formula):
        return spell_number(amount)
    if not amount.operands:
        return amount.operation
    return spell_computed(
        amount.operation, [spell_amount(x) for x in amount.operands], list(map(_is_infix, amount.operands))
    )


def _is_infix(amount: Amount) -> bool:
    return isinstance(amount, Formula) and bool(amount.operands) and amount.operation not in FUNCTIONS


def spell_computed(operation: str, operands: list[str], infix: list[bool]) -> str:
    """A function call, or an operator between operands; `infix` says which operands need parentheses."""
    if operation in FUNCTIONS:
        return _called(operation, operands)
    grouped = [f"({text})" if wrap else text for text, wrap in zip(operands, infix, strict=True)]
    return f"-{grouped[0]}" if len(grouped) == 1 else f" {operation} ".join(grouped)


def _range(node: IntRange | RealRange | Bool) -> str:
    match node:
        case Bool():
            return "bool"
        case IntRange(low=low, high=high, log=log, step=step):
            return f"int {_end(low)}..{_end(high)}{' log' * log}" + (f" step {step}" if step != 1 else "")
        case RealRange(low=low, high=high, log=log, step=real_step):
            ends = f"real {_end(low)}..{_end(high)}{' log' * log}"
            return ends if real_step is None else f"{ends} step {_end(real_step)}"


def _end(amount: Amount) -> str:
    """An end of a range, whose kind is written before it."""
    return spell_amount(amount).removesuffix(".0")


def _choice(options: list[_Text], alternatives: int, room: int | None) -> _Text:
    """Alternatives; with `none` among steps, an optional choice of the others."""
    if len(options) == alternatives:
        return _joined("|", options, room)
    if not options:
        return _Text("none")
    inner = _joined("|", options, room)
    is_optional = len(options) == 1 and (inner.text.endswith("?") or inner.text == "none")
    return inner if is_optional else _Text(inner.under("?") + "?")


def _joined(operator: str, texts: list[_Text], room: int | None) -> _Text:
    if not texts:
        return _Text("none")
    if len(texts) == 1:
        return texts[0]
    return _Text(f" {operator} ".join(_cut([text.under(operator) for text in texts], room)), operator)


def _cut(texts: list[str], room: int | None) -> list[str]:
    """A list that fits its room: its first pieces and how many more there are."""
    lengths = list(accumulate(len(text) + _BETWEEN for text in texts))
    if room is None or len(texts) < _SHORT_LIST or lengths[-1] <= room + _BETWEEN:
        return texts
    kept = sum(length <= room - _MORE for length in lengths)
    return [*texts[:kept], f"… {len(texts) - kept} more"]


def _called(name: str, arguments: list[str]) -> str:
    return f"{name}({', '.join(arguments)})" if arguments else name
