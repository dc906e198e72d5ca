"""Find the declaration that a name refers to; if there is none, suggest what was meant."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from msl.check.names import catalogues
from msl.check.names.library import BUILT_IN, Declaration, Module
from msl.check.names.names_of_other_tools import class_in_other_letters, class_of_another_tool, exact_class, joined_by
from msl.diagnostics.diagnostic import Report
from msl.diagnostics.suggest import closest, did_you_mean, listing
from msl.language import ast
from msl.space.column_selectors import KINDS, REST

_MOST_ADVISED = 200  # suggestions are slow; a file with more mistakes has another problem
_PYTHON_VALUES = {"True": "true", "False": "false", "None": "none", "null": "none", "nil": "none"}


def find(module: Module, path: ast.Path, report: Report, wanted: str = "a block or part") -> Declaration | None:
    """The declaration that a path names. If there is none, it is reported, unless a broken statement may declare it."""
    if len(path.names) == 1:
        return _bare(module, path.names[0], report, wanted)
    if len(path.names) == 2:
        return _qualified(module, path, report, wanted)
    message = f"`{path.text}` is not {wanted}"
    help = exact_class(module, path.names[-1].text) or "write a name, or `catalogue.name`"
    report.error("MSL021", module.source, path.span, message, "", help)
    return None


def peek(module: Module, name: str) -> Declaration | None:
    """The declaration of a bare name if there is exactly one; nothing is reported."""
    if name in module.declarations:
        return module.declarations[name]
    found = _in_uses(module, name)
    return found[0][1] if len(found) == 1 else None


def declarations_of(module: Module, path: ast.Path) -> list[Declaration]:
    """Every declaration that a path may name; a local name wins. Nothing is reported."""
    if len(path.names) == 2:
        used = module.uses.get(path.names[0].text)
        found = None if used is None else used.declarations.get(path.names[1].text)
        if found is not None:
            module.qualifiers_met.add(path.names[0].text)
        return [] if found is None else [found]
    if len(path.names) > 2:
        return []
    text = path.names[0].text
    if text in module.declarations:
        return [module.declarations[text]]
    found_in = _in_uses(module, text)
    module.qualifiers_met.update(qualifier for qualifier, declaration in found_in if declaration.is_block)
    return [declaration for _, declaration in found_in]


def visible(module: Module) -> Iterable[str]:
    """Every bare name that is declared in a file or in those that it uses."""
    yield from module.declarations
    for used in module.uses.values():
        yield from used.declarations


def _in_uses(module: Module, name: str) -> list[tuple[str, Declaration]]:
    """The declarations of a name in the files used, with the name of each file."""
    found: dict[Declaration, str] = {}
    for qualifier, used in module.uses.items():
        if name in used.declarations:
            found.setdefault(used.declarations[name], qualifier)
    return [(qualifier, declaration) for declaration, qualifier in found.items()]


def _bare(module: Module, name: ast.Name, report: Report, wanted: str) -> Declaration | None:
    text = name.text
    if text in module.declarations:
        return module.declarations[text]
    found = _in_uses(module, text)
    if len(found) == 1:
        module.qualifiers_met.add(found[0][0])
        return found[0][1]
    if len(found) > 1:
        module.qualifiers_met.update(qualifier for qualifier, _ in found)
        choices = " or ".join(f"`{qualifier}.{text}`" for qualifier, _ in found)
        message = f"`{text}` is declared by {listing(q for q, _ in found)}"
        also = tuple(declaration.label for _, declaration in found)
        report.error("MSL022", module.source, name.span, message, "which one?", f"write {choices}", also)
        return None
    if module.may_declare(text) or any(used.may_declare(text) for used in module.uses.values()):
        return None
    if text in module.uses:
        _not_the_file(module, name, report, wanted)
        return None
    label = _where_looked(module)
    help = _advice(module, text) if len(report.diagnostics) < _MOST_ADVISED else None
    report.error("MSL021", module.source, name.span, f"`{text}` is not {wanted}", label, help)
    return None


def _qualified(module: Module, path: ast.Path, report: Report, wanted: str) -> Declaration | None:
    qualifier, name = path.names
    used = module.uses.get(qualifier.text)
    if used is None:
        if module.unknowable:
            return None
        if (owner := peek(module, qualifier.text)) is not None:
            _not_a_qualifier(module, path, owner, report, wanted)
            return None
        renamed = [q for q, used in module.uses.items() if used.origin == qualifier.text]
        help = did_you_mean(qualifier.text, module.uses)
        if renamed:
            help = f"here it is called `{renamed[0]}`: write `{renamed[0]}.{name.text}`"
        elif help is None and qualifier.text in catalogues.names():
            help = f"add `use {qualifier.text}`"
        message = f"this file uses nothing called `{qualifier.text}`"
        if not renamed and (of_class := exact_class(module, name.text)) is not None:
            report.error("MSL023", module.source, path.span, message, "", of_class)
            return None
        report.error("MSL023", module.source, qualifier.span, message, "", help or _uses_listed(module))
        return None
    module.qualifiers_met.add(qualifier.text)
    if name.text in used.declarations:
        return used.declarations[name.text]
    if not used.may_declare(name.text):
        help = exact_class(module, name.text) if used.origin in catalogues.names() else None
        help = help or did_you_mean(name.text, used.declarations) or _where_else(used, name.text)
        message = f"`{qualifier.text}` declares no `{name.text}`"
        report.error("MSL021", module.source, name.span, message, f"not {wanted} of `{qualifier.text}`", help)
    return None


def _where_else(used: Module, name: str) -> str:
    """The help for a name that the file before the dot does not declare."""
    elsewhere = [catalogue for catalogue in catalogues.names() if name in declared_names(catalogue)]
    if elsewhere:
        return f"`{name}` is in the catalogue `{elsewhere[0]}`"
    if used.origin in catalogues.names():
        return f"`msl blocks {used.origin}` lists what it declares"
    return f"it declares {listing(used.declarations)}" if used.declarations else "it declares nothing"


def _not_the_file(module: Module, name: ast.Name, report: Report, wanted: str) -> None:
    """The name of a catalogue or file instead of one of its blocks."""
    kind = "a catalogue" if name.text in catalogues.names() else "a file"
    message = f"`{name.text}` is {kind}, not {wanted}"
    example = next(iter(module.uses[name.text].declarations), "name")
    report.error(
        "MSL021", module.source, name.span, message, "", f"name what it declares, such as `{name.text}.{example}`"
    )


def _not_a_qualifier(module: Module, path: ast.Path, owner: Declaration, report: Report, wanted: str) -> None:
    """`svc.gamma` or `part.svc` instead of a step."""
    kind = "a block" if owner.is_block else f"a {owner.kind}"
    message = f"`{path.text}` is not {wanted}: `{owner.name}` is {kind}"
    help = f"write `{owner.name}`, and its parameters in parentheses" if owner.is_block else f"write `{owner.name}`"
    whole = owner.node.span
    if isinstance(owner.node, ast.Part) and whole.start <= path.span.start < whole.end:  # `both.k` inside `both`
        help = f"inside the {owner.kind} its parameter is written `{path.names[1].text}`"
    report.error("MSL021", module.source, path.span, message, "", help, (owner.label,))


def _where_looked(module: Module) -> str:
    used = list(module.uses)
    if not used:
        return "not declared here, and this file uses no catalogue"
    if len(used) == 1:
        return f"not found in `{used[0]}`, the only one in use"
    return f"not found in {listing(used)}"


def _advice(module: Module, name: str) -> str:
    if name in _PYTHON_VALUES:
        return f"write `{_PYTHON_VALUES[name]}`"
    if name in (*KINDS, REST):
        return f"steps for these columns are written with `on`: `on {name} (passthrough)`"
    if (of_class := exact_class(module, name)) is not None:
        return of_class
    if (parameter := _parameter_of(module, name)) is not None:
        return f"write `{parameter}`"
    known = set(visible(module)) | set(BUILT_IN)
    same = [other for other in known if other.replace("_", "").casefold() == name.replace("_", "").casefold()]
    elsewhere = [c for c in catalogues.names() if c not in module.uses and name in declared_names(c)]
    class_help = None
    if not same:
        of_class = None if elsewhere else class_in_other_letters(module, name)
        class_help = of_class or class_of_another_tool(module, name) or joined_by(name)
    close = did_you_mean(name, known) if class_help is None else None
    if elsewhere:
        there = f"`{name}` is in the catalogue `{elsewhere[0]}`: add `use {elsewhere[0]}`"
        return f"{there}; or {close or class_help}" if close or class_help else there
    if close or class_help:
        return close or class_help or ""
    for catalogue in catalogues.names():
        if catalogue not in module.uses and (close_names := closest(name, declared_names(catalogue), 1)):
            return f"did you mean `{close_names[0]}` of the catalogue `{catalogue}`? then add `use {catalogue}`"
    return "`msl blocks` lists what the catalogues declare; `part` and `block` declare names of your own"


def _parameter_of(module: Module, name: str) -> str | None:
    """`svc__gamma`: the path of a parameter, as scikit-learn writes it."""
    owner, _, parameter = name.partition("__")
    return f"{owner}.{parameter.replace('__', '.')}" if parameter and peek(module, owner) is not None else None


@cache
def declared_names(catalogue: str) -> frozenset[str]:
    """The names in a catalogue, found without parsing it."""
    return frozenset(piece.name for piece in catalogues.pieces(_text(catalogue)))


def _text(catalogue: str) -> str:
    return catalogues.text(catalogue, catalogues.versions(catalogue)[-1])


def _uses_listed(module: Module) -> str:
    return f"it uses {listing(module.uses)}" if module.uses else "add a `use` statement"
