"""msl data TABLE: what a table holds, on a terminal and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

SHOWN = """\
shop.csv: 44 rows, 8 columns

column  kind        missing  distinct  values                           msl init
id      identifier        -        44  1001 … 1044                      ignore
day     date              -        44  2024-01-01 … 2024-02-13          order
colour  category      2.3 %         3  green (15), red (15), blue (13)  feature
paid    yes/no            -         2  no (22), yes (22)                feature
price   number            -        44  1100 … 1143                      feature
code    category          -         2  p (22), q (22)                   feature
shop    constant          -         1  north (44)                       ignore
class   category      9.1 %         2  a (20), b (20)                   target

target: class (guessed: a column named `class`)
task: classification (`class` holds 2 different symbols)
classes: a 50.0 %, b 50.0 %
order: `day`: the rows are sorted by it, so models are tested on later rows; its calendar parts are features too
4 rows without a value of the target `class` left out
`price` has signs around its numbers and is read as numeric: '$1,100' is 1100
leak? `paid` alone determines the target: is it known before the target is?
leak? `code` alone determines the target: is it known before the target is?
"""


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = ["id,day,colour,paid,price,code,shop,class"]
    for place in range(44):
        day = date(2024, 1, 1) + timedelta(days=place)
        colour = "" if place == 20 else ("red", "green", "blue")[place % 3]
        even = place % 2 == 0
        label = "" if place % 11 == 10 else "a" if even else "b"
        cells = (1001 + place, day, colour, "yes" if even else "no", f'"$1,{100 + place}"', "p" if even else "q")
        lines.append(",".join(map(str, (*cells, "north", label))))
    path = tmp_path / "shop.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_table_is_described(msl: Run) -> None:
    shown = msl("data", "shop.csv")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out == SHOWN


def test_the_same_as_json(msl: Run) -> None:
    found = json.loads(msl("data", "shop.csv", "--json").out)
    columns = {column["name"]: column for column in found["columns"]}
    assert found["rows"] == 44
    assert columns["colour"]["missing"] == 1
    assert columns["colour"]["common"][0] == {"value": "green", "rows": 15}
    assert columns["price"]["range"] == ["1100", "1143"]
    assert columns["id"]["use"] == "ignore"
    assert "identifier" in columns["id"]["reason"]
    assert found["target"]["name"] == "class"
    assert found["target"]["guessed"]
    assert found["target"]["left_out"] == 4
    assert found["target"]["classes"] == [{"label": label, "rows": 20, "share": 0.5} for label in "ab"]
    assert found["determine_target"] == ["paid", "code"]


def test_another_target(msl: Run) -> None:
    shown = msl("data", "shop.csv", "--target", "price").out
    assert "target: price (named by the user)\ntask: regression" in shown
    assert msl("data", "shop.csv", "--target", "prize").code == 0
    assert "error: there is no column `prize`" in msl("data", "shop.csv", "--target", "prize").out


def test_duplicates_and_names_that_occur_twice(msl: Run, tmp_path: Path) -> None:
    (tmp_path / "twice.csv").write_text("x,x,class\n" + "1,2,a\n3,4,b\n" * 4, encoding="utf-8")
    shown = msl("data", "twice.csv").out
    assert "duplicates: 6 rows repeat an earlier row" in shown
    assert "columns 1 and 2 are both named `x`: column 1 is `x` here, column 2 is called `x_2`" in shown


def test_the_generator_keeps_its_word(msl: Run, tmp_path: Path) -> None:
    assert msl("data", "hermite", "--rows", "3", "--seed", "1").out.startswith("x,y\n")
    assert "makes a table" in msl("data", "hermite", "--json").err
    shown = msl("data", "shop.csv", "--rows", "3")
    assert (shown.code, "`--rows` is for making a table" in shown.err) == (2, True)
    assert "hermite" in msl("data", "hermit").err
    (tmp_path / "hermite").write_text("x,y\n" + "".join(f"{i}.5,{i * i}.25\n" for i in range(30)), encoding="utf-8")
    assert msl("data", "./hermite").out.startswith("hermite: 30 rows, 2 columns\n")
    assert msl("data", "hermite").out.startswith("x,y\n")
