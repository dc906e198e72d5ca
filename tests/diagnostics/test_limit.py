"""Output has a limit: after fifty diagnostics of one code and file, the rest is a count, in every format."""

from __future__ import annotations

import json

import pytest

from msl.check.check_spec import check_source
from msl.diagnostics.diagnostic import MOST_OF_A_CODE, Diagnostic, Label, Severity, limited
from msl.diagnostics.render import render, summary
from msl.diagnostics.source import Source, Span

BIG, SMALL = Source("big.msl", "x" * 500), Source("small.msl", "y" * 500)


def found(source: Source, code: str, count: int, severity: Severity = Severity.WARNING) -> list[Diagnostic]:
    return [Diagnostic(code, severity, "said", Label(source, Span(i, i + 1))) for i in range(count)]


def test_fifty_are_shown_in_their_order_and_the_rest_is_counted() -> None:
    all_ = found(BIG, "MSL224", 120)
    shown, (left,) = limited(all_)
    assert shown == all_[:MOST_OF_A_CODE]
    assert (left.file, left.code, left.severity, left.count) == ("big.msl", "MSL224", Severity.WARNING, 70)


def test_each_code_and_file_has_its_own_limit() -> None:
    all_ = [*found(BIG, "MSL224", 60), *found(SMALL, "MSL224", 50), *found(BIG, "MSL221", 50)]
    shown, left = limited(all_)
    assert len(shown) == 150
    assert [(each.file, each.code, each.count) for each in left] == [("big.msl", "MSL224", 10)]


@pytest.mark.parametrize("format", ["full", "short", "github"])
def test_texts_end_with_the_count(format: str) -> None:
    text = render(found(BIG, "MSL224", 120), format)
    assert "70 more" in text.splitlines()[-1]
    assert text.count("said") == MOST_OF_A_CODE
    assert "more" not in render(found(BIG, "MSL224", MOST_OF_A_CODE), format)


def test_json_lists_fifty_and_counts_all() -> None:
    value = json.loads(render(found(BIG, "MSL224", 120), "json"))
    assert len(value["diagnostics"]) == MOST_OF_A_CODE
    assert value["warnings"] == 120
    assert value["left_out"] == [{"file": "big.msl", "code": "MSL224", "severity": "warning", "count": 70}]


def test_sarif_says_what_is_left_out() -> None:
    (run,) = json.loads(render(found(BIG, "MSL224", 120), "sarif"))["runs"]
    assert len(run["results"]) == MOST_OF_A_CODE
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"] == "70 more of MSL224 in big.msl"


@pytest.mark.parametrize("format", ["full", "short", "json", "sarif", "github"])
def test_twenty_thousand_alternatives_fit_on_a_few_screens(format: str) -> None:
    text = 'block b: learner "x:Y" {\n  a: ' + "\n | ".join(["same"] * 20_000) + ",\n}\nchain m = b"
    diagnostics = check_source(Source("many.msl", text)).diagnostics
    assert len(render(diagnostics, format)) < 60_000
    assert summary(diagnostics) == "19999 warnings"
