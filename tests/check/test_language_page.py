"""Every example of the reference, the guides and the README is what it says: right, or wrong with the code it names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from specs import checked

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "docs/tutorial.md",
    "docs/how-to.md",
    "docs/language.md",
    "docs/extending.md",
    *sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs/papers").glob("*.md")),
    "docs/decisions/012-colon-opens-equals-closes.md",
)
_FENCE = re.compile(r"```msl([^\n]*)\n(.*?)```", re.DOTALL)


def examples() -> list[tuple[str, str | None]]:
    found = []
    for name in PAGES:
        for options, text in _FENCE.findall((ROOT / name).read_text(encoding="utf-8")):
            wanted = dict(item.split("=", 1) for item in options.split()).get("error")
            found.append((text, wanted))
    return found


EXAMPLES = examples()


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 15


@pytest.mark.parametrize(("text", "wanted"), EXAMPLES)
def test_an_example_is_what_it_says(text: str, wanted: str | None) -> None:
    errors = [(d.code, d.message) for d in checked(text).diagnostics if d.is_error]
    assert {code for code, _ in errors} == ({wanted} if wanted else set()), errors
