"""msl blocks: list the catalogues, or show one block."""

from __future__ import annotations

import json as json_text
from typing import TYPE_CHECKING, Annotated

import typer

from msl.cli.shared.console import Exit, write, write_exactly
from msl.diagnostics.suggest import did_you_mean, listing
from msl.diagnostics.user_error import UserError

if TYPE_CHECKING:
    from msl.check.names.documentation import Entry

#: The group and the place of this verb in `msl --help`.
PLACE = ("Understand", 2)


def blocks(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A block, a strategy, or a catalogue.")] = None,
    role: Annotated[str | None, typer.Option(help="Only blocks of this role, such as learner.")] = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> Exit:
    """List all blocks, strategies, estimates and ensembles; with a name, show one."""
    from msl.check.names.documentation import all_entries

    entries = all_entries()
    catalogues = list(dict.fromkeys(entry.catalogue for entry in entries))
    chosen = [e for e in entries if role is None or e.role == role]
    if role is not None and not chosen:
        roles = sorted({entry.role for entry in entries})
        raise UserError(f"no block is a `{role}`", did_you_mean(role, roles) or f"roles are {listing(roles, 20)}")
    if name is not None and name in catalogues and not (json and _named(chosen, name)):
        own = [entry for entry in chosen if entry.catalogue == name]
        write_exactly(_as_json(own)) if json else write(_table(own) + _also(chosen, name))
        return Exit.FINE
    if name is not None:
        found = _named(chosen, name)
        if not found:
            raise _no_such_block(name, role, entries, catalogues)
        write_exactly(_as_json(found)) if json else write("\n".join(_page(entry) for entry in found))
        return Exit.FINE
    write_exactly(_as_json(chosen)) if json else write(_table(chosen))
    return Exit.FINE


def _named(entries: list[Entry], name: str) -> list[Entry]:
    catalogue, _, bare = name.rpartition(".")
    return [entry for entry in entries if entry.name == bare and catalogue in ("", entry.catalogue)]


def _no_such_block(name: str, role: str | None, entries: list[Entry], catalogues: list[str]) -> UserError:
    others = _named(entries, name)
    if others and role is not None:
        return UserError(f"`{name}` is not a {role}", f"it is a {others[0].role}: leave out `--role`")
    catalogue, _, bare = name.rpartition(".")
    own = [entry.name for entry in entries if entry.catalogue == catalogue] if catalogue in catalogues else []
    help = did_you_mean(bare, own) if own else did_you_mean(name, [entry.name for entry in entries] + catalogues)
    if help is None:
        help = f"`msl blocks {catalogue}` lists what there is" if own else f"catalogues are {listing(catalogues)}"
    return UserError(f"there is no block `{name}`", help)


def _also(entries: list[Entry], name: str) -> str:
    """A catalogue and a block may share a name."""
    found = _named(entries, name)
    return "" if not found else "\n" + "\n".join(_page(entry) for entry in found)


def _table(entries: list[Entry]) -> str:
    """One line per block, under its catalogue and role."""
    width = max((len(entry.name) for entry in entries), default=0)
    lines: list[str] = []
    heading = ""
    for entry in entries:
        if (now := f"{entry.catalogue}: {_plural(entry.role)}") != heading:
            lines += ["", now] if lines else [now]
            heading = now
        lines.append(f"  {entry.name:<{width}}  {entry.first_sentence}")
    return "\n".join(lines) + "\n"


def _plural(role: str) -> str:
    return {"strategy": "strategies", "references": "references", "basis": "bases"}.get(role, f"{role}s")


def _page(entry: Entry) -> str:
    serves = f" for {entry.task}" if entry.task else ""
    lines = [f"{entry.catalogue}.{entry.name}: {entry.role}{serves}", "", *_wrapped(entry.text), ""]
    if entry.params:
        widths = [max(len(row[column]) for row in entry.params) for column in (0, 1)]
        for name, domain, default in entry.params:
            shown = f"  {name:<{widths[0]}}  {domain:<{widths[1]}}"
            lines.append(shown + (f"  default {default}" if default else ""))
        lines.append("")
    if (path := _path(entry)) is not None:
        from msl.space.best import MOST_ON_PATH

        lines += [f"path     `{path}: best …` tries up to {MOST_ON_PATH} values with one fit a fold"]
    if entry.target:
        lines += [f"class    {entry.target}"]
    first, *rest = entry.example.splitlines() or [""]
    lines += [f"example  {first}", *(f"         {line}" for line in rest)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _path(entry: Entry) -> str | None:
    """The parameter of a learner for which one fit answers for all values."""
    from msl.space.fit_costs import path_parameter

    found = path_parameter(entry.target, entry.task) if entry.role == "learner" else None
    return found if any(name == found for name, _, _ in entry.params) else None


def _wrapped(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, 100)


def _as_json(entries: list[Entry]) -> str:
    rows = [
        {
            "catalogue": entry.catalogue,
            "name": entry.name,
            "role": entry.role,
            "task": entry.task,
            "class": entry.target,
            "text": entry.text,
            "path": _path(entry),
            "parameters": [{"name": n, "domain": d, "default": v or None} for n, d, v in entry.params],
            "example": entry.example,
        }
        for entry in entries
    ]
    return json_text.dumps(rows, indent=2, ensure_ascii=False) + "\n"
