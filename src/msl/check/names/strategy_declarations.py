"""Read what the declaration of a strategy or an ensemble states about itself: its fields with `=`, such as
`objectives = several`. Fields with `:` are options.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from msl.diagnostics.diagnostic import Report
from msl.diagnostics.source import Source
from msl.diagnostics.suggest import did_you_mean, listing
from msl.language import ast
from msl.space.formulas import FUNCTIONS, OPERANDS, Amount, Formula, fold
from msl.space.spec import MODELS, OBJECTIVES, OUTPUTS, Capabilities, DecidingComplexity

#: Options of a strategy that are no values: `start = none` says that it can start from a given model, `channels = none`
#: that a spec can name the parts of a model that it optimises.
READ_BY_SEARCH = frozenset({"start", "channels"})
_CODES = {"strategy": "MSL141", "combiner": "MSL143"}
_LEFT_BEHIND = ("swarm",)


class _Unreadable(Exception):
    """A statement has no such value; the message says which ones there are."""


def option_fields(node: ast.Block) -> tuple[ast.Argument, ...]:
    """The fields that declare options."""
    return tuple(field for field in node.fields if not _is_statement(node, field))


def read_capabilities(node: ast.Block, source: Source, report: Report) -> Capabilities | None:
    """The capabilities that a declaration states; None if one of them cannot be read, which is then reported."""
    found: dict[str, object] = {}
    readers = _READERS.get(node.role.text, {})
    for field in node.fields:
        if not _is_statement(node, field):
            continue
        assert field.key is not None
        name = field.key.text
        try:
            if name not in readers:
                help = did_you_mean(name, readers) or f"it can state {listing(readers)}; an option is declared with `:`"
                raise _Unreadable(f"`{name}` is not a capability", help)
            if name in found:
                raise _Unreadable(f"`{name}` is stated twice", "remove one")
            found[name] = readers[name](field.value, node)
        except _Unreadable as trouble:
            message, help = trouble.args
            report.error(_CODES[node.role.text], source, field.span, message, "", help)
            return None
    return Capabilities(**found)  # type: ignore[arg-type]


def _is_statement(node: ast.Block, field: ast.Argument) -> bool:
    if node.role.text not in _READERS or field.opens or field.key is None:
        return False
    return field.key.text not in READ_BY_SEARCH


# --- values ---


def _objectives(value: ast.Expression, node: ast.Block) -> tuple[int, int | None]:
    """`one`, `several`, `any`, or alternatives such as `one | two`."""
    counts = [OBJECTIVES[_word(item, OBJECTIVES)] for item in _items(value)]
    mosts = [most for _, most in counts if most is not None]
    return min(fewest for fewest, _ in counts), max(mosts) if len(mosts) == len(counts) else None


def _queries(value: ast.Expression, node: ast.Block) -> tuple[Amount, Amount]:
    """A formula, or `least..most`."""
    read = partial(_formula, names={MODELS, *_options(node)})
    if isinstance(value, ast.Range):
        return read(value.low), read(value.high)
    exact = read(value)
    return exact, exact


def _formula(value: ast.Expression, names: set[str]) -> Amount:
    match value:
        case ast.Number(value=number, unit=None):
            return number
        case ast.Path():
            return Formula(_word(value, names))
        case ast.Arithmetic(operators=operators, operands=operands):
            total = _formula(operands[0], names)
            for operator, operand in zip(operators, operands[1:], strict=True):
                total = fold(operator, [total, _formula(operand, names)])
            return total
        case ast.Call(path=path, arguments=arguments) if path.text in FUNCTIONS and arguments:
            if OPERANDS[path.text] in (None, len(arguments)):
                return fold(path.text, [_formula(argument.value, names) for argument in arguments])
    raise _Unreadable("this is not a number of evaluations", f"write a formula over {listing(sorted(names))}")


def _option(value: ast.Expression, node: ast.Block) -> str:
    return _word(value, _options(node))


def _option_list(value: ast.Expression, node: ast.Block) -> tuple[str, ...]:
    return tuple(_option(item, node) for item in _items(value))


def _left_behind(value: ast.Expression, node: ast.Block) -> tuple[str, ...]:
    return tuple(_word(item, _LEFT_BEHIND) for item in _items(value))


def _members(value: ast.Expression, node: ast.Block) -> str:
    return _word(value, (MODELS, OUTPUTS, *_LEFT_BEHIND))


def _complexity(value: ast.Expression, node: ast.Block) -> DecidingComplexity:
    """`elitism(occam)`: an option, and its value with which the complexity decides."""
    match value:
        case ast.Call(path=path, arguments=(ast.Argument(key=None, value=chosen),)):
            option = _option(path, node)
            domain = next(field.value for field in node.fields if field.key is not None and field.key.text == option)
            words = [item.text for item in _items(domain) if isinstance(item, ast.Path)]
            word = _word(chosen, words)
            return DecidingComplexity(option, word, next((other for other in words if other != word), None))
    raise _Unreadable("this is not an option with a value", "write `option(value)`")


def _items(value: ast.Expression) -> tuple[ast.Expression, ...]:
    return value.items if isinstance(value, ast.Choice) else (value,)


def _word(value: ast.Expression, known: Mapping[str, object] | set[str] | tuple[str, ...] | list[str]) -> str:
    if isinstance(value, ast.Path) and value.text in known:
        return value.text
    text = value.text if isinstance(value, ast.Path) else "this"
    help = did_you_mean(text, known) or f"write {listing(sorted(known))}"
    raise _Unreadable(f"{f'`{text}`' if text != 'this' else text} cannot be stated here", help)


def _options(node: ast.Block) -> list[str]:
    return [field.key.text for field in node.fields if field.key is not None and not _is_statement(node, field)]


_READERS: Mapping[str, Mapping[str, Callable[[ast.Expression, ast.Block], object]]] = {
    "strategy": {
        "objectives": _objectives,
        "queries": _queries,
        "ends_early": _option_list,
        "reevaluates": _option,
        "leaves": _left_behind,
        "complexity": _complexity,
    },
    "combiner": {"members": _members},
}
