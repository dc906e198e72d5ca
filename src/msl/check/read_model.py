"""Read a model (a pipeline with the value of every parameter) from MSL text, with the names of a spec."""

from __future__ import annotations

from msl.check.names.block_declarations import Blocks
from msl.check.names.library import Library, Module, ReadFile
from msl.check.strategies import closed_steps, node_value
from msl.check.structure.expressions import Spaces
from msl.diagnostics.diagnostic import Diagnostic, Report
from msl.diagnostics.source import Source, Span
from msl.language import ast
from msl.language.parser import text_to_ast
from msl.space.nodes import BlockUse, Choice, Node, children
from msl.space.values import Model


def text_to_model(text: str, spec: Source, read_file: ReadFile | None = None) -> tuple[Model | None, list[Diagnostic]]:
    """The model of an expression, or None and the errors. Names refer to the spec and to the files that it uses."""
    return ModelReader(spec, read_file).read(text)


class ModelReader:
    """Reads models with the names of one spec, which is opened once."""

    def __init__(self, spec: Source, read_file: ReadFile | None = None) -> None:
        self._report = Report()
        self._module = Library(self._report, read_file).open(spec)
        self._blocks = Blocks(self._report)

    def read(self, text: str) -> tuple[Model | None, list[Diagnostic]]:
        """As `text_to_model`."""
        source = Source("<model>", f"chain model = {text}")
        file, problems = text_to_ast(source)
        if problems:
            return None, problems
        chain = file.statements[0]
        assert isinstance(chain, ast.Chain)
        report = self._report
        report.diagnostics.clear()  # those of the spec, which was checked before, or of the previous model
        if len(file.statements) > 1:
            message = "a model is one expression, but another statement follows here"
            report.error("MSL067", source, file.statements[1].span, message, "", "remove it")
            return None, list(report.diagnostics)
        node = Spaces(report, self._blocks, quiet=True).expression(chain.space, _reading(source, self._module))
        model = None
        if node is not None and not report.failed:
            model = _closed_model(node, source, chain.space.span, report)
        # What could be better about a declaration was said where it is declared.
        return model, [one for one in report.diagnostics if one.is_error or one.primary.source is source]


def _reading(source: Source, module: Module) -> Module:
    """A module with the names of the spec and of all files that it uses directly or indirectly."""
    reading = Module(source, ast.File(()), module.origin)
    reading.uses = dict(module.uses)
    waiting = list(module.uses.values())
    for used in waiting:
        for qualifier, deeper in used.uses.items():
            if not any(deeper is known for known in reading.uses.values()):
                # A file `kms.msl` may hide the catalogue `kms` that it uses; the blocks of both must be found.
                free = qualifier if qualifier not in reading.uses else f"{qualifier} of {used.origin}"
                reading.uses[free] = deeper
                waiting.append(deeper)
    reading.declarations = dict(module.declarations)
    return reading


def _closed_model(node: Node, source: Source, span: Span, report: Report) -> Model | None:
    try:
        return Model(closed_steps(node))
    except TypeError:
        opened = ", ".join(f"`{name}`" for name in dict.fromkeys(open_parameters(node)))
        message = "this model has open parameters" + (f": {opened}" if opened else "")
        report.error("MSL067", source, span, message, "", "a model fixes every parameter with `=`")
        return None


def open_parameters(node: Node) -> list[str]:
    """The open parameters of steps by name, and `|` for each choice between steps."""
    found: list[str] = []
    if isinstance(node, BlockUse):
        for param in node.params:
            try:
                node_value(param.node)
            except TypeError:
                found.append(f"{node.block.name}.{param.name}")
    elif isinstance(node, Choice):
        found.append("|")
    else:
        for child in children(node):
            found.extend(open_parameters(child))
    return found
