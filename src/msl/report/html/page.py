"""Assemble the report of a run: one HTML file without external resources."""

from __future__ import annotations

import shlex
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib import resources

from msl import __version__
from msl.report.html.effort import failures_section, timings_section
from msl.report.html.headline import data_words, figures, header, winner_section
from msl.report.html.insight_sections import importance_section, leaders_section, model_section
from msl.report.html.markup import (
    Content,
    Html,
    Section,
    code,
    definitions,
    folded,
    moment,
    part,
    section,
    shortened,
    tag,
)
from msl.report.html.model_view import code_box
from msl.report.html.pareto_front import front_section
from msl.report.html.quality import comparison_section, mistakes_section
from msl.report.html.run_record import Record
from msl.report.html.search_plot import preferred_section
from msl.report.html.strategy_sections import search_section
from msl.report.run_facts import run_command, store_words

# --- Spec, digests, versions and commands -----------------------------------------------------------------------------


_LONGEST = 100_000  # letters of a file


def spec_section(record: Record) -> Section:
    """The spec in full; files that it uses open on demand."""
    main = record.run.spec
    others = {path: text for path, text in record.sources.items() if path != main}
    return section(
        "spec",
        "The spec",
        tag("p", code(main), class_="file"),
        code_box(shortened(record.sources.get(main, ""), _LONGEST), f"The spec {main}"),
        [folded(f"{path}, which it uses", code_box(shortened(text, _LONGEST), path)) for path, text in others.items()],
    )


def reproduce_section(record: Record) -> Section:
    """Commands, digests, versions, and the history of the run."""
    run, digests = record.run, record.run.digests
    named = {
        "run": digests.run,
        "space": digests.space,
        "data": digests.data,
        "evaluation": digests.evaluation,
        "search": digests.search,
    }
    facts: list[tuple[str, Content]] = [("run", code(run.id)), ("seed", code(str(run.seed)))]
    facts += [("started", moment(run.started))]
    facts += [("ended", moment(run.ended))] if run.ended is not None else []
    facts += [("data", words)] if (words := data_words(record)) else []
    facts += [("path of the data", code(record.data_path))] if record.data_path else []
    facts += [(_spaced(event.kind), moment(event.at)) for event in record.lifecycle if event.at is not None]
    return section(
        "reproduce",
        "Reproduce",
        tag("pre", tag("code", "\n".join(_commands(record))), tabindex="0", role="region", aria_label="Commands"),
        part("The run", definitions(facts)),
        part("Digests", definitions((name, code(digest)) for name, digest in named.items())),
        part("Versions", definitions((name, code(version)) for name, version in run.versions.items())),
    )


def _commands(record: Record) -> Iterator[str]:
    run = record.run
    store = store_words(record.folder)
    yield "# repeat the search; stored evaluations are reused"
    yield run_command(run, record.data_path, store)
    if record.is_finished:
        yield ""
        yield "# run it again from the stored sources and compare every step"
        yield shlex.join(["msl", "replay", run.id, *store])
    if record.outcome.best is not None:
        yield ""
        yield "# use the final model: predict a table, or export Python code"
        yield shlex.join(["msl", "predict", run.id, "TABLE", *store])
        yield shlex.join(["msl", "export", run.id, "-o", "model.py", *store])
        yield ""
        yield "# what mattered in the search, and what the model looks at; then this page shows it too"
        yield shlex.join(["msl", "why", run.id, *store])
        yield ""
        yield "# edits of the spec that the run suggests, with their evidence"
        yield shlex.join(["msl", "suggest", run.id, *store])
    yield ""
    yield "# this page"
    yield shlex.join(["msl", "report", run.id, *store])


def _spaced(kind: str) -> str:
    return kind.replace("_", " ")


def footer(version: str) -> Html:
    return tag("footer", tag("p", f"Made by msl {version}. This page needs no network and sends nothing anywhere."))


# --- The whole page ---------------------------------------------------------------------------------------------------


#: In the order of the page; each is left out when it has nothing to show.
_SECTIONS = (
    winner_section,
    search_section,
    front_section,
    comparison_section,
    leaders_section,
    preferred_section,
    importance_section,
    model_section,
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
    return (resources.files("msl.report.html") / name).read_text(encoding="utf-8")
