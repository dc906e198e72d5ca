"""Read ranges such as `int 1..10` or `real 1e-4..1 log`, and the numbers and formulas of their bounds."""

from __future__ import annotations

import math
from dataclasses import replace

from msl.check.names.library import Module
from msl.diagnostics.diagnostic import Report
from msl.diagnostics.suggest import did_you_mean, listing
from msl.language import ast
from msl.record import record
from msl.space.formulas import FACTS, FUNCTIONS, OPERANDS, Amount, Formula, fold
from msl.space.nodes import IntRange, Prior, RealRange
from msl.space.numbers import LARGEST_REAL, excess

_SCALE_RATIO = 1000
_LESS = "write a smaller range, or a larger step"


@record
class Ranges:
    """Reads the ranges of one file; what is wrong is reported and returned as None."""

    module: Module
    report: Report

    def range(self, written: ast.Range, inherited: IntRange | RealRange | None = None) -> IntRange | RealRange | None:
        """A range; without a kind it inherits the kind, scale and step of the declared one."""
        kind = written.kind or (None if inherited is None else "int" if isinstance(inherited, IntRange) else "real")
        if kind is None:
            text = self.module.source.slice(written.span)
            message = "`int` or `real` is missing before this range"
            self._error("MSL081", written, message, f"write `int {text}` or `real {text}`")
            return None
        bounds = Bounds(self.module, self.report)
        low, high = bounds.amount(written.low), bounds.amount(written.high)
        step = None if written.step is None else bounds.amount(written.step)
        if low is None or high is None or (written.step is not None and step is None):
            return None
        inherits = written.kind is None and inherited is not None
        log = written.log or (inherits and inherited is not None and inherited.log and written.step is None)
        if not self._bounds_fit(written, kind, low, high, log) or self._is_excessive(
            written, kind, low, high, log, step
        ):
            return None
        prior = inherited.prior if inherits and inherited is not None else None
        if written.prior is not None:
            prior = Priors(self.module, self.report).prior(written.prior, low, high, log)
            if prior is None:
                return None
        node = self._stepped(written, kind, low, high, log, step, inherited if inherits else None)
        return node if node is None or prior is None else replace(node, prior=prior)

    def _stepped(
        self,
        written: ast.Range,
        kind: str,
        low: Amount,
        high: Amount,
        log: bool,
        step: Amount | None,
        inherited: IntRange | RealRange | None,
    ) -> IntRange | RealRange | None:
        """The range with its own step, or with the inherited one."""
        if kind == "int":
            own = 1 if step is None else self._whole_step(written, step)
            if own is None:
                return None
            if step is None and isinstance(inherited, IntRange) and not log:
                own = inherited.step
            return self._stepped_int(written, low, high, log, own)
        if step is None and isinstance(inherited, RealRange) and not log:
            step = inherited.step
        return self._stepped_real(written, low, high, log, step)

    def _bounds_fit(self, written: ast.Range, kind: str, low: Amount, high: Amount, log: bool) -> bool:
        if kind == "int":
            for amount, where in ((low, written.low), (high, written.high)):
                if isinstance(amount, float):
                    message = f"the ends of an `int` range are integers, but this is {self._text(where)}"
                    self._error("MSL086", written, message, self._whole_ends(written, low, high))
                    return False
        if not isinstance(low, Formula) and not isinstance(high, Formula) and low > high:
            first, last = self._text(written.low), self._text(written.high)
            help = f"write `{self._with_ends(written, last, first)}`"
            self._error("MSL082", written, f"this range is empty: {first} is above {last}", help)
            return False
        if log and written.step is not None:
            self._error("MSL084", written, "`log` and `step` exclude each other", "keep one of them")
            return False
        if log and not isinstance(low, Formula) and low <= 0:
            message = f"`log` needs a low end above 0, but this is {self._text(written.low)}"
            self._error("MSL083", written.low, message, "start above 0, such as at `1e-4`, or leave `log` out")
            return False
        return True

    def _is_excessive(
        self, written: ast.Range, kind: str, low: Amount, high: Amount, log: bool, step: Amount | None
    ) -> bool:
        """Whether a range is larger or finer than the limits of the language."""
        size = None if isinstance(step, Formula) or step is None or step <= 0 else step
        whole = kind == "int"
        node = IntRange(low, high, log, max(1, int(size or 1))) if whole else RealRange(low, high, log, size)
        too_much = excess(node)
        if too_much is not None:
            self._error("MSL102", written, f"this range is too large to be searched: {too_much}", _LESS)
        return too_much is not None

    def _whole_step(self, written: ast.Range, step: Amount) -> int | None:
        if isinstance(step, int) and step > 0:
            return step
        assert written.step is not None
        self._error("MSL085", written.step, "the step of an `int` range is an integer from 1", "write `2`, or another")
        return None

    def _stepped_int(self, written: ast.Range, low: Amount, high: Amount, log: bool, step: int) -> IntRange:
        if isinstance(low, int) and isinstance(high, int) and (high - low) % step:
            self._does_not_fit(written, low, high, step, high - (high - low) % step)
            high -= (high - low) % step
        return IntRange(low, high, log, step)

    def _stepped_real(
        self, written: ast.Range, low: Amount, high: Amount, log: bool, step: Amount | None
    ) -> RealRange | None:
        if step is None:
            self._suggest_log(written, low, high, log)
            return RealRange(low, high, log)
        if isinstance(step, Formula) or step <= 0:
            assert written.step is not None
            self._error("MSL085", written.step, "a step is a number above 0", "write `0.1`, or another")
            return None
        if not isinstance(low, Formula) and not isinstance(high, Formula):
            steps = (high - low) / step
            if abs(steps - round(steps)) > 1e-9 * max(1.0, steps):
                last = low + math.floor(steps) * step
                self._does_not_fit(written, low, high, step, float(f"{last:.12g}"))
                high = float(f"{last:.12g}")
        return RealRange(low, high, log, float(step))

    def _does_not_fit(self, written: ast.Range, low: Amount, high: Amount, step: float, last: float) -> None:
        message = f"the step {step} does not divide {low}..{high}: the last value is {last}"
        help = f"write `{self._with_ends(written, self._text(written.low), last)}`"
        self.report.warning("MSL221", self.module.source, written.span, message, "", help)

    def _suggest_log(self, written: ast.Range, low: Amount, high: Amount, log: bool) -> None:
        if log or isinstance(low, Formula) or isinstance(high, Formula) or low <= 0:
            return
        if high / low >= _SCALE_RATIO:
            ends = "..".join(self.module.source.slice(end.span) for end in (written.low, written.high))
            message = f"`{ends}` spans {math.log10(high / low):.0f} orders of magnitude without `log`"
            label = "nearly all samples fall in the top tenth"
            if written.prior is not None:
                label = "a step of the search is nothing at the top and too much at the bottom"
            self.report.warning("MSL222", self.module.source, written.span, message, label, "add `log`")

    def _whole_ends(self, written: ast.Range, low: Amount, high: Amount) -> str:
        """What to write for an `int` range with a fractional end."""
        or_real = ", or `real`" if written.kind is not None else ""
        if isinstance(low, Formula) or isinstance(high, Formula) or math.ceil(low) > math.floor(high):
            return f"write integers{or_real}"
        return f"write `{self._with_ends(written, math.ceil(low), math.floor(high))}`{or_real}"

    def _with_ends(self, written: ast.Range, low: object, high: object) -> str:
        """The text of the range with other ends."""
        text, start = self._text(written), written.span.start
        return f"{text[: written.low.span.start - start]}{low}..{high}{text[written.high.span.end - start :]}"

    def _text(self, node: ast.Node) -> str:
        return self.module.source.slice(node.span)

    def _error(self, code: str, node: ast.Node, message: str, help: str) -> None:
        self.report.error(code, self.module.source, node.span, message, "", help)


