"""Generate docs/cli.md: every verb with its arguments and options."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from enum import Enum
from itertools import groupby
from typing import Any, get_args, get_type_hints

import typer

from msl.cli.main import Verb, command_line, load_verb, ordered, shipped_verbs

_OPENING = """\
# The command line

`msl VERB --help` shows the same on the terminal. Exit codes: 0 success, 1 errors or a failed check, 2 wrong use,
70 a bug in msl.
A RUN is an id, the beginning of one, `@` for the latest, `@1` for the one before. This page is generated:
`python docs/generate_cli.py > docs/cli.md`.
"""


def reference() -> str:
    """The page: verbs grouped by what people do with them, in the order of `msl --help`."""
    verbs = ordered(map(load_verb, shipped_verbs()))
    command: Any = typer.main.get_command(command_line(verb.name for verb in verbs))
    parts = [_OPENING]
    for group, members in groupby(verbs, key=lambda verb: verb.group):
        parts.append(f"## {group}\n")
        parts.extend(_section(command.commands[verb.name], _kinds(verb)) for verb in members)
    return "\n".join(parts)


Kinds = Mapping[str, Any]


def _kinds(verb: Verb) -> Kinds:
    """The types of a verb's parameters, from its function: releases of typer keep them in different places."""
    return get_type_hints(verb.function)


def _section(command: Any, kinds: Kinds) -> str:
    parameters = [each for each in command.params if not getattr(each, "hidden", False)]
    arguments = [each for each in parameters if each.param_type_name == "argument"]
    options = [each for each in parameters if each.param_type_name != "argument"]
    usage = ["msl", command.name, *(_argument(each, kinds) for each in arguments), *(["[OPTIONS]"] if options else [])]
    rows = [f"| {_names(each, kinds)} | {_cell(each.help or '')}{_default(each)} |" for each in [*arguments, *options]]
    told = inspect.cleandoc(command.help or "")
    title = f"### msl {command.name}\n\n```text\n{' '.join(usage)}\n```\n\n{told}\n"
    return "\n".join([title, "| argument or option | what it is |", "| --- | --- |", *rows, ""])


def _argument(parameter: Any, kinds: Kinds) -> str:
    name = f"{_value(parameter, kinds)}…" if parameter.nargs == -1 else _value(parameter, kinds)
    return name if parameter.required else f"[{name}]"


def _names(parameter: Any, kinds: Kinds) -> str:
    if parameter.param_type_name == "argument":
        return f"`{_value(parameter, kinds)}`"
    value = "" if parameter.is_flag else f" {_value(parameter, kinds)}"
    return ", ".join(f"`{name}{value}`" for name in parameter.opts)


def _value(parameter: Any, kinds: Kinds) -> str:
    """The placeholder of a value; computed here, because releases of typer differ."""
    kind = kinds.get(parameter.name)
    options = [each for each in (*get_args(kind), kind) if isinstance(each, type)]
    for choices in options:
        if issubclass(choices, Enum):
            return "\\|".join(str(choice.value) for choice in choices)
    return str(parameter.metavar or ("N" if int in options else parameter.name.upper())).rstrip(".…")


def _default(parameter: Any) -> str:
    value = parameter.default
    if value is None or value is False or value == [] or callable(value) or parameter.required:
        return ""
    return f" Default: `{getattr(value, 'value', value)}`."


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    print(reference(), end="")
