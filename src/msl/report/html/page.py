"""Assemble the report of a run: one HTML file without external resources, with its head and its foot."""

from __future__ import annotations

import shlex
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib import resources
from pathlib import PurePath
from typing import Any

from msl import __version__
from msl.diagnostics.source import Source
from msl.language import ast
from msl.language.parser import text_to_ast
from msl.language.printer import ast_to_text
from msl.report.html.effort import failures_section, timings_section
from msl.report.html.insight_sections import importance_section, leaders_section, model_section
from msl.report.html.markup import (
    Content,
    Html,
    Section,
    code,
    count,
    definitions,
    difference,
    duration,
    figure,
    folded,
    joined,
    moment,
    part,
    percent,
    section,
    sentence,
    shortened,
    tag,
)
from msl.report.html.model_view import LONGEST_MODEL, chain_picture, code_box, coloured, steps_of
from msl.report.html.pareto_front import front_section
from msl.report.html.quality import comparison_section, mistakes_section
from msl.report.html.run_record import Outcome, Record
from msl.report.html.search_plot import preferred_section
from msl.report.html.strategy_sections import search_section
from msl.report.run_facts import VOTE_NOT_CORRECTED, as_found_words, metric_notes, run_command, store_words

_STATUS = {"finished": "finished", "interrupted": "interrupted", "running": "running", "failed": "failed"}


def header(record: Record) -> Html:
    """The title of the page."""
    run = record.run
    return tag(
        "header",
        tag("p", "Report of a model search", class_="kicker"),
        tag("h1", PurePath(run.spec).name, " ", tag("span", _STATUS[run.status], class_=f"badge {run.status}")),
        tag("p", _joined_by_dots(_facts(record)), class_="facts"),
        _notice(record),
    )


def data_words(record: Record) -> str:
    """`wine.csv (118 rows, 13 features, 3 classes)`, as far as it is known."""
    data = record.outcome.data
    known = []
    if data.get("rows") is not None:
        whole = f" of {int(data['sample_of']):,}" if data.get("sample_of") is not None else ""
        known.append(f"{int(data['rows']):,}{whole} rows" if whole else count(int(data["rows"]), "row"))
    if data.get("features") is not None:
        known.append(count(_number(data["features"]), "feature"))
    if data.get("classes"):
        known.append(count(_number(data["classes"]), "class", "classes"))
    elif data.get("task"):
        known.append(str(data["task"]))
    path = PurePath(record.data_path).name
    return f"{path} ({', '.join(known)})" if path and known else path or ", ".join(known)


def figures(record: Record) -> Html:
    """Cards with the figures of the run."""
    cards = list(_cards(record))
    shown = tag("dl", [tag("div", *card) for card in cards], class_=f"cards across{_columns(len(cards))}")
    notes = metric_notes([*(goal.name for goal in record.goals), *record.outcome.used.test])
    looks = [sentence(f"{words[0].upper()}{words[1:]}.") for words in record.outcome.looks]
    listed = [tag("li", words) for words in record.outcome.baselines]
    against = [tag("p", "Models that need no search, on the same rows:"), tag("ul", listed)] if listed else []
    return joined([shown, *(sentence(f"{name} is the {meaning}.") for name, meaning in notes), *looks, *against])


def _columns(cards: int) -> int:
    """How many cards stand in a row, so that the last row is as full as possible."""
    return max((5, 4, 3), key=lambda columns: ((cards - 1) % columns + 1) / columns)


def _number(value: Any) -> int:
    """A number of things, which may be given as the list of them."""
    return len(value) if isinstance(value, list | tuple) else int(value)


def _facts(record: Record) -> Iterator[Content]:
    run = record.run
    yield tag("span", "chain ", code(run.name))
    if words := data_words(record):
        yield f"on {words}"
    yield tag("span", "run ", code(run.id))
    yield tag("time", moment(run.started), datetime=run.started.isoformat())


def _joined_by_dots(pieces: Iterator[Content]) -> list[Content]:
    return [one for piece in pieces for one in (" · ", piece)][1:]


def _notice(record: Record) -> Html | None:
    """A notice on top of the page for a run that is unfinished or failed."""
    done = count(record.counted("evaluations") or 0, "evaluation")
    match record.run.status:
        case "interrupted":
            words = f"This run was interrupted after {done}. Run the same command again to continue."
        case "running":
            words = f"This run was still running when the report was made, after {done}."
        case "failed":
            words = f"This run ended with an error after {done}. What it had stored by then is shown here."
        case _:
            if record.best is not None:
                warned = record.outcome.not_ahead
                return tag("p", f"{warned[0].upper()}{warned[1:]}.", class_="notice", role="note") if warned else None
            words = f"No model could be evaluated in {done}: see the failures below."
    return tag("p", words, class_="notice", role="note")


