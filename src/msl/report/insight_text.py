"""Show in the terminal what mattered in a search, what a model looks at, and what to change in a spec."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msl.report.text_tables import aligned, shown

_INDENT = "  "
_LEAST_BAR, _MOST_BAR, _MOST_ROWS = 10, 30, 15
_BLOCKS = " ▏▎▍▌▋▊▉█"
_LEVELS = "▁▂▃▄▅▆▇█"
NOT_APART = "not told apart from chance"


def why_to_text(record: Mapping[str, Any], width: int = 80) -> str:
    """What `msl why` prints, at most so wide."""
    parts = [*_search(record, width), *_model(record, width)]
    return "\n".join(parts)


# --- the search ---


def _search(record: Mapping[str, Any], width: int) -> Iterator[str]:
    if record.get("search_why"):
        yield _wrapped(f"what mattered in the search cannot be told: {record['search_why']}", width)
    for one in record.get("search") or ():
        if one["why"]:
            yield _wrapped(f"what mattered in the search for {one['objective']} cannot be told: {one['why']}", width)
            continue
        yield f"what mattered in the search for {one['objective']} ({one['models']} models)\n" + _decisions(one, width)


def _decisions(importance: Mapping[str, Any], width: int) -> str:
    rows = importance["decisions"]
    certain = [row for row in rows if row["is_certain"]]
    told = certain[:_MOST_ROWS]
    text = ""
    if told:
        text = _bars(
            [
                (row["name"], row["importance"], row["interval"], places(row), f"{row['active']:,}", row["best"])
                for row in told
            ],
            ("", "", "explains", "95 % interval", "place", "models", "good models"),
            width,
            percent=True,
        )
    others = [row["name"] for row in rows if not row["is_certain"]]
    if others:
        names = ", ".join(others[:_MOST_ROWS]) + (f" and {len(others) - _MOST_ROWS} more" * (len(others) > _MOST_ROWS))
        text += _wrapped(f"{NOT_APART}: {names}", width, _INDENT)
    if told:
        words = "explains: the share of what decides whether a model is among the best quarter, by itself, where active"
        text += _wrapped(words, width, _INDENT)
        if any(row["place"][0] < row["place"][1] for row in told):
            text += _wrapped("place: the places that it may have in the order of all decisions", width, _INDENT)
    return text


def places(row: Mapping[str, Any]) -> str:
    """The places that a decision may have in the order of all; older versions have not kept them."""
    first, last = row.get("place") or (0, 0)
    return "–" if not first else f"{first}" if first == last else f"{first} to {last}"


# --- the model ---


def _model(record: Mapping[str, Any], width: int) -> Iterator[str]:
    model = record.get("model")
    if model is None:
        if record.get("model_why"):
            yield _wrapped(f"what the model looks at cannot be told: {record['model_why']}", width)
        return
    yield "the best model\n" + _wrapped(model["model"], width, _INDENT)
    yield (
        f"what it looks at: the {model['metric']} of {model['rows']:,} held-out rows is {shown(model['value'])}, "
        "and worse by this much\n" + f"{_INDENT}if the values of a column are shuffled\n" + _columns(model, width)
    )
    for effect in model["effects"]:
        yield _effect(effect, width)
    if model["worst"]:
        yield f"the rows that it is furthest off ({model['off']})\n{_worst(model['worst'], width)}"
    if model["notes"]:
        yield "".join(_wrapped(f"note: {note}", width) for note in model["notes"])


def _columns(model: Mapping[str, Any], width: int) -> str:
    certain = [row for row in model["columns"] if row["is_certain"]][:_MOST_ROWS]
    text = ""
    if certain:
        rows = [(", ".join(row["columns"]), row["importance"], row["interval"]) for row in certain]
        text = _bars(rows, ("", "", "worse by", "95 % interval"), width)
    others = [", ".join(row["columns"]) for row in model["columns"] if not row["is_certain"]]
    if others:
        names = ", ".join(others[:_MOST_ROWS]) + (f" and {len(others) - _MOST_ROWS} more" * (len(others) > _MOST_ROWS))
        text += _wrapped(f"{NOT_APART}: {names}", width, _INDENT)
    for row in model["together"]:
        low, high = map(shown, row["interval"])
        words = f"{' and '.join(row['columns'])} go together: shuffled as one, worse by {shown(row['importance'])}"
        text += _wrapped(f"{words} ({low} to {high})", width, _INDENT)
    return text


def _effect(effect: Mapping[str, Any], width: int) -> str:
    values, heading = effect["values"], f"{effect['outputs']} by {effect['column']}"
    lines = []
    for name, numbers in effect["series"].items():
        label = f" of {name}" if effect["outputs"].endswith("probability") else ""
        low, high = min(numbers), max(numbers)
        if isinstance(values[0], str):
            of_bar = max(_LEAST_BAR, min(_MOST_BAR, width - 30))
            scale = max(abs(low), abs(high)) or 1.0
            rows = [
                [_INDENT + _cut(value, 24), _bar(abs(number) / scale, of_bar), shown(number)]
                for value, number in zip(values, numbers, strict=True)
            ]
            lines.append(f"{heading}{label}\n" + aligned(rows, right=(2,)))
            continue
        steps = "".join(
            _LEVELS[round((number - low) / ((high - low) or 1.0) * (len(_LEVELS) - 1))] * 2 for number in numbers
        )
        ends = f"{shown(values[0])} {steps} {shown(values[-1])}"
        lines.append(f"{heading}{label}\n{_INDENT}{ends}   {shown(low)} to {shown(high)}\n")
    return "".join(lines)


def _worst(rows: Sequence[Mapping[str, Any]], width: int) -> str:
    names = list(rows[0]["values"])
    table = [["row", "true", "predicted", "off", *(_cut(name, 14) for name in names)]]
    for row in rows:
        cells = [f"{row['row']:,}", _cut(row["truth"], 16), _cut(row["predicted"], 16), shown(row["off"])]
        table.append([*cells, *(_cut(str(row["values"].get(name, "")), 14) for name in names)])
    while len(table[0]) > 4 and max(map(len, aligned(table, indent=_INDENT).splitlines())) > width:
        table = [row[:-1] for row in table]
    return aligned(table, right=(0, 3), indent=_INDENT)


# --- suggestions ---


def suggestions_to_text(record: Mapping[str, Any], width: int = 80) -> str:
    """What `msl suggest` prints."""
    text = ""
    for number, one in enumerate(record["suggestions"], 1):
        text += _wrapped(f"{number}. {one['says']}", width)
        text += _wrapped(one["evidence"], width, "   ")
        text += "".join(f"   {line}\n" for line in _changed_lines(one["patch"])) + "\n"
    if not record["suggestions"]:
        text += (
            "nothing to suggest" + (f": {record['why']}" if record["why"] else ": no finding is beyond chance") + "\n"
        )
    elif record["why"]:
        text += _wrapped(f"more cannot be told: {record['why']}", width)
    return text + "".join(_wrapped(f"note: {note}", width) for note in record.get("notes") or ())


def _changed_lines(patch: str) -> list[str]:
    return [line for line in patch.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]


# --- bars and lines ---


def _bars(rows: Sequence[tuple[Any, ...]], heading: Sequence[str], width: int, *, percent: bool = False) -> str:
    """A line a row: a name, a bar, the figure, its interval, and what else there is as far as it fits."""
    most = max((max(row[1], 0.0) for row in rows), default=0.0) or 1.0

    def said(value: float) -> str:
        return f"{100 * value:.0f} %" if percent else shown(value)

    longest = max(len(row[0]) for row in rows)
    of_name = min(longest, max(16, width // 3))
    of_bar = max(_LEAST_BAR, min(_MOST_BAR, width - of_name - 40))
    table = [list(heading)]
    for row in rows:
        interval = f"{said(row[2][0])} to {said(row[2][1])}"
        table.append([_cut(row[0], of_name), _bar(max(row[1], 0.0) / most, of_bar), said(row[1]), interval, *row[3:]])
    while len(table[0]) > 4 and max(map(len, aligned(table, indent=_INDENT).splitlines())) > width:
        table = [row[:-1] for row in table]
    return aligned(table, right=(2, 3, 4, 5), indent=_INDENT)


def _bar(share: float, width: int) -> str:
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    return "█" * (eighths // 8) + (_BLOCKS[eighths % 8] if eighths % 8 else "")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _wrapped(text: str, width: int, indent: str = "") -> str:
    lines = textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False)
    return "\n".join(lines) + "\n"
