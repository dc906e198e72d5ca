"""The revision of a block: a digest of the source code that its result depends on.

That is the definition of its class and every definition of `msl.blocks` that this one refers to, directly or through
others. Comments, docstrings, annotations, layout and the file that a definition is in do not count: an edited block
has another revision, a moved one keeps it.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from msl.blocks.public import HOMES, PACKAGE, public_names

#: A definition: the module that it is in, and its name there.
Symbol = tuple[str, str]
#: Fields of the syntax tree that change no result.
_IGNORED = {"annotation", "ctx", "kind", "returns", "type_comment"}
#: The classes that every model is built with.
CHAIN = ("Branch", "ChainClassifier", "ChainRegressor", "MergeRare", "Prepare")


@cache
def target_revision(target: str) -> str | None:
    """The revision of a block by its target, such as `msl.blocks:NaiveBayes`; None for a class that is not ours."""
    names = public_names(target)
    return revision_of(names) if names else None


def chain_revision() -> str:
    """The revision of what all models share: the chain of steps and the preparation of the columns."""
    return revision_of(CHAIN)


def revision_of(names: Iterable[str]) -> str:
    """The common revision of some public classes."""
    return revision_of_symbols((HOMES[name], name) for name in names)


def revision_of_symbols(roots: Iterable[Symbol]) -> str:
    """The digest of all definitions that are reached from the given ones."""
    pending, reached = list(roots), dict[Symbol, str]()
    while pending:
        symbol = pending.pop()
        if symbol in reached:
            continue
        definition = _read_module(symbol[0]).definitions.get(symbol[1])
        if definition is None:
            continue
        reached[symbol] = f"{symbol[1]} {definition.text}"
        pending.extend(definition.uses)
    # Sorted by content: module names are not part of the digest.
    return hashlib.sha256("\n".join(sorted(set(reached.values()))).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class _Definition:
    """A top-level statement of a module: its syntax as text, and the definitions of `msl.blocks` that it refers to."""

    text: str
    uses: tuple[Symbol, ...]


@dataclass(frozen=True, slots=True)
class _Module:
    definitions: dict[str, _Definition]


@cache
def _read_module(module: str) -> _Module:
    found = find_spec(module)
    if found is None or found.origin is None or not found.origin.endswith(".py"):
        return _Module({})
    return read_source(module, Path(found.origin).read_text(encoding="utf-8"))


def read_source(module: str, source: str) -> _Module:
    """The definitions of a module from its text."""
    tree = ast.parse(source)
    imported = {name: symbol for statement in tree.body for name, symbol in _imports(statement)}
    bound = {name: statement for statement in tree.body for name in _bound_names(statement)}
    definitions = {
        name: _Definition(_text(statement), tuple(_uses(module, statement, imported, bound)))
        for name, statement in bound.items()
    }
    # A name imported from another module of `msl.blocks` leads to its definition there.
    for name, symbol in imported.items():
        definitions.setdefault(name, _Definition("", (symbol,)))
    return _Module(definitions)


def _imports(node: ast.AST) -> Iterator[tuple[str, Symbol]]:
    if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith(f"{PACKAGE}."):
        for each in node.names:
            yield each.asname or each.name, (node.module, each.name)


def _bound_names(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Import() | ast.ImportFrom():
            return []
    stored = (node for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return [node.id for node in stored]


def _uses(
    module: str, statement: ast.stmt, imported: dict[str, Symbol], bound: dict[str, ast.stmt]
) -> Iterator[Symbol]:
    """The definitions of `msl.blocks` that a statement refers to."""
    for name in _free_names(statement, frozenset()):
        if isinstance(name, tuple):
            yield name
        elif name in imported:
            yield imported[name]
        elif name in bound and bound[name] is not statement:
            yield module, name


def _free_names(node: ast.AST, local: frozenset[str]) -> Iterator[str | Symbol]:
    """The free names of a piece of code, and what it imports itself; annotations do not count."""
    yield from (symbol for _, symbol in _imports(node))
    if isinstance(node, ast.Name) and node.id not in local:
        yield node.id
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        evaluated_outside = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        evaluated_outside += node.decorator_list if isinstance(node, ast.FunctionDef) else []
        for outside in evaluated_outside:
            yield from _free_names(outside, local)
        inner: list[ast.AST] = [*node.body] if isinstance(node.body, list) else [node.body]
        local |= _bound_inside(node)
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        local |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        inner = list(ast.iter_child_nodes(node))
    else:
        inner = [
            each
            for name, value in ast.iter_fields(node)
            if name not in ("annotation", "returns")
            for each in (value if isinstance(value, list) else [value])
            if isinstance(each, ast.AST)
        ]
    for each in inner:
        yield from _free_names(each, local)


def _bound_inside(function: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """The local names of a function: its parameters, and what is assigned in it."""
    given = function.args
    names = {each.arg for each in [*given.posonlyargs, *given.args, *given.kwonlyargs]}
    names |= {each.arg for each in (given.vararg, given.kwarg) if each is not None}
    pending: list[ast.AST] = list(function.body) if isinstance(function.body, list) else [function.body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        pending.extend(ast.iter_child_nodes(node))
    return frozenset(names)


def _text(node: object) -> str:
    """The syntax of a piece of code as text, the same in every version of Python."""
    if isinstance(node, list):
        return f"[{','.join(map(_text, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    ignored = _IGNORED | ({"module"} if list(_imports(node)) else set())  # the module of our own definitions
    fields = (
        (name, _without_docstring(node) if name == "body" else inner)
        for name, inner in ast.iter_fields(node)
        if name not in ignored
    )
    parts = (f"{name}={_text(inner)}" for name, inner in fields if inner is not None and inner != [])
    return f"{type(node).__name__}({','.join(parts)})"


def _without_docstring(node: ast.AST) -> object:
    body: object = node.body  # type: ignore[attr-defined]
    if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node, clean=False) is not None:
        return node.body[1:]
    return body
