"""Check the whole corpus: bad files give the codes that they announce and no others, good files give none.

Each file in `corpus/bad` starts with `# expect:` and the codes of its errors and warnings in reading order. The
rendered messages of some are in `golden` and must match exactly; `MSL_WRITE_GOLDEN=1` rewrites these files, whose
differences must then be reviewed.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from msl.check.check_spec import Checked, check_source
from msl.diagnostics.diagnostic import Severity, titles
from msl.diagnostics.render import render
from msl.diagnostics.source import Source

CORPUS = Path(__file__).parents[1] / "corpus"
GOLDEN = Path(__file__).parent / "golden"
BAD = sorted((CORPUS / "bad").glob("*.msl"))
GOOD = sorted((CORPUS / "good").glob("*.msl"))
#: Codes that the corpus cannot show: they need data, other files, an option, or a mistake of the tool itself.
ELSEWHERE = {"MSL045", "MSL067", "MSL073", "MSL099", "MSL201", "MSL216", "MSL240", "MSL241"} | {
    f"MSL{number}" for number in range(341, 346)
}


def checked(path: Path) -> Checked:
    """The file under its own name, so that messages look the same wherever the tests run."""
    text = path.read_bytes().decode("utf-8")

    def read_file(name: str) -> str:
        return (path.parent / name).read_text(encoding="utf-8")

    return check_source(Source(path.name, text, path.name), read_file=read_file)


def expected(path: Path) -> list[str]:
    return path.read_bytes().decode("utf-8").splitlines()[0].removeprefix("# expect: ").split()


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_bad_file_gives_the_codes_it_announces(path: Path) -> None:
    found = checked(path).diagnostics
    assert [d.code for d in found if d.severity is not Severity.NOTE] == expected(path)


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_good_file_is_good(path: Path) -> None:
    assert not [(d.code, d.message) for d in checked(path).diagnostics if d.severity is not Severity.NOTE]


def test_the_corpus_shows_every_code_that_a_file_alone_can_show() -> None:
    assert {code for path in BAD for code in expected(path)} == set(titles()) - ELSEWHERE


@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.iterdir()))
def test_a_message_reads_as_before(name: str) -> None:
    text = render(checked(CORPUS / "bad" / f"{name}.msl").diagnostics)
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("MSL_WRITE_GOLDEN"):
        golden.write_text(text, encoding="utf-8", newline="")
    assert text == golden.read_bytes().decode("utf-8")
