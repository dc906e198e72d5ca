"""msl fmt: format specs."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from msl.cli.shared.console import Exit, complain, report, tell, wants_colour, write, write_atomically, write_exactly
from msl.cli.shared.load_spec import STANDARD_INPUT, read_source
from msl.diagnostics.source import Source
from msl.diagnostics.user_error import UserError

#: The group and the place of this verb in `msl --help`.
PLACE = ("Write", 5)

_DIFF_COLOURS = {"+": "32", "-": "31", "@": "36"}


def fmt(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Specs; `-` reads one and writes the result.")],
    check: Annotated[bool, typer.Option("--check", help="Change nothing; exit with 1 if a file would change.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Change nothing; show what would change.")] = False,
) -> Exit:
    """Format specs: comments kept, meaning proven unchanged, no options of style."""
    codes = [_format_file(name, check, diff) for name in dict.fromkeys(files)]
    return max(codes)


def _format_file(name: str, check: bool, diff: bool) -> Exit:
    from msl.language.formatter import format_source

    try:
        source = read_source(name)
        text, diagnostics = format_source(source)
        if diagnostics:
            return report(diagnostics)
        changed = text != source.text
        if diff and changed:
            write(_diff(source, text))
        if check:
            if changed:
                tell(f"would reformat {source.name}")
            return Exit.FAILED if changed else Exit.FINE
        if name == STANDARD_INPUT and not diff:
            write_exactly(text)
        elif changed and not diff:
            write_atomically(name, text)
            tell(f"reformatted {name}")
    except UserError as wrong:
        complain(wrong)
        return Exit.WRONG_USE
    return Exit.FINE


def _diff(source: Source, text: str) -> str:
    import difflib

    before, after = source.text.splitlines(), text.splitlines()
    lines = difflib.unified_diff(before, after, f"{source.name} (now)", f"{source.name} (formatted)", lineterm="")
    if not wants_colour(sys.stdout):
        return "".join(f"{line}\n" for line in lines)
    return "".join(f"{_painted(line)}\n" for line in lines)


def _painted(line: str) -> str:
    colour = _DIFF_COLOURS.get(line[:1])
    return f"\x1b[{colour}m{line}\x1b[0m" if colour else line
