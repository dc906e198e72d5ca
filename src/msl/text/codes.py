"""Codes: the page of each diagnostic code, a Markdown file whose first line is `# CODE: title`."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_PAGES = Path(__file__).parent / "pages"
_TITLE = re.compile(r"#+\s*(?:`?MSL\d+`?)?\s*[:.–—-]?\s*(.*)")


@cache
def titles() -> dict[str, str]:
    """Every code that has a page, in order, with the page's title."""
    codes = sorted(file.stem for file in _PAGES.glob("*.md"))
    return {code: _title(page(code)) for code in codes}


def page(code: str) -> str:
    """The page of a code, as Markdown."""
    return (_PAGES / f"{code}.md").read_text(encoding="utf-8")


def _title(text: str) -> str:
    match = _TITLE.match(text)
    return match[1].strip() if match else ""
