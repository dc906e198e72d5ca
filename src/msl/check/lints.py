"""Warn of what is allowed but probably a mistake: unused declarations, parameters opened or closed without notice."""

from __future__ import annotations

from msl.check.domains.arguments import is_rest
from msl.check.domains.contains import Place, name_of
from msl.check.names.library import Declaration, Module
from msl.diagnostics.diagnostic import Report
from msl.language import ast
from msl.language.literals import name_text
from msl.space.defaults import is_closed
from msl.space.nodes import BlockUse, Symbol

_MOST_NAMED = 6
_LONGEST_VALUE = 60


def unused(module: Module, met: set[Declaration], report: Report) -> None:
    """Report unused parts, blocks and files, unless the file has no chain: it is then meant for other files."""
    if not module.chains():
        return
    for declaration in module.declarations.values():
        if declaration not in met and declaration.kind != "chain":
            kind = "part" if declaration.kind == "part" else "block"
            message = f"{kind} `{declaration.name}` is never used"
            span = declaration.node.name.span
            report.warning("MSL226", module.source, span, message, "", "use it, or remove it")
    for qualifier, span in module.use_spans.items():
        if qualifier not in module.qualifiers_met:
            message = f"`{qualifier}` is not used"
            report.warning("MSL228", module.source, span, message, "", "remove it")


def opened_silently(call: ast.Call, use: BlockUse, module: Module, report: Report) -> None:
    """Report the parameters that a use leaves open without mentioning them."""
    named = {argument.key.text for argument in call.arguments if argument.key is not None}
    if not named or "rest" in named:
        return
    positional = sum(argument.key is None for argument in call.arguments)
    others = [
        p.name for i, p in enumerate(use.params) if p.name not in named and i >= positional and not is_closed(p.node)
    ]
    if others:
        message = f"this also searches {_named(others)}, which `{use.block.name}` declares"
        help = "write `rest = default` to fix them at their defaults"
        report.note("MSL240", module.source, call.path.span, message, "", help)


def closed_silently(
    option: Symbol | BlockUse,
    arguments: tuple[ast.Argument, ...],
    where: ast.Node,
    place: Place,
    module: Module,
    report: Report,
) -> None:
    """Report the parameters that an alternative after `=` closes, which earlier versions left open."""
    if any(map(is_rest, arguments)):
        return
    given = {argument.key.text for argument in arguments if argument.key is not None}
    positional = sum(argument.key is None for argument in arguments)
    others = [p.name for p in option.params[positional:] if p.name not in given and not is_closed(p.node)]
    if not others:
        return
    name, text, it = name_of(option), module.source.slice(where.span), "it" if len(others) == 1 else "them"
    message = f"`=` closes {_named(others)} of `{name}` at {'its default' if it == 'it' else 'their defaults'}"
    inside = f"{text.removesuffix(')').rstrip().removesuffix(',')}, " if arguments else f"{text.partition('(')[0]}("
    closed = f"`{_shortened(f'{inside}rest = default)')}`"
    opened = f"{name_text(place.parameter)}: {_shortened(text)}"
    help = f"write {closed} if this is meant, or `{opened}` to search {it}"
    if place.is_element:
        help = f"write {closed} if this is meant, or name {it} with a domain to search {it}"
    report.warning("MSL242", module.source, where.span, message, f"earlier versions left {it} open", help)


def _named(names: list[str]) -> str:
    """The first names of a list, and how many more there are."""
    shown = ", ".join(f"`{name}`" for name in names[:_MOST_NAMED])
    return f"{shown} and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else shown


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
