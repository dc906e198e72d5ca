"""Winner: the best model drawn, and written as MSL; with the models that vote beside it."""

from __future__ import annotations

from msl.report.page.chain import chain_picture, steps_of
from msl.report.page.figures import count, shortened
from msl.report.page.html import Html, tag
from msl.report.page.msl_code import LONGEST_MODEL, code_box, coloured
from msl.report.page.record import Record
from msl.report.page.section import Section, section
from msl.report.page.table import folded
from msl.syntax import ast
from msl.syntax.parse import text_to_ast
from msl.syntax.print import ast_to_text
from msl.text.source import Source

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
        _ensemble(record.outcome.ensemble),
    )


def laid_out(model: str) -> str:
    """The model as the formatter would write it: on several lines where one is too long."""
    file, problems = text_to_ast(Source("<model>", f"chain model = {model}"))
    statement = file.statements[0] if file.statements and not problems else None
    return ast_to_text(statement.space) if isinstance(statement, ast.Chain) else model


def _ensemble(models: tuple[str, ...]) -> Html | None:
    if not models:
        return None
    listed = tag("ol", [tag("li", coloured(shortened(model, LONGEST_MODEL))) for model in models], class_="models")
    return folded(f"The {count(len(models), 'model')} of the ensemble", listed)
