"""Read the parameters that parts declare, and check how their steps use them."""

from __future__ import annotations

import math
from dataclasses import replace

from msl.check.domains.contains import Owner
from msl.check.names.block_declarations import Blocks
from msl.check.names.library import Declaration, Module, PartParameter
from msl.diagnostics.diagnostic import Label, Report
from msl.language import ast
from msl.record import record
from msl.space.defaults import closed, default_node
from msl.space.formulas import FACTS, FUNCTIONS, Formula, depends_on, limits, rises_or_falls
from msl.space.nodes import (
    Bool,
    Computed,
    Const,
    IntRange,
    Marked,
    Node,
    Param,
    RealRange,
    Symbol,
    alternatives,
    bottom_up,
    bounds,
    follows_table,
)
from msl.space.numbers import evenly_spaced, level_count
from msl.space.part_parameters import (
    MOST_SETTINGS,
    TooManySettings,
    awaits,
    domain_size,
    is_single_value,
    put_in,
    settings,
    variable,
)


@record
class PartDeclarations:
    """Reads the parameters of parts; what is wrong is reported and returned as None."""

    blocks: Blocks
    report: Report

    def declared(self, declaration: Declaration) -> tuple[Param, ...] | None:
        """The parameters of a part; none for a part without any."""
        node, module = declaration.node, declaration.module
        if not isinstance(node, ast.Part) or node.parameters is None:
            return ()
        if not node.parameters:
            message = f"`{declaration.name}` declares no parameters between its parentheses"
            self._error("MSL180", node.name, module, message, f"write `part {declaration.name} = …`")
            return None
        before = len([one for one in self.report.diagnostics if one.is_error])
        written = {argument.key.text: argument for argument in node.parameters if argument.key is not None}
        for argument in node.parameters:
            self._has_domain(argument, module)
        params = self.blocks.declarer(module).params(tuple(map(_plain, node.parameters)), declaration.name)
        params = self.blocks.with_defaults(params, node.parameters, module, declaration.name)
        for param in params:
            self._is_allowed(param, written[param.name], declaration)
        return params if len([one for one in self.report.diagnostics if one.is_error]) == before else None

    def scope(self, declaration: Declaration, params: tuple[Param, ...]) -> Module:
        """The file of a part, in which the parameters of the part have a meaning."""
        if not params:
            return declaration.module
        labels = self.labels(declaration)
        found = {
            param.name: PartParameter(
                declaration.name, param.name, variable(declaration.mark, param.name), param.node, labels[param.name]
            )
            for param in params
        }
        return replace(declaration.module, variables=found)

    def labels(self, declaration: Declaration) -> dict[str, Label]:
        """Where each parameter of a part is declared."""
        node = declaration.node
        fields = node.parameters if isinstance(node, ast.Part) else None
        source = declaration.module.source
        return {f.key.text: Label(source, f.span, "declared here") for f in fields or () if f.key is not None}

    def call(
        self, part: Marked, declaration: Declaration, call: ast.Call, module: Module, closes: bool = False
    ) -> Marked | None:
        """A use of a part with arguments; where it `closes`, only they can be open."""
        if not all(self._is_searched(argument, module) for argument in call.arguments):
            return None
        owner = Owner(declaration.name, "parameter", self.labels(declaration), call.path.text)
        params = self.blocks.narrower(module).params(part.params, call.arguments, owner, call.span, closes)
        if params is None:
            return None
        values = {variable(part.mark, p.name): p.node.value for p in params if isinstance(p.node, Const)}
        plain = {name: value for name, value in values.items() if not isinstance(value, Formula)}
        steps = put_in(part.node, plain)
        return Marked(part.mark, closed(steps) if closes else steps, params)

    # --- declarations ---

    def _has_domain(self, argument: ast.Argument, module: Module) -> None:
        if argument.key is None:
            return  # reported with the others
        name = argument.key.text
        if not argument.opens:
            text = module.source.slice(argument.value.span)
            message = f"`{name}` has a value here, but a parameter of a part has a domain"
            help = f"write `{name}: int 1..10 default {text}`, with the domain that it may have"
            self._error("MSL172", argument, module, message, help)
        elif argument.condition is not None:
            message = "a parameter of a part is always there: it takes no `if`"
            self._error("MSL172", argument.condition, module, message, "remove it, or write two parts")
        elif not self._is_searched(argument, module):
            return
        elif name in FACTS or name in FUNCTIONS:
            what = "a size of the table" if name in FACTS else "a function of numbers"
            self._error("MSL179", argument.key, module, f"`{name}` is {what} in formulas", "choose another name")

    def _is_searched(self, argument: ast.Argument, module: Module) -> bool:
        if argument.best is None:
            return True
        message = "a parameter of a part takes no `best`"
        help = "`best` goes before the range of a parameter of a block"
        self._error("MSL172", argument.best, module, message, help)
        return False

    def _is_allowed(self, param: Param, written: ast.Argument, declaration: Declaration) -> None:
        for option in alternatives(param.node):
            if isinstance(option, (IntRange | RealRange | Bool, Const)):
                continue
            if isinstance(option, Symbol) and not option.params:
                continue
            message = f"`{param.name}` of `{declaration.name}` must be a number, `bool` or plain alternatives"
            help = "blocks, lists and alternatives with parameters of their own belong in the steps of the part"
            self._error("MSL171", written.value, declaration.module, message, help)
            return

    # --- what the steps do with them ---

    def check_uses(self, part: Marked, declaration: Declaration) -> bool:
        """Whether each parameter is used in a way that can be searched; reported if not."""
        module, node = declaration.module, declaration.node
        assert isinstance(node, ast.Part)
        sound = True
        formulas = [n.formula for n in bottom_up(part.node) if isinstance(n, Computed)]
        for param in part.params:
            name = variable(part.mark, param.name)
            own = [formula for formula in formulas if depends_on(formula, (name,))]
            where = next(a for a in node.parameters or () if a.key is not None and a.key.text == param.name)
            if not own:
                assert where.key is not None
                message = f"`{param.name}` is declared, but the steps of `{declaration.name}` do not use it"
                help = f"give it to a block, as in `block(parameter = {param.name})`, or remove it"
                self._error("MSL170", where.key, module, message, help)
                sound = False
            elif _has_open_real(param.node) and not is_single_value(part, param.name):
                others = [variable(part.mark, p.name) for p in part.params if p is not param and _has_open_real(p.node)]
                if not all(_is_cut(formula, name, others) for formula in own):
                    self._cannot_be_solved(where, param, declaration)
                    sound = False
                elif not all(rises_or_falls(formula, name, _intervals(part)) for formula in own):
                    self._turns(where, param, declaration)
                    sound = False
        return self._are_few(part, declaration, sound) and sound

    def _cannot_be_solved(self, where: ast.Argument, param: Param, declaration: Declaration) -> None:
        source = declaration.module.source
        message = (
            f"the real `{param.name}` can be one value of a model, or count within `floor` and `ceil`, and here it "
            "does more"
        )
        text = " ".join(source.slice(where.value.span).split())
        help = f"give it a step, as in `{param.name}: real 0..1 step 0.01`; `{text}` has infinitely many values"
        if isinstance(param.node, RealRange) and param.node.log:
            values = " | ".join(f"{float(f'{value:.2g}'):g}" for value in evenly_spaced(param.node, 5))
            help = f"list values, as in `{param.name}: {values}`; `{text}` has infinitely many"
        self.report.error("MSL175", source, where.span, message, "", help)

    def _turns(self, where: ast.Argument, param: Param, declaration: Declaration) -> None:
        """A formula with a gap or a turn within the range: its values are then not found by halving the range."""
        source = declaration.module.source
        message = (
            f"a formula over the real `{param.name}` must have a value, and rise or fall, throughout its range: here "
            "it may divide by 0, leave the numbers, or turn"
        )
        text = " ".join(source.slice(where.value.span).split())
        help = f"end the range before that point, or give it a step, as in `{text} step 0.01`"
        self.report.error("MSL175", source, where.span, message, "", help)

    def _are_few(self, part: Marked, declaration: Declaration, can_be_cut: bool) -> bool:
        tied = [p for p in part.params if not is_single_value(part, p.name) and not _waits(p.node)]
        count = math.prod(domain_size(param.node) for param in tied)
        if count <= MOST_SETTINGS and (not can_be_cut or self._are_few_pieces(part, tied)):
            return True
        known = f"{count:,} combinations, over" if count > MOST_SETTINGS else "more combinations than"
        message = f"the parameters of `{declaration.name}` have {known} {MOST_SETTINGS:,}"
        help = "narrow the ranges, or give them a larger `step`"
        self._error("MSL176", declaration.node.name, declaration.module, message, help)
        return False

    def _are_few_pieces(self, part: Marked, tied: list[Param]) -> bool:
        """Whether the pieces into which formulas cut open reals are few, as far as no table is needed."""
        if not any(map(_has_open_real, (param.node for param in tied))) or awaits(part):
            return True
        params = tuple(p if p in tied else replace(p, node=default_node(p)) for p in part.params)
        try:
            settings(replace(part, params=params))
        except TooManySettings:
            return False
        return True

    def _error(self, code: str, where: ast.Node, module: Module, message: str, help: str) -> None:
        self.report.error(code, module.source, where.span, message, "", help)


