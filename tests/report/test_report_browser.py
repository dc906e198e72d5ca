"""Reports in a real browser: on a phone and a desk, by day and by night, with pointer and keys."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from report_runs import STORIES, record_of

from msl.report.html.page import record_to_html

if sys.platform == "win32":
    pytest.skip("the browser is driven over a pipe as POSIX has them", allow_module_level=True)

from chromium import Chromium, find_browser

Pages = Callable[[str], Path]
#: What the boxes of the labels of a picture have in common, if anything.
OVERLAPS = """
[...document.querySelectorAll(".plot > svg")].flatMap(picture => {
  const boxes = [...picture.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()]);
  return boxes.flatMap(([one, a], place) => boxes.slice(place + 1)
    .filter(([, b]) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
    .map(([other]) => `${one} and ${other}`));
})
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    executable = find_browser()
    if executable is None:
        pytest.skip("there is no Chromium on this machine")
    with Chromium(executable) as chromium:
        yield chromium


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    """The page of a story as a file."""
    made: dict[str, Path] = {}

    def get(name: str) -> Path:
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            made[name] = folder / "report.html"
            made[name].write_text(record_to_html(record_of(STORIES[name](), folder / "store")), encoding="utf-8")
        return made[name]

    return get


def test_the_browser_would_notice(browser: Chromium, tmp_path: Path) -> None:
    """That nothing is found on our pages means something only if it is found where it is."""
    bad = tmp_path / "bad.html"
    wide = "<p>" + "x" * 4000 + "</p><img src='http://127.0.0.1:9/x.png'>"
    labels = "<div class=plot><svg><text x=0 y=20>one</text><text x=5 y=20>two</text></svg></div>"
    bad.write_text(f"<!doctype html><body>{wide}{labels}<script>window.harmed = 1; throw new Error('no')</script>")
    look = browser.open(bad, width=1280)
    assert look.requests == ["http://127.0.0.1:9/x.png"]
    assert any("no" in error for error in look.errors)
    assert look.page_width > look.view_width
    assert browser.run(OVERLAPS) == ["one and two"]
    assert browser.run("window.harmed === 1")


@pytest.mark.parametrize("name", STORIES)
def test_pages_fit_every_screen_and_ask_for_nothing(name: str, browser: Chromium, pages: Pages) -> None:
    for width, dark in ((375, False), (1280, True)):
        look = browser.open(pages(name), width=width, dark=dark)
        browser.run("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert look.errors == []
        assert look.requests == []
        assert browser.run("document.documentElement.scrollWidth") == width
        assert browser.run(OVERLAPS) == []
        assert browser.run("window.harmed === undefined")


def test_day_and_night(browser: Chromium, pages: Pages) -> None:
    dataset = "getComputedStyle(document.body).backgroundColor"
    browser.open(pages("swarm"), dark=False)
    assert browser.run(dataset) == "rgb(255, 255, 255)"
    browser.open(pages("swarm"), dark=True)
    assert browser.run(dataset) == "rgb(13, 17, 23)"


def test_the_winner_is_drawn_in_the_size_of_the_screen(browser: Chromium, pages: Pages) -> None:
    sizes = []
    for width in (375, 1280):
        browser.open(pages("swarm"), width=width)
        sizes.append(browser.run("(({naturalWidth, complete}) => complete && naturalWidth)(document.images[0])"))
    assert 0 < sizes[0] < sizes[1]


def test_a_pointer_near_a_dot_shows_what_it_is(browser: Chromium, pages: Pages) -> None:
    browser.open(pages("swarm"), width=375)
    browser.run("document.querySelector('.plot > svg').scrollIntoView({block: 'center', behavior: 'instant'})")
    left, top, width, height = browser.run(
        "(({left, top, width, height}) => [left, top, width, height])"
        "(document.querySelector('.plot > svg').getBoundingClientRect())"
    )
    x, y, words = browser.run("JSON.parse(document.querySelector('script.hints').textContent).points[0]")
    browser.move(left + x * width, top + y * height)
    assert browser.run("document.querySelector('#hint.shown').textContent") == words
    edges = browser.run(
        "(({left, right, top}) => [left, right, top])(document.getElementById('hint').getBoundingClientRect())"
    )
    assert edges[0] >= 0
    assert edges[1] <= 375
    assert edges[2] >= 0
    browser.move(1, 1)
    assert browser.run("document.querySelector('#hint.shown')") is None


def test_dots_can_be_walked_with_keys(browser: Chromium, pages: Pages) -> None:
    browser.open(pages("swarm"))
    browser.run("document.querySelector('.plot > svg').focus()")
    said = []
    for key in ("ArrowRight", "ArrowRight", "End", "ArrowRight"):
        browser.press(key)
        said.append(browser.run("document.getElementById('hint').textContent.split(':')[0]"))
    assert said == ["evaluation 1", "evaluation 2", "evaluation 40", "evaluation 1"]
    browser.press("Escape")
    assert browser.run("document.querySelector('#hint.shown')") is None


def test_tables_sort_by_what_their_cells_mean(browser: Chromium, pages: Pages) -> None:
    browser.open(pages("classes"))
    column = (
        "[...document.querySelectorAll('table')].find(one => one.ariaLabel === 'Classes')"
        ".tBodies[0].rows[{row}].cells[0].textContent"
    )
    first = column.replace("{row}", "0")
    assert browser.run(first) == "species number 0"
    heading = "[...document.querySelectorAll('table')].find(one => one.ariaLabel === 'Classes').tHead.rows[0].cells[2]"
    browser.run(f"{heading}.querySelector('button').click()")
    ascending = browser.run(first)
    assert browser.run(f"{heading}.ariaSort") == "ascending"
    browser.run(f"{heading}.querySelector('button').click()")
    assert browser.run(f"{heading}.ariaSort") == "descending"
    assert browser.run(first) != ascending
    values = (
        "[...[...document.querySelectorAll('table')].find(one => one.ariaLabel === 'Classes').tBodies[0].rows]"
        ".map(row => Number(row.cells[2].dataset.value))"
    )
    found = browser.run(values)
    assert found == sorted(found, reverse=True)
    assert len(found) == 50


def test_on_paper_there_is_only_what_can_be_read(browser: Chromium, pages: Pages) -> None:
    browser.open(pages("swarm"), print_=True)
    assert browser.run("getComputedStyle(document.querySelector('nav')).display") == "none"
    pdf = browser.call("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})["data"]
    assert len(pdf) > 20_000
