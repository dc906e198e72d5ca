"""JSON, SARIF and GitHub commands: their shape, their places, their escaping."""

from __future__ import annotations

import json
from typing import Any

import pytest

from msl.diagnostics.diagnostic import Diagnostic, Label, Severity
from msl.diagnostics.render import render
from msl.diagnostics.source import Source, Span

TEXT = "msl 1\nchain 漢字 = svc(gama = 1)\r\nseed 7\n"
SOURCE = Source("specs/a spec.msl", TEXT)
OTHER = Source("/abs/clop.msl", "block svc {}\n")
FIRST = Diagnostic(
    "MSL031",
    Severity.ERROR,
    "`svc` has no parameter `gama`: 100%, sure",
    Label(SOURCE, Span(TEXT.index("gama"), TEXT.index("gama") + 4), "not declared"),
    (Label(OTHER, Span(6, 9), "declared here"),),
    help="did you mean `gamma`?\nor `degree`?",
)
SECOND = Diagnostic("MSL001", Severity.NOTE, "a note", Label(SOURCE, Span(0, 12)))
BOTH = [FIRST, SECOND]


def test_json_says_everything() -> None:
    value = json.loads(render(BOTH, "json"))
    assert (value["version"], value["errors"], value["warnings"], value["notes"]) == (1, 1, 0, 1)
    first, second = value["diagnostics"]
    assert first["code"] == "MSL031"
    assert first["severity"] == "error"
    assert first["help"] == FIRST.help
    assert first["place"] == {
        "file": "specs/a spec.msl",
        "start": {"line": 2, "column": 16, "offset": TEXT.index("gama")},
        "end": {"line": 2, "column": 20, "offset": TEXT.index("gama") + 4},
        "label": "not declared",
    }
    assert first["related"][0]["file"] == "/abs/clop.msl"
    assert second["help"] is None
    assert second["place"]["end"] == {"line": 2, "column": 7, "offset": 12}


def test_json_of_nothing_is_still_json() -> None:
    assert json.loads(render([], "json"))["diagnostics"] == []


def test_sarif_has_what_the_standard_asks_for() -> None:
    log = json.loads(render(BOTH, "sarif"))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    driver = run["tool"]["driver"]
    assert driver["name"] == "msl"
    rules = driver["rules"]
    assert [rule["id"] for rule in rules] == ["MSL001", "MSL031"]
    assert all(rule["shortDescription"]["text"] for rule in rules)
    for result, diagnostic in zip(run["results"], BOTH, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == diagnostic.code
        assert result["level"] in {"error", "warning", "note", "none"}
        assert diagnostic.message in result["message"]["text"]
        for location in result["locations"] + result.get("relatedLocations", []):
            check_location(location)
    assert [location["id"] for location in run["results"][0]["relatedLocations"]] == [0]


def check_location(location: dict[str, Any]) -> None:
    place = location["physicalLocation"]
    uri = place["artifactLocation"]["uri"]
    assert " " not in uri
    assert "\\" not in uri
    region = place["region"]
    assert region["startLine"] >= 1
    assert region["startColumn"] >= 1
    assert (region["endLine"], region["endColumn"]) >= (region["startLine"], region["startColumn"])


def test_sarif_addresses() -> None:
    results = json.loads(render([FIRST], "sarif"))["runs"][0]["results"]
    assert results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "specs/a%20spec.msl"
    related = results[0]["relatedLocations"][0]["physicalLocation"]
    assert related["artifactLocation"]["uri"] == "file:///abs/clop.msl"


def test_github_commands_are_escaped() -> None:
    first, second = render(BOTH, "github").splitlines()
    assert first == (
        "::error file=specs/a spec.msl,line=2,col=16,endLine=2,endColumn=20,title=MSL031"
        "::`svc` has no parameter `gama`: 100%25, sure (not declared)%0Ahelp: did you mean `gamma`?%0Aor `degree`?"
    )
    assert second == "::notice file=specs/a spec.msl,line=1,col=1,endLine=2,title=MSL001::a note"


@pytest.mark.parametrize(
    ("name", "written"), [("a,b.msl", "a%2Cb.msl"), ("c:d.msl", "c%3Ad.msl"), ("5%.msl", "5%25.msl")]
)
def test_github_file_names_are_escaped(name: str, written: str) -> None:
    shown = render([Diagnostic("MSL001", Severity.WARNING, "m", Label(Source(name, "x"), Span(0, 1)))], "github")
    assert shown.startswith(f"::warning file={written},line=1,")
