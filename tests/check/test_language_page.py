"""Every example of the reference, the guides and the README is what it says: right, or wrong with the code it names."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from sklearn.model_selection import ParameterGrid

from msl.space.enumerate.count import count
from specs import checked, sound

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "docs/tutorial.md",
    "docs/how-to.md",
    "docs/language.md",
    "docs/extending.md",
    "docs/translations.md",
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


# --- docs/translations.md ---------------------------------------------------------------------------------------------


TRANSLATIONS = (ROOT / "docs/translations.md").read_text(encoding="utf-8")
_ROW = re.compile(r"^\| \[([^]]+)\]\(#([^)]+)\) \| [^|]+ \| (\d+) \| (\d+) \| ([^|]+) \|", re.MULTILINE)
_BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def _lines(text: str) -> int:
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in text.splitlines())


@pytest.mark.parametrize(("tool", "anchor", "theirs", "ours", "models"), _ROW.findall(TRANSLATIONS))
def test_a_translation_has_the_lines_and_models_that_the_page_says(
    tool: str, anchor: str, theirs: str, ours: str, models: str
) -> None:
    (section,) = re.findall(rf"^## {re.escape(tool)}\n(.*?)(?=^## |\Z)", TRANSLATIONS, re.DOTALL | re.MULTILINE)
    assert anchor == tool.lower()
    (language, other), (own_language, own) = _BLOCK.findall(section)
    assert own_language == "msl"
    assert (_lines(other), _lines(own)) == (int(theirs), int(ours))
    match language:
        case "python":
            compile(other, tool, "exec")
        case "json":
            json.loads(other)
        case "text":  # irace: name, switch, type, values
            rows = [row for row in other.splitlines() if "--" in row]
            assert all(re.match(r'\w+ +"--\w+ " +(?:c|o|i|r|r,log) +\([^)]*\)(?: +\| .*)?$', row) for row in rows)
            assert len(rows) == _lines(other) - 2
    size = count(sound(own).space)
    assert models.strip() == ("reals" if size.open_reals else f"{size.models:,}")


def test_the_grid_of_the_page_has_as_many_models_as_ours() -> None:
    (section,) = re.findall(r"^## scikit-learn\n(.*?)(?=^## |\Z)", TRANSLATIONS, re.DOTALL | re.MULTILINE)
    made: dict[str, object] = {}
    exec(_BLOCK.findall(section)[0][1], made)
    assert len(ParameterGrid(made["grid"])) == count(sound(_BLOCK.findall(section)[1][1]).space).models
    (nested,) = re.findall(r"^## NNI\n(.*?)(?=^## |\Z)", TRANSLATIONS, re.DOTALL | re.MULTILINE)
    layer = 3 * 3 + 2
    assert layer**2 * 5 == count(sound(_BLOCK.findall(nested)[1][1]).space).models
