"""Lints: what is allowed and probably not meant."""

from __future__ import annotations

from msl.check.library import Declaration, Module
from msl.check.report import Report
from msl.space.node import BlockUse, Const, Node, Param, Symbol
from msl.syntax import ast

_MOST_OPENED = 6


def unused(module: Module, met: set[Declaration], report: Report) -> None:
    """Parts, blocks and files of a spec that nothing in it needs. A file without a chain is there to be used."""
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
            message = f"nothing of `{qualifier}` is used"
            report.warning("MSL228", module.source, span, message, "", "remove it")


def opened_silently(call: ast.Call, use: BlockUse, module: Module, report: Report) -> None:
    """A use that fixes or narrows some parameters leaves the others open: say which, once."""
    named = {argument.key.text for argument in call.arguments if argument.key is not None}
    if not named or "rest" in named:
        return
    positional = sum(argument.key is None for argument in call.arguments)
    others = [p.name for i, p in enumerate(use.params) if p.name not in named and i >= positional and _is_open(p)]
    if others:
        shown = ", ".join(f"`{name}`" for name in others[:_MOST_OPENED])
        more = f" and {len(others) - _MOST_OPENED} more" if len(others) > _MOST_OPENED else ""
        message = f"this also searches {shown}{more}, which `{use.block.name}` declares"
        help = "write `rest = default` to close what is not mentioned"
        report.note("MSL240", module.source, call.path.span, message, "", help)


def _is_open(param: Param) -> bool:
    return not _closed(param.node)


def _closed(node: Node) -> bool:
    match node:
        case Const():
            return True
        case Symbol(params=params) | BlockUse(params=params):
            return all(_closed(param.node) for param in params)
    return False
