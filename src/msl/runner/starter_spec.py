"""Write a first, commented spec for a table, as `msl init` does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from msl.data.assemble import build_table
from msl.data.data_errors import DataError, listed
from msl.data.derived_columns import DateColumns, Derived
from msl.data.options import DataOptions
from msl.data.ordered_symbols import order_in_spec
from msl.data.profile import leaking_columns, profile_columns
from msl.data.raw_columns import Reading
from msl.data.read import read_source
from msl.data.suggest_options import ColumnUse, FirstOptions, first_options
from msl.data.table import Table
from msl.data.target import NAMED, spell_label
from msl.diagnostics.source import Source
from msl.diagnostics.terminal import safe
from msl.language.formatter import format_source
from msl.runner.starter_space import PRESETS, USUAL_PRESET, Preset, StarterSpace
from msl.space.names_to_text import name_to_text, quoted

#: How a column that is not simply a feature is used.
_USES: dict[ColumnUse, str] = {
    "ignore": "is left out",
    "order": "is the order of the rows",
    "feature": "is kept",
    "target": "is the target",
}
#: The most columns with the same decision that get a comment each.
_MOST_ALIKE = 20
#: The code for rows with more or fewer fields than others, and the fewest rows that have to remain without them.
_RAGGED, _FEWEST_REGULAR_ROWS = "MSL309", 2
_LONGEST_COMMENT = 300


def read_for_starter_spec(source: Any, given: DataOptions) -> tuple[Table, FirstOptions]:
    """Reads a table for a first spec; returns it with the options that were chosen and the reasons for them."""
    try:
        reading = read_source(source, options=given)
    except DataError as wrong:
        if [each.code for each in wrong.problems] != [_RAGGED]:
            raise
        # Drop the rows with a wrong number of fields. If hardly any row remains, the layout was not recognised.
        reading, given = _without_ragged(source, given, wrong)
    columns = profile_columns(reading)
    first = first_options(reading, columns, given)
    leaking = [
        f"`{name}` alone determines the target: leave it out if it is known only after the target is"
        for name in leaking_columns(columns, str(first.options.target))
        if first.uses[name] == "feature"
    ]
    return build_table(reading, first.options), replace(first, sentences=(*first.sentences, *leaking[:_MOST_ALIKE]))


def _without_ragged(source: Any, given: DataOptions, wrong: DataError) -> tuple[Reading, DataOptions]:
    given = replace(given, ragged="drop")
    try:
        reading = read_source(source, options=given)
    except DataError:
        raise wrong from None
    rows = len(next(iter(reading.columns.values())))
    if rows < _FEWEST_REGULAR_ROWS:
        raise wrong
    return reading, given


def starter_spec_text(
    table: Table, first: FirstOptions, spec: str, data: str, preset: Preset = PRESETS[USUAL_PRESET]
) -> str:
    """The text of a spec for a table; `spec` and `data` are the names of the two files, each on one line."""
    facts = table.facts
    lines = [
        f"# A first spec for {data}: {_count(facts.n_samples, 'row')}, "
        f"{_count(facts.n_features, 'feature')}, {_target(table)}.",
        *_about_columns(table),
        "#",
        "# To see the space, to search it, and to see what else could stand in it:",
        f"#   msl info {spec} --data {data}",
        f"#   msl run {spec} {data}",
        "#   msl blocks",
        "msl 1",
        "use sklearn",
        "",
        *_data(table, first),
        "",
        *StarterSpace(table, preset).lines(),
    ]
    text, problems = format_source(Source(spec, "\n".join(lines) + "\n"))
    assert not problems
    return text


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _target(table: Table) -> str:
    name = _one_line(table.target)
    if table.task == "regression":
        return f"regression of `{name}`"
    shown = ", ".join(_one_line(spell_label(label)) for label in table.classes[:5])
    more = ", …" if len(table.classes) > 5 else ""
    return f"classification of `{name}` ({shown}{more})"


def _about_columns(table: Table) -> list[str]:
    facts = table.facts
    groups = []
    if facts.ordered:
        groups.append(f"{len(facts.ordered)} with ordered symbols, which count as numbers in their order")
    if facts.symbolic:
        groups.append(f"{len(facts.symbolic)} with symbols, which are encoded where a block needs numbers")
    if facts.incomplete:
        groups.append(
            f"{len(facts.incomplete)} with missing values, which are filled in where a block cannot take them"
        )
    return [f"# Among the features {'is' if one.startswith('1 ') else 'are'} {one}." for one in groups]


def _data(table: Table, first: FirstOptions) -> list[str]:
    """The `data` statement, with a comment for each decision, for the user to check and correct."""
    options = first.options
    entries: list[tuple[str, str]] = [("target", name_to_text(table.target)), ("task", table.task)]
    if options.order is not None:
        entries.append(("order", name_to_text(options.order)))
    lists = {"dates": options.dates, "numeric": options.numeric, "missing": options.missing, "ignore": options.ignore}
    entries += [(name, f"[{', '.join(quoted(str(value)) for value in of)}]") for name, of in lists.items() if of]
    if options.ordered:
        entries.append(("ordered", f"[{', '.join(map(order_in_spec, options.ordered))}]"))
    entries += [(name, of) for name in ("missing_target", "ragged") if (of := getattr(options, name)) is not None]
    return [*_decisions(table, first), f"data({', '.join(f'{name} = {value}' for name, value in entries)})"]


def _decisions(table: Table, first: FirstOptions) -> list[str]:
    """A comment for each decision; of very many decisions of one kind, only some."""
    sentences: list[str] = []
    if first.target_reason != NAMED:
        sentences.append(f"The target is a guess: {first.target_reason}")
    sentences += [f"{sentence[0].upper()}{sentence[1:]}" for sentence in first.sentences]
    by_reason: dict[tuple[ColumnUse, str], list[str]] = {}
    for name, why in first.reasons.items():
        by_reason.setdefault((first.uses[name], why), []).append(name)
    for (use, why), names in by_reason.items():
        sentences += [f"`{name}` {_USES[use]}: {why}" for name in names[:_MOST_ALIKE]]
        if others := names[_MOST_ALIKE:]:
            sentences.append(f"The same goes for {len(others)} other columns, such as `{others[0]}`")
    sentences += [_made(one) for one in table.schema.derived]
    sentences += [f"{each.message}; {each.help}" for each in table.warnings if each.column not in first.reasons]
    return [f"# {_one_line(sentence)}." for sentence in sentences]


def _made(one: Derived) -> str:
    """What is made of a column, and what to write instead."""
    way_out = f"`ignore = [{quoted(one.source)}]` leaves it out"
    if isinstance(one, DateColumns):
        return f"`{one.source}` holds dates, of which {listed(one.parts, shown=7)} are columns; {way_out}"
    return f"`{one.source}` is free text, of which {len(one.words)} frequent words are columns; {way_out}"


def _one_line(text: str) -> str:
    """A text for a comment: on one line, not too long, and without control characters for terminals."""
    line = safe(" ".join(text.split()))
    return line if len(line) <= _LONGEST_COMMENT else f"{line[:_LONGEST_COMMENT]} …"
