"""The top of the page: which run this is, its status, its main figures and its best model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from msl.diagnostics.source import Source
from msl.language import ast
from msl.language.parser import text_to_ast
from msl.language.printer import ast_to_text
from msl.report.html.markup import (
    Content,
    Html,
    Section,
    code,
    count,
    difference,
    duration,
    figure,
    folded,
    joined,
    moment,
    percent,
    section,
    sentence,
    shortened,
    tag,
)
from msl.report.html.model_view import LONGEST_MODEL, chain_picture, code_box, coloured, steps_of
from msl.report.html.run_record import Outcome, Record
from msl.report.run_facts import VOTE_NOT_CORRECTED, as_found_words, metric_notes

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
    """As many as leave the last row as full as can be."""
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


_LONGEST = 20_000  # letters; whoever needs more has it in the store


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
        code_box(shortened(laid_out(record.best), _LONGEST), "The winner as MSL"),
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
