"""msl explain: show the long form of a diagnostic code."""

from __future__ import annotations

import re
import sys
from typing import Annotated

import typer

from msl.cli.shared.console import Exit, wants_colour, write
from msl.diagnostics.diagnostic import page, titles
from msl.diagnostics.suggest import did_you_mean
from msl.diagnostics.user_error import UserError

#: The group and the place of this verb in `msl --help`.
PLACE = ("Understand", 1)

_ABOUT = (
    "The message of this code says where, and what to do: it is about a table, a class or a store, not about a spec."
)
_SHORTENED = re.compile(r"(?:MSL)?(\d{1,3})")


def _complete(incomplete: str) -> list[tuple[str, str]]:
    return [(code, title) for code, title in titles().items() if code.startswith(incomplete.upper())]


def explain(
    code: Annotated[
        str | None, typer.Argument(metavar="CODE", help="Such as MSL012; none lists all.", autocompletion=_complete)
    ] = None,
) -> Exit:
    """Explain a diagnostic: what it means and, of those about specs, a wrong example and a right one."""
    known = titles()
    if code is None:
        every = sorted({**known, **_in_one_line()}.items())
        write("".join(f"{known_code}  {title}\n" for known_code, title in every))
        return Exit.FINE
    match = _SHORTENED.fullmatch(code.strip().upper())
    wanted = f"MSL{int(match[1]):03}" if match else code.strip().upper()
    if wanted in known:
        _show(page(wanted))
        return Exit.FINE
    others = _in_one_line()
    if wanted not in others:
        help = did_you_mean(wanted, [*known, *others]) or "`msl explain` alone lists all codes"
        raise UserError(f"`{code}` is not a code of msl", help)
    _show(f"# {wanted}: {others[wanted]}\n\n{_ABOUT}\n")
    return Exit.FINE


def _in_one_line() -> dict[str, str]:
    """The codes without a page: what they are about is no text, so there is no wrong one and no right one to show."""
    from msl.blocks.base import load
    from msl.data import data_errors
    from msl.store import store_error

    return {**data_errors.MEANINGS, **load.MEANINGS, **store_error.MEANINGS}


def _show(text: str) -> None:
    """The page as it is, or laid out on a terminal."""
    if not wants_colour(sys.stdout):
        write(text if text.endswith("\n") else f"{text}\n")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(force_terminal=True).print(Markdown(text))
