"""msl data: tables made by a formula, for specs to be tried on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from msl.cli.console import Exit, WrongUse
from msl.cli.output import write_output
from msl.text.suggest import did_you_mean

GENERATORS = ("hermite",)


def data(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"One of {', '.join(GENERATORS)}.")],
    rows: Annotated[int, typer.Option(min=2, help="How many rows.")] = 40,
    noise: Annotated[float, typer.Option(min=0.0, help="The variance of the noise on the target.")] = 0.01,
    even: Annotated[bool, typer.Option("--even", help="Even places instead of random ones, for a test.")] = False,
    printed: Annotated[
        bool, typer.Option("--printed", help="With the sign that the paper prints: 1 - x - 2x² for 1 - x + 2x².")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="The seed of places and noise.")] = 0,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write to this file.")] = None,
) -> Exit:
    """Make a table: `hermite` is a curve with noise, 1.1 (1 - x + 2x²) exp(-x²/2) for x from -4 to 4."""
    if name not in GENERATORS:
        raise WrongUse(f"there is no generator `{name}`", did_you_mean(name, GENERATORS) or "there is hermite")
    from msl.evaluate.hermite import hermite_rows

    x, y = hermite_rows(rows, noise, seed, even=even, printed=printed)
    lines = [f"{float(place)!r},{float(value)!r}" for place, value in zip(x, y, strict=True)]
    write_output("\n".join(["x,y", *lines]) + "\n", output)
    return Exit.FINE
