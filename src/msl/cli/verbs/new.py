"""msl new: write the spec of a paper, to run or to start from."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from msl.cli.shared.console import Exit, tell, write_output
from msl.diagnostics.suggest import did_you_mean
from msl.diagnostics.user_error import UserError

#: The group and the place of this verb in `msl --help`.
PLACE = ("Write", 2)

#: The specs by the names of their methods, in the order of the help.
SPECS = ("psms", "psms_paper", "sbm", "kms", "rbf", "mopso")
#: Those that have no variant of two minutes.
_LONG_ONLY = ("psms_paper",)
_USED_FILE = re.compile(r'^use "([^"]+\.msl)"', re.MULTILINE)


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"One of {', '.join(SPECS)}.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FOLDER", help="Write there instead of here.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="The variant that takes two minutes.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files.")] = False,
) -> Exit:
    """Write the spec of a paper, with the files that it uses."""
    if name not in SPECS:
        raise UserError(f"there is no spec `{name}`", did_you_mean(name, SPECS) or f"there are {', '.join(SPECS)}")
    if quick and name in _LONG_ONLY:
        raise UserError(f"`{name}` has no quick variant", "leave `--quick` out, or take `psms`")
    folder = output or Path()
    main = f"{name}_quick.msl" if quick else f"{name}.msl"
    texts = spec_texts(main)
    present = [folder / file for file in texts if (folder / file).exists()]
    if present and not force:
        raise UserError(
            f"`{present[0]}` is there already", "write elsewhere with `-o FOLDER`, or overwrite with `--force`"
        )
    if not folder.is_dir():
        raise UserError(f"there is no folder `{folder}`", "make it first")
    for file, text in texts.items():
        write_output(text, folder / file)
        tell(f"wrote {folder / file}")
    tell(f"next: msl run {folder / main} DATA")
    return Exit.FINE


def spec_texts(main: str) -> dict[str, str]:
    """A spec and the files that it uses, by their names."""
    texts = {main: _spec_text(main)}
    for used in _USED_FILE.findall(texts[main]):
        texts |= spec_texts(used)
    return texts


def _spec_text(file: str) -> str:
    """As installed with the package, or from the checkout that this module is in."""
    installed = resources.files("msl") / "specs" / file
    if installed.is_file():
        return installed.read_text(encoding="utf-8")
    return (Path(__file__).parents[4] / "specs" / file).read_text(encoding="utf-8")
