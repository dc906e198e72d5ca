"""The specs and tables that ship: every spec checks and is formatted, the tables are scikit-learn's."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from sklearn.datasets import load_wine

from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.language.formatter import format_source

SPECS = Path(__file__).parents[1] / "specs"


@pytest.mark.parametrize(
    "path", sorted(path for path in SPECS.glob("*.msl") if path.is_file()), ids=lambda path: path.name
)
def test_every_spec_checks_without_a_word_and_is_formatted(path: Path) -> None:
    source = Source(str(path), path.read_text(encoding="utf-8"), str(path))
    checked = check_source(source)
    assert not [d.message for d in checked.diagnostics if d.severity != "note"]
    assert format_source(source)[0] == source.text


def test_the_quick_spec_stands_alone(tmp_path: Path) -> None:
    copy = tmp_path / "quick.msl"
    copy.write_text((SPECS / "quick.msl").read_text(encoding="utf-8"), encoding="utf-8")
    assert not check_source(Source(str(copy), copy.read_text(encoding="utf-8"), str(copy))).diagnostics
    assert {*quick_parts("quick.msl")} == {*quick_parts("psms.msl")}


def quick_parts(name: str) -> list[str]:
    """The statements that make the space, without their layout and without comments."""
    lines = (line.partition("#")[0] for line in (SPECS / name).read_text(encoding="utf-8").splitlines())
    words = " ".join(" ".join(lines).split())
    return words[words.index("part preprocess") : words.index("minimize")].split("part ")


def test_the_tables_are_the_wine_data() -> None:
    rows = []
    for name in ("wine.csv", "wine_test.csv"):
        with open(SPECS / name, newline="", encoding="utf-8") as file:
            rows.append(list(csv.reader(file))[1:])
    train, test = rows
    data = load_wine()
    expected = [[*map(float, row), data.target_names[label]] for row, label in zip(data.data, data.target, strict=True)]
    found = [[*map(float, row[:-1]), row[-1]] for row in (*train, *test)]
    assert len(test) == len(expected[::3])
    assert sorted(found) == sorted(expected)
