"""The command `msl`: its verbs, grouped by what people do with them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib import import_module
from time import monotonic
from typing import Annotated

import typer

from msl import __version__
from msl.cli.shared.console import Clock, guard, guarded

#: Each verb is a function in the module of its name. These modules import heavy libraries inside the function, so that
#: `msl --help` stays quick.
VERBS = {
    "run": "Search",
    "plan": "Search",
    "lock": "Search",
    "replay": "Search",
    "log": "Look back",
    "show": "Look back",
    "report": "Look back",
    "compare": "Look back",
    "gc": "Look back",
    "doctor": "Look back",
    "predict": "Use",
    "export": "Use",
    "init": "Write",
    "new": "Write",
    "data": "Write",
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


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"msl {__version__}")
        raise typer.Exit


def options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    pass


def command_line(verbs: Iterable[str] = VERBS) -> typer.Typer:
    """The command with these verbs; their modules are imported."""
    app = typer.Typer(
        name="msl",
        help="Search spaces of scikit-learn pipelines, described in a text file.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(options)
    for verb in verbs:
        function = getattr(import_module(f"msl.cli.verbs.{verb}"), verb)
        app.command(verb, rich_help_panel=VERBS[verb])(guarded(function))
    return app


def main() -> None:
    """The entry point of the console script. A verb that is named alone is imported alone."""
    Clock.started = monotonic()
    with guard():
        named = sys.argv[1] if len(sys.argv) > 1 and "_MSL_COMPLETE" not in os.environ else ""
        command_line([named] if named in VERBS else VERBS)(prog_name="msl")
