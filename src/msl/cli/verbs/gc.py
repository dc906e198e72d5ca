"""msl gc: remove old runs, and evaluations, models and reports that no other run needs."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from msl.cli.shared.console import Exit, write
from msl.cli.shared.load_run import STORE_HELP, opened_store
from msl.diagnostics.user_error import UserError

if TYPE_CHECKING:
    from msl.store.gc import Garbage

#: The group and the place of this verb in `msl --help`.
PLACE = ("Look back", 5)

_AGE = re.compile(r"(\d+)\s*(min|h|d|w)")
_UNITS = {"min": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def gc(
    keep: Annotated[int | None, typer.Option(min=0, metavar="N", help="Keep only the latest N runs.")] = None,
    older: Annotated[
        str | None, typer.Option(metavar="AGE", help="Remove runs that started longer ago, such as 30d or 12h.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be removed, and remove nothing.")] = False,
    store: Annotated[Path | None, typer.Option(metavar="FOLDER", help=STORE_HELP)] = None,
) -> Exit:
    """Clean a store: remove old runs on request, orphaned files, unneeded evaluations. Running runs are kept."""
    from msl.store.gc import collect, old_runs

    age = None if older is None else _age(older)
    with opened_store(store, read_only=False) as opened:
        try:
            before = None if age is None else opened.clock() - age
        except OverflowError:
            raise UserError(f"`{older}` is too long ago", "name an age such as 30d") from None
        drop = old_runs(opened.runs.all(), keep=keep, before=before)
        garbage = collect(opened, drop, dry_run=dry_run)
        kept = len(opened.runs.ids()) - (len(drop) if dry_run else 0)
    write(_as_text(garbage, kept, dry_run))
    return Exit.FINE


def _age(text: str) -> timedelta:
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise UserError(f"`{text}` is not an age", "write a number and min, h, d or w, such as 30d")
    try:
        return int(found[1]) * _UNITS[found[2]]
    except OverflowError:
        raise UserError(f"`{text}` is too long ago", "name an age such as 30d") from None


def _as_text(garbage: Garbage, kept: int, dry_run: bool) -> str:
    verb = "would remove" if dry_run else "removed"
    lines = [f"{verb} run {run}" for run in garbage.runs]
    lines += [f"{verb} {file}" for file in garbage.files]
    if garbage.evaluations:
        lines.append(f"{verb} {garbage.evaluations:,} evaluations that no run needs any more")
    freed = "would free" if dry_run else "freed"
    lines.append(
        f"{freed} {garbage.bytes:,} bytes; {_runs(kept)} kept" if lines else f"nothing to remove; {_runs(kept)}"
    )
    return "\n".join(lines) + "\n"


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"
