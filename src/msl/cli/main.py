"""The command `msl`: its verbs, grouped by what people do with them."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from msl import __version__
from msl.cli.console import guard, guarded

#: Each verb is the function of its name in the module of its name. These modules import light things alone, and the
#: rest inside the function, so that `msl --help` stays quick.
VERBS = {
    "check": "Write",
    "fmt": "Write",
    "explain": "Understand",
    "blocks": "Understand",
    "info": "Understand",
    "draw": "Understand",
    "diff": "Understand",
    "sample": "Understand",
    "decode": "Understand",
}

app = typer.Typer(
    name="msl",
    help="A declarative language for spaces of machine-learning models, and the interpreter that searches them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"msl {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    pass


for _verb, _group in VERBS.items():
    app.command(_verb, rich_help_panel=_group)(guarded(getattr(import_module(f"msl.cli.{_verb}"), _verb)))


def main() -> None:
    """The entry point of the console script."""
    with guard():
        app(prog_name="msl")
