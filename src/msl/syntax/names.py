"""Names: how a name or a path is written — plain, or in quotes where it is a reserved word or no word at all."""

from __future__ import annotations

from msl.syntax import ast
from msl.syntax.literals import quoted
from msl.syntax.tokens import FUNCTION_WORDS, is_identifier


def name_text(name: str) -> str:
    """A name as a spec writes it."""
    return name if is_identifier(name) else quoted(name)


def path_text(path: ast.Path) -> str:
    """A path as a spec writes it."""
    return ".".join(name_text(name.text) for name in path.names)


def called_text(call: ast.Call) -> str:
    """What a call calls: `log(n_samples)` is the function, `"log"(x = 1)` an alternative of that name."""
    is_function = call.path.text in FUNCTION_WORDS and all(argument.key is None for argument in call.arguments)
    return call.path.text if is_function else path_text(call.path)
