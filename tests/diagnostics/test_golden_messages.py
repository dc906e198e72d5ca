"""Messages, letter by letter: the corpus of syntax mistakes, and every shape that the full form can take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from msl import __version__
from msl.diagnostics.diagnostic import Diagnostic, Label, Severity
from msl.diagnostics.render import render, summary
from msl.diagnostics.source import Source, Span
from msl.language.parser import text_to_ast

Golden = Callable[[str, str], None]
BAD = Path(__file__).parents[1] / "corpus" / "bad"
KEPT = sorted(path.stem for path in (Path(__file__).parent / "golden" / "bad").iterdir())


@pytest.mark.parametrize("name", KEPT)
def test_a_syntax_mistake_reads_as_before(name: str, golden: Golden) -> None:
    text = (BAD / f"{name}.msl").read_bytes().decode("utf-8")
    _, diagnostics = text_to_ast(Source(f"{name}.msl", text))
    golden(f"bad/{name}.txt", render(diagnostics))


SPEC = Source(
    "specs/psms.msl",
    "msl 1\n"
    "use clop\n"
    "\n"
    "part preprocess = subset(normalize, standardize)\n"
    "\n"
    "part select = ftest | ttest | aucfs | relif\n"
    "chain model = preprocess\n"
    "  >> select\n"
    "  >> svc(gamma: real 1e-4..100 log,\n"
    "         degree = 2)\n"
    "seed 7",
)
CATALOGUE = Source("catalogue/clop.msl", "\n" * 119 + 'block svc: learner "msl.blocks:SVC" {\n  degree: int 1..3,\n}\n')


def at(source: Source, text: str, label: str = "", last: bool = False) -> Label:
    start = source.text.rindex(text) if last else source.text.index(text)
    return Label(source, Span(start, start + len(text)), label)


def error(
    primary: Label, *secondary: Label, help: str | None = None, severity: Severity = Severity.ERROR
) -> Diagnostic:
    return Diagnostic("MSL021", severity, "`relif` is not a block or part", primary, secondary, help)


SHAPES = {
    "one-span": error(
        at(SPEC, "relif", "not found in `clop`, the only catalogue in use"), help="did you mean `relief`?"
    ),
    "no-label-no-help": error(at(SPEC, "relif")),
    "long-help": error(at(SPEC, "relif"), help="write one of\n`relief`\n`rffs`"),
    "warning": error(at(SPEC, "relif"), severity=Severity.WARNING),
    "note": error(at(SPEC, "relif"), severity=Severity.NOTE),
    "same-line": error(at(SPEC, "relif", "this"), at(SPEC, "ttest", "unlike this"), at(SPEC, "select", "in here")),
    "same-line-inside": error(at(SPEC, "ttest", "here"), at(SPEC, "ftest | ttest | aucfs", "one of these")),
    "same-span": error(at(SPEC, "ttest", "here"), at(SPEC, "ttest", "and here")),
    "next-line": error(at(SPEC, "relif", "used"), at(SPEC, "chain", "after this")),
    "two-lines-on": error(at(SPEC, "relif", "used"), at(SPEC, "preprocess", "before this")),
    "far-line": error(at(SPEC, "seed 7", "here"), at(SPEC, "use clop", "declared here")),
    "other-file": error(
        at(SPEC, "degree = 2", "outside the declared domain"),
        at(CATALOGUE, "int 1..3", "declared here"),
        at(SPEC, "use clop", "taken from here"),
        help="derive a block",
    ),
    "several-lines": error(at(SPEC, SPEC.text[SPEC.text.index("svc(") : SPEC.text.index("\nseed")], "this step")),
    "many-lines": error(at(SPEC, SPEC.text[SPEC.text.index("subset") : SPEC.text.index("\nseed")], "all of this")),
    "end-of-file": error(Label(SPEC, Span(len(SPEC.text), len(SPEC.text)), "something is missing")),
    "end-of-line": error(Label(SPEC, Span(14, 15), "here"), help="add a name"),
    "empty-last-line": error(Label(Source("a.msl", "msl 1\n"), Span(6, 6), "nothing here")),
    "empty-file": error(Label(Source("a.msl", ""), Span(0, 0), "nothing here")),
    "wide": error(at(Source("a.msl", 'data(target = "診断", positive = 悪性)\n'), "悪性", "two wide characters")),
    "combining": error(at(Source("a.msl", 'data(target = "cafe\u0301", ignore = oops)\n'), "oops", "one below each")),
    "tabs": error(at(Source("a.msl", "part\tx =\ta |\tb\n"), "b", "after three tabs")),
    "windows-line-ends": error(at(Source("a.msl", "msl 1\r\nseed x\r\n"), "x\r\n", "not a number")),
    "control-characters": error(
        at(Source("a\x1b[31m.msl", 'part x = "\x1b[2J\u202e" | oops\n'), "oops", "after an \x1b escape")
    ),
    "clipped-both-sides": error(at(Source("a.msl", "part x = " + "a | " * 99 + "oops" + " | b" * 99), "oops", "here")),
    "clipped-left": error(at(Source("a.msl", "part x = " + "a | " * 99 + "oops"), "oops", "here")),
    "clipped-right": error(at(Source("a.msl", "part oops = " + "a | " * 99 + "b"), "oops", "here")),
    "clipped-span": error(at(Source("a.msl", "part x = " + "a | " * 99 + "b"), "a | " * 99, "all of these")),
    "clipped-second-label": error(
        at(Source("a.msl", "part x = " + "a | " * 99 + "oops"), "oops", "here"),
        at(Source("a.msl", "part x = " + "a | " * 99 + "oops"), "x", "declared here"),
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_of_the_full_form(name: str, golden: Golden) -> None:
    golden(f"full/{name}.txt", render([SHAPES[name]]))


def test_several_with_a_blank_line_between(golden: Golden) -> None:
    several = [SHAPES["one-span"], SHAPES["warning"], SHAPES["other-file"]]
    golden("several.full.txt", render(several) + "\n" + summary(several) + "\n")
    golden("several.short.txt", render(several, "short"))
    golden("several.coloured.txt", render(several, "full", colour=True))
    golden("several.json", render(several, "json"))
    golden("several.sarif", render(several, "sarif").replace(f'"{__version__}"', '"VERSION"'))
    golden("several.github.txt", render(several, "github"))
