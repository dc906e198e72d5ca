"""Page reader: HTML as strictly as a page of ours must be — every element closed, every id once, every picture told."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"br", "col", "hr", "img", "meta", "source"}


@dataclass
class Element:
    name: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list)

    def all(self, name: str = "", style: str = "") -> list[Element]:
        """Those below, in the order of the page."""
        found = []
        for child in self.children:
            if isinstance(child, Element):
                if name in ("", child.name) and (not style or style in child.attributes.get("class", "").split()):
                    found.append(child)
                found += child.all(name, style)
        return found

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    @property
    def words(self) -> str:
        return " ".join(self.text.split())


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute of {tag} is given twice"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"{tag} closes {self.open[-1].name}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def read_page(html: str) -> Element:
    """The tree of a page or of a piece of one; an AssertionError where it is not well formed."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert len(reader.open) == 1, f"{reader.open[-1].name} is never closed"
    return reader.root


def hints_of(figure: Element) -> list[tuple[float, float, str]]:
    """What a picture says at its points."""
    blocks = figure.all("script", "hints")
    return [tuple(point) for point in json.loads(blocks[0].text)["points"]] if blocks else []


def section(page: Element, name: str) -> Element:
    (found,) = [one for one in page.all("section") if one.attributes["id"] == name]
    return found


def rows_of(table: Element) -> list[list[str]]:
    """The cells of a table's body."""
    return [
        [cell.words for cell in row.children if isinstance(cell, Element)] for row in table.all("tbody")[0].all("tr")
    ]
