"""msl diff: what changed between two specs — as spaces, not as texts."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from msl.cli.console import Exit, WrongUse, wants_colour, write
from msl.cli.files import STANDARD_INPUT, read_source
from msl.cli.large import large_json
from msl.cli.specs import Loaded, load_source
from msl.text.source import Source

if TYPE_CHECKING:
    from msl.space.change import Change
    from msl.space.count import Count

_REVISION_HELP = "write REVISION:PATH, such as HEAD~1:specs/model.msl"


def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="A spec, or REVISION:PATH in git.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="A spec, or REVISION:PATH in git.")],
    data: Annotated[str | None, typer.Option(metavar="TABLE", help="Resolve bounds against this table.")] = None,
    chain: Annotated[str | None, typer.Option(metavar="NAME", help="The chain, where there are several.")] = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> Exit:
    """Compare two specs: what was added, removed, widened, narrowed, fixed … Exit 0 same, 1 different, 2 trouble."""
    from msl.space.count import count
    from msl.space.diff import diff_spaces
    from msl.space.digest import space_digest

    if old == new == STANDARD_INPUT:
        raise WrongUse("standard input can be read once", "name a file for one of the two")
    try:
        before, after = (_loaded(name, data, chain) for name in (old, new))
    except SystemExit:
        raise SystemExit(int(Exit.WRONG_USE)) from None
    changes = diff_spaces(before.spec.space, after.spec.space)
    others = _other_changes(before, after)
    counts = count(before.spec.space), count(after.spec.space)
    digests = space_digest(before.spec.space), space_digest(after.spec.space)
    if json:
        write(_as_json(changes, others, counts, digests))
    elif changes or others:
        write(_as_text(changes, others, counts))
    different = digests[0] != digests[1] or bool(others) or any(change.counts for change in changes)
    return Exit.FAILED if different else Exit.FINE


def _other_changes(before: Loaded, after: Loaded) -> list[tuple[str, str, str]]:
    """How models are judged and searched: (what, before, after)."""
    rows = [
        ("judging", _judging(before), _judging(after)),
        *_searching(before, after),
        ("ensemble", _call(before.spec.ensemble), _call(after.spec.ensemble)),
        ("budget", _options(before.spec.budget), _options(after.spec.budget)),
        ("data", _options(before.spec.data), _options(after.spec.data)),
        ("seed", str(before.spec.seed), str(after.spec.seed)),
    ]
    return [row for row in rows if row[1] != row[2]]


def _judging(loaded: Loaded) -> str:
    words = [
        f"{'minimize' if objective.minimize else 'maximize'} {objective.text} by {_call(objective.estimate)}"
        for objective in loaded.spec.objectives
    ]
    return ", ".join(words) or "default"


def _searching(before: Loaded, after: Loaded) -> list[tuple[str, str, str]]:
    """Option by option where the strategies are the same, else as a whole."""
    from msl.space.spell import spell_value

    calls = [[stage.call for stage in loaded.spec.search] for loaded in (before, after)]
    if [call.name for call in calls[0]] != [call.name for call in calls[1]]:
        texts = [" then ".join(map(_call, own)) or "default" for own in calls]
        return [("search", texts[0], texts[1])]
    return [
        (f"search {old.name}.{name}", spell_value(value), spell_value(new[name]))
        for old, new in zip(*calls, strict=True)
        for name, value in old.options
    ]


def _call(call: Any) -> str:
    from msl.space.spell import spell_value

    if call is None:
        return "none"
    return f"{call.name}({', '.join(f'{name} = {spell_value(value)}' for name, value in call.options)})"


def _options(record: Any) -> str:
    from dataclasses import fields

    given = [(f.name, getattr(record, f.name)) for f in fields(record)]
    return ", ".join(f"{name} = {value}" for name, value in given if value not in (None, ())) or "none"


def _as_text(changes: tuple[Change, ...], others: list[tuple[str, str, str]], counts: tuple[Count, Count]) -> str:
    from msl.report.changes import changes_to_text

    text = changes_to_text(changes, colour=wants_colour(sys.stdout)) if changes else ""
    if text and not text.endswith("\n"):
        text += "\n"
    for what, before, after in others:
        text += f"~ {what}: {before} -> {after}\n"
    sizes = [_size(count) for count in counts]
    if sizes[0] != sizes[1]:
        text += f"\n{sizes[0]} -> {sizes[1]}\n"
    return text


def _size(count: Count) -> str:
    structures = _counted(count.structures, "structure")
    if count.models is not None:
        return _counted(count.models, "model")
    return f"infinitely many models in {structures}" if count.open_reals else structures


def _counted(number: int, what: str) -> str:
    from msl.cli.info import shown_number

    return f"{shown_number(number)} {what}{'s' if number != 1 else ''}"


def _as_json(
    changes: tuple[Change, ...],
    others: list[tuple[str, str, str]],
    counts: tuple[Count, Count],
    digests: tuple[str, str],
) -> str:
    record = {
        "same": digests[0] == digests[1] and not others,
        "changes": [
            {
                "kind": str(change.kind),
                "path": list(change.path),
                "old": change.old_text,
                "new": change.new_text,
                "detail": change.detail,
            }
            for change in changes
        ],
        "other": [{"what": what, "old": before, "new": after} for what, before, after in others],
        "models": [count.models for count in counts],
        "structures": [count.structures for count in counts],
        "digests": list(digests),
    }
    return large_json(record)


def _loaded(name: str, data: str | None, chain: str | None) -> Loaded:
    """A file, or a file as git has it at a revision, with the files that it uses at the same revision."""
    revision, colon, path = name.partition(":")
    if not colon or os.path.exists(name):
        return load_source(read_source(name), data, chain)
    source = Source(name, _git_text(revision, path), path)
    return load_source(source, data, chain, partial(_used_text, revision))


def _used_text(revision: str, path: str) -> str:
    try:
        return _git_text(revision, path)
    except WrongUse as wrong:
        raise ValueError(wrong.message) from None


def _git_text(revision: str, path: str) -> str:
    """The text of a file at a revision. A revision is never read as an option of git."""
    place = path if PurePosixPath(path).is_absolute() else f"./{path}"
    command = ["git", "cat-file", "blob", f"{revision}:{place}"]
    if revision.startswith("-"):
        raise WrongUse(f"`{revision}` is not a revision", _REVISION_HELP)
    try:
        shown = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        raise WrongUse("git is not installed, so there is no REVISION:PATH", "name two files") from None
    if shown.returncode:
        said = shown.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
        said = "it is not a file there" if said.endswith("bad file") else said
        raise WrongUse(f"`{revision}:{path}`: {said}", _REVISION_HELP)
    try:
        return shown.stdout.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise WrongUse(f"`{revision}:{path}` is not UTF-8 text") from None
