"""Read vectors whose length is a parameter declared before them, and check lists against such lengths.

`n_layers: int 1..4, units: vector(n_layers) of int 8..256`. The length is that parameter, or a sum, difference or
product of it and whole numbers, and never more than `MOST_LENGTH`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msl.check.domains.contains import domain_in_words
from msl.diagnostics.diagnostic import Report
from msl.diagnostics.source import Source, Span
from msl.diagnostics.suggest import did_you_mean, listing
from msl.language import ast
from msl.record import record
from msl.space.conditions import Computed, Literal, Sibling, Term
from msl.space.formulas import FACTS
from msl.space.lengths import MOST_LENGTH, lengths_of, names_in
from msl.space.names_to_text import name_to_text, term_to_text
from msl.space.nodes import Choice, Const, IntRange, Listing, Node, Param, Sized, alternatives


def names_parameter(size: ast.Expression) -> bool:
    """Whether the size of a vector names something that is not a fact of the table."""
    return any(name not in FACTS for name in _names(size))


def _names(size: ast.Node) -> Iterator[str]:
    if isinstance(size, ast.Path):
        yield size.text
    elif isinstance(size, ast.String):
        yield size.value
    elif not (isinstance(size, ast.Call) and size.braces):
        for child in ast.children(size):
            yield from _names(child) if not isinstance(size, ast.Call) or child is not size.path else ()


@record
class Lengths:
    """Reads lengths and reports what is wrong with them, in one file."""

    source: Source
    report: Report

    def term(self, size: ast.Expression) -> Term | None:
        """The length as it is computed from siblings; reported if it is anything but sums and products of these."""
        match size:
            case ast.Path():
                fact = size.text in FACTS
                if not fact:
                    return Sibling(size.text)
                message = f"`{size.text}` and a parameter cannot be combined to a length"
                self._error("MSL186", size, message, "count with the parameter and whole numbers alone")
                return None
            case ast.String(value=name):
                return Sibling(name)
            case ast.Number(value=int(value), unit=None):
                return Literal(value)
            case ast.Arithmetic(operators=operators, operands=operands) if not set(operators) & set("/"):
                total = self.term(operands[0])
                for operation, operand in zip(operators, operands[1:], strict=True):
                    other = self.term(operand)
                    total = None if total is None or other is None else Computed(operation, (total, other))
                return total
        message = f"`{self.source.slice(size.span)}` may not be a whole number"
        self._error("MSL186", size, message, "a length is a parameter with `+`, `-` or `*` and whole numbers")
        return None

    def declared(self, size: ast.Expression, owner: str, siblings: tuple[Param, ...]) -> Term | None:
        """The length in a declaration, whose siblings are the parameters before it."""
        length = self.term(size)
        if length is None or not all(self._counts(name, size, owner, siblings) for name in sorted(names_in(length))):
            return None
        return length if self.within_limits(length, siblings, size.span) else None

    def _counts(self, name: str, size: ast.Expression, owner: str, siblings: tuple[Param, ...]) -> bool:
        """Whether a name is a parameter of whole numbers."""
        known = {param.name: param.node for param in siblings}
        if name == owner:
            self._error("MSL185", size, f"`{name}` cannot tell its own length", "name a parameter before it")
            return False
        if name not in known:
            counting = [sibling for sibling, node in known.items() if _is_count(node)]
            help = did_you_mean(name, [*counting, *FACTS])
            help = help or (
                f"such parameters are {listing(counting)}" if counting else f"declare it above: `{name}: int 1..4`"
            )
            message = f"`{name}` is not a parameter declared before `{owner}`"
            self._error("MSL185", size, message, help)
            return False
        if not _is_count(known[name]):
            message = f"`{name}` is {domain_in_words(known[name])}, and a length is a whole number"
            self._error(
                "MSL186", size, message, f"declare `{name_to_text(name)}: int 1..4`, or alternatives such as `2 | 4`"
            )
            return False
        return True

    def within_limits(self, length: Term, siblings: tuple[Param, ...], span: Span) -> bool:
        """Whether every possible length is from 0 to the limit."""
        found = lengths_of(length, siblings)
        if found is None:
            message = f"how large `{term_to_text(length)}` may be depends on the table"
            help = f"bound it, as in `int 1..min({MOST_LENGTH}, n_features)`"
        elif max(found) > MOST_LENGTH:
            message = f"`{term_to_text(length)}` may be {max(found)}, and such a vector has at most {MOST_LENGTH}"
            help = "declare a smaller range, or give the vector a size that is a number"
        elif min(found) < 0:
            message = f"`{term_to_text(length)}` may be {min(found)}: there is no such length"
            help = "start the range of the parameter higher"
        else:
            return True
        self.report.error("MSL187", self.source, span, message, "", help)
        return False

    def fit(
        self, params: tuple[Param, ...], declared: tuple[Param, ...], spans: Mapping[str, Span], owner: Span
    ) -> bool:
        """Whether the lists given for vectors have the lengths that their siblings leave; reported where not."""
        sound = True
        lengths = {param.name: param.node.length for param in declared if isinstance(param.node, Sized)}
        for param in params:
            if param.name in lengths:
                span = spans.get(param.name, owner)
                sound = self._fits(param, lengths[param.name], params, span) and sound
        return sound

    def _fits(self, param: Param, length: Term, params: tuple[Param, ...], span: Span) -> bool:
        if isinstance(param.node, Sized):
            return self.within_limits(length, params, span)
        given = {_length(option) for option in alternatives(param.node)}
        if None in given:
            message = f"`{param.name}` is one vector: it has no alternatives"
            help = "put the alternatives inside: `vector(…) of (… | …)`"
            self.report.error("MSL188", self.source, span, message, "", help)
            return False
        wanted = lengths_of(length, params)
        if wanted == given and len(given) == 1:
            return True
        text, sizes = term_to_text(length), sorted(size for size in given if size is not None)
        may = "depends on the table" if not wanted else f"may be {_numbers(sorted(wanted))}"
        if wanted and len(wanted) == 1:
            may = f"is {min(wanted)}"
        message = f"a list of {_numbers(sizes)} for `{param.name}`, but `{text}` {may}"
        help = f"write as many elements as `{text}` says"
        if isinstance(length, Sibling) and len(sizes) == 1 and not (wanted and len(wanted) == 1):
            count, vector = (
                f"{name_to_text(length.name)} = {sizes[0]}",
                f"{name_to_text(param.name)}: vector({text}) of …",
            )
            help = f"fix the length with `{count}`, or write `{vector}`"
        self.report.error("MSL189", self.source, span, message, "", help)
        return False

    def _error(self, code: str, node: ast.Node, message: str, help: str) -> None:
        self.report.error(code, self.source, node.span, message, "", help)


def _is_count(node: Node) -> bool:
    options = node.options if isinstance(node, Choice) else (node,)
    return all(isinstance(o, IntRange) or (isinstance(o, Const) and type(o.value) is int) for o in options)


def _length(node: Node) -> int | None:
    match node:
        case Listing(elements=elements):
            return len(elements)
        case Const(value=tuple() as items):
            return len(items)
    return None


def _numbers(found: list[int]) -> str:
    if len(found) > 2 and found[-1] - found[0] == len(found) - 1:
        return f"{found[0]}..{found[-1]}"
    return " or ".join(map(str, found))
