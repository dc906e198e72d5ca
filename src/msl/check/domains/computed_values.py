"""Read values that follow from the parameters of a part: one of them alone, or a formula over them and the table."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice, product

from msl.check.domains.contains import Place, domain_in_words, name_of
from msl.check.domains.number_ranges import Bounds
from msl.check.names.library import Module, PartParameter
from msl.diagnostics.diagnostic import Report
from msl.language import ast
from msl.record import record
from msl.space.formulas import FACTS, FUNCTIONS, Formula, depends_on
from msl.space.nodes import (
    Bool,
    Choice,
    Computed,
    Const,
    IntRange,
    Node,
    RealRange,
    alternatives,
    bottom_up,
    follows_table,
)
from msl.space.numbers import ends
from msl.space.part_parameters import MOST_SETTINGS, NO_VALUE, domain_size, domain_values, put_in
from msl.space.values import Value


def parameters_in(expression: ast.Node, module: Module) -> list[PartParameter]:
    """The parameters of the part around it that a value or a formula uses."""
    if not module.variables:
        return []
    match expression:
        case ast.Path(names=(only,)):
            return [module.variables[only.text]] if only.text in module.variables else []
        case ast.Arithmetic(operands=operands):
            return [found for operand in operands for found in parameters_in(operand, module)]
        case ast.Negative(operand=operand):
            return parameters_in(operand, module)
        case ast.Call(path=path, arguments=arguments) if path.text in FUNCTIONS:
            return [found for argument in arguments for found in parameters_in(argument.value, module)]
    return []


@record
class ComputedValues:
    """Reads the computed values of one file; what is wrong is reported and returned as None."""

    module: Module
    report: Report

    def value(self, declared: Node, expression: ast.Expression, used: list[PartParameter], place: Place) -> Node | None:
        """The value of a parameter with this declared domain."""
        if isinstance(expression, ast.Path) and self._is_alternative(declared, expression, used[0], place):
            return None
        if not isinstance(expression, ast.Path):
            for one in used:
                if not _is_number(one.node):
                    message = f"arithmetic needs numbers, and `{one.name}` is {domain_in_words(one.node)}"
                    self._error("MSL174", expression, message, f"give `{one.name}` a range of numbers", one)
                    return None
        amount = Bounds(self.module, self.report, computes=True).amount(expression)
        if not isinstance(amount, Formula):
            return None
        if _takes_whole_alone(declared) and amount.operands and amount.operation not in ("floor", "ceil"):
            amount = Formula("floor", (amount,))
        computed = Computed(amount, declared)
        return computed if self._stays_inside(computed, expression, used, place) else None

    def _is_alternative(self, declared: Node, path: ast.Path, used: PartParameter, place: Place) -> bool:
        """Whether a word is both a parameter of the part and an alternative of the domain."""
        if used.name not in [name_of(option) for option in alternatives(declared)]:
            return False
        message = f"`{used.name}` is a parameter of `{used.part}`, and also a value of `{place.parameter}`"
        help = f'give the parameter of the part another name, or write `"{used.name}"` for the value'
        self._error("MSL183", path, message, help, used)
        return True

    def _stays_inside(
        self, computed: Computed, written: ast.Expression, used: list[PartParameter], place: Place
    ) -> bool:
        """Whether every value that can be told without a table lies in the declared domain; reported if not."""
        known = {one.variable: one for one in used}
        reals = [
            option for option in alternatives(used[0].node) if isinstance(option, RealRange) and option.step is None
        ]
        if reals and isinstance(written, ast.Path) and _takes_whole_alone(computed.within):
            self._outside(written, {used[0]: 0.5}, computed, place)
            return False
        if depends_on(computed.formula, FACTS) or any(map(follows_table, bottom_up(computed.within))):
            return True
        if any(follows_table(node) for one in used for node in bottom_up(one.node)):
            return True
        for values in islice(_samples([one.node for one in known.values()]), MOST_SETTINGS):
            if put_in(computed, dict(zip(known, values, strict=True))) == NO_VALUE:
                self._outside(written, dict(zip(known.values(), values, strict=True)), computed, place)
                return False
        return True

    def _outside(
        self, written: ast.Expression, values: dict[PartParameter, Value], computed: Computed, place: Place
    ) -> None:
        text = self.module.source.slice(written.span)
        at = " and ".join(f"`{one.name} = {_shown(value)}`" for one, value in values.items())
        target = f"{place.owner.name}.{place.parameter}"
        message = f"with {at}, `{text}` is no value of `{target}`, which is {domain_in_words(computed.within)}"
        (first, value), *_ = values.items()
        help = f"narrow `{first.name}` where `{first.part}` declares it"
        if isinstance(value, float) and isinstance(written, ast.Path) and _takes_whole_alone(computed.within):
            help = f"write `floor({text})`, or declare `{first.name}` with `int`"
        self._error("MSL173", written, message, help, first)

    def _error(self, code: str, node: ast.Node, message: str, help: str, used: PartParameter) -> None:
        self.report.error(code, self.module.source, node.span, message, "", help, (used.label,))


def _samples(domains: list[Node]) -> Iterator[tuple[Value, ...]]:
    """All values of some domains together; of an open real, and where there are too many, the ends."""
    is_long = math.prod(map(domain_size, domains)) > MOST_SETTINGS
    return product(*(_ends(domain) if is_long else domain_values(domain) or _ends(domain) for domain in domains))


def _ends(node: Node) -> list[Value]:
    match node:
        case IntRange(low=low, high=high):
            return [low, high]  # type: ignore[list-item]
        case RealRange():
            return list(ends(node))
        case Choice(options=options):
            return [value for option in options for value in _ends(option)]
    return domain_values(node) or []


def _is_number(node: Node) -> bool:
    return any(
        isinstance(option, IntRange | RealRange)
        or (isinstance(option, Const) and isinstance(option.value, int | float) and not isinstance(option.value, bool))
        for option in alternatives(node)
    ) and not any(isinstance(option, Bool) for option in alternatives(node))


def _takes_whole_alone(declared: Node) -> bool:
    kinds = [option for option in alternatives(declared) if isinstance(option, IntRange | RealRange)]
    return bool(kinds) and all(isinstance(option, IntRange) for option in kinds)


def _shown(value: Value) -> str:
    if value is None or isinstance(value, bool):
        return {None: "none", True: "true", False: "false"}[value]
    return f"{value:g}" if isinstance(value, int | float) else str(value)
