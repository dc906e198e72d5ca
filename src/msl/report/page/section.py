"""Section: a heading with what stands below it, and the sentences that captions are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msl.report.page.html import Content, Html, tag


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page; `name` is where links lead to."""

    name: str
    title: str
    body: Html

    def html(self) -> Html:
        heading = tag("h2", tag("a", self.title, href=f"#{self.name}"))
        return tag("section", heading, self.body, id=self.name)


def section(name: str, title: str, *content: Content | Iterable[Content]) -> Section:
    return Section(name, title, tag("div", *content))


def part(title: str, *content: Content | Iterable[Content]) -> Html:
    """A smaller heading within a section."""
    return tag("div", tag("h3", title), *content, class_="part")


def sentence(*words: Content) -> Html:
    """What a table shows, in words below it."""
    return tag("p", *words, class_="caption")


def code(words: str) -> Html:
    return tag("code", words)


def listed(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def share_bar(share: float, colour: str) -> Html:
    """A bar as long as a share of the room for it."""
    length = f"{100 * min(max(share, 0.0), 1.0):.1f}%"
    inner = tag("rect", width=length, height="100%", rx="2", class_=f"area {colour}")
    return tag("svg", inner, class_="bar", width="100%", height="9", aria_hidden="true")
