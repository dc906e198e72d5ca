"""msl diff: compare two specs or runs by meaning, not by text."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from msl.cli.shared.console import Exit, large_json, wants_colour, write, write_exactly
from msl.cli.shared.load_run import STORE_HELP, opened_run
from msl.cli.shared.load_spec import STANDARD_INPUT, Loaded, load_revision, load_source, read_source
from msl.diagnostics.user_error import UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from msl.report.changes import Changed
    from msl.space.diff.pieces import Change
    from msl.space.enumerate.count import Count
    from msl.space.enumerate.equivalence import Verdict
    from msl.space.nodes import Node
    from msl.store.stored_run import Run

#: The group and the place of this verb in `msl --help`.
PLACE = ("Understand", 5)

_SIDE_HELP = "A spec, REVISION:PATH in git, or a run."


def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help=_SIDE_HELP)],
    new: Annotated[str, typer.Argument(metavar="NEW", help=_SIDE_HELP)],
    data: Annotated[str | None, typer.Option(metavar="TABLE", help="Resolve bounds against this table.")] = None,
    chain: Annotated[str | None, typer.Option(metavar="NAME", help="The chain, where there are several.")] = None,
    store: Annotated[Path | None, typer.Option(metavar="FOLDER", help=STORE_HELP)] = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> Exit:
    """Compare two specs or runs: what was added, removed, widened, narrowed, fixed … and, for runs, their results.

    A run is `@`, `@1` or the start of its id. One line says whether one space has all models of the other, as far as
    that can be proven. Exit 0 same, 1 different, 2 trouble.
    """
    if old == new == STANDARD_INPUT:
        raise UserError("standard input can be read once", "name a file for one of the two")
    try:
        before, after = (_side(name, data, chain, store) for name in (old, new))
    except SystemExit:
        raise SystemExit(int(Exit.WRONG_USE)) from None
    found = _differences(before, after)
    if json:
        write_exactly(_as_json(found))
    else:
        write(_as_text(found))
    return Exit.FAILED if found.is_different else Exit.FINE


@dataclass(frozen=True, slots=True)
class _Side:
    """A spec, or a run with the spec that it was of."""

    loaded: Loaded
    run: Run | None = None


@dataclass(frozen=True, slots=True)
class _Differences:
    """What changed in the space, in the rest of the spec and in the inputs of runs; and results of runs."""

    changes: tuple[Change, ...]
    others: list[Changed]
    counts: tuple[Count, Count]
    digests: tuple[str, str]
    verdict: Verdict
    runs: tuple[Run, Run] | None
    results: list[Changed]

    @property
    def is_different(self) -> bool:
        return any(change.counts for change in self.changes) or bool(self.others) or bool(self.results)


def _differences(before: _Side, after: _Side) -> _Differences:
    from msl.space.canonical.digest import space_digest
    from msl.space.diff.compare import compare_spaces, diff_spaces
    from msl.space.enumerate.count import count

    specs = before.loaded.spec, after.loaded.spec
    others = _other_changes(before.loaded, after.loaded)
    runs, results = None, []
    if before.run is not None and after.run is not None:
        from msl.report.changes import provenance_changes, result_changes

        runs = before.run, after.run
        others = [other for other in others if other[0] != "seed"] + provenance_changes(*runs)
        results = result_changes(*runs)
    verdict = compare_spaces(specs[0].space, specs[1].space)
    return _Differences(
        diff_spaces(specs[0].space, specs[1].space, verdict),
        others,
        (count(specs[0].space), count(specs[1].space)),
        (space_digest(specs[0].space), space_digest(specs[1].space)),
        verdict,
        runs,
        results,
    )


def _side(name: str, data: str | None, chain: str | None, store: Path | None) -> _Side:
    if not _names_run(name):
        return _Side(_loaded(name, data, chain))
    from msl.report.run_facts import read_stored, stored_source

    try:
        with opened_run(name, store) as (opened, identity):
            run, sources = opened.runs.get(identity), opened.runs.sources(identity)
    except UserError as wrong:
        help = f"{wrong.help}; it is not a file either" if "/" not in name and not name.startswith("@") else wrong.help
        raise UserError(wrong.message, help) from None
    loaded = load_source(stored_source(run, sources), data, chain or run.name, read_stored(sources))
    return _Side(replace(loaded, spec=replace(loaded.spec, seed=run.seed)), run)


def _names_run(name: str) -> bool:
    """Whatever can be no file, none that is here, and nothing that git has."""
    return name != STANDARD_INPUT and not os.path.exists(name) and ":" not in name and not name.endswith(".msl")


def _beside(before: Loaded, after: Loaded, written: Callable[[Node], list[str]]) -> tuple[str, str]:
    """What changed of that which steers a search and is no part of the space."""
    old, new = (written(loaded.spec.space.root) for loaded in (before, after))
    gone, come = [one for one in old if one not in new], [one for one in new if one not in old]
    return "; ".join(gone) or "none", "; ".join(come) or "none"


def _other_changes(before: Loaded, after: Loaded) -> list[Changed]:
    """Changes in priors, orders of alternatives, objectives and search: (what, before, after)."""
    from msl.report.changes import orders_to_text, priors_to_text

    rows = [
        ("priors", *_beside(before, after, priors_to_text)),
        ("orders", *_beside(before, after, orders_to_text)),
        ("objectives", _objectives(before), _objectives(after)),
        ("limits", _limits(before), _limits(after)),
        *_searching(before, after),
        ("ensemble", _call(before.spec.ensemble), _call(after.spec.ensemble)),
        ("budget", _options(before.spec.budget), _options(after.spec.budget)),
        ("data", _options(before.spec.data), _options(after.spec.data)),
        ("seed", str(before.spec.seed), str(after.spec.seed)),
    ]
    return [row for row in rows if row[1] != row[2]]


def _objectives(loaded: Loaded) -> str:
    words = [
        f"{'minimize' if objective.minimize else 'maximize'} {objective.text} by {_call(objective.estimate)}"
        for objective in loaded.spec.objectives
    ]
    return ", ".join(words) or "default"


def _limits(loaded: Loaded) -> str:
    return "; ".join(limit.text for limit in loaded.spec.limits) or "none"


def _searching(before: Loaded, after: Loaded) -> list[Changed]:
    """Option by option where the strategies are the same, else as a whole."""
    from msl.space.to_text import value_to_text

    calls = [[stage.call for stage in loaded.spec.search] for loaded in (before, after)]
    if [call.name for call in calls[0]] != [call.name for call in calls[1]]:
        texts = [" then ".join(map(_call, own)) or "default" for own in calls]
        return [("search", texts[0], texts[1])]
    return [
        (f"search {old.name}.{name}", value_to_text(value), value_to_text(new[name]))
        for old, new in zip(*calls, strict=True)
        for name, value in old.options
    ]


def _call(call: Any) -> str:
    from msl.space.to_text import value_to_text

    if call is None:
        return "none"
    return f"{call.name}({', '.join(f'{name} = {value_to_text(value)}' for name, value in call.options)})"


def _options(record: Any) -> str:
    from dataclasses import fields

    given = [(f.name, getattr(record, f.name)) for f in fields(record)]
    return ", ".join(f"{name} = {value}" for name, value in given if value not in (None, ())) or "none"


def _as_text(found: _Differences) -> str:
    from msl.report.changes import changes_to_text

    text = changes_to_text(found.changes, colour=wants_colour(sys.stdout)) if found.changes else ""
    if text and not text.endswith("\n"):
        text += "\n"
    for what, before, after in found.others:
        text += f"~ {what}: {before} -> {after}\n"
    sizes = [_size(count) for count in found.counts]
    if sizes[0] != sizes[1]:
        text += f"\n{sizes[0]} -> {sizes[1]}\n"
    if found.digests[0] != found.digests[1]:
        from msl.report.changes import verdict_to_text

        text += ("" if sizes[0] != sizes[1] else "\n" * bool(text)) + verdict_to_text(found.verdict) + "\n"
    if found.runs is not None:
        from msl.report.changes import results_abreast

        text += ("\n" if text else "the same spec, table, seed and versions\n\n") + results_abreast(*found.runs)
    return text


def _size(count: Count) -> str:
    structures = _counted(count.structures, "structure")
    if count.models is not None:
        return _counted(count.models, "model")
    return f"infinitely many models in {structures}" if count.open_reals else structures


def _counted(number: int, what: str) -> str:
    from msl.cli.verbs.info import shown_number

    return f"{shown_number(number)} {what}{'s' if number != 1 else ''}"


def _as_json(found: _Differences) -> str:
    record: dict[str, Any] = {
        "same": not found.is_different,
        "changes": [
            {
                "kind": str(change.kind),
                "path": list(change.path),
                "old": change.old_text,
                "new": change.new_text,
                "detail": change.detail,
            }
            for change in found.changes
        ],
        "other": _as_records(found.others),
        "models": [count.models for count in found.counts],
        "structures": [count.structures for count in found.counts],
        "digests": list(found.digests),
        "relation": str(found.verdict.relation),
    }
    if found.runs is not None:
        from msl.report.text_tables import finite

        record["runs"] = [{"run": run.id, "status": run.status, "result": finite(run.result)} for run in found.runs]
        record["results"] = _as_records(found.results)
    return large_json(record)


def _as_records(changes: list[Changed]) -> list[dict[str, str]]:
    return [{"what": what, "old": before, "new": after} for what, before, after in changes]


def _loaded(name: str, data: str | None, chain: str | None) -> Loaded:
    """A file, or a file as git has it at a revision."""
    if ":" not in name or os.path.exists(name):
        return load_source(read_source(name), data, chain)
    return load_revision(name, data, chain)
