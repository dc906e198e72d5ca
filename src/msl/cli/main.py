"""The command `msl`: finds its verbs in the folder `verbs` and in other packages, and runs one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from msl import __version__
from msl.cli import verbs as verb_folder
from msl.cli.shared.console import Clock, guard, guarded, tell
from msl.diagnostics.user_error import UserError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: The groups of `msl --help` in their order; others come after them.
GROUPS = ("Search", "Look back", "Use", "Write", "Understand")
#: The entry points by which other packages add verbs, as `name = "package.module:function"`.
ENTRY_POINTS = "msl.verbs"
_OTHERS = ("Other packages", 0)


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb, its function, and where the help shows it."""

    name: str
    function: Callable[..., Any]
    group: str
    place: int


def shipped_verbs() -> list[str]:
    """The verbs of the folder, by the names of its files; nothing is imported."""
    return sorted(
        Path(file).stem
        for folder in verb_folder.__path__
        for file in os.listdir(folder)
        if file.endswith(".py") and not file.startswith("_")
    )


def load_verb(name: str) -> Verb:
    """The verb of this name. Other packages cannot replace a verb that ships."""
    if name in shipped_verbs():
        module = import_module(f"{verb_folder.__name__}.{name}")
        return _verb(name, getattr(module, name), module)
    point = _offered()[name]
    try:
        function = point.load()
    except Exception as trouble:  # the import runs code of another package
        package = point.module if point.dist is None else point.dist.name
        message = f"the verb `{name}` of the package `{package}` cannot be loaded: {trouble}"
        raise UserError(message, f"install a version of `{package}` that works, or remove it") from trouble
    return _verb(name, function, import_module(point.module))


def all_verbs() -> list[Verb]:
    """Every verb in the order of the help; one of another package that cannot be loaded is left out and reported."""
    found = [load_verb(name) for name in shipped_verbs()]
    for name in sorted(_offered().keys() - {verb.name for verb in found}):
        try:
            found.append(load_verb(name))
        except UserError as trouble:
            tell(str(trouble))
    return ordered(found)


def ordered(verbs: Iterable[Verb]) -> list[Verb]:
    """Verbs in the order of the help."""
    order = {group: position for position, group in enumerate(GROUPS)}
    return sorted(verbs, key=lambda verb: (order.get(verb.group, len(GROUPS)), verb.group, verb.place, verb.name))


def _verb(name: str, function: Callable[..., Any], module: object) -> Verb:
    group, place = getattr(module, "PLACE", _OTHERS)
    return Verb(name, function, group, place)


def _offered() -> dict[str, EntryPoint]:
    if not _is_group_used():
        return {}
    from importlib.metadata import entry_points

    return {point.name: point for point in sorted(entry_points(group=ENTRY_POINTS), reverse=True)}


def _is_group_used() -> bool:
    """Whether an installed package adds verbs: a look at its files takes 5 ms, importing `importlib.metadata` 80."""
    for folder in map(Path, sys.path):
        for file in folder.glob("*-info/entry_points.txt"):
            if f"[{ENTRY_POINTS}]".encode() in file.read_bytes():
                return True
    return False


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


def command_line(names: Iterable[str] | None = None) -> typer.Typer:
    """The command with these verbs, or with all; their modules are imported."""
    app = typer.Typer(
        name="msl",
        help="Search spaces of scikit-learn pipelines, described in a text file.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(options)
    for verb in all_verbs() if names is None else map(load_verb, names):
        app.command(verb.name, rich_help_panel=verb.group)(guarded(verb.function))
    return app


def main() -> None:
    """The entry point of the console script. A verb that is named is imported alone."""
    Clock.started = monotonic()
    with guard():
        named = sys.argv[1] if len(sys.argv) > 1 and "_MSL_COMPLETE" not in os.environ else ""
        command_line(_needed(named))(prog_name="msl")


def _needed(named: str) -> list[str] | None:
    """The verbs to import for a command that starts with this word; None is all of them."""
    if named == "--version":
        return []
    is_verb = named in shipped_verbs() or (bool(named) and not named.startswith("-") and named in _offered())
    return [named] if is_verb else None
