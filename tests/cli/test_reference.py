"""The page of the command line is what the program says of itself."""

from __future__ import annotations

import runpy
from pathlib import Path

from msl.cli.main import shipped_verbs

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "cli.md"
reference = runpy.run_path(str(DOCS / "generate_cli.py"))["reference"]


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference(), "run `python docs/generate_cli.py > docs/cli.md`"


def test_every_verb_says_what_it_does() -> None:
    page = reference()
    for verb in shipped_verbs():
        title = page.index(f"### msl {verb}\n")
        assert page[title:].split("```\n\n", 1)[1][0].isupper(), verb
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert not [row for row in rows if row.split(" | ")[1].strip(" |") == ""], "an option without a word about it"