# --- priors and weights: where draws fall, whatever is in the space ---------------------------------------------------


#: What other languages call sizes of a table, and functions of numbers.
_FACTS_MEANT = {
    **dict.fromkeys("n_columns n_cols n_feats num_features columns features".split(), "n_features"),
    **dict.fromkeys("n_rows n_observations num_samples rows samples nrow".split(), "n_samples"),
    **dict.fromkeys("n_labels num_classes classes".split(), "n_classes"),
}
_FUNCTIONS_MEANT = {
    "round": "write `floor(… + 0.5)`",
    "ln": "write `log(…)`, the natural logarithm",
    "log2": "write `log(…) / log(2)`",
    "log10": "write `log(…) / log(10)`",
    "pow": "write the power with `^`",
    "exp": "write `2.718281828 ^ …`",
    "abs": "write `max(…, -…)`",
}


#: The priors, and what their two numbers are called.
PRIORS = {"normal": ("mean", "sd"), "lognormal": ("median", "sigma")}
_EXAMPLES = {"normal": "normal(0.5, 0.1)", "lognormal": "lognormal(0.01, 2)"}
_FORMS = "`normal(mean, sd)` and `lognormal(median, sigma)`"
#: Distributions of other tools: those with the numbers of `normal`, those with others, and what needs no prior.
_SAME_AS_NORMAL = frozenset("gaussian gauss norm Normal".split())
_LIKE_NORMAL = frozenset("truncnorm qnormal".split())
_LIKE_LOGNORMAL = frozenset("lognorm log_normal qlognormal LogNormal".split())
_UNIFORM = frozenset("uniform quniform Uniform".split())
_LOG_UNIFORM = frozenset("loguniform log_uniform qloguniform reciprocal".split())
#: What other tools call the numbers of a prior.
_NUMBERS_MEANT = {
    "normal": {**dict.fromkeys(("mu", "loc"), "mean"), **dict.fromkeys(("sigma", "scale", "std", "stddev"), "sd")},
    "lognormal": dict.fromkeys(("s", "sd", "std"), "sigma"),
}


