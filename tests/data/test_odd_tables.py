"""Odd tables, as careless people and old programs write them: each starts, or is refused in words.

A table that starts is read three times: for a first spec, again as a table to predict, and by what every exported file
has of its own to read tables. All three have to give the same numbers.
"""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest

from msl.cli.main import main
from msl.data.data_errors import DataError
from msl.data.derived_columns import DateColumns
from msl.data.options import DataOptions
from msl.data.read import read_like
from msl.data.table import Schema
from msl.export import table_reader
from msl.export.python_template import reading_text
from msl.runner.starter_spec import read_for_starter_spec, starter_spec_text

N = 40
START = datetime(2021, 1, 3, 5, 37, 11)
MOMENTS = [START + timedelta(days=11 * (place * 7 % N), hours=place) for place in range(N)]
BASE: dict[str, list[Any]] = {
    "a": [round(((place * 37) % 101) / 7 - 6, 3) for place in range(N)],
    "b": [(place * 13) % 29 for place in range(N)],
    "c": [("red", "green", "blue")[place * 5 % 3] for place in range(N)],
}
LABELS = [("no", "yes")[place * 3 % 5 > 1] for place in range(N)]
Cell = Callable[[int], object]


def text_of(columns: dict[str, list[Any]], separator: str = ",", end: str = "\n", names: str | None = None) -> str:
    rows = (
        separator.join("" if cell is None else str(cell) for cell in row) for row in zip(*columns.values(), strict=True)
    )
    return end.join([separator.join(columns) if names is None else names, *rows, ""])


def plain(**more: Cell) -> dict[str, list[Any]]:
    """The columns of every table, some more, and the target."""
    return {**BASE, **{name: [cell(place) for place in range(N)] for name, cell in more.items()}, "y": LABELS}


def target(cell: Cell) -> str:
    return text_of({**BASE, "y": [cell(place) for place in range(N)]})


def dated(form: str) -> str:
    return text_of(plain(when=lambda place: f'"{MOMENTS[place].strftime(form)}"'))


def gaps(cell: Cell, gap: object, every: int = 9) -> Cell:
    return lambda place: gap if place % every == 4 else cell(place)


def line(text: str, number: int, change: Callable[[str], str]) -> str:
    lines = text.split("\n")
    lines[number] = change(lines[number])
    return "\n".join(lines)


TEXT = text_of(plain())
FORMS = "%Y-%m-%d %m/%d/%Y %d.%m.%Y %Y%m%d %Y-%m-%dT%H:%M:%S+02:00 %Y-%m-%dT%H:%M:%S.123Z %H:%M %Y-%m %d/%m/%y".split()
FORMS += ["%d %b %Y", "%B %d, %Y", "%m/%d/%Y %I:%M %p", "%d-%b-%y", "%b-%Y", "%Y-%m-%d %H:%M:%S"]

