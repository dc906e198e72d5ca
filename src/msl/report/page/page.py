"""Page: the report of a run as one HTML file that stands on its own."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib import resources

from msl import __version__
from msl.report.page.comparison import comparison_section
from msl.report.page.failures import failures_section
from msl.report.page.front import front_section
from msl.report.page.headline import figures, header
from msl.report.page.html import Html, tag
from msl.report.page.mistakes import mistakes_section
from msl.report.page.origin import footer, reproduce_section, spec_section
from msl.report.page.preferred import preferred_section
from msl.report.page.record import Record
from msl.report.page.section import Section
from msl.report.page.stages import search_section
from msl.report.page.timings import timings_section
from msl.report.page.winner import winner_section

#: In the order of the page; each is left out when it has nothing to show.
_SECTIONS = (
    winner_section,
    search_section,
    front_section,
    comparison_section,
    preferred_section,
    mistakes_section,
    failures_section,
    timings_section,
    spec_section,
    reproduce_section,
)


def record_to_html(record: Record) -> str:
    """The whole page: no fonts, scripts or pictures from elsewhere, and a policy that forbids any."""
    sections = [found for make in _SECTIONS if (found := make(record)) is not None]
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy()),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"{record.run.name}: {record.run.id}"),
        tag("style", Html(_asset("page.css"))),
    )
    body = tag(
        "body",
        tag("a", "To the content", href="#content", class_="skip"),
        header(record),
        _contents(sections),
        tag("main", figures(record), [one.html() for one in sections], id="content"),
        footer(__version__),
        tag("div", id="hint", role="status", aria_live="polite"),
        tag("script", Html(_asset("page.js"))),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _contents(sections: list[Section]) -> Html:
    links = [tag("li", tag("a", one.title, href=f"#{one.name}")) for one in sections]
    return tag("nav", tag("ul", links), aria_label="Sections")


def _policy() -> str:
    """Only this page's own style sheet and script, known by their digests, and pictures that are inside the page."""
    style, script = (_digest(_asset(name)) for name in ("page.css", "page.js"))
    rules = {
        "default-src": "'none'",
        "style-src": style,
        "script-src": script,
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {allowed}" for name, allowed in rules.items())


def _digest(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


@cache
def _asset(name: str) -> str:
    return (resources.files("msl.report.page") / name).read_text(encoding="utf-8")
