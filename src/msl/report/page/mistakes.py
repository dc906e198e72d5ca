"""Mistakes: where the winner is wrong, by classes or by residuals, in the estimate and on the test rows."""

from __future__ import annotations

from msl.report.page.confusion import confusion_part
from msl.report.page.html import Html
from msl.report.page.outcome import Judged
from msl.report.page.record import Record
from msl.report.page.residuals import residuals_part
from msl.report.page.section import Section, section


def mistakes_section(record: Record) -> Section | None:
    """What was judged in the search, and what the test judged."""
    outcome = record.outcome
    target = str(outcome.data.get("target") or "the target")
    pairs = (("In the estimate", outcome.judged, "judged"), ("On the test rows", outcome.test_judged, "test-judged"))
    shown = [found for title, judged, name in pairs if (found := _part(title, judged, name, target)) is not None]
    return section("mistakes", "Mistakes", shown) if shown else None


def _part(title: str, judged: Judged | None, name: str, target: str) -> Html | None:
    if judged is None:
        return None
    if judged.kind == "classification":
        return confusion_part(title, judged, name) if judged.confusion else None
    return residuals_part(title, judged, name, target)