@record
class Priors:
    """Reads the priors of ranges and the weights of alternatives in one file."""

    module: Module
    report: Report

    def prior(self, call: ast.Call, low: Amount, high: Amount, log: bool) -> Prior | None:
        """`normal(0.5, 0.1)` behind a range from `low` to `high`."""
        kind = call.path.text
        if kind not in PRIORS:
            self._error("MSL158", call, f"`{kind}` is not a prior", self._meant(call, log))
            return None
        if kind == "normal" and log:
            message = "`normal` on a logarithmic range: is the value normal, or its logarithm?"
            centre = self.module.source.slice(call.arguments[0].value.span) if call.arguments else "median"
            help = f"for the logarithm write `lognormal({centre}, sigma)`; for the value leave `log` out"
            self._error("MSL158", call, message, help)
            return None
        if kind == "lognormal" and not isinstance(low, Formula) and low <= 0:
            message = f"`lognormal` needs a range above 0, but this starts at {low}"
            self._error("MSL158", call, message, "start the range above 0, or use `normal(mean, sd)`")
            return None
        given = self._numbers(call, kind)
        if given is None:
            return None
        self._warn_outside(call, kind, given[0], low, high)
        return Prior(kind, *given)

    def _meant(self, call: ast.Call, log: bool) -> str:
        """The help for a distribution that MSL does not have, or calls by another name."""
        kind, source = call.path.text, self.module.source
        if kind in _UNIFORM:
            return "remove it: draws from a range are uniform"
        if kind in _LOG_UNIFORM:
            return "remove it: draws from a range with `log` are uniform in the logarithm" if log else "write `log`"
        if kind in _SAME_AS_NORMAL and [argument.key for argument in call.arguments] == [None, None]:
            return f"write `normal({', '.join(source.slice(argument.span) for argument in call.arguments)})`"
        if kind in _SAME_AS_NORMAL | _LIKE_NORMAL:
            return f"the prior is `normal(mean, sd)`, as in `{_EXAMPLES['normal']}`"
        if kind in _LIKE_LOGNORMAL:
            return "the prior is `lognormal(median, sigma)`, whose median is the value itself, not its logarithm"
        return did_you_mean(kind, PRIORS) or f"the priors are {_FORMS}"

    def _wrong_number(self, argument: ast.Argument, kind: str, name: str | None) -> None:
        """Report an argument of a prior that is not one of its two numbers."""
        names, value = PRIORS[kind], self.module.source.slice(argument.value.span)
        meant = name if name in names else _NUMBERS_MEANT[kind].get(name or "")
        message = f"`{name}` is not a number of `{kind}`"
        help = f"its numbers are its {names[0]} and its {names[1]}, as in `{_EXAMPLES[kind]}`"
        if name is None:
            message = f"`{kind}` takes two numbers, and this is another one"
        elif argument.opens and name in names:
            message, help = f"the {name} of a prior is one number", f"write `{name} = {value}`"
        elif name in names:
            message, help = f"the {name} of this prior is given twice", "remove it"
        elif meant is not None:
            help = f"write `{meant} = {value}`"
        self._error("MSL158", argument, message, help)

    def _numbers(self, call: ast.Call, kind: str) -> tuple[Amount, Amount] | None:
        """The two numbers of a prior, by place or by name."""
        names = PRIORS[kind]
        given: dict[str, ast.Expression] = {}
        for place, argument in enumerate(call.arguments):
            name = argument.key.text if argument.key is not None else names[place] if place < 2 else None
            if name not in names or name in given or argument.opens:
                self._wrong_number(argument, kind, name)
                return None
            given[name] = argument.value
        missing = [name for name in names if name not in given]
        if missing:
            message = f"`{kind}` needs its {' and its '.join(missing)}"
            self._error("MSL158", call, message, f"write two numbers, as in `{_EXAMPLES[kind]}`")
            return None
        bounds = Bounds(self.module, self.report)
        centre, spread = (bounds.amount(given[name]) for name in names)
        if centre is None or spread is None:
            return None
        for amount, name in ((centre, names[0]), (spread, names[1])):
            if name != "mean" and not isinstance(amount, Formula) and not amount > 0:
                text = self.module.source.slice(given[name].span)
                help = "write a number above 0"
                if name == "median":
                    help = "the median is the value itself, not its logarithm: write a number above 0"
                self._error("MSL158", given[name], f"the {name} of `{kind}` is above 0, but this is {text}", help)
                return None
        return centre, spread

    def _warn_outside(self, call: ast.Call, kind: str, centre: Amount, low: Amount, high: Amount) -> None:
        if any(isinstance(amount, Formula) for amount in (centre, low, high)) or low <= centre <= high:  # type: ignore[operator]
            return
        end = low if centre < low else high  # type: ignore[operator]
        name = PRIORS[kind][0]
        message = f"the {name} of this prior is outside the range: most draws are near {end}"
        help = f"move the {name} into the range, or widen the range"
        self.report.warning("MSL245", self.module.source, call.span, message, "", help)

    def weights(self, written: ast.Choice) -> list[float] | None:
        """The weights of alternatives, those of nested ones multiplied; None if one is wrong."""
        found: list[float] = []
        for item, weight in zip(written.items, written.weights or (None,) * len(written.items), strict=True):
            own = 1.0 if weight is None else self._weight(weight)
            inner = self.weights(item) if isinstance(item, ast.Choice) else [1.0]
            if own is None or inner is None:
                return None
            found += [own * one for one in inner]
        return found

    def _weight(self, written: ast.Expression) -> float | None:
        amount = Bounds(self.module, self.report).amount(written)
        if amount is None:
            return None
        text = self.module.source.slice(written.span)
        if isinstance(amount, Formula):
            message = f"a weight is a plain number, but `{text}` depends on the table"
            self._error("MSL159", written, message, "write a number above 0")
            return None
        if not amount > 0:
            help = "to exclude an alternative, remove it" if amount == 0 else "write a number above 0"
            self._error("MSL159", written, f"a weight is above 0, but this is {text}", help)
            return None
        return float(amount)

    def _error(self, code: str, node: ast.Node, message: str, help: str) -> None:
        self.report.error(code, self.module.source, node.span, message, "", help)


