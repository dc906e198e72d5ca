"""msl diff: what changed between two specs — as spaces, not as texts."""

from __future__ import annotations

import json as json_text
import os
import subprocess
import sys
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from msl.cli.console import Exit, WrongUse, wants_colour, write
from msl.cli.files import read_source
from msl.cli.specs import Loaded, load_source
from msl.text.source import Source

if TYPE_CHECKING:
    from msl.space.change import Change
    from msl.space.count import Count


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

    try:
        before, after = (load_source(_source(name), data, chain) for name in (old, new))
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
    from msl.cli.info import shown_number

    if count.models is not None:
        return f"{shown_number(count.models)} models"
    return f"{shown_number(count.structures)} structures"


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
    return json_text.dumps(record, indent=2, ensure_ascii=False) + "\n"


def _source(name: str) -> Source:
    """A file, or a file as git has it at a revision."""
    revision, colon, path = name.partition(":")
    if not colon or os.path.exists(name):
        return read_source(name)
    return Source(name, _git_show(revision, path), path)


def _git_show(revision: str, path: str) -> str:
    place = f"./{path}" if not PurePosixPath(path).is_absolute() else path
    command = ["git", "show", f"{revision}:{place}"]
    try:
        shown = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        raise WrongUse("git is not installed, so there is no REVISION:PATH", "name two files") from None
    if shown.returncode:
        said = shown.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
        raise WrongUse(f"`{revision}:{path}`: {said}", "write REVISION:PATH, such as HEAD~1:specs/model.msl")
    try:
        return shown.stdout.decode("utf-8")
    except UnicodeDecodeError:
        raise WrongUse(f"`{revision}:{path}` is not UTF-8 text") from None
