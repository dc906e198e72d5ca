"""Build the space of parts and chains from their expressions, with every name resolved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from msl.check.domains.alternatives import choice
from msl.check.domains.declared import shortened
from msl.check.domains.number_ranges import Bounds, Priors
from msl.check.lints import opened_silently
from msl.check.names.block_declarations import CHAIN_ROLES, Blocks
from msl.check.names.library import BUILT_IN, Declaration, Module
from msl.check.names.names_of_other_tools import step_meant
from msl.check.names.resolve_names import find, peek
from msl.check.structure.part_declarations import PartDeclarations
from msl.check.structure.roles import NO_LEARNER, broken_paths
from msl.check.structure.table_columns import OnPlace, needs_on, read_selector
from msl.diagnostics.diagnostic import Report
from msl.diagnostics.source import Span
from msl.language import ast
from msl.language.tokens import is_identifier
from msl.space.column_selectors import on_columns
from msl.space.defaults import closed
from msl.space.nodes import (
    Arrange,
    BlockUse,
    Choice,
    Empty,
    Marked,
    Node,
    Permute,
    Repeat,
    Sequence,
    Subset,
    Union,
    bottom_up,
    can_be_empty,
    children,
)
from msl.space.values import BlockType

MOST_STEPS = 20_000
MOST_LEVELS = 120  # of nested parts and operators, far below Python's recursion limit
MOST_MEMBERS = 12
MOST_ORDERED = 10


class Spaces:
    """Builds each part once; a part that is used twice is one shared node."""

    def __init__(self, report: Report, blocks: Blocks, quiet: bool = False) -> None:
        """`quiet` omits the notes about parameters that a use opens or closes without mentioning them."""
        self.report = report
        self.quiet = quiet
        self.blocks = blocks
        blocks.steps = self
        self._parts = PartDeclarations(blocks, report)
        self.met: set[Declaration] = set()
        self._done: dict[Declaration, Node | None] = {}
        self._under_way: list[Declaration] = []
        self._levels = 0
        self._closes = False
        #: Where each step that selects columns is written, by its identity.
        self.on_places: dict[int, OnPlace] = {}
        self._selecting: list[Node] = []
        self._sizes: dict[int, tuple[Node, int, int]] = {}

    def space(self, declaration: Declaration) -> Node | None:
        """The space of a part or chain, or None if something in it is wrong."""
        self.met.add(declaration)
        if declaration in self._under_way:
            self._circle(declaration)
            return None
        if declaration not in self._done:
            node = declaration.node
            assert isinstance(node, ast.Part | ast.Chain)
            params = self._parts.declared(declaration)
            self._under_way.append(declaration)
            closes, self._closes = self._closes, False
            built = None if params is None else self.expression(node.space, self._parts.scope(declaration, params))
            self._closes = closes
            self._under_way.pop()
            if built is not None and not self._is_within_reason(built, declaration):
                built = None
            if built is not None and params is not None and declaration.kind == "part":
                built = Marked(declaration.mark, built, params)
                if params and not self._parts.check_uses(built, declaration):
                    built = None
            self._done[declaration] = built
        return self._done[declaration]

    def _is_within_reason(self, built: Node, declaration: Declaration) -> bool:
        steps, levels = self._size(built)
        if steps > MOST_STEPS:
            message = f"`{declaration.name}` has more than {MOST_STEPS:,} blocks"
            help = "use fewer repetitions and nested parts"
            self.report.error("MSL017", declaration.module.source, declaration.node.name.span, message, "", help)
        elif levels > MOST_LEVELS:
            self._too_deep(declaration)
        return steps <= MOST_STEPS and levels <= MOST_LEVELS

    def _too_deep(self, declaration: Declaration) -> None:
        message = f"`{declaration.name}` is nested too deeply"
        help = "use fewer levels of parts and parentheses"
        self.report.error("MSL017", declaration.module.source, declaration.node.name.span, message, "", help)

    def _size(self, node: Node) -> tuple[int, int]:
        """The number of blocks of a node with repetitions expanded, and its depth, without expanding it."""
        if id(node) not in self._sizes:
            below = [] if isinstance(node, BlockUse) else [self._size(child) for child in children(node)]
            steps = sum(steps for steps, _ in below) + isinstance(node, BlockUse)
            levels = 1 + max((levels for _, levels in below), default=0)
            self._sizes[id(node)] = (node, steps * node.high if isinstance(node, Repeat) else steps, levels)
        return self._sizes[id(node)][1:]

    def _circle(self, declaration: Declaration) -> None:
        start = self._under_way.index(declaration)
        circle = self._under_way[start:]
        names = " contains ".join(f"`{d.name}`" for d in [*circle, declaration])
        message = f"circular parts: {names}"
        if len(circle) == 1:
            message = f"`{declaration.name}` contains itself"
        source, span = declaration.module.source, declaration.node.name.span
        self.report.error("MSL026", source, span, message, "", "to repeat a step, use `repeat(…, 0..3)`")

    # --- learners inside blocks ---

    def learner(self, written: ast.Expression, module: Module, closes: bool, where: str) -> Node | None:
        """The steps of a learner that a block takes; what `closes` it leaves nothing open that is not said to be."""
        before = self.quiet, self._closes
        self.quiet, self._closes = True, closes
        built = self.expression(written, module)
        self.quiet, self._closes = before
        if built is None:
            return None
        faults = broken_paths(built)
        for fault, path in faults[:1]:
            message = f"a path of this value has no learner, and {where} takes one"
            if fault is not NO_LEARNER:
                message = f"{fault.problem}, in the value of {where}"
            help = "every path has exactly one learner, transformers and selectors before it, posts after it"
            self.report.error("MSL202", module.source, written.span, message, f"on the path `{path}`", help)
        return None if faults else built

    def _several(self, expression: ast.Expression, module: Module) -> None:
        text = shortened(module.source.slice(expression.span))
        message = f"`=` takes one value, and `{text}` is several"
        self._error("MSL089", expression, module, message, "use `:` in place of `=` to search them, or keep one")

    # --- expressions ---

    def expression(self, expression: ast.Expression, module: Module) -> Node | None:
        """The node of any expression written in a file."""
        if self._levels >= MOST_LEVELS:
            self._too_deep(self._under_way[-1])
            return None
        self._levels += 1
        built = self._built(expression, module)
        self._levels -= 1
        return built

    def _built(self, expression: ast.Expression, module: Module) -> Node | None:
        if self._closes and isinstance(expression, ast.Choice | ast.Optional | ast.AnyOf):
            self._several(expression, module)
            return None
        match expression:
            case ast.Path():
                return self._named(expression, module)
            case ast.Call():
                return self._call(expression, module)
            case ast.Nothing():
                return Empty()
            case ast.Choice(items=items) if expression.ordered:
                source = module.source
                message = "steps have no order: `<` is for the alternatives of a parameter"
                texts = [source.slice(item.span) for item in items]
                help = f"write `{' | '.join(texts)}` to choose, or `{' >> '.join(texts)}` for one after the other"
                self.report.error("MSL207", source, expression.span, message, "", help)
                return None
            case ast.Choice(items=items):
                options = self._all(items, module)
                weights = Priors(module, self.report).weights(replace(expression, items=tuple(map(_single, items))))
                if options is None or weights is None:
                    return None
                self._repeated_options(options, items, module)
                return choice(options, weights)
            case ast.Sequence(items=items):
                steps = self._all(items, module)
                if steps is None:
                    return None
                self._repeated_steps(steps, items, module)
                return Sequence(tuple(steps))
            case ast.Union(items=items):
                branches = self._all(items, module)
                return None if branches is None else Union(tuple(branches))
            case ast.Optional(item=item):
                inner = self.expression(item, module)
                if inner is None:
                    return None
                if can_be_empty(inner):
                    message = "this is optional already: `?` has no effect"
                    self.report.warning("MSL223", module.source, expression.span, message, "", "remove the `?`")
                return choice([inner, Empty()])
            case ast.AnyOf(role=role):
                return self._any(role, module)
            case ast.On():
                return self._on(expression, module)
        self._not_a_step(expression, module)
        return None

    def _all(self, items: tuple[ast.Expression, ...], module: Module) -> list[Node] | None:
        nodes = [self.expression(item, module) for item in items]
        return None if any(node is None for node in nodes) else [node for node in nodes if node is not None]

    def _named(self, path: ast.Path, module: Module) -> Node | None:
        if path.text in module.misnamed:
            return None
        if path.text in module.variables:
            self._value_as_step(path, module)
            return None
        if path.text in BUILT_IN:
            message = f"`{path.text}` needs arguments"
            self._error("MSL065", path, module, message, f"write `{path.text}(…)`")
            return None
        declaration = find(module, path, self.report)
        if declaration is None:
            return None
        self.met.add(declaration)
        node = self.blocks.bare(declaration) if declaration.is_block else self.space(declaration)
        if self._closes and node is not None:
            node = closed(node)
        return self._as_step(node, path, module)

    def _value_as_step(self, path: ast.Path, module: Module) -> None:
        used = module.variables[path.text]
        message = f"`{path.text}` is a parameter of `{used.part}`: a value, not a step"
        help = f"give it to a block, as in `block(parameter = {path.text})`"
        self.report.error("MSL178", module.source, path.span, message, "", help, (used.label,))

    def _call(self, call: ast.Call, module: Module) -> Node | None:
        if call.braces:
            text = module.source.slice(call.span)
            start = text.index("{", call.path.span.end - call.path.span.start)
            span = Span(call.span.start + start, call.span.end)
            help = f"write `({' '.join(text[start + 1 : -1].split())})`"
            self.report.error("MSL035", module.source, span, "arguments go in parentheses", "", help)
            return None
        if call.path.text in BUILT_IN:
            if self._closes:
                return self._several(call, module)
            return self._built_in(call, module)
        if peek(module, call.path.text) is None and (written := needs_on(call, module)) is not None:
            self._error("MSL347", call, module, "steps for some columns are written with `on`", written)
            return None
        if peek(module, call.path.text) is None and (meant := step_meant(call, module.source)) is not None:
            name = call.path.names[-1].text
            message = f"`{name}` is not a block or part: steps are joined by operators"
            self._error("MSL037", call, module, message, f"write `{meant}`")
            return None
        declaration = find(module, call.path, self.report)
        if declaration is None:
            return None
        self.met.add(declaration)
        if not declaration.is_block:
            part = self.space(declaration)
            if part is None:
                return None
            if isinstance(part, Marked) and part.params:
                return self._parts.call(part, declaration, call, module, self._closes)
            message = f"`{declaration.name}` is a {_kind(declaration)} and takes no arguments"
            help = f"declare its parameters, as in `part {declaration.name}(k: int 1..9) = …`, and give them to blocks"
            self.report.error("MSL027", module.source, call.span, message, "", help, (declaration.label,))
            return None
        use = self.blocks.call(declaration, call.arguments, module, call, not self.quiet, self._closes)
        if use is not None and not self.quiet:
            opened_silently(call, use, module, self.report)
        return self._as_step(use, call, module)

    def _as_step(self, use: Node | None, where: ast.Node, module: Module) -> Node | None:
        if isinstance(use, BlockUse) and use.block.role not in CHAIN_ROLES:
            message = f"`{use.block.name}` is a {use.block.role}, not a step of a chain"
            self._error("MSL062", where, module, message, "it can only be the value of a parameter of another block")
            return None
        return use

    def _any(self, role: ast.Path, module: Module) -> Node | None:
        options = self.blocks.blocks_of_role(module, role)
        if options is None:
            return None
        if role.names[-1].text not in CHAIN_ROLES:
            message = f"a {role.names[-1].text} is not a step of a chain"
            self._error("MSL062", role, module, message, "it can only be the value of a parameter of another block")
            return None
        return choice(list(options))

    def _on(self, on: ast.On, module: Module) -> Node | None:
        """A step that selects columns, then the steps in the parentheses."""
        selector, inner = read_selector(on.selector, module, self.report), self.expression(on.space, module)
        if selector is None or inner is None:
            return None
        selecting = on_columns(selector)
        self.on_places[id(selecting)] = OnPlace(module.source, on)
        self._selecting.append(selecting)  # so that no other node has its identity
        return Sequence((selecting, inner))

    def _not_a_step(self, expression: ast.Expression, module: Module) -> None:
        text = module.source.slice(expression.span)
        help = "a step is a block, a part, or several of them joined by `>>`, `|`, `&`"
        match expression:
            case ast.String(value=name):
                help = f"names of blocks are written without quotes: `{name}`"
            case ast.ListOf(items=items) if len(items) > 1:
                steps = [module.source.slice(item.span) for item in items[:4]]
                help = f"for one step after another write `{' >> '.join(steps)}`, for a choice `{' | '.join(steps)}`"
            case ast.ListOf(items=(item,)):
                help = f"for an optional step write `{module.source.slice(item.span)}?`"
            case ast.Arithmetic(operands=operands) if (qualifier := _odd_qualifier(text, module)) is not None:
                help = f'give the file another name: `use "{qualifier}.msl" as name`, then `name.…`'
            case ast.Arithmetic(operators=operators, operands=(ast.Negative(operand=first), *others)) if set(
                operators
            ) == {"-"}:
                steps = [module.source.slice(item.span) for item in (first, *others)]
                help = f"for one step after another write `{' >> '.join(steps)}`, for a choice `{' | '.join(steps)}`"
            case ast.Arithmetic(operators=("*",), operands=(ast.Number() as number, ast.Path() | ast.Call() as step)):
                help = f"to draw it more often write `{module.source.slice(step.span)} weight {number.text}`"
            case ast.Negative(operand=operand):
                help = f"write `{module.source.slice(operand.span)}`"
            case ast.Arithmetic(operands=operands) if all(isinstance(o, ast.Path | ast.Call) for o in operands):
                help = "for one step after another write `>>`, for columns side by side `&`, for a choice `|`"
        self._error("MSL060", expression, module, f"`{shortened(' '.join(text.split()))}` is not a step", help)

    # --- subset, permute, arrange, repeat ---

    def _built_in(self, call: ast.Call, module: Module) -> Node | None:
        name = call.path.text
        if any(argument.key is not None for argument in call.arguments):
            self._error("MSL065", call, module, f"`{name}` takes steps, not named arguments", f"write `{name}(a, b)`")
            return None
        values = [argument.value for argument in call.arguments]
        match name:
            case "repeat":
                return self._repeat(call, values, module)
            case "arrange":
                return self._arrange(call, values, module)
        members = self._members(call, values, module, MOST_MEMBERS if name == "subset" else MOST_ORDERED)
        if members is None:
            return None
        return Subset(members) if name == "subset" else Permute(members)

    def _members(
        self, call: ast.Call, values: list[ast.Expression], module: Module, most: int
    ) -> tuple[Node, ...] | None:
        if not values:
            self._error("MSL065", call, module, f"`{call.path.text}` has no members", "name at least one step")
            return None
        if len(values) > most:
            message = f"`{call.path.text}` takes at most {most} members, but these are {len(values)}"
            self._error("MSL065", call, module, message, "split them into two, or choose among some with `|`")
            return None
        members = self._all(tuple(values), module)
        return None if members is None else tuple(members)

    def _repeat(self, call: ast.Call, values: list[ast.Expression], module: Module) -> Node | None:
        if len(values) != 2:
            text = module.source.slice(values[0].span) if values else "a"
            help = f"write `repeat({text}, 0..3)`"
            self._error("MSL065", call, module, "`repeat` takes a step and a range", help)
            return None
        if isinstance(values[0], ast.Range) and not isinstance(values[1], ast.Range):
            times, step = (module.source.slice(value.span) for value in values)
            self._error("MSL065", call, module, "`repeat` takes the step first", f"write `repeat({step}, {times})`")
            return None
        member, bounds = self.expression(values[0], module), self._times(values[1], module)
        if member is None or bounds is None:
            return None
        if can_be_empty(member):
            message = "what is repeated cannot be empty: one repetition and two could be the same model"
            self._error("MSL066", values[0], module, message, "let the range start at 0 instead: `0..n`")
            return None
        return Repeat(*bounds, member)

    def _arrange(self, call: ast.Call, values: list[ast.Expression], module: Module) -> Node | None:
        if not values or not isinstance(values[0], ast.Range):
            help = "write `arrange(0..2, a, b, c)`"
            if values:
                given = [module.source.slice(value.span) for value in values]
                is_count = isinstance(values[0], ast.Number)
                times = f"{given[0]}..{given.pop(0)}" if is_count else f"0..{len(given)}"
                help = f"write `arrange({', '.join([times, *given])})`"
            self._error("MSL065", call, module, "the first argument of `arrange` is how many members it takes", help)
            return None
        bounds = self._times(values[0], module)
        members = self._members(call, values[1:], module, MOST_MEMBERS)
        if bounds is None or members is None:
            return None
        if bounds[1] > len(members):
            message = f"`arrange` takes up to {bounds[1]} of {len(members)} members"
            self._error("MSL065", values[0], module, message, f"write `{bounds[0]}..{len(members)}`")
            return None
        return Arrange(*bounds, members)

    def _times(self, expression: ast.Expression, module: Module) -> tuple[int, int] | None:
        if isinstance(expression, ast.Number):
            text = expression.text
            help = f"write `{text}..{text}` for exactly {text}, or `0..{text}` for up to {text}"
            self._error("MSL065", expression, module, "the number of times is a range", help)
            return None
        if not isinstance(expression, ast.Range) or expression.log or expression.step is not None:
            self._error("MSL065", expression, module, "the number of times is a range", "write `0..3`")
            return None
        if expression.kind == "real":
            self._error("MSL065", expression, module, "the number of times is an integer", "leave out `real`")
            return None
        reader = Bounds(module, self.report)
        low, high = reader.whole(expression.low), reader.whole(expression.high)
        if low is None or high is None:
            return None
        if low > high >= 0:
            message = f"this range is empty: {low} is above {high}"
            self._error("MSL065", expression, module, message, f"write `{high}..{low}`")
            return None
        if not 0 <= low <= high or high == 0 or high > 1000:
            message = f"{low}..{high} is not a valid number of times"
            self._error("MSL065", expression, module, message, "write a range such as `0..3`, up to 1000")
            return None
        return low, high

    # --- warnings ---

    def _repeated_options(self, options: list[Node], items: tuple[ast.Expression, ...], module: Module) -> None:
        """Warn of alternatives that others contain already: a space is a set."""
        first: dict[Node, ast.Expression] = {}
        for option, item in zip(options, items, strict=True):
            own = list(_alternatives(option))
            before = [first.get(node) for node in own]
            if own and all(other is not None for other in before):
                assert before[0] is not None
                text = module.source.slice(before[0].span)
                is_same = text == module.source.slice(item.span)
                label = f"the same as `{shortened(text)}`" if is_same else f"in `{shortened(text)}` already"
                message = "this alternative is listed already"
                self.report.warning("MSL224", module.source, item.span, message, label, "remove it")
            for node in own:
                first.setdefault(node, item)

    def _repeated_steps(self, steps: list[Node], items: tuple[ast.Expression, ...], module: Module) -> None:
        for position in range(1, len(steps)):
            one, other = steps[position - 1], steps[position]
            if not (isinstance(one, BlockUse) and isinstance(other, BlockUse) and one.block.key == other.block.key):
                continue
            if one.block.role == "transformer":
                message = f"`{one.block.name}` twice in a row"
                label = "the second seldom changes anything"
                self.report.warning("MSL225", module.source, items[position].span, message, label, "remove one")

    def _error(self, code: str, where: ast.Node, module: Module, message: str, help: str) -> None:
        self.report.error(code, module.source, where.span, message, "", help)


def _kind(declaration: Declaration) -> str:
    return declaration.kind


def blocks_in(root: Node) -> dict[tuple[str, str], BlockType]:
    """The blocks of a space by their keys, including blocks that are values of parameters."""
    return {node.block.key: node.block for node in bottom_up(root) if isinstance(node, BlockUse)}


def _alternatives(option: Node) -> Iterator[Node]:
    """The blocks that an option chooses among; none if it is not just a choice of blocks."""
    match option:
        case BlockUse() | Empty():
            yield option
        case Marked(params=params) if params:
            yield option
        case Marked(node=inner):
            yield from _alternatives(inner)
        case Choice(options=options) if all(isinstance(inner, BlockUse | Empty) for inner in options):
            yield from options


def _single(item: ast.Expression) -> ast.Expression:
    """What stands for an alternative where nested choices, which read their own weights, count as one."""
    return ast.Nothing() if isinstance(item, ast.Choice) else item


def _odd_qualifier(text: str, module: Module) -> str | None:
    """The name of a file in use that is not a plain word, if a text starts with it: `my-blocks.svc`."""
    return next((q for q in module.uses if text.startswith(f"{q}.") and not is_identifier(q)), None)