def _plain(argument: ast.Argument) -> ast.Argument:
    return replace(argument, condition=None)


def _waits(node: Node) -> bool:
    return any(follows_table(option) for option in alternatives(node))


def _has_open_real(node: Node) -> bool:
    return any(
        isinstance(option, RealRange) and (follows_table(option) or level_count(option) is None)
        for option in alternatives(node)
    )


def _intervals(part: Marked) -> dict[str, tuple[float, float]]:
    """Between which numbers each parameter of a part lies, whatever the table."""
    found = {}
    for param in part.params:
        ends = [end for option in alternatives(param.node) for end in bounds(option) or ()]
        if ends:
            name = variable(part.mark, param.name)
            found[name] = min(limits(end)[0] for end in ends), max(limits(end)[1] for end in ends)
    return found


def _is_cut(formula: Formula, name: str, others: list[str]) -> bool:
    """Whether a formula has finitely many values for a real, which it mentions once."""
    return not depends_on(formula, others) and _is_stepped(formula, name) and _times(formula, name) == 1


def _is_stepped(amount: object, name: str) -> bool:
    if not isinstance(amount, Formula):
        return True
    if not amount.operands:
        return amount.operation != name
    return amount.operation in ("floor", "ceil") or all(_is_stepped(operand, name) for operand in amount.operands)


def _times(amount: object, name: str) -> int:
    """How often a formula mentions a name."""
    if not isinstance(amount, Formula):
        return 0
    if not amount.operands:
        return amount.operation == name
    return sum(_times(operand, name) for operand in amount.operands)
