"""Collect the documentation of blocks: the comment above each declaration, its parameters and an example."""

from __future__ import annotations

import re

from msl.check.names import catalogues
from msl.check.names.block_declarations import Blocks, Declared
from msl.check.names.library import Declaration, Library, Module
from msl.check.names.scoring_declarations import DEFAULT_METRICS, declared_metric, options_of
from msl.diagnostics.diagnostic import Report
from msl.diagnostics.source import Source
from msl.record import record
from msl.space.formulas import Formula
from msl.space.nodes import Const, Param, alternatives
from msl.space.spec import DEFAULT_SEARCH
from msl.space.to_text import node_to_text, value_to_text

_HEADING = re.compile(r"#\s*-{2,}")


@record
class Entry:
    """One block or part of a catalogue, as people look it up."""

    catalogue: str
    name: str
    role: str
    task: str | None
    target: str
    text: str
    params: tuple[tuple[str, str, str], ...] = ()
    example: str = ""

    @property
    def first_sentence(self) -> str:
        head, dot, _ = self.text.partition(". ")
        return head + dot.strip() if dot else self.text


def catalogue_entries(name: str) -> list[Entry]:
    """All blocks and parts of a catalogue, in the order written."""
    report = Report()
    library = Library(report)
    blocks = Blocks(report)
    text = catalogues.text(name, catalogues.versions(name)[-1])
    module = library.open(Source(f"<{name}>", text))
    return [_entry(name, declaration, module, blocks) for declaration in module.declarations.values()]


def all_entries() -> list[Entry]:
    """Everything that ships: the catalogues' blocks, then strategies, estimates, ensembles and metrics."""
    return [e for name in [*catalogues.names(), *catalogues.IMPLIED.values()] for e in catalogue_entries(name)]


def _entry(catalogue: str, declaration: Declaration, module: Module, blocks: Blocks) -> Entry:
    text = comment_above(declaration, module)
    declared = blocks.declared(declaration) if declaration.is_block else None
    if declared is None:
        space = module.source.slice(declaration.node.span)
        return Entry(catalogue, declaration.name, "part", None, "", text, example=" ".join(space.split()))
    params = tuple((p.name, _domain(p), _default(p)) for p in options_of(declared))
    block = declared.block
    return Entry(
        catalogue, block.name, block.role, block.task, block.target, text, params, _example(catalogue, declared)
    )


def comment_above(declaration: Declaration, module: Module) -> str:
    """The comment lines that end right above a declaration, joined; headings between groups are left out."""
    source = module.source
    by_line = {source.position(comment.span.start).line: comment.text for comment in module.file.comments}
    line = source.position(declaration.node.span.start).line - 1
    lines: list[str] = []
    while line in by_line and not _HEADING.match(by_line[line]):
        lines.insert(0, by_line[line].lstrip("# ").rstrip())
        line -= 1
    return " ".join(lines)


def _domain(param: Param) -> str:
    """The domain of a parameter; of one that takes learners, what its declaration says."""
    if param.takes is None:
        return node_to_text(param.node, parameters=True, most=60)
    if param.takes == "learners":
        return "[any learner, …]"
    return "none | any learner" if Const(None) in alternatives(param.node) else "any learner"


def _default(param: Param) -> str:
    if not param.has_default:
        return ""
    return str(param.default) if isinstance(param.default, Formula) else value_to_text(param.default)


def _example(catalogue: str, declared: Declared) -> str:
    """A line that a user can type."""
    name, role = declared.block.name, declared.block.role
    match role:
        case "strategy":
            if name == "start":
                return f'search start("portfolio.msl") then {DEFAULT_SEARCH[0]}'
            if name == "portfolio":
                return f"use sklearn\nsearch portfolio then {DEFAULT_SEARCH[0]}"
            if declared.capabilities.reevaluates is not None:
                return f"search {DEFAULT_SEARCH[0]} then {name}"
            return f"search {name}" if declared.capabilities.takes(1) else f"minimize ber, features\nsearch {name}"
        case "estimate":
            return f"minimize {DEFAULT_METRICS[declared.block.task or 'classification']} by {name}"
        case "metric":
            return f"{'maximize' if declared_metric(declared).larger_is_better else 'minimize'} {name}"
        case "combiner":
            return f"ensemble {name}"
        case "learner":
            return f"use {catalogue}\nchain model = {name}"
        case "transformer" | "selector":
            return f"use {_with_clop(catalogue)}\nchain model = {name} >> svc"
        case "post":
            return f"use {_with_clop(catalogue)}\nchain model = naive >> {name}"
    return f"use {catalogue}  # then as a value, such as `{role} = {name}`"


def _with_clop(catalogue: str) -> str:
    """The catalogue and the one that the learners of examples are from."""
    return catalogue if catalogue == "clop" else f"{catalogue}, clop"
