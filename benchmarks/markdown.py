"""Markdown: a report as people read it, in a terminal and in the documentation alike."""

from __future__ import annotations

from benchmarks.report import Claim, Entry, Report, Table

_VERDICTS = {True: "holds", False: "does not hold", None: "too little to say"}


def report_to_markdown(report: Report, level: int = 2) -> str:
    """The report under a heading of this level."""
    parts = [f"{'#' * level} {report.title}", report.ran]
    parts += [table_to_markdown(table, level + 1) for table in report.tables]
    if report.claims:
        parts.append("\n".join(_claim(claim) for claim in report.claims))
    parts.append(_made(report))
    return "\n\n".join(parts) + "\n"


def table_to_markdown(table: Table, level: int = 3) -> str:
    """A heading, the table with its columns padded, and the notes beneath it."""
    texts = [table.columns, *(tuple(_text(entry) for entry in row) for row in table.rows)]
    widths = [max(3, *(len(row[place]) for row in texts)) for place in range(len(table.columns))]
    numeric = [
        any(isinstance(row[place], int | float) for row in table.rows)
        and all(not isinstance(row[place], str) for row in table.rows)
        for place in range(len(table.columns))
    ]

    def line(row: tuple[str, ...]) -> str:
        cells = (
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(row, widths, numeric, strict=True)
        )
        return f"| {' | '.join(cells)} |"

    rule = "|".join(f" {'-' * (width - right)}{':' * right} " for width, right in zip(widths, numeric, strict=True))
    lines = [line(texts[0]), f"|{rule}|", *(line(row) for row in texts[1:])]
    notes = "".join(f"\n\n{note}" for note in table.notes)
    return f"{'#' * level} {table.title}\n\n" + "\n".join(lines) + notes


def _text(entry: Entry) -> str:
    if entry is None:
        return "–"
    if isinstance(entry, bool):
        return "yes" if entry else "no"
    if isinstance(entry, float):
        if entry != entry:
            return "–"
        if entry and (abs(entry) < 0.01 or abs(entry) >= 100_000):
            return f"{entry:.2g}"
        return f"{entry:.2f}"
    return str(entry)


def _claim(claim: Claim) -> str:
    return f"- **{_VERDICTS[claim.holds]}**: {claim.text} — {claim.seen}"


def _made(report: Report) -> str:
    made = report.made
    if not made:
        return ""
    days = made["days"]
    when = "never" if not days else days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    packages = ", ".join(f"{name} {number}" for name, number in made["versions"].items())
    code = made["code"]
    states = f"code {', '.join(code)}" if len(code) <= 3 else f"{len(code)} states of the code, the last {code[-1]}"
    return f"*{made['cells']} cells, {made['hours']:g} hours of work, {when}; {states}; {packages}; {made['machine']}.*"
