"""msl data: describe a table, or make a toy table to try a spec on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from msl.cli.shared.console import Exit, write_output
from msl.diagnostics.suggest import did_you_mean
from msl.diagnostics.terminal import safe
from msl.diagnostics.user_error import UserError

#: The group and the place of this verb in `msl --help`.
PLACE = ("Write", 3)

GENERATORS = ("hermite",)
_MAKING = "To make a table"
#: Columns and classes that are shown on a terminal; JSON has all of them.
_MOST_COLUMNS, _MOST_CLASSES = 200, 8
_LONGEST_NAME, _LONGEST_VALUE = 32, 20
#: Longer orders are shown by their ends.
_LONGEST_ORDER = 5


def data(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="CSV, also packed, Parquet or Arrow; or `hermite`, to make a table.")
    ],
    target: Annotated[str | None, typer.Option(metavar="COLUMN", help="What is to be predicted.")] = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON: one object, with all columns.")] = False,
    rows: Annotated[
        int | None, typer.Option(min=2, help="How many rows `hermite` has; by default 40.", rich_help_panel=_MAKING)
    ] = None,
    noise: Annotated[
        float | None,
        typer.Option(min=0.0, help="The variance of the noise on y; by default 0.01.", rich_help_panel=_MAKING),
    ] = None,
    even: Annotated[
        bool, typer.Option("--even", help="Even places instead of random ones, for a test.", rich_help_panel=_MAKING)
    ] = False,
    printed: Annotated[
        bool,
        typer.Option(
            "--printed",
            help="With the sign that the paper prints: 1 - x - 2x² for 1 - x + 2x².",
            rich_help_panel=_MAKING,
        ),
    ] = False,
    seed: Annotated[
        int | None, typer.Option(min=0, help="The seed of places and noise; by default 0.", rich_help_panel=_MAKING)
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write to this file.")] = None,
) -> Exit:
    """Describe a table: what each column holds, how `msl init` would use it, and warnings.

    `msl data hermite` makes a table instead: a curve with noise, 1.1 (1 - x + 2x²) exp(-x²/2) for x from -4 to 4.
    """
    making = {"--rows": rows, "--noise": noise, "--even": even or None, "--printed": printed or None, "--seed": seed}
    given = [option for option, value in making.items() if value is not None]
    if table in GENERATORS:
        if target is not None or json:
            raise UserError(
                f"`{table}` makes a table and cannot be described", f"write `./{table}` for a file of that name"
            )
        write_output(_made(40 if rows is None else rows, 0.01 if noise is None else noise, even, printed, seed), output)
        return Exit.FINE
    if given:
        raise UserError(f"`{given[0]}` is for making a table, and `{table}` is described", "leave it out")
    found = _described(table, target, None if json else _MOST_COLUMNS)
    if json:
        import json as json_text

        write_output(json_text.dumps(found, indent=2, ensure_ascii=False) + "\n", output)
    else:
        write_output(_shown(found), output)
    return Exit.FINE


def _made(rows: int, noise: float, even: bool, printed: bool, seed: int | None) -> str:
    from msl.testing.toy_problems import hermite_rows

    x, y = hermite_rows(rows, noise, seed or 0, even=even, printed=printed)
    lines = [f"{float(place)!r},{float(value)!r}" for place, value in zip(x, y, strict=True)]
    return "\n".join(["x,y", *lines]) + "\n"


def _described(table: str, target: str | None, most_columns: int | None) -> dict[str, Any]:
    from msl.data.data_errors import DataError
    from msl.data.options import DataOptions
    from msl.data.suggest_options import describe_source

    try:
        return describe_source(table, DataOptions(target=target), most_columns)
    except DataError as wrong:
        help = wrong.help
        if wrong.problems[0].code == "MSL301" and (meant := did_you_mean(table, GENERATORS)) is not None:
            help = f"{meant} It makes a table"
        raise UserError(wrong.message, help) from None


def _shown(found: Mapping[str, Any]) -> str:
    """The description as people read it: one line per column, then the target and warnings."""
    from msl.report.text_tables import aligned

    title = ("column", "kind", "missing", "distinct", "values", "msl init")
    lines = [tuple(map(safe, _line(column))) for column in found["columns"]]
    text = f"{safe(found['table'])}: {found['rows']:,} rows, {found['n_columns']:,} columns\n\n"
    text += aligned([title, *lines], right=(2, 3))
    if (others := found["n_columns"] - len(lines)) > 0:
        text += f"… and {others:,} more columns: `--json` has all\n"
    return text + "".join(f"\n{safe(line)}" for line in _remarks(found)) + "\n"


def _line(column: Mapping[str, Any]) -> tuple[str, ...]:
    share = column["missing_share"]
    missing = "-" if not share else "< 0.1 %" if share < 0.001 else f"{share:.1%}".replace("%", " %")
    name = _short(column["name"], _LONGEST_NAME)
    return name, column["kind"], missing, f"{column['distinct']:,}", _values(column), column["use"] or "-"


def _values(column: Mapping[str, Any]) -> str:
    if order := column["order"]:
        shown = order if len(order) <= _LONGEST_ORDER else [*order[:2], "…", order[-1]]
        return " < ".join(_short(symbol, _LONGEST_VALUE) for symbol in shown)
    if column["range"] is not None and column["distinct"] > 2:
        return " … ".join(_short(end, _LONGEST_VALUE) for end in column["range"])
    common = [f"{_short(each['value'], _LONGEST_VALUE)} ({each['rows']:,})" for each in column["common"]]
    return ", ".join([*common, *(["…"] if column["distinct"] > len(common) else [])])


def _remarks(found: Mapping[str, Any]) -> list[str]:
    said = []
    if (target := found["target"]) is not None:
        said.append(f"target: {target['name']} ({'guessed: ' if target['guessed'] else ''}{target['reason']})")
        if "task" in target:
            said.append(f"task: {target['task']} ({target['task_reason']})")
        if classes := target.get("classes"):
            shares = [f"{_short(one['label'], _LONGEST_VALUE)} {one['share']:.1%}" for one in classes[:_MOST_CLASSES]]
            more = f", … ({len(classes):,} in all)" if len(classes) > _MOST_CLASSES else ""
            said.append(f"classes: {', '.join(shares)}{more}".replace("%", " %"))
    said += [f"order: `{one['name']}`: {one['reason']}" for one in found["columns"] if one["use"] == "order"]
    said += found["decisions"]
    if found["duplicate_rows"]:
        said.append(f"duplicates: {found['duplicate_rows']:,} rows repeat an earlier row")
    for name in found["determine_target"][:_MOST_CLASSES]:
        said.append(f"leak? `{name}` alone determines the target: is it known before the target is?")
    said += [f"{one['severity']}: {one['message']}; {one['help']}" for one in found["problems"]]
    return said


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
