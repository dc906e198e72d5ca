"""Bounds: numbers and formulas over the table's sizes, from the expressions that write them."""

from __future__ import annotations

from msl.check.library import Module
from msl.check.report import Report
from msl.space.extremes import LARGEST_REAL
from msl.space.formula import FACTS, FUNCTIONS, OPERANDS, Amount, Formula, fold
from msl.syntax import ast
from msl.text.record import record
from msl.text.suggest import did_you_mean, listing


@record
class Bounds:
    """Reads amounts in one file; what is no amount is reported and comes back as None."""

    module: Module
    report: Report

    def amount(self, expression: ast.Condition) -> Amount | None:
        """A number, or a formula where the table decides."""
        match expression:
            case ast.Number(value=value, unit=unit):
                if unit is not None:
                    message = f"`{expression.text}` has a unit, and a plain number is wanted here"
                    self._error("MSL080", expression, message, f"write `{value}`")
                    return None
                return value
            case ast.Negative(operand=operand):
                inner = self.amount(operand)
                return None if inner is None else self._folded(expression, "-", [inner])
            case ast.Arithmetic():
                return self._arithmetic(expression)
            case ast.Call():
                return self._function(expression)
            case ast.Path() if len(expression.names) == 1 and expression.text in FACTS:
                return Formula(expression.text)
            case ast.Path():
                close = did_you_mean(expression.text, [*FACTS, *FUNCTIONS])
                message = f"`{expression.text}` is not a number"
                self._error("MSL080", expression, message, close or f"a bound may use {listing(FACTS)}")
                return None
        self._error("MSL080", expression, "a number is wanted here", "write a number, or a formula of `n_features`")
        return None

    def whole(self, expression: ast.Expression) -> int | None:
        """A whole number that is the same for every table."""
        amount = self.amount(expression)
        if amount is None:
            return None
        if not isinstance(amount, int):
            self._error("MSL086", expression, "a whole number is wanted here", "write it with digits only")
            return None
        return amount

    def _arithmetic(self, expression: ast.Arithmetic) -> Amount | None:
        amounts = [self.amount(operand) for operand in expression.operands]
        total = amounts[0]
        for operation, operand in zip(expression.operators, amounts[1:], strict=True):
            if total is None or operand is None:
                return None
            total = self._folded(expression, operation, [total, operand])
        return total

    def _function(self, call: ast.Call) -> Amount | None:
        name = call.path.text
        if name not in FUNCTIONS:
            help = did_you_mean(name, FUNCTIONS) or f"functions are {listing(FUNCTIONS)}"
            self._error("MSL080", call.path, f"`{name}` is not a function of numbers", help)
            return None
        wanted = OPERANDS[name]
        if any(argument.key is not None for argument in call.arguments) or not call.arguments:
            self._error("MSL080", call, f"`{name}` takes numbers", f"write `{name}(…)` with numbers inside")
            return None
        if wanted is not None and len(call.arguments) != wanted:
            self._error("MSL080", call, f"`{name}` takes {wanted} number, not {len(call.arguments)}", "remove the rest")
            return None
        operands = [self.amount(argument.value) for argument in call.arguments]
        if any(operand is None for operand in operands):
            return None
        return self._folded(call, name, [operand for operand in operands if operand is not None])

    def _folded(self, expression: ast.Node, operation: str, operands: list[Amount]) -> Amount | None:
        try:
            if operation == "/" and operands[-1] == 0:
                raise ZeroDivisionError
            amount = fold(operation, operands)
            if not isinstance(amount, Formula) and not abs(amount) <= LARGEST_REAL:
                message = f"this comes to more than {LARGEST_REAL:g}, beyond which nothing is computed"
                self._error("MSL102", expression, message, "write a smaller number")
                return None
            return amount
        except (ArithmeticError, ValueError):
            text = self.module.source.slice(expression.span)
            self._error("MSL080", expression, f"`{text}` has no value", "look for a division by zero or a root of -1")
            return None

    def _error(self, code: str, node: ast.Node, message: str, help: str) -> None:
        self.report.error(code, self.module.source, node.span, message, "", help)
