"""msl info: show the size of a space, and what its dimensions mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from msl.cli.shared.console import Exit, large_json, write, write_exactly
from msl.cli.shared.load_spec import Loaded, load
from msl.diagnostics.user_error import UserError

if TYPE_CHECKING:
    from msl.encode.layout import Layout, Meaning
    from msl.space.enumerate.count import Count

#: The group and the place of this verb in `msl --help`.
PLACE = ("Understand", 3)

_LONGEST_NUMBER = 30
_MOST_OWNERS = 5


def info(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="A spec; `-` reads standard input.")],
    data: Annotated[str | None, typer.Option(metavar="TABLE", help="Resolve bounds against this table.")] = None,
    chain: Annotated[str | None, typer.Option(metavar="NAME", help="The chain, where there are several.")] = None,
    encoding: Annotated[str, typer.Option(help="How alternatives are laid out: shared or separate.")] = "shared",
    json: Annotated[bool, typer.Option("--json", help="As JSON, with stable names.")] = False,
) -> Exit:
    """Show the size of a space, its dimensions and what they mean, and its digest."""
    from msl.encode.codec import space_to_layout
    from msl.space.best import without_best
    from msl.space.canonical.digest import space_digest
    from msl.space.enumerate.count import count

    if encoding not in ("shared", "separate"):
        raise UserError(f"`{encoding}` is not an encoding", "it is `shared` or `separate`")
    loaded = load(spec, data, chain)
    space = loaded.spec.space
    size, digest = count(space), space_digest(space)
    searched, _ = without_best(space)  # a search has no dimension for `best` parameters
    layout = space_to_layout(searched, "shared" if encoding == "shared" else "separate")
    write_exactly(_as_json(loaded, size, layout, digest)) if json else write(_as_text(loaded, size, layout, digest))
    return Exit.FINE


def _as_json(loaded: Loaded, size: Count, layout: Layout, digest: str) -> str:
    record: dict[str, Any] = {
        "chain": loaded.spec.name,
        "models": size.models,
        "structures": size.structures,
        "codes": size.codes,
        "exact": size.exact,
        "open_reals": size.open_reals,
        "reason": size.reason or None,
        "dimensions": layout.n_dimensions,
        "encoding": layout.encoding,
        "layout": [_row(meaning) for meaning in layout.meanings],
        "requirements": [requirement.text for requirement in loaded.spec.space.requirements],
        "limits": [limit.text for limit in loaded.spec.limits],
        "removed": [f"{removal.what}: {removal.why}" for removal in loaded.checked.removals],
        "digest": digest,
    }
    for name, interval in (("models", size.models_interval), ("structures", size.structures_interval)):
        if interval is not None:
            record[f"{name}_interval"] = [interval.low, interval.high]
    return large_json(record)


def _row(meaning: Meaning) -> dict[str, Any]:
    return {
        "slot": meaning.slot,
        "width": meaning.width,
        "alternative": meaning.alternative,
        "path": meaning.path,
        "kind": meaning.kind,
        "range": meaning.range,
        "scale": meaning.scale,
        "levels": meaning.levels,
    }


def _as_text(loaded: Loaded, size: Count, layout: Layout, digest: str) -> str:
    table = loaded.table
    lines = [f"chain        {loaded.spec.name}"]
    if table is not None:
        facts = table.facts
        classes = f", {facts.n_classes} classes" if facts.n_classes else ""
        lines.append(f"table        {facts.n_samples:,} rows, {facts.n_features} features{classes} ({facts.task})")
    models = shown_number(size.models, size.exact) if size.models is not None else size.reason
    lines.append(f"models       {models}")
    codes = "" if size.codes == size.structures else f" in {shown_number(size.codes)} structural codes"
    lines.append(f"structures   {shown_number(size.structures, size.structures_interval is None)}{codes}")
    dimensions = "depends on the data" if layout.n_dimensions is None else f"{layout.n_dimensions}"
    lines.append(f"dimensions   {dimensions} ({layout.encoding})")
    lines.append(f"digest       {digest}")
    lines += [f"left out     {removal.what}: {removal.why}" for removal in loaded.checked.removals]
    lines += [requirement.text for requirement in loaded.spec.space.requirements]
    lines += [f"{limit.text}   (measured of each model that is evaluated: not counted)" for limit in loaded.spec.limits]
    table_of_slots = f"\n{_layout_table(layout)}" if layout.meanings else ""
    return "\n".join(lines) + "\n" + table_of_slots


def shown_number(value: int, exact: bool = True) -> str:
    """A count for people; beyond thirty digits, how many digits it has."""
    digits = len(str(value)) if value < 10**4000 else _digits(value)
    if digits > _LONGEST_NUMBER:
        return f"about 10^{digits - 1}"
    return f"{value:,}" if exact else f"about {value:,}"


def _digits(value: int) -> int:
    """The number of decimal digits, without writing them out."""
    return int(value.bit_length() * 0.30103) + 1


def _layout_table(layout: Layout) -> str:
    """One line for each thing a slot can mean; alternatives that use it for the same thing share a line."""
    lines: dict[tuple[str, str, str], list[str]] = {}
    for meaning in layout.meanings:
        what = meaning.path if meaning.path != meaning.range else meaning.kind
        name = what.rpartition(".")[2] if meaning.alternative else what
        lines.setdefault((_slots(meaning), name, meaning.range), []).append(meaning.alternative)
    rows = [("slot", "meaning", "range", "of")]
    rows += [(slot, name, domain, _owners(owners)) for (slot, name, domain), owners in lines.items()]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "".join(
        f"{row[0]:>{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]:<{widths[2]}}  {row[3]}".rstrip() + "\n" for row in rows
    )


def _owners(alternatives: list[str]) -> str:
    shown = [alternative for alternative in alternatives if alternative]
    more = f" and {len(shown) - _MOST_OWNERS} more" if len(shown) > _MOST_OWNERS else ""
    return ", ".join(shown[:_MOST_OWNERS]) + more


def _slots(meaning: Meaning) -> str:
    if meaning.slot is None:
        return "?"
    if meaning.width is None:
        return f"{meaning.slot} …"
    return f"{meaning.slot}" if meaning.width == 1 else f"{meaning.slot}–{meaning.slot + meaning.width - 1}"