# --- bounds: numbers, and formulas over the size of the table ---------------------------------------------------------


@record
class Bounds:
    """Reads numbers and formulas in one file; anything else is reported and returned as None.

    Where a value is computed, the parameters of the part around it may be used.
    """

    module: Module
    report: Report
    computes: bool = False

    def amount(self, expression: ast.Condition) -> Amount | None:
        """A number, or a formula if it depends on the table."""
        match expression:
            case ast.Number(value=value, unit=unit):
                if unit is not None:
                    message = f"`{expression.text}` has a unit, but a plain number is needed here"
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
            case ast.Path(names=(only,)) if only.text in self.module.variables:
                used = self.module.variables[only.text]
                if self.computes:
                    return Formula(used.variable)
                message = f"`{used.name}` is a parameter of `{used.part}`, and no range or size can depend on it"
                help = f"give it as a value, as in `parameter = {used.name}`"
                self.report.error("MSL177", self.module.source, expression.span, message, "", help, (used.label,))
                return None
            case ast.Path():
                names = [*self.module.variables, *FACTS] if self.computes else [*FACTS]
                close = did_you_mean(expression.text, [*names, *FUNCTIONS])
                if expression.text in _FACTS_MEANT:
                    close = f"did you mean `{_FACTS_MEANT[expression.text]}`?"
                message = f"`{expression.text}` is not a number"
                what = "a formula here" if self.computes else "a bound"
                self._error("MSL080", expression, message, close or f"{what} may use {listing(names)}")
                return None
        self._error("MSL080", expression, "a number is needed here", "write a number, or a formula of `n_features`")
        return None

    def whole(self, expression: ast.Expression) -> int | None:
        """An integer that does not depend on the table."""
        amount = self.amount(expression)
        if amount is None:
            return None
        if not isinstance(amount, int):
            self._error("MSL086", expression, "an integer is needed here", "write it with digits only")
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
            help = _FUNCTIONS_MEANT.get(name) or did_you_mean(name, FUNCTIONS) or f"functions are {listing(FUNCTIONS)}"
            self._error("MSL080", call.path, f"`{name}` is not a function of numbers", help)
            return None
        count = OPERANDS[name]
        if any(argument.key is not None for argument in call.arguments) or not call.arguments:
            self._error("MSL080", call, f"`{name}` takes numbers", f"write `{name}(…)` with numbers inside")
            return None
        if count is not None and len(call.arguments) != count:
            self._error("MSL080", call, f"`{name}` takes {count} number, not {len(call.arguments)}", "remove the rest")
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
                message = f"the value is larger than {LARGEST_REAL:g}, the limit for formulas"
                self._error("MSL102", expression, message, "write a smaller number")
                return None
            return amount
        except (ArithmeticError, ValueError) as wrong:
            text = self.module.source.slice(expression.span)
            if operation == "^" and isinstance(wrong, OverflowError):
                help = "write a smaller exponent" if operands[1] > 0 else "write an exponent nearer to 0"  # type: ignore[operator]
                self._error("MSL102", expression, f"`{text}` is beyond the limit for formulas", help)
                return None
            help = "look for a division by zero or the root of a negative number"
            if operation == "^":
                help = "a negative number has whole powers only, and 0 no negative ones"
            self._error("MSL080", expression, f"`{text}` has no value", help)
            return None

    def _error(self, code: str, node: ast.Node, message: str, help: str) -> None:
        self.report.error(code, self.module.source, node.span, message, "", help)