def _cards(record: Record) -> Iterator[list[Content]]:
    """The cards of the final model first, then those of the best model alone or of an ensemble that is not used."""
    outcome = record.outcome
    used = outcome.used
    values = used.objectives if used.is_ensemble and used.objectives else record.best_values
    yield from _corrected_cards(record)
    for goal in record.goals:
        if (value := values.get(goal.name)) is not None:
            ends = used.interval.get(goal.name)
            below = "estimate" if record.is_finished else "the best so far"
            below = f"95 % interval {figure(ends[0])} to {figure(ends[1])}" if ends else below
            of_vote = f"{goal.title} of the {outcome.ensemble_kind}" if used.is_ensemble else goal.title
            if outcome.corrected.objectives:
                of_vote = of_vote if used.is_ensemble else f"{goal.title} of the search"
                below = VOTE_NOT_CORRECTED if used.is_ensemble else as_found_words({"front": outcome.front})
            yield _card(of_vote, figure(value), below, main=not outcome.corrected.objectives)
    for name, value in used.test.items():
        if value is not None:
            gap = used.gap.get(name)
            below = "on the test table" if gap is None else f"{difference(gap)} against the estimate"
            yield _card(f"{outcome.tested} {name}", figure(value), below)
    yield from _other_cards(record)
    if outcome.complexity is not None:
        yield _card("complexity", figure(outcome.complexity), "of the winner")
    yield from _work(record)


def _corrected_cards(record: Record) -> Iterator[list[Content]]:
    """The estimates that are corrected for the choice of the best."""
    corrected = record.outcome.corrected
    for goal in record.goals:
        if (value := corrected.objectives.get(goal.name)) is not None:
            ends = corrected.interval.get(goal.name)
            between = f"95 % interval {figure(ends[0])} to {figure(ends[1])}, " if ends else ""
            yield _card(goal.title, figure(value), f"{between}{corrected.words}", main=True)


def _other_cards(record: Record) -> Iterator[list[Content]]:
    outcome = record.outcome
    if outcome.used.is_ensemble:
        for name, value in outcome.objectives.items():
            yield _card(f"{name} of the best model", figure(value), "estimate of the best model alone")
        for name, value in outcome.test.items():
            yield _card(f"test {name} of the best model", figure(value), "on the test table")
        return
    voting = f"{outcome.ensemble_kind} of {count(len(outcome.ensemble), 'model')}, not used"
    for name, value in outcome.ensemble_objectives.items():
        yield _card(f"{name} of the ensemble", figure(value), voting)


def _work(record: Record) -> Iterator[list[Content]]:
    asked, failures = record.counted("evaluations") or 0, record.counted("failures") or 0
    notes = [f"{record.counted('reused') or 0:,} from the store"]
    notes += [f"{failures:,} failed"] if failures else []
    outside = record.counted("outside") or 0
    notes += [f"{outside:,} outside the space"] if outside else []
    yield _card("evaluations", f"{asked:,}", ", ".join(notes))
    if record.outcome.seconds is not None:
        yield _card("time", duration(record.outcome.seconds), record.outcome.ending or "of the search")
    fits, saved = record.counted("fits") or 0, record.counted("fits_saved") or 0
    if fits + saved:
        yield _card("fits saved", percent(saved / (fits + saved)), f"{saved:,} of {fits + saved:,} came from the cache")


def _card(name: str, value: str, below: str, *, main: bool = False) -> list[Content]:
    return [tag("dt", name), tag("dd", value, class_="value main" if main else "value"), tag("dd", below)]


# --- The best model, drawn and as MSL, and the members of the ensemble ------------------------------------------------


_LONGEST_MODEL = 20_000  # letters; whoever needs more has it in the store


def winner_section(record: Record) -> Section | None:
    if record.best is None:
        return None
    picture = chain_picture(record.best, record.run.name, record.plan.roles)
    steps = steps_of(record.best)
    caption = f"The data pass through {count(len(steps), 'step')}: {', '.join(steps)}."
    title = "The winner" if record.is_finished else "The best model so far"
    return section(
        "winner",
        title,
        tag("figure", tag("div", picture, class_="scroll", tabindex="0"), tag("figcaption", caption))
        if picture
        else None,
        code_box(shortened(laid_out(record.best), _LONGEST_MODEL), "The winner as MSL"),
        tag("p", "Predictions are made by ", record.outcome.used.words, ".") if record.outcome.used.words else None,
        _ensemble(record.outcome),
    )


def laid_out(model: str) -> str:
    """The model as the formatter would write it: on several lines where one is too long."""
    file, problems = text_to_ast(Source("<model>", f"chain model = {model}"))
    statement = file.statements[0] if file.statements and not problems else None
    return ast_to_text(statement.space) if isinstance(statement, ast.Chain) else model


def _ensemble(outcome: Outcome) -> Html | None:
    models, weights = outcome.ensemble, outcome.weights
    if not models:
        return None
    heads = [f"{weight:g} × " for weight in weights] or [""] * len(models)
    pairs = zip(heads, models, strict=False)
    items = [tag("li", head, coloured(shortened(model, LONGEST_MODEL))) for head, model in pairs]
    listed = tag("ol", items, class_="models")
    last = tag("p", "stacked by ", coloured(shortened(outcome.final, LONGEST_MODEL))) if outcome.final else None
    return folded(f"The {count(len(models), 'model')} of the ensemble", listed, last)


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
