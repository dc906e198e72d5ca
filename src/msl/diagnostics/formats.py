"""Write diagnostics for other programs: JSON, SARIF 2.1.0 for code scanners, GitHub workflow commands.

The JSON is one object. Later versions may add keys; changing or removing one needs a new `version`:

    {
      "version": 1,
      "diagnostics": [
        {
          "code": "MSL021",
          "severity": "error",                 // error, warning or note
          "message": "`relif` is not a block or part",
          "help": "did you mean `relief`?",    // null when there is none
          "place": {
            "file": "specs/psms.msl",
            "start": {"line": 6, "column": 39, "offset": 181},   // from 1, in characters; offset from 0
            "end": {"line": 6, "column": 44, "offset": 186},     // one past the last character
            "label": "not found in `clop`"     // may be empty
          },
          "related": []                        // more locations, in the same form
        }
      ],
      "errors": 1, "warnings": 0, "notes": 0,
      "left_out": []                           // {"file": …, "code": …, "severity": …, "count": …}, see below
    }

No format shows more than 50 diagnostics of one code and file. `errors`, `warnings` and `notes` count all of them, and
`left_out` lists how many of which code are missing. In SARIF these are notifications of the invocation, for GitHub
commands without a line.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from msl import __version__
from msl.diagnostics.diagnostic import Diagnostic, Label, Severity, limited, titles

_SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_GITHUB_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def json_text(diagnostics: Sequence[Diagnostic]) -> str:
    """The JSON described above."""
    count = [diagnostic.severity for diagnostic in diagnostics].count
    shown, left_out = limited(diagnostics)
    return _dump(
        {
            "version": 1,
            "diagnostics": [_json_diagnostic(diagnostic) for diagnostic in shown],
            "errors": count(Severity.ERROR),
            "warnings": count(Severity.WARNING),
            "notes": count(Severity.NOTE),
            "left_out": [
                {"file": each.file, "code": each.code, "severity": each.severity.value, "count": each.count}
                for each in left_out
            ],
        }
    )


def sarif_text(diagnostics: Sequence[Diagnostic]) -> str:
    """A SARIF 2.1.0 log with one run; columns count Unicode code points."""
    codes = sorted({diagnostic.code for diagnostic in diagnostics})
    driver = {"name": "msl", "version": __version__, "rules": [_sarif_rule(code) for code in codes]}
    shown, left_out = limited(diagnostics)
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(diagnostic, codes.index(diagnostic.code)) for diagnostic in shown],
    }
    if left_out:
        notes = [{"level": each.severity.value, "message": {"text": each.text}} for each in left_out]
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": notes}]
    return _dump({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def github_text(diagnostics: Sequence[Diagnostic]) -> str:
    """Workflow commands, which GitHub shows beside the lines of a pull request."""
    shown, left_out = limited(diagnostics)
    commands = [_github_command(diagnostic) for diagnostic in shown]
    for each in left_out:
        place = f"file={_github_property(each.file)},title={each.code}"
        commands.append(f"::{_GITHUB_COMMANDS[each.severity]} {place}::{_github_data(each.text)}")
    return "".join(f"{command}\n" for command in commands)


def _dump(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2) + "\n"


def _json_diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "help": diagnostic.help,
        "place": _json_place(diagnostic.primary),
        "related": [_json_place(label) for label in diagnostic.secondary],
    }


def _json_place(label: Label) -> dict[str, Any]:
    start, end = label.position, label.end_position
    return {
        "file": label.source.name,
        "start": {"line": start.line, "column": start.column, "offset": label.span.start},
        "end": {"line": end.line, "column": end.column, "offset": label.span.end},
        "label": label.text,
    }


def _sarif_rule(code: str) -> dict[str, Any]:
    title = titles().get(code)
    return {"id": code, "shortDescription": {"text": title}} if title else {"id": code}


def _sarif_result(diagnostic: Diagnostic, rule: int) -> dict[str, Any]:
    message = diagnostic.message if diagnostic.help is None else f"{diagnostic.message}\nhelp: {diagnostic.help}"
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": diagnostic.severity.value,
        "message": {"text": message},
        "locations": [_sarif_location(diagnostic.primary)],
    }
    if diagnostic.secondary:
        result["relatedLocations"] = [
            {"id": number, **_sarif_location(label)} for number, label in enumerate(diagnostic.secondary)
        ]
    return result


def _sarif_location(label: Label) -> dict[str, Any]:
    start, end = label.position, label.end_position
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(label.source.name)},
            "region": {
                "startLine": start.line,
                "startColumn": start.column,
                "endLine": end.line,
                "endColumn": end.column,
            },
        }
    }
    if label.text:
        location["message"] = {"text": label.text}
    return location


def _uri(name: str) -> str:
    path = PurePath(name)
    return Path(name).as_uri() if path.is_absolute() else quote(path.as_posix())


def _github_command(diagnostic: Diagnostic) -> str:
    start, end = diagnostic.primary.position, diagnostic.primary.end_position
    properties = {"file": diagnostic.primary.source.name, "line": start.line, "col": start.column, "endLine": end.line}
    if end.line == start.line:  # GitHub accepts an end column only within one line
        properties["endColumn"] = end.column
    properties["title"] = diagnostic.code
    text = diagnostic.message
    if diagnostic.primary.text:
        text += f" ({diagnostic.primary.text})"
    if diagnostic.help is not None:
        text += f"\nhelp: {diagnostic.help}"
    written = ",".join(f"{key}={_github_property(str(value))}" for key, value in properties.items())
    return f"::{_GITHUB_COMMANDS[diagnostic.severity]} {written}::{_github_data(text)}"


def _github_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _github_property(text: str) -> str:
    return _github_data(text).replace(":", "%3A").replace(",", "%2C")
