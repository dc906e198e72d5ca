"""Every page of `msl explain` is true: its wrong example gives its code, its right example does not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import msl
from msl.check.check_spec import Checked, check_source
from msl.check.read_models import text_to_model
from msl.diagnostics.diagnostic import page, titles
from msl.diagnostics.source import Source
from msl.space.formulas import Facts

_FENCE = re.compile(r"```(\w+)([^\n]*)\n(.*?)```", re.DOTALL)
_CODE = re.compile(r'"(MSL\d{3})"')
#: Codes that no example can trigger, and why.
WITHOUT_EXAMPLE = {
    "MSL099": "the formatter never changes the meaning of a file",
    "MSL216": "whether a library is installed is no matter of the text",
}
CODES = sorted(set(titles()) - set(WITHOUT_EXAMPLE))


@dataclass(frozen=True)
class Page:
    wrong: str
    right: str
    beside: dict[str, str]
    facts: Facts | None
    chains: tuple[str | None, str | None]
    is_model: bool = False


def read_page(code: str) -> Page:
    examples: list[tuple[str, str | None]] = []
    is_model = False
    beside: dict[str, str] = {}
    facts = None
    for language, options, body in _FENCE.findall(page(code)):
        settings = dict(item.split("=", 1) for item in options.split())
        if language == "facts":
            values = dict(line.split("=", 1) for line in body.split())
            names = {key: tuple(values.pop(key).split(",")) for key in ("columns", "symbolic") if key in values}
            sizes = {key: int(value) for key, value in values.items() if key != "task"}
            facts = Facts(**sizes, **names, task=values["task"])  # type: ignore[arg-type]
        elif "file" in settings:
            beside[settings["file"]] = body
        else:
            is_model = language == "model"
            examples.append((body, settings.get("chain")))
    (wrong, wrong_chain), (right, right_chain) = examples
    return Page(wrong, right, beside, facts, (wrong_chain, right_chain), is_model)


def check(page: Page, which: int) -> Checked:
    text = (page.wrong, page.right)[which]
    if page.is_model:
        uses, _, model = text.partition("\n")
        _, diagnostics = text_to_model(model, Source("main.msl", uses))
        return Checked(None, tuple(diagnostics))
    files = {**page.beside, "main.msl": text}

    def read_file(path: str) -> str:
        if path not in files:
            raise FileNotFoundError(2, "No such file", path)
        return files[path]

    return check_source(Source("main.msl", text, "main.msl"), page.facts, page.chains[which], read_file)


@pytest.mark.parametrize("code", CODES)
def test_the_wrong_example_gives_its_code_and_no_other_error(code: str) -> None:
    checked = check(read_page(code), 0)
    codes = {diagnostic.code for diagnostic in checked.diagnostics}
    errors = {diagnostic.code for diagnostic in checked.diagnostics if diagnostic.is_error}
    assert code in codes
    assert errors <= {code}


@pytest.mark.parametrize("code", CODES)
def test_the_right_example_is_right(code: str) -> None:
    checked = check(read_page(code), 1)
    assert not [d for d in checked.diagnostics if d.is_error or d.code == code]


def test_every_code_in_the_sources_has_a_page() -> None:
    sources = Path(msl.__file__).parent.rglob("*.py")
    used = {code for source in sources for code in _CODE.findall(source.read_text(encoding="utf-8"))}
    # From 300 on codes are about tables; the checker reports those of columns that a spec selects, and of limits.
    ranges = (("MSL000", "MSL300"), ("MSL340", "MSL350"), ("MSL465", "MSL470"), ("MSL482", "MSL483"))
    of_language = {code for code in used if any(first <= code < end for first, end in ranges)}
    assert of_language == set(titles())
    assert len(of_language) >= 60
