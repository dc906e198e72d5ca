"""One winner, many spellings: an exported file reads tables as `msl predict` does, and says the same of their rows."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from run_store import run_msl

Cells = list[list[str]]
NAMES = ["f1", "price", "colour", "flag", "class"]


def cells(seed: int, count: int) -> Cells:
    """Rows with numbers, symbols, truth values and gaps; the class hangs on the first two columns."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        x, price = rng.normal(), rng.normal(5)
        label = ["low", "high", "high, or so"][int(x > 0) + int(price > 5.5 and x > 0)]
        colour = ["red", "green", "dark; blue"][rng.integers(3)]
        flag = ["true", "FALSE"][rng.integers(2)]
        gap = rng.random() < 0.15
        rows.append(["" if gap else f"{x:.3f}", f"{price:.3f}", colour, flag, label])
    return rows


def text(rows: Cells, names: list[str] | None = NAMES, separator: str = ",", **options: Any) -> str:
    lines = io.StringIO()
    csv.writer(lines, delimiter=separator, lineterminator="\n", **options).writerows(
        [*([names] if names else []), *rows]
    )
    return lines.getvalue()


def decimal_commas(rows: Cells) -> Cells:
    return [[row[0].replace(".", ","), row[1].replace(".", ","), *row[2:]] for row in rows]


def parquet(rows: Cells) -> bytes:
    numbers = {
        name: pl.Series([row[place] or None for row in rows]).cast(pl.Float64) for place, name in enumerate(NAMES[:2])
    }
    others = {name: [row[place] for row in rows] for place, name in enumerate(NAMES) if name in ("colour", "class")}
    file = io.BytesIO()
    pl.DataFrame({**numbers, "flag": [row[3] == "true" for row in rows], **others}).write_parquet(file)
    return file.getvalue()


@dataclass(frozen=True)
class Spelling:
    """How a table is written, and what `data(…)` has to say of it."""

    write: Callable[[Cells], bytes]
    data: str = ""
    target: str = "class"


SPELLINGS = {
    "plain": Spelling(lambda rows: text(rows).encode()),
    "byte-order mark": Spelling(lambda rows: text(rows).encode("utf-8-sig")),
    "utf-16": Spelling(lambda rows: text(rows, separator="\t").encode("utf-16")),
    "gzip": Spelling(lambda rows: gzip.compress(text(rows, separator=";").encode())),
    "semicolons and commas": Spelling(lambda rows: text(decimal_commas(rows), separator=";").encode()),
    "pipes and CRLF": Spelling(lambda rows: text(rows, separator="|").replace("\n", "\r\n").encode()),
    "all quoted": Spelling(lambda rows: text(rows, quoting=csv.QUOTE_ALL).encode()),
    "spaces": Spelling(lambda rows: text(rows, separator=",").replace(",", ", ").encode()),
    "blank lines": Spelling(lambda rows: ("\n" + text(rows).replace("\n", "\n\n")).encode()),
    "no header": Spelling(lambda rows: text(rows, names=None).encode(), "header = false, target = f5", "f5"),
    "no header, found out": Spelling(lambda rows: text(rows, names=None).encode(), target="f5"),
    "names twice": Spelling(lambda rows: text(rows, names=["x", "x", "", "flag", "class"]).encode()),
    "markers": Spelling(
        lambda rows: text([[row[0] or "-999.0", *row[1:]] for row in rows]).encode(), "missing = [-999]"
    ),
    "usual markers": Spelling(lambda rows: text([[row[0] or "N/A", *row[1:]] for row in rows]).encode()),
    "odd separator": Spelling(lambda rows: text(rows, separator="~").encode(), 'separator = "~"'),
    "a decimal comma that is said": Spelling(
        lambda rows: text(decimal_commas(rows), separator=";").encode(), 'decimal = ","'
    ),
    "parquet": Spelling(parquet),
}
SPEC = "use sklearn\nchain m = decision_tree(max_depth = 5, rest = default)\nsearch grid\n"


def exported(folder: Path) -> dict[str, Any]:
    path = folder / "model.py"
    code, _, err = run_msl("export", "@", "-o", str(path), "--no-verify", "--store", str(folder / ".msl"))
    assert code == 0, err
    content = path.read_text(encoding="utf-8")
    assert "import msl" not in content
    assert "from msl" not in content
    names: dict[str, Any] = {"__name__": "exported"}
    exec(compile(content, str(path), "exec"), names)
    return names


@pytest.mark.parametrize("name", list(SPELLINGS))
def test_an_exported_file_reads_the_table_of_its_run_and_others(tmp_path: Path, name: str) -> None:
    own = SPELLINGS[name]
    (tmp_path / "train.table").write_bytes(own.write(cells(1, 80)))
    data = ", ".join(filter(None, [own.data, "" if "target" in own.data else f"target = {own.target}"]))
    (tmp_path / "m.msl").write_text(f"data({data})\n{SPEC}", encoding="utf-8")
    store = ["--store", str(tmp_path / ".msl")]
    given = [str(tmp_path / "m.msl"), str(tmp_path / "train.table"), "--on", "inprocess"]
    code, _, err = run_msl("run", *given, *store)
    assert code == 0, err
    names = exported(tmp_path)
    model = names["fit"](*names["training_rows"](tmp_path / "train.table"))
    assert names["self_test"](model)
    told = 0
    for other in SPELLINGS.values():
        (tmp_path / "new.table").write_bytes(other.write(cells(2, 30)))
        code, out, _ = run_msl("predict", "@", str(tmp_path / "new.table"), *store)
        if code:  # what one refuses, such as another separator than the spec says, the other refuses too
            with pytest.raises(ValueError, match=r"."):
                names["features"](names["read_table"](tmp_path / "new.table"))
            continue
        told += 1
        said = names["predict"](model, names["features"](names["read_table"](tmp_path / "new.table")))
        assert [[own.target], *([each] for each in said.tolist())] == list(csv.reader(io.StringIO(out)))
    assert told >= (10 if not own.data and "header" not in name and "twice" not in name else 1)
