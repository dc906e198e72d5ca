"""Names: how a name or a path is written — plain, or in quotes where it is a reserved word or no word at all."""

from __future__ import annotations

from msl.syntax import ast
from msl.syntax.literals import quoted
from msl.syntax.tokens import is_identifier


def name_text(name: str) -> str:
    """A name as a spec writes it."""
    return name if is_identifier(name) else quoted(name)


def path_text(path: ast.Path) -> str:
    """A path as a spec writes it; its first name is never quoted."""
    first, *more = path.names
    return ".".join([first.text, *(name_text(name.text) for name in more)])
