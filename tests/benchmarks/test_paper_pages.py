"""The pages on the papers: every row is filled, says whether it holds, and names tests and benchmarks that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.registry import BENCHMARKS

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "papers").glob("*.md"))
RECORDS = ROOT / "benchmarks" / "records"
#: How the last cell of a row begins.
VERDICTS = (
    "yes",
    "no",
    "differs",
    "in part",
    "reduced",
    "not built",
    "not run",
    "not judged",
    "not clear",
)
_CELLS = re.compile(r"(?<!\\)\|")


def rows(page: Path) -> list[list[str]]:
    """The cells of the rows that say what holds."""
    found: list[list[str]] = []
    header: list[str] = []
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in _CELLS.split(line)[1:-1]] if line.startswith("|") else []
        if not header:
            header = cells
        elif cells and header[-1] == "holds" and set("".join(cells)) != {"-"}:
            found.append(cells)
        if not cells:
            header = []
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_row_is_filled_and_says_whether_it_holds(page: Path) -> None:
    found = rows(page)
    assert len(found) > 60
    for cells in found:
        assert len(cells) == 4, cells
        assert all(cells), cells
        assert cells[-1].startswith(VERDICTS), cells


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tests_and_benchmarks_that_a_row_names_exist(page: Path) -> None:
    for cells in rows(page):
        for name in re.findall(r"`([\w/]*test_\w+\.py)`", cells[2]):
            assert (ROOT / name).exists() or (ROOT / "tests" / name).exists(), cells
        named = re.findall(r"`(papers\.\w+)`", cells[2])
        assert set(named) <= set(BENCHMARKS), cells
        if "has no records" in cells[3]:
            assert not any((RECORDS / f"{name}.jsonl").exists() for name in named), cells


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link
