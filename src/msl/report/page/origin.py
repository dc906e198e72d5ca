"""Origin: the spec and the files it uses, digests and versions, and the commands that make the run again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from msl.report.command import run_command, store_words
from msl.report.page.figures import moment, shortened
from msl.report.page.headline import data_words
from msl.report.page.html import Content, Html, tag
from msl.report.page.msl_code import code_box
from msl.report.page.record import Record
from msl.report.page.section import Section, code, part, section
from msl.report.page.table import definitions, folded

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
    """Commands, digests, versions, and what befell the run."""
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
    facts += [(_spaced(event.kind), moment(event.at)) for event in record.life if event.at is not None]
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
    yield "# the same search: what is stored is not evaluated again"
    yield run_command(run, record.data_path, store)
    if record.is_finished:
        yield ""
        yield "# from what the store keeps, to prove that it comes out the same"
        yield shlex.join(["msl", "replay", run.id, *store])
    if record.outcome.best is not None:
        yield ""
        yield "# the winner: predict the rows of a table, or write it as Python"
        yield shlex.join(["msl", "predict", run.id, "TABLE", *store])
        yield shlex.join(["msl", "export", run.id, "-o", "model.py", *store])
    yield ""
    yield "# this page"
    yield shlex.join(["msl", "report", run.id, *store])


def _spaced(kind: str) -> str:
    return kind.replace("_", " ")


def footer(version: str) -> Html:
    return tag("footer", tag("p", f"Made by msl {version}. This page needs no network and sends nothing anywhere."))