#: Tables of text that start.
STARTS: dict[str, str | bytes] = {
    **{f"dates {form}": dated(form) for form in FORMS},
    "dates in two time zones": text_of(plain(d=lambda i: f"{MOMENTS[i]:%Y-%m-%dT%H:%M:%S}{('Z', '-05:00')[i % 2]}")),
    "dates in five forms": text_of(plain(d=lambda i: f'"{MOMENTS[i].strftime(FORMS[i % 3])}"')),
    "dates that databases write for none": text_of(plain(d=gaps(lambda i: MOMENTS[i].date(), "0000-00-00", 3))),
    "dates without an end": text_of(plain(d=gaps(lambda i: MOMENTS[i].date(), "9999-12-31"))),
    "no dates": text_of(plain(d=lambda i: f"2024-{20 + i % 9}-01")),
    "a date and its month": text_of({**plain(d=lambda i: MOMENTS[i].date()), "d: month": BASE["a"]}),
    "latin-1 in the middle": line(text_of(plain(w=lambda i: "café")), 9, str.upper).encode("latin-1"),
    "UTF-16": TEXT.encode("utf-16"),
    "UTF-32 with semicolons": text_of(plain(), ";").encode("utf-32"),
    "a row too long": line(TEXT, 9, lambda row: f"{row},more"),
    "a row too short": line(TEXT, 9, lambda row: row.rpartition(",")[0]),
    "a footer": f"{TEXT}\nTotal: {N} rows\n",
    "a title": f"Report of sales\n\n{TEXT}",
    "comments": f"# made by a tool\n# version 2\n{TEXT}",
    "separators at the end": TEXT.replace("\n", ",\n").replace("y,\n", "y\n", 1),
    "sep=": f"sep=;\n{text_of(plain(), ';')}",
    "blanks": text_of(plain(), " "),
    "carets": text_of(plain(), "^"),
    "tabs": text_of(plain(), "\t"),
    "bars": text_of(plain(), "|"),
    "returns": text_of(plain(), end="\r"),
    "returns and newlines": text_of(plain(), end="\r\n"),
    "some returns": "".join(f"{row}{(chr(13), '')[i % 2]}\n" for i, row in enumerate(TEXT.split("\n")[:-1])),
    "newlines in quotes": text_of(plain(w=lambda i: f'"one\ntwo, {i % 3}"')),
    "quotes inside": text_of(plain(w=lambda i: ('5" pipe', "other")[i % 2])),
    "equal names": text_of(plain(q=lambda i: i % 5), names="a,b,c,a,y"),
    "the target twice": text_of(plain(q=lambda i: LABELS[-i]), names="a,b,c,y,y"),
    "no names": text_of(plain(q=lambda i: i % 5), names="a,b,, ,y"),
    "a name in quotes": text_of(plain(), names='"a ""quoted"" one",b.c.d,"new\nline",y'),
    "names of the language": text_of(plain(q=lambda i: i % 5), names="chain,data,rest,on,y"),
    "names like patterns": text_of(plain(q=lambda i: i % 5), names="*,a*,back\\slash,{brace},y"),
    "names with control characters": text_of(plain(), names="a\x1b[31m,b\u202e,é😀,y"),
    "names with blanks around": text_of(plain(), names="  a , b,c  , y "),
    "a long name": text_of(plain(), names=f"{'a' * 3000},b,c,y"),
    "no header": TEXT.partition("\n")[2],
    "an index": text_of({"": list(range(N)), **plain()}),
    "two rows": "a,b,y\n1,2,no\n3,4,yes\n",
    "a target with gaps": target(gaps(lambda i: LABELS[i], None)),
    "a target that is infinite": target(gaps(lambda i: i * 0.37, "inf", 20)),
    "a target with NaN": target(gaps(lambda i: i * 0.37, "nan", 20)),
    "a target with a word": target(gaps(lambda i: i * 0.37, "abt 5", 30)),
    "a target in percent": target(lambda i: f"{i * 7 % 37}%"),
    "a target in dollars": target(lambda i: f'"$1,{100 + i * 7}.50"'),
    "a target of truths": target(lambda i: i % 3 == 0),
    "a target of texts": target(lambda i: f"name of number {i}"),
    "a target of identifiers": target(lambda i: 1000 + i),
    "a target in capitals too": target(lambda i: (LABELS[i].upper(), LABELS[i])[i % 2]),
    "a class of one row": target(lambda i: "maybe" if i == 7 else LABELS[i]),
    "a class NA": target(lambda i: ("NA", "EU", "AS")[i % 3]),
    "a class None": target(lambda i: ("None", "Some")[i % 2]),
    "ja and nein": target(lambda i: ("Ja", "Nein")[i % 2]),
    "features that are empty": text_of({"a": [None] * N, "b": [None] * N, "y": LABELS}),
    "features that are constant": text_of({"a": [1] * N, "b": ["k"] * N, "y": LABELS}),
    "decimal commas": text_of(plain(q=lambda i: f"{i},5"), ";"),
    "decimal commas in quotes": text_of(plain(q=lambda i: f'"{i},5"')),
    "percent": text_of(plain(q=lambda i: f"{i}%", r=lambda i: f"{i / 8} %")),
    "money": text_of(plain(q=lambda i: f'"$1,{100 + i}.50"', r=lambda i: f'"€ {i},00"')),
    "money in brackets": text_of(plain(q=lambda i: f'"{("$1,{}.5", "($1,{}.5)")[i % 4 == 0].format(100 + i)}"')),
    "thousands": text_of(plain(q=lambda i: f'"{1000 * (i + 1):,}"')),
    "units": text_of(plain(q=lambda i: f"{i % 9} kg", r=lambda i: f"{i}k")),
    "truths": text_of(plain(q=lambda i: i % 3 == 0, r=lambda i: ("TRUE", "FALSE", "")[i % 3], s=lambda i: "TF"[i % 2])),
    "large numbers": text_of(plain(q=lambda i: 2**60 + i, r=lambda i: 10**25 + i, s=lambda i: f"1e{i * 7}")),
    "numbers too large": text_of(plain(q=gaps(lambda i: i * 1.5, "1e400", 30))),
    "infinite words": text_of(plain(q=gaps(lambda i: i * 1.5, "-Infinity"))),
    "words for missing": text_of(plain(q=gaps(lambda i: i * 1.5, "nan"), r=lambda i: ("None", "Full")[i % 2])),
    "zeros in front": text_of(plain(q=lambda i: f"0{1000 + i % 9}", r=lambda i: f"{1000 + i}.0")),
    "exponents by accident": text_of(plain(q=lambda i: f"{i}e{i % 3}", r=lambda i: f"0x{i:02x}")),
    "a cell of megabytes": text_of(plain(q=lambda i: "x" * 1_000_000 if i == 5 else "y")),
    "many words": text_of(plain(q=lambda i: f"word other {i} " * (20_000 if i == 5 else 2))),
    "blanks around values": text_of(plain(q=lambda i: (" x ", "x", " z")[i % 3])),
    "gzip": gzip.compress(TEXT.encode()),
}  # fmt: skip

