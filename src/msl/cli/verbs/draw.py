"""msl draw: draw a space as a diagram."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Annotated

import typer

from msl.cli.shared.console import Exit, tell, write, write_exactly
from msl.cli.shared.load_spec import load
from msl.diagnostics.user_error import UserError

#: The group and the place of this verb in `msl --help`.
PLACE = ("Understand", 4)


def draw(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="A spec; `-` reads standard input.")],
    output: Annotated[str | None, typer.Option("-o", "--output", metavar="FILE", help="An SVG file to write.")] = None,
    data: Annotated[str | None, typer.Option(metavar="TABLE", help="Resolve bounds against this table.")] = None,
    chain: Annotated[str | None, typer.Option(metavar="NAME", help="The chain, where there are several.")] = None,
    svg: Annotated[bool, typer.Option("--svg", help="SVG on standard output instead of a tree.")] = False,
) -> Exit:
    """Draw a space: a tree in the terminal, or an SVG file."""
    from msl.report.diagrams.draw_space import space_to_svg, space_to_tree

    if output is not None and not output.lower().endswith(".svg"):
        name = os.path.splitext(output)[0] or "space"
        raise UserError(f"`{output}` is not the name of an SVG file", f"write `-o {name}.svg`")
    loaded = load(spec, data, chain)
    if output is not None or svg:
        picture = space_to_svg(loaded.spec.space, title=loaded.spec.name)
        if output is None:
            write_exactly(picture)
            return Exit.FINE
        try:
            with open(output, "w", encoding="utf-8") as file:
                file.write(picture)
        except OSError as error:
            raise UserError(f"cannot write `{output}`: {error.strerror}") from None
        tell(f"wrote {output}")
        return Exit.FINE
    width = shutil.get_terminal_size((100, 24)).columns
    plain = not (sys.stdout.encoding or "ascii").lower().startswith("utf")
    text = space_to_tree(loaded.spec.space, title=loaded.spec.name, width=width, ascii_only=plain)
    write(text if text.endswith("\n") else f"{text}\n")
    return Exit.FINE
