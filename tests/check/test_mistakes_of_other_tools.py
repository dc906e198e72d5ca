"""Mistakes of people who know scikit-learn, Optuna, hyperopt, YAML or Python: each case, its message, the fixed text.

Each file in `corpus/mistakes_of_other_tools` has cases of one kind, separated by `---`. The folder
`mistakes_of_other_tools_golden` has the messages of each case and the result of following the help, until nothing is
wrong or the help leaves the rest to the reader; `MSL_WRITE_GOLDEN=1` rewrites these files, whose differences must then
be reviewed.
"""

from __future__ import annotations

import os
import re
from itertools import pairwise
from pathlib import Path

import pytest

from msl.check.check_spec import check_source
from msl.diagnostics.diagnostic import Diagnostic
from msl.diagnostics.source import Source

CASES = Path(__file__).parents[1] / "corpus" / "mistakes_of_other_tools"
GOLDEN = Path(__file__).parent / "mistakes_of_other_tools_golden"
KINDS = sorted(path.stem for path in CASES.glob("*.txt"))
_MOST_STEPS = 12
_WRITE = re.compile(r"write `([^`…]+)`(?! for)")
_ADD = re.compile(r"add `(use \w+)`")
_MEANT = re.compile(r"did you mean `([^`]+)`")
_REMOVE = re.compile(r"remove it|leave it out|remove this")
#: A name or keyword before what is underlined, with its sign, which the help may show too.
#: What the help shows is more than what is underlined.
_AROUND = {"MSL009", "MSL014", "MSL015"}
_GOALS = ("minimize", "maximize")
_BEFORE = re.compile(r'("[^"]*"|\w+)\s*[:=]?\s*$')


def cases(kind: str) -> list[str]:
    return (CASES / f"{kind}.txt").read_text(encoding="utf-8").split("---\n")


def errors(text: str) -> list[Diagnostic]:
    return [found for found in check_source(Source("a.msl", text)).diagnostics if found.is_error]


def followed(text: str, error: Diagnostic) -> str | None:
    """The text after what the help of an error says was done; None where it leaves that to the reader."""
    help, span = error.help or "", error.primary.span
    if (added := _ADD.search(help)) is not None and f"{added[1]}\n" not in text:
        rest = _WRITE.search(help)
        return f"{added[1]}\n" + (text if rest is None else text[: span.start] + rest[1] + text[span.end :])
    advice = _WRITE.search(help) or _MEANT.search(help)
    if error.code in _AROUND or (advice is None and not _REMOVE.search(help)):
        return None
    if error.code == "MSL060" and advice is not None and advice[1] == ">>":
        return None
    start, end = span.start, span.end
    new = "" if advice is None else advice[1]
    before = _BEFORE.search(text[:start])
    starts = () if before is None else (f"{before[1]} =", f"{before[1]}:", *(_GOALS if before[1] in _GOALS else ()))
    if before is not None and new.startswith(starts):
        start = before.start()
    elif error.code == "MSL010" and text[start:end].isalpha():  # the unit alone is underlined
        start -= len(re.search(r"[\d._]*$", text[:start])[0])  # type: ignore[index]
    if start == end or not text[start:end].strip():  # a gap: the help shows both sides
        words = re.split(r"[, ]+", new)
        start = text.rindex(words[0], 0, start + 1)
        end = text.index(words[-1], end) + len(words[-1])
    elif new == "#":  # a comment lasts until its line ends, and its other lines are the reader's
        return None if text[start:end] in ("/*", '"""') else text[:start] + new + text[end:]
    elif not new and text[end : end + 1] == ",":  # an argument goes with its comma
        end += 1
    first = " " if new[:1].isalnum() and text[start - 1 : start].isalnum() else ""
    last = " " if new[-1:].isalnum() and text[end : end + 1].isalnum() else ""
    return text[:start] + first + new + last + text[end:]


def story(text: str) -> list[str]:
    """A case, its messages, and the result of following their help."""
    lines = [text.rstrip("\n")]
    for error in errors(text):
        at = " ".join(error.primary.source.slice(error.primary.span).split())
        lines += [f"    {error.code} at `{at}`: {error.message}", f"    help: {error.help}"]
    for _ in range(_MOST_STEPS):
        found = errors(text)
        better = followed(text, found[0]) if found else None
        if better is None:
            break
        assert times(found[0], better) < times(found[0], text), better
        text = better
    found = errors(text)
    end = "nothing is wrong" if not found else f"{found[0].code} {found[0].message}"
    return [*lines, "    followed:", *(f"      {line}" for line in text.rstrip("\n").split("\n")), f"    then: {end}"]


def times(error: Diagnostic, text: str) -> int:
    return sum((found.code, found.message) == (error.code, error.message) for found in errors(text))


@pytest.mark.parametrize("kind", KINDS)
def test_every_case_is_answered_as_before_and_the_help_can_be_followed(kind: str) -> None:
    text = "---\n".join("\n".join(story(case)) + "\n" for case in cases(kind))
    golden = GOLDEN / f"{kind}.txt"
    if os.environ.get("MSL_WRITE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8", newline="")
    assert text == golden.read_bytes().decode("utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_every_case_has_an_answer_of_its_own(kind: str) -> None:
    for case in cases(kind):
        found = errors(case)
        assert found, case
        for error in found:
            assert error.help, case
            assert not error.help.startswith("expected "), (case, error.help)
        places = [error.primary.span for error in found]
        assert all(one.end <= other.start for one, other in pairwise(places)), case


def test_there_are_many_cases() -> None:
    assert sum(len(cases(kind)) for kind in KINDS) >= 300
