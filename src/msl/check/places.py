"""Places: where the text of a chain, or of a part in it, names a block."""

from __future__ import annotations

from msl.check.library import Declaration, Module
from msl.check.scope import peek
from msl.space.value import BlockType
from msl.syntax import ast
from msl.text.source import Source, Span


def place_of(block: BlockType, chain: Declaration) -> tuple[Source, Span] | None:
    """The first place where a chain, or a part of the same file, brings in the block."""
    return _Search(block).in_declaration(chain)


class _Search:
    def __init__(self, block: BlockType) -> None:
        self._block = block
        self._met: set[Declaration] = set()

    def in_declaration(self, declaration: Declaration) -> tuple[Source, Span] | None:
        if declaration in self._met:
            return None
        self._met.add(declaration)
        node = declaration.node
        return self._in(node.space, declaration.module) if isinstance(node, ast.Part | ast.Chain) else None

    def _in(self, node: ast.Node, module: Module) -> tuple[Source, Span] | None:
        match node:
            case ast.Path():
                return self._named(node, node, module)
            case ast.Call(path=path):
                found = self._named(path, node, module)
                if found is not None:
                    return found
            case ast.AnyOf(role=role) if role.names[-1].text == self._block.role:
                return module.source, node.span
        for child in ast.children(node):
            if not isinstance(child, ast.Name) and (found := self._in(child, module)) is not None:
                return found
        return None

    def _named(self, path: ast.Path, whole: ast.Node, module: Module) -> tuple[Source, Span] | None:
        declaration = _declaration(path, module)
        if declaration is None:
            return None
        if not declaration.is_block:
            found = self.in_declaration(declaration)
            is_own = declaration.module is module
            return found if found is None or is_own else (module.source, whole.span)
        is_it = (declaration.module.origin, declaration.name) == self._block.key
        return (module.source, whole.span) if is_it else None


def _declaration(path: ast.Path, module: Module) -> Declaration | None:
    if len(path.names) == 1:
        return peek(module, path.text)
    used = module.uses.get(path.names[0].text)
    return None if used is None or len(path.names) > 2 else used.declarations.get(path.names[1].text)
