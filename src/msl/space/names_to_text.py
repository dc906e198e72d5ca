"""Write names, numbers and formulas as MSL text, each in the shortest form that reads back as the same."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection
from pathlib import PurePath

from msl.space.column_selectors import ON
from msl.space.conditions import Computed as ComputedTerm
from msl.space.conditions import Literal, Sibling, Term
from msl.space.formulas import FUNCTIONS, Amount, Formula
from msl.space.values import BlockType

#: Words that cannot stand as a name without quotes.
RESERVED = frozenset(
    "msl use data block part chain require minimize maximize search ensemble budget seed "
    "as for by then if and or not is any none true false default int real bool log step vector of".split()
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CATALOGUE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)( [0-9]+)?")
_SMALL_EXPONENT, _LARGE_EXPONENT = -3, 5


def is_identifier(text: str) -> bool:
    """Whether a name can stand without quotes."""
    return _IDENTIFIER.fullmatch(text) is not None and text not in RESERVED


def name_to_text(text: str) -> str:
    """A parameter or an alternative by its name, quoted where it must be."""
    return text if is_identifier(text) else quoted(text)


def quoted(text: str) -> str:
    """A text between quotes, with escapes for what a line cannot hold."""
    body = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in body) + '"'


def number_to_text(number: int | float) -> str:
    """The shortest text that reads back as the same number, and as an integer or a real as it is."""
    if isinstance(number, int):
        return str(number)
    if not math.isfinite(number):
        raise ValueError(f"{number} has no spelling in MSL: only finite numbers can be written")
    plain = repr(number)
    if "e" in plain:
        digits, _, exponent = plain.partition("e")
        return f"{digits}e{int(exponent)}"
    exponential = _exponential(plain)
    return exponential if exponential is not None and len(exponential) < len(plain) else plain


def _exponential(plain: str) -> str | None:
    """A very small or very large plain number as digits and a power of ten."""
    sign, digits = ("-", plain[1:]) if plain.startswith("-") else ("", plain)
    whole, _, fraction = digits.partition(".")
    significant = (whole + fraction).strip("0")
    if not significant:
        return None
    leading = len(whole) - 1 if whole != "0" else -1 - (len(fraction) - len(fraction.lstrip("0")))
    if _SMALL_EXPONENT < leading < _LARGE_EXPONENT:
        return None
    mantissa = significant[0] + ("." + significant[1:] if len(significant) > 1 else "")
    return f"{sign}{mantissa}e{leading}"


def part_name(mark: str) -> str:
    """A marked part as its file calls it; a mark may begin with the file."""
    return mark.rpartition(":")[2]


class BlockNames:
    """How blocks are called: by name alone, or with their origin where the name says too little."""

    def __init__(self, blocks: Collection[BlockType] = (), ambiguous: Collection[str] = ()) -> None:
        blocks = [block for block in blocks if block != ON]
        self.origins = list(dict.fromkeys(block.origin for block in blocks))
        self.qualifiers = _qualifiers(self.origins)
        homes: dict[str, set[str]] = defaultdict(set)
        for block in blocks:
            homes[block.name].add(block.origin)
        self._ambiguous = {name for name, origins in homes.items() if len(origins) > 1} | set(ambiguous)

    def name(self, block: BlockType) -> str:
        if block.name not in self._ambiguous or block.origin not in self.qualifiers:
            return block.name
        return f"{self.qualifiers[block.origin]}.{block.name}"

    def use(self) -> str:
        """The statement that brings all these blocks into a file."""
        return "use " + ", ".join(map(self._use_item, sorted(self.origins, key=lambda o: (not is_catalogue(o), o))))

    def _use_item(self, origin: str) -> str:
        target = origin if is_catalogue(origin) else quoted(origin)
        natural, chosen = _natural_qualifier(origin), self.qualifiers[origin]
        return target if chosen == natural else f"{target} as {chosen}"


def is_catalogue(origin: str) -> bool:
    """Whether an origin is a catalogue, with or without its version, rather than a file."""
    return _CATALOGUE.fullmatch(origin) is not None


def _natural_qualifier(origin: str) -> str:
    return origin.partition(" ")[0] if is_catalogue(origin) else PurePath(origin).name.removesuffix(".msl")


def _qualifiers(origins: list[str]) -> dict[str, str]:
    """A name for each origin: the one that `use` gives it, or another where two would share it or it is no name."""
    taken: dict[str, str] = {}
    for origin in sorted(origins):
        name = re.sub(r"[^A-Za-z0-9_]+", "_", _natural_qualifier(origin)) or "blocks"
        name = name if is_identifier(name) else f"_{name}"
        number = 2
        while (qualifier := name if name not in taken else f"{name}_{number}") in taken:
            number += 1
        taken[qualifier] = origin
    return {origin: qualifier for qualifier, origin in taken.items()}


def amount_to_text(amount: Amount) -> str:
    """A number, or a formula over the table."""
    if not isinstance(amount, Formula):
        return number_to_text(amount)
    if not amount.operands:
        return part_name(amount.operation)
    return computed_to_text(
        amount.operation, [amount_to_text(x) for x in amount.operands], list(map(_is_infix, amount.operands))
    )


def _is_infix(amount: Amount) -> bool:
    return isinstance(amount, Formula) and bool(amount.operands) and amount.operation not in FUNCTIONS


def computed_to_text(operation: str, operands: list[str], infix: list[bool]) -> str:
    """A function call, or an operator between operands; `infix` says which operands need parentheses."""
    if operation in FUNCTIONS:
        return called(operation, operands)
    grouped = [f"({text})" if wrap else text for text, wrap in zip(operands, infix, strict=True)]
    if operation == "^" and grouped[0].startswith("-"):
        grouped[0] = f"({grouped[0]})"
    return f"-{grouped[0]}" if len(grouped) == 1 else f" {operation} ".join(grouped)


def term_to_text(length: Term) -> str:
    """The length of a vector: a parameter, or what is computed from such."""
    match length:
        case ComputedTerm(operation=operation, operands=operands):
            infix = [isinstance(operand, ComputedTerm) for operand in operands]
            return computed_to_text(operation, list(map(term_to_text, operands)), infix)
        case Literal(value=int(value)):
            return number_to_text(value)
        case Sibling(name=name):
            return name_to_text(name)
    raise TypeError(f"{length} does not count elements")


def called(name: str, arguments: list[str]) -> str:
    """A name with arguments in parentheses; the name alone without any."""
    return f"{name}({', '.join(arguments)})" if arguments else name