#: What a column of Parquet or Arrow holds where the table starts.
COLUMNS: dict[str, pl.Series] = {
    "lists": pl.Series([[1, 2]] * N),
    "arrays": pl.Series([[1.0, 2.0]] * N, dtype=pl.Array(pl.Float64, 2)),
    "structures": pl.Series([{"u": place, "v": "x"} for place in range(N)]),
    "bytes": pl.Series([b"\x00\xff"] * N),
    "decimals": pl.Series([str(place / 10) for place in range(N)]).cast(pl.Decimal(10, 2)),
    "durations": pl.Series([timedelta(minutes=17 * place) for place in range(N)]),
    "times": pl.Series([time(place % 24, place) for place in range(N)]),
    "dates": pl.Series([date(2020, 1, 1) + timedelta(days=place * 7 % 31) for place in range(N)]),
    "moments in a zone": pl.Series(MOMENTS).dt.replace_time_zone("Europe/Berlin"),
    "moments to the nanosecond": pl.Series(MOMENTS).cast(pl.Datetime("ns")),
    "categories": pl.Series(BASE["c"]).cast(pl.Categorical),
    "enums": pl.Series(["lo", "mid"] * (N // 2), dtype=pl.Enum(["lo", "mid", "hi"])),
    "truths": pl.Series([True, False, None, True] * (N // 4)),
    "small numbers": pl.Series(range(N), dtype=pl.UInt8),
    "large numbers": pl.Series([2**63 + place for place in range(N)], dtype=pl.UInt64),
    "very large numbers": pl.Series([2**100 + place for place in range(N)], dtype=pl.Int128),
    "nothing": pl.Series([None] * N),
    "infinite": pl.Series([float("inf"), *map(float, range(1, N))]),
    "short reals": pl.Series([place / 7 for place in range(N)], dtype=pl.Float32),
}

#: Tables that cannot be learnt from, and what is said of them.
REFUSED: dict[str, tuple[str | bytes, str]] = {
    "one column": (text_of({"y": LABELS}), "at least one feature"),
    "one row": ("a,y\n1,no\n", "is no in all rows"),
    "a constant target": (target(lambda i: "yes"), "nothing to learn"),
    "an empty target": (target(lambda i: None), "no values at all"),
    "a target of dates": (target(lambda i: MOMENTS[i].date()), "holds dates or times"),
    "a target beyond exact numbers": (target(lambda i: 2**60 + i), "beyond 2^53"),
    "an open quote": (line(text_of(plain(w=lambda i: "x")), 7, lambda row: row.replace("x", '"x')), "out of order"),
    "a NUL": (line(TEXT, 7, lambda row: row + "\0"), "the first NUL is in line 8"),
    "NULs at the end": (TEXT + "\0" * 99, "the first NUL"),
    "a cut file": (gzip.compress(TEXT.encode())[:-20], "damaged or incomplete"),
    "a header alone": ("a,b,y\n", "no rows"),
}  # fmt: skip


def written(content: str | bytes, folder: Path) -> str:
    path = folder / "t.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def exported(schema: Schema) -> dict[str, Any]:
    """What an exported file would have to read the tables of this schema."""
    options = schema.options
    wanted = {name: each for name, each in vars(table_reader).items() if isinstance(each, ModuleType | type)}
    names: dict[str, Any] = {
        **wanted,
        "COLUMNS": list(schema.names),
        "SYMBOLS": {name: list(symbols) for name, symbols in schema.symbols.items()},
        "DATES": {},
        "WORDS": {},
        "TARGET": schema.target,
        "WEIGHT": None,
        "CLASSES": list(schema.classes),
        "MISSING": [str(marker).strip() for marker in options.missing or ()],
        "HEADER": options.header,
        "SEPARATOR": options.separator,
        "DECIMAL": options.decimal,
        "DROPS_RAGGED": options.ragged == "drop",
        "SIGNED": [*(options.numeric or ()), *([schema.target] if options.task == "regression" else [])],
        "ROWS": None,
    }
    for one in schema.derived:
        if isinstance(one, DateColumns):
            names["DATES"][one.source] = [*one.parts, *(["day first"] if one.day_first else [])]
        else:
            names["WORDS"][one.source] = list(one.words)
    exec(compile(reading_text(), "exported.py", "exec"), names)
    return names


def starts(path: str, name: str | None) -> None:
    table, first = read_for_starter_spec(path, DataOptions(target=name))
    assert starter_spec_text(table, first, "t.msl", "t.csv")
    reader = exported(table.schema)
    X, y, *_ = reader["training_rows"](path)
    np.testing.assert_array_equal(X, table.X)
    np.testing.assert_array_equal(y, np.asarray(table.y))
    if table.schema.options.ragged is None:  # a table to predict keeps all its rows, or is refused
        later = read_like(table.schema, path, with_target=False).X
        np.testing.assert_array_equal(reader["features"](reader["read_table"](path)), later)
        assert len(later) == len(table) + table.n_dropped
        assert table.n_dropped or np.array_equal(later, table.X, equal_nan=True)


@pytest.mark.parametrize("name", STARTS)
def test_an_odd_table_starts_and_is_read_alike_everywhere(name: str, tmp_path: Path) -> None:
    starts(written(STARTS[name], tmp_path), None if name == "no header" else "y")


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("format", ["parquet", "ipc"])
def test_an_odd_column_of_a_frame_starts_and_is_read_alike(name: str, format: str, tmp_path: Path) -> None:
    path = tmp_path / "t.data"
    getattr(pl.DataFrame({**BASE, "odd": COLUMNS[name], "y": LABELS}), f"write_{format}")(path)
    starts(str(path), "y")


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_learnt_from_is_refused_in_words(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    content, words = REFUSED[name]
    path = written(content, tmp_path)
    with pytest.raises(DataError) as wrong:
        read_for_starter_spec(path, DataOptions(target="y"))
    assert words in str(wrong.value)
    assert all(each.help for each in wrong.value.problems)
    monkeypatch.setattr(sys, "argv", ["msl", "init", path, "--target", "y", "-o", str(tmp_path / "s.msl")])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert words in capsys.readouterr().err.replace("\n", " ")


def test_alike_classes_are_told(tmp_path: Path) -> None:
    table, _ = read_for_starter_spec(written(STARTS["a target in capitals too"], tmp_path), DataOptions(target="y"))
    (told,) = [each for each in table.warnings if each.code == "MSL368"]
    assert "`NO` and `no`" in told.message


def test_hundreds_of_columns_of_few_rows_start(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(N, 800)).round(3)
    frame = pl.DataFrame(values).with_columns(y=pl.Series(LABELS))
    starts(written(io.StringIO(frame.write_csv()).getvalue(), tmp_path), "y")
