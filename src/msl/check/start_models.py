"""Read the models of `search start("portfolio.msl")`: the chains of its files, and whether they are in the space."""

from __future__ import annotations

from msl.check.names.block_declarations import Blocks
from msl.check.names.library import Declaration, Library, Module
from msl.check.read_model import open_parameters
from msl.check.strategies import closed_steps
from msl.check.structure.expressions import Spaces
from msl.diagnostics.diagnostic import Label, Report
from msl.diagnostics.source import Span
from msl.language import ast
from msl.record import record
from msl.space.formulas import Facts
from msl.space.membership import Membership, NotInSpace
from msl.space.nearest import nearest_model
from msl.space.nodes import Node, Vector, bottom_up, follows_table
from msl.space.resolve import NothingLeft, resolve
from msl.space.spec import Space
from msl.space.to_text import model_to_text
from msl.space.values import Model

#: What is written to start from files.
EXAMPLE = 'write `start("portfolio.msl")`'


@record
class Given:
    """A model of a file to start from: where it is written, and where the spec names the file."""

    node: Node
    name: str
    where: Label
    file: Span


def read_files(
    call: ast.Path | ast.Call, module: Module, library: Library, blocks: Blocks, report: Report
) -> list[Given]:
    """The models of the files that a call of `start` names, in order; what cannot be read is reported."""
    arguments = call.arguments if isinstance(call, ast.Call) else ()
    if not arguments:
        message = "`start` evaluates the models of a file first, but names no file"
        report.error("MSL280", module.source, call.span, message, "", EXAMPLE)
    found: list[Given] = []
    for argument in arguments:
        target = _file_name(argument, module, report)
        used = None if target is None else library.file(module, target)
        if target is not None and used is not None:
            found.extend(_models(used, target, module, blocks, report))
    return found


def _file_name(argument: ast.Argument, module: Module, report: Report) -> ast.String | None:
    value, text = argument.value, module.source.slice(argument.value.span)
    if argument.key is None and isinstance(value, ast.String):
        return value
    message, help = f"`start` takes names of files, and `{text}` is none", EXAMPLE
    if argument.key is not None and isinstance(value, ast.String):
        message, help = f"`start` has no option `{argument.key.text}`", f"write `start({text})`"
    elif argument.key is not None:
        message = f"`start` has no option `{argument.key.text}`; it takes names of files"
    elif isinstance(value, ast.Path):
        help = f'a file is written in quotes: `start("{text}.msl")`'
    elif isinstance(value, ast.ListOf) and all(isinstance(item, ast.String) for item in value.items):
        help = f"write them without brackets: `start({text[1:-1].strip()})`"
    elif isinstance(value, ast.Call | ast.Sequence | ast.ListOf):
        model = module.source.slice(value.items[0].span) if isinstance(value, ast.ListOf) and value.items else text
        message = "`start` takes names of files, not a model"
        help = f'put `chain first = {model}` into a file, and give its name: `start("portfolio.msl")`'
    report.error("MSL280", module.source, argument.span, message, "", help)
    return None


def _models(used: Module, target: ast.String, spec: Module, blocks: Blocks, report: Report) -> list[Given]:
    """The chains of a file. One that uses nothing has the names of the spec."""
    chains = used.chains()
    if not chains and not report.failed:
        message = f"`{target.value}` has no chain, so there is no model to start from"
        report.error("MSL281", spec.source, target.span, message, "", "write each model as `chain first = …` there")
    reading = used if used.uses else Module(used.source, used.file, used.origin, unknowable=used.unknowable)
    if reading is not used:
        reading.uses, reading.declarations = spec.uses, {**spec.declarations, **used.declarations}
    spaces = Spaces(report, blocks, quiet=True)
    found = []
    for chain in chains:
        assert isinstance(chain.node, ast.Chain)
        node = spaces.expression(chain.node.space, reading)
        if node is not None and _has_nothing_open(node, chain, report):
            found.append(Given(node, chain.name, Label(used.source, chain.node.space.span, "this model"), target.span))
    return found


def _has_nothing_open(node: Node, chain: Declaration, report: Report) -> bool:
    opened = [f"`{name}`" for name in dict.fromkeys(open_parameters(node)) if name != "|"]
    if not open_parameters(node):
        return True
    assert isinstance(chain.node, ast.Chain)
    several = f"{', '.join(opened[:3])}{' and more are' if len(opened) > 3 else ' is' if len(opened) == 1 else ' are'}"
    what = f"{several} open" if opened else "it has alternatives"
    message = f"the chain `{chain.name}` is not one model: {what}"
    help = "a model to start from fixes every parameter with `=`; `rest = default` fixes those not mentioned"
    if not opened:
        help = "write a chain for each of the models"
    report.error("MSL282", chain.module.source, chain.node.space.span, message, "", help)
    return False


# --- whether they are in the space ------------------------------------------------------------------------------------


def models_of_space(
    given: list[Given], space: Space, facts: Facts | None, call: Span, module: Module, report: Report
) -> tuple[Node, ...]:
    """The models that are in the space, resolved for the table. The others are reported, with the nearest that is."""
    membership = Membership(space)
    kept, left_out = [], 0
    for one in given:
        node = _resolved(one.node, facts)
        try:
            model = Model(closed_steps(node))
            membership.derive(model)
            kept.append(node)
        except NotInSpace as outside:
            left_out += 1
            message = f"`{one.name}` is not a model of the space and is left out: {outside}"
            help = _nearest(space, model, membership)
            report.warning("MSL283", module.source, one.file, message, "", help, (one.where,))
        except (TypeError, ValueError):
            kept.append(node)  # it depends on the table, which is not known yet
    if left_out and not kept:
        models = "the only model" if left_out == 1 else f"none of the {left_out} models"
        message = f"{models} to start from is {'not ' if left_out == 1 else ''}in the space"
        help = "the warnings say why, and which models of the space are near"
        report.error("MSL284", module.source, call, message, "", help)
    return tuple(kept)


def _resolved(node: Node, facts: Facts | None) -> Node:
    if facts is None or not any(follows_table(each) or isinstance(each, Vector) for each in bottom_up(node)):
        return node
    try:
        return resolve(Space(node), facts)[0].root
    except (NothingLeft, ArithmeticError, ValueError):
        return node


def _nearest(space: Space, model: Model, membership: Membership) -> str:
    """The nearest model as text, if a requirement does not exclude it too."""
    otherwise = "write a model of the chain; `msl sample` shows some"
    try:
        near = nearest_model(space.root, model)
        if near is None:
            return otherwise
        membership.derive(near)
        return f"the nearest model of the space is `{model_to_text(near)}`"
    except (NotInSpace, TypeError, ValueError, ArithmeticError):
        return otherwise
