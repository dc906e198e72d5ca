"""msl suggest: edits of the spec of a run, each with its evidence."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from msl.cli.shared.console import Exit, tell, write, write_atomically, write_exactly
from msl.cli.shared.load_run import RUN_HELP, STORE_HELP, opened_run
from msl.cli.shared.load_spec import read_source
from msl.diagnostics.user_error import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from msl.runner.insight.suggestions import SpecOfRun, Suggestion

#: The group and the place of this verb in `msl --help`.
PLACE = ("Look back", 9)


def suggest(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)] = "@",
    apply: Annotated[bool, typer.Option("--apply", help="Write the edits into the spec.")] = False,
    only: Annotated[str | None, typer.Option(metavar="N,N", help="Only these, by their numbers.")] = None,
    patch: Annotated[bool, typer.Option("--patch", help="Print one patch of all edits, for `git apply`.")] = False,
    json: Annotated[bool, typer.Option("--json", help="As JSON, with stable names.")] = False,
    store: Annotated[Path | None, typer.Option(metavar="FOLDER", help=STORE_HELP)] = None,
) -> Exit:
    """Suggest edits of the spec of a run, each with its evidence; with --apply, write them.

    A range whose good models crowd at its end, an alternative that never was good, what does not matter, a budget that
    was too short or too long, what failures imply. Each is checked before it is shown.
    """
    import shutil

    from msl.report.insight_text import suggestions_to_text
    from msl.runner.insight.look_back import suggest as suggested

    if patch and (apply or json):
        raise UserError("`--patch` prints a patch and nothing else", "leave out the other option")
    with opened_run(run, store) as (opened, identity):
        found, made, of = suggested(opened, identity)
        beside = opened.folder.absolute().parent
    chosen = _chosen(made, only)
    if patch:
        write_exactly(_patch(of, chosen))
    elif json:
        write_exactly(json_text.dumps(found.record, indent=2, ensure_ascii=False) + "\n")
    else:
        write(suggestions_to_text(found.record, max(60, shutil.get_terminal_size((100, 24)).columns)))
    if apply:
        _apply(of, chosen, beside)
    elif made and not (json or patch):
        write(f"write them into {of.source.name}: msl suggest {identity} --apply [--only N,N]\n")
    return Exit.FINE


def _chosen(made: Sequence[Suggestion], only: str | None) -> list[Suggestion]:
    if only is None:
        return list(made)
    try:
        numbers = [int(one) for one in only.split(",")]
        if any(not 1 <= number <= len(made) for number in numbers):
            raise ValueError
    except ValueError:
        raise UserError(f"`--only {only}` names no suggestion", f"write numbers from 1 to {len(made)}") from None
    return [made[number - 1] for number in sorted(set(numbers))]


def _patch(of: SpecOfRun, chosen: Sequence[Suggestion]) -> str:
    from msl.language.edit_space import edit_source, patch_text

    return patch_text(of.source, edit_source(of.source, [edit for one in chosen for edit in one.edits]))


def _apply(of: SpecOfRun, chosen: Sequence[Suggestion], beside: Path) -> None:
    """Writes the edits into the file of the spec, if the result is a spec without errors."""
    from dataclasses import replace

    from msl.language.edit_space import edit_source
    from msl.report.changes import changes_to_text
    from msl.space.diff.compare import diff_spaces

    if not chosen:
        return
    name = of.source.name
    path = next((one for one in (Path(name), beside / Path(name).name) if one.is_file()), None)
    if path is None:
        raise UserError(f"the spec `{name}` is no longer there", "take the patch: `msl suggest … --patch`")
    now = read_source(str(path))
    if now.text != of.source.text:
        tell(f"note: {path} has changed since the run; what was found is about the spec as it was")
    after, skipped = now, []
    # The file reads the files that it uses from the disk, as they are now.
    of_now = replace(of, read_file=None)
    for one in chosen:
        try:
            edited = edit_source(after, one.edits)
            of_now.spec(edited)
            after = edited
        except UserError as reason:
            skipped.append((one, reason))
    for one, why in skipped:
        tell(f"not made: {one.says}: {why}")
    if after.text == now.text:
        raise UserError(f"nothing was changed in {path}", "look at the suggestions, and edit the spec by hand")
    before_spec, after_spec = of_now.spec(now), of_now.spec(after)
    write_atomically(str(path), after.text)
    write(changes_to_text(diff_spaces(before_spec.space, after_spec.space)))
    write(f"wrote {path}; what it costs: msl plan {path} DATA\n")
