"""Edit the text of a spec in one place: a value, an alternative, a declared range, a requirement. All else stays.

The text itself is changed, as by `--set`, so that comments and layout survive.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Literal

from msl.diagnostics.source import Source
from msl.diagnostics.user_error import UserError
from msl.language import ast
from msl.language.override import override_text, text_to_override
from msl.language.parser import text_to_ast
from msl.record import record


@record
class Edit:
    """`what` is `PATH=VALUE` for `set`, one of the `alternatives` for `drop`, and the condition for `require`.

    For `declare` it is `BLOCK.PARAMETER=DOMAIN`, of a block that is declared in the text itself.
    """

    kind: Literal["set", "drop", "require", "declare"]
    what: str
    alternatives: tuple[str, ...] = ()

    def __str__(self) -> str:
        match self.kind:
            case "set":
                return f"--set '{self.what}'"
            case "drop":
                return f"drop `{self.what}` from `{' | '.join(self.alternatives)}`"
            case "declare":
                return "declare {} as {}".format(*self.what.split("=", 1))
        return f"require {self.what}"


def edit_source(source: Source, edits: Sequence[Edit]) -> Source:
    """The source with its edits, one after the other; raises UserError if one cannot be made in this text."""
    for edit in edits:
        match edit.kind:
            case "set":
                source = override_text(source, [text_to_override(edit.what)]).source
            case "drop":
                source = _dropped(source, edit)
            case "require":
                source = _required(source, edit.what)
            case "declare":
                source = _declared(source, edit.what)
    return source


def patch_text(before: Source, after: Source) -> str:
    """The difference as a patch that `git apply` and `patch` take, which want no absolute path."""
    name = PurePath(before.name).name if PurePath(before.name).is_absolute() else before.name
    lines = difflib.unified_diff(
        before.text.splitlines(keepends=True),
        after.text.splitlines(keepends=True),
        f"a/{name}",
        f"b/{name}",
        n=1,
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _declared(source: Source, what: str) -> Source:
    """Another domain for a parameter in the declaration of its block; its default stays."""
    path, _, domain = what.partition("=")
    block, _, parameter = path.rpartition(".")
    for statement in _file(source).statements:
        if isinstance(statement, ast.Block | ast.Derive) and statement.name.text == block:
            for field in statement.fields:
                if field.opens and field.key is not None and field.key.text == parameter:
                    start, end = field.value.span.start, field.value.span.end
                    return replace(source, text=source.text[:start] + domain + source.text[end:])
    raise UserError(f"`{source.name}` declares no `{path}`", "edit it by hand")


def _file(source: Source) -> ast.File:
    file, problems = text_to_ast(source)
    if any(problem.is_error for problem in problems):
        raise UserError(f"`{source.name}` cannot be read", f"look at it with `msl check {source.name}`")
    return file


def _dropped(source: Source, edit: Edit) -> Source:
    file = _file(source)
    found = [choice for choice in _choices(file) if _is_choice_of(choice, source, edit.alternatives)]
    if not found:
        raise UserError(f"`{source.name}` has no choice `{' | '.join(edit.alternatives)}`", "edit it by hand")
    for choice in sorted(found, key=lambda one: -one.span.start):
        source = replace(source, text=_without(choice, source, edit.what))
    return source


def _choices(node: ast.Node | ast.File) -> Iterator[ast.Choice]:
    if isinstance(node, ast.Choice):
        yield node
    below = node.statements if isinstance(node, ast.File) else ast.children(node)
    for child in below:
        yield from _choices(child)


def _is_choice_of(choice: ast.Choice, source: Source, alternatives: Collection[str]) -> bool:
    names = [item_name(item, source) for item in choice.items]
    return len(set(names)) == len(names) and set(names) == set(alternatives)


def item_name(item: ast.Node, source: Source) -> str:
    """How an alternative is called: its block, without its parameters; else its text."""
    if isinstance(item, ast.Call):
        return item.path.text
    return "none" if isinstance(item, ast.Nothing) else source.slice(item.span)


def _without(choice: ast.Choice, source: Source, name: str) -> str:
    """The text without one alternative and the sign beside it; what was a comment stays."""
    place = next(n for n, item in enumerate(choice.items) if item_name(item, source) == name)
    weights = choice.weights or (None,) * len(choice.items)
    weight = weights[place]
    start, end = choice.items[place].span.start, choice.items[place].span.end
    end = end if weight is None else weight.span.end
    text = source.text
    if place > 0:
        before = weights[place - 1]
        joint = choice.items[place - 1].span.end if before is None else before.span.end
        return text[:joint] + _without_sign(text[joint:start]) + text[end:]
    return (
        text[:start]
        + _without_sign(text[end : choice.items[1].span.start]).lstrip(" ")
        + text[choice.items[1].span.start :]
    )


def _without_sign(between: str) -> str:
    """What lies between two alternatives without `|` or `<`; nothing but comments and their lines is kept."""
    kept = []
    for line in between.split("\n"):
        code, mark, comment = line.partition("#")
        kept.append(f"  #{comment}" if mark else code.replace("|", "").replace("<", "").rstrip())
    return "\n".join(kept) if any("#" in line for line in kept) else ""


def _required(source: Source, condition: str) -> Source:
    """A requirement after the last chain, part or requirement."""
    file, _ = text_to_ast(source)
    ends = [s.span.end for s in file.statements if isinstance(s, ast.Chain | ast.Part | ast.Require)]
    text, at = source.text, max(ends, default=len(source.text))
    line_end = text.find("\n", at)
    at = len(text) if line_end < 0 else line_end
    return replace(source, text=f"{text[:at]}\nrequire {condition}{text[at:]}")
